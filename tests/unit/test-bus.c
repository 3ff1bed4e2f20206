/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who may have the service do what over D-Bus, and whose turn it is. The drives are ours, and so is the system bus: the other
 * end of it is in our hands. */

#include <stdio.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "bus-pair.h"
#include "bus.h"
#include "inject.h"
#include "requests.h"
#include "suite.h"
#include "target-held.h"

#define QUESTIONS 100U

/* ---- stand-ins ---- */

static DriveRecord record = { .identity = IDENTITY_WWN, .state = DRIVE_IDLE }, second_record;
static Drive disk = { .name = (char *) "sda" }, second_disk = { .name = (char *) "sdb" };
static void on_changed(_unused_ void *userdata, _unused_ Target *t) {
}
static TargetEnv env = { .changed = on_changed };
static Target second = { .env = &env, .drive = &second_disk, .record = &second_record };
static Target watched = { .env = &env, .drive = &disk, .record = &record };
static bool slow; /* visits take their time */
static VisitReason visit_reason;
static const char *released; /* the setting that was let go; NULL: all */
static FsckWaitFn gate_fn;
static void *gate_userdata;
static unsigned n_visits, n_catch_ups, n_answers, n_lists, n_lists_before;

Target *manager_first(_unused_ Manager *m) {
        n_lists++;
        return &watched;
}
Target *manager_find(_unused_ Manager *m, const char *name) {
        for (Target *t = &watched; t; t = t->next)
                if (streq(t->drive->name, name))
                        return t;
        return NULL;
}
void target_visit(Target *t, VisitReason reason) {
        n_visits++;
        visit_reason = reason;
        t->visit.pending.reason = reason;
        t->visit.job = slow ? (VisitJob *) &n_visits : NULL;
        n_lists_before = n_lists;
}
void target_read(Target *t) {
        target_visit(t, VISIT_RECHECK);
}
unsigned target_release(Target *t, const char *setting) {
        ck_assert_ptr_eq(t, &watched);
        released = setting ? strdup(setting) : NULL;
        return 3;
}
static char held[160]; /* what was asked for, a word each */
int target_hold(Target *t, const sd_bus *holder, const char *setting, const char *value, const char *before,
                sd_bus_error *error) {
        ck_assert_ptr_nonnull(holder);
        (void) snprintf(held + strlen(held), sizeof held - strlen(held), "%s:%s:%s:%s ", t->drive->name, setting, value,
                        before);
        return streq(value, "odd") ? sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, "It is odd.") : 0;
}
void target_let_go(Target *t, const sd_bus *holder) {
        ck_assert_ptr_nonnull(holder);
        (void) snprintf(held + strlen(held), sizeof held - strlen(held), "%s ", t->drive->name);
}
bool visit_job_has_worker(_unused_ const VisitJob *v) {
        return false;
}
int fsck_wait_ask(_unused_ FsckWait *g, _unused_ const Drive *drive, FsckWaitFn fn, void *userdata, FsckTicket **ret) {
        gate_fn = fn;
        gate_userdata = userdata;
        *ret = NULL;
        return 0;
}
FsckTicket *fsck_ticket_free(_unused_ FsckTicket *t) {
        return NULL;
}
static unsigned n_logged;
void journal_log(_unused_ int priority, _unused_ const char *format, ...) {
        n_logged++;
}

void monitor_catch_up(_unused_ Monitor *m) {
        n_catch_ups++;
}

static int reload_error;
static Target *concerned; /* by the new files; NULL: no drive is */

static int on_reload(_unused_ void *userdata, char **ret_sentence) {
        if (reload_error == -EINVAL)
                *ret_sentence = strdup("a.conf:3: error: no");
        if (concerned)
                concerned->visit.job = (VisitJob *) &n_visits;
        return reload_error;
}

/* ---- connections ---- */

static char dir[] = "/tmp/drivekeep-test-XXXXXX", path[64];
static sd_event *event;
static Bus *bus;
static sd_bus *service, *user; /* the two ends of what is the system bus to the service */

int sd_bus_is_bus_client(sd_bus *b) {
        return b == service;
}

