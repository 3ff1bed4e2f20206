/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One drive: its settings and their rules, seven days, and the cost of its spin-down.
 * Commands: explain and settings, which send no command to a drive. Buttons run plan and show, which read an active drive, and only query
 * the power state of a drive in standby. */

import { h } from "./dom.js";
import { read } from "./drivekeep.js";
import { power_text, temperature_text } from "./overview.js";
import { alert_box, button, problem } from "./parts.js";
import { managed_settings, other_settings, plan_table } from "./settings.js";
import { _, DAY, foreign, format, format_duration, format_size, needs_attention, transport_name, visible } from "./text.js";
import { make_timeline, wakes_by_drive } from "./timeline.js";
import { wakers_table } from "./wakers.js";
import { cost, week } from "./week.js";

/* The documents of the drive in the view. `key` identifies the drive: the kernel name may later belong to another drive. */
const NOTHING = { key: null, name: null, explain: null, plan: null, values: null };
let shown = { ...NOTHING, errors: {} };

/* The entries of `drivekeep settings`, which are the same for all drives. */
let descriptions = null;

/* The form that changes a value. It stays in the page while the table around it is drawn again. */
const form = { name: null, node: null, open: open_form };

/* Reads into `shown`, unless another drive is shown meanwhile. */
async function read_into(key, context, words, ...names) {
    const target = shown;

    try {
        target[key] = await read(words, ...names);
        delete target.errors[key];
    } catch (error) {
        target[key] = null;
        target.errors[key] = error;
    }
    if (shown === target)
        context.render();
}

const read_explain = context => read_into("explain", context, "explain", shown.name);

async function show_drive(key, name, context) {
    shown = { ...NOTHING, key, name, errors: {} };
    form.name = null;
    if (!descriptions) {
        await read_into("descriptions", context, "settings");
        descriptions = shown.descriptions?.data.settings || descriptions;
    }
    if (shown.key === key)
        await read_explain(context);
}

/* Reads the drive again, after a change by the user or after a wake of the drive `name`. Must not run after each change of the state files:
 * `drivekeep explain` reads the journal, and the journal may be on a drive that has just entered standby. */
export async function drive_changed(name, context) {
    if (!shown.key || (name && name !== shown.name))
        return;
    if (!name)
        shown.plan = null;
    await read_explain(context);
}

export function drive_left() {
    shown = { ...NOTHING, errors: {} };
    form.name = null;
}

function open_form(name, make, context) {
    const node = make(() => {
        if (form.node !== node)
            return;
        form.name = form.node = null;
        context.render();
        document.querySelector(`[data-focus="change-${CSS.escape(name)}"]`)?.focus();
    });

    Object.assign(form, { name, node });
    context.render();
    node.querySelector("input, select").focus();
}

function kept_active(kept) {
    const sentence = program => [
        foreign(program.process || program.thread || _("an unknown program")), program.unit ? [" (", foreign(program.unit), ")"] : null,
        program.what ? ` ${visible(program.what)}` : null,
        program.times && program.seconds ? format(_(": every $0"), format_duration(program.seconds / program.times)) : null,
        program.advice ? `. ${visible(program.advice)}` : null,
    ];

    return alert_box("warning", _("Programs keep this drive active."), h("ul", {}, kept.programs.map(program => h("li", {}, sentence(program)))));
}

function facts(drive) {
    const fact = (term, value) => value ? h("div", {}, h("dt", {}, term), h("dd", {}, value)) : null;
    const text = (term, value) => fact(term, value ? foreign(value) : null);

    return h("dl", { class: "card grid", "data-key": "facts" }, fact(_("State"), power_text(drive)),
             text(_("Spin-down"), drive.spindown || _("none")), text(_("Serial number"), drive.serial), text(_("WWN"), drive.wwn),
             text(_("Firmware"), drive.firmware), text(_("Size"), format_size(drive.size)), text(_("Transport"), transport_name(drive.transport)),
             text(_("USB bridge"), drive.dock_model), text(_("Bay"), drive.bay), text(_("Port"), drive.path), fact(_("Temperature"), temperature_text(drive)));
}

