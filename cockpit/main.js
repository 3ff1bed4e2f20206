/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The page reads at the start and after each change, and shows one view. The page does not poll: a change of the service's state files
 * causes a read of these files. The journal is read at the start and after wakes, and followed. A read of the journal after a drive has
 * entered standby could wake the drive that contains the journal. */

import "./theme.js";
import { h, keep_focus, update } from "./dom.js";
import { change, follow_wakes, NO_SERVICE, read, WAITS, watch_states } from "./drivekeep.js";
import { drive_changed, drive_left, drive_view } from "./drive.js";
import { findings } from "./findings.js";
import { measured_view } from "./measured.js";
import { overview } from "./overview.js";
import { alert_box, button, forget_question } from "./parts.js";
import { _, format, language, visible } from "./text.js";
import { hide_orphaned_tip } from "./tip.js";

const { cockpit } = window;
const TOGETHER = 150;   /* ms after a change, to read once for all settings of a visit */

/* Each document is { data, status, message } of drivekeep.js, or null. `time`: of the machine when `list` was read, because the browser's clock may
 * differ. `broken`: an error of the page itself. */
const state = { list: null, status: null, wakes: null, wakers: null, check: null, errors: {}, time: Date.now(), result: null, broken: null };
const permission = cockpit.permission({ admin: true });
const tabs = h("nav", { class: "tabs", "aria-label": _("Views") });
const notes = h("div", { class: "notes", role: "status", "aria-atomic": "false" });
const view = h("div", { class: "view" });
const context = {
    get may() { return permission.allowed === true; },
    act, check, render,
};

document.title = _("Drive settings");
document.documentElement.lang = language || "en";
document.documentElement.dir = cockpit.language_direction || "ltr";
document.body.append(h("main", { tabindex: -1 }, h("h1", { class: "visually-hidden" }, _("Drive settings")), tabs, notes, view));

/* ---- reading ---- */

async function load(target, what, words) {
    target[what] = target.errors[what] = null;
    try {
        target[what] = await read(words);
    } catch (error) {
        target.errors[what] = error;
    }
}

/* Replaces documents and their errors together: a drawing during the read shows the previous ones. */
function take({ errors, ...documents }) {
    Object.assign(state, documents);
    Object.assign(state.errors, errors);
}

async function load_drives() {
    const next = { errors: {} };

    await Promise.all([load(next, "list", "list"), load(next, "status", "status")]);
    take(next);
    if (state.list)
        state.time = Date.parse(state.list.data.time);
    render();
}

/* Wakes that were logged since the last read of the journal began. */
const new_wakes = [];
let reading_wakes = false;

const dated = wake => ({ ...wake, at: Date.parse(wake.time) });

/* Adds the wakes that were logged during the read of the journal, and since then. */
function add_new_wakes() {
    const wakes = reading_wakes ? null : state.wakes?.data.wakes;

    while (wakes && new_wakes.length) {
        const wake = dated(new_wakes.shift());

        if (!wakes.some(known => known.at === wake.at && known.drive === wake.drive))
            wakes.push(wake);
    }
}

async function load_wakes() {
    const next = { errors: {} };

    reading_wakes = true;
    await Promise.all([load(next, "wakes", "wakes"), load(next, "wakers", "wakes --summary")]);
    if (next.wakes)
        next.wakes.data.wakes = next.wakes.data.wakes.map(dated);
    take(next);
    reading_wakes = false;
    add_new_wakes();
    render();
}

async function check() {
    const next = { errors: {} };

    await load(next, "check", "check");
    take(next);
    render();
}

/* Cockpit hides the page while another page is open. */
async function until_shown() {
    while (cockpit.hidden)
        await new Promise(resolve => { cockpit.addEventListener("visibilitychange", resolve, { once: true }); });
}

let reading = null, changed = false;

async function read_changes() {
    while (changed) {
        await new Promise(resolve => { setTimeout(resolve, TOGETHER); });
        await until_shown();
        changed = false;
        await load_drives();
    }
}

/* Reads the state files again: one read at a time, and one for several changes. Returns a promise for the end. */
function refresh() {
    changed = true;
    reading ||= read_changes().finally(() => { reading = null; });
    return reading;
}

let stop_states = null, stop_wakes = null;

function start_following_wakes() {
    delete state.errors.new_wakes;
    stop_wakes?.();
    stop_wakes = follow_wakes(wake => {
        new_wakes.push(wake);
        add_new_wakes();
        drive_changed(wake.drive, context);
        refresh();
    }, error => {
        stop_wakes = null;
        state.errors.new_wakes = error;
        render();
    });
}

