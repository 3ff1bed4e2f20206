/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Errors in the configuration, and conflicts with other programs. Command: check, which reads files and sends no command to a drive. */

import { h } from "./dom.js";
import { alert_box, button } from "./parts.js";
import { _, visible } from "./text.js";

const LEVELS = [["error", "danger", _("Errors")], ["warning", "warning", _("Warnings")], ["notice", "info", _("Notices")]];

function place(complaint) {
    return visible(complaint.file) + (complaint.line ? `:${complaint.line}` : "") + (complaint.column ? `:${complaint.column}` : "");
}

export function findings(state, context) {
    const complaints = state.check?.data.complaints || [];

    return [
        h("div", { class: "bar", "data-key": "bar" }, h("h2", {}, _("Findings")),
          button(_("Check again"), context.check, { key: "check" })),
        state.errors.check ? alert_box("danger", visible(state.errors.check.message)) : null,
        !state.check && !state.errors.check ? h("p", { class: "quiet", "data-key": "wait" }, _("Checking…")) : null,
        state.check && !complaints.length ? alert_box("success", _("The configuration has no errors, and no other program writes the same settings.")) : null,
        LEVELS.map(([level, kind, title]) => {
            const found = complaints.filter(complaint => complaint.level === level);

            return found.length ? h("section", { "data-key": level }, h("h3", {}, `${title} `, h("span", { class: `badge ${kind}` }, String(found.length))),
                                    h("ul", { class: "findings" }, found.map(complaint => h("li", { class: kind },
                                        h("div", { dir: "auto" }, visible(complaint.sentence)), h("code", { class: "small" }, place(complaint)))))) : null;
        }),
    ];
}