static void setup(void) {
        n_visits = n_catch_ups = n_answers = n_lists = n_logged = 0;
        ck_assert_ptr_nonnull(mkdtemp(dir));
        (void) snprintf(path, sizeof path, "%s/bus", dir);
        ck_assert_int_eq(sd_event_new(&event), 0);
        env.event = event;
        ck_assert_int_eq(bus_new(event, path, NULL, NULL, on_reload, NULL, &bus), 0);
        service = bus_pair(NULL, &user);
        ck_assert_int_ge(sd_bus_attach_event(service, event, BUS_PRIORITY), 0);
        ck_assert_int_ge(sd_bus_attach_event(user, event, SD_EVENT_PRIORITY_NORMAL), 0);
        /* Nobody gives it a name here, which is told. */
        bus_offer(bus, service);
        ck_assert_uint_eq(n_logged, 1);
        n_logged = 0;
}

static void teardown(void) {
        sd_bus_close_unref(service);
        sd_bus_close_unref(user);
        bus = bus_free(bus);
        env.event = event = sd_event_unref(event);
        gate_userdata = NULL; /* what is not freed is nobody's then */
        (void) unlink(path);
        (void) rmdir(dir);
}

static void run(void) {
        bus_settle(event);
}

static int on_answer(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error) {
        ck_assert(!sd_bus_message_is_method_error(m, NULL));
        n_answers++;
        return 0;
}

static void ask(sd_bus *b, const char *method) {
        ck_assert_int_ge(sd_bus_call_method_async(b, NULL, "org.drivekeep1", "/org/drivekeep1",
                                                  "org.drivekeep1.Manager", method, on_answer, NULL, NULL),
                         0);
}

/* What anybody may ask has nothing looked at; only who may have it act can have udev's news heard at once. */
static const struct {
        const char *method;
        unsigned n_catch_ups;
} rows[] = {
        { "ListDrives", 0 },
        { "CatchUp", 1 },
};

START_TEST(test_reading) {
        run();
        for (unsigned i = 1; i <= 3; i++) {
                ask(user, rows[_i].method);
                run();
                ck_assert_uint_eq(n_answers, i);
                ck_assert_uint_eq(n_catch_ups, i * rows[_i].n_catch_ups);
        }
}
END_TEST

static sd_bus *root_connect(void) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        (void) strncpy(address.sun_path, path, sizeof address.sun_path - 1);
        ck_assert_int_eq(connect(fd, (const struct sockaddr *) &address, sizeof address), 0);
        return bus_end(event, fd, false);
}

/* Whoever reads a drive has it for himself until he goes, however he goes. */
START_TEST(test_reader) {
        sd_bus *root = root_connect();

        ck_assert_int_ge(sd_bus_call_method_async(root, NULL, "org.drivekeep1", "/org/drivekeep1",
                                                  "org.drivekeep1.Manager", "MayRead", on_answer, NULL, "s", "sda"),
                         0);
        run();
        ck_assert_uint_eq(n_answers, 0);
        ck_assert(watched.readers);
        ck_assert_ptr_nonnull(gate_fn);
        gate_fn(gate_userdata, (Wait){ WAIT_NOTHING });
        run();
        ck_assert_uint_eq(n_answers, 1);
        ck_assert(watched.readers);

        sd_bus_close_unref(root);
        run();
        ck_assert(!watched.readers);
}
END_TEST

/* Questions of others wait for root at the socket, and not the other way round. */
START_TEST(test_turn) {
        sd_bus_message *m;
        sd_bus *root;

        run();
        for (unsigned i = 0; i < QUESTIONS; i++)
                ask(user, "ListDrives");
        ck_assert_int_ge(sd_bus_flush(user), 0);

        root = root_connect();
        ck_assert_int_ge(sd_bus_message_new_method_call(root, &m, "org.drivekeep1", "/org/drivekeep1",
                                                        "org.drivekeep1.Manager", "Apply"),
                         0);
        ck_assert_int_ge(sd_bus_message_append(m, "as", 0), 0);
        ck_assert_int_ge(sd_bus_call_async(root, NULL, m, NULL, NULL, 0), 0);
        sd_bus_message_unref(m);
        run();

        ck_assert_uint_eq(n_visits, 1);
        ck_assert_uint_eq(n_lists_before, 1); /* its own */
        ck_assert_uint_eq(n_answers, QUESTIONS);
        sd_bus_close_unref(root);
        run();
}
END_TEST

/* ---- what root has it do ---- */

static sd_bus *root;
static char answer[256]; /* the names or the number that it holds; or the error */

