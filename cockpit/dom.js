/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Elements. All text becomes text nodes and attributes: no string is parsed as HTML. */

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
        if (value === null || value === undefined || value === false)
            continue;
        if (name.startsWith("on"))
            element.addEventListener(name.slice(2), value);
        else
            element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
    return element;
}

/* An HTML element. Attributes that begin with "on" are event listeners; null and false are omitted. */
export function h(name, attributes, ...children) {
    return fill(document.createElement(name), attributes, children);
}

/* An SVG element. */
export function s(name, attributes, ...children) {
    return fill(document.createElementNS(SVG, name), attributes, children);
}

/* Replaces the children of `parent`. A child that equals its predecessor stays, with its focus and its selection. */
export function update(parent, children) {
    const old = new Map([...parent.children].map(child => [child.dataset.key, child]));
    const kept = children.flat(Infinity).filter(child => child).map(child => {
        const before = child.dataset.key && old.get(child.dataset.key);

        return before && before.isEqualNode(child) ? before : child;
    });

    if (kept.length !== parent.childNodes.length || kept.some((child, i) => child !== parent.childNodes[i]))
        parent.replaceChildren(...kept);
}

/* Calls `draw`. If the focused element is replaced, its successor with the same data-focus gets the focus, or the
 * page if there is none. */
export function keep_focus(draw) {
    const focused = document.activeElement?.closest("[data-focus]");

    draw();
    if (focused && document.activeElement !== focused)
        ([...document.querySelectorAll("[data-focus]")].find(element => element.dataset.focus === focused.dataset.focus) ||
         document.querySelector("main")).focus({ preventScroll: true });
}
