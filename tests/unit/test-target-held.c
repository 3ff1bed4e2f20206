/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A value that a drive has for a while: in force while its holder is there, and then what was there before. */

#include "fake-visitor.h"
#include "target-held.h"

static char holders[2];
#define ME ((const sd_bus *) &holders[0])
#define ANOTHER ((const sd_bus *) &holders[1])

#define NOTHING ""
#define WANTED "{ match = \"/dev/sda\"; read_ahead_kb = 512; }"
#define READ_AHEAD "read_ahead_kb"

static int hold(Target *t, const sd_bus *holder, const char *setting, const char *value, const char *before) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        int r = target_hold(t, holder, setting, value, before, &error);

        /* Whoever is refused is told why. */
        ck_assert(r >= 0 || r == -ENOMEM || (error.message && strlen(error.message) > 10));
        return r;
}

static void visited(Target *t, Verdict v) {
        ck_assert_ptr_nonnull(t->visit.job);
        visitor.events->ready(t);
        tell(t, v);
        visitor.events->ended(t, VISIT_OVER, NULL);
}

/* What the drive is wanted to have; 0: nothing. */
static int64_t wanted(const Target *t) {
        const Wish *w = wishes_find(&t->wishes, READ_AHEAD);

        return w ? w->value.number / 1024 : 0;
}

/* ---- what may be held ---- */

static const struct {
        const char *drives, *setting, *value, *before;
} refused[] = {
        { NOTHING, "nosuch", "1", "1" },
        { NOTHING, "wbc", "1", "1" },
        { NOTHING, "spindown_time", "20min", "20min" },                  /* nothing can read it */
        { NOTHING, "standby", "true", "false" },                         /* a deed */
        { NOTHING, "queue_write_cache", "write through", "write back" }, /* dangerous */
        { NOTHING, "queue_write_cache", "write back", "write through" }, /* … to set back */
        { NOTHING, "poweron_standby", "off", "off" },                    /* the drive keeps it for ever */
        { NOTHING, "security_password", "x", "x" },                      /* never written */
        { NOTHING, READ_AHEAD, "many", "128KiB" },
        { NOTHING, READ_AHEAD, "128KiB", "many" },
        { NOTHING, READ_AHEAD, "129KiB", "128KiB" }, /* it would be another one */
        { NOTHING, READ_AHEAD, "128KiB", "129KiB" },
        { NOTHING, "queue_depth", "0", "32" },
        { "{ match = \"/dev/sda\"; read_ahead_kb = \"x\"; }", READ_AHEAD, "256KiB", "128KiB" },
};

/* Files in error are none that a service runs with at its start, but it goes on with them. */
static void files_in_error(const char *drives) {
        Files *f = files_of("");
        _cleanup_free_ char *text = NULL;

        ck_assert_int_ge(asprintf(&text, "drives = ( %s );", drives), 0);
        ck_assert_int_eq(config_parse(f->config, &all_settings, "f", text, strlen(text)), 0);
        (void) files_unref(env.files);
        env.files = f;
}

START_TEST(test_refused) {
        Target *t = watch(NOTHING, TRANSPORT_SATA);

        files_in_error(refused[_i].drives);
        target_reconfigure(t, VISIT_RELOAD);
        n_visits = 0;
        ck_assert_int_lt(hold(t, ME, refused[_i].setting, refused[_i].value, refused[_i].before), 0);
        ck_assert_ptr_null(t->record->held);
        ck_assert_uint_eq(n_visits, 0);
        end(t);
}
END_TEST

