/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lines of trace_pipe in the formats of different kernels, and lines with hostile process names. */

#include <stdio.h>

#include "suite.h"
#include "waker.h"

#define SCSI "host_no=2 channel=0 id=0 lun=0 data_sgl=1 prot_sgl=0 prot_op=SCSI_PROT_NORMAL "
#define TAGS "driver_tag=5 scheduler_tag=6 "
#define READ_10 "cmnd=(READ_10 lba=2048 txlen=8 protect=0 raw=28 00 00 00 08 00 00 00 08 00)"
#define HEAD "              dd-1234    [001] ..... 12345.678901: "
#define NAMED(comm) comm "-1234    [001] ..... 12345.678901: "

static const struct {
        const char *line;
        TraceEvent event;
} events[] = {
        { HEAD "block_bio_queue: 8,16 R 2048 + 8 [dd]",
          { .kind = TRACE_BIO, .pid = 1234, .comm = "dd", .major = 8, .minor = 16, .sector = 2048, .n_sectors = 8 } },
        /* Four flags, as before Linux 5.16, and a PID of seven digits: accepted. */
        { "            bash-1234567 [012] d... 12.000001: block_bio_queue: 253,0 RA 0 + 256 [bash]",
          { .kind = TRACE_BIO, .pid = 1234567, .comm = "bash", .major = 253, .n_sectors = 256 } },
        { "            bash-7       [000] dN.1.1.     1.000001: block_bio_queue: 259,4 RM 18446744073709551615 + 1 [bash]",
          { .kind = TRACE_BIO,
            .pid = 7,
            .comm = "bash",
            .major = 259,
            .minor = 4,
            .sector = UINT64_MAX,
            .n_sectors = 1 } },
        { "     jbd2/sda1-8-301     [000] ..... 99.000001: block_bio_queue: 8,16 FF 0 + 0 [jbd2/sda1-8]",
          { .kind = TRACE_BIO, .pid = 301, .comm = "jbd2/sda1-8", .major = 8, .minor = 16, .write = true } },
        { HEAD "block_bio_queue: 8,16 FN 0 + 0 [dd]",
          { .kind = TRACE_BIO, .pid = 1234, .comm = "dd", .major = 8, .minor = 16, .write = true } },
        { HEAD "block_bio_queue: 8,16 FWFS 8 + 8 [dd]",
          { .kind = TRACE_BIO,
            .pid = 1234,
            .comm = "dd",
            .major = 8,
            .minor = 16,
            .write = true,
            .sector = 8,
            .n_sectors = 8 } },
        { HEAD "block_bio_queue: 8,16 WS 8 + 8 [dd]",
          { .kind = TRACE_BIO,
            .pid = 1234,
            .comm = "dd",
            .major = 8,
            .minor = 16,
            .write = true,
            .sector = 8,
            .n_sectors = 8 } },
        { HEAD "block_bio_queue: 8,16 DS 8 + 8 [dd]",
          { .kind = TRACE_BIO,
            .pid = 1234,
            .comm = "dd",
            .major = 8,
            .minor = 16,
            .write = true,
            .sector = 8,
            .n_sectors = 8 } },
        { HEAD "block_bio_queue: 8,16 ZR 8 + 8 [dd]",
          { .kind = TRACE_BIO,
            .pid = 1234,
            .comm = "dd",
            .major = 8,
            .minor = 16,
            .write = true,
            .sector = 8,
            .n_sectors = 8 } },
        { HEAD "block_bio_queue: 8,16 N 0 + 0 [dd]",
          { .kind = TRACE_BIO, .pid = 1234, .comm = "dd", .major = 8, .minor = 16 } },
        /* The head shows "<...>" instead of the process name, so the name is taken from the event. */
        { "           <...>-1234    [001] ..... 1.000001: block_bio_queue: 8,16 R 8 + 8 [dd]",
          { .kind = TRACE_BIO, .pid = 1234, .comm = "dd", .major = 8, .minor = 16, .sector = 8, .n_sectors = 8 } },
        { NAMED("             old") "block_bio_queue: 8,16 R 8 + 8 [ new one]",
          { .kind = TRACE_BIO,
            .pid = 1234,
            .comm = " new one",
            .major = 8,
            .minor = 16,
            .sector = 8,
            .n_sectors = 8 } },
        { HEAD "block_bio_queue: 8,16 R 8 + 8 []",
          { .kind = TRACE_BIO, .pid = 1234, .comm = "dd", .major = 8, .minor = 16, .sector = 8, .n_sectors = 8 } },
        { HEAD "block_bio_queue: 8,16 R 8 + 8 [fifteen_letters]",
          { .kind = TRACE_BIO,
            .pid = 1234,
            .comm = "fifteen_letters",
            .major = 8,
            .minor = 16,
            .sector = 8,
            .n_sectors = 8 } },
        { HEAD "block_bio_queue: 8,16 R 8 + 8 [x] R 9 + 9 [y]]",
          { .kind = TRACE_BIO,
            .pid = 1234,
            .comm = "x] R 9 + 9 [y]",
            .major = 8,
            .minor = 16,
            .sector = 8,
            .n_sectors = 8 } },
        /* An event in an interrupt (flag h or s) or of the idle thread is reported without a process. */
        { "              dd-1234    [001] d.h2. 1.000001: block_bio_queue: 8,16 R 8 + 8 [dd]",
          { .kind = TRACE_BIO, .major = 8, .minor = 16, .sector = 8, .n_sectors = 8 } },
        { "              dd-1234    [001] ..s1 1.000001: scsi_dispatch_cmd_start: " SCSI READ_10,
          { .kind = TRACE_COMMAND, .host = 2, .cdb = { 0x28, 0, 0, 0, 8, 0, 0, 0, 8 }, .cdb_len = 10 } },
        { "          <idle>-0       [001] ..... 1.000001: block_bio_queue: 8,16 R 8 + 8 [swapper/1]",
          { .kind = TRACE_BIO, .major = 8, .minor = 16, .sector = 8, .n_sectors = 8 } },

        { "    kworker/u4:2-77      [000] d..1. 99.000001: scsi_dispatch_cmd_start: " SCSI TAGS READ_10,
          { .kind = TRACE_COMMAND,
            .pid = 77,
            .comm = "kworker/u4:2",
            .host = 2,
            .cdb = { 0x28, 0, 0, 0, 8, 0, 0, 0, 8 },
            .cdb_len = 10 } },
        { "    kworker/u4:2-77      [000] d..1 99.000001: scsi_dispatch_cmd_start: " SCSI READ_10,
          { .kind = TRACE_COMMAND,
            .pid = 77,
            .comm = "kworker/u4:2",
            .host = 2,
            .cdb = { 0x28, 0, 0, 0, 8, 0, 0, 0, 8 },
            .cdb_len = 10 } },
        /* Fields in an unusual order, and unknown fields, are accepted. */
        { HEAD "scsi_dispatch_cmd_start: host_no=13 new=1 lun=4294967295 id=6 channel=3 cmnd=(0xe3 - raw=e3)",
          { .kind = TRACE_COMMAND,
            .pid = 1234,
            .comm = "dd",
            .host = 13,
            .channel = 3,
            .id = 6,
            .lun = 4294967295,
            .cdb = { 0xe3 },
            .cdb_len = 1 } },
        { HEAD "scsi_dispatch_cmd_start: " SCSI TAGS
               "cmnd=(ATA_16 - raw=85 06 2C 00 00 00 00 00 00 00 00 00 00 40 e5 00)",
          { .kind = TRACE_COMMAND,
            .pid = 1234,
            .comm = "dd",
            .host = 2,
            .cdb = { 0x85, 6, 0x2c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0xe5 },
            .cdb_len = 16 } },
        /* A command that is cut at 32 bytes is accepted. */
        { HEAD
          "scsi_dispatch_cmd_start: " SCSI
          "cmnd=(VARIABLE_LENGTH - raw=7f 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c "
          "1d 1e 1f 20 21)",
          { .kind = TRACE_COMMAND,
            .pid = 1234,
            .comm = "dd",
            .host = 2,
            .cdb = { 0x7f, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                     16,   17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 },
            .cdb_len = 32 } },

        { "              sh-1234    [001] ..... 12345.678901: writeback_dirty_folio: bdi 8:16: ino=12 index=0",
          { .kind = TRACE_DIRTY, .pid = 1234, .comm = "sh", .major = 8, .minor = 16, .inode = 12, .content = true } },
        { "              sh-1234    [001] .... 12345.678901: writeback_dirty_page: bdi 8:16: ino=12 index=0",
          { .kind = TRACE_DIRTY, .pid = 1234, .comm = "sh", .major = 8, .minor = 16, .inode = 12, .content = true } },
        { "              sh-1234    [001] ..... 12345.678901: writeback_mark_inode_dirty: bdi 8:16: ino=12 "
          "state=I_DIRTY_SYNC|0x0 flags=I_DIRTY_PAGES",
          { .kind = TRACE_DIRTY, .pid = 1234, .comm = "sh", .major = 8, .minor = 16, .inode = 12 } },
        { "           <...>-1234    [001] ..... 12345.678901: writeback_dirty_folio: bdi 9:127: ino=18446744073709551615 index=0",
          { .kind = TRACE_DIRTY, .pid = 1234, .major = 9, .minor = 127, .inode = UINT64_MAX, .content = true } },

        { "        smartctl-1234    [001] ..... 12345.678901: rpm_resume: 2:0:1:3 flags-4 cnt-1  dep-0  auto-1 p-0 irq-0 child-0",
          { .kind = TRACE_RESUME, .pid = 1234, .comm = "smartctl", .host = 2, .id = 1, .lun = 3 } },

        { "              sh-1234    [001] ..... 12345.678901: writeback_dirty_folio: bdi btrfs-13: ino=257 index=0",
          { .kind = TRACE_DIRTY, .pid = 1234, .comm = "sh", .major = 0, .minor = 13, .inode = 257, .content = true } },

        /* Process names that look like other parts of a line do not change the result. */
        { NAMED("        a-1 [0] ") "writeback_dirty_folio: bdi 8:16: ino=12 index=0",
          { .kind = TRACE_DIRTY,
            .pid = 1234,
            .comm = "a-1 [0] ",
            .major = 8,
            .minor = 16,
            .inode = 12,
            .content = true } },
        { NAMED(" -1 [0] .... 1.0") "writeback_dirty_folio: bdi 8:16: ino=12 index=0",
          { .kind = TRACE_DIRTY,
            .pid = 1234,
            .comm = "-1 [0] .... 1.0",
            .major = 8,
            .minor = 16,
            .inode = 12,
            .content = true } },
        { NAMED("   a:b: ino=9 c-") "writeback_dirty_folio: bdi 8:16: ino=12 index=0",
          { .kind = TRACE_DIRTY,
            .pid = 1234,
            .comm = "a:b: ino=9 c-",
            .major = 8,
            .minor = 16,
            .inode = 12,
            .content = true } },
        { NAMED("         \xc3\xa4 \x01\x7f\xff]") "writeback_dirty_folio: bdi 8:16: ino=12 index=0",
          { .kind = TRACE_DIRTY,
            .pid = 1234,
            .comm = "\xc3\xa4 \x01\x7f\xff]",
            .major = 8,
            .minor = 16,
            .inode = 12,
            .content = true } },
        { NAMED("                ") "writeback_dirty_folio: bdi 8:16: ino=12 index=0",
          { .kind = TRACE_DIRTY, .pid = 1234, .major = 8, .minor = 16, .inode = 12, .content = true } },
};

