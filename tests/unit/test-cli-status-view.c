/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What `drivekeep status` and `drivekeep apply` show of records. */

#include "choice.h"
#include "record-sum.h"
#include "status-table.h"
#include "test-cli.h"

#define NOW UINT64_C(1763692751123456) /* 2025-11-21 02:39:11 UTC */

#define SDA                                                                                                 \
        "VERSION=1\nNAME=sda\nNODE=/dev/sda\nMODEL=ST\\x1b[2J\nSERIAL=5YD1\nWWN=0x5000c500\nIDENTITY=wwn\n" \
        "STATE=idle\nVISIT_REASON=boot\nSETTINGS=3\n"                                                       \
        "SETTING_0_NAME=apm\nSETTING_0_WANTED=128\nSETTING_0_BEFORE=254\nSETTING_0_ACTUAL=254\n"            \
        "SETTING_0_VERDICT=ignored\nSETTING_0_REASON=128 was accepted, but it still reads 254\n"            \
        "SETTING_0_RULE=/etc/drivekeep/drivekeep.conf:12\nSETTING_0_WHEN=1763692751123456\n"                \
        "SETTING_1_NAME=lookahead\nSETTING_1_WANTED=on\nSETTING_1_ACTUAL=on\nSETTING_1_VERDICT=unchanged\n" \
        "SETTING_1_RULE=/etc/drivekeep/drivekeep.conf:13\nSETTING_1_WHEN=1763433551000000\n"                \
        "SETTING_1_DRIFT_FROM=on\nSETTING_1_DRIFT_TO=off\nSETTING_1_DRIFT_WHEN=1763433551000000\n"          \
        "SETTING_2_NAME=spindown_time\nSETTING_2_WANTED=20 min\n"

#define SDB                                                   \
        "VERSION=1\nNAME=sdb\nNODE=/dev/sdb\nSTATE=waiting\n" \
        "WAITING_KIND=check\nWAITING_FOR=systemd-fsck@dev-disk-by\\x5cx2dlabel-data.service\nSETTINGS=0\n"

#define SDC "VERSION=1\nNAME=sdc\nNODE=/dev/sdc\nSETTINGS=0\n"

static Records records_example(void) {
        Records r = { .items = calloc(3, sizeof(DriveRecord *)), .n_items = 3, .served = true };

        r.items[0] = record_of(SDA);
        r.items[1] = record_of(SDB);
        r.items[2] = record_of(SDC);
        return r;
}

#define ALL 3

/* What status_print() prints. The caller frees it. */
static char *printed(const Records *r, size_t n, bool json) {
        FILE *f = catch_begin(stdout);
        char *text;

        ck_assert_int_eq(setenv("TZ", "UTC", 1), 0);
        ck_assert_int_ge(status_print(r, n, NOW, &(Options){ .json = json }), 0);
        text = catch_end(stdout, f);
        json_take_list(&text, "drives");
        return text;
}

/* Below the table, notes. */
START_TEST(test_table) {
        _cleanup_(records_done) Records r = records_example();
        _cleanup_free_ char *text = printed(&r, ALL, false);

        ck_assert_str_eq(
                        text,
                        "3 drives, 1 setting kept, 1 ignored, 1 pending; 1 waiting\n"
                        "DRIVE MODEL     SETTING       WANTED ACTUAL VERDICT   WHEN   RULE\n"
                        "sda   ST\\x1b[2J apm           128    254    ignored   02:39  drivekeep.conf:12\n"
                        "sda   ST\\x1b[2J lookahead     on     on     unchanged Nov 18 drivekeep.conf:13\n"
                        "sda   ST\\x1b[2J spindown_time 20 min -      -         -      -\n"
                        "sdb   -         -             -      -      waiting   -      -\n"
                        "sda apm: 128 was accepted, but it still reads 254\n"
                        "sda lookahead: something changed it from on to off, noticed at 2025-11-18T02:39:11Z; 'drivekeep check' names programs that do\n"
                        "sdb: waits for systemd-fsck@dev-disk-by\\x2dlabel-data.service\n");
}
END_TEST