/* The message of a command that could not read everything, for example because the drive is in standby. */
const message_of = result => result?.message ? alert_box("info", visible(result.message)) : null;

function others_section(drive, settings, context) {
    const values = shown.values?.data.drives[0];

    return h("section", { class: "card", "data-key": "other" }, h("h3", {}, _("Settings that no rule sets")),
             message_of(shown.errors.values || shown.values), values?.reason ? h("p", { class: "quiet" }, visible(values.reason)) : null,
             values ? other_settings(drive, settings, values.settings, descriptions, context, form)
                 : h("p", {}, button(_("Read what the drive supports"), () => read_into("values", context, "show", drive.name), { may: context.may, key: `read-${drive.name}` }),
                     " ", h("span", { class: "quiet small" }, _("This reads the drive. A drive in standby gets only a query of its power state."))));
}

function plan_section(context) {
    return h("section", { class: "card", "data-key": "plan" }, h("h3", {}, _("Plan of the next visit")),
             message_of(shown.errors.plan || shown.plan), shown.plan?.data.drives.map(planned => plan_table(planned.settings)),
             h("p", {}, button(shown.plan ? _("Read again") : _("Show the plan"), () => read_into("plan", context, "plan", shown.name), { may: context.may, key: `plan-${shown.name}` }),
               " ", h("span", { class: "quiet small" }, _("This reads the drive, and writes nothing. A drive in standby gets only a query of its power state."))));
}

let rules_open = false;

function rules_section(rules) {
    return h("details", { class: "card", "data-key": "rules", open: rules_open, ontoggle: event => { rules_open = event.target.open; } },
             h("summary", { "data-focus": "rules" }, h("h3", {}, _("Rules"))),
             h("ul", { class: "facts" }, rules.map(rule => h("li", {},
                 h("span", { class: `badge ${rule.matches ? "success" : ""}` }, rule.matches ? _("matches") : _("does not match")), " ",
                 h("code", {}, visible(rule.rule)), " ", h("span", { class: "quiet", dir: "auto" }, visible(rule.reason))))));
}

export function drive_view(name, state, context) {
    const drive = state.list?.data.drives.find(candidate => candidate.name === name);
    const path = h("nav", { class: "crumbs", "data-key": "crumbs", "aria-label": _("Path") },
                   h("a", { href: "#/", "data-focus": "up" }, _("Drives")), " › ", foreign(name));

    if (!drive)
        return [path, state.list ? alert_box("warning", format(_("The drive $0 is not attached."), visible(name))) : null];

    const key = JSON.stringify([name, drive.serial, drive.wwn]);

    if (shown.key !== key)
        show_drive(key, name, context);

    const settings = state.status?.data.drives.find(candidate => candidate.name === name)?.settings || [];
    const attention = settings.filter(needs_attention), error = shown.errors.explain, explain = shown.explain?.data;
    const wakes = wakes_by_drive(state.wakes?.data.wakes, state.list.data.drives).get(name);
    const timeline = make_timeline(wakes, drive, state.list.data.boot_id, state.time);

    return [
        path,
        h("header", { class: "bar", "data-key": "title" }, h("h2", {}, foreign(name)), drive.model ? h("span", { class: "quiet" }, foreign(drive.model)) : null),
        [error, shown.errors.descriptions].map(failure => failure ? alert_box("warning", visible(failure.message)) : null),
        attention.length ? h("ul", { class: "problems", "data-key": "problems" }, attention.map(setting => problem(drive, setting, context))) : null,
        explain?.kept_active ? kept_active(explain.kept_active) : null,
        facts(drive),
        managed_settings(drive, settings, descriptions, context, form),
        h("div", { class: "columns", "data-key": "columns" }, week(drive, wakes, timeline, state.time, !!state.wakes),
          explain?.use ? cost(explain.use, wakes, state.time, !!state.wakes) : null),
        h("section", { class: "card", "data-key": "wakers" }, h("h3", {}, _("Programs that woke this drive in the last seven days")),
          wakers_table(wakes, state.time - 7 * DAY, state.time, state)),
        others_section(drive, settings, context), plan_section(context),
        explain ? rules_section(explain.rules) : null,
    ];
}
