/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <limits.h>
#include <systemd/sd-journal.h>

#include "clock.h"
#include "journal-id.h"
#include "must.h"
#include "text.h"
#include "wake-records.h"

/* Maximum length of a field. drivekeepd writes much shorter fields. */
#define FIELD_MAX 4096U

/* _SYSTEMD_UNIT is a trusted field of journald, so records of other programs do not match. */
static const char *const unit_match = "_SYSTEMD_UNIT=drivekeep.service";

static const char *const matches_of[][7] = {
        [RECORDS_OF_WAKES] = { "MESSAGE_ID=" JOURNAL_ID_WAKE, NULL },
        [RECORDS_OF_ACTIVE] = { "MESSAGE_ID=" JOURNAL_ID_ACTIVE, NULL },
        [RECORDS_OF_EVENTS] = {
                "MESSAGE_ID=" JOURNAL_ID_WAKE,
                "MESSAGE_ID=" JOURNAL_ID_SETTING,
                "MESSAGE_ID=" JOURNAL_ID_DRIFT,
                "MESSAGE_ID=" JOURNAL_ID_QUARANTINED,
                "MESSAGE_ID=" JOURNAL_ID_ATTACHED,
                "MESSAGE_ID=" JOURNAL_ID_GONE,
                NULL,
        },
};

/* The kind of record that can have a field. A search for a missing field is slow, because sd-journal scans all fields of the record. Fields
 * that a record cannot have are therefore not searched. */
typedef enum FieldOf { OF_ALL, OF_PROGRAMS, OF_OTHERS } FieldOf;

/* clang-format off */
static const struct {
        const char *name;
        size_t text; /* offset of the text in WakeRecord */
        FieldOf of;
} texts[] = {
        { "MESSAGE_ID",                  offsetof(WakeRecord, message_id),   OF_ALL      },
        { "MESSAGE",                     offsetof(WakeRecord, message),      OF_ALL      },
        { "DRIVEKEEP_DRIVE",             offsetof(WakeRecord, drive),        OF_ALL      },
        { "DRIVEKEEP_SERIAL",            offsetof(WakeRecord, serial),       OF_ALL      },
        { "DRIVEKEEP_WWN",               offsetof(WakeRecord, wwn),          OF_ALL      },
        { "DRIVEKEEP_MODEL",             offsetof(WakeRecord, model),        OF_ALL      },
        { "_BOOT_ID",                    offsetof(WakeRecord, boot_id),      OF_ALL      },
        { "DRIVEKEEP_WAKE_KIND",         offsetof(WakeRecord, kind),         OF_PROGRAMS },
        { "DRIVEKEEP_WAKE_PROCESS",      offsetof(WakeRecord, process),      OF_PROGRAMS },
        { "DRIVEKEEP_WAKE_UNIT",         offsetof(WakeRecord, unit),         OF_PROGRAMS },
        { "DRIVEKEEP_WAKE_COMMAND_LINE", offsetof(WakeRecord, command_line), OF_PROGRAMS },
        { "DRIVEKEEP_WAKE_THREAD",       offsetof(WakeRecord, thread),       OF_PROGRAMS },
        { "DRIVEKEEP_WAKE_WHAT",         offsetof(WakeRecord, what),         OF_PROGRAMS },
        { "DRIVEKEEP_WAKE_CONTENT",      offsetof(WakeRecord, content),      OF_PROGRAMS },
        { "DRIVEKEEP_WAKE_SENT",         offsetof(WakeRecord, command),      OF_PROGRAMS },
        { "DRIVEKEEP_SETTING",           offsetof(WakeRecord, setting),      OF_OTHERS   },
        { "DRIVEKEEP_VERDICT",           offsetof(WakeRecord, verdict),      OF_OTHERS   },
        { "DRIVEKEEP_WANTED",            offsetof(WakeRecord, wanted),       OF_OTHERS   },
        { "DRIVEKEEP_BEFORE",            offsetof(WakeRecord, before),       OF_OTHERS   },
        { "DRIVEKEEP_AFTER",             offsetof(WakeRecord, after),        OF_OTHERS   },
        { "DRIVEKEEP_REASON",            offsetof(WakeRecord, reason),       OF_OTHERS   },
        { "DRIVEKEEP_RULE",              offsetof(WakeRecord, rule),         OF_OTHERS   },
        { "DRIVEKEEP_VISIT",             offsetof(WakeRecord, visit),        OF_OTHERS   },
        { "DRIVEKEEP_DRIFT_FROM",        offsetof(WakeRecord, drift_from),   OF_OTHERS   },
        { "DRIVEKEEP_DRIFT_TO",          offsetof(WakeRecord, drift_to),     OF_OTHERS   },
};