/* As the command writes them. */
static const struct {
        const char *setting;
        Value value;
} kept[] = {
        { READ_AHEAD, { VALUE_SIZE, 128 * 1024, "" } }, { READ_AHEAD, { VALUE_SIZE, 1536 * 1024, "" } },
        { READ_AHEAD, { VALUE_SIZE, 0, "" } },          { "scheduler", { VALUE_NAME, 0, "mq-deadline" } },
        { "scheduler", { VALUE_NAME, 0, "none" } },     { "nr_requests", { VALUE_INT, 64, "" } },
        { "queue_depth", { VALUE_INT, 32, "" } },       { "max_sectors_kb", { VALUE_SIZE, 1280 * 1024, "" } },
        { "lookahead", { VALUE_BOOL, 0, "" } },         { "lookahead", { VALUE_BOOL, 1, "" } },
};

START_TEST(test_texts) {
        Target *t = watch(NOTHING, TRANSPORT_SATA);
        const Setting *s = setting_for_backends(&all_settings, kept[_i].setting, drive_backends(t->drive));
        char text[VALUE_TEXT_MAX];

        ck_assert_ptr_nonnull(s);
        (void) value_format(&s->range, &kept[_i].value, text);
        ck_assert_int_eq(hold(t, ME, kept[_i].setting, text, text), 0);
        ck_assert(value_equal(&t->held.items[0].value, &kept[_i].value) &&
                  value_equal(&t->held.items[0].before, &kept[_i].value));
        end(t);
}
END_TEST

/* ---- while it is held ---- */

START_TEST(test_held) {
        Target *t = watch(NOTHING, TRANSPORT_SATA);
        _cleanup_free_ char *text = NULL;
        const SettingRecord *s;

        ck_assert_int_eq(hold(t, ME, READ_AHEAD, "1MiB", "128KiB"), 0);
        ck_assert_int_eq(wanted(t), 1024);
        ck_assert_int_eq(drive_record_serialize(t->record, &text), 0);
        ck_assert_ptr_nonnull(strstr(text, "\nHELD=read_ahead_kb=128 KiB\n"));
        ck_assert_int_eq(t->visit.pending.reason, VISIT_REQUEST);
        visited(t, VERDICT_APPLIED);
        s = drive_record_find(t->record, READ_AHEAD);
        ck_assert_ptr_nonnull(s);
        ck_assert_str_eq(s->rule, "drivekeep tune");

        /* The next one, and other visits meanwhile. */
        ck_assert_int_eq(hold(t, ME, READ_AHEAD, "2MiB", "128KiB"), 0);
        visited(t, VERDICT_APPLIED);
        visit_whole(t, VISIT_RESUME);
        ck_assert_int_eq(wanted(t), 2048);
        target_reconfigure(t, VISIT_RELOAD);
        ck_assert_int_eq(wanted(t), 2048);

        /* Others have to wait, and so has another setting. */
        ck_assert_int_lt(hold(t, ANOTHER, READ_AHEAD, "4MiB", "128KiB"), 0);
        target_let_go(t, ANOTHER);
        ck_assert_int_eq(wanted(t), 2048);

        n_logged = 0;
        target_let_go(t, ME);
        ck_assert_int_eq(wanted(t), 128);
        ck_assert_int_lt(hold(t, ME, READ_AHEAD, "4MiB", "2MiB"), 0);
        visited(t, VERDICT_APPLIED);
        ck_assert_int_eq(wanted(t), 0);
        ck_assert_ptr_null(t->record->held);
        ck_assert_uint_eq(t->record->n_settings, 0);
        ck_assert_ptr_null(t->visit.job);

        /* That is nothing that anybody has asked to keep. */
        target_reconfigure(t, VISIT_RELOAD);
        ck_assert_uint_eq(n_logged, 0);
        ck_assert_int_eq(hold(t, ANOTHER, READ_AHEAD, "4MiB", "128KiB"), 0);
        end(t);
}
END_TEST