static void assert_same(const TraceEvent *a, const TraceEvent *b) {
        ck_assert_int_eq(a->kind, b->kind);
        ck_assert_int_eq(a->pid, b->pid);
        ck_assert_str_eq(a->comm, b->comm);
        ck_assert_uint_eq(a->major, b->major);
        ck_assert_uint_eq(a->minor, b->minor);
        ck_assert_int_eq(a->write, b->write);
        ck_assert_uint_eq(a->sector, b->sector);
        ck_assert_uint_eq(a->n_sectors, b->n_sectors);
        ck_assert_uint_eq(a->inode, b->inode);
        ck_assert_int_eq(a->content, b->content);
        ck_assert_uint_eq(a->host, b->host);
        ck_assert_uint_eq(a->channel, b->channel);
        ck_assert_uint_eq(a->id, b->id);
        ck_assert_uint_eq(a->lun, b->lun);
        ck_assert_uint_eq(a->cdb_len, b->cdb_len);
        ck_assert_mem_eq(a->cdb, b->cdb, sizeof a->cdb);
}

START_TEST(test_event) {
        TraceEvent e;

        memset(&e, 0xaa, sizeof e);
        ck_assert_msg(trace_line_parse(events[_i].line, &e), "%s", events[_i].line);
        assert_same(&e, &events[_i].event);
        if (strstr(events[_i].line, "12345.678901"))
                ck_assert_uint_eq(e.usec, 12345678901);
}
END_TEST

