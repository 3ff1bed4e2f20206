/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep alert`: tells the administrator of settings that have not come true, once, and of no drive more often than once an hour.
 * drivekeep-alert.service runs it whenever a verdict is another one than before. */

#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "alert-note.h"
#include "child.h"
#include "clock.h"
#include "file-replace.h"
#include "outlet.h"
#include "output.h"
#include "records.h"
#include "status-table.h"

/* For a run without systemd, which names it by StateDirectory=. */
#define NOTES_DIRECTORY "/var/lib/drivekeep-alert"
#define NAMES_MAX 5U

/* Puts the drives first that there is news of, and returns how many these are. */
static size_t choose_news(Records *records, AlertNotes *notes, uint64_t now, bool *ret_later) {
        size_t n = 0;

        for (size_t i = 0; i < records->n_items; i++) {
                DriveRecord *d = records->items[i];
                AlertDue due = alert_notes_judge(notes, d, now);

                *ret_later = *ret_later || due == ALERT_LATER;
                if (due != ALERT_NOW)
                        continue;
                records->items[i] = records->items[n];
                records->items[n++] = d;
        }
        return n;
}

/* A single line, since programs put it into a header. */
static char *make_subject(const Records *records, size_t n) {
        char host[HOST_NAME_MAX + 1] = "";
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        (void) gethostname(host, sizeof host - 1);
        fprintf(f, "%s: settings of ", host);
        for (size_t i = 0; i < MIN(n, NAMES_MAX); i++)
                fprintf(f, "%s%s", i > 0 ? ", " : "", records->items[i]->name);
        if (n > NAMES_MAX)
                fprintf(f, " and %zu more", n - NAMES_MAX);
        fputs(" have not come true", f);
        must_close(f);
        return must(text_escape(text, NULL));
}

/* The table and its notes, as `drivekeep status --failed` shows them. */
static FILE *make_report(const Records *records, size_t n, uint64_t now) {
        FILE *text = must(fdopen(memfd_create("report", MFD_CLOEXEC), "w+")), *usual = stdout;
        const Options options = { .failed = true };

        stdout = text;
        (void) status_print(records, n, now, &options);
        stdout = usual;
        must_work(fflush(text));
        return text;
}

/* By the program of the administrator's, or else by mail to root. */
static int send_report(const Options *o, const char *subject, FILE *report) {
        _cleanup_free_ char *own = must_format(OUTLET_OWN_PROGRAM, o->roots[0]);
        char *const own_words[] = { own, (char *) subject, NULL };
        char *const mail_words[] = { (char *) "mail", (char *) "-s", (char *) subject, (char *) "root", NULL };
        bool is_own = access(own, F_OK) >= 0;
        char *const *words = is_own ? own_words : mail_words;
        int r, status;
        pid_t pid;

        r = child_start_reader(words, fileno(report), &pid);
        if (r == -ENOENT && !is_own)
                warn_escaped("no alert can be sent: " OUTLET_NO_PROGRAM, own);
        else if (r < 0)
                warn_escaped("no alert can be sent: %s cannot be started: %s", words[0], strerror(-r));
        if (r < 0)
                return EXIT_BAD_INPUT;

        status = child_wait(pid);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
                warn_escaped("nobody was told: %s ended with %s %d; drivekeep-alert.service tries again in 15 minutes",
                             words[0], WIFEXITED(status) ? "status" : "signal",
                             WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
                return EXIT_BAD_INPUT;
        }
        return EXIT_WANTED;
}

static int tell(const Options *o, Records *records, AlertNotes *notes, uint64_t now, bool *ret_later) {
        size_t n = choose_news(records, notes, now, ret_later);
        _cleanup_free_ char *subject = NULL;
        FILE *report;
        int r;

        if (n == 0)
                return EXIT_WANTED;

        subject = make_subject(records, n);
        report = make_report(records, n, now);
        r = send_report(o, subject, report);
        (void) fclose(report);
        for (size_t i = 0; i < n && r == EXIT_WANTED; i++)
                alert_notes_told(notes, records->items[i], now);
        return r;
}

static int run(const Options *o) {
        const char *directory = getenv("STATE_DIRECTORY") ?: NOTES_DIRECTORY;
        _cleanup_free_ char *path = must_format("%s/told", directory), *before = NULL, *after = NULL;
        _cleanup_(alert_notes_freep) AlertNotes *notes = NULL;
        _cleanup_(records_done) Records records = {};
        uint64_t now = now_usec();
        bool later = false;
        int r, k;

        r = records_read(o->state_dir, &records);
        if (r == -ENOENT)
                return EXIT_WANTED;
        (void) mkdir(directory, 0755);
        if (r >= 0)
                r = alert_notes_read(path, &notes);
        if (r < 0)
                return r;

        before = alert_notes_format(notes);
        r = tell(o, &records, notes, now, &later);
        /* Also what is mended is noted. Otherwise the drive that the file is on is left alone. */
        alert_notes_tidy(notes, now);
        after = alert_notes_format(notes);
        k = streq(before, after) ? 0 : file_replace(AT_FDCWD, path, after, false);
        if (k < 0) {
                warn_escaped("%s cannot be written, so the same may be told once more: %s", path, strerror(-k));
                return EXIT_BAD_INPUT;
        }
        return r == EXIT_WANTED && later ? EXIT_LATER : r;
}

const Verb verb_alert = {
        .name = "alert",
        .changes = true,
        .summary = "Tell root by mail what has not come true since it was told last",
        .help = "Tells root by mail, or whoever /etc/drivekeep/alert tells, of settings that are refused, ignored, failed, quarantined or "
                "drifted, and have not been told of. drivekeep-alert.service runs this."
                "\vOf a drive nobody is told more than once an hour: then the exit status is 75.",
        .options = OPTION_STATE_DIR | OPTION_CONFIG_ROOT,
        .run = run,
};