function start_following() {
    delete state.errors.states;
    stop_states?.();
    stop_states = watch_states(() => {
        /* Until the service has run since boot, `events --follow` exits with NO_SERVICE. Start the command again. */
        if (state.errors.new_wakes?.status === NO_SERVICE)
            start_following_wakes();
        refresh();
    }, error => {
        stop_states = null;
        state.errors.states = error;
        render();
    });
    start_following_wakes();
}

function read_all() {
    start_following();
    refresh();
    check();
    return load_wakes();
}

/* ---- changing ---- */

/* Runs a command that changes something, and shows its result. Returns whether the service accepted the change. */
async function act(words) {
    const command = `drivekeep ${words.join(" ")}`;
    let accepted = false;

    state.result = null;
    render();
    try {
        const { status, message } = await change(...words);

        accepted = status === 0 || status === WAITS;
        state.result = status === 0 ? alert_box("success", format(_("Done: $0"), command))
            : alert_box("warning", status === WAITS ? _("Deferred: the service makes the change as soon as the drive permits.")
                : format(_("Not all settings have the wanted value: $0"), command), " ", visible(message));
    } catch (error) {
        state.result = alert_box("danger", visible(error.message));
    }
    /* A kept value changes the configuration. */
    await Promise.all([refresh(), check()]);
    await drive_changed(null, context);
    return accepted;
}

/* ---- showing ---- */

const read_again = () => button(_("Read again"), read_all, { kind: "link", key: "again" });

function notes_to_show() {
    const { errors } = state;
    const warning = (text, error) => error && error.status !== NO_SERVICE ? alert_box("warning", text, " ", visible(error.message), " ", read_again()) : null;

    if (errors.list?.problem === "not-found")
        return [alert_box("danger", _("The command drivekeep is not installed."))];
    return [
        state.broken ? alert_box("danger", _("This page has an error."), " ", visible(state.broken.message), " ", read_again()) : null,
        [errors.list, errors.status].map(error => error ? alert_box("danger", visible(error.message), " ", read_again()) : null),
        state.status?.status === NO_SERVICE
            ? alert_box("warning", _("The service does not run: no setting is kept, and the states below are the last known ones."), " ",
                        button(_("Open the service"), () => cockpit.jump("/system/services#/drivekeep.service"), { kind: "link", key: "service" }), " ",
                        read_again())
            : null,
        warning(_("This page does not show changes of the drives any more."), errors.states),
        /* A user without rights cannot read the journal at all, which the table of wakers says. */
        permission.allowed ? warning(_("This page does not show new wakes any more."), errors.new_wakes) : null,
        permission.allowed === false
            ? alert_box("info", _("Limited access: the page shows only what every user may read."), " ",
                        _("To change settings, to read drives and to see which programs woke drives, turn on administrative access in the bar at the top."))
            : null,
        state.result,
    ];
}

function tab(path, text, current, badge) {
    return h("a", { href: `#${path}`, "aria-current": current ? "page" : null, "data-key": path, "data-focus": `tab-${path}` }, text,
             badge ? h("span", { class: `badge ${badge[0]}` }, String(badge[1])) : null);
}

/* An error in one drawing, for example after an upgrade of the command, must not stop the next ones. */
function render() {
    try {
        keep_focus(draw);
    } catch (error) {
        console.error(error);
        state.broken = error;
        update(notes, notes_to_show());
        state.broken = null;
    }
}

function draw() {
    const { path } = cockpit.location, complaints = state.check?.data.complaints || [];
    const count = level => complaints.filter(complaint => complaint.level === level).length, errors = count("error"), warnings = count("warning");

    update(tabs, [
        tab("/", _("Drives"), !path.length || path[0] === "drive"),
        tab("/findings", _("Findings"), path[0] === "findings", errors ? ["danger", errors] : warnings ? ["warning", warnings] : null),
        tab("/measured", _("Measured"), path[0] === "measured"),
    ]);
    update(notes, notes_to_show());
    if (path[0] !== "drive")
        drive_left();
    if (path[0] === "findings")
        update(view, findings(state, context));
    else if (path[0] === "measured")
        update(view, measured_view(state, context));
    else if (path[0] === "drive" && path[1])
        update(view, drive_view(path[1], state, context));
    else
        update(view, overview(state, context));
    hide_orphaned_tip();
}

cockpit.addEventListener("locationchanged", () => {
    state.result = null;
    forget_question();
    render();
    window.scrollTo(0, 0);
});
cockpit.addEventListener("visibilitychange", () => { if (!cockpit.hidden) refresh(); });
/* Cockpit loads the page again if the user turns administrative access on or off. */
permission.addEventListener("changed", render);

render();
read_all();
