/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Dark or light, as selected in the menu of Cockpit's shell. Cockpit stores the choice in localStorage and announces a change by an event.
 * The class on <html> is ours: the one of PatternFly has another name in each major version. */

const prefers_dark = window.matchMedia("(prefers-color-scheme: dark)");

function set_theme(choice) {
    const style = choice || localStorage.getItem("shell:style") || "auto";

    document.documentElement.classList.toggle("dark", style === "dark" || (style === "auto" && prefers_dark.matches));
}

window.addEventListener("storage", event => { if (event.key === "shell:style") set_theme(); });
window.addEventListener("cockpit-style", event => set_theme(event.detail.style));
prefers_dark.addEventListener("change", () => set_theme());
set_theme();
