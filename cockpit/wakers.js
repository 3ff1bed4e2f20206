/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The programs that woke drives: the text for one wake, and the table of the most frequent wakers. */

import { h } from "./dom.js";
import { number, row, table } from "./table.js";
import { _, foreign, format, format_duration, format_moment, format_time, visible } from "./text.js";

/* Lines that describe a wake, for a tooltip and for a screen reader. */
export function wake_lines(wake) {
    const who = wake.process || (wake.thread ? format(_("kernel thread $0"), wake.thread) : _("an unknown program"));
    const lines = [`${format_moment(wake.at)}  ${visible(who)}${wake.unit ? ` (${visible(wake.unit)})` : ""}`];

    if (wake.what)
        lines.push(visible(wake.what));
    if (wake.command_line && wake.command_line !== wake.process)
        lines.push(visible(wake.command_line));
    if (wake.path)
        lines.push(visible(wake.path));
    if (wake.standby_seconds !== null)
        lines.push(format(_("after at least $0 in standby"), format_duration(wake.standby_seconds)));
    return lines;
}

/* Wakers between two times, the most frequent first. */
function count_wakers(wakes, from, to) {
    const wakers = new Map();

    for (const wake of wakes)
        if (wake.at >= from && wake.at <= to) {
            const name = wake.waker, waker = wakers.get(name) || { name, wakes: 0, drives: new Set(), last: 0 };

            waker.wakes++;
            waker.drives.add(wake.drive);
            waker.last = Math.max(waker.last, wake.at);
            wakers.set(name, waker);
        }
    return [...wakers.values()].sort((a, b) => b.wakes - a.wakes || b.last - a.last);
}

/* The most frequent wakers between two times. `state` has the advice of `drivekeep wakes --summary`, and the error if the journal cannot be read. */
export function wakers_table(wakes, from, to, state, n_max = 10) {
    const columns = [_("Program or unit"), number(_("Wakes")), _("Drives"), _("Last"), _("Remedy")];
    const advice = new Map((state.wakers?.data.wakers || []).map(waker => [waker.waker, waker.advice]));
    const wakers = count_wakers(wakes, from, to), error = state.errors.wakes, message = state.wakes?.message;

    if (error)
        return h("p", { class: "quiet" }, `${_("Not known:")} ${visible(error.message)}`);
    if (!state.wakes)
        return h("p", { class: "quiet" }, _("Reading the journal…"));
    return [message ? h("p", { class: "quiet" }, visible(message)) : null, wakers.length ? table(columns, [wakers.slice(0, n_max).map(waker => row(columns, [
        foreign(waker.name), String(waker.wakes), [...waker.drives].sort().map((name, i) => [i ? ", " : "", foreign(name)]),
        format_time(waker.last), advice.get(waker.name) ? visible(advice.get(waker.name)) : "–",
    ]))], { class: "wakers" }) : h("p", { class: "quiet" }, _("No program woke a drive in this time, as far as the journal shows."))];
}
