/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a target asks of the guard, the kernel and the journal, in tests that are not about these: nothing is held back, every drive
 * is well, and a link has the news that the test says. */

#include "kernel-view.h"
#include "target-guard.h"

/* ---- the guard ---- */

int target_guard_attach(_unused_ Target *t) {
        return 0;
}
void target_guard_done(_unused_ Target *t) {
}
void target_guard_remember(_unused_ Target *t) {
}
void target_guard_hesitates(_unused_ Target *t) {
}
bool target_guard_holds(_unused_ Target *t) {
        return false;
}
void target_guard_look(_unused_ Target *t) {
}
void target_guard_begins(_unused_ Target *t) {
}
void target_guard_ended(_unused_ Target *t) {
}
void target_guard_intends(_unused_ void *userdata, _unused_ size_t wish) {
}
void target_guard_writing(_unused_ void *userdata, _unused_ size_t wish) {
}
void target_guard_lost(_unused_ Target *t) {
}
void target_guard_leaves(_unused_ Target *t) {
}

/* ---- the kernel ---- */

int health_read(const char *syspath) {
        return access(syspath, F_OK) < 0 ? -ENODEV : 1;
}
int health_parse(_unused_ const char *state) {
        return 1;
}
bool activity_is_suspended(_unused_ const char *syspath) {
        return false;
}
static LinkNews noted; /* of every drive's link, at 5 µs */
static bool recovering;
LinkNews link_news(_unused_ const char *syspath, uint64_t *since) {
        LinkNews news = *since < 5 ? noted : LINK_SAME;

        if (news != LINK_SAME)
                *since = 5;
        return news;
}
bool link_is_recovering(_unused_ const char *syspath) {
        return recovering;
}

/* ---- the journal ---- */

void journal_step(_unused_ const Drive *d, _unused_ VisitReason reason, _unused_ const Step *s) {
}
void journal_drift(_unused_ const Drive *d, _unused_ VisitReason reason, _unused_ const Step *s,
                   _unused_ const char *from, _unused_ const char *to) {
}
void journal_waiting(_unused_ const Drive *d, _unused_ Wait w, _unused_ bool deferred) {
}
void journal_complaint(_unused_ const Complaint *c) {
}
