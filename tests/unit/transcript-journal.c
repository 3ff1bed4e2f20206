/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The journal of the machine, in place of libsystemd's functions. */

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <systemd/sd-journal.h>
#include <time.h>

#include "clock.h"
#include "journal-id.h"
#include "must.h"
#include "text.h"
#include "transcript-parts.h"
#include "transcript-world.h"

typedef struct Entry {
        uint64_t usec;
        size_t number; /* position in the unfiltered journal */
        char **fields; /* NULL-terminated */
        bool comes;    /* true until the entry arrives in sd_journal_process() */
} Entry;

static struct {
        GROWING_ARRAY(Entry, entries);
        size_t n_all; /* number of entries, also of those that do not match */
        bool is_missing;
} journal;

static struct { GROWING_ARRAY(char *, items); } matches;

static size_t position; /* number of entries up to the last returned entry; 0: before the first entry */
static bool at_tail;

static const char *entry_field(const Entry *e, const char *field) {
        for (char *const *f = e->fields; *f; f++)
                if (starts_with(*f, field) && (*f)[strlen(field)] == '=')
                        return *f;
        return NULL;
}

static size_t entries_present(void) {
        size_t n = 0;

        while (n < journal.n_entries && !journal.entries[n].comes)
                n++;
        return n;
}

static int entry_compare(const void *a, const void *b) {
        const Entry *x = a, *y = b;

        return x->number < y->number ? -1 : x->number > y->number;
}