/* What the files want is what was there before. */
START_TEST(test_wanted) {
        Target *t = watch(WANTED, TRANSPORT_SATA);

        visit_whole(t, VISIT_ATTACH);
        ck_assert_int_eq(hold(t, ME, READ_AHEAD, "1MiB", "512KiB"), 0);
        ck_assert_int_eq(wanted(t), 1024);
        visited(t, VERDICT_APPLIED);

        files_become("{ match = \"/dev/sda\"; read_ahead_kb = 256; }");
        target_reconfigure(t, VISIT_RELOAD);
        ck_assert_int_eq(wanted(t), 1024);
        target_let_go(t, ME);
        ck_assert_int_eq(wanted(t), 256);
        visited(t, VERDICT_APPLIED);
        ck_assert_int_eq(wanted(t), 256);
        ck_assert_ptr_null(t->record->held);
        ck_assert_uint_eq(t->record->n_settings, 1);
        end(t);
}
END_TEST

/* Nothing is to be done, and a visit says so all the same. */
START_TEST(test_same) {
        Target *t = watch(_i ? WANTED : NOTHING, TRANSPORT_SATA);

        if (_i)
                visit_whole(t, VISIT_ATTACH);
        ck_assert_int_eq(hold(t, ME, READ_AHEAD, "512KiB", "512KiB"), 0);
        if (!_i)
                visited(t, VERDICT_UNCHANGED);
        target_let_go(t, ME);
        visited(t, VERDICT_UNCHANGED);
        ck_assert_int_eq(wanted(t), _i ? 512 : 0);
        ck_assert_ptr_null(t->record->held);
        end(t);
}
END_TEST

/* ---- what comes between ---- */

/* The holder goes while a worker is at the drive: what that tells is of before. */
START_TEST(test_gone_in_mid_visit) {
        Target *t = watch(NOTHING, TRANSPORT_SATA);

        ck_assert_int_eq(hold(t, ME, READ_AHEAD, "1MiB", "128KiB"), 0);
        visitor.events->ready(t);
        target_let_go(t, ME);
        tell(t, VERDICT_APPLIED);
        visitor.events->ended(t, VISIT_OVER, NULL);
        ck_assert_int_eq(wanted(t), 128);
        ck_assert_str_eq(t->record->held, "read_ahead_kb=128 KiB");
        visited(t, VERDICT_APPLIED);
        ck_assert_int_eq(wanted(t), 0);
        end(t);
}
END_TEST

/* It is not as it was before until somebody says so. */
START_TEST(test_not_yet) {
        static const Verdict verdicts[] = { VERDICT_DEFERRED, VERDICT_FAILED, VERDICT_REFUSED, VERDICT_IGNORED,
                                            VERDICT_QUARANTINED };
        Target *t = watch(NOTHING, TRANSPORT_SATA);

        ck_assert_int_eq(hold(t, ME, READ_AHEAD, "1MiB", "128KiB"), 0);
        visited(t, VERDICT_APPLIED);
        target_let_go(t, ME);
        visited(t, verdicts[_i]);
        ck_assert_int_eq(wanted(t), 128);
        ck_assert_str_eq(t->record->held, "read_ahead_kb=128 KiB");
        visit_whole(t, VISIT_REQUEST);
        ck_assert_int_eq(wanted(t), 0);
        end(t);
}
END_TEST

/* Others are told what they wait for. */
START_TEST(test_taken) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        Target *t = watch(NOTHING, TRANSPORT_SATA);

        ck_assert_int_eq(hold(t, ME, READ_AHEAD, "1MiB", "128KiB"), 0);
        ck_assert_int_lt(target_hold(t, ANOTHER, READ_AHEAD, "2MiB", "128KiB", &error), 0);
        ck_assert_str_eq(error.message, "read_ahead_kb of this drive is being measured already.");
        sd_bus_error_free(&error);

        target_let_go(t, ME);
        ck_assert_int_lt(target_hold(t, ANOTHER, "queue_depth", "1", "32", &error), 0);
        ck_assert_str_eq(error.message, "read_ahead_kb of this drive is still to be set back.");
        ck_assert_str_eq(t->record->held, "read_ahead_kb=128 KiB");
        end(t);
}
END_TEST

