/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The settings of one drive: those of rules, with the verdict of the last visit, and those that no rule sets. */

import { h } from "./dom.js";
import { change_form, reason_not_to_change } from "./change.js";
import { alert_box, button } from "./parts.js";
import { actions, row, table, wide_row } from "./table.js";
import { _, is_kept, needs_attention, rule_name, verdict_name, visible, waits } from "./text.js";

const HOLDERS = {
    ata: _("In the drive"), "scsi-mode": _("In the drive"), nvme: _("In the drive"), optical: _("In the drive"),
    scsi: _("In the kernel: device and link"), block: _("In the kernel: queue"),
};

/* Returns the possible holders of a setting's value for a kind of drive. A setting may have an entry for each of several holders. */
function holders(transport) {
    if (transport === "nvme")
        return ["nvme", "block"];
    return ["sas", "scsi"].includes(transport) ? ["scsi-mode", "scsi", "block"] : ["ata", "scsi", "block", "optical"];
}

/* The entry of `drivekeep settings` for a setting of this drive. */
function describe(drive, name, descriptions) {
    const found = (descriptions || []).filter(description => description.name === name);

    return found.find(description => holders(drive.transport).includes(description.transport)) || found[0];
}

const quiet = text => text ? h("div", { class: "quiet small", dir: "auto" }, visible(text)) : null;

const name_cell = (name, description) => [name, quiet(description?.brief)];

/* `form`: the open form, { name, node }; `form.open` opens one. */
function change_cell(drive, descriptions, description, name, value, context, form) {
    if (!descriptions)
        return null;

    const reason = reason_not_to_change(description);

    if (reason)
        return h("span", { class: "quiet small" }, h("span", { class: "lock", "aria-hidden": "true" }), reason);
    return button(_("Change…"), () => form.open(name, close => change_form(drive.name, description, value, context, close), context),
                  { may: context.may, key: `change-${name}`, kind: "link" });
}

function form_row(columns, name, form) {
    return form.name === name ? wide_row(columns, form.node) : null;
}

function verdict_cell(setting) {
    const kind = waits(setting) ? "info" : needs_attention(setting) ? "danger" : is_kept(setting.verdict) ? "success" : "";

    return [h("span", { class: `badge ${kind}` }, verdict_name(setting.verdict)), quiet(setting.reason)];
}

/* The values of `drivekeep try`. The command keeps or restores all of a drive. */
function tried_box(drive, settings, context) {
    const tried = settings.filter(setting => setting.temporary === "try"), may = { may: context.may };

    return tried.length ? alert_box("info", _("Tried until the next boot:"), " ",
                                    tried.map(setting => `${setting.name} = ${setting.wanted ?? "–"}`).join(", "), " ",
                                    button(_("Keep"), () => context.act(["try", "--keep", drive.name]), { ...may, key: `keep-${drive.name}` }), " ",
                                    button(_("Undo"), () => context.act(["try", "--undo", drive.name]), { ...may, key: `undo-${drive.name}` })) : null;
}

export function managed_settings(drive, settings, descriptions, context, form) {
    const columns = [_("Setting"), _("Wanted"), _("Actual"), _("Verdict"), _("Rule"), actions];
    const groups = new Map();

    for (const setting of settings) {
        const description = describe(drive, setting.name, descriptions), title = HOLDERS[description?.transport] || _("Other");

        if (!groups.has(title))
            groups.set(title, [h("tr", { class: "group" }, h("th", { colspan: columns.length, scope: "rowgroup" }, title))]);
        groups.get(title).push(row(columns, [
            name_cell(setting.name, description), setting.wanted ?? "–", setting.actual ?? "–", verdict_cell(setting),
            h("span", { class: "small", title: visible(setting.rule || "") }, rule_name(setting.rule) || "–"),
            change_cell(drive, descriptions, description, setting.name, setting.wanted, context, form),
        ]), form_row(columns, setting.name, form));
    }
    return h("section", { class: "card", "data-key": "settings" }, h("h3", {}, _("Settings that rules set")), tried_box(drive, settings, context),
             groups.size ? table(columns, [...groups.values()], { class: "settings" })
                 : h("p", { class: "quiet" }, _("No rule sets a setting that this drive supports.")));
}

/* `values`: of `drivekeep show`. */
export function other_settings(drive, settings, values, descriptions, context, form) {
    const columns = [_("Setting"), _("Actual"), _("Range"), actions];
    const managed = new Set(settings.map(setting => setting.name)), others = values.filter(value => !managed.has(value.name));
    const lacking = others.filter(value => value.supported === false).map(value => value.name);
    const rows = others.filter(value => value.supported !== false).map(value => {
        const description = describe(drive, value.name, descriptions);

        return [row(columns, [
            name_cell(value.name, description), value.value ?? h("span", { class: "quiet" }, visible(value.reason || "–")),
            h("span", { class: "quiet small" }, visible(value.range || description?.range || "")),
            change_cell(drive, descriptions, description, value.name, value.value, context, form),
        ]), form_row(columns, value.name, form)];
    });

    if (lacking.length)
        rows.push(wide_row(columns, `${_("Not supported:")} ${lacking.join(", ")}`, { class: "quiet small" }));
    return table(columns, [rows], { class: "settings" });
}

/* `settings`: of `drivekeep plan`. */
export function plan_table(settings) {
    const columns = [_("Setting"), _("Now"), _("Wanted"), _("Action"), _("Rule")];
    const action_name = action => action === "write" ? _("would be written") : action ? verdict_name(action) : _("not known");

    if (!settings.length)
        return h("p", { class: "quiet" }, _("The service would write nothing at a visit."));
    return table(columns, [settings.map(setting => row(columns, [
        setting.name, setting.present ?? "–", setting.wanted ?? "–", [action_name(setting.action), quiet(setting.reason)],
        h("span", { class: "small" }, rule_name(setting.rule)),
    ]))], { class: "settings" });
}