static const struct {
        const char *name;
        size_t number; /* offset of the number in WakeRecord */
} numbers[] = {
        { "DRIVEKEEP_WAKE_PID",      offsetof(WakeRecord, pid)      },
        { "DRIVEKEEP_WAKE_SECTOR",   offsetof(WakeRecord, sector)   },
        { "DRIVEKEEP_WAKE_INODE",    offsetof(WakeRecord, inode)    },
        { "DRIVEKEEP_STANDBY_USEC",  offsetof(WakeRecord, standby)  },
        { "DRIVEKEEP_ACTIVE_TIMES",  offsetof(WakeRecord, times)    },
        { "DRIVEKEEP_ACTIVE_USEC",   offsetof(WakeRecord, usec)     },
};
/* clang-format on */

void wake_record_done(WakeRecord *w) {
        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                free(*(char **) ((char *) w + texts[i].text));
        free(w->waker);
        *w = (WakeRecord){};
}

void wake_records_done(WakeRecords *w) {
        for (size_t i = 0; i < w->n_items; i++)
                wake_record_done(w->items + i);
        free(w->items);
        *w = (WakeRecords){};
}

/* Returns NULL if the field is missing or empty. */
static char *field_read(sd_journal *j, const char *name) {
        const void *data;
        size_t size, prefix = strlen(name) + 1;

        if (sd_journal_get_data(j, name, &data, &size) < 0 || size <= prefix || ((const char *) data)[prefix] == '\0')
                return NULL;
        return must(strndup((const char *) data + prefix, MIN(size - prefix, FIELD_MAX)));
}

static KnownNumber number_parse(const char *text) {
        KnownNumber n = {};
        char *end;

        if (!text || *text < '0' || *text > '9')
                return n;

        errno = 0;
        n.number = strtoll(text, &end, 10);
        n.known = *end == '\0' && errno == 0;
        return n;
}

/* Returns true if the record names a program that used the drive. */
static bool has_program(const WakeRecord *w) {
        return w->message_id && STR_IN_SET(w->message_id, JOURNAL_ID_WAKE, JOURNAL_ID_ACTIVE);
}

/* Reads the record at the journal's position. Returns false if the record has no drive or no time. */
static bool wake_record_read(sd_journal *j, WakeRecord *ret) {
        WakeRecord w = {};

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                if (texts[i].of == OF_ALL || texts[i].of == (has_program(&w) ? OF_PROGRAMS : OF_OTHERS))
                        *(char **) ((char *) &w + texts[i].text) = field_read(j, texts[i].name);
        for (size_t i = 0; has_program(&w) && i < ELEMENTSOF(numbers); i++) {
                _cleanup_free_ char *text = field_read(j, numbers[i].name);

                *(KnownNumber *) ((char *) &w + numbers[i].number) = number_parse(text);
        }
        if (!w.drive || sd_journal_get_realtime_usec(j, &w.when) < 0) {
                wake_record_done(&w);
                return false;
        }

        w.waker = w.process  ? must(strdup(w.process))
                  : w.thread ? must_format("kernel: %s", w.thread)
                             : must(strdup("unknown"));
        *ret = w;
        return true;
}

void wake_journal_closep(sd_journal **j) {
        sd_journal_close(*j);
}

