/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests a journal that accepts nothing, or little at a time. No caller blocks, records arrive in order, and the number
 * of lost records is logged. The test has the journal's end of the socket. */

#include <check.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <syslog.h>

#include "journal-socket.h"
#include "journal.h"
#include "suite.h"

static char dir[] = "/tmp/drivekeep-test-XXXXXX", path[64];

static int journal_make(void) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

        (void) unlink(path);
        (void) strcpy(address.sun_path, path);
        ck_assert_int_eq(bind(fd, (const struct sockaddr *) &address, sizeof address), 0);
        return fd;
}

/* Sends a record that is about as long as the record of a verdict. */
static void send_record(JournalSocket *j, unsigned nth) {
        char record[600];

        (void) snprintf(record, sizeof record, "N=%u\n%0*u\n", nth, 500, 0);
        ck_assert_int_eq(journal_socket_send(j, record), 0);
}

typedef struct Received {
        unsigned n, next; /* number of received records; number that the next record must have */
        unsigned lost;    /* sum of the reported losses */
} Received;

/* Receives records, and checks that they arrive in order. Numbers may be missing only where lost records are reported.
 * Returns the number of received records. */
static unsigned receive_records(int fd, Received *h, unsigned most) {
        unsigned n = 0, number;
        char record[700], expected[128];
        ssize_t size;

        for (; n < most && (size = recv(fd, record, sizeof record - 1, MSG_DONTWAIT)) > 0; n++) {
                const char *message;

                record[size] = '\0';
                message = strstr(record, "MESSAGE=");
                if (message && sscanf(message, "MESSAGE=%u record", &number) == 1) {
                        (void) snprintf(expected, sizeof expected,
                                        "PRIORITY=4\nSYSLOG_IDENTIFIER=drivekeepd\nMESSAGE=%u record%s of drivekeep %s lost",
                                        number, number == 1 ? "" : "s", number == 1 ? "is" : "are");
                        ck_assert_msg(starts_with(record, expected), "%s", record);
                        h->lost += number;
                        h->next += number;
                        continue;
                }
                ck_assert_int_eq(sscanf(record, "N=%u", &number), 1);
                ck_assert_uint_eq(number, h->next);
                h->next++;
                h->n++;
        }
        return n;
}

/* A number of records that is much larger than the queue can hold. */
#define MANY (3 * JOURNAL_WAITING_MAX / 500)

/* No call blocks while the journal accepts nothing. _i == 0: with an event loop, as in the service; 1: without an event loop,
 * as in the service's child processes. */
START_TEST(test_stuck) {
        _cleanup_(journal_socket_done) JournalSocket j = { .path = path, .fd = -EBADF };
        sd_event *event = NULL;
        int fd = journal_make();
        Received h = {};

        ck_assert_int_ge(sd_event_new(&event), 0);
        if (_i == 0)
                journal_socket_attach(&j, event);
        for (unsigned i = 0; i < MANY; i++)
                send_record(&j, i);

        /* The journal accepts records again, and all waiting records arrive. */
        for (unsigned n = 1; n > 0;) {
                n = receive_records(fd, &h, 7);
                while (_i == 0 && sd_event_run(event, 0) > 0)
                        n++;
                if (_i == 1 && n > 0)
                        journal_socket_finish(&j, 0);
        }
        ck_assert_uint_gt(h.lost, 0);
        ck_assert_uint_eq(h.n + h.lost, MANY);
        ck_assert_uint_ge(h.n, JOURNAL_WAITING_MAX / 520);

        /* After the journal accepted all records, a new record is sent at once. */
        send_record(&j, MANY);
        ck_assert_uint_eq(receive_records(fd, &h, 2), 1);
        ck_assert_uint_eq(h.n + h.lost, MANY + 1);
        ck_assert_int_eq(sd_event_run(event, 0), 0);
        sd_event_unref(event);
        (void) close(fd);
        (void) unlink(path);
}
END_TEST

/* The journal accepts only one record while two records are sent. No record is lost while the queue has space. */
START_TEST(test_slow) {
        _cleanup_(journal_socket_done) JournalSocket j = { .path = path, .fd = -EBADF };
        sd_event *event = NULL;
        int fd = journal_make();
        Received h = {};

        ck_assert_int_ge(sd_event_new(&event), 0);
        journal_socket_attach(&j, event);
        for (unsigned i = 0; i < 1500; i++) {
                send_record(&j, i);
                if (i % 2)
                        (void) receive_records(fd, &h, 1);
                (void) sd_event_run(event, 0);
        }
        while (receive_records(fd, &h, 7) > 0)
                while (sd_event_run(event, 0) > 0)
                        ;
        ck_assert_uint_eq(h.lost, 0);
        ck_assert_uint_eq(h.n, 1500);
        sd_event_unref(event);
        (void) close(fd);
        (void) unlink(path);
}
END_TEST