static int on_result(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error) {
        const sd_bus_error *e = sd_bus_message_get_error(m);
        const char *text;
        uint32_t number;

        n_answers++;
        (void) strcpy(answer, e ? e->name : "");
        if (e)
                (void) snprintf(answer, sizeof answer, "%s: %s", e->name, e->message);
        else if (sd_bus_message_has_signature(m, "u"))
                (void) snprintf(answer, sizeof answer, "%u", sd_bus_message_read(m, "u", &number) > 0 ? number : 0);
        else if (sd_bus_message_has_signature(m, "as") && sd_bus_message_enter_container(m, 'a', "s") >= 0)
                while (sd_bus_message_read(m, "s", &text) > 0)
                        (void) strcat(strcat(answer, text), " ");
        return 0;
}

static void call(sd_bus *from, const char *method, const char *types, ...) {
        sd_bus_message *m;
        va_list ap;

        answer[0] = '\0';
        ck_assert_int_ge(sd_bus_message_new_method_call(from, &m, "org.drivekeep1", "/org/drivekeep1",
                                                        "org.drivekeep1.Manager", method),
                         0);
        va_start(ap, types);
        ck_assert_int_ge(sd_bus_message_appendv(m, types, ap), 0);
        va_end(ap);
        ck_assert_int_ge(sd_bus_call_async(from, NULL, m, on_result, NULL, 0), 0);
        sd_bus_message_unref(m);
        run();
}

static void setup_root(void) {
        setup();
        watched.next = &second;
        slow = true;
        root = root_connect();
        run();
}

static void teardown_root(void) {
        sd_bus_close_unref(root);
        run();
        teardown();
}

static void rest(Target *t) {
        t->visit.job = NULL;
        bus_drive_rested(bus);
        run();
}

#define NONE "org.drivekeep1.Error.NoSuchDrive: There is no drive 'sdq'."
#define NONE_NAMED SD_BUS_ERROR_INVALID_ARGS ": No drive is named, and Sleep does not take that for all drives."

/* The answer comes when the last of the drives asked for has rested, in whatever order. */
static const struct {
        const char *method, *names[3];
        VisitReason reason;
        unsigned n_visits;
        const char *answer; /* "": to what names no drive */
} applies[] = {
        { "Apply", {}, VISIT_REQUEST, 2, "sda sdb " },
        { "Apply", { "sda" }, VISIT_REQUEST, 1, "sda " },
        { "Apply", { "sdb", "sda" }, VISIT_REQUEST, 2, "sdb sda " },
        { "Apply", { "sda", "sda" }, VISIT_REQUEST, 2, "sda sda " },
        { "Apply", { "sda", "sdq" }, VISIT_REQUEST, 0, NONE },
        { "ApplyPermanent", { "sda" }, VISIT_PERMANENT, 1, "sda " },
        { "ApplyPermanent", { "sdq" }, VISIT_PERMANENT, 0, NONE },
        { "Read", {}, VISIT_RECHECK, 2, "sda sdb " },
        { "Read", { "sda" }, VISIT_RECHECK, 1, "sda " },
        { "Read", { "sdq" }, VISIT_RECHECK, 0, NONE },
        { "Sleep", { "sdb", "sda" }, VISIT_SLEEP, 2, "sdb sda " },
        { "Sleep", { "sda", "sdq" }, VISIT_SLEEP, 0, NONE },
        { "Sleep", {}, VISIT_SLEEP, 0, NONE_NAMED },
};

START_TEST(test_apply) {
        bool at_once = applies[_i].n_visits == 0, second_too = strstr(applies[_i].answer, "sdb") && !at_once;
        size_t n = 0;

        while (applies[_i].names[n])
                n++;
        call(root, applies[_i].method, "as", (unsigned) n, applies[_i].names[0], applies[_i].names[1]);
        ck_assert_uint_eq(n_catch_ups, 1);
        ck_assert_uint_eq(n_visits, applies[_i].n_visits);
        if (!at_once) {
                ck_assert_int_eq(visit_reason, applies[_i].reason);
                ck_assert_uint_eq(n_answers, 0);
                if (second_too) {
                        rest(&second);
                        rest(&second);
                        ck_assert_uint_eq(n_answers, 0);
                }
                rest(&watched);
        }
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_str_eq(answer, applies[_i].answer);
        rest(&watched);
        ck_assert_uint_eq(n_answers, 1);
}
END_TEST