int wake_journal_open(RecordKind kind, const char *match, sd_journal **ret) {
        _cleanup_(wake_journal_closep) sd_journal *j = NULL;
        char boot_match[sizeof "_BOOT_ID=" + SD_ID128_STRING_MAX] = "_BOOT_ID=";
        sd_id128_t boot;
        int r;

        r = sd_journal_open(&j, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
        if (r >= 0)
                r = sd_journal_add_match(j, unit_match, 0);
        for (const char *const *m = matches_of[kind]; r >= 0 && *m; m++)
                r = sd_journal_add_match(j, *m, 0);
        if (r >= 0 && match)
                r = sd_journal_add_match(j, match, 0);
        if (r >= 0 && kind == RECORDS_OF_EVENTS)
                r = sd_id128_get_boot(&boot);
        if (r >= 0 && kind == RECORDS_OF_EVENTS) {
                (void) sd_id128_to_string(boot, boot_match + strlen(boot_match));
                r = sd_journal_add_match(j, boot_match, 0);
        }
        if (r < 0)
                return r;

        /* libsystemd skips journal files that this user cannot read, and then reports that there are no files. */
        if (sd_journal_has_runtime_files(j) <= 0 && sd_journal_has_persistent_files(j) <= 0)
                return geteuid() == 0 ? -ENOENT : -EACCES;

        *ret = TAKE_PTR(j);
        return 0;
}

int wake_records_read(sd_journal *j, WakeRecords *ret) {
        _cleanup_(wake_records_done) WakeRecords records = {};
        int r;

        r = sd_journal_seek_tail(j);
        if (r >= 0)
                r = sd_journal_previous_skip(j, WAKE_RECORDS_MAX);
        if (r == 0) {
                /* There are no records. Starts at the head: from the tail, libsystemd would never reach later records. */
                r = sd_journal_seek_head(j);
                if (r >= 0)
                        r = sd_journal_next(j);
        }
        for (; r > 0; r = sd_journal_next(j)) {
                WakeRecord w;

                if (!wake_record_read(j, &w))
                        continue;
                must_grow(&records, items);
                records.items[records.n_items++] = w;
        }
        if (r < 0)
                return r;

        *ret = records;
        records = (WakeRecords){};
        return 0;
}

int wake_record_last(sd_journal *j, const char *name, const char *serial, WakeRecord *ret) {
        int r;

        r = sd_journal_seek_tail(j);
        if (r < 0)
                return r;
        for (unsigned n = 0; n < WAKE_RECORDS_MAX && (r = sd_journal_previous(j)) > 0; n++) {
                if (!wake_record_read(j, ret))
                        continue;
                if (wake_record_is_of(ret, name, serial))
                        return 1;
                wake_record_done(ret);
        }
        return MIN(r, 0);
}

/* Returns the time until which poll(2) may wait for the journal, in ms; -1: no limit. There is a limit only if the journal is on a network
 * file system, for which inotify(7) does not work. */
static int wait_limit(sd_journal *j) {
        uint64_t until, now = monotonic_usec();

        if (sd_journal_get_timeout(j, &until) < 0 || until == UINT64_MAX)
                return -1;
        return until > now ? (int) MIN((until - now) / 1000 + 1, (uint64_t) INT_MAX) : 0;
}

int wake_record_wait(sd_journal *j, struct pollfd *fds, size_t n, WakeRecord *ret) {
        int r;

        fds[0].fd = sd_journal_get_fd(j);
        if (fds[0].fd < 0)
                return fds[0].fd;

        for (;;) {
                bool others = false;

                /* Reads before the wait: records may have arrived before the call of sd_journal_get_fd(). */
                while ((r = sd_journal_next(j)) > 0)
                        if (wake_record_read(j, ret))
                                return 1;
                if (r >= 0)
                        r = sd_journal_get_events(j);
                if (r < 0)
                        return r;

                fds[0].events = (short) r;
                for (size_t i = 0; i < n; i++)
                        fds[i].revents = 0;
                if (poll(fds, n, wait_limit(j)) < 0 && errno != EINTR)
                        return -errno;
                for (size_t i = 1; i < n; i++)
                        others = others || fds[i].revents;
                if (others)
                        return 0;

                r = sd_journal_process(j);
                if (r < 0)
                        return r;
        }
}

bool wake_record_is_of(const WakeRecord *w, const char *name, const char *serial) {
        _cleanup_free_ char *shown = NULL;

        if (!w->serial || !serial)
                return streq(w->drive, name);

        /* Escapes the serial number, since the daemon has escaped the serial number in the journal. */
        shown = must(text_escape(serial, NULL));
        return streq(w->serial, shown);
}