START_TEST(test_json) {
        _cleanup_(records_done) Records r = records_example();
        _cleanup_free_ char *text = printed(&r, ALL, true);
        _cleanup_(json_putp) struct json_object *o = json_tokener_parse(text);

        ck_assert_str_eq(
                        json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
                        "[{\"name\":\"sda\",\"node\":\"/dev/sda\",\"model\":\"ST\\\\x1b[2J\",\"serial\":\"5YD1\","
                        "\"wwn\":\"0x5000c500\",\"dock_model\":null,\"dock_serial\":null,\"identity\":\"wwn\",\"state\":\"idle\",\"waiting_kind\":null,\"waiting_for\":null,\"visit_reason\":\"boot\","
                        "\"settings\":["
                        "{\"name\":\"apm\",\"wanted\":\"128\",\"before\":\"254\",\"actual\":\"254\","
                        "\"verdict\":\"ignored\","
                        "\"reason\":\"128 was accepted, but it still reads 254\","
                        "\"rule\":\"/etc/drivekeep/drivekeep.conf:12\",\"optional\":false,\"remediable\":false,\"when\":\"2025-11-21T02:39:11Z\",\"drift_from\":null,\"drift_to\":null,"
                        "\"drift_when\":null},"
                        "{\"name\":\"lookahead\",\"wanted\":\"on\",\"before\":null,\"actual\":\"on\","
                        "\"verdict\":\"unchanged\","
                        "\"reason\":null,\"rule\":\"/etc/drivekeep/drivekeep.conf:13\",\"optional\":false,\"remediable\":false,"
                        "\"when\":\"2025-11-18T02:39:11Z\",\"drift_from\":\"on\",\"drift_to\":\"off\","
                        "\"drift_when\":\"2025-11-18T02:39:11Z\"},"
                        "{\"name\":\"spindown_time\",\"wanted\":\"20 min\",\"before\":null,\"actual\":null,"
                        "\"verdict\":null,"
                        "\"reason\":null,\"rule\":null,\"optional\":false,\"remediable\":false,\"when\":null,\"drift_from\":null,\"drift_to\":null,\"drift_when\":null}]},"
                        "{\"name\":\"sdb\",\"node\":\"/dev/sdb\",\"model\":null,\"serial\":null,\"wwn\":null,\"dock_model\":null,\"dock_serial\":null,\"identity\":null,"
                        "\"state\":\"waiting\",\"waiting_kind\":\"check\",\"waiting_for\":\"systemd-fsck@dev-disk-by\\\\x2dlabel-data.service\","
                        "\"visit_reason\":null,\"settings\":[]},"
                        "{\"name\":\"sdc\",\"node\":\"/dev/sdc\",\"model\":null,\"serial\":null,\"wwn\":null,\"dock_model\":null,\"dock_serial\":null,\"identity\":null,"
                        "\"state\":\"idle\",\"waiting_kind\":null,\"waiting_for\":null,\"visit_reason\":null,\"settings\":[]}]");
}
END_TEST

START_TEST(test_chosen) {
        _cleanup_(records_done) Records r = records_example();
        _cleanup_free_ char *text = printed(&r, 1, true);
        _cleanup_(json_putp) struct json_object *o = json_tokener_parse(text);

        ck_assert_uint_eq(json_object_array_length(o), 1);
}
END_TEST

/* What is said of the drive itself: where it is known by little, or by two names; and what it waits for. */
static const struct {
        const char *record, *note;
} noted[] = {
        { "VERSION=1\nNAME=sda\nIDENTITY=wwn\nSTATE=idle\nSETTINGS=1\nSETTING_0_NAME=apm\n", NULL },
        { "VERSION=1\nNAME=sda\nIDENTITY=serial\nSETTINGS=1\nSETTING_0_NAME=apm\n",
          "sda: known by serial number and model, as it has no WWN\n" },
        { "VERSION=1\nNAME=sda\nIDENTITY=path\nSETTINGS=1\nSETTING_0_NAME=apm\n",
          "sda: known only by where it is attached, as it has no WWN and no serial number\n" },
        { "VERSION=1\nNAME=vda\nSERIAL=V1\nIDENTITY=path\nSETTINGS=1\nSETTING_0_NAME=apm\n",
          "vda: known only by where it is attached, as it has no WWN and no model with its serial number\n" },
        { "VERSION=1\nNAME=sda\nIDENTITY=path\nSETTINGS=0\n", NULL },
        { "VERSION=1\nNAME=sda\nIDENTITY=serial\nSETTINGS=0\n", NULL },
        { "VERSION=1\nNAME=sda\nMODEL=WD\nSERIAL=1\nDOCK_MODEL=Elements\nDOCK_SERIAL=2\nSETTINGS=0\n",
          "sda: WD (serial 1), behind the USB bridge Elements (serial 2)\n" },
        { "VERSION=1\nNAME=sda\nMODEL=WD\nDOCK_SERIAL=2\nSETTINGS=0\n",
          "sda: WD (serial n/a), behind the USB bridge n/a (serial 2)\n" },
        { "VERSION=1\nNAME=sda\nSTATE=queued\nSETTINGS=0\n", "sda: waits for its turn\n" },
        { "VERSION=1\nNAME=sda\nSTATE=visiting\nSETTINGS=0\n", "sda: is being visited now\n" },
};

