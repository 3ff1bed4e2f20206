/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A band: one line of time with the states of a drive and its wakes. The pointer and the arrow keys select a wake. */

import { h, s } from "./dom.js";
import { _, DAY, format, format_clock, format_duration, format_time, format_weekday, ngettext } from "./text.js";
import { standby_seconds } from "./timeline.js";
import { hide_tip, show_tip } from "./tip.js";
import { wake_lines } from "./wakers.js";

const WIDTH = 2000, HEIGHT = 24, NEAR = 8;      /* NEAR: pixels between the pointer and the wake that it selects */
const SHAPES = { standby: [17, 7], active: [5, 19], unknown: [22, 2] };    /* top and height: states differ by shape, not only by colour */

/* One path for all parts of a state: the number of elements does not grow with the number of wakes. */
function path_of(parts, [top, height], x_of) {
    return parts.map(part => {
        const x = x_of(part.from), width = Math.max(x_of(part.to) - x, 1);

        return `M${x} ${top}h${width}v${height}h${-width}z`;
    }).join("");
}

function unknown_parts(timeline, from, to) {
    const parts = [];
    let end = from;

    for (const part of timeline) {
        if (part.from > end)
            parts.push({ from: end, to: part.from });
        end = Math.max(end, part.to);
    }
    if (end < to)
        parts.push({ from: end, to });
    return parts;
}

/* `known`: whether the wakes are known. */
function summary(name, wakes, known, timeline, from, to) {
    const standby = standby_seconds(timeline, from, to);
    const states = standby === null ? _("no state is known") : format(_("in standby for at least $0"), format_duration(standby));

    const times = known ? format(ngettext("woken $0 time", "woken $0 times", wakes.length), wakes.length) : _("wakes are not known");

    return format(_("$0, $1 to $2: $3, $4"), name, format_time(from), format_time(to), states, times);
}

/* The last selected wake of each band, by the key of the band. The map outlives the bands: each redraw creates new ones. */
const selections = new Map();

/* `key`: key of the band in the page; `name`: name of the drive; `all_wakes`: wakes in order, or null if not known; `end`: end of the known
 * time, if the band reaches into the future. */
export function band(key, name, all_wakes, whole_timeline, from, to, end = to) {
    const x_of = time => Math.round((time - from) / (to - from) * WIDTH);
    const wakes = (all_wakes || []).filter(wake => wake.at >= from && wake.at <= end);
    const timeline = whole_timeline.filter(part => part.to > from && part.from < end)
            .map(part => ({ ...part, from: Math.max(part.from, from), to: Math.min(part.to, end) }));
    const ticks = [...new Set(wakes.map(wake => x_of(wake.at)))].map(x => `M${x} 0V${HEIGHT}`).join("");
    const cursor = s("path", { class: "cursor", d: "" });
    const svg = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
                  s("path", { class: "unknown", d: path_of(unknown_parts(timeline, from, end), SHAPES.unknown, x_of) }),
                  s("path", { class: "active", d: path_of(timeline.filter(part => !part.standby), SHAPES.active, x_of) }),
                  s("path", { class: "standby", d: path_of(timeline.filter(part => part.standby), SHAPES.standby, x_of) }),
                  s("path", { class: "wake", d: ticks }), cursor);
    const label = summary(name, wakes, !!all_wakes, timeline, from, end);
    const box = h("div", wakes.length
        ? { class: "band", role: "slider", tabindex: 0, "aria-label": label, "aria-valuemin": 1, "aria-valuemax": wakes.length }
        : { class: "band", role: "img", "aria-label": label }, svg);
    let selected = wakes.findIndex(wake => wake.at === selections.get(key));

    if (selected < 0)
        selected = wakes.length - 1;

    function show_selected() {
        const area = box.getBoundingClientRect(), x = x_of(wakes[selected].at);

        selections.set(key, wakes[selected].at);
        box.setAttribute("aria-valuenow", selected + 1);
        box.setAttribute("aria-valuetext", wake_lines(wakes[selected]).join(", "));
        cursor.setAttribute("d", `M${x} 0V${HEIGHT}`);
        show_tip(box, area.left + x / WIDTH * area.width, wake_lines(wakes[selected]));
    }

    function show_state(x, time) {
        const part = timeline.find(candidate => time >= candidate.from && time < candidate.to);
        const state = part ? part.standby ? _("Standby") : _("Active") : time > end ? null : _("Not known");

        cursor.setAttribute("d", "");
        if (state)
            show_tip(box, x, [part ? format(_("$0, $1 to $2"), state, format_time(part.from), format_time(part.to)) : state]);
        else
            hide_tip();
    }

    function point(event) {
        const area = box.getBoundingClientRect(), time = from + (event.clientX - area.left) / area.width * (to - from);
        const distance = i => Math.abs(x_of(wakes[i].at) / WIDTH * area.width + area.left - event.clientX);
        const nearest = wakes.reduce((best, _wake, i) => best === null || distance(i) < distance(best) ? i : best, null);

        if (nearest !== null && distance(nearest) <= NEAR) {
            selected = nearest;
            show_selected();
        } else
            show_state(event.clientX, time);
    }

    function leave() {
        cursor.setAttribute("d", "");
        hide_tip();
    }

    if (wakes.length) {
        /* Time runs from left to right even on right-to-left pages. */
        const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity };

        box.dataset.focus = key;
        box.setAttribute("aria-valuenow", selected + 1);
        box.setAttribute("aria-valuetext", wake_lines(wakes[selected]).join(", "));
        box.addEventListener("focus", () => { if (box.matches(":focus-visible")) show_selected(); });
        box.addEventListener("blur", leave);
        box.addEventListener("keydown", event => {
            if (event.key === "Escape") {
                leave();
            } else if (event.key in steps && !event.altKey && !event.ctrlKey && !event.metaKey) {
                event.preventDefault();
                selected = Math.min(Math.max(selected + steps[event.key], 0), wakes.length - 1);
                show_selected();
            }
        });
    }
    box.addEventListener("pointermove", point);
    box.addEventListener("pointerdown", point);
    box.addEventListener("pointerleave", leave);
    return box;
}

/* Time labels above bands: one for every six hours, or for every midnight. */
export function axis(from, to) {
    const days = to - from > 2 * DAY, step = days ? 24 : 6, labels = [];
    const at = new Date(from);

    at.setMinutes(0, 0, 0);
    at.setHours(days ? 24 : Math.ceil((at.getHours() + 1) / step) * step);
    for (; at.getTime() < to; at.setHours(at.getHours() + step)) {
        const x = (at.getTime() - from) / (to - from) * 100;

        labels.push(s("svg", { x: `${x}%`, overflow: "visible", class: at.getHours() % 12 ? "minor" : null },
                      s("path", { class: "mark", d: "M0 15V22" }),
                      s("text", { y: 12, "text-anchor": x > 95 ? "end" : days || x < 4 ? "start" : "middle" },
                        days ? x < 92 ? format_weekday(at) : "" : format_clock(at))));
    }
    return s("svg", { class: "axis", "aria-hidden": "true" }, labels);
}

/* What the shapes mean. */
export function legend() {
    const sample = (state, text) => h("li", {},
        s("svg", { class: "sample", viewBox: `0 0 24 ${HEIGHT}`, "aria-hidden": "true" },
          s("path", { class: state, d: state === "wake" ? `M12 0V${HEIGHT}` : path_of([{ from: 0, to: 24 }], SHAPES[state], x => x) })), text);

    return h("ul", { class: "legend" }, sample("standby", _("Standby")), sample("active", _("Active")), sample("wake", _("Woken")),
             sample("unknown", _("Not known")));
}
