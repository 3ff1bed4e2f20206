/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A chart: points with their intervals, over values or over time. Left is first in every language. Beside each chart, the page has a table
 * with the same numbers. */

import { h, s } from "./dom.js";
import { _, format, format_number } from "./text.js";
import { hide_tip, show_tip } from "./tip.js";

const TOP = 8, BOTTOM = 168, LINE = 16;     /* px: both ends of the vertical axis, and the height of a line of text */
const MARKERS = ["M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M-4 -4H4V4H-4z", "M0 -5L5 4H-5z", "M0 -6L6 0L0 6L-6 0z", "M-5 -4H5L0 5z"];

/* ---- numbers with a unit ---- */

/* The factor and the name of the unit in which a number of this size is shown. */
function scale_of(unit, value) {
    if (unit === "B/s")
        return [1e6, "MB/s"];
    if (unit === "s")
        return value < 1e-3 ? [1e-6, "µs"] : value < 1 ? [1e-3, "ms"] : [1, "s"];
    return [1, unit];
}

const digits_of = (value, all) => Math.min(Math.max(all - 1 - Math.floor(Math.log10(value)), 0), 6);

/* A number with three digits, as the command prints it. */
export function format_value(value, unit) {
    const [one, name] = scale_of(unit, value);

    return value === null ? "–" : `${format_number(value / one, value ? digits_of(value / one, 3) : 0)} ${name}`;
}

/* Both ends of an interval, with four digits. */
export function format_interval({ low, high }, unit) {
    const [one, name] = scale_of(unit, high);

    return low === null || high === null ? "–"
        : `${format(_("$0 to $1"), ...[low, high].map(end => format_number(end / one, digits_of(high / one, 4))))} ${name}`;
}

export const format_estimate = (estimate, unit) =>
    estimate.low === null || estimate.high === null ? format_value(estimate.median, unit)
        : `${format_value(estimate.median, unit)} (${format_interval(estimate, unit)})`;

/* ---- the vertical axis ---- */

/* Returns both ends of the axis. The axis begins at 0 if the smallest number is below half of the largest. Otherwise, the axis spans at
 * least a tenth of the largest number. */
function range_of(points) {
    const numbers = points.flatMap(point => [point.median, point.low ?? point.median, point.high ?? point.median]);
    const least = Math.min(...numbers), most = Math.max(...numbers);

    if (most <= 0)
        return [0, 1];
    if (least < most / 2)
        return [0, most * 1.05];
    const spare = Math.max((most - least) * 0.15, (most * 0.1 - (most - least)) / 2);

    return [Math.max(least - spare, 0), most + spare];
}

/* Three to six round numbers between both ends. */
function round_numbers(low, high) {
    const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find(n => n * power >= rough), numbers = [];

    for (let n = Math.ceil(low / step); n * step <= high; n++)
        numbers.push(n * step);
    return [numbers, Math.max(-Math.floor(Math.log10(step)), 0)];
}

/* ---- the chart ---- */

/* The text above a marked point. Two rows, since the marked points may be neighbours. */
const mark_y = point => point.mark === "best" ? 10 : 10 + LINE;

function point_shape(point, series, y_of) {
    const y = y_of(point.median), ends = [point.high, point.low].map(end => end === null || end === undefined ? null : y_of(end) - y);
    const has_interval = ends[0] !== null && ends[1] !== null;
    const [high, low] = ends.map(end => end?.toFixed(1));

    return s("svg", {
        x: `${point.x}%`, y: y.toFixed(1), overflow: "visible", class: `point series-${series} ${point.mark || ""}`,
        onpointerenter: event => show_tip(event.target, event.clientX, point.lines), onpointerleave: hide_tip,
    },
             has_interval ? s("path", { class: "range", d: `M-5 ${high}H5M0 ${high}V${low}M-5 ${low}H5` }) : null,
             s("path", { class: "marker", d: MARKERS[point.mark === "best" ? 3 : series % MARKERS.length] }));
}

/* `label`: the content in a sentence. `series`: lists of points, which lines connect if `joined`. A point has x in percent, `median`, `low`,
 * `high`, the `lines` of its tooltip and, if it is special, `mark` and `mark_text`. `ticks`: texts below the chart, with x and `anchor`; in a
 * narrow window they take `rows` rows in turn. */
export function chart({ label, unit, series, ticks, rows = 1, joined = false }) {
    const points = series.flat(), [low, high] = range_of(points), most = Math.max(...points.map(point => point.median));
    const [one, name] = scale_of(unit, most), [numbers, digits] = round_numbers(low / one, high / one);
    const marked = points.filter(point => point.mark), top = marked.length ? TOP + 2 * LINE : TOP, height = BOTTOM + LINE + 6;
    const y_of = value => BOTTOM - (value - low) / (high - low) * (BOTTOM - top);
    const lines = numbers.map(n => y_of(n * one).toFixed(1));

    return h("div", { class: `chart rows-${rows}`, role: "img", "aria-label": label },
             h("div", { class: "quiet small", "aria-hidden": "true" }, name),
             s("svg", { class: "scale", height, "aria-hidden": "true" },
               numbers.map((n, i) => s("text", { x: "100%", y: lines[i], dy: "0.35em", "text-anchor": "end" }, format_number(n, digits)))),
             s("svg", { class: "plot", height, "aria-hidden": "true" },
               lines.map(y => s("line", { class: "grid-line", x1: 0, x2: "100%", y1: y, y2: y })),
               s("line", { class: "mark", x1: 0, x2: "100%", y1: BOTTOM, y2: BOTTOM }),
               marked.map(point => [
                   s("line", { class: `guide ${point.mark}`, x1: `${point.x}%`, x2: `${point.x}%`, y1: mark_y(point) + 4, y2: BOTTOM }),
                   s("text", { class: point.mark, x: `${point.x}%`, y: mark_y(point), "text-anchor": "middle" }, point.mark_text)]),
               joined ? series.map((list, i) => list.slice(1).map((point, k) => s("line", {
                   class: `joins series-${i}`, x1: `${list[k].x}%`, x2: `${point.x}%`, y1: y_of(list[k].median).toFixed(1), y2: y_of(point.median).toFixed(1),
               }))) : null,
               series.map((list, i) => list.map(point => point_shape(point, i, y_of))),
               ticks.map((tick, i) => s("text", { x: `${tick.x}%`, y: BOTTOM + LINE, "text-anchor": tick.anchor || "middle", class: `row-${i % rows}` },
                                        tick.text))));
}

/* The marker of a series, for the legend. */
export const marker = series => s("svg", { class: "sample", viewBox: "-12 -8 24 16", "aria-hidden": "true" },
                                  s("g", { class: `point series-${series}` }, s("path", { class: "marker", d: MARKERS[series % MARKERS.length] })));