/* The beginning of a line gives the same event as the whole line, or no event. The rest of the line gives no event. The test
 * copies both parts to the heap, so that the sanitizer notices a read beyond their ends. */
START_TEST(test_cut) {
        const char *line = events[_i].line;

        for (size_t n = 0; n < strlen(line); n++) {
                char *cut = strndup(line, n), *rest = strdup(line + n);
                TraceEvent e;

                if (trace_line_parse(cut, &e)) {
                        /* Only a process name may differ from the event of the whole line: a name with a bracket may be cut. */
                        if (e.kind == TRACE_BIO && starts_with(events[_i].event.comm, e.comm) &&
                            strchr(events[_i].event.comm, ']'))
                                memcpy(e.comm, events[_i].event.comm, sizeof e.comm);
                        else
                                ck_assert(e.kind == TRACE_DIRTY || e.kind == TRACE_RESUME);
                        assert_same(&e, &events[_i].event);
                }
                ck_assert(n == 0 || !trace_line_parse(rest, &e));
                free(cut);
                free(rest);
        }
}
END_TEST

/* A line with one changed byte causes no read beyond the end of the line, and the texts of the event stay NUL-terminated. */
START_TEST(test_garbled) {
        static const char others[] = "\x01\n -0[](:.,=9\xff";

        for (size_t n = 0; n < strlen(events[_i].line); n++)
                for (const char *c = others; *c; c++) {
                        char *line = strdup(events[_i].line);
                        TraceEvent e;

                        line[n] = *c;
                        if (trace_line_parse(line, &e))
                                ck_assert(memchr(e.comm, '\0', sizeof e.comm) && e.cdb_len <= sizeof e.cdb &&
                                          e.pid >= 0);
                        free(line);
                }
}
END_TEST