/* Records sent while the journal's socket is missing are reported as lost. Records arrive once the socket appears, and
 * also after the socket is replaced at the same path. */
START_TEST(test_absent) {
        _cleanup_(journal_socket_done) JournalSocket j = { .path = path, .fd = -EBADF };
        Received h = {};
        int fd;

        for (unsigned i = 0; i <= (unsigned) _i; i++)
                send_record(&j, i);
        fd = journal_make();
        send_record(&j, h.next + 1 + (unsigned) _i);
        ck_assert_uint_eq(receive_records(fd, &h, 9), 2);
        ck_assert_uint_eq(h.lost, 1 + (unsigned) _i);
        (void) close(fd);
        fd = journal_make();
        send_record(&j, h.next);
        ck_assert_uint_eq(receive_records(fd, &h, 9), 1);
        ck_assert_uint_eq(h.n, 2);
        (void) close(fd);
        (void) unlink(path);
}
END_TEST

/* With a socket path of the maximum length (_i == 0), the record arrives. With a longer path (1), the record is lost.
 * No descriptor stays open. */
START_TEST(test_path) {
        struct sockaddr_un un = { .sun_family = AF_UNIX };
        char longest[sizeof un.sun_path + 1] = "";
        JournalSocket j = { .path = longest, .fd = -EBADF };
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), next;
        Received h = {};

        (void) snprintf(longest, sizeof longest, "%s/%0*d", dir, (int) (sizeof un.sun_path - 2 - strlen(dir)) + _i, 0);
        memcpy(un.sun_path, longest, sizeof un.sun_path - 1);
        ck_assert_int_eq(bind(fd, (const struct sockaddr *) &un, sizeof un), 0);
        next = dup(fd);
        (void) close(next);
        send_record(&j, 0);
        ck_assert_uint_eq(receive_records(fd, &h, 9), _i == 0);
        ck_assert_uint_eq(j.n_lost, (unsigned) _i);
        journal_socket_done(&j);
        ck_assert_int_eq(dup(fd), next);
        (void) close(next);
        (void) close(fd);
        (void) unlink(un.sun_path);
}
END_TEST

/* journal_socket_finish() returns at its time limit, even if the journal accepts nothing. */
START_TEST(test_finish) {
        JournalSocket j = { .path = path, .fd = -EBADF };
        int fd = journal_make();
        Received h = {};

        for (unsigned i = 0; i < MANY; i++)
                send_record(&j, i);
        journal_socket_finish(&j, 100);
        journal_socket_done(&j);
        ck_assert_uint_gt(receive_records(fd, &h, MANY), 0);
        (void) close(fd);
        (void) unlink(path);
}
END_TEST

/* ---- processes that may not create sockets ---- */

static int forbidden; /* the error of socket(); 0: permitted */

int socket(int domain, int type, int protocol) {
        errno = forbidden;
        return forbidden ? -1 : (int) syscall(SYS_socket, domain, type, protocol);
}

/* A process that may not create sockets writes its records to standard error, which is a stream socket to the journal
 * or a file. socket() fails with EAFNOSUPPORT in the unit's sandbox, and with EPERM in the sandbox that the process
 * sets up itself. */
static const struct {
        bool file;
        int error;
} refusals[] = { { false, EAFNOSUPPORT }, { true, EAFNOSUPPORT }, { false, EPERM }, { true, EPERM } };

START_TEST(test_standard_error) {
        int fds[2], saved = dup(STDERR_FILENO);
        char text[256] = "";

        if (!refusals[_i].file)
                ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        else
                ck_assert_int_eq(pipe(fds), 0);
        forbidden = refusals[_i].error;
        (void) dup2(fds[1], STDERR_FILENO);
        journal_log(LOG_ERR, "One of %s.\n", "two");
        (void) dup2(saved, STDERR_FILENO);
        forbidden = 0;
        ck_assert_int_gt(read(fds[0], text, sizeof text - 1), 0);
        ck_assert_str_eq(text, "<3>One of two.\\x0a\n");
        journal_finish();
        (void) close(fds[0]);
        (void) close(fds[1]);
        (void) close(saved);
}
END_TEST

static void setup(void) {
        ck_assert_ptr_nonnull(mkdtemp(dir));
        (void) snprintf(path, sizeof path, "%s/socket", dir);
}

static void teardown(void) {
        (void) rmdir(dir);
}

int main(void) {
        Suite *s = suite_create("journal");
        TCase *t = tcase_create("journal");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_stuck, 0, 2);
        tcase_add_test(t, test_slow);
        tcase_add_loop_test(t, test_absent, 0, 2);
        tcase_add_loop_test(t, test_path, 0, 2);
        tcase_add_test(t, test_finish);
        tcase_add_loop_test(t, test_standard_error, 0, ELEMENTSOF(refusals));
        suite_add_tcase(s, t);

        return suite_run(s);
}
