/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Measurements of `drivekeep bench` and `drivekeep tune`, for each drive: the figures over time, the change between the last two measurements,
 * and the tried values of settings. Commands: bench, bench --compare and tune, which read files and do not measure. */

import { chart, format_estimate, format_interval, format_value, marker } from "./chart.js";
import { h, s } from "./dom.js";
import { read } from "./drivekeep.js";
import { alert_box, button } from "./parts.js";
import { number, row, table } from "./table.js";
import { _, foreign, format, format_number, format_time, visible } from "./text.js";

const FIGURES = {
    sequential_start: _("Sequential read, start of the drive"), sequential_middle: _("Sequential read, middle"),
    sequential_end: _("Sequential read, end"), buffered: _("Buffered read"), random_latency: _("Random read, latency"),
    random_latency_p99: _("Random read, 99th percentile of the latency"), random_rate: _("Random reads, several at a time"),
    fsync_latency: _("fsync, latency"), mixed_rate: _("Reads and writes"),
    sequential_small: _("Sequential read of 64 KiB, one at a time"), mapped_latency: _("Random read of a mapped file, latency"),
    deep_rate: _("Random reads, 256 at a time"), deep_latency_p99: _("256 at a time, 99th percentile of the latency"),
    first_read: _("First read after idle time"), throttled_latency: _("Random read during writes, latency"),
};

const figure_name = name => FIGURES[name] || visible(name);
const count = samples => samples.filter(sample => sample !== null).length;

let measured = null, asked = false;
const chosen = new Map();       /* by the key of a drive: the name of the figure in its chart */
const opened = new Set();       /* the open tables: the key of a drive, and the setting of a table of values */

/* Measurements of one drive that cannot be compared must not hide those of another. */
async function compare(key, next) {
    try {
        next.changes.set(key, (await read("bench --compare", key)).data);
    } catch (error) {
        next.error = error;
    }
}

async function load(context) {
    const { list = [], results = [] } = measured || {}, next = { list, results, changes: new Map(), error: null };

    asked = true;
    try {
        next.list = (await read("bench")).data.measurements;
        next.results = (await read("tune")).data.measurements;
        /* The key, not the name: to find the key of a name, the command would read the drive. */
        for (const key of new Set(next.list.map(m => m.key)))
            if (next.list.filter(m => m.key === key).length > 1)
                await compare(key, next);
    } catch (error) {
        next.error = error;
    }
    measured = next;
    context.render();
}

/* The numbers of a chart, also for the keyboard and for screen readers. */
function numbers(key, content) {
    return h("details", { open: opened.has(key), ontoggle: event => event.target.open ? opened.add(key) : opened.delete(key) },
             h("summary", { "data-focus": `numbers-${key}` }, _("Values as a table")), content);
}

/* ---- bench ---- */

/* The factor and its 95 % interval on a logarithmic scale; the line in the middle is "no change". `widest`: logarithm at both ends. */
function interval({ factor, low, high, differs }, widest) {
    const x = value => 100 + Math.log2(value) / widest * 90, has_range = low && high;
    const texts = [factor, low, high].map(value => format_number(value, 2));

    if (!factor)
        return null;
    return s("svg", {
        class: `interval ${differs ? "differs" : ""}`, viewBox: "0 0 200 16", role: "img",
        "aria-label": format(has_range ? _("$0 times, between $1 and $2") : _("$0 times"), ...texts),
    },
             s("path", { class: "one", d: "M100 0V16" }),
             has_range ? s("path", { class: "range", d: `M${x(low)} 4V12M${x(low)} 8H${x(high)}M${x(high)} 4V12` }) : null,
             s("circle", { cx: x(factor), cy: 8, r: 4 }));
}

function comparison({ before, after, figures, changes }) {
    const columns = [_("Figure"), _("Change"), _("Finding")];
    const factors = figures.flatMap(figure => [figure.factor, figure.low, figure.high]).filter(factor => factor);
    const widest = Math.max(0.1, ...factors.map(factor => Math.abs(Math.log2(factor))));
    const texts = changes.map(c => `${c.drive ? `${c.drive} ` : ""}${c.name}: ${c.before ?? "–"} → ${c.after ?? "–"}`);

    return [
        h("h4", {}, h("bdi", { dir: "ltr" }, foreign(before), " → ", foreign(after))),
        texts.length ? h("p", { class: "quiet" }, `${_("Changed in between:")} `, texts.map((text, i) => [i ? ", " : "", foreign(text)])) : null,
        table(columns, [figures.map(figure => row(columns, [
            figure_name(figure.name), interval(figure, widest), foreign(figure.finding)]))]),
    ];
}

/* The measurements of one figure, in the order of time. */
function values_over_time(list, name) {
    return list.filter(m => m.when).map(m => ({ when: Date.parse(m.when), ...m.figures.find(figure => figure.name === name) }))
            .filter(value => typeof value.median === "number");
}