/* Two at once are one too many, but other settings have their verdicts meanwhile; and a visit that is only about another one tells
 * nothing of this one. */
START_TEST(test_others) {
        static const Wish apm = { .name = "apm", .file = "f", .line = 1, .value = { VALUE_INT, 128, "" } };
        const Step step = { .wish = &apm, .verdict = VERDICT_APPLIED };
        Target *t = watch("{ match = \"/dev/sda\"; apm = 128; }", TRANSPORT_SATA);

        visit_whole(t, VISIT_ATTACH);
        ck_assert_int_eq(hold(t, ME, READ_AHEAD, "1MiB", "128KiB"), 0);
        visited(t, VERDICT_APPLIED);
        target_let_go(t, ME);
        target_held_told(t, &step);
        ck_assert(!target_held_ended(t));
        visited(t, VERDICT_APPLIED);
        ck_assert_uint_eq(t->wishes.n_items, 1);
        ck_assert_uint_eq(t->record->n_settings, 1);
        ck_assert_str_eq(t->record->settings[0].name, "apm");

        /* That is said once. */
        target_held_told(t, &step);
        ck_assert(!target_held_ended(t));
        target_let_go(t, ME);
        ck_assert_ptr_null(t->visit.job);
        end(t);
}
END_TEST

/* A rule that names what lies on the drive, in whose place the value comes. */
START_TEST(test_stacked) {
        Target *t;
        Drive *d = disk(TRANSPORT_SATA, NULL);
        const Wish *w;

        ck_assert_int_eq(drive_add_link(d, "/dev/md0", LINK_STACKED), 0);
        files_become("{ match = \"/dev/md0\"; read_ahead_kb = 512; }");
        ck_assert_int_eq(target_new(&env, d, &t), 0);
        visit_whole(t, VISIT_ATTACH);
        ck_assert_int_eq(hold(t, ME, READ_AHEAD, "1MiB", "512KiB"), 0);
        w = wishes_find(&t->wishes, READ_AHEAD);
        ck_assert_ptr_nonnull(w);
        ck_assert_ptr_null(w->via_stacked);
        ck_assert_uint_eq(w->line, 0);
        visited(t, VERDICT_APPLIED);
        target_let_go(t, ME);
        w = wishes_find(&t->wishes, READ_AHEAD);
        ck_assert(w && w->via_stacked);
        end(t);
}
END_TEST

/* The files are read anew while the drive gets back what it had: before the setting has its verdict, and after that. What they want
 * now is not lost over that. */
static const struct {
        const char *drives;
        bool told;
        int64_t wanted; /* of read_ahead_kb, in the end */
} reread[] = {
        { NOTHING, false, 0 },
        { NOTHING, true, 0 },
        { WANTED, false, 512 },
        { WANTED, true, 512 },
};

START_TEST(test_reread) {
        Target *t = watch(NOTHING, TRANSPORT_SATA);

        ck_assert_int_eq(hold(t, ME, READ_AHEAD, "1MiB", "128KiB"), 0);
        visited(t, VERDICT_APPLIED);
        target_let_go(t, ME);
        visitor.events->ready(t);
        if (reread[_i].told)
                tell(t, VERDICT_APPLIED);
        files_become(reread[_i].drives);
        target_reconfigure(t, VISIT_RELOAD);
        if (!reread[_i].told)
                tell(t, VERDICT_APPLIED);
        n_visits = 0;
        visitor.events->ended(t, VISIT_OVER, NULL);
        if (reread[_i].wanted)
                ck_assert_uint_eq(n_visits, 1);
        if (t->visit.job)
                visited(t, VERDICT_APPLIED);
        ck_assert_ptr_null(t->visit.job);
        ck_assert_int_eq(wanted(t), reread[_i].wanted);
        ck_assert_ptr_null(t->record->held);
        ck_assert_int_eq(hold(t, ANOTHER, READ_AHEAD, "1MiB", "128KiB"), 0);
        end(t);
}
END_TEST

