/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The records that the service writes to the journal: their message IDs and fields. Every message ID has a text in units/drivekeep.catalog
 * (a test compares). No other file sends records. Sending does not wait: see journal-socket.h. */

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "complaint.h"
#include "drive.h"
#include "guard-rules.h"
#include "plan.h"
#include "visit-reason.h"
#include "wake.h"

#define JOURNAL_ID_STARTED "329da342054d490ab645cd97866f5200"
#define JOURNAL_ID_CONFIGURATION "f9bac741a32d4ac2a814a2946f185f89"
#define JOURNAL_ID_SETTING "bfeee087d7ea498d889aa291f195d105"
#define JOURNAL_ID_VISIT "dab36d85be024cf099bec0dab8ada9e3"
#define JOURNAL_ID_WAITING "64e23f2ee30848f3b06375ef07e2238b"
#define JOURNAL_ID_UNREADY "b7d2f0c64c1e4a5f9d3e8a0172c95be6"
#define JOURNAL_ID_QUARANTINED "ae9c094af85d41fdacccd1c197f048da"
#define JOURNAL_ID_ALONE "5f0d3a6c8b7e4f21a9c4d2e61b3f7a90"
#define JOURNAL_ID_WORKER "c3c71c0bff49407bbba0efade2567b4a"
#define JOURNAL_ID_DRIFT "0f6dfae95df94b2d93f6a56ce1e1d0c3"
#define JOURNAL_ID_SPINDOWN "7c1b0e5d92a84f3c8a6d4b17e3f09c52"
#define JOURNAL_ID_WEAR "3e9a61f0c7d24b5f8d20b6a9e1547c83"
#define JOURNAL_ID_STORM "a6a5b6b9be6a4c43a0a9fd6f1d2a4c11"

/* `fields` of one record about a drive: DRIVEKEEP_DRIVE, _SERIAL, _WWN, _MODEL; about a setting also _SETTING, _WANTED,
 * _BEFORE, _AFTER, _VERDICT, _REASON, _RULE. */

/* From now on this loop sends records that the journal did not take at once. */
void journal_attach(sd_event *event);

/* After the last record of this process: waits a moment for records that the journal has not taken yet. */
void journal_finish(void);

void journal_started(size_t n_drives, size_t n_rules);
void journal_complaint(const Complaint *c);
void journal_step(const Drive *d, VisitReason reason, const Step *s);

/* A setting was found changed, and nothing that happened to the drive explains it; _DRIFT_FROM, _DRIFT_TO. */
void journal_drift(const Drive *d, VisitReason reason, const Step *s, const char *from, const char *to);

/* The drive was woken after at least `standby_usec` in standby: JOURNAL_ID_WAKE (wake.h), with _WAKE_KIND, _WAKE_WHAT; of the process
 * _WAKE_PROCESS, _WAKE_PID, _WAKE_UNIT, _WAKE_COMMAND_LINE; and _WAKE_THREAD, _WAKE_SENT, _WAKE_SECTOR, _WAKE_INODE, _SLEPT_USEC. */
void journal_wake(const Drive *d, const Wake *w, uint64_t standby_usec);

/* About the spin-down by the service. */
void journal_spindown(const Drive *d, int priority, const char *format, ...) _printf_(3, 4);
/* The drive was woken too often soon after its spin-down, the last time by this waker; NULL: it is not known. */
void journal_no_spin_down(const Drive *d, const Wake *w);

/* The drive would be worn out in less than USE_LEAST_YEARS (use.h). */
void journal_wear(const Drive *d, const char *format, ...) _printf_(2, 3);

/* The drive is reset or changed so often that it is visited only every so many minutes. */
void journal_storm(const Drive *d, VisitReason reason, unsigned minutes);

/* This value is not written again; NULL: no command is sent to this drive, which need not be present. */
void journal_quarantined(const GuardRecord *d, const GuardEntry *e);

typedef struct VisitSummary {
        unsigned n_verdicts[_VERDICT_MAX];
        unsigned n_settings, n_written;
} VisitSummary;
void journal_visit(const Drive *d, VisitReason reason, const VisitSummary *summary);

/* A drive's visit waits: _WAITING_KIND, and _WAITING_FOR where it has a name. `deferred`: it has waited as long as it may. */
void journal_waiting(const Drive *d, Wait w, bool deferred);

/* The worker of a drive ended early, or is silent. */
void journal_worker(const Drive *d, const char *format, ...) _printf_(2, 3);

/* Any other message, at a syslog priority. It must have no strings from drives. */
void journal_log(int priority, const char *format, ...) _printf_(2, 3);