function time_chart(drive, name, values) {
    const first = values[0], last = values[values.length - 1], { unit } = last, span = last.when - first.when;
    const x_of = when => span ? 4 + (when - first.when) / span * 92 : 50, about = value => `${format_estimate(value, unit)}, ${format_time(value.when)}`;
    const points = values.map(value => ({ ...value, x: x_of(value.when), lines: [format_estimate(value, unit), format_time(value.when)] }));
    const label = span ? format(_("$0 of $1, $2 measurements; first: $3; last: $4"), figure_name(name), drive, values.length, about(first), about(last))
        : format(_("$0 of $1: $2"), figure_name(name), drive, about(last));

    return chart({ label, unit, series: [points], rows: 2, joined: true, ticks: span
        ? [{ x: 0, anchor: "start", text: format_time(first.when) }, { x: 100, anchor: "end", text: format_time(last.when) }]
        : [{ x: 50, text: format_time(last.when) }] });
}

function time_table(values) {
    const columns = [_("Time"), number(_("Median")), number(_("95 % interval")), number(_("Samples"))];

    return table(columns, [values.map(value => row(columns, [
        format_time(value.when), format_value(value.median, value.unit), format_interval(value, value.unit), String(value.samples)]))]);
}

function development(key, drive, list, context) {
    const names = [...new Set(list.flatMap(m => m.figures.map(figure => figure.name)))].filter(name => values_over_time(list, name).length);
    const name = names.includes(chosen.get(key)) ? chosen.get(key) : names[0], values = name ? values_over_time(list, name) : [];

    if (!values.length)
        return null;
    return [
        h("label", { class: "figure" }, `${_("Figure")} `,
          h("select", { "data-focus": `figure-${key}`, onchange: event => { chosen.set(key, event.target.value); context.render(); } },
            names.map(each => h("option", { value: each, selected: each === name }, figure_name(each))))),
        time_chart(drive, name, values), numbers(key, time_table(values)),
    ];
}

/* ---- tune ---- */

/* Positions of the texts below a chart. Texts are cut to 24 characters: the values of all settings are shorter. */
const places = texts => texts.map((text, i) => ({ x: (i + 0.5) / texts.length * 100, text: text.length > 24 ? `${text.slice(0, 23)}…` : text }));
const rows_for = places => places.length > 8 ? 3 : places.length > 3 ? 2 : 1;

const mark_of = (result, value) => value === result.present ? "before" : value === result.picked ? "best" : null;
const mark_name = mark => ({ best: _("best"), before: _("before") })[mark];

/* What the measurement found, in a sentence. */
function finding({ reason, picked, present }) {
    return {
        better: format(_("$0 is better than $1, the value before the measurement."), picked, present),
        cheaper: format(_("$0 is as good as $1, the value before the measurement, and costs less."), picked, present),
        present: format(_("No other value is better than $0, the value before the measurement."), present),
        curve: _("No value is best: a value that saves more power makes the first read slower."),
    }[reason] || visible(reason);
}

function value_chart(drive, result, values) {
    const { unit } = values[0].goal, ticks = places(values.map(value => visible(value.value)));
    const about = value => `${visible(value.value)}${mark_of(result, value.value) ? ` (${mark_name(mark_of(result, value.value))})` : ""}`;
    const points = values.map((value, i) => {
        const mark = mark_of(result, value.value);

        return { ...value.goal, x: ticks[i].x, mark, mark_text: mark_name(mark), lines: [about(value), format_estimate(value.goal, unit)] };
    });

    return chart({ label: format(_("$0 of $1, $2 for $3 values: $4"), result.setting, drive, figure_name(result.goal), values.length, visible(finding(result))),
                   unit, series: [points], ticks, rows: rows_for(ticks) });
}

function value_table(result, values) {
    const columns = [_("Value"), number(figure_name(result.goal)), number(_("95 % interval")),
                     ...result.cost ? [number(figure_name(result.cost))] : [], number(_("Samples"))];

    return table(columns, [values.map(value => {
        const mark = mark_of(result, value.value), { goal, cost } = value;

        return row(columns, [
            [foreign(value.value), " ", mark ? h("span", { class: `badge ${mark === "best" ? "success" : ""}` }, mark_name(mark)) : null],
            format_value(goal.median, goal.unit), format_interval(goal, goal.unit),
            ...result.cost ? [cost ? format_value(cost.median, cost.unit) : "–"] : [], String(count(goal.samples))]);
    })]);
}