/* It held what it had before, and nobody wants it otherwise after a visit that was under way: then one says so. */
START_TEST(test_same_in_mid_visit) {
        Target *t = watch(NOTHING, TRANSPORT_SATA);

        ck_assert_int_eq(hold(t, ME, READ_AHEAD, "128KiB", "128KiB"), 0);
        visitor.events->ready(t);
        target_let_go(t, ME);
        tell(t, VERDICT_UNCHANGED);
        visitor.events->ended(t, VISIT_OVER, NULL);
        visited(t, VERDICT_UNCHANGED);
        ck_assert_ptr_null(t->record->held);
        ck_assert_int_eq(wanted(t), 0);
        end(t);
}
END_TEST

/* A rule in error wants nothing. */
START_TEST(test_error_meanwhile) {
        const Wish *w;
        Target *t = watch(WANTED, TRANSPORT_SATA);

        visit_whole(t, VISIT_ATTACH);
        ck_assert_int_eq(hold(t, ME, READ_AHEAD, "1MiB", "512KiB"), 0);
        visited(t, VERDICT_APPLIED);
        files_in_error("{ match = \"/dev/sda\"; read_ahead_kb = \"x\"; }");
        target_reconfigure(t, VISIT_RELOAD);
        target_let_go(t, ME);
        ck_assert_int_eq(wanted(t), 512);
        visited(t, VERDICT_APPLIED);
        w = wishes_find(&t->wishes, READ_AHEAD);
        ck_assert(w && w->withheld);
        ck_assert_ptr_null(t->record->held);
        end(t);
}
END_TEST

/* A drive that refused it is asked again, but not for ever. */
START_TEST(test_again) {
        Target *t = watch(NOTHING, TRANSPORT_SATA);

        ck_assert_int_eq(hold(t, ME, READ_AHEAD, "1MiB", "128KiB"), 0);
        visited(t, VERDICT_APPLIED);
        target_let_go(t, ME);
        visited(t, VERDICT_REFUSED);
        for (unsigned i = 0; i < 3; i++) {
                ck_assert_ptr_null(t->visit.job);
                ck_assert(is_due(t));
                pass(t, 6);
                ck_assert_int_eq(t->visit.pending.reason, VISIT_RETRY);
                visited(t, VERDICT_REFUSED);
        }
        ck_assert(!is_due(t));
        ck_assert_int_eq(wanted(t), 128);
        visit_whole(t, VISIT_REQUEST);
        ck_assert_int_eq(wanted(t), 0);
        end(t);
}
END_TEST

/* A setting whose change resets others is held together with them, and is back with them. */
START_TEST(test_together) {
        Target *t = watch("{ match = \"/dev/sda\"; nr_requests = 32; }", TRANSPORT_SATA);
        const Wish *w;

        visit_whole(t, VISIT_ATTACH);
        ck_assert_int_eq(hold(t, ME, READ_AHEAD, "128KiB", "128KiB"), 0);
        ck_assert_int_eq(hold(t, ME, "nr_requests", "64", "64"), 0);
        ck_assert_int_eq(hold(t, ME, "scheduler", "none", "mq-deadline"), 0);
        ck_assert_str_eq(t->record->held, "read_ahead_kb=128 KiB;nr_requests=64;scheduler=mq-deadline");
        ck_assert_uint_eq(t->wishes.n_items, 3);
        visited(t, VERDICT_APPLIED);
        w = wishes_find(&t->wishes, "nr_requests");
        ck_assert(w && w->value.number == 64 && w->line == 0);

        target_let_go(t, ME);
        w = wishes_find(&t->wishes, "scheduler");
        ck_assert(w && streq(w->value.name, "mq-deadline"));
        w = wishes_find(&t->wishes, "nr_requests");
        ck_assert(w && w->value.number == 32 && w->line > 0);
        ck_assert_int_eq(wanted(t), 128);
        visited(t, VERDICT_APPLIED);
        ck_assert_uint_eq(t->wishes.n_items, 1);
        ck_assert_ptr_null(t->record->held);
        end(t);
}
END_TEST

