/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parts that several views use. */

import { h } from "./dom.js";
import { _, format, needs_attention, verdict_name, visible, waits } from "./text.js";

/* A message in a box. `kind`: info, success, warning or danger. */
export function alert_box(kind, title, ...more) {
    const names = { info: _("Information"), success: _("Success"), warning: _("Warning"), danger: _("Error") };

    return h("div", { class: `alert ${kind}`, "data-key": `alert-${title}` },
             h("span", { class: "visually-hidden" }, `${names[kind]}: `), h("strong", { dir: "auto" }, title), more);
}

/* The keys of the buttons whose actions are running. A redraw must not create a button that starts a running action again. */
const running = new Set();

function set_busy(element, busy) {
    for (const name of ["aria-busy", "aria-disabled"])
        if (busy)
            element.setAttribute(name, "true");
        else
            element.removeAttribute(name);
}

/* A button that runs `action`, once at a time. `key`: unique in the page. Without rights, the button is grey and its title says why. A button that
 * waits is not `disabled`, because it would lose the focus. */
export function button(label, action, { kind = "secondary", may = true, key }) {
    const element = h("button", {
        type: "button", class: `button ${kind}`, disabled: !may, "data-focus": key,
        title: may ? null : _("This needs administrative access, which you can turn on in the bar at the top."),
        onclick: async () => {
            if (running.has(key))
                return;
            running.add(key);
            set_busy(element, true);
            try {
                await action();
            } finally {
                running.delete(key);
                document.querySelectorAll(`[data-focus="${CSS.escape(key)}"]`).forEach(successor => set_busy(successor, false));
            }
        },
    }, label);

    set_busy(element, running.has(key));
    return element;
}

/* The key of the button whose question is open. A redraw keeps the question open. */
let asked = null;

export function forget_question() {
    asked = null;
}

/* A button that asks first. The focus goes to the button that changes nothing. */
function asking_button(label, question, action, key, { may, render }) {
    const answer = (chosen, focus) => {
        asked = chosen;
        render();
        document.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus();
    };

    if (asked !== key)
        return button(label, () => answer(key, `${key}-cancel`), { may, key });
    return h("span", { class: "asking" }, h("span", {}, question),
             button(label.replace(/…$/, ""), () => { answer(null, key); return action(); }, { kind: "warning", may, key: `${key}-do` }),
             button(_("Cancel"), () => answer(null, key), { kind: "link", key: `${key}-cancel` }));
}

/* A setting without the wanted value: the sentence, and the button that helps. */
export function problem(drive, setting, context) {
    const { may, act } = context, key = `help-${drive.name}-${setting.name}`;
    let help = null;

    if (setting.verdict === "quarantined")
        help = asking_button(_("Release…"),
                             _("The service will write this setting again, although an earlier write may have crashed the drive or the machine."),
                             () => act(["release", drive.name, setting.name]), key, context);
    else if (["ignored", "drifted", "refused", "failed"].includes(setting.verdict))
        help = button(_("Apply again"), () => act(["apply", drive.name]), { may, key });
    return h("li", { class: waits(setting) ? "waiting" : "problem" },
             h("span", { dir: "auto" }, h("strong", {}, setting.name), ` ${verdict_name(setting.verdict)}`,
               setting.reason ? `: ${visible(setting.reason)}` : ""), help);
}

/* Numbers of settings: without the wanted value, waiting for the drive, and kept. */
export function count_settings(settings) {
    const missed = settings.filter(setting => needs_attention(setting) && !waits(setting)).length, pending = settings.filter(waits).length;
    const lacking = settings.filter(setting => setting.verdict === "unsupported" && setting.optional).length;

    return { missed, pending, kept: settings.length - missed - pending - lacking };
}

/* The settings of one drive in a few words. */
export function settings_summary(settings) {
    const { missed, pending, kept } = count_settings(settings);

    return [
        missed ? h("span", { class: "badge danger" }, format(_("$0 not kept"), missed)) : null,
        pending ? h("span", { class: "badge info" }, format(_("$0 waiting"), pending)) : null,
        kept ? h("span", { class: "badge success" }, format(_("$0 kept"), kept)) : null,
        missed || pending || kept ? null : h("span", { class: "quiet" }, _("no settings")),
    ];
}