/* Visits that are over before the call is, and two calls for the same drive. */
START_TEST(test_apply_twice) {
        slow = false;
        call(root, "Apply", "as", 0);
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_str_eq(answer, "sda sdb ");

        slow = true;
        call(root, "Apply", "as", 1, "sda");
        call(root, "Apply", "as", 0);
        ck_assert_uint_eq(n_answers, 1);
        /* The visit that was asked for begins only now. */
        bus_drive_rested(bus);
        run();
        ck_assert_uint_eq(n_answers, 1);
        rest(&watched);
        ck_assert_uint_eq(n_answers, 2);
        rest(&second);
        ck_assert_uint_eq(n_answers, 3);
}
END_TEST

/* What may take hours is not waited for: a visit that is put off, and a drive that is gone. */
START_TEST(test_apply_deferred) {
        call(root, "Apply", "as", 1, "sda");
        watched.visit.pending.work = second.visit.pending.work = visit_reason_work(VISIT_REQUEST);
        record.waiting_kind = WAIT_CHECK;
        bus_drive_rested(bus);
        run();
        ck_assert_uint_eq(n_answers, 0);
        watched.visit.pending.work = visit_reason_work(VISIT_RETRY);
        bus_drive_rested(bus);
        run();
        ck_assert_uint_eq(n_answers, 1);

        call(root, "Apply", "as", 1, "sdb");
        second.visit.pending.work = visit_reason_work(VISIT_RETRY);
        bus_drive_rested(bus);
        run();
        ck_assert_uint_eq(n_answers, 1);
        second.visit.job = NULL; /* as target_leave() leaves it */
        bus_drive_rested(bus);
        run();
        ck_assert_uint_eq(n_answers, 2);
}
END_TEST

/* Whoever waited is gone when the visit is over; the others are answered. */
START_TEST(test_apply_gone) {
        sd_bus *other = root_connect();

        call(root, "Apply", "as", 0);
        call(other, "Apply", "as", 0);
        call(user, "Apply", "as", 0);
        ck_assert_uint_eq(n_visits, 6);
        sd_bus_close_unref(other);
        sd_bus_close(service);
        run();
        n_answers = 0; /* sd-bus tells the user at once that there will be none */
        rest(&watched);
        rest(&second);
        ck_assert_uint_eq(n_answers, 1);

        /* One still waits at the end. */
        call(root, "Apply", "as", 0);
}
END_TEST

/* An answer that cannot be given is one all the same; and there may be no memory for the question. */
START_TEST(test_apply_fails) {
        Requests none = {};
        sd_bus_message *m;

        second_disk.name = (char *) "\xff";
        slow = false;
        call(root, "Apply", "as", 0);
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_msg(starts_with(answer, "org.freedesktop.DBus.Error."), "%s", answer);
        ck_assert_uint_eq(n_visits, 2);

        ck_assert_int_ge(sd_bus_message_new_method_call(user, &m, NULL, "/x", "x.y", "Apply"), 0);
        inject_arm(INJECT_MEMORY, 1);
        ck_assert_int_eq(requests_visit(&none, m, VISIT_REQUEST, NULL), -ENOMEM);
        ck_assert(inject_disarm());
        ck_assert_ptr_null(none.items);
        (void) sd_bus_message_unref(m);
}
END_TEST

/* Nobody may read what is not there. */
START_TEST(test_may_read) {
        call(root, "MayRead", "s", "sdq");
        ck_assert_str_eq(answer, NONE);
}
END_TEST

/* A visit is to come, and so the caller is no reader any more. Whoever goes lets go of all. */
START_TEST(test_hold) {
        sd_bus *other = root_connect();

        call(other, "MayRead", "s", "sda");
        ck_assert(watched.readers);
        call(other, "Hold", "ssss", "sda", "read_ahead_kb", "1MiB", "128KiB");
        ck_assert_str_eq(answer, "");
        ck_assert(!watched.readers);
        ck_assert_str_eq(held, "sda:read_ahead_kb:1MiB:128KiB ");

        call(other, "Hold", "ssss", "sda", "read_ahead_kb", "odd", "128KiB");
        ck_assert_str_eq(answer, "org.freedesktop.DBus.Error.InvalidArgs: It is odd.");
        call(other, "Hold", "ssss", "sdq", "read_ahead_kb", "1MiB", "128KiB");
        ck_assert_str_eq(answer, NONE);
        call(other, "LetGo", "s", "sdq");
        ck_assert_str_eq(answer, NONE);

        held[0] = '\0';
        call(other, "MayRead", "s", "sda");
        call(other, "LetGo", "s", "sda");
        ck_assert_str_eq(answer, "");
        ck_assert(!watched.readers);
        ck_assert_str_eq(held, "sda ");

        sd_bus_close_unref(other);
        run();
        ck_assert_str_eq(held, "sda sda sdb ");
}
END_TEST

