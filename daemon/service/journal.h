/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The records that the service writes to the journal, with their fields. No other file sends records. Sending does not block: see
 * journal-socket.h. */

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "complaint.h"
#include "drive.h"
#include "guard-rules.h"
#include "journal-id.h"
#include "plan.h"
#include "visit-reason.h"
#include "wake.h"

/* In this file, _NAME stands for the field DRIVEKEEP_NAME. A record about a drive has the fields _DRIVE, _SERIAL, _WWN and _MODEL. A
 * record about a setting also has _SETTING, _WANTED, _BEFORE, _AFTER, _VERDICT, _REASON and _RULE. */

/* From now on, this event loop sends the records that the journal did not accept when they were logged. */
void journal_attach(sd_event *event);

/* Waits up to half a second for records that the journal has not accepted yet. Call this function after the last record of the
 * process. */
void journal_finish(void);

void journal_started(size_t n_drives, size_t n_rules);
/* Log that a drive was attached or removed while the service runs. The level is debug, because the kernel logs the same. */
void journal_attached(const Drive *d);
void journal_gone(const Drive *d);

void journal_complaint(const Complaint *c);
void journal_step(const Drive *d, VisitReason reason, const Step *s);

/* Logs drift: a setting changed, and no known event on the drive explains the change. The record also has the fields _DRIFT_FROM and
 * _DRIFT_TO. */
void journal_drift(const Drive *d, VisitReason reason, const Step *s, const char *from, const char *to);

/* Logs a record JOURNAL_ID_WAKE: the drive was woken after at least `standby_usec` in standby. The record also has the fields
 * _STANDBY_USEC, _WAKE_KIND, _WAKE_WHAT, _WAKE_PROCESS, _WAKE_PID, _WAKE_UNIT, _WAKE_COMMAND_LINE, _WAKE_THREAD, _WAKE_SENT,
 * _WAKE_SECTOR, _WAKE_INODE and _WAKE_CONTENT. */
void journal_wake(const Drive *d, const Wake *w, uint64_t standby_usec);

/* Logs a record JOURNAL_ID_ACTIVE: the program `w` has used the active drive `times` times in `usec` µs, and keeps the drive from
 * its spin-down. The record also has the fields _WAKE_… of journal_wake(), and _ACTIVE_WHEN, _ACTIVE_USEC and _ACTIVE_TIMES. The
 * programs of one count have the same _ACTIVE_WHEN. */
void journal_active(const Drive *d, const Wake *w, unsigned times, uint64_t usec, uint64_t when);

/* Logs a message about the spin-down by the service. */
void journal_spindown(const Drive *d, int priority, const char *format, ...) _printf_(3, 4);
/* Logs that the service pauses its spin-downs of the drive, since the drive was repeatedly woken soon after a
 * spin-down. `w`: the last waker; NULL if the waker is not known. */
void journal_no_spin_down(const Drive *d, const Wake *w);

/* Logs that, at the current rate, the drive wears out in less than USE_LEAST_YEARS (use.h). */
void journal_wear(const Drive *d, const char *format, ...) _printf_(2, 3);

/* Logs that visits to the drive are limited to one every `minutes` minutes, because of frequent resets or frequent changes by another
 * program. */
void journal_storm(const Drive *d, VisitReason reason, unsigned minutes);

/* Logs that the value `e` is quarantined. If `e` is NULL, logs that no commands are sent to the drive. The drive may have been
 * removed. */
void journal_quarantined(const GuardRecord *d, const GuardEntry *e);

typedef struct VisitSummary {
        unsigned n_verdicts[_VERDICT_MAX];
        unsigned n_settings, n_written;
} VisitSummary;
void journal_visit(const Drive *d, VisitReason reason, const VisitSummary *summary);

/* Logs that a visit to the drive waits. The record has the field _WAITING_KIND. If the cause has a name, such as a unit's name, the
 * record also has the field _WAITING_FOR. `deferred`: the wait has exceeded its limit, so the settings are deferred. */
void journal_waiting(const Drive *d, Wait w, bool deferred);

/* Logs a problem with the worker of a drive, for example that the worker ended early or does not respond. */
void journal_worker(const Drive *d, const char *format, ...) _printf_(2, 3);

/* Logs any other message at a syslog priority. The message must not contain strings from drives. */
void journal_log(int priority, const char *format, ...) _printf_(2, 3);
