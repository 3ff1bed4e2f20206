/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Texts for people: translation, times, sizes, and strings that come from drives. */

import { h } from "./dom.js";

const { cockpit } = window;

export const _ = cockpit.gettext;
export const { format, ngettext } = cockpit;
export const DAY = 86400e3;     /* ms */

/* Control characters, and characters that change the direction of writing: a drive could use them to imitate another text. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/* Shows characters without a shape as \u{NN}. */
export function visible(text) {
    return String(text).replace(UNSAFE, c => `\\u{${c.codePointAt(0).toString(16)}}`);
}

/* Isolates a string of a drive or of another program, so that it does not change the direction of the text around it. */
export function foreign(text, attributes) {
    return h("bdi", attributes, visible(text));
}

/* Cockpit's name of the language ("pt_BR") as browsers know it, or the browser's own language. */
export const language = Intl.DateTimeFormat.supportedLocalesOf((cockpit.language || "en").replace(/[.@].*/, "").replace("_", "-"))[0];

const time_format = options => new Intl.DateTimeFormat(language, options);

const clock = time_format({ timeStyle: "short" });
const clock_seconds = time_format({ timeStyle: "medium" });
const weekday = time_format({ weekday: "short", day: "numeric", month: "short" });
const long_date = time_format({ day: "numeric", month: "short", year: "numeric" });

const short_weekday = time_format({ weekday: "short", day: "numeric" });

export const format_clock = time => clock.format(time);
export const format_weekday = time => short_weekday.format(time);
export const format_day = time => weekday.format(time);

/* A time in the browser's time zone; without the date if it is today. */
export function format_time(time, now = Date.now()) {
    const same_day = new Date(time).toDateString() === new Date(now).toDateString();

    if (same_day)
        return clock.format(time);
    return `${now - time < 300 * DAY ? weekday.format(time) : long_date.format(time)} ${clock.format(time)}`;
}

export const format_moment = (time, now = Date.now()) =>
    (new Date(time).toDateString() === new Date(now).toDateString() ? "" : `${weekday.format(time)} `) + clock_seconds.format(time);

export function format_duration(seconds) {
    const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);

    if (days >= 2)
        return hours % 24 ? format(_("$0 d $1 h"), days, hours % 24) : format(_("$0 d"), days);
    if (hours)
        return minutes % 60 ? format(_("$0 h $1 min"), hours, minutes % 60) : format(_("$0 h"), hours);
    return minutes ? format(_("$0 min"), minutes) : format(_("$0 s"), Math.floor(seconds));
}

/* Sizes as drives are sold: 4 TB is 4,000,000,000,000 bytes. */
export function format_size(bytes) {
    const units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let i = 0, size = bytes;

    if (!bytes)
        return "";
    while (size >= 999.5 && i < units.length - 1) {
        size /= 1000;
        i++;
    }
    return `${new Intl.NumberFormat(language, { maximumFractionDigits: size < 10 ? 1 : 0 }).format(size)} ${units[i]}`;
}

export const format_number = (number, digits = 1) => new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(number);

const TRANSPORTS = { sata: "SATA", pata: "PATA", usb: "USB", sas: "SAS", scsi: "SCSI", nvme: "NVMe", mmc: "MMC", virtio: "virtio" };

export const transport_name = name => TRANSPORTS[name] || (name === "virtual" ? _("virtual") : "");

/* ---- verdicts ---- */

const VERDICTS = {
    applied: _("applied"), unchanged: _("unchanged"), unverifiable: _("sent, cannot be read back"), adjusted: _("adjusted by the drive"),
    ignored: _("ignored by the drive"), drifted: _("changed by another program"), unsupported: _("not supported"), refused: _("refused"),
    forbidden: _("not permitted"), quarantined: _("in quarantine"), deferred: _("deferred"), failed: _("failed"), vanished: _("drive removed"),
};

export const verdict_name = verdict => verdict === null ? _("pending") : VERDICTS[verdict] || visible(verdict);

export const is_kept = verdict => ["applied", "unchanged", "unverifiable"].includes(verdict);

/* Whether a user should look at the setting. A rule for many drives may have settings that this drive lacks. */
export const needs_attention = setting =>
    setting.verdict !== null && !is_kept(setting.verdict) && !(setting.verdict === "unsupported" && setting.optional);

export const waits = setting => setting.verdict === null || setting.verdict === "deferred";

/* The file without its directory, as in the tables of the command. */
export const rule_name = rule => rule ? visible(rule.replace(/^.*\//, "")) : "";

export const power_name = power => ({
    standby: _("Standby"), suspended: _("Suspended"), "active/idle": _("Active"),
})[power] || _("Not known");
