/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The one tooltip of the page. Screen readers get the same text from the element that has the focus. */

import { h } from "./dom.js";

const tip = h("div", { class: "tip", "aria-hidden": "true", hidden: true });
let owner = null;

document.body.append(tip);

/* Shows lines of text above an element, at `x` pixels from the left of the window, or below if there is no room. */
export function show_tip(element, x, lines) {
    const area = element.getBoundingClientRect();

    owner = element;
    tip.replaceChildren(...lines.map(line => h("div", { dir: "auto" }, line)));
    tip.hidden = false;
    const left = Math.min(Math.max(x - tip.offsetWidth / 2, 4), document.documentElement.clientWidth - tip.offsetWidth - 4);
    const above = area.top - tip.offsetHeight - 6;

    tip.style.left = `${left}px`;
    tip.style.top = `${above >= 0 ? above : area.bottom + 6}px`;
}

export function hide_tip() {
    tip.hidden = true;
}

/* Hides the tooltip of an element that is no longer in the page. */
export function hide_orphaned_tip() {
    if (owner && !owner.isConnected)
        hide_tip();
}

window.addEventListener("scroll", hide_tip, { passive: true, capture: true });
