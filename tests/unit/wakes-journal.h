/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* `drivekeep wakes` with a stand-in for libsystemd's journal: some records, of which some may come later. */

#include <systemd/sd-journal.h>

#include "test-cli.h"
#include "verb.h"
#include "wakes.h"

#define NOON UINT64_C(1258804800000000) /* 2009-11-21 12:00:00 UTC */
#define FIELDS_MAX 17U

#define RECORD(drive, kind, what, ...) \
        { "DRIVEKEEP_DRIVE=" drive, "DRIVEKEEP_WAKE_KIND=" kind, "DRIVEKEEP_WAKE_WHAT=" what, __VA_ARGS__ }
#define PROCESS "DRIVEKEEP_WAKE_PROCESS="
#define UNIT "DRIVEKEEP_WAKE_UNIT="
#define THREAD "DRIVEKEEP_WAKE_THREAD="
#define SERIAL "DRIVEKEEP_SERIAL="

typedef const char *const Fields[FIELDS_MAX]; /* as the journal has them, NULL at the end */

static const Fields *entries;
static size_t n_entries, n_present;
static size_t position; /* behind the last one that was returned; 0: before the first */
static bool at_tail, is_readable = true;
static char matches[256];
static _unused_ uint64_t interval = 60000000; /* between two records, in us */

int sd_journal_open(sd_journal **ret, int flags) {
        ck_assert_int_eq(flags, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
        *ret = (sd_journal *) matches;
        return 0;
}

void sd_journal_close(_unused_ sd_journal *j) {
}

int sd_journal_add_match(_unused_ sd_journal *j, const void *data, size_t size) {
        ck_assert_uint_eq(size, 0);
        strcat(strcat(matches, data), "\n");
        return 0;
}

int sd_journal_has_runtime_files(_unused_ sd_journal *j) {
        return 0;
}

int sd_journal_has_persistent_files(_unused_ sd_journal *j) {
        return is_readable;
}

int sd_journal_seek_tail(_unused_ sd_journal *j) {
        at_tail = true;
        return 0;
}

int sd_journal_seek_head(_unused_ sd_journal *j) {
        at_tail = false;
        position = 0;
        return 0;
}

int sd_journal_previous_skip(_unused_ sd_journal *j, uint64_t skip) {
        ck_assert(at_tail);
        ck_assert_uint_eq(skip, WAKE_RECORDS_MAX);
        if (n_present == 0)
                return 0;
        at_tail = false;
        position = n_present > skip ? n_present - skip + 1 : 1;
        return (int) MIN(n_present, skip);
}

int sd_journal_previous(_unused_ sd_journal *j) {
        if (at_tail) {
                at_tail = false;
                position = n_present + 1;
        }
        if (position <= 1)
                return 0;
        position--;
        return 1;
}

/* As the library: behind the tail nothing ever comes. */
int sd_journal_next(_unused_ sd_journal *j) {
        if (at_tail || position == n_present)
                return 0;
        position++;
        return 1;
}

int sd_journal_get_data(_unused_ sd_journal *j, const char *field, const void **ret, size_t *ret_size) {
        const char *const *f = entries[(position - 1) % n_entries];

        for (; *f; f++)
                if (starts_with(*f, field) && (*f)[strlen(field)] == '=') {
                        *ret = *f;
                        *ret_size = strlen(*f);
                        return 0;
                }
        return -ENOENT;
}

int sd_journal_get_realtime_usec(_unused_ sd_journal *j, uint64_t *ret) {
        *ret = NOON + position * interval;
        return 0;
}

/* One more has come; when there is none left, the journal breaks. */
int sd_journal_wait(_unused_ sd_journal *j, uint64_t timeout) {
        ck_assert_uint_eq(timeout, UINT64_MAX);
        if (n_present == n_entries)
                return -EIO;
        n_present++;
        return n_present % 2 ? SD_JOURNAL_APPEND : -EINTR;
}

static inline void journal_set(const Fields *e, size_t n, size_t present) {
        entries = e;
        n_entries = n;
        n_present = present;
}

/* What it prints and says. */
static inline _unused_ int wakes(const char *const *words, char **ret_text, char **ret_said) {
        ck_assert_int_eq(setenv("TZ", "UTC", 1), 0);
        return verb_catch(&verb_wakes, ".", words, ret_text, ret_said);
}

static inline _unused_ void assert_wakes(const char *const *words, int status, const char *text, const char *said) {
        _cleanup_free_ char *t = NULL, *s = NULL;

        ck_assert_int_eq(wakes(words, &t, &s), status);
        json_take_list(&t, strstr(t, "\"culprits\"") ? "culprits" : "wakes");
        ck_assert_str_eq(t, text);
        if (*said)
                ck_assert_ptr_nonnull(strstr(s, said));
        else
                ck_assert_str_eq(s, "");
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })
