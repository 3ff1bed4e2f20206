/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The command `drivekeep`, and the directory of the service's state files. No other file of this page runs a program or opens a channel. */

const { cockpit } = window;

export const NO_SERVICE = 3;    /* exit status: the service does not run */
export const WAITS = 75;        /* exit status: the service carries out the request as soon as the drive permits it */
const NOT_ALL_KEPT = 2;         /* exit status: not all settings have the wanted value */

/* Returns the text on standard error, or "". Without such a text, Cockpit's message is "drivekeep exited with code N". */
const said = message => (message || "").replace(/^drivekeep exited with code \d+$/, "").replace(/^drivekeep: /gm, "").trim();

/* Error of a command, with its message on standard error and its exit status. */
export class CommandError extends Error {
    constructor(verb, message, { status = null, problem = null } = {}) {
        super(message || `drivekeep ${verb}`);
        this.status = status;
        this.problem = problem;     /* "not-found", "access-denied", …; null: the command ran */
    }
}

/* Returns { output, status, message } of a command that ran, whatever its exit status. */
function run(words, options) {
    return new Promise((resolve, reject) => {
        cockpit.spawn(["drivekeep", ...words], { err: "message", ...options })
                .then((output, message) => resolve({ output, status: 0, message: said(message) }),
                      (error, output) => {
                          const { exit_status: status = null, problem = null } = error, message = said(error.message);

                          if (status === null)
                              reject(new CommandError(words[0], message, { problem }));
                          else
                              resolve({ output, status, message });
                      });
    });
}

function parse(text) {
    try {
        return JSON.parse(text);
    } catch {
        return null;
    }
}

/* Runs a command that changes nothing. `words`: the verb and its options; `names`: of drives, also from drives and files, and never taken for
 * options. Without administrative access, the command runs as the user, and shows less. The command prints its document with most exit
 * statuses: `check` with errors exits with 1. Returns { data, status, message }. */
export async function read(words, ...names) {
    const { output, status, message } = await run([...words.split(" "), "--json", ...names.length ? ["--", ...names] : []], { superuser: "try" });
    const data = parse(output);

    if (data === null)
        throw new CommandError(words, message, { status });
    return { data, status, message };
}

/* Runs a command that changes a drive or the configuration. Returns { status, message }; `status` is 0, NOT_ALL_KEPT or WAITS. */
export async function change(...words) {
    const { status, message } = await run(words, { superuser: "require" });

    if (![0, NOT_ALL_KEPT, WAITS].includes(status))
        throw new CommandError(words[0], message, { status });
    return { status, message };
}

/* Calls `on_change` when a state file of the service has changed, and `on_end` with an error if the files cannot be watched any more. Returns
 * a function that stops the watch. */
export function watch_states(on_change, on_end) {
    const channel = cockpit.channel({ payload: "fswatch1", path: "/run/drivekeep/drives" });
    let ended = false;

    channel.addEventListener("message", () => on_change());
    channel.addEventListener("close", (_event, options) => {
        if (!ended)
            on_end(new CommandError("events", options?.message || options?.problem));
    });
    return () => { ended = true; channel.close(); };
}

/* Calls `on_wake` with the record of each wake that is logged from now on, and `on_end` with an error when the journal cannot be followed any
 * more. Returns a function that ends the command. */
export function follow_wakes(on_wake, on_end) {
    const process = cockpit.spawn(["drivekeep", "events", "--follow", "--json"], { superuser: "try", err: "message" });
    let rest = "", ended = false;

    function end(error) {
        if (!ended)
            on_end(new CommandError("events", said(error?.message), { status: error?.exit_status, problem: error?.problem }));
    }

    process.stream(text => {
        const lines = (rest + text).split("\n");

        rest = lines.pop();
        for (const line of lines)
            for (const event of parse(line)?.events || [])
                /* An event without a kind is no wake record of the journal, but only a change of the state file. */
                if (event.event === "active" && event.kind)
                    on_wake(event);
    });
    process.then(() => end(null), end);
    return () => { ended = true; process.close(); };
}
