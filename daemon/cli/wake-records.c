/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <systemd/sd-journal.h>

#include "journal-id.h"
#include "must.h"
#include "text.h"
#include "wake-records.h"

/* Maximum length of a field. drivekeepd writes much shorter fields. */
#define FIELD_MAX 4096U

/* clang-format off */
static const struct {
        const char *name;
        size_t text; /* offset of the text in WakeRecord */
} texts[] = {
        { "MESSAGE",                     offsetof(WakeRecord, message)      },
        { "DRIVEKEEP_DRIVE",             offsetof(WakeRecord, drive)        },
        { "DRIVEKEEP_SERIAL",            offsetof(WakeRecord, serial)       },
        { "DRIVEKEEP_WWN",               offsetof(WakeRecord, wwn)          },
        { "DRIVEKEEP_MODEL",             offsetof(WakeRecord, model)        },
        { "DRIVEKEEP_WAKE_KIND",         offsetof(WakeRecord, kind)         },
        { "DRIVEKEEP_WAKE_PROCESS",      offsetof(WakeRecord, process)      },
        { "DRIVEKEEP_WAKE_UNIT",         offsetof(WakeRecord, unit)         },
        { "DRIVEKEEP_WAKE_COMMAND_LINE", offsetof(WakeRecord, command_line) },
        { "DRIVEKEEP_WAKE_THREAD",       offsetof(WakeRecord, thread)       },
        { "DRIVEKEEP_WAKE_WHAT",         offsetof(WakeRecord, what)         },
        { "DRIVEKEEP_WAKE_CONTENT",      offsetof(WakeRecord, content)      },
        { "DRIVEKEEP_WAKE_SENT",         offsetof(WakeRecord, command)      },
        { "_BOOT_ID",                    offsetof(WakeRecord, boot_id)      },
};

static const struct {
        const char *name;
        size_t number; /* offset of the number in WakeRecord */
} numbers[] = {
        { "DRIVEKEEP_WAKE_PID",    offsetof(WakeRecord, pid)    },
        { "DRIVEKEEP_WAKE_SECTOR", offsetof(WakeRecord, sector) },
        { "DRIVEKEEP_WAKE_INODE",  offsetof(WakeRecord, inode)  },
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

/* Reads the record at the journal's position. Returns false if the record has no drive or no time. */
static bool wake_record_read(sd_journal *j, WakeRecord *ret) {
        WakeRecord w = {};

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                *(char **) ((char *) &w + texts[i].text) = field_read(j, texts[i].name);
        for (size_t i = 0; i < ELEMENTSOF(numbers); i++) {
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

int wake_journal_open(uint64_t kept_when, sd_journal **ret) {
        _cleanup_free_ char *group = must_format("DRIVEKEEP_ACTIVE_WHEN=%" PRIu64, kept_when);
        /* _SYSTEMD_UNIT is a trusted field of journald, so records of other programs do not match. */
        const char *matches[] = { "_SYSTEMD_UNIT=drivekeep.service",
                                  kept_when > 0 ? "MESSAGE_ID=" JOURNAL_ID_ACTIVE : "MESSAGE_ID=" JOURNAL_ID_WAKE,
                                  group };
        _cleanup_(wake_journal_closep) sd_journal *j = NULL;
        int r;

        r = sd_journal_open(&j, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
        for (size_t i = 0; r >= 0 && i < (kept_when > 0 ? 3 : 2); i++)
                r = sd_journal_add_match(j, matches[i], 0);
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

int wake_record_wait(sd_journal *j, WakeRecord *ret) {
        int r;

        for (;;) {
                while ((r = sd_journal_next(j)) > 0)
                        if (wake_record_read(j, ret))
                                return 0;
                if (r < 0)
                        return r;

                r = sd_journal_wait(j, UINT64_MAX);
                if (r < 0 && r != -EINTR)
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