START_TEST(test_noted) {
        DriveRecord *items[] = { record_of(noted[_i].record) };
        _cleanup_(drive_record_freep) DriveRecord *r = items[0];
        _cleanup_free_ char *text = printed(&(Records){ .items = items, .n_items = 1, .served = true }, 1, false);
        const char *table, *notes;

        /* The sum stands above all. */
        ck_assert(starts_with(text, "1 drive, 0 settings kept"));
        table = strchr(text, '\n') + 1;
        /* After the header and the row, if there is one to show. */
        notes = starts_with(table, "DRIVE") ? strchr(strchr(table, '\n') + 1, '\n') + 1 : table;
        ck_assert_str_eq(notes, noted[_i].note ?: "");
}
END_TEST

#define ONE(state, verdict) "VERSION=1\nNAME=sda\nSTATE=" state "\nSETTINGS=1\nSETTING_0_NAME=apm\n" verdict
#define VERDICT(v) "SETTING_0_VERDICT=" v "\n"
#define OPTIONAL "SETTING_0_OPTIONAL=1\n" /* a rule for a class of drives asks for it */
#define VISITED "VISIT_REASON=boot\n"

/* clang-format off */
static const struct {
        const char *record;
        ExitStatus status;
        size_t kept;
        const char *summary;
} cases[] = {
        { "VERSION=1\nNAME=sda\n",                             EXIT_WANTED,  0, "none"           },
        { ONE("idle", VERDICT("applied")),                     EXIT_WANTED,  1, "1 kept"         },
        { ONE("idle", VERDICT("unchanged")),                   EXIT_WANTED,  1, "1 kept"         },
        { ONE("idle", VERDICT("unverifiable")),                EXIT_WANTED,  1, "1 kept"         },
        { ONE("idle", VERDICT("adjusted")),                    EXIT_NOT_WANTED, 0, "1 adjusted"     },
        { ONE("idle", VERDICT("ignored")),                     EXIT_NOT_WANTED, 0, "1 ignored"      },
        { ONE("idle", VERDICT("unsupported")),                 EXIT_NOT_WANTED, 0, "1 unsupported"  },
        { ONE("idle", VERDICT("unsupported") OPTIONAL),        EXIT_WANTED,  0, "none"           },
        { ONE("idle", VERDICT("refused") OPTIONAL),            EXIT_NOT_WANTED, 0, "1 refused"      },
        { ONE("idle", VERDICT("deferred")),                    EXIT_LATER, 0, "1 deferred"     },
        { ONE("idle", VERDICT("vanished")),                    EXIT_NOT_WANTED, 0, "1 vanished"     },
        { ONE("idle", ""),                                     EXIT_LATER, 0, "1 pending"      },
        { ONE("waiting", VISITED VERDICT("applied")),          EXIT_LATER, 1, "1 kept"         },
        { ONE("queued", VISITED VERDICT("applied")),           EXIT_LATER, 1, "1 kept"         },
        { ONE("visiting", VISITED VERDICT("applied")),         EXIT_LATER, 1, "1 kept"         },
        { ONE("queued", VERDICT("applied")),                   EXIT_LATER, 1, "1 kept"         },
        { ONE("visiting", ""),                                 EXIT_LATER, 0, "1 pending"      },
        { ONE("waiting", VERDICT("refused")), EXIT_NOT_WANTED, 0, "1 refused" },
        { SDA,                                                 EXIT_NOT_WANTED, 1, "1 kept, 1 ignored, 1 pending" },
};
/* clang-format on */

START_TEST(test_wanted) {
        _cleanup_(drive_record_freep) DriveRecord *r = record_of(cases[_i].record);
        FILE *f = catch_begin(stdout);
        char summary[RECORD_SUM_MAX];
        RecordSum sum = {};

        ck_assert_int_eq(status_print(&(Records){ .items = &r, .n_items = 1 }, 1, NOW, &(Options){ .json = true }),
                         cases[_i].status);
        free(catch_end(stdout, f));
        record_sum_add(&sum, r);
        ck_assert_uint_eq(sum.n_kept, cases[_i].kept);
        ck_assert_str_eq(record_sum_format_settings(&sum, summary), cases[_i].summary);
}
END_TEST

