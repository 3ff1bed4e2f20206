/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <syslog.h>

#include "drive-command.h"
#include "text.h"
#include "journal-socket.h"
#include "journal.h"
#include "drive-record.h"

/* How long the process waits for the journal before it exits, in ms. */
#define FINISH_MS 500U

/* A record under construction. Fields without a value are omitted. If memory runs out, a field is lost and the record stays. */
typedef struct Record {
        char *text; /* lines "FIELD=value" */
        int priority;
} Record;

/* Returns the formatted text, which the caller frees, or NULL if memory runs out. */
_printf_(1, 0) static char *text_format(const char *format, va_list ap) {
        char *text;

        return vasprintf(&text, format, ap) < 0 ? NULL : text;
}

_printf_(3, 0) static void record_add_format(Record *r, const char *name, const char *format, va_list ap) {
        _cleanup_free_ char *value = text_format(format, ap), *clean = NULL;
        char *text;

        /* Line feeds are escaped, so that no value needs the protocol's binary form. */
        clean = value ? text_escape(value, NULL) : NULL;
        if (!clean || asprintf(&text, "%s%s=%s\n", r->text ?: "", name, clean) < 0)
                return;

        free(r->text);
        r->text = text;
}

_printf_(3, 4) static void record_add(Record *r, const char *name, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        record_add_format(r, name, format, ap);
        va_end(ap);
}

static void record_add_string(Record *r, const char *name, const char *value) {
        if (value)
                record_add(r, name, "%s", value);
}

static Record record_new(int priority, const char *message_id) {
        Record r = { .priority = priority };

        record_add(&r, "PRIORITY", "%i", priority);
        record_add(&r, "SYSLOG_IDENTIFIER", "drivekeepd");
        record_add_string(&r, "MESSAGE_ID", message_id);
        return r;
}

/* ---- sending ---- */

static JournalSocket journal = { .path = JOURNAL_SOCKET, .fd = -EBADF };

/* Prints the message of the record to standard error, which systemd connects to the journal. Used by workers and the
 * tracer, which may not open sockets. */