/* On the bus it would not be noticed that somebody goes. */
static const struct {
        const char *method, *types;
} own[] = {
        { "MayRead", "s" },
        { "LetGo", "s" },
        { "Hold", "ssss" },
};

START_TEST(test_own_socket) {
        call(user, own[_i].method, own[_i].types, "sda", "read_ahead_kb", "1MiB", "128KiB");
        ck_assert_msg(strstr(answer, "That is asked at the service's own socket only."), "%s", answer);
        ck_assert(!watched.readers);
        ck_assert_str_eq(held, "");
}
END_TEST

START_TEST(test_release) {
        call(root, "Release", "ss", "sda", "apm");
        ck_assert_str_eq(answer, "3");
        ck_assert_str_eq(released, "apm");
        free((char *) released);
        call(root, "Release", "ss", "sda", "");
        ck_assert_str_eq(answer, "3");
        ck_assert_ptr_null(released);
        ck_assert_uint_eq(n_catch_ups, 2);
        call(root, "Release", "ss", "sdq", "");
        ck_assert_str_eq(answer, NONE);
}
END_TEST

static const struct {
        int error;
        const char *answer;
} reloads[] = {
        { 0, "" },
        { -EINVAL, "org.drivekeep1.Error.BadConfiguration: a.conf:3: error: no" },
        { -EACCES, "org.freedesktop.DBus.Error.AccessDenied: Permission denied" },
};

START_TEST(test_reload) {
        static const char *const methods[] = { "Reload", "ReloadAndVisit" };

        reload_error = reloads[_i].error;
        for (size_t i = 0; i < ELEMENTSOF(methods); i++) {
                answer[0] = '\0';
                call(root, methods[i], "");
                ck_assert_uint_eq(n_answers, i + 1);
                ck_assert_str_eq(answer, reloads[_i].answer);
        }
}
END_TEST

/* The answer comes after all visits are over: those for the new files, and those from before. */
START_TEST(test_reload_and_visit) {
        concerned = &second;
        call(root, "ReloadAndVisit", "");
        ck_assert_uint_eq(n_visits, 0);
        ck_assert_uint_eq(n_answers, 0);
        rest(&second);
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_str_eq(answer, "sdb ");

        answer[0] = '\0';
        watched.visit.job = (VisitJob *) &n_visits;
        call(root, "ReloadAndVisit", "");
        rest(&watched);
        ck_assert_uint_eq(n_answers, 1);
        rest(&second);
        ck_assert_uint_eq(n_answers, 2);
        ck_assert_str_eq(answer, "sda sdb ");
}
END_TEST

static int on_drives(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error) {
        const char *name, *state, *identity;

        ck_assert_int_ge(sd_bus_message_enter_container(m, 'a', "(sss)"), 0);
        while (sd_bus_message_read(m, "(sss)", &name, &state, &identity) > 0)
                (void) snprintf(answer + strlen(answer), sizeof answer - strlen(answer), "%s %s %s;", name, state,
                                identity);
        return 0;
}

static int on_version(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error) {
        const char *version;

        ck_assert_int_gt(sd_bus_message_read(m, "v", "s", &version), 0);
        (void) strcpy(answer, version);
        return 0;
}

START_TEST(test_told) {
        second_record = (DriveRecord){ .identity = IDENTITY_SERIAL, .state = DRIVE_VISITING };
        ck_assert_int_ge(sd_bus_call_method_async(user, NULL, "org.drivekeep1", "/org/drivekeep1",
                                                  "org.drivekeep1.Manager", "ListDrives", on_drives, NULL, NULL),
                         0);
        run();
        ck_assert_str_eq(answer, "sda idle wwn;sdb visiting serial;");
        ck_assert_int_ge(sd_bus_call_method_async(user, NULL, "org.drivekeep1", "/org/drivekeep1",
                                                  "org.freedesktop.DBus.Properties", "Get", on_version, NULL, "ss",
                                                  "org.drivekeep1.Manager", "Version"),
                         0);
        run();
        ck_assert_str_eq(answer, DRIVEKEEP_VERSION);
}
END_TEST