#define VARIED                                                                                                      \
        "VERSION=1\nNAME=sda\nSTATE=idle\nSETTINGS=5\n"                                                             \
        "SETTING_0_NAME=apm\nSETTING_0_VERDICT=unsupported\nSETTING_0_OPTIONAL=1\nSETTING_0_REASON=it has no apm\n" \
        "SETTING_1_NAME=lookahead\nSETTING_1_VERDICT=applied\nSETTING_1_OPTIONAL=1\n"                               \
        "SETTING_2_NAME=spindown_time\nSETTING_2_VERDICT=unverifiable\nSETTING_2_REASON=" STEP_ACCEPTED "\n"        \
        "SETTING_2_ACCEPTED=1\nSETTING_3_ACCEPTED=1\n"                                                              \
        "SETTING_3_NAME=standby\nSETTING_3_VERDICT=unverifiable\nSETTING_3_REASON=" STEP_SENT_BEFORE "\n"           \
        "SETTING_4_NAME=cd_speed\nSETTING_4_VERDICT=unverifiable\nSETTING_4_REASON=sent; nobody knows\n"

#define QUIET \
        "VERSION=1\nNAME=sdb\nSETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_VERDICT=unsupported\nSETTING_0_OPTIONAL=1\n"

#define FAILING                                                                                \
        "VERSION=1\nNAME=sdc\nSETTINGS=2\nSETTING_0_NAME=apm\nSETTING_0_VERDICT=unsupported\n" \
        "SETTING_1_NAME=lookahead\nSETTING_1_VERDICT=applied\n"

#define REMEDIABLE "SETTING_1_REMEDIABLE=1\n"
#define TWO_LACK(name, remediable)                                                                                 \
        "VERSION=1\nNAME=" name "\nSETTINGS=2\n"                                                                   \
        "SETTING_0_NAME=apm\nSETTING_0_VERDICT=applied\n"                                                          \
        "SETTING_1_NAME=spindown_time\nSETTING_1_VERDICT=unsupported\nSETTING_1_OPTIONAL=1\nSETTING_1_RULE=/f:3\n" \
        "SETTING_1_REASON=it has standby_z\n" remediable
#define TWO_SHOWN                                               \
        "DRIVE MODEL SETTING WANTED ACTUAL VERDICT WHEN RULE\n" \
        "sda   -     apm     -      -      applied -    -\n"    \
        "sdb   -     apm     -      -      applied -    -\n"

#define HEAD "DRIVE MODEL SETTING       WANTED ACTUAL VERDICT      WHEN RULE\n"
#define UNREAD "unverifiable: the drive has accepted it, and nothing can read it back\n"
#define SHOWN                                                           \
        "sda   -     lookahead     -      -      applied      -    -\n" \
        "sda   -     spindown_time -      -      unverifiable -    -\n" \
        "sda   -     standby       -      -      unverifiable -    -\n" \
        "sda   -     cd_speed      -      -      unverifiable -    -\n"

/* What a drive does not have is shown on demand where the rule is for a class of drives; what cannot be read back is said once;
 * the first line has the sum of all. */
