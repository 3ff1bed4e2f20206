/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The form that tries a value until the next boot. The service checks the value; the form only offers valid ones. */

import { h } from "./dom.js";
import { button } from "./parts.js";
import { _, visible } from "./text.js";

function input_of(description, value, id) {
    /* If the value is not known, the list begins with an empty choice: the first valid value would look like the present one. */
    const choices = description.choices?.includes(value) ? description.choices : ["", ...description.choices || []];

    if (description.choices)
        return h("select", { id, "data-focus": `input-${id}` }, choices.map(choice => h("option", { selected: choice === value }, choice)));
    return h("input", { id, "data-focus": `input-${id}`, value: value || "", autocomplete: "off", spellcheck: "false", "aria-describedby": `${id}-range` });
}

/* `description`: the setting's entry of `drivekeep settings`; `value`: now. */
export function change_form(drive, description, value, context, close) {
    const id = `change-${description.name}`, input = input_of(description, value, id);
    const submit = button(_("Try until the next boot"), async () => {
        if (input.value.trim() && await context.act(["try", drive, `${description.name}=${input.value.trim()}`]))
            close();
    }, { kind: "primary", key: `try-${drive}-${description.name}` });

    return h("form", {
        class: "change", "data-key": `form-${description.name}`,
        onsubmit: event => { event.preventDefault(); submit.click(); },
        onkeydown: event => { if (event.key === "Escape") close(); },
    },
             h("label", { for: id }, description.name), input, submit, button(_("Cancel"), close, { kind: "link", key: `cancel-${description.name}` }),
             h("div", { class: "quiet small", id: `${id}-range` }, visible(description.range)),
             description.excludes ? h("div", { class: "quiet small" }, `${_("Cannot be combined with:")} ${visible(description.excludes)}`) : null);
}

/* Returns the reason why the page offers no form for a setting, or null. */
export function reason_not_to_change(description) {
    if (!description)
        return _("This setting is not known to this version of the command.");
    if (description.danger)
        return visible(description.danger);
    if (description.instead)
        return visible(description.instead);
    return description.once ? _("This setting is an action at each attach of the drive: there is no value to try.") : null;
}