static const char *const no_events[] = {
        "",
        "\n",
        "-",
        "                ",
        "                -",
        "                                                  ",
        "CPU:1 [LOST 1234 EVENTS]",
        "# tracer: nop",
        HEAD,
        HEAD "block_bio_queue:",
        HEAD "block_bio_queue: ",
        HEAD "block_bio_complete: 8,16 R 2048 + 8 [0]",
        HEAD "block_rq_issue: 8,16 R 4096 () 2048 + 8 [dd]",
        HEAD " block_bio_queue: 8,16 R 2048 + 8 [dd]",
        /* Rejected: a process name that is not padded with blanks to 16 characters. */
        "dd-1234 [001] ..... 1.000001: block_bio_queue: 8,16 R 8 + 8 [dd]",
        "             dd-1234    [001] ..... 1.000001: block_bio_queue: 8,16 R 8 + 8 [dd]",
        "               dd-1234    [001] ..... 1.000001: block_bio_queue: 8,16 R 8 + 8 [dd]",
        "sixteen__letters-1234    [001] ..... 1.000001: block_bio_queue: 8,16 R 8 + 8 [dd]",
        /* Rejected: the second half of a line whose process name contains a line break. */
        "-1 [0] .... 1.0-1234    [001] ..... 1.000001: writeback_dirty_folio: bdi 8:16: ino=12 index=0",
        "]",
        /* Rejected: malformed heads. */
        "              dd-      [001] ..... 1.000001: block_bio_queue: 8,16 R 8 + 8 [dd]",
        "              dd--1    [001] ..... 1.000001: block_bio_queue: 8,16 R 8 + 8 [dd]",
        "              dd-4294967297 [001] ..... 1.000001: block_bio_queue: 8,16 R 8 + 8 [dd]",
        "              dd-1234[001] ..... 1.000001: block_bio_queue: 8,16 R 8 + 8 [dd]",
        "              dd-1234    (1234) [001] ..... 1.000001: block_bio_queue: 8,16 R 8 + 8 [dd]",
        "              dd-1234    [] ..... 1.000001: block_bio_queue: 8,16 R 8 + 8 [dd]",
        "              dd-1234    [001] ... 1.000001: block_bio_queue: 8,16 R 8 + 8 [dd]",
        "              dd-1234    [001]  1.000001: block_bio_queue: 8,16 R 8 + 8 [dd]",
        "              dd-1234    [001] ..... 1: block_bio_queue: 8,16 R 8 + 8 [dd]",
        "              dd-1234    [001] ..... 1.: block_bio_queue: 8,16 R 8 + 8 [dd]",
        "              dd-1234    [001] .....1.000001: block_bio_queue: 8,16 R 8 + 8 [dd]",
        /* Rejected: malformed requests. */
        HEAD "block_bio_queue: 8,16 R 2048 + 8 [dd",
        HEAD "block_bio_queue: 8,16 R 2048 + 8 [dd] ",
        HEAD "block_bio_queue: 8,16 R 2048 + 8 ",
        HEAD "block_bio_queue: 8,16 R 2048 + 8 [",
        HEAD "block_bio_queue: 8,16 R 2048 + 8 [sixteen__letters]",
        HEAD "block_bio_queue: 8,16  2048 + 8 [dd]",
        HEAD "block_bio_queue: 8,16 r 2048 + 8 [dd]",
        HEAD "block_bio_queue: 8:16 R 2048 + 8 [dd]",
        HEAD "block_bio_queue: -8,16 R 2048 + 8 [dd]",
        HEAD "block_bio_queue: 8,4294967296 R 2048 + 8 [dd]",
        HEAD "block_bio_queue: 8,16 R 18446744073709551616 + 8 [dd]",
        HEAD "block_bio_queue: 8,16 R -1 + 8 [dd]",
        HEAD "block_bio_queue: 8,16 R 2048 + 4294967296 [dd]",
        /* Rejected: malformed commands. */
        HEAD "scsi_dispatch_cmd_start: " SCSI "cmnd=(READ_10 - raw=)",
        HEAD "scsi_dispatch_cmd_start: " SCSI "cmnd=(READ_10 - raw=28 )",
        HEAD "scsi_dispatch_cmd_start: " SCSI "cmnd=(READ_10 - raw=28 0)",
        HEAD "scsi_dispatch_cmd_start: " SCSI "cmnd=(READ_10 - raw=28  00)",
        HEAD "scsi_dispatch_cmd_start: " SCSI "cmnd=(READ_10 - raw= 28 00)",
        HEAD "scsi_dispatch_cmd_start: " SCSI "cmnd=(READ_10 - raw=28 0g)",
        HEAD "scsi_dispatch_cmd_start: " SCSI "cmnd=(READ_10 - raw=2800)",
        HEAD "scsi_dispatch_cmd_start: " SCSI "cmnd=(READ_10 - raw=28 00) ",
        HEAD "scsi_dispatch_cmd_start: " SCSI "cmnd=(READ_10 lba=2048)",
        HEAD "scsi_dispatch_cmd_start: " READ_10,
        HEAD "scsi_dispatch_cmd_start: host_no=2 channel=0 id=0 " READ_10,
        HEAD "scsi_dispatch_cmd_start: host_no=2 channel=0 lun=0 " READ_10,
        HEAD "scsi_dispatch_cmd_start: host_no=2 id=0 lun=0 " READ_10,
        HEAD "scsi_dispatch_cmd_start: channel=0 id=0 lun=0 " READ_10,
        HEAD "scsi_dispatch_cmd_start: host_no=-2 channel=0 id=0 lun=0 " READ_10,
        HEAD "scsi_dispatch_cmd_start: host_no=2x channel=0 id=0 lun=0 " READ_10,
        HEAD "scsi_dispatch_cmd_start: host_no=2 channel=0 id= lun=0 " READ_10,
        HEAD "scsi_dispatch_cmd_start: host_no=4294967296 channel=0 id=0 lun=0 " READ_10,
        HEAD "scsi_dispatch_cmd_done: " SCSI READ_10,
        /* Rejected: files that are not on a block device. */
        HEAD "writeback_dirty_folio: bdi btrfs-: ino=12 index=0",
        HEAD "writeback_dirty_folio: bdi btrfs-1:2: ino=12 index=0",
        HEAD "writeback_dirty_folio: bdi 0:45: ino=12 index=0",
        HEAD "writeback_dirty_folio: bdi 8:16-fuseblk: ino=12 index=0",
        HEAD "writeback_dirty_folio: bdi (unknown): ino=12 index=0",
        HEAD "writeback_dirty_folio: bdi 8: ino=12 index=0",
        HEAD "writeback_dirty_folio: bdi 8:16: ino= index=0",
        HEAD "writeback_dirty_folio: bdi 8:16: ino=18446744073709551616 index=0",
        HEAD "writeback_dirty_folio: bdi 8:16: ino=12",
        HEAD "writeback_dirty_inode: bdi 8:16: ino=12 state= flags=",
};

