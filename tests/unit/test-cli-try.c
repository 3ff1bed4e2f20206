/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep try`: which files it writes, what it asks of the service, and what it says. The service is a stand-in that takes the
 * files at their word; so are udev and the drives. */

#include <sys/wait.h>

#include "bus-pair.h"
#include "inventory.h"
#include "kernel-view.h"
#include "machine.h"
#include "settings.h"
#include "root-files.h"
#include "test-cli.h"
#include "text-file.h"
#include "unit-status.h"
#include "verb.h"
#include "visit.h"

static const Setting rows[] = {
        { .name = "apm", .range = { .type = VALUE_INT, .min = 1, .max = 254, .has_off = true, .off = 255 } },
        { .name = "battery_apm",
          .alias_of = "apm",
          .flags = SETTING_ON_BATTERY,
          .range = { .type = VALUE_INT, .min = 1, .max = 254, .has_off = true, .off = 255 } },
        { .name = "lookahead", .range = { .type = VALUE_BOOL, .max = 1 } },
        { .name = "risky", .range = { .type = VALUE_BOOL, .max = 1 }, .danger = "it can cost data" },
        { .name = "scheduler", .range = { .type = VALUE_NAME } },
        { .name = "spindown_time",
          .flags = SETTING_UNREADABLE,
          .range = { .type = VALUE_STANDBY_TIMER, .max = 255, .has_off = true } },
        {},
};
const SettingTable all_settings = { .tables = { rows } };

static DriveLink links[] = { { (char *) "/dev/disk/by-id/virtio-a", LINK_OWN } };
static Drive drives[] = {
        { .name = (char *) "sda", .node = (char *) "/dev/sda", .model = (char *) "DISK*1", .serial = (char *) "5Y/D1" },
        { .name = (char *) "sdb", .node = (char *) "/dev/sdb", .wwn = (char *) "0x5000c5", .serial = (char *) "2" },
        { .name = (char *) "vda", .node = (char *) "/dev/vda", .links = links, .n_links = 1 },
};
static Drive *found[3];
static size_t n_found;

/* What the stand-ins do. */
static uid_t user;
static bool sleeps;
static const char *refusal; /* of the service's, of a reload */
static const char *verdict; /* of what is written */
static int lock;

uid_t geteuid(void) {
        return user;
}

int inventory_read(Inventory *ret) {
        *ret = (Inventory){ .drives = found, .n_drives = n_found };
        return 0;
}

void inventory_done(_unused_ Inventory *i) {
}

int power_on_battery(_unused_ const char *classdir) {
        return 0;
}

int activity_read(_unused_ const char *syspath, uint64_t *ret) {
        *ret = 1;
        return 0;
}

const DeviceIO device_io_real = {};

int systemd_find_fsck(_unused_ char **ret_unit) {
        return 0;
}

/* apm is 254, lookahead on, the scheduler none. */
int visit_run(const Visit *v, Plan *ret) {
        const Wishes *w = v->wishes;

        ck_assert(v->dry && !(v->work & WORK_WAKE));
        *ret = (Plan){ .steps = calloc(w->n_items + 1, sizeof(Step)), .n_steps = w->n_items };
        for (size_t i = 0; i < w->n_items; i++) {
                Step *s = ret->steps + i;

                s->wish = w->items + i;
                s->setting = setting_find(&all_settings, s->wish->name);
                s->before.value = streq(s->wish->name, "apm") ? (Value){ .type = VALUE_INT, .number = 254 }
                                  : streq(s->wish->name, "scheduler")
                                                  ? (Value){ .type = VALUE_NAME, .name = "none" }
                                                  : VALUE_BOOLEAN(streq(s->wish->name, "lookahead"));
                s->before.known = !sleeps && !(s->setting->flags & SETTING_UNREADABLE);
                if (sleeps)
                        (void) strcpy(s->reason, "the drive sleeps");
        }
        return 0;
}

/* ---- the service ---- */

static const char *const roots[] = { "etc", "run", "usr", NULL };

static void note(const char *what, const char *name) {
        FILE *f = fopen("calls", "ae");

        fprintf(f, "%s%s ", what, name ?: "");
        (void) fclose(f);
}

/* The drive's record, as it is after a visit. */
static void write_record(const char *name) {
        _cleanup_(config_freep) Config *c = NULL;
        char path[32];
        Wishes w;
        FILE *f;

        (void) config_new(&c);
        (void) config_load(c, &all_settings, roots);
        for (size_t i = 0; i < n_found; i++) {
                if (!streq(found[i]->name, name))
                        continue;
                (void) config_resolve(c, found[i], false, &w);
                (void) snprintf(path, sizeof path, "state/%s", name);
                f = fopen(path, "we");
                fprintf(f, "VERSION=1\nNAME=%s\nSETTINGS=%zu\n", name, w.n_items);
                for (size_t k = 0; k < w.n_items; k++) {
                        const Wish *x = w.items + k;
                        char buf[VALUE_TEXT_MAX];

                        fprintf(f,
                                "SETTING_%zu_NAME=%s\nSETTING_%zu_WANTED=%s\nSETTING_%zu_VERDICT=%s\nSETTING_%zu_RULE=%s:%u\n",
                                k, x->name, k,
                                value_format(&setting_find(&all_settings, x->name)->range, &x->value, buf), k, verdict,
                                k, x->file, x->line);
                }
                (void) fclose(f);
                wishes_done(&w);
        }
}

static int on_call(sd_bus_message *m, _unused_ void *userdata, sd_bus_error *error) {
        const char *member = sd_bus_message_get_member(m), *name;

        if (STR_IN_SET(member, "Reload", "ReloadAndVisit")) {
                note(member, NULL);
                return refusal ? sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, refusal)
                               : sd_bus_reply_method_return(m, "");
        }
        if (streq(member, "Apply")) {
                (void) sd_bus_message_enter_container(m, 'a', "s");
                (void) sd_bus_message_read_basic(m, 's', &name);
                note("Apply:", name);
                write_record(name);
                return sd_bus_reply_method_return(m, "as", 1, name);
        }
        return sd_bus_reply_method_return(m, "");
}

int systemd_open_socket(_unused_ const char *address, sd_bus **ret) {
        int fd;

        (void) bus_play(on_call, NULL, &fd);
        *ret = bus_end(NULL, fd, false);
        return 0;
}

/* ---- the command ---- */

static char *out, *err;

static void setup(void) {
        static const char *const directories[] = { "etc", "etc/drivekeep", "run", "run/drivekeep", "state" };

        scratch_make();
        for (size_t i = 0; i < ELEMENTSOF(directories); i++)
                ck_assert_int_eq(mkdir(directories[i], 0755), 0);
        for (n_found = 0; n_found < ELEMENTSOF(drives); n_found++)
                found[n_found] = drives + n_found;
        file_write("state/sda", "VERSION=1\nNAME=sda\n");
        verdict = "applied";
        lock = record_directory_lock("state");
}

static void teardown(void) {
        free(out);
        free(err);
        out = err = NULL;
        closep(&lock);
        scratch_remove();
}

static void run(ExitStatus expected, const char *words, const Options *options) {
        char copy[128], *names[8], *rest = NULL;
        FILE *f_out = catch_begin(stdout), *f_err = catch_begin(stderr);
        Options o = *options;
        size_t n = 0;
        int status;

        (void) strcpy(copy, words);
        for (char *w = strtok_r(copy, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
                names[n++] = w;
        names[n] = NULL;
        o.names = n > 0 ? names : NULL;
        o.state_dir = "state";
        memcpy(o.roots, roots, sizeof roots);
        (void) unlink("calls");
        status = verb_try.run(&o);
        free(out);
        free(err);
        out = catch_end(stdout, f_out);
        err = catch_end(stderr, f_err);
        ck_assert_msg(status == (int) expected, "%d\n%s%s", status, out, err);
        while (waitpid(-1, NULL, 0) > 0)
                ;
}

#define TRY(status, words) run(status, words, &(Options){})
#define KEEP(status, words) run(status, words, &(Options){ .keep = true })
#define UNDO(status, words) run(status, words, &(Options){ .undo = true })

#define RULE "run/drivekeep/drivekeep.conf.d/zz-try-5Y_D1.conf"
#define BEFORE "run/drivekeep/drivekeep.conf.d/zz-try-5Y_D1.before"
#define KEPT "etc/drivekeep/drivekeep.conf.d/90-5Y_D1.conf"
#define MATCH "    { match = { model = \"DISK?1\"; serial = \"5Y/D1\"; };\n"

/* Of a file: what stands behind its first line. Empty: there is none. */
static void assert_file(const char *path, const char *text) {
        char read[1024];
        const char *blocks;

        file_read(path, read, sizeof read);
        blocks = strstr(read, "drives = (\n");
        ck_assert_msg(streq(blocks ? blocks + strlen("drives = (\n") : "", text), "%s: %s", path, read);
}

static void assert_calls(const char *calls) {
        char read[256];

        file_read("calls", read, sizeof read);
        ck_assert_str_eq(read, calls);
}

START_TEST(test_try) {
        TRY(EXIT_WANTED, "sda apm=128");
        assert_file(RULE, MATCH "      apm = 128;\n    },\n);\n");
        assert_file(BEFORE, MATCH "      apm = 254;\n    },\n);\n");
        assert_calls("Reload Apply:sda ");
        ck_assert_str_eq(err, "");
        ck_assert_str_eq(out, "1 drive, 1 setting kept\n"
                              "DRIVE MODEL SETTING WANTED ACTUAL VERDICT WHEN RULE\n"
                              "sda   -     apm     128    -      applied -    zz-try-5Y_D1.conf:5\n"
                              "\nThis ends with the next boot, or with 'drivekeep try --undo sda'.\n"
                              "To keep it: 'drivekeep try --keep sda', or this in the configuration:\n\n" MATCH
                              "      apm = 128;\n    },\n");

        TRY(EXIT_WANTED, "");
        ck_assert_str_eq(out, "DRIVE SETTING TRIED BEFORE RULE\n"
                              "sda   apm     128   254    zz-try-5Y_D1.conf:5\n");
}
END_TEST

/* A second try keeps the first, and what was before the first is what was before. */
START_TEST(test_more) {
        TRY(EXIT_WANTED, "sda apm=128 lookahead=off");
        TRY(EXIT_WANTED, "sda apm=off scheduler=bfq");
        assert_file(RULE, MATCH "      lookahead = false;\n"
                                "      apm = \"off\";\n      scheduler = \"bfq\";\n    },\n);\n");
        assert_file(BEFORE, MATCH "      apm = 254;\n      lookahead = true;\n"
                                  "      scheduler = \"none\";\n    },\n);\n");
}
END_TEST

START_TEST(test_undo) {
        TRY(EXIT_WANTED, "sda apm=128");
        TRY(EXIT_WANTED, "sdb apm=1");
        UNDO(EXIT_WANTED, "sda");
        ck_assert_str_eq(out, "sda: apm is 254 again\n");
        assert_calls("Reload Apply:sda ReloadAndVisit ");
        assert_file(RULE, "");
        assert_file(BEFORE, "");
        UNDO(EXIT_BAD_INPUT, "sda");
        ck_assert_ptr_nonnull(strstr(err, "nothing is being tried on sda"));
        UNDO(EXIT_WANTED, "");
        ck_assert_str_eq(out, "sdb: apm is 254 again\n");
        UNDO(EXIT_WANTED, "");
        ck_assert_ptr_nonnull(strstr(err, "nothing is being tried\n"));
}
END_TEST

/* What nothing can read is not put back. It is said at once, and again at the end, with what to do. */
START_TEST(test_unreadable) {
        TRY(EXIT_WANTED, "sda spindown_time=20min");
        ck_assert_ptr_nonnull(strstr(err,
                                     "sda: what spindown_time is now is not known (nothing can read it), so 'drivekeep "
                                     "try --undo' cannot put it back"));
        assert_file(RULE, MATCH "      spindown_time = \"20 min\";\n    },\n);\n");
        UNDO(EXIT_NOT_WANTED, "");
        ck_assert_ptr_nonnull(strstr(
                        err, "what spindown_time was before is not known, so it stays 20 min until the drive loses "
                             "it; 'drivekeep try sda spindown_time=VALUE' sets another value"));
        assert_calls("ReloadAndVisit ");
        assert_file(RULE, "");

        /* A permanent rule does it. */
        file_write("etc/drivekeep/drivekeep.conf", "drives = ( { match = {}; spindown_time = \"30min\"; } );\n");
        TRY(EXIT_WANTED, "sda spindown_time=20min");
        UNDO(EXIT_WANTED, "");
        ck_assert_str_eq(out, "sda: etc/drivekeep/drivekeep.conf:1 sets spindown_time again\n");
}
END_TEST

START_TEST(test_asleep) {
        sleeps = true;
        TRY(EXIT_WANTED, "sda apm=128");
        ck_assert_ptr_nonnull(strstr(err, "what apm is now is not known (the drive sleeps)"));
        assert_file(BEFORE, "");
}
END_TEST

/* The rule that puts a value back stays until that has come to an end. */
START_TEST(test_undo_deferred) {
        TRY(EXIT_WANTED, "sda apm=128");
        verdict = "deferred";
        UNDO(EXIT_LATER, "sda");
        ck_assert_ptr_nonnull(strstr(err, "sda: apm is not yet 254 again"));
        ck_assert_ptr_nonnull(strstr(err, "the rule that puts it back stays until the next boot"));
        assert_file(RULE, MATCH "      apm = 254;\n    },\n);\n");
        verdict = "applied";
        UNDO(EXIT_WANTED, "sda");
        ck_assert_str_eq(out, "sda: apm is 254, as before\n");
        assert_file(RULE, "");

        TRY(EXIT_WANTED, "sda apm=128");
        verdict = "refused";
        UNDO(EXIT_NOT_WANTED, "sda");
        ck_assert_ptr_nonnull(strstr(err, "sda: apm is not 254 again"));
        assert_file(RULE, "");
}
END_TEST

START_TEST(test_drive_gone) {
        TRY(EXIT_WANTED, "sda apm=128");
        found[0] = drives + 1;
        TRY(EXIT_WANTED, "");
        ck_assert_ptr_nonnull(strstr(out, "-     apm     128   254    zz-try-5Y_D1.conf:5\n"));
        UNDO(EXIT_WANTED, "");
        ck_assert_str_eq(out, "zz-try-5Y_D1.conf: the drive is not here; the rule is taken away\n");
        assert_file(RULE, "");
}
END_TEST

START_TEST(test_keep) {
        TRY(EXIT_WANTED, "sda apm=128");
        KEEP(EXIT_WANTED, "sda");
        assert_file(KEPT, MATCH "      apm = 128;\n    },\n);\n");
        assert_file(RULE, "");
        assert_file(BEFORE, "");
        ck_assert_str_eq(err, "");
        assert_calls("Reload Apply:sda ");
        ck_assert_ptr_nonnull(strstr(out, "\nKept in " KEPT ":\n\n" MATCH "      apm = 128;\n    },\n"));

        /* More is added, and one that is tried again wins. */
        KEEP(EXIT_WANTED, "sda lookahead=on");
        TRY(EXIT_WANTED, "sda apm=1");
        ck_assert_ptr_nonnull(strstr(out, "sda   -     apm       1"));
        KEEP(EXIT_WANTED, "sda apm=2");
        assert_file(KEPT, MATCH "      lookahead = true;\n      apm = 2;\n    },\n);\n");

        KEEP(EXIT_BAD_INPUT, "sdb");
        ck_assert_ptr_nonnull(strstr(err, "nothing is being tried on sdb, so there is nothing to keep"));
}
END_TEST

/* What was not written is neither tried any more, nor to be kept or undone. */
static const struct {
        const char *verdict;
        ExitStatus status;
        bool tried;
} vain[] = {
        { "refused", EXIT_NOT_WANTED, false },     { "forbidden", EXIT_NOT_WANTED, false },
        { "unsupported", EXIT_NOT_WANTED, false }, { "quarantined", EXIT_NOT_WANTED, false },
        { "ignored", EXIT_NOT_WANTED, false },     { "adjusted", EXIT_NOT_WANTED, true },
        { "failed", EXIT_NOT_WANTED, true },       { "deferred", EXIT_LATER, true },
};

START_TEST(test_in_vain) {
        bool tried = vain[_i].tried;

        verdict = vain[_i].verdict;
        TRY(vain[_i].status, "sda apm=128");
        ck_assert_int_eq(strstr(out, "--keep") != NULL, tried);
        ck_assert_int_eq(strstr(out, "\napm: not written, so this value is not tried any more\n") != NULL, !tried);
        assert_file(RULE, tried ? MATCH "      apm = 128;\n    },\n);\n" : "");
        assert_file(BEFORE, tried ? MATCH "      apm = 254;\n    },\n);\n" : "");
        if (tried)
                return;
        assert_calls("Reload Apply:sda ReloadAndVisit ");
        UNDO(EXIT_BAD_INPUT, "sda");
        ck_assert_str_eq(out, "");

        /* What was tried before goes on. */
        verdict = "applied";
        TRY(EXIT_WANTED, "sda apm=100 lookahead=off");
        verdict = vain[_i].verdict;
        TRY(vain[_i].status, "sda apm=128 scheduler=bfq");
        assert_file(RULE, MATCH "      apm = 100;\n      lookahead = false;\n    },\n);\n");
        assert_file(BEFORE, MATCH "      apm = 254;\n      lookahead = true;\n    },\n);\n");
        KEEP(vain[_i].status, "sda scheduler=bfq");
        ck_assert_ptr_null(strstr(out, "bfq;"));
        assert_file(KEPT, MATCH "      apm = 100;\n      lookahead = false;\n    },\n);\n");
        assert_file(RULE, "");
}
END_TEST

/* Of what waited for the drive until it was taken back nothing stays. */
START_TEST(test_never_written) {
        sleeps = true;
        verdict = "deferred";
        TRY(EXIT_LATER, "sda apm=128 spindown_time=20min");
        UNDO(EXIT_WANTED, "sda");
        ck_assert_str_eq(out, "sda: apm was not changed\nsda: spindown_time was not changed\n");
        ck_assert_str_eq(err, "");
        assert_calls("ReloadAndVisit ");
        assert_file(RULE, "");

        /* It had reached the drive before that fell asleep. */
        sleeps = false;
        verdict = "unverifiable";
        TRY(EXIT_WANTED, "sda spindown_time=20min");
        file_write("state/sda", "VERSION=1\nNAME=sda\nSETTINGS=1\nSETTING_0_NAME=spindown_time\n"
                                "SETTING_0_VERDICT=deferred\nSETTING_0_SENT_NUMBER=240\n");
        UNDO(EXIT_NOT_WANTED, "sda");
        ck_assert_ptr_nonnull(strstr(err, "it stays 20 min"));
}
END_TEST

/* The value that the drive had already. */
START_TEST(test_same) {
        TRY(EXIT_WANTED, "sda apm=254");
        UNDO(EXIT_WANTED, "sda");
        ck_assert_str_eq(out, "sda: apm is 254, as before\n");
}
END_TEST

/* What was said of a value is said once, and nothing of how the file is written. */
START_TEST(test_warned_once) {
        TRY(EXIT_WANTED, "sda risky=on");
        ck_assert_ptr_nonnull(strstr(err, "allow_dangerous = true"));
        TRY(EXIT_WANTED, "sda apm=128");
        ck_assert_str_eq(err, "");
        TRY(EXIT_WANTED, "sda risky=on");
        ck_assert_ptr_nonnull(strstr(err, "allow_dangerous = true"));
        KEEP(EXIT_WANTED, "sda");
        ck_assert_str_eq(err, "");
}
END_TEST

/* What somebody has written is theirs. */
START_TEST(test_keep_foreign) {
        ck_assert_int_eq(mkdir("etc/drivekeep/drivekeep.conf.d", 0755), 0);
        file_write(KEPT, "// mine\ndrives = (\n);\n");
        KEEP(EXIT_BAD_INPUT, "sda apm=128");
        ck_assert_ptr_nonnull(strstr(err, KEPT " is not of 'drivekeep try --keep' alone"));
        assert_file(KEPT, ");\n");
}
END_TEST

/* The most reliable identity, also in the files' names. */
START_TEST(test_match) {
        TRY(EXIT_WANTED, "sdb apm=128");
        assert_file("run/drivekeep/drivekeep.conf.d/zz-try-0x5000c5.conf",
                    "    { match = { wwn = \"0x5000c5\"; };\n      apm = 128;\n    },\n);\n");
        /* A name that the kernel makes where there is no number: that of another drive of the model begins alike. */
        drives[1].wwn = (char *) "t10.ATA     DRIVEKEEP TEST                          SN 1                ";
        drives[1].serial = (char *) "SN 1";
        TRY(EXIT_WANTED, "sdb apm=128");
        ck_assert_ptr_nonnull(strstr(out, " zz-try-SN_1.conf:5\n"));
        drives[1].model = (char *) "DRIVEKEEP TEST";
        TRY(EXIT_WANTED, "sdb apm=127");
        assert_file("run/drivekeep/drivekeep.conf.d/zz-try-SN_1.conf",
                    "    { match = { model = \"DRIVEKEEP TEST\"; serial = \"SN 1\"; };\n      apm = 127;\n    },\n);\n");
        drives[1].model = NULL;
        drives[1].serial = NULL;
        TRY(EXIT_WANTED, "sdb apm=128");
        ck_assert_ptr_nonnull(strstr(out, " zz-try-sdb.conf:5\n"));
        TRY(EXIT_WANTED, "vda apm=128");
        assert_file("run/drivekeep/drivekeep.conf.d/zz-try-vda.conf",
                    "    { match = \"/dev/disk/by-id/virtio-a\";\n      apm = 128;\n    },\n);\n");
}
END_TEST

/* The word that danger is meant is given as in a file; without it the check warns, and the service does not write it. */
START_TEST(test_danger) {
        TRY(EXIT_WANTED, "sda risky=on");
        ck_assert_ptr_nonnull(strstr(err, "allow_dangerous = true"));
        TRY(EXIT_WANTED, "sda risky=on allow_dangerous=true wake=true");
        ck_assert_ptr_null(strstr(err, "allow_dangerous"));
        assert_file(RULE, MATCH "      allow_dangerous = true;\n      wake = true;\n      risky = true;\n    },\n);\n");
        /* It is not the word for another value. */
        TRY(EXIT_WANTED, "sda risky=on");
        assert_file(RULE, MATCH "      risky = true;\n    },\n);\n");
}
END_TEST

/* clang-format off */
static const struct {
        const char *words, *says;
} wrong[] = {
        { "sda amp=128",               "there is no setting 'amp'; did you mean 'apm'?" },
        { "sda apm=500",               "500 is out of range for apm" },
        { "sda spindown_time=never",   "\"never\" is no value for spindown_time" },
        { "sda apm",                   "'apm' is no setting with its value" },
        { "sda =128",                  "'=128' is no setting with its value" },
        { "sda apm=",                  "'apm=' is no setting with its value" },
        { "sda apm=1 apm=2",           "apm" },
        { "sda apm=keep",              "'apm=keep' cannot be tried" },
        { "sda battery_apm=1",         "'battery_apm=1' cannot be tried" },
        { "sda match=1",               "there is no setting 'match'" },
        { "sda allow_dangerous=maybe", "write allow_dangerous=true, or leave it out" },
        { "sdq apm=128",               "'sdq' is no drive" },
        { "sda",                       "say which drive and what to try" },
};
/* clang-format on */

START_TEST(test_wrong) {
        TRY(EXIT_BAD_INPUT, wrong[_i].words);
        ck_assert_msg(strstr(err, wrong[_i].says), "%s", err);
        ck_assert_str_eq(out, "");
        assert_calls("");
        assert_file(RULE, "");
}
END_TEST

/* The service would refuse the files: whose error it is, is said. */
START_TEST(test_other_error) {
        file_write("etc/drivekeep/drivekeep.conf", "drives = ( { match = {}; apm = = 1; } );\n");
        TRY(EXIT_BAD_INPUT, "sda apm=128");
        ck_assert_ptr_nonnull(strstr(err, "etc/drivekeep/drivekeep.conf:1:"));
        assert_calls("");
        assert_file(RULE, "");
}
END_TEST

START_TEST(test_overruled) {
        ck_assert_int_eq(mkdir("etc/drivekeep/drivekeep.conf.d", 0755), 0);
        file_write("etc/drivekeep/drivekeep.conf.d/zzz.conf", "drives = ( { match = {}; apm = 1; } );\n");
        TRY(EXIT_BAD_INPUT, "sda apm=128");
        ck_assert_ptr_nonnull(strstr(
                        err, "apm of sda is set by etc/drivekeep/drivekeep.conf.d/zzz.conf:1, which is read later"));
        assert_file(RULE, "");
}
END_TEST

/* What could not be made to count is not left lying about. */
START_TEST(test_refused_reload) {
        TRY(EXIT_WANTED, "sda apm=128");
        refusal = "no";
        TRY(EXIT_BAD_INPUT, "sda apm=1");
        ck_assert_ptr_nonnull(strstr(err, "cannot do that: no"));
        assert_file(RULE, MATCH "      apm = 128;\n    },\n);\n");
        assert_file(BEFORE, MATCH "      apm = 254;\n    },\n);\n");
        TRY(EXIT_BAD_INPUT, "sdb apm=1");
        assert_file("run/drivekeep/drivekeep.conf.d/zz-try-0x5000c5.conf", "");
        KEEP(EXIT_BAD_INPUT, "sda");
        assert_file(KEPT, "");
        assert_file(RULE, MATCH "      apm = 128;\n    },\n);\n");
}
END_TEST

/* Nobody else can put a rule there, nor have root write elsewhere. */
START_TEST(test_unsafe_directory) {
        if (_i == 0)
                ck_assert_int_eq(chmod("run/drivekeep", 0777), 0);
        else
                ck_assert_int_eq(system("mkdir theirs && chmod 777 theirs && mv run/drivekeep roots && "
                                        "ln -s ../roots theirs/link && ln -s ../theirs/link run/drivekeep"),
                                 0);
        TRY(EXIT_BAD_INPUT, "sda apm=128");
        ck_assert_ptr_nonnull(strstr(err, "its directory can be written by others"));
        assert_file(RULE, "");
}
END_TEST

START_TEST(test_no_service) {
        TRY(EXIT_WANTED, "sda apm=128");
        closep(&lock);
        lock = -EBADF;
        TRY(EXIT_NO_SERVICE, "sda apm=1");
        UNDO(EXIT_NO_SERVICE, "sda");
        assert_calls("");
        assert_file(RULE, MATCH "      apm = 128;\n    },\n);\n");
}
END_TEST

START_TEST(test_not_root) {
        user = 1000;
        TRY(EXIT_BAD_INPUT, "sda apm=128");
        ck_assert_ptr_nonnull(strstr(err, "only root may try settings"));
        UNDO(EXIT_BAD_INPUT, "");
        TRY(EXIT_WANTED, "");
        ck_assert_ptr_nonnull(strstr(err, "nothing is being tried\n"));
}
END_TEST

/* clang-format off */
static const struct {
        const char *words;
        bool keep, undo;
} misused[] = {
        { "sda apm=1", false, true },
        { "sda", true, true },
        { "", true, false },
};
/* clang-format on */

START_TEST(test_misused) {
        run(EXIT_BAD_INPUT, misused[_i].words, &(Options){ .keep = misused[_i].keep, .undo = misused[_i].undo });
        ck_assert_ptr_nonnull(strstr(err, "say which drive and what to try"));
}
END_TEST

int main(void) {
        TCase *t = tcase_create("try");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_test(t, test_try);
        tcase_add_test(t, test_more);
        tcase_add_test(t, test_undo);
        tcase_add_test(t, test_unreadable);
        tcase_add_test(t, test_asleep);
        tcase_add_test(t, test_undo_deferred);
        tcase_add_test(t, test_drive_gone);
        tcase_add_test(t, test_keep);
        tcase_add_test(t, test_keep_foreign);
        tcase_add_loop_test(t, test_in_vain, 0, ELEMENTSOF(vain));
        tcase_add_test(t, test_never_written);
        tcase_add_test(t, test_same);
        tcase_add_test(t, test_warned_once);
        tcase_add_test(t, test_match);
        tcase_add_test(t, test_danger);
        tcase_add_loop_test(t, test_wrong, 0, ELEMENTSOF(wrong));
        tcase_add_test(t, test_other_error);
        tcase_add_test(t, test_overruled);
        tcase_add_test(t, test_refused_reload);
        tcase_add_loop_test(t, test_unsafe_directory, 0, 2);
        tcase_add_test(t, test_no_service);
        tcase_add_test(t, test_not_root);
        tcase_add_loop_test(t, test_misused, 0, ELEMENTSOF(misused));
        return test_main("cli-try", t);
}
