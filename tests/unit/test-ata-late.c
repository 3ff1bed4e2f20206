/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ATA commands with late answers. The test replaces the clock and usleep(). */

#include <sys/stat.h>

#include "ata.h"
#include "own-clock.h"
#include "plan.h"
#include "script.h"
#include "suite.h"

static char syspath[] = "/tmp/drivekeep-test-XXXXXX";
static unsigned n_waits, gone_after; /* gone_after: number of the usleep() in which the drive vanishes; 0: it stays */

/* Replaces usleep() of the C library. */
int usleep(useconds_t usec) {
        ck_assert_uint_eq(usec, 100 * 1000);
        n_waits++;
        if (gone_after > 0 && n_waits == gone_after)
                ck_assert_int_eq(rmdir(syspath), 0);
        return 0;
}

/* An answer that the drive returns after `took_ms`. */
typedef struct Late {
        uint64_t took_ms;
        const char *sense; /* hexadecimal, as in a Row of script.h; NULL: no sense data */
        uint16_t host_status;
} Late;

static unsigned n_sent;
static uint8_t last_cdb[16], last_cdb_len;

static int send_late(void *userdata, _unused_ int fd, SgRequest *q) {
        const Late *l = userdata;

        n_sent++;
        memcpy(last_cdb, q->cdb, sizeof last_cdb);
        last_cdb_len = q->cdb_len;
        passed_usec += (int64_t) l->took_ms * 1000;
        q->host_status = l->host_status;
        q->sense_len = script_bytes(l->sense, q->sense, sizeof q->sense);
        q->status = l->sense ? 2 : 0;
        return 0;
}

#define ABORTED "72 0b 00 00 00 00 00 0e 09 0c 00 04 00 00 00 00 00 00 00 00 40 51"
#define NO_SUCH_COMMAND "70 00 05 00 00 00 00 0a 00 00 00 00 20 00 00 00 00 00"
#define GOOD "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 ff 00 00 00 00 00 00 40 50"
#define NO_CONNECT 1
#define TIME_OUT 3
#define LIMIT 15000 /* timeout of the command that send_one() sends, in ms */

static Drive drive = {
        .name = (char *) "sda", .node = (char *) "/dev/sda", .syspath = syspath, .transport = TRANSPORT_SATA
};

static int send_one(Device *d) {
        return ata_command(d, &(Taskfile){ .command = ATA_CMD_SET_FEATURES, .feature = 0x05 }, NULL);
}

static const struct {
        Late answer;
        bool missing;        /* the drive vanishes before the answer */
        unsigned gone_after; /* number of the usleep() in which the drive vanishes; 0: it stays */
        int r;
        unsigned n_waits;
        const char *reason_part;
} answers[] = {
        /* An abort in the last 500 ms before the timeout comes from the kernel and counts as a timeout. Drives abort commands earlier. */
        { { 0, ABORTED },
          false,
          0,
          END_REFUSED,
          0,
          "the drive rejected SET FEATURES 05h (aborted command, status 51h, error 04h)" },
        { { LIMIT - 501, ABORTED }, false, 0, END_REFUSED, 10, "the drive rejected SET FEATURES 05h" },
        { { LIMIT - 500, ABORTED }, false, 0, -ETIMEDOUT, 10, "the drive did not answer SET FEATURES 05h in 15 s" },
        { { LIMIT, NULL, TIME_OUT }, false, 0, -ETIMEDOUT, 10, "the drive did not answer SET FEATURES 05h in 15 s" },

        /* After an error that took two seconds or longer, ata_command() waits up to one second for the drive to vanish. If the
         * drive vanishes, the result is END_VANISHED. */
        { { 1999, ABORTED }, true, 0, END_REFUSED, 0, "rejected" },
        { { 2000, ABORTED }, true, 0, END_VANISHED, 0, "the drive was unplugged (SET FEATURES 05h)" },
        { { 2000, ABORTED }, false, 1, END_VANISHED, 1, "unplugged" },
        { { 2000, ABORTED }, false, 9, END_VANISHED, 9, "unplugged" },
        { { 2000, ABORTED }, false, 10, END_REFUSED, 10, "rejected" },
        { { LIMIT, GOOD }, true, 0, 0, 0, "" },
};

START_TEST(test_late) {
        Late answer = answers[_i].answer;
        const DeviceIO io = { .open_node = script_open, .sg = send_late, .userdata = &answer };
        Device d;

        if (answers[_i].missing)
                ck_assert_int_eq(rmdir(syspath), 0);
        gone_after = answers[_i].gone_after;
        device_init(&d, &drive, &io);
        ck_assert_int_eq(send_one(&d), answers[_i].r);
        ck_assert_msg(strstr(d.failure.why, answers[_i].reason_part), "%s", d.failure.why);
        ck_assert_uint_eq(n_waits, answers[_i].n_waits);
        ck_assert_uint_eq(n_sent, 1);
}
END_TEST

