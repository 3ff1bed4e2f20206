/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <limits.h>

#include "trace-line.h"

/* Before the '-' and the PID a name is filled up with blanks on its left, to as many bytes: it cannot be longer, so that what is
 * behind it is the kernel's, whatever the name. Of a name with a line break in it neither half is a line. */
#define COMM_WIDTH 16U

/* What is expected there; moves on behind it. */
static bool trace_take(const char **p, const char *expected) {
        bool there = starts_with(*p, expected);

        *p += there ? strlen(expected) : 0;
        return there;
}

static bool take_number(const char **p, uint64_t max, uint64_t *ret) {
        bool number = isdigit((unsigned char) **p);
        char *end;

        errno = 0;
        *ret = strtoull(*p, &end, 10);
        *p = end;
        return number && errno == 0 && *ret <= max;
}

static bool take_unsigned(const char **p, unsigned *ret) {
        uint64_t v;
        bool r = take_number(p, UINT_MAX, &v);

        *ret = (unsigned) v;
        return r;
}

/* "COMM-PID [CPU] FLAGS TIME: ". In an interrupt, as the third of the flags tells, the thread is one that has nothing to do with it:
 * then *ret_named is false, and it is not named. */
static bool take_head(const char **p, TraceEvent *e, bool *ret_named) {
        const char *name = *p + strspn(*p, " "), *flags;
        uint64_t pid, ignored;
        size_t n;

        if (**p != ' ' || strnlen(*p, COMM_WIDTH) < COMM_WIDTH || name > *p + COMM_WIDTH)
                return false;

        n = (size_t) (*p + COMM_WIDTH - name);
        *p += COMM_WIDTH;
        if (!trace_take(p, "-") || !take_number(p, INT_MAX, &pid) || !trace_take(p, " "))
                return false;

        *p += strspn(*p, " ");
        if (!trace_take(p, "[") || !take_number(p, UINT_MAX, &ignored) || !trace_take(p, "] "))
                return false;

        for (flags = *p; isalnum((unsigned char) **p) || **p == '.'; ++*p)
                ;
        if (*p - flags < 4 || !trace_take(p, " "))
                return false;

        *ret_named = pid > 0 && flags[2] == '.';
        if (*ret_named) {
                e->pid = (pid_t) pid;
                if (n != strlen("<...>") || !starts_with(name, "<...>"))
                        memcpy(e->comm, name, n);
        }

        *p += strspn(*p, " ");
        return take_number(p, UINT64_MAX, &ignored) && trace_take(p, ".") && take_number(p, UINT64_MAX, &ignored) &&
               trace_take(p, ": ");
}

/* "8,16 WS 2048 + 8 [COMM]": this name is exact. */
static bool parse_bio(const char *p, TraceEvent *e, bool named) {
        const char *flags;
        size_t n;

        if (!take_unsigned(&p, &e->major) || !trace_take(&p, ",") || !take_unsigned(&p, &e->minor) ||
            !trace_take(&p, " "))
                return false;

        for (flags = p; isupper((unsigned char) *p); p++)
                ;
        if (p == flags || !trace_take(&p, " ") || !take_number(&p, UINT64_MAX, &e->sector) || !trace_take(&p, " + ") ||
            !take_unsigned(&p, &e->n_sectors) || !trace_take(&p, " ["))
                return false;

        n = strlen(p);
        if (n == 0 || n > WAKE_COMM_MAX || p[n - 1] != ']')
                return false;

        if (named && n > 1)
                *(char *) mempcpy(e->comm, p, n - 1) = '\0';
        e->write = strchr("WDFZ", *flags); /* write, discard, flush, and what is done to zones */
        return true;
}

static bool find_number(const char *p, const char *key, unsigned *ret) {
        const char *found = strstr(p, key);

        return found && trace_take(&found, key) && take_unsigned(&found, ret) && *found == ' ';
}

/* "host_no=2 channel=0 id=0 lun=0 … cmnd=(READ_10 lba=2048 … raw=28 00 00)" */
static bool parse_command(const char *p, TraceEvent *e) {
        const char *raw = strstr(p, " raw=");
        unsigned lun, n = 0;

        if (!starts_with(p, "host_no=") || !find_number(p, "host_no=", &e->host) ||
            !find_number(p, " channel=", &e->channel) || !find_number(p, " id=", &e->id) ||
            !find_number(p, " lun=", &lun) || !raw || raw[strlen(" raw=")] == ')')
                return false;

        e->lun = lun;
        for (raw += strlen(" raw"); *raw == (n == 0 ? '=' : ' '); raw += 3, n++) {
                if (!isxdigit((unsigned char) raw[1]) || !isxdigit((unsigned char) raw[2]))
                        return false;
                if (n < WAKE_CDB_MAX)
                        e->cdb[n] = (uint8_t) strtoul((char[]){ raw[1], raw[2], '\0' }, NULL, 16);
        }

        e->cdb_len = MIN(n, WAKE_CDB_MAX);
        return streq(raw, ")");
}

/* "2:0:1:3 flags-4 cnt-0  dep-0  auto-1 p-0 irq-0 child-0" */
static bool parse_resume(const char *p, TraceEvent *e) {
        return take_unsigned(&p, &e->host) && trace_take(&p, ":") && take_unsigned(&p, &e->channel) &&
               trace_take(&p, ":") && take_unsigned(&p, &e->id) && trace_take(&p, ":") &&
               take_number(&p, UINT64_MAX, &e->lun) && trace_take(&p, " flags-");
}

/* "bdi 8:16: ino=12 index=0", "bdi btrfs-1: ino=257 index=0" */
static bool parse_dirty(const char *p, TraceEvent *e) {
        bool device = trace_take(&p, "bdi ") && (trace_take(&p, "btrfs-") || (take_unsigned(&p, &e->major) &&
                                                                              e->major != 0 && trace_take(&p, ":")));

        return device && take_unsigned(&p, &e->minor) && trace_take(&p, ": ino=") &&
               take_number(&p, UINT64_MAX, &e->inode) && *p == ' ';
}

bool trace_line_parse(const char *line, TraceEvent *ret) {
        TraceEvent e = {};
        bool named, whole;

        if (!take_head(&line, &e, &named))
                return false;

        if (trace_take(&line, "block_bio_queue: ")) {
                e.kind = TRACE_BIO;
                whole = parse_bio(line, &e, named);
        } else if (trace_take(&line, "scsi_dispatch_cmd_start: ")) {
                e.kind = TRACE_COMMAND;
                whole = parse_command(line, &e);
        } else if (trace_take(&line, "rpm_resume: ")) {
                e.kind = TRACE_RESUME;
                whole = parse_resume(line, &e);
        } else {
                e.kind = TRACE_DIRTY;
                e.content = trace_take(&line, "writeback_dirty_folio: ") || trace_take(&line, "writeback_dirty_page: ");
                whole = (e.content || trace_take(&line, "writeback_mark_inode_dirty: ")) && parse_dirty(line, &e);
        }

        if (whole)
                *ret = e;
        return whole;
}
