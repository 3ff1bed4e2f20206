/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a target is told to want; and what it asks of the guard, the kernel and the journal, in tests that are not about these:
 * nothing is held back, every drive is well, and a link has the news that the test says. */

#include <check.h>
#include <stdarg.h>
#include <stdio.h>

#include "kernel-view.h"
#include "settings.h"
#include "state.h"
#include "target-guard.h"

/* ---- what is wanted ---- */

/* The files of a service that has read these blocks. */
static _unused_ Files *files_of(const char *drives) {
        Files *f = calloc(1, sizeof *f);
        _cleanup_free_ char *text = NULL;

        ck_assert(f && asprintf(&text, "drives = ( %s );", drives) >= 0);
        *f = (Files){ .n_ref = 1 };
        ck_assert_int_eq(config_new(&f->config), 0);
        ck_assert_int_eq(config_parse(f->config, &all_settings, "f", text, strlen(text)), 0);
        ck_assert_uint_eq(f->config->complaints.n_errors, 0);
        return f;
}

/* ---- the guard ---- */

static char guard_told[256]; /* what it was told, a word each */
static int attach_error;
static bool held_back;

static void tell_guard(const char *word) {
        size_t n = strlen(guard_told);

        (void) snprintf(guard_told + n, sizeof guard_told - n, "%s ", word);
}

int target_guard_attach(_unused_ Target *t) {
        tell_guard("attach");
        return attach_error;
}
void target_guard_done(_unused_ Target *t) {
        tell_guard("done");
}
void target_guard_remember(_unused_ Target *t) {
        tell_guard("remember");
}
void target_guard_hesitates(_unused_ Target *t) {
        tell_guard("hesitates");
}
bool target_guard_holds(_unused_ Target *t) {
        tell_guard("holds");
        return held_back;
}
void target_guard_look(Target *t) {
        tell_guard("look");
        t->guard.healthy_at = 0;
}
void target_guard_begins(_unused_ Target *t) {
        tell_guard("begins");
}
void target_guard_ended(_unused_ Target *t) {
        tell_guard("ended");
}
void target_guard_intends(_unused_ void *userdata, _unused_ size_t wish) {
}
void target_guard_writing(_unused_ void *userdata, _unused_ size_t wish) {
}
void target_guard_lost(_unused_ Target *t) {
        tell_guard("lost");
}
void target_guard_leaves(_unused_ Target *t) {
        tell_guard("leaves");
}

static char *kept_text; /* what was kept of the drive */
void target_guard_keep(_unused_ Target *t, char *text) {
        free(kept_text);
        kept_text = text;
}
char *target_guard_kept(_unused_ const Target *t) {
        return kept_text ? strdup(kept_text) : NULL;
}

/* ---- the kernel ---- */

int health_read(const char *syspath) {
        return access(syspath, F_OK) < 0 ? -ENODEV : 1;
}
int health_parse(_unused_ const char *state) {
        return 1;
}
static bool suspended;
bool activity_is_suspended(_unused_ const char *syspath) {
        return suspended;
}
static uint64_t autosuspend_usec;
uint64_t activity_autosuspend_usec(_unused_ const char *syspath) {
        return autosuspend_usec;
}
static bool in_flight;
bool activity_in_flight(_unused_ const char *syspath) {
        return in_flight;
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

/* ---- who is told ---- */

static _unused_ unsigned n_verdicts_told; /* to whoever is started by new verdicts */
void state_tell(_unused_ const char *dir, const char *news) {
        n_verdicts_told += streq(news, STATE_VERDICTS);
}

static unsigned n_steps_told;
void journal_step(_unused_ const Drive *d, _unused_ VisitReason reason, _unused_ const Step *s) {
        n_steps_told++;
}
static unsigned n_drifts_told;
void journal_drift(_unused_ const Drive *d, _unused_ VisitReason reason, _unused_ const Step *s, const char *from,
                   const char *to) {
        ck_assert_str_ne(from, to);
        n_drifts_told++;
}
static unsigned n_wakes_told;
static Wake wake_told;
static uint64_t slept_told;
void journal_wake(_unused_ const Drive *d, const Wake *w, uint64_t slept_usec) {
        wake_told = *w;
        slept_told = slept_usec;
        n_wakes_told++;
}
static unsigned n_spindowns_told;
static char spindown_told[512];
static unsigned n_wear_told;
static char wear_told[1024];
void journal_wear(_unused_ const Drive *d, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(wear_told, sizeof wear_told, format, ap);
        va_end(ap);
        n_wear_told++;
}
void journal_spindown(_unused_ const Drive *d, _unused_ int priority, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(spindown_told, sizeof spindown_told, format, ap);
        va_end(ap);
        n_spindowns_told++;
}
static unsigned n_left_awake;
void journal_left_awake(_unused_ const Drive *d, _unused_ const Wake *w) {
        n_left_awake++;
}
static unsigned n_waits_told;
void journal_waiting(_unused_ const Drive *d, _unused_ Wait w, _unused_ bool deferred) {
        n_waits_told++;
}
void journal_complaint(_unused_ const Complaint *c) {
}