START_TEST(test_no_event) {
        TraceEvent e = { .pid = 99 };

        ck_assert_msg(!trace_line_parse(no_events[_i], &e), "%s", no_events[_i]);
        ck_assert_int_eq(e.pid, 99);
}
END_TEST

/* Whatever name a process has chosen, its event is reported with the right PID or is rejected. A line break in the name
 * splits the line. */
START_TEST(test_forged) {
        static const char *const names[] = {
                "-1 [0] .... 1.0",
                "a-2 [000] .....",
                "\n",
                "a\n",
                "\nb",
                "a\nb",
                "\n-1 [0] ....",
                "<...>",
                "\n<...>",
                "<...>-9 [0] .",
                "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
                "] [",
                "[001] ..... 1.",
                "]\n",
                "",
                "\n             x",
        };

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                char text[512];

                snprintf(text, sizeof text, "%16s-%-7d [001] ..... 12.000001: block_bio_queue: 8,16 R 8 + 8 [%s]",
                         names[i], 4321, names[i]);
                ck_assert_uint_lt(strlen(names[i]), WAKE_COMM_MAX);
                for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
                        TraceEvent e;

                        if (!trace_line_parse(line, &e))
                                continue;
                        ck_assert_ptr_null(strchr(names[i], '\n'));
                        ck_assert_int_eq(e.pid, 4321);
                        ck_assert_str_eq(e.comm, names[i]);
                        ck_assert_uint_eq(e.sector, 8);
                }
        }
}
END_TEST

int main(void) {
        Suite *s = suite_create("trace-line");
        TCase *t = tcase_create("trace-line");

        tcase_add_loop_test(t, test_event, 0, ELEMENTSOF(events));
        tcase_add_loop_test(t, test_cut, 0, ELEMENTSOF(events));
        tcase_add_loop_test(t, test_garbled, 0, ELEMENTSOF(events));
        tcase_add_loop_test(t, test_no_event, 0, ELEMENTSOF(no_events));
        tcase_add_test(t, test_forged);
        suite_add_tcase(s, t);
        return suite_run(s);
}