/* The first read after idle times, with a line for each value. */
function curve_chart(drive, result, values) {
    const times = [...new Set(values.flatMap(value => value.idle.map(idle => idle.seconds)))].sort((a, b) => a - b), { unit } = values[0].goal;
    const ticks = places(times.map(seconds => format(_("$0 s"), seconds)));
    const series = values.map(value => value.idle.filter(idle => idle.median !== null).map(idle => {
        const tick = ticks[times.indexOf(idle.seconds)];

        return { x: tick.x, median: idle.median, lines: [`${visible(value.value)}, ${tick.text}`, format_value(idle.median, unit)] };
    }));

    return [
        chart({ label: format(_("$0 of $1, $2 for $3 values: $4"), result.setting, drive, figure_name(result.goal), values.length, finding(result)),
                unit, series, ticks, rows: rows_for(ticks), joined: true }),
        h("ul", { class: "legend" }, values.map((value, i) => h("li", {}, marker(i), foreign(value.value), value.value === result.present ? ` (${_("before")})` : ""))),
    ];
}

function curve_table(result, values) {
    const times = [...new Set(values.flatMap(value => value.idle.map(idle => idle.seconds)))].sort((a, b) => a - b);
    const columns = [_("Value"), ...times.map(seconds => number(format(_("$0 s"), seconds))), number(_("Slow after")), number(_("Load cycles"))];

    return table(columns, [values.map(value => row(columns, [
        [foreign(value.value), value.value === result.present ? [" ", h("span", { class: "badge" }, _("before"))] : null],
        ...times.map(seconds => format_value(value.idle.find(idle => idle.seconds === seconds)?.median ?? null, value.goal.unit)),
        value.slow_after === null ? "–" : format(_("$0 s"), value.slow_after), value.load_cycles === null ? "–" : String(value.load_cycles)]))]);
}

function tuned(drive, { key, result, when }) {
    const curve = result.reason === "curve", values = result.values.filter(value => curve ? value.idle.some(idle => idle.median !== null) : value.goal.median !== null);

    if (!values.length)
        return null;
    return h("section", { class: "tuned" },
             h("h4", {}, foreign(result.setting), `: ${figure_name(result.goal)} `, h("span", { class: "quiet" }, format_time(Date.parse(when)))),
             h("p", { dir: "auto" }, visible(finding(result)), result.caution ? ` ${visible(result.caution)}` : ""),
             curve ? curve_chart(drive, result, values) : value_chart(drive, result, values),
             numbers(`${key} ${result.setting}`, curve ? curve_table(result, values) : value_table(result, values)),
             result.left_out ? h("p", { class: "quiet", dir: "auto" }, `${_("Values that were not measured:")} `, visible(result.left_out)) : null);
}

/* ---- the view ---- */

function drive_card(key, context) {
    const list = measured.list.filter(m => m.key === key), results = measured.results.filter(m => m.key === key);
    const last = [...list, ...results].reduce((a, b) => (b.when || "") > (a.when || "") ? b : a), change = measured.changes.get(key);

    return h("section", { class: "card", "data-key": `drive-${key}` },
             h("h3", {}, foreign(last.drive), last.model ? [" ", h("span", { class: "quiet" }, foreign(last.model))] : null),
             development(key, last.drive, list, context), change ? comparison(change) : null, results.map(m => tuned(last.drive, m)));
}

function all_measurements(list) {
    const columns = [_("Name"), _("Drive"), _("Model"), _("Time"), number(_("Samples"))];

    return h("section", { class: "card", "data-key": "list" }, h("h3", {}, _("All measurements")),
             table(columns, [list.map(m => row(columns, [
                 foreign(m.name), foreign(m.drive), m.model ? foreign(m.model) : "–", m.when ? format_time(Date.parse(m.when)) : "–", String(m.samples)]))]));
}

function how_to_measure(name) {
    const command = (words, text) => h("li", {}, h("code", {}, `drivekeep ${words} `, foreign(name)), ` – ${text}`);

    return h("section", { class: "card", "data-key": "how" }, h("h3", {}, _("How to measure a drive")),
             h("p", {}, _("Run one of these commands as root. Both commands only read the drive, and do not measure a drive in standby.")),
             h("ul", { class: "facts" }, command("bench", _("the speed of the drive, in three minutes")),
               command("tune", _("the best values of settings, in ten minutes"))),
             h("p", { class: "quiet" }, _("Both commands need the package drivekeep-tune.")));
}

export function measured_view(state, context) {
    if (!asked)
        load(context);
    if (!measured)
        return [h("div", { class: "bar", "data-key": "bar" }, h("h2", {}, _("Measured")))];
    const { list, results, error } = measured, keys = [...new Set([...list, ...results].map(m => m.key))];

    return [
        h("div", { class: "bar", "data-key": "bar" }, h("h2", {}, _("Measured")), button(_("Read again"), () => load(context), { kind: "link", key: "measured-again" })),
        error ? alert_box("info", _("Not all measurements can be shown."), " ", visible(error.message)) : null,
        !keys.length && !error ? h("p", { "data-key": "none" }, _("Nothing has been measured.")) : null,
        keys.length ? null : how_to_measure(state.list?.data.drives[0]?.name || "sda"),
        keys.map(key => drive_card(key, context)),
        list.length ? all_measurements(list) : null,
    ];
}