/* After two timeouts, no further command is sent to the drive, since each timeout makes the kernel reset the link. */
START_TEST(test_two_timeouts_stop_commands) {
        Late answer = { LIMIT, NULL, TIME_OUT };
        const DeviceIO io = { .open_node = script_open, .sg = send_late, .userdata = &answer };
        Device d;

        device_init(&d, &drive, &io);
        ck_assert_int_eq(send_one(&d), -ETIMEDOUT);
        answer = (Late){ 0, ABORTED };
        ck_assert_int_eq(send_one(&d), END_REFUSED);
        answer = (Late){ LIMIT, NULL, TIME_OUT };
        ck_assert_int_eq(send_one(&d), -ETIMEDOUT);
        ck_assert_int_eq(send_one(&d), -ETIMEDOUT);
        ck_assert_str_eq(d.failure.why, "not sent: the drive did not answer 2 earlier commands");
        ck_assert_uint_eq(n_sent, 3);
}
END_TEST

/* ---- USB bridges ---- */

/* A bridge that does not answer its first ATA command gets no further ATA commands. If the bridge has answered an ATA
 * command before, a missing answer is an ordinary error. */
START_TEST(test_fragile_bridge) {
        Late answer = { 0, NULL, NO_CONNECT };
        const DeviceIO io = { .open_node = script_open, .sg = send_late, .userdata = &answer };
        Device d;

        drive.transport = TRANSPORT_USB;
        device_init(&d, &drive, &io);
        ck_assert_int_eq(send_one(&d), END_VANISHED);
        ck_assert(d.bridge.fragile && d.bridge.cdb == 0 && !d.bridge.without_sat);
        ck_assert_int_eq(send_one(&d), END_FORBIDDEN);
        ck_assert_ptr_nonnull(strstr(d.failure.why, "failed during its first ATA command"));
        ck_assert_uint_eq(n_sent, 1);

        answer = (Late){ 0, GOOD };
        device_init(&d, &drive, &io);
        ck_assert_int_eq(send_one(&d), 0);
        ck_assert(d.bridge.cdb == 16 && !d.bridge.without_registers);
        answer = (Late){ 0, NULL, NO_CONNECT };
        ck_assert_int_eq(send_one(&d), END_VANISHED);
        ck_assert(!d.bridge.fragile);
}
END_TEST

/* A bridge that supports only ATA PASS-THROUGH(12) gets only ATA PASS-THROUGH(12), and no 48-bit commands. */
START_TEST(test_pass_through_12) {
        Late answer = { 0, GOOD };
        const DeviceIO io = { .open_node = script_open, .sg = send_late, .userdata = &answer };
        Device d;

        drive.transport = TRANSPORT_USB;
        device_init(&d, &drive, &io);
        d.bridge.cdb = 12;
        ck_assert_int_eq(send_one(&d), 0);
        ck_assert(last_cdb_len == 12 && last_cdb[0] == 0xA1);
        ck_assert_int_eq(ata_command(&d, &(Taskfile){ .command = 0xEA, .ext = true }, NULL), END_UNSUPPORTED);
        ck_assert_str_eq(d.failure.why, "the bridge does not accept 48-bit commands (FLUSH CACHE EXT)");
        ck_assert_uint_eq(n_sent, 1);

        /* A SATA drive that rejects ATA PASS-THROUGH(16) does not get ATA PASS-THROUGH(12), which is only for USB bridges. */
        drive.transport = TRANSPORT_SATA;
        answer = (Late){ 0, NO_SUCH_COMMAND };
        device_init(&d, &drive, &io);
        ck_assert_int_eq(send_one(&d), END_UNSUPPORTED);
        ck_assert_uint_eq(n_sent, 2);
        ck_assert(d.bridge.cdb == 0 && !d.bridge.without_sat);
}
END_TEST

static void setup(void) {
        ck_assert_ptr_nonnull(mkdtemp(syspath));
}

static void teardown(void) {
        ck_assert(rmdir(syspath) == 0 || errno == ENOENT);
}

int main(void) {
        Suite *s = suite_create("ata-late");
        TCase *t = tcase_create("ata-late");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_late, 0, ELEMENTSOF(answers));
        tcase_add_test(t, test_two_timeouts_stop_commands);
        tcase_add_test(t, test_fragile_bridge);
        tcase_add_test(t, test_pass_through_12);
        suite_add_tcase(s, t);

        return suite_run(s);
}
