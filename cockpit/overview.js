/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All drives: their state, their settings, a day or a week as a band, and the programs that woke them.
 * Commands: list, status, wakes, wakes --summary. They read the service's state files, udev and the journal, and send no command to a drive. */

import { h, update } from "./dom.js";
import { axis, band, legend } from "./band.js";
import { NO_SERVICE } from "./drivekeep.js";
import { count_settings, problem, settings_summary } from "./parts.js";
import { _, DAY, foreign, format, format_size, format_time, needs_attention, ngettext, power_name, transport_name, visible } from "./text.js";
import { make_timeline, wakes_by_drive } from "./timeline.js";
import { wakers_table } from "./wakers.js";

const MINUTE = 60e3;    /* ms */

let days = 1;

/* The list of rows. The element stays in the page, so that unchanged rows need no redraw. */
const rows = h("ul", { class: "drives", "data-key": "drives" });

function drive_link(name) {
    return h("a", { href: `#/drive/${encodeURIComponent(name)}`, "data-focus": `link-${name}` }, foreign(name));
}

function drive_facts(drive) {
    const place = drive.bay ? format(_("bay $0"), drive.bay) : drive.path;
    const facts = [format_size(drive.size), transport_name(drive.transport), drive.serial, place].filter(Boolean);

    return [drive.model ? h("div", {}, foreign(drive.model)) : null,
            h("div", { class: "small" }, facts.map((fact, i) => [i ? " · " : "", foreign(fact)]))];
}

/* The power state. For an active drive, the time at which the state was last checked says more than the time at which it began. */
export function power_text(drive) {
    const standby = ["standby", "suspended"].includes(drive.power);
    const state = h("span", { class: `state ${standby ? "standby" : drive.power ? "active" : "unknown"}` }, power_name(drive.power));
    const since = standby || !drive.power_as_of ? drive.power_since : null, at = since || drive.power_as_of;
    const time = at ? format(since ? _("since $0") : _("at $0"), format_time(Date.parse(at))) : null;

    return [state, time ? [" ", h("span", { class: "quiet" }, time)] : null];
}

export function temperature_text(drive) {
    return drive.temperature === null ? null
        : format(_("$0 °C at $1"), drive.temperature, format_time(Date.parse(drive.temperature_as_of)));
}

function waits_for(status) {
    const reasons = {
        check: _("waits for a file system check"), udev: _("waits for udev"), systemd: _("waits for systemd"),
        memory: _("waits for memory"), connection: _("waits for the service's broker"),
    };

    if (status.state === "visiting")
        return _("is being visited");
    if (status.state === "queued")
        return _("a visit is queued");
    if (status.state !== "waiting")
        return null;
    return (reasons[status.waiting_kind] || _("waits for a visit")) + (status.waiting_for ? ` (${visible(status.waiting_for)})` : "");
}

function drive_row(drive, status, wakes, state, from, to, context) {
    const settings = status?.settings || [], attention = settings.filter(needs_attention);
    const timeline = make_timeline(wakes, drive, state.list.data.boot_id, state.time);

    return h("li", { class: "drive", "data-key": drive.name },
             h("div", { class: "who" }, h("h3", {}, drive_link(drive.name)), h("div", { class: "quiet" }, drive_facts(drive))),
             h("div", { class: "power" }, power_text(drive),
               h("div", { class: "quiet small" }, drive.spindown ? format(_("spins down: $0"), visible(drive.spindown)) : null),
               h("div", { class: "quiet small" }, temperature_text(drive))),
             h("div", { class: "kept" }, status ? settings_summary(settings) : h("span", { class: "quiet" }, _("not known to the service")),
               status && waits_for(status) ? h("div", { class: "quiet small" }, waits_for(status)) : null),
             timeline.some(part => part.to > from) ? h("div", { class: "time" }, band(`band-${drive.name}-${days}`, visible(drive.name), state.wakes ? wakes : null, timeline, from, to, state.time))
                 : h("div", { class: "quiet small" }, _("nothing recorded")),
             attention.length ? h("ul", { class: "problems" }, attention.map(setting => problem(drive, setting, context))) : null);
}

/* Returns the numbers of drives and settings. Without records of the service, the line has only the number of drives. */
function totals(drives, status) {
    const { missed, pending, kept } = count_settings((status?.data.drives || []).flatMap(drive => drive.settings));
    const texts = [
        missed ? h("strong", { class: "danger-text" }, format(ngettext("$0 setting is not kept", "$0 settings are not kept", missed), missed)) : null,
        pending ? format(ngettext("$0 setting waits", "$0 settings wait", pending), pending) : null,
        !missed && !pending && status?.status !== NO_SERVICE ? kept ? _("all settings are kept") : _("no settings") : null,
    ];

    return [format(ngettext("$0 drive", "$0 drives", drives.length), drives.length), status ? texts.filter(Boolean).map(text => [" · ", text]) : null];
}

function choose_days(context) {
    const choice = (n, text) => h("button", {
        type: "button", class: "toggle", "aria-pressed": String(days === n), "data-focus": `days-${n}`,
        onclick: () => { days = n; context.render(); },
    }, text);

    return h("div", { class: "toggles", role: "group", "aria-label": _("Time shown"), "data-key": "days" }, choice(1, _("24 hours")), choice(7, _("7 days")));
}

export function overview(state, context) {
    const drives = state.list?.data.drives || [];
    const by_name = new Map((state.status?.data.drives || []).map(status => [status.name, status]));
    /* In whole minutes, so that most rows stay the same. */
    const to = Math.ceil(state.time / MINUTE) * MINUTE, from = to - days * DAY;
    const wakes = wakes_by_drive(state.wakes?.data.wakes, drives);

    if (!state.list)
        return [h("p", { class: "quiet", "data-key": "wait" }, state.errors.list ? null : _("Reading the drives…"))];
    update(rows, drives.map(drive => drive_row(drive, by_name.get(drive.name), wakes.get(drive.name), state, from, to, context)));
    return [
        h("div", { class: "bar", "data-key": "bar" }, h("h2", {}, _("Drives")), h("span", { class: "quiet" }, totals(drives, state.status)), choose_days(context)),
        drives.length ? h("div", { class: "drive head", "data-key": "head" }, h("div", { class: "legend-place" }, legend()), h("div", { class: "time" }, axis(from, to)))
            : h("p", { "data-key": "none" }, _("No supported drive is attached.")),
        rows,
        h("h2", { "data-key": "wakers-title" }, _("Programs that woke drives")),
        h("div", { "data-key": "wakers" }, wakers_table([...wakes.values()].flat(), from, to, state)),
    ];
}