int sd_journal_open(sd_journal **ret, int flags) {
        journal.n_entries = MAX(journal.n_entries, journal.n_all);
        if (journal.n_entries > 0)
                qsort(journal.entries, journal.n_entries, sizeof *journal.entries, entry_compare);
        journal.n_all = journal.n_entries;
        ck_assert_int_eq(flags, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
        *ret = (sd_journal *) &position;
        return 0;
}
void sd_journal_close(_unused_ sd_journal *j) {
}
int sd_journal_add_match(_unused_ sd_journal *j, const void *data, size_t size) {
        ck_assert_uint_eq(size, 0);
        must_grow(&matches, items);
        matches.items[matches.n_items++] = must(strdup(data));
        return 0;
}

/* As in the library, an entry matches if, for each field that the matches name, one of the matches is equal. */
static bool entry_matches(const Entry *e) {
        for (size_t i = 0; i < matches.n_items; i++) {
                _cleanup_free_ char *key = must(strndup(matches.items[i], strcspn(matches.items[i], "=")));
                const char *value = entry_field(e, key);
                bool equal = false;

                for (size_t k = 0; k < matches.n_items && !equal; k++)
                        equal = value && streq(matches.items[k], value);
                if (!equal)
                        return false;
        }
        return true;
}

/* Removes the entries that do not match, until the journal is opened again. Only the process of the current command loses these
 * entries. */
int sd_journal_has_runtime_files(_unused_ sd_journal *j) {
        size_t n = 0;

        for (size_t i = 0; i < journal.n_entries; i++)
                if (entry_matches(journal.entries + i)) {
                        Entry other = journal.entries[n];

                        journal.entries[n++] = journal.entries[i];
                        journal.entries[i] = other;
                }
        journal.n_entries = n;
        while (matches.n_items > 0)
                free(matches.items[--matches.n_items]);
        free(matches.items);
        matches.items = NULL;
        return 0;
}
int sd_journal_has_persistent_files(_unused_ sd_journal *j) {
        return !journal.is_missing;
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
        size_t n = entries_present();

        ck_assert(at_tail);
        at_tail = n == 0;
        position = n > skip ? n - skip + 1 : MIN(n, 1U);
        return (int) MIN(n, skip);
}
int sd_journal_previous(_unused_ sd_journal *j) {
        if (at_tail)
                position = entries_present() + 1;
        at_tail = false;
        if (position <= 1)
                return 0;
        position--;
        return 1;
}
/* As in the library, no entry follows after a seek to the tail. */
int sd_journal_next(_unused_ sd_journal *j) {
        if (at_tail || position == entries_present())
                return 0;
        position++;
        return 1;
}
int sd_journal_get_data(_unused_ sd_journal *j, const char *field, const void **ret, size_t *ret_size) {
        const char *found = entry_field(journal.entries + position - 1, field);

        if (!found)
                return -ENOENT;
        *ret = found;
        *ret_size = strlen(found);
        return 0;
}
int sd_journal_get_realtime_usec(_unused_ sd_journal *j, uint64_t *ret) {
        *ret = journal.entries[position - 1].usec;
        return 0;
}
/* Returns a descriptor that is always readable. */
int sd_journal_get_fd(_unused_ sd_journal *j) {
        static int fd = -EBADF;

        if (fd < 0)
                fd = eventfd(1, EFD_CLOEXEC);
        return fd;
}
int sd_journal_get_events(_unused_ sd_journal *j) {
        return POLLIN;
}
int sd_journal_get_timeout(_unused_ sd_journal *j, uint64_t *ret) {
        *ret = entries_present() % 2 ? UINT64_MAX : 0;
        return 1;
}

/* Replaces the state file of a drive by the file NAME.new~, as the service does. */
static void replace_state(const char *name) {
        _cleanup_free_ char *to = must_format("%s/run/drivekeep/drives/%s", world_root, name),
                            *from = must_format("%s.new~", to);

        ck_assert_int_eq(rename(from, to), 0);
}

/* The time that has passed until the last entry arrived, or until the timer expired. CLOCK_MONOTONIC includes this time. */
static uint64_t passed_usec;

uint64_t journal_passed(void) {
        return passed_usec;
}

/* A timer expires before the first entry that arrives at its time or later. The timer is a descriptor that is readable after it has expired. */
static int timer = -EBADF;
static uint64_t timer_usec; /* the value of passed_usec at the expiry; 0: the timer is not armed */

int timerfd_create(_unused_ int clock, _unused_ int flags) {
        return timer = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}
int timerfd_settime(int fd, int flags, const struct itimerspec *value, _unused_ struct itimerspec *old) {
        uint64_t usec = (uint64_t) value->it_value.tv_sec * 1000000 + (uint64_t) value->it_value.tv_nsec / 1000;
        eventfd_t expired;

        ck_assert_int_eq(fd, timer);
        ck_assert_int_eq(flags, TFD_TIMER_ABSTIME);
        (void) eventfd_read(timer, &expired);
        timer_usec = usec > 0 ? passed_usec + usec - monotonic_usec() : 0;
        return 0;
}

/* Makes one more entry arrive, and fails if no entry is left. An entry with the field STATE=NAME also changes a state file. */
int sd_journal_process(_unused_ sd_journal *j) {
        size_t n = entries_present();
        const char *name;
        uint64_t passes;

        if (n == journal.n_entries)
                return -EIO;
        passes = journal.entries[n].usec - MIN(journal.entries[n].usec, now_usec());
        if (timer_usec > 0 && passes >= timer_usec) {
                passed_usec = timer_usec;
                timer_usec = 0;
                ck_assert_int_eq(eventfd_write(timer, 1), 0);
                return SD_JOURNAL_NOP;
        }
        passed_usec = MAX(passed_usec, passes);
        journal.entries[n].comes = false;
        name = entry_field(journal.entries + n, "STATE");
        if (name)
                replace_state(name + strlen("STATE="));
        return SD_JOURNAL_APPEND;
}

/* Adds `count` records of wakes, one minute apart. Fields that are missing have the values of drivekeep.service. */
static void entry_add(uint64_t usec, char *const *fields, size_t n, size_t count, bool comes) {
        static const char *const first[] = { "MESSAGE_ID=" JOURNAL_ID_WAKE, "_SYSTEMD_UNIT=drivekeep.service",
                                             "_BOOT_ID=0123456789abcdef0123456789abcdef" };

        for (; count > 0; count--, usec += UINT64_C(60000000)) {
                Entry e = { .usec = usec,
                            .fields = must(calloc(n + ELEMENTSOF(first) + 1, sizeof(char *))),
                            .comes = comes };
                size_t k = 0;

                for (size_t i = 0; i < n; i++)
                        must_work(text_unescape(fields[i], &e.fields[k++]));
                for (size_t i = 0; i < ELEMENTSOF(first); i++) {
                        _cleanup_free_ char *key = must(strndup(first[i], strcspn(first[i], "=")));

                        if (!entry_field(&e, key))
                                e.fields[k++] = must(strdup(first[i]));
                }
                must_grow(&journal, entries);
                e.number = journal.n_entries;
                journal.entries[journal.n_entries++] = e;
        }
}

const char *journal_add(char *const *words, size_t n, bool comes) {
        struct tm tm = {};
        size_t count = 1;

        if (n == 0 || !strptime(words[0], "%Y-%m-%dT%H:%M:%SZ", &tm))
                return "the entry does not begin with a time such as 2025-11-21T02:39:11Z";
        if (n > 1 && !strchr(words[1], '=')) {
                count = strtoul(words[1], NULL, 10);
                words++;
                n--;
        }
        entry_add((uint64_t) timegm(&tm) * 1000000, words + 1, n - 1, count, comes);
        return NULL;
}

void journal_reset(bool is_missing) {
        while (journal.n_entries > 0) {
                Entry *e = journal.entries + --journal.n_entries;

                for (char **f = e->fields; *f; f++)
                        free(*f);
                free(e->fields);
        }
        free(journal.entries);
        journal.entries = NULL;
        journal.is_missing = is_missing;
        timer_usec = passed_usec = 0;
}
