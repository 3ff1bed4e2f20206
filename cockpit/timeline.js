/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When a drive was in standby and active, from the records of its wakes. measure/week.py has the same rules for `drivekeep show --plot`.
 * Times are milliseconds since 1970. */

const TOGETHER = 60e3;  /* within this time, a recorded wake and a change of the drive's state are the same event */

/* Returns the wakes of each drive, by its name. A wake belongs to the drive with its serial number, because the kernel name may have been another
 * drive's. Of drives with one serial number, as behind some USB bridges, the kernel name decides. `wakes`: in order, with the key `at`; or null. */
export function wakes_by_drive(wakes, drives) {
    const by_serial = new Map(), by_name = new Map(), result = new Map();

    for (const drive of drives) {
        result.set(drive.name, []);
        by_name.set(drive.name, drive);
        if (drive.serial)
            by_serial.set(drive.serial, drive);
    }
    for (const wake of wakes || []) {
        const named = by_name.get(wake.drive);
        const drive = !wake.serial || (named && (!named.serial || named.serial === wake.serial)) ? named : by_serial.get(wake.serial);

        if (drive)
            result.get(drive.name).push(wake.drive === drive.name ? wake : { ...wake, drive: drive.name });
    }
    return result;
}

/* Returns [{ from, to, standby }] in order. Between these times the state is not known. `wakes` is of one drive, in order, with the key `at`;
 * `drive` is of `drivekeep list`, which was read at `now`; `boot`: ID of the boot to which the state of `drive` belongs. */
export function make_timeline(wakes, drive, boot, now) {
    const parts = [];
    let last = null, end = 0;

    function add(from, to, standby) {
        if (to > from)
            parts.push({ from, to, standby });
    }

    for (const wake of wakes) {
        /* If the clock was set, a record may say that standby began before the previous wake. */
        const begin = Math.max(wake.at - (wake.standby_seconds || 0) * 1000, end);

        if (last && wake.standby_seconds !== null && last.boot_id === wake.boot_id)
            add(end, begin, false);
        add(begin, wake.at, true);
        end = Math.max(end, wake.at);
        last = wake;
    }
    if (drive.power_since) {
        const since = Date.parse(drive.power_since), until = drive.power_as_of ? Date.parse(drive.power_as_of) : now;
        const follows = last && last.boot_id === boot;

        if (drive.power === "active/idle")
            /* If the drive became active much later than the last recorded wake, there was another standby, whose wake was not recorded. */
            add(follows && since <= end + TOGETHER ? end : Math.max(since, end), until, false);
        else if (since >= end) {
            if (follows)
                add(end, since, false);
            add(since, until, true);
        }
    }
    return parts;
}

/* Seconds in standby, or null if nothing is known. */
export function standby_seconds(timeline, from, to) {
    let known = false, sum = 0;

    for (const part of timeline) {
        const length = Math.min(part.to, to) - Math.max(part.from, from);

        if (length <= 0)
            continue;
        known = true;
        sum += part.standby ? length : 0;
    }
    return known ? sum / 1000 : null;
}
