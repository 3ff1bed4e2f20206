/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Seven days of one drive as bands, and what its spin-down costs and saves. */

import { h } from "./dom.js";
import { axis, band, legend } from "./band.js";
import { number, row, table } from "./table.js";
import { _, DAY, format, format_day, format_duration, format_number, ngettext, visible } from "./text.js";
import { standby_seconds } from "./timeline.js";


/* Midnight `ago` days before `now`. A day may have 23 or 25 hours. */
function midnight(now, ago) {
    const begin = new Date(now);

    begin.setHours(0, 0, 0, 0);
    begin.setDate(begin.getDate() - ago);
    return begin.getTime();
}

function day_summary(n, standby, known) {
    const parts = [known ? format(ngettext("$0 wake", "$0 wakes", n), n) : null, standby === null ? null : format_duration(standby)];

    return n || standby !== null ? parts.filter(Boolean).join(", ") : "–";
}

/* `known`: whether the journal could be read. */
export function week(drive, wakes, timeline, now, known) {
    const rows = [];

    for (let ago = 6; ago >= 0; ago--) {
        const from = midnight(now, ago), to = midnight(now, ago - 1), until = Math.min(to, now);
        const n = wakes.filter(wake => wake.at >= from && wake.at < until).length;

        if (!rows.length)
            rows.push(h("div", { class: "day head" }, h("span", {}), h("div", { class: "time" }, axis(from - 1, to)), h("span", {})));
        rows.push(h("div", { class: "day" }, h("span", {}, format_day(from)), band(`band-${drive.name}-day-${ago}`, visible(drive.name), known ? wakes : null, timeline, from, to, until),
                    h("span", { class: "quiet small" }, day_summary(n, standby_seconds(timeline, from, until), known))));
    }
    return h("section", { class: "card", "data-key": "week" }, h("h3", {}, _("Standby and wakes in the last seven days")), legend(), rows);
}

/* `texts`: the sentence with the counter alone, and the sentence with the rate. */
function wear_sentence(wear, texts) {
    if (!wear || wear.count === null)
        return null;
    if (wear.more_per_100_days === null || wear.years_left === null)
        return h("li", {}, format(texts.count, format_number(wear.count)));
    return h("li", {},
             format(texts.rate, format_number(wear.count), format_number(wear.more_per_100_days / 100),
                    format_number(wear.rated ?? wear.assumed_rating), format_number(wear.years_left, wear.years_left < 10 ? 1 : 0)),
             wear.assumed_rating !== null ? h("span", { class: "quiet" }, ` ${_("(assumed rating: the drive reports none)")}`) : null);
}

function timers_table(timers) {
    const columns = [_("Timer"), number(_("Spin-ups a day")), _("In standby a day")];
    const longest = Math.max(...timers.map(timer => timer.standby_seconds_per_day), 1);

    return table(columns, [timers.map(timer => row(columns, [
        format(_("$0 min"), timer.minutes), format_number(timer.spin_ups_per_100_days / 100),
        [h("meter", { min: 0, max: longest, value: timer.standby_seconds_per_day, "aria-hidden": "true" }), " ",
         format_duration(timer.standby_seconds_per_day)],
    ]))], { class: "timers" });
}

/* `use`: of `drivekeep explain`. */
export function cost(use, wakes, now, known) {
    const recent = wakes.filter(wake => wake.at > now - DAY).length, days = use.watched_seconds * 1000 / DAY;
    const timers = use.timers.filter(timer => timer.standby_seconds_per_day !== null);

    return h("section", { class: "card", "data-key": "cost" },
             h("h3", {}, format(_("Cost and benefit of the spin-down timer $0"), visible(use.setting))),
             h("ul", { class: "facts" },
               known && h("li", {}, format(ngettext("Woken $0 time in 24 hours.", "Woken $0 times in 24 hours.", recent), recent)),
               days >= 1 && h("li", {}, format(_("$0 spin-ups in $1 days; in standby for $2 a day."), format_number(use.spin_ups),
                                               format_number(days), format_duration(use.standby_seconds / days))),
               wear_sentence(use.load_cycles, {
                   count: _("$0 load cycles."),
                   rate: _("$0 load cycles, $1 a day: at this rate the drive reaches the rated $2 in $3 years."),
               }),
               wear_sentence(use.spindle_starts, {
                   count: _("$0 spindle starts."),
                   rate: _("$0 spindle starts, $1 a day: at this rate the drive reaches the rated $2 in $3 years."),
               })),
             timers.length ? [h("h4", {}, _("Estimates for other timers and the same I/O")), timers_table(timers)] : null);
}