static int on_text(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error) {
        const char *text;

        ck_assert_int_gt(sd_bus_message_read(m, "s", &text), 0);
        ck_assert_ptr_nonnull(strstr(text, "ListDrives"));
        /* What is said to be out of use nobody will use. */
        ck_assert_ptr_null(strstr(text, "Deprecated"));
        n_answers++;
        return 0;
}

START_TEST(test_introspection) {
        run();
        ck_assert_int_ge(sd_bus_call_method_async(user, NULL, "org.drivekeep1", "/org/drivekeep1",
                                                  "org.freedesktop.DBus.Introspectable", "Introspect", on_text, NULL,
                                                  NULL),
                         0);
        run();
        ck_assert_uint_eq(n_answers, 1);
}
END_TEST

/* ---- the socket ---- */

/* One that an earlier run left is replaced; it is for its owner alone. Without it all else works, and that is told. */
START_TEST(test_socket) {
        struct stat st;
        Bus *second_bus;

        ck_assert_int_eq(stat(path, &st), 0);
        ck_assert(S_ISSOCK(st.st_mode));
        ck_assert_int_eq(st.st_mode & 0777, 0600);
        ck_assert_int_eq(bus_new(event, path, NULL, NULL, on_reload, NULL, &second_bus), 0);
        ck_assert_uint_eq(n_logged, 0);
        (void) bus_free(second_bus);

        ck_assert_int_eq(bus_new(event, "/nonexistent/socket", NULL, NULL, on_reload, NULL, &second_bus), 0);
        ck_assert_uint_eq(n_logged, 1);
        (void) bus_free(second_bus);

        inject_arm(INJECT_ERRORS, 1);
        ck_assert_int_eq(bus_new(event, path, NULL, NULL, on_reload, NULL, &second_bus), 0);
        ck_assert(inject_disarm());
        ck_assert_uint_eq(n_logged, 2);
        (void) bus_free(second_bus);

        inject_arm(INJECT_MEMORY, 1);
        ck_assert_int_eq(bus_new(event, path, NULL, NULL, on_reload, NULL, &second_bus), -ENOMEM);
        ck_assert(inject_disarm());
        ck_assert_ptr_null(bus_free(NULL));
}
END_TEST

/* There is no such bus: that is told, and nobody waits for it. */
START_TEST(test_no_bus) {
        bus_connect(bus, "no address", NULL);
        ck_assert_uint_eq(n_logged, 1);
        run();
        ck_assert_uint_eq(n_logged, 1);
}
END_TEST

/* Somebody is still connected at the end, and reads a drive. */
START_TEST(test_end) {
        call(root, "MayRead", "s", "sda");
        ck_assert(watched.readers);
        bus = bus_free(bus);
        ck_assert(!watched.readers);
        /* What is held stays so: the next run sets it back. */
        ck_assert_str_eq(held, "");
}
END_TEST

int main(void) {
        Suite *s = suite_create("bus");
        TCase *t = tcase_create("bus");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_reading, 0, ELEMENTSOF(rows));
        tcase_add_test(t, test_reader);
        tcase_add_test(t, test_turn);
        suite_add_tcase(s, t);

        t = tcase_create("root");
        tcase_add_checked_fixture(t, setup_root, teardown_root);
        tcase_add_loop_test(t, test_apply, 0, ELEMENTSOF(applies));
        tcase_add_test(t, test_apply_twice);
        tcase_add_test(t, test_apply_deferred);
        tcase_add_test(t, test_apply_gone);
        tcase_add_test(t, test_apply_fails);
        tcase_add_test(t, test_may_read);
        tcase_add_test(t, test_hold);
        tcase_add_loop_test(t, test_own_socket, 0, ELEMENTSOF(own));
        tcase_add_test(t, test_release);
        tcase_add_loop_test(t, test_reload, 0, ELEMENTSOF(reloads));
        tcase_add_test(t, test_reload_and_visit);
        tcase_add_test(t, test_told);
        tcase_add_test(t, test_introspection);
        tcase_add_test(t, test_socket);
        tcase_add_test(t, test_no_bus);
        tcase_add_test(t, test_end);
        suite_add_tcase(s, t);

        return suite_run(s);
}