static void record_print(const Record *r) {
        const char *message = strstr(r->text, "\nMESSAGE=");
        _cleanup_free_ char *text = NULL;
        int n;

        if (!message)
                return;
        message += strlen("\nMESSAGE=");
        n = asprintf(&text, "<%i>%.*s\n", r->priority, (int) strcspn(message, "\n"), message);
        if (n < 0) {
                text = NULL;
                return;
        }

        /* Standard error may be a file or a terminal if the program was started by hand. */
        if (send(STDERR_FILENO, text, n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == ENOTSOCK &&
            write(STDERR_FILENO, text, n) < 0)
                return;
}

static void record_send(Record *r) {
        if (r->text && journal_socket_send(&journal, r->text) == -EAFNOSUPPORT)
                record_print(r);
        free(r->text);
}

void journal_attach(sd_event *event) {
        journal_socket_attach(&journal, event);
}

void journal_finish(void) {
        journal_socket_finish(&journal, FINISH_MS);
        journal_socket_done(&journal);
}

/* ---- records ---- */

static void record_add_drive(Record *r, const Drive *d) {
        record_add_string(r, "DRIVEKEEP_DRIVE", d->name);
        record_add_string(r, "DRIVEKEEP_SERIAL", d->serial);
        record_add_string(r, "DRIVEKEEP_WWN", d->wwn);
        record_add_string(r, "DRIVEKEEP_MODEL", d->model);
}

void journal_started(size_t n_drives, size_t n_rules) {
        Record r = record_new(LOG_INFO, JOURNAL_ID_STARTED);

        record_add(&r, "MESSAGE", "Managing %zu drive%s with %zu rule%s.", n_drives, n_drives == 1 ? "" : "s", n_rules,
                   n_rules == 1 ? "" : "s");
        record_send(&r);
}

static void journal_presence(const Drive *d, const char *id, const char *what) {
        Record r = record_new(LOG_DEBUG, id);

        record_add(&r, "MESSAGE", "%s (%s %s): %s", d->name, strna(d->model), strna(d->serial), what);
        record_add_drive(&r, d);
        record_send(&r);
}

void journal_attached(const Drive *d) {
        journal_presence(d, JOURNAL_ID_ATTACHED, "attached");
}

void journal_gone(const Drive *d) {
        journal_presence(d, JOURNAL_ID_GONE, "no longer attached");
}

void journal_complaint(const Complaint *c) {
        static const int priorities[] = {
                [COMPLAINT_ERROR] = LOG_ERR,
                [COMPLAINT_WARNING] = LOG_WARNING,
                [COMPLAINT_NOTICE] = LOG_NOTICE,
        };
        _cleanup_free_ char *text = complaint_format(c);
        Record r;

        if (!text)
                return;

        r = record_new(priorities[c->level], JOURNAL_ID_CONFIGURATION);
        record_add_string(&r, "MESSAGE", text);
        record_add(&r, "DRIVEKEEP_RULE", "%s:%u", c->file, c->line);
        record_send(&r);
}

static const char *reading_format(const Step *s, const Reading *reading, char buf[static VALUE_TEXT_MAX]) {
        if (!s->setting || !reading->known)
                return NULL;
        return value_format(&s->setting->range, &reading->value, buf);
}

static int step_priority(const Step *s) {
        static const int priorities[_VERDICT_MAX] = {
                /* Success without a write is logged at debug level only. */
                [VERDICT_UNCHANGED] = LOG_DEBUG,    [VERDICT_UNVERIFIABLE] = LOG_DEBUG, [VERDICT_APPLIED] = LOG_INFO,
                [VERDICT_ADJUSTED] = LOG_NOTICE,    [VERDICT_DRIFTED] = LOG_NOTICE,     [VERDICT_DEFERRED] = LOG_NOTICE,
                [VERDICT_UNSUPPORTED] = LOG_NOTICE, [VERDICT_VANISHED] = LOG_NOTICE,    [VERDICT_IGNORED] = LOG_WARNING,
                [VERDICT_REFUSED] = LOG_WARNING,    [VERDICT_FORBIDDEN] = LOG_WARNING,  [VERDICT_FAILED] = LOG_WARNING,
                [VERDICT_QUARANTINED] = LOG_ERR,
        };

        if (verdict_is_absent(s->verdict, s->wish->optional))
                return LOG_DEBUG;
        return s->verdict == VERDICT_UNVERIFIABLE && s->written ? LOG_INFO : priorities[s->verdict];
}

static void record_add_step(Record *r, const Drive *d, VisitReason reason, const Step *s) {
        _cleanup_free_ char *rule = wish_format_rule(s->wish);

        record_add_drive(r, d);
        record_add_string(r, "DRIVEKEEP_SETTING", s->wish->name);
        record_add_string(r, "DRIVEKEEP_VERDICT", verdict_to_string(s->verdict));
        record_add_string(r, "DRIVEKEEP_VISIT", visit_reason_to_string(reason));
        record_add_string(r, "DRIVEKEEP_RULE", rule);
}

void journal_step(const Drive *d, VisitReason reason, const Step *s) {
        char wanted_buf[VALUE_TEXT_MAX], before_buf[VALUE_TEXT_MAX], after_buf[VALUE_TEXT_MAX];
        const char *wanted, *before, *after, *verdict = verdict_to_string(s->verdict);
        /* A value that is written again is no result of a rule. */
        Record r = s->wish->rewrite ? record_new(LOG_INFO, NULL)
                                    : record_new(step_priority(s), s->verdict == VERDICT_QUARANTINED
                                                                                   ? JOURNAL_ID_QUARANTINED
                                                                                   : JOURNAL_ID_SETTING);

        wanted = s->setting && !s->wish->withheld ? value_format(&s->setting->range, &s->wish->value, wanted_buf)
                                                  : NULL;
        before = reading_format(s, &s->before, before_buf);
        after = reading_format(s, &s->after, after_buf);

        if (s->wish->withheld)
                record_add(&r, "MESSAGE", "%s: %s: %s: %s", d->name, s->wish->name, verdict, s->reason);
        else if (s->reason[0])
                record_add(&r, "MESSAGE", "%s: %s = %s: %s: %s", d->name, s->wish->name, strna(wanted), verdict,
                           s->reason);
        else if (before)
                record_add(&r, "MESSAGE", "%s: %s = %s: %s (was %s)", d->name, s->wish->name, strna(wanted), verdict,
                           before);
        else
                record_add(&r, "MESSAGE", "%s: %s = %s: %s", d->name, s->wish->name, strna(wanted), verdict);

        record_add_step(&r, d, reason, s);
        record_add_string(&r, "DRIVEKEEP_WANTED", wanted);
        record_add_string(&r, "DRIVEKEEP_BEFORE", before);
        record_add_string(&r, "DRIVEKEEP_AFTER", after ?: (s->written || s->failed ? NULL : before));
        record_add_string(&r, "DRIVEKEEP_REASON", s->reason[0] ? s->reason : NULL);
        record_send(&r);
}

static const char *drift_outcome(Verdict verdict, char *buf, size_t size) {
        if (verdict == VERDICT_DRIFTED)
                return "'drivekeep apply' restores the value";
        if (verdict_is_in_order(verdict))
                return "the value is restored";
        if (verdict == VERDICT_FAILED || verdict == VERDICT_VANISHED)
                return "restoring the value failed, and the current value is not known";
        (void) snprintf(buf, size, "the value could not be restored (%s)", verdict_to_string(verdict));
        return buf;
}

void journal_drift(const Drive *d, VisitReason reason, const Step *s, const char *from, const char *to) {
        bool has_reason = s->reason[0] && s->verdict != VERDICT_DRIFTED && !verdict_is_in_order(s->verdict);
        Record r = record_new(LOG_WARNING, JOURNAL_ID_DRIFT);
        char outcome[80];

        record_add(&r, "MESSAGE", "%s: %s has drifted from %s to %s; %s%s%s.", d->name, s->wish->name, from, to,
                   drift_outcome(s->verdict, outcome, sizeof outcome), has_reason ? ": " : "",
                   has_reason ? s->reason : "");
        record_add_step(&r, d, reason, s);
        record_add_string(&r, "DRIVEKEEP_DRIFT_FROM", from);
        record_add_string(&r, "DRIVEKEEP_DRIFT_TO", to);
        record_send(&r);
}

static void standby_format(uint64_t usec, char *buf, size_t size) {
        unsigned minutes = (unsigned) (usec / 60000000);

        if (minutes < 2)
                (void) snprintf(buf, size, "%u s", (unsigned) (usec / 1000000));
        else if (minutes < 120)
                (void) snprintf(buf, size, "%u min", minutes);
        else
                (void) snprintf(buf, size, "%u h %u min", minutes / 60, minutes % 60);
}

static void record_add_wake(Record *r, const Wake *w, const char *what) {
        char sent[WAKE_TEXT_MAX];

        record_add_string(r, "DRIVEKEEP_WAKE_KIND", wake_kind_to_string(w->kind));
        record_add_string(r, "DRIVEKEEP_WAKE_WHAT", what);
        record_add_string(r, "DRIVEKEEP_WAKE_PROCESS", w->process.comm[0] ? w->process.comm : NULL);
        if (w->process.pid > 0)
                record_add(r, "DRIVEKEEP_WAKE_PID", "%d", w->process.pid);
        record_add_string(r, "DRIVEKEEP_WAKE_UNIT", w->process.unit[0] ? w->process.unit : NULL);
        record_add_string(r, "DRIVEKEEP_WAKE_COMMAND_LINE",
                          w->process.command_line[0] ? w->process.command_line : NULL);
        record_add_string(r, "DRIVEKEEP_WAKE_THREAD", w->thread[0] ? w->thread : NULL);
        if (w->cdb_len > 0)
                record_add_string(r, "DRIVEKEEP_WAKE_SENT", command_name(w->cdb, w->cdb_len, sent));
        if (w->has_sector)
                record_add(r, "DRIVEKEEP_WAKE_SECTOR", "%" PRIu64, w->sector);
        if (w->inode > 0)
                record_add(r, "DRIVEKEEP_WAKE_INODE", "%" PRIu64, w->inode);
        if (w->content)
                record_add(r, "DRIVEKEEP_WAKE_CONTENT", "1");
}

void journal_wake(const Drive *d, const Wake *w, uint64_t standby_usec) {
        char waker[WAKE_TEXT_MAX], buf[WAKE_TEXT_MAX], standby[32];
        const char *what = wake_format_action(w, buf);
        Record r = record_new(LOG_INFO, JOURNAL_ID_WAKE);

        standby_format(standby_usec, standby, sizeof standby);
        if (w->kind == WAKE_UNKNOWN)
                record_add(&r, "MESSAGE", "%s: woken after at least %s in standby; the waker was not traced.", d->name,
                           standby);
        else
                record_add(&r, "MESSAGE", "%s: woken after at least %s in standby: %s %s.", d->name, standby,
                           wake_format_process(w, waker), what);
        record_add_drive(&r, d);
        record_add(&r, "DRIVEKEEP_STANDBY_USEC", "%" PRIu64, standby_usec);
        record_add_wake(&r, w, what);
        record_send(&r);
}

void journal_active(const Drive *d, const Wake *w, unsigned times, uint64_t usec, uint64_t when) {
        char buf[WAKE_TEXT_MAX], use[WAKE_USE_MAX];
        const char *what = wake_format_action(w, buf), *process = w->process.comm[0] ? w->process.comm : NULL;
        Record r = record_new(LOG_INFO, JOURNAL_ID_ACTIVE);

        record_add(&r, "MESSAGE", "%s: kept active: %s.", d->name,
                   wake_format_use(process, w->thread[0] ? w->thread : NULL,
                                   w->process.unit[0] ? w->process.unit : NULL, what, times, usec, use));
        record_add_drive(&r, d);
        record_add(&r, "DRIVEKEEP_ACTIVE_WHEN", "%" PRIu64, when);
        record_add(&r, "DRIVEKEEP_ACTIVE_USEC", "%" PRIu64, usec);
        record_add(&r, "DRIVEKEEP_ACTIVE_TIMES", "%u", times);
        record_add_wake(&r, w, what);
        record_send(&r);
}

void journal_storm(const Drive *d, VisitReason reason, unsigned minutes) {
        Record r = record_new(LOG_WARNING, JOURNAL_ID_STORM);

        record_add(&r, "MESSAGE",
                   "%s: visits are limited to one every %u minutes: the drive was disturbed too often, most recently by a %s.",
                   d->name, minutes, visit_reason_work(reason) & WORK_LOST ? "reset" : "change of a setting");
        record_add_drive(&r, d);
        record_add_string(&r, "DRIVEKEEP_VISIT", visit_reason_to_string(reason));
        record_send(&r);
}

void journal_quarantined(const GuardRecord *d, const GuardEntry *e) {
        const char *why = e ? e->why : GUARD_EXCLUDED_REASON;
        Record r = record_new(LOG_ERR, e ? JOURNAL_ID_QUARANTINED : JOURNAL_ID_EXCLUDED);

        if (e)
                record_add(&r, "MESSAGE",
                           "%s %s: %s = %s is quarantined, because %s; run 'drivekeep release', or configure another value.",
                           strna(d->model), strna(d->serial), e->setting, e->value, strna(why));
        else
                record_add(&r, "MESSAGE", "%s %s: no commands are sent until 'drivekeep release': %s.", strna(d->model),
                           strna(d->serial), why);
        record_add_string(&r, "DRIVEKEEP_SERIAL", d->serial);
        record_add_string(&r, "DRIVEKEEP_MODEL", d->model);
        record_add_string(&r, "DRIVEKEEP_VERDICT", verdict_to_string(VERDICT_QUARANTINED));
        record_add_string(&r, "DRIVEKEEP_REASON", why);
        record_add_string(&r, "DRIVEKEEP_SETTING", e ? e->setting : NULL);
        record_add_string(&r, "DRIVEKEEP_WANTED", e ? e->value : NULL);
        record_send(&r);
}

void journal_visit(const Drive *d, VisitReason reason, const VisitSummary *summary) {
        char text[256];
        size_t n = 0;
        bool wanted = true;
        Record r;

        for (Verdict v = 0; v < _VERDICT_MAX; v++) {
                if (summary->n_verdicts[v] == 0)
                        continue;
                wanted = wanted && verdict_is_wanted(v);
                n += snprintf(text + n, sizeof text - n, "%s%u %s", n > 0 ? ", " : "", summary->n_verdicts[v],
                              verdict_to_string(v));
        }

        /* A visit that wrote nothing and found every setting as configured is logged at debug level. */
        r = record_new(!wanted ? LOG_NOTICE : summary->n_written > 0 ? LOG_INFO : LOG_DEBUG, JOURNAL_ID_VISIT);
        record_add(&r, "MESSAGE", "%s (%s %s): visited at %s: %s", d->name, strna(d->model), strna(d->serial),
                   visit_reason_to_string(reason), n > 0 ? text : "nothing to do");
        record_add_drive(&r, d);
        record_add_string(&r, "DRIVEKEEP_VISIT", visit_reason_to_string(reason));
        record_send(&r);
}

void journal_waiting(const Drive *d, Wait w, bool deferred) {
        const char *what = wait_describe(w);
        Record r = record_new(deferred ? LOG_WARNING : LOG_INFO,
                              w.kind == WAIT_CHECK ? JOURNAL_ID_WAITING : JOURNAL_ID_UNREADY);

        if (deferred)
                record_add(&r, "MESSAGE",
                           "%s: still waiting for %s; the drive's settings are deferred until the wait ends.", d->name,
                           what);
        else
                record_add(&r, "MESSAGE", "%s: waiting for %s before the visit starts.", d->name, what);
        record_add_drive(&r, d);
        record_add_string(&r, "DRIVEKEEP_WAITING_KIND", wait_kind_to_string(w.kind));
        record_add_string(&r, "DRIVEKEEP_WAITING_FOR", w.name);
        record_send(&r);
}

static void journal_drive_message(const Drive *d, int priority, const char *id, const char *format, va_list ap) {
        _cleanup_free_ char *text = text_format(format, ap);
        Record r = record_new(priority, id);

        record_add(&r, "MESSAGE", "%s: %s", d->name, strna(text));
        record_add_drive(&r, d);
        record_send(&r);
}

void journal_worker(const Drive *d, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        journal_drive_message(d, LOG_ERR, JOURNAL_ID_WORKER, format, ap);
        va_end(ap);
}

void journal_spindown(const Drive *d, int priority, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        journal_drive_message(d, priority, JOURNAL_ID_SPINDOWN, format, ap);
        va_end(ap);
}

void journal_no_spin_down(const Drive *d, const Wake *w) {
        char who[WAKE_TEXT_MAX], what[WAKE_TEXT_MAX];

        if (w)
                journal_spindown(
                                d, LOG_NOTICE,
                                "not spun down for the next hour: woken within ten minutes after each of three consecutive spin-downs, last "
                                "when %s %s.",
                                wake_format_process(w, who), wake_format_action(w, what));
        else
                journal_spindown(
                                d, LOG_NOTICE,
                                "not spun down for the next hour: woken within ten minutes after each of three consecutive spin-downs.");
}

void journal_wear(const Drive *d, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        journal_drive_message(d, LOG_WARNING, JOURNAL_ID_WEAR, format, ap);
        va_end(ap);
}

void journal_log(int priority, const char *format, ...) {
        Record r = record_new(priority, NULL);
        va_list ap;

        va_start(ap, format);
        record_add_format(&r, "MESSAGE", format, ap);
        va_end(ap);
        record_send(&r);
}