static const struct {
        Options options;
        bool ended;
        const char *records[4], *text;
} shown[] = {
        { .records = { VARIED },
          .text = "1 drive, 4 settings kept\n" HEAD SHOWN "sda cd_speed: sent; nobody knows\n" UNREAD
                  "1 setting that the drive does not have is shown with -v\n" },
        { { .verbose = true },
          .records = { VARIED },
          .text = "1 drive, 4 settings kept\n" HEAD
                  "sda   -     apm           -      -      unsupported  -    -\n" SHOWN
                  "sda apm: it has no apm\nsda cd_speed: sent; nobody knows\n" UNREAD },
        /* With a remedy: one line for each rule. */
        { .records = { TWO_LACK("sda", REMEDIABLE), TWO_LACK("sdb", REMEDIABLE) },
          .text = "2 drives, 2 settings kept\n" TWO_SHOWN
                  "/f:3: spindown_time is unsupported by sda and 1 more: it has standby_z\n"
                  "2 settings that the drives do not have are shown with -v\n" },
        { .records = { TWO_LACK("sda", ""), TWO_LACK("sdb", REMEDIABLE) },
          .text = "2 drives, 2 settings kept\n" TWO_SHOWN
                  "/f:3: spindown_time is unsupported by sdb: it has standby_z\n"
                  "2 settings that the drives do not have are shown with -v\n" },
        { .records = { QUIET, QUIET },
          .text = "2 drives, 0 settings kept\n2 settings that the drives do not have are shown with -v\n" },
        { { .verbose = true },
          .records = { "VERSION=1\nNAME=sdd\nSTATE=idle\nSETTINGS=0\n", QUIET },
          .text = "2 drives, 0 settings kept\n"
                  "DRIVE MODEL SETTING WANTED ACTUAL VERDICT     WHEN RULE\n"
                  "sdd   -     -       -      -      -           -    -\n"
                  "sdb   -     apm     -      -      unsupported -    -\n" },
        { { .failed = true },
          .records = { VARIED, QUIET, FAILING },
          .text = "3 drives, 5 settings kept, 1 unsupported\n"
                  "DRIVE MODEL SETTING WANTED ACTUAL VERDICT     WHEN RULE\n"
                  "sdc   -     apm     -      -      unsupported -    -\n"
                  "2 settings that the drives do not have are shown with -v\n" },
        { { .failed = true },
          .records = { QUIET },
          .text = "1 drive, 0 settings kept\n1 setting that the drive does not have is shown with -v\n" },
        { { .failed = true, .json = true }, .records = { QUIET }, .text = JSON_EMPTY("") "\n" },
        { .ended = true,
          .records = { "VERSION=1\nNAME=sda\nSETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_VERDICT=applied\n" },
          .text = "1 drive, 1 setting kept\n"
                  "DRIVE MODEL SETTING WANTED ACTUAL VERDICT WHEN RULE\n"
                  "sda   -     apm     -      -      applied -    -\n"
                  "as of 02:39, and the service has ended\n" },
};

START_TEST(test_shown) {
        Records r = { .items = calloc(ELEMENTSOF(shown->records), sizeof(DriveRecord *)),
                      .served = !shown[_i].ended,
                      .changed = NOW };
        _cleanup_free_ char *text = NULL;
        FILE *f = catch_begin(stdout);

        for (const char *const *record = shown[_i].records; *record; record++)
                r.items[r.n_items++] = record_of(*record);
        ck_assert_int_eq(setenv("TZ", "UTC", 1), 0);
        (void) status_print(&r, r.n_items, NOW, &shown[_i].options);
        text = catch_end(stdout, f);
        json_take_list(&text, "drives");
        ck_assert_str_eq(text, shown[_i].text);
        records_done(&r);
}
END_TEST

START_TEST(test_exit_status) {
        _cleanup_(records_done) Records r = records_example();
        FILE *f = catch_begin(stdout);
        size_t n;

        ck_assert_int_eq(status_print(&r, ALL, NOW, &(Options){}), EXIT_NOT_WANTED);
        ck_assert_int_eq(status_print(&r, ALL, NOW, &(Options){ .json = true }), EXIT_NOT_WANTED);
        ck_assert_int_eq(status_print(&r, 0, NOW, &(Options){}), EXIT_WANTED);
        ck_assert_int_eq(records_choose(&r, (char *[]){ (char *) "sdc", NULL }, &n), 0);
        ck_assert_int_eq(status_print(&r, n, NOW, &(Options){ .json = true }), EXIT_WANTED);
        r.n_damaged = 1;
        ck_assert_int_eq(status_print(&r, n, NOW, &(Options){}), EXIT_NOT_WANTED);
        free(catch_end(stdout, f));
}
END_TEST

START_TEST(test_choose) {
        _cleanup_(records_done) Records r = records_example();
        char *const names[] = { (char *) "5YD1", (char *) "sdc", NULL };
        size_t n;

        ck_assert_int_eq(records_choose(&r, names, &n), 0);
        ck_assert_uint_eq(n, 2);
        ck_assert_str_eq(r.items[0]->name, "sda");
        ck_assert_str_eq(r.items[1]->name, "sdc");
}
END_TEST

int main(void) {
        TCase *t = tcase_create("status-view");

        tcase_add_test(t, test_table);
        tcase_add_test(t, test_json);
        tcase_add_test(t, test_chosen);
        tcase_add_loop_test(t, test_wanted, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_noted, 0, ELEMENTSOF(noted));
        tcase_add_loop_test(t, test_shown, 0, ELEMENTSOF(shown));
        tcase_add_test(t, test_exit_status);
        tcase_add_test(t, test_choose);
        return test_main("cli-status-view", t);
}
