/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Stands in for Cockpit's base1/cockpit.js: the parts that the page uses. Programs run at the test's server. */

(function() {
    const settings = new URLSearchParams(window.location.search);
    const admin = settings.get("admin") !== "no";
    const cockpit = new EventTarget();

    const catalog = {};

    cockpit.language = settings.get("language") || "en";
    cockpit.language_direction = settings.has("rtl") ? "rtl" : "ltr";
    cockpit.gettext = text => catalog[text]?.[1] ?? text;
    cockpit.ngettext = (one, many, n) => {
        const plural = Number(catalog[""] ? catalog[""]["plural-forms"](n) : n !== 1);

        return catalog[one]?.[1 + plural] ?? (n === 1 ? one : many);
    };
    cockpit.format = (text, ...values) => text.replace(/\$(\d)/g, (_all, i) => values[i] ?? "");
    cockpit.locale = entries => {
        Object.assign(catalog, entries);
        cockpit.language = entries[""].language;
    };
    cockpit.jump = path => { window.jumped = path; };

    cockpit.spawn = (words, options) => {
        const abort = new AbortController();
        let on_text = null;

        async function run() {
            const reply = await fetch("/spawn", { method: "POST", signal: abort.signal,
                                                  body: JSON.stringify({ words, root: admin && !!options.superuser, required: options.superuser === "require" }) });
            const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
            let output = "", end = null;

            for (;;) {
                const { value, done } = await reader.read();

                if (done)
                    break;
                /* The last line, after a zero byte, is the end of the program. It may arrive in several parts. */
                const [text, last = null] = end === null ? value.split("\0") : ["", end + value];

                end = last;
                if (text && on_text)
                    on_text(text);
                else
                    output += text;
            }
            end = JSON.parse(end);
            if (end.problem || end.status)
                throw Object.assign(new Error(end.message || `drivekeep exited with code ${end.status}`), { problem: end.problem, exit_status: end.status, output });
            return [output, end.message];
        }

        const promise = new Promise(resolve => { setTimeout(resolve, 0); }).then(run);
        const process = {
            then: (good, bad) => promise.then(([output, message]) => good(output, message), error => bad(error, error.output)),
            stream: callback => { on_text = callback; return process; },
            close: () => abort.abort(),
        };

        return process;
    };

    /* Only for fswatch1. */
    cockpit.channel = options => {
        const channel = new EventTarget(), program = cockpit.spawn(["drivekeep", options.payload], {});
        const dispatch = (type, ...more) => channel.dispatchEvent(Object.assign(new Event(type), { more }));

        /* Cockpit calls a listener with the event, followed by more arguments. */
        channel.addEventListener = (type, listener) => EventTarget.prototype.addEventListener.call(channel, type, event => listener(event, ...event.more));
        channel.close = () => { program.close(); dispatch("close", {}); };
        program.stream(text => text.trim().split("\n").forEach(line => dispatch("message", line)));
        program.then(() => dispatch("close", {}), error => dispatch("close", { problem: error.problem || "disconnected" }));
        cockpit.watched = options.path;
        return channel;
    };

    cockpit.permission = () => {
        const permission = new EventTarget();

        permission.allowed = null;
        setTimeout(() => {
            permission.allowed = admin;
            permission.dispatchEvent(new Event("changed"));
        }, 10);
        return permission;
    };

    cockpit.location = { get path() { return decodeURIComponent(window.location.hash.slice(1)).split("/").filter(part => part); } };
    window.addEventListener("hashchange", () => cockpit.dispatchEvent(new Event("locationchanged")));
    window.cockpit = cockpit;
})();