/* The state file cannot be written: then nobody would know what to set back. */
START_TEST(test_unsaved) {
        Target *t = watch(NOTHING, TRANSPORT_SATA);

        state_error = -ENOSPC;
        ck_assert_int_lt(hold(t, ME, READ_AHEAD, "1MiB", "128KiB"), 0);
        ck_assert_int_eq(wanted(t), 0);
        ck_assert_ptr_null(t->record->held);
        state_error = 0;
        end(t);
}
END_TEST

/* ---- what an earlier run has left ---- */

#define RECORD(...) \
        "VERSION=1\nNAME=sda\nNODE=/dev/sda\nIDENTITY=path\nBOOT_ID=b\nSTATE=idle\n" __VA_ARGS__ "SETTINGS=0\n"

static const struct {
        const char *record;
        int64_t wanted;
} left[] = {
        { RECORD(), 0 },
        { RECORD("HELD=read_ahead_kb=128 KiB\n"), 128 },
        { RECORD("HELD=scheduler=none;nosuch=1;read_ahead_kb=128 KiB\n"), 128 },
        { RECORD("HELD=read_ahead_kb\n"), 0 },
        { RECORD("HELD=;=;128 KiB\n"), 0 },
        { RECORD("HELD=read_ahead_kb=lots\n"), 0 },
        { RECORD("HELD=nosuch=1\n"), 0 },
        { RECORD("HELD=queue_write_cache=write back\n"), 0 },
};

START_TEST(test_left) {
        Target *t;

        state_file = left[_i].record;
        env.boot_id = "b";
        t = watch(NOTHING, TRANSPORT_SATA);
        state_file = NULL;
        ck_assert_int_eq(wanted(t), left[_i].wanted);
        ck_assert((t->record->held != NULL) == (left[_i].wanted != 0));
        if (left[_i].wanted) {
                target_visit(t, VISIT_BOOT);
                visited(t, VERDICT_APPLIED);
                ck_assert_int_eq(wanted(t), 0);
                ck_assert_ptr_null(t->record->held);
        }
        end(t);
}
END_TEST

/* Meanwhile the files want it. */
START_TEST(test_left_and_wanted) {
        Target *t;

        state_file = left[1].record;
        env.boot_id = "b";
        t = watch(WANTED, TRANSPORT_SATA);
        state_file = NULL;
        ck_assert_int_eq(wanted(t), 512);
        visit_whole(t, VISIT_BOOT);
        ck_assert_ptr_null(t->record->held);
        end(t);
}
END_TEST

int main(void) {
        Suite *s = suite_create("target-held");
        TCase *c = tcase_create("target-held");

        tcase_add_loop_test(c, test_refused, 0, ELEMENTSOF(refused));
        tcase_add_loop_test(c, test_texts, 0, ELEMENTSOF(kept));
        tcase_add_test(c, test_held);
        tcase_add_test(c, test_wanted);
        tcase_add_loop_test(c, test_same, 0, 2);
        tcase_add_test(c, test_gone_in_mid_visit);
        tcase_add_loop_test(c, test_not_yet, 0, 5);
        tcase_add_test(c, test_again);
        tcase_add_test(c, test_together);
        tcase_add_test(c, test_taken);
        tcase_add_test(c, test_others);
        tcase_add_test(c, test_stacked);
        tcase_add_loop_test(c, test_reread, 0, ELEMENTSOF(reread));
        tcase_add_test(c, test_same_in_mid_visit);
        tcase_add_test(c, test_error_meanwhile);
        tcase_add_test(c, test_unsaved);
        tcase_add_loop_test(c, test_left, 0, ELEMENTSOF(left));
        tcase_add_test(c, test_left_and_wanted);
        suite_add_tcase(s, c);
        return suite_run(s);
}
