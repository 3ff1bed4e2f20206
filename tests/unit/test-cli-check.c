/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests `drivekeep check` and `drivekeep explain` with the real tables of settings and made-up drives. */

#include <pwd.h>
#include <sys/stat.h>

#include "inventory.h"
#include "machine.h"
#include "output.h"
#include "conflicts.h"
#include "test-cli.h"
#include "fake-outlets.h"
#include "tracefs.h"
#include "verb.h"

static Drive disk = { .name = (char *) "sda",
                      .node = (char *) "/dev/dsk",
                      .model = (char *) "ST2000DL003-9VT166",
                      .serial = (char *) "5YD1",
                      .transport = TRANSPORT_SATA,
                      .rotational = true,
                      .ata = true };
static Drive *drives[] = { &disk };
static size_t n_found;
static bool battery;

int inventory_read(Inventory *ret) {
        *ret = (Inventory){ .drives = drives, .n_drives = n_found };
        return 0;
}

int inventory_readiness(_unused_ const char *name, _unused_ Readiness *ret) {
        return -ENODEV;
}

void inventory_done(Inventory *i) {
        *i = (Inventory){};
}

/* Finds no conflicts, whatever programs are installed on this machine. */
void conflicts_check(_unused_ const char *root, _unused_ Config *c, _unused_ const SettingTable *t,
                     _unused_ Drive *const *found, _unused_ size_t n) {
}

/* Result of tracefs_obstacle(): the reason why wakers cannot be traced; NULL: wakers can be traced. */
static const char *obstacle;
const char *tracefs_obstacle(const char *root) {
        ck_assert_str_eq(root, "");
        return obstacle;
}

static bool user_exists;

struct passwd *getpwnam(const char *name) {
        static struct passwd user = { .pw_name = (char *) "drivekeep", .pw_uid = 65534, .pw_gid = 65534 };

        return user_exists && streq(name, user.pw_name) ? &user : NULL;
}

int power_on_battery(_unused_ const char *classdir) {
        return battery;
}

static char *command(const Verb *verb, char *const *arguments, char **ret_said, int *ret_status) {
        char *argv[8] = { (char *) "drivekeep x" };
        int argc = 1;
        FILE *out, *messages;

        for (; *arguments; arguments++)
                argv[argc++] = *arguments;
        out = catch_begin(stdout);
        messages = catch_begin(stderr);
        *ret_status = verb_run(verb, argc, argv);
        *ret_said = catch_end(stderr, messages);
        return catch_end(stdout, out);
}
#define ARGS(...) ((char *[]){ __VA_ARGS__, NULL })

/* A rule matches a drive behind a USB bridge by the identity that the service wrote to the state file. */
START_TEST(test_bridge) {
        static Drive docked = { .name = (char *) "sda", .node = (char *) "/dev/sda", .transport = TRANSPORT_USB };
        char *const state = (char *) "--state-dir=state";
        _cleanup_free_ char *out = NULL, *messages = NULL, *explained = NULL, *none = NULL;
        int status;

        drives[0] = &docked;
        n_found = 1;
        docked.serial = strdup("D1");
        file_make("state/sda", "VERSION=1\nNAME=sda\nSERIAL=B1\nDOCK_SERIAL=D1\nBRIDGE_ASKED=1\nBRIDGE_IDENTIFIED=1\n");
        file_make("drivekeep/drivekeep.conf", "drives = ( { match = { serial = \"B1\" }; read_ahead_kb = 512 } );\n");
        out = command(&verb_check, ARGS((char *) "--config-root=.", state), &messages, &status);
        ck_assert_str_eq(out, "");
        explained = command(&verb_explain, ARGS((char *) "--config-root=.", state, (char *) "B1"), &none, &status);
        ck_assert_ptr_nonnull(strstr(explained, "applies: serial is \"B1\""));
        ck_assert_int_eq(status, EXIT_WANTED);
}
END_TEST

/* clang-format off */
static const struct {
        const char *text;
        const char *option;
        int status;
        const char *out, *messages;
        bool raid; /* the attached drive is a member of an array */
} checks[] = {
        /* A setting that the matched transport does not support causes a warning. There is no warning if a rule for the
         * same drives sets the replacement, such as standby_z, or if the service spins the drives down. */
#define SAS_BLOCK(what) "drives = ({ match = { transport = \"sas\" }; " what " });"
#define NO_SAS "f.conf:1:11: notice: this rule matches no attached drive\n"
#define NO_TIMER "f.conf:1:44: warning: spindown_time is unsupported by drives of this transport: SCSI drives have standby_z instead " \
                 "of this timer; spindown_by = \"service\" makes the service spin the drive down\n"
        { SAS_BLOCK("spindown_time = \"20min\""), "--strict", EXIT_NOT_WANTED, NO_SAS NO_TIMER, "1 file, 1 rule: 0 errors, 1 warning.\n" },
        { SAS_BLOCK("spindown_time = \"20min\"; spindown_by = \"service\""), NULL, EXIT_WANTED, NO_SAS, "1 file, 1 rule: 0 errors, 0 warnings.\n" },
        { SAS_BLOCK("spindown_time = \"20min\"; spindown_by = \"auto\""), NULL, EXIT_WANTED, NO_SAS, "1 file, 1 rule: 0 errors, 0 warnings.\n" },
        { SAS_BLOCK("spindown_time = \"off\""), NULL, EXIT_WANTED, NO_SAS, "1 file, 1 rule: 0 errors, 0 warnings.\n" },
        { SAS_BLOCK("standby_z = \"20min\""), NULL, EXIT_WANTED, NO_SAS, "1 file, 1 rule: 0 errors, 0 warnings.\n" },
        { "drives = ({ match = {}; standby_z = \"1h\" }, { match = { transport = \"sas\" }; spindown_time = \"20min\" });", NULL,
          EXIT_WANTED, "f.conf:1:45: notice: this rule matches no attached drive\n", "1 file, 2 rules: 0 errors, 0 warnings.\n" },
        { "drives = ({ match = { transport = [\"sas\", \"sata\"] }; spindown_time = \"20min\" });", NULL, EXIT_WANTED, "",
          "1 file, 1 rule: 0 errors, 0 warnings.\n" },
        { "drives = ({ match = { transport = \"nvme\" }; timeout = \"60s\" });", NULL, EXIT_WANTED,
          "f.conf:1:11: notice: this rule matches no attached drive\n"
          "f.conf:1:45: warning: timeout is unsupported by drives of this transport: NVMe drives have io_timeout instead\n", "1 file, 1 rule: 0 errors, 1 warning.\n" },
        /* Harmful values cause a warning; similar, harmless values do not. */
#define TWENTY "f.conf:1:33: warning: timeout can do harm here: a drive takes longer than this to spin up, and the kernel " \
               "then resets it repeatedly; the kernel's default is 30s\n"
#define ONE_WARNING "1 file, 1 rule: 0 errors, 1 warning.\n"
#define NOTHING "1 file, 1 rule: 0 errors, 0 warnings.\n"
#define ENDLESS "without a limit the drive retries longer than the kernel waits, and the array drops the drive for one bad sector; " \
                "use 7s, or make the kernel wait (error_recovery_fallback_timeout = \"180s\")\n"
        { "drives = ({ match = \"/dev/dsk\"; timeout = \"5s\" });", "--strict", EXIT_NOT_WANTED, TWENTY, ONE_WARNING },
        { "drives = ({ match = \"/dev/dsk\"; timeout = \"19s\" });", NULL, EXIT_WANTED, TWENTY, ONE_WARNING },
        { "drives = ({ match = \"/dev/dsk\"; timeout = \"20s\" });", NULL, EXIT_WANTED, "", NOTHING },
        { "drives = ({ match = { model = \"*\"; rotational = false; }; timeout = \"5s\" }, { match = \"/dev/dsk\"; timeout = \"keep\" });", NULL,
          EXIT_WANTED, "f.conf:1:11: notice: this rule matches no attached drive\n", "1 file, 2 rules: 0 errors, 0 warnings.\n" },
        { "drives = ({ match = { transport = \"nvme\"; }; io_timeout = \"5s\" });", NULL, EXIT_WANTED,
          "f.conf:1:11: notice: this rule matches no attached drive\n", NOTHING },
        { "drives = ({ match = \"/dev/dsk\"; io_timeout = \"5s\" });", NULL, EXIT_WANTED,
          "f.conf:1:33: warning: io_timeout can do harm here: a drive takes longer than this to spin up, and the kernel "
          "then resets it repeatedly; the kernel's default is 30s\n", ONE_WARNING },
        { "drives = ({ match = \"/dev/dsk\"; error_recovery_fallback_timeout = \"9s\" });", NULL, EXIT_WANTED,
          "f.conf:1:33: warning: error_recovery_fallback_timeout can do harm here: a drive takes longer than this to "
          "spin up, and the kernel then resets it repeatedly; the kernel's default is 30s\n", ONE_WARNING },
        { "drives = ({ match = \"/dev/dsk\"; error_recovery = \"off\" });", NULL, EXIT_WANTED, "", NOTHING },
        { "drives = ({ match = \"/dev/dsk\"; error_recovery = \"off\" });", NULL, EXIT_WANTED,
          "f.conf:1:33: warning: error_recovery can do harm to /dev/dsk, which is a member of an array: " ENDLESS, ONE_WARNING, true },
        { "drives = ({ match = \"/dev/dsk\"; error_recovery = \"7s\" });", NULL, EXIT_WANTED, "", NOTHING, true },
        { "drives = ({ match = \"/dev/dsk\"; error_recovery = \"off\"; error_recovery_fallback_timeout = \"180s\" });", NULL, EXIT_WANTED, "",
          NOTHING, true },
        { "drives = ({ match = \"/dev/dsk\"; error_recovery = \"off\"; timeout = \"180s\" });", NULL, EXIT_WANTED, "", NOTHING, true },
        { "drives = ({ match = \"/dev/dsk\"; error_recovery = \"off\"; timeout = \"60s\" });", NULL, EXIT_WANTED,
          "f.conf:1:33: warning: error_recovery can do harm to /dev/dsk, which is a member of an array: " ENDLESS, ONE_WARNING, true },
        { "drives = ({ match = {}; only_in_raid = true; error_recovery = \"off\" });", NULL, EXIT_WANTED,
          "f.conf:1:46: warning: error_recovery can do harm here: " ENDLESS, ONE_WARNING, true },
        { "drives = ({ match = {}; only_in_raid = true; error_recovery_read = \"off\"; error_recovery_fallback_timeout = \"180s\" });", NULL,
          EXIT_WANTED, "", NOTHING },
        { "drives = ({ match = \"/dev/dsk\"; auto_reallocate_write = false });", NULL, EXIT_WANTED,
          "f.conf:1:33: warning: auto_reallocate_write can do harm here: without reallocation a write to a bad sector fails, "
          "and a file system on the drive stops; leave it on\n", ONE_WARNING },
        { "drives = ({ match = \"/dev/dsk\"; auto_reallocate_write = true; auto_reallocate_read = false });", NULL, EXIT_WANTED, "", NOTHING },
#define ALL(column) "f.conf:1:" column ": warning: read_only can do harm here: this rule matches all drives, and makes each drive read-only " \
                    "unless the drive is in use; match only the intended drives\n"
        { "drives = ({ match = { model = \"*\"; }; read_only = true });", NULL, EXIT_WANTED, ALL("39"), ONE_WARNING },
        { "drives = ({ match = {}; read_only = true });", NULL, EXIT_WANTED, ALL("25"), ONE_WARNING },
        { "drives = ({ match = \"/dev/*\"; read_only = true });", NULL, EXIT_WANTED, ALL("31"), ONE_WARNING },
        { "drives = ({ match = { model = \"*\"; transport = \"sata\"; }; read_only = true });", NULL, EXIT_WANTED, "", NOTHING },
        { "drives = ({ match = {}; read_only = false });", NULL, EXIT_WANTED, "", NOTHING },
        { "drives = ({ match = \"/dev/dsk\"; apm = 127 });", NULL, EXIT_WANTED, "", "1 file, 1 rule: 0 errors, 0 warnings.\n" },
        { "drives = ({ match = \"/dev/dsk\";\napm = 1277; lokahead = true });", NULL, EXIT_BAD_INPUT,
          "f.conf:2:7: error: 1277 is out of range for apm: 1...254, or off\n"
          "f.conf:2:13: error: unknown setting \"lokahead\"; did you mean \"lookahead\"?\n",
          "1 file, 1 rule: 2 errors, 0 warnings.\n" },
        { "drives = ({ match = \"/dev/dsk\"; spindown_time = \"25min\" });", NULL, EXIT_WANTED,
          "f.conf:1:49: warning: spindown_time cannot be exactly \"25min\"; it is set to 30 min\n",
          "1 file, 1 rule: 0 errors, 1 warning.\n" },
        { "drives = ({ match = \"/dev/dsk\"; spindown_time = \"6h\" });", "--strict", EXIT_NOT_WANTED,
          "f.conf:1:49: warning: spindown_time cannot be exactly \"6h\"; it is set to 5 h 30 min\n",
          "1 file, 1 rule: 0 errors, 1 warning.\n" },
        { "drives = ({ match = \"/dev/dsk\"; read_ahead_kb = 3 }, { match = \"/dev/dsk\"; wake = true; read_ahead_sect = 1024 });",
          NULL, EXIT_WANTED,
          "f.conf:1:33: warning: read_ahead_kb has no effect here: f.conf:1 overrides it for all drives of this block; put general rules first\n"
          "f.conf:1:49: warning: read_ahead_kb cannot be exactly \"3\"; it is set to 4 KiB\n",
          "1 file, 2 rules: 0 errors, 2 warnings.\n" },
        { "drives = ({ match = \"/dev/dsq\"; apm = 127 });", "--strict", EXIT_WANTED,
          "f.conf:1:11: notice: this rule matches no attached drive\n", "1 file, 1 rule: 0 errors, 0 warnings.\n" },
        { "drives = ({ match = \"/dev/dsq\"; apm = 127 });", "-v", EXIT_WANTED,
          "f.conf:1:11: notice: this rule matches no attached drive\n"
          "/dev/dsk: notice: no rule matches this drive (ST2000DL003-9VT166, serial 5YD1): it is not managed\n",
          "1 file, 1 rule: 0 errors, 0 warnings.\n" },
        { "drives = ({ match = \"/dev/dsk\"; apm = 127 });", "-v", EXIT_WANTED, "", "1 file, 1 rule: 0 errors, 0 warnings.\n" },
};
/* clang-format on */

START_TEST(test_check) {
        _cleanup_free_ char *out = NULL, *messages = NULL;
        int status;

        n_found = 1;
        file_write("f.conf", checks[_i].text);
        disk.raid = checks[_i].raid;
        out = command(&verb_check, ARGS((char *) "f.conf", (char *) checks[_i].option), &messages, &status);
        ck_assert_str_eq(out, checks[_i].out);
        ck_assert_str_eq(messages, checks[_i].messages);
        ck_assert_int_eq(status, checks[_i].status);
}
END_TEST

/* For a drive that spins down, a notice says why its wakers cannot be traced. */
static const struct {
        const char *text;
        bool no_drives, solid;
        const char *out;
        const char *record; /* the service's state file of the drive; NULL: none */
} untraced[] = {
        { "drives = ({ match = \"/dev/dsk\"; apm = 128; spindown_time = \"20min\" });", false, false,
          "f.conf:1:1: notice: wakers of this rule's drives cannot be recorded: something is in the way\n" },
        { "drives = ({ match = \"/dev/dsk\"; spindown_time = \"off\" });", false, false, "" },
        { "drives = ({ match = \"/dev/dsk\"; apm = 128 });", false, false, "" },
        { "wake_log = \"off\"; drives = ({ match = \"/dev/dsk\"; spindown_time = \"20min\" });", false, false, "" },
        { "drives = ({ match = \"/dev/dsk\"; spindown_time = \"20min\" });", true, false, "" },
        { "drives = ({ match = \"/dev/dsk\"; spindown_time = \"20min\" });", false, true, "" },
        { "drives = ({ match = \"/dev/dsk\"; spindown_time = \"20min\" });", false, false, "",
          "VERSION=1\nNAME=sda\nMODEL=ST2000DL003-9VT166\nSERIAL=5YD1\nSETTINGS=1\nSETTING_0_NAME=spindown_time\nSETTING_0_VERDICT=refused\n" },
};

START_TEST(test_check_untraced) {
        _cleanup_free_ char *out = NULL, *messages = NULL;
        int status;

        obstacle = "something is in the way";
        disk.rotational = !untraced[_i].solid;
        n_found = !untraced[_i].no_drives;
        file_write("f.conf", untraced[_i].text);
        if (untraced[_i].record)
                file_make("state/sda", untraced[_i].record);
        out = command(&verb_check, ARGS((char *) "--strict", (char *) "--state-dir=state", (char *) "f.conf"),
                      &messages, &status);
        ck_assert_str_eq(out, untraced[_i].out);
        ck_assert_int_eq(status, EXIT_WANTED);
}
END_TEST

START_TEST(test_check_outlets) {
        _cleanup_free_ char *out = NULL, *messages = NULL;
        int status;

        lacking = "there is no program";
        file_write("f.conf", "drives = ();");
        out = command(&verb_check, ARGS((char *) "--strict", (char *) "f.conf"), &messages, &status);
        ck_assert_str_eq(out, "/x.service:3:1: notice: no alerts are sent: there is no program\n");
        ck_assert_int_eq(status, EXIT_WANTED);
}
END_TEST

/* Without drives, as on a build machine or in a container, rules that match no attached drive are not reported. */
START_TEST(test_check_without_drives) {
        _cleanup_free_ char *out = NULL, *messages = NULL;
        int status;

        n_found = 0;
        file_write("f.conf", "drives = ({ match = \"/dev/dsk\"; apm = 127 });");
        out = command(&verb_check, ARGS((char *) "f.conf"), &messages, &status);
        ck_assert_str_eq(out, "");
        ck_assert_int_eq(status, EXIT_WANTED);
}
END_TEST

/* A file in the format of another program causes one error. A file in drivekeep's format is checked as usual, even if
 * it has the name of another program's file. */
/* clang-format off */
static const struct {
        const char *file, *text, *out;
} foreign[] = {
        { "hdparm.conf", "quiet\n/dev/sda {\n apm = 127\n}\n",
          "hdparm.conf: error: this is an hdparm.conf; 'drivekeep import hdparm.conf' translates it\n" },
        { "f.conf", "# x\n/dev/sda {\n apm = 127\n spindown_time = 240\n}\n",
          "f.conf: error: this is an hdparm.conf; 'drivekeep import f.conf' translates it\n" },
        { "tlp.conf", "DISK_APM_LEVEL_ON_AC=\"254\"\n",
          "tlp.conf: error: this is a file of TLP; 'drivekeep import tlp.conf' translates it\n" },
        { "f.yaml", "drives:\n  - match: /dev/x\n    apm: 127\n",
          "f.yaml: error: this is YAML; drivekeep reads libconfig files: see drivekeep.conf(5)\n" },
        { "f.conf", "- match: /dev/x\n  apm: 127\n",
          "f.conf: error: this is YAML; drivekeep reads libconfig files: see drivekeep.conf(5)\n" },
        { "f.conf", "{ \"drives\": [ { \"match\": {}, \"apm\": 254 } ] }\n",
          "f.conf: error: this is JSON; drivekeep reads libconfig files: see drivekeep.conf(5)\n" },
        { "f.conf", "[ { \"match\": \"/dev/x\", \"apm\": 254 } ]\n",
          "f.conf: error: this is JSON; drivekeep reads libconfig files: see drivekeep.conf(5)\n" },
        /* If a file contains a line in the format of another program, the error is at this line. */
#define MOVED(title, format) "this is a line of " title "; move such lines to another FILE, and run 'drivekeep import --format=" format \
                             " FILE'\n"
        { "f.conf", "drives = (\n/dev/sda {\n apm = 254\n spindown_time = 241\n}\n);\n",
          "f.conf:2:1: error: " MOVED("an hdparm.conf", "hdparm.conf") },
        { "f.conf", "drives = ( {\n  /dev/sda {\n    apm = 254\n  }\n} );\n", "f.conf:2:1: error: " MOVED("an hdparm.conf", "hdparm.conf") },
        { "f.conf", "drives = ();\n/dev/sda {\n write_cache = off\n}\n", "f.conf:2:1: error: " MOVED("an hdparm.conf", "hdparm.conf") },
        { "f.conf", "drives = ( { match = {};\nDISK_APM_LEVEL_ON_AC=\"254\"\n} );\n", "f.conf:2:1: error: " MOVED("a file of TLP", "tlp") },
        { "f.conf", "drives = ();\nKERNEL==\"sd[a-z]\", ATTR{queue/scheduler}=\"bfq\"\n",
          "f.conf:2:1: error: " MOVED("a file of udev's rules", "udev-rules") },
        { "f.conf", "drives = (\n hdparm -B 254 /dev/sda\n);\n", "f.conf:2:1: error: " MOVED("a script", "script") },
        { "f.conf", "apm = 127\n/dev/sda {\n  apm = 254\n}\n",
          "f.conf:2:1: error: this is a line of an hdparm.conf; 'drivekeep import --format=hdparm.conf f.conf' translates the file\n" },
        { "f.conf", "DISK_DEVICES=\"sda\"\nDISK_APM_LEVEL_ON_AC=\"254\"\n",
          "f.conf:1:1: error: this is a line of a file of TLP; 'drivekeep import --format=tlp f.conf' translates the file\n" },
        { "f.conf", "sudo /sbin/hdparm -B 254 /dev/sda\n",
          "f.conf:1:1: error: this is a line of a script; 'drivekeep import --format=script f.conf' translates the file\n" },
        { "f.conf", "/*\nhdparm -B 254 /dev/sda\n*/\ndrives = ( { match = {}; apm = 300; } );\n",
          "f.conf:4:32: error: 300 is out of range for apm: 1...254, or off\n" },
        { "f.yaml", "---\ndrives: []\n",
          "f.yaml: error: this is YAML; drivekeep reads libconfig files: see drivekeep.conf(5)\n" },
        { "hdparm.conf", "fsck_wait = \"1min\";\n", "" },
        { "tlp.conf", "drives = (\n{ match = {}; amp = 1 });",
          "tlp.conf:2:15: error: unknown setting \"amp\"; did you mean \"apm\"?\n" },
        { "f.conf", "hello\n",
          "f.conf:1:1: error: this is not a drivekeep configuration: it has neither drives = ( ... ) nor an option\n" },
};
/* clang-format on */

START_TEST(test_check_foreign_files) {
        _cleanup_free_ char *out = NULL, *messages = NULL;
        int status;

        n_found = 1;
        file_write(foreign[_i].file, foreign[_i].text);
        out = command(&verb_check, ARGS((char *) foreign[_i].file), &messages, &status);
        ck_assert_str_eq(out, foreign[_i].out);
        ck_assert_int_eq(status, *out ? EXIT_BAD_INPUT : EXIT_WANTED);
}
END_TEST

/* clang-format off */
static const struct {
        const char *text, *second; /* `second`: a file besides standard input; NULL: none */
        int status;
        const char *out, *messages;
} inputs[] = {
        { "drives = ( { match = {}; apm = 300; } );\n", NULL, EXIT_BAD_INPUT,
          "-:1:32: error: 300 is out of range for apm: 1...254, or off\n", "1 file, 1 rule: 1 error, 0 warnings.\n" },
        { "drives = ( { match = { serial = \"5YD1\" }; apm = 127; } );\n", NULL, EXIT_WANTED, "",
          "1 file, 1 rule: 0 errors, 0 warnings.\n" },
        { "drives = ( { match = { serial = \"5YD1\" }; apm = 127; } );\n", "hdparm.conf", EXIT_BAD_INPUT,
          "hdparm.conf: error: this is an hdparm.conf; 'drivekeep import hdparm.conf' translates it\n",
          "2 files, 1 rule: 1 error, 0 warnings.\n" },
        { "/dev/sda {\n apm = 127\n}\n", NULL, EXIT_BAD_INPUT,
          "-: error: this is an hdparm.conf; 'drivekeep import -' translates it\n", "" },
        { "drives = (\nhdparm -B 254 /dev/sda\n);\n", NULL, EXIT_BAD_INPUT, "-:2:1: error: " MOVED("a script", "script"), "" },
        { "", "-", EXIT_WANTED, "", "" }, /* "-" given twice: standard input is read once */
};
/* clang-format on */

START_TEST(test_check_input) {
        _cleanup_free_ char *out = NULL, *messages = NULL;
        int status;

        n_found = 1;
        file_write("input", inputs[_i].text);
        file_write("hdparm.conf", "quiet\n/dev/sda {\n apm = 127\n}\n");
        ck_assert_ptr_nonnull(freopen("input", "re", stdin));
        out = command(&verb_check, ARGS((char *) "-", (char *) inputs[_i].second), &messages, &status);
        ck_assert_str_eq(out, inputs[_i].out);
        ck_assert_ptr_nonnull(strstr(messages, inputs[_i].messages));
        ck_assert_int_eq(status, inputs[_i].status);
}
END_TEST

/* If standard input cannot be read, or is too long, the complaint calls standard input "-". */
START_TEST(test_check_input_unread) {
        _cleanup_free_ char *out = NULL, *messages = NULL, *out2 = NULL, *said2 = NULL;
        int status, status2;

        ck_assert_ptr_nonnull(freopen("/", "re", stdin));
        out = command(&verb_check, ARGS((char *) "-"), &messages, &status);
        ck_assert_str_eq(out, "-: error: the file cannot be read: Is a directory\n");
        ck_assert_int_eq(status, EXIT_BAD_INPUT);
        ck_assert_ptr_nonnull(freopen("/dev/zero", "re", stdin));
        out2 = command(&verb_check, ARGS((char *) "-"), &said2, &status2);
        ck_assert_str_eq(out2, "-: error: the file is ignored, as it is larger than 1 MiB\n");
        ck_assert_int_eq(status2, EXIT_BAD_INPUT);
}
END_TEST

START_TEST(test_check_names) {
        _cleanup_free_ char *out = NULL, *messages = NULL;
        int status;

        n_found = 0;
        file_write("f.conf", "drives = ({ match = \"/dev/sda\"; apm = 127 });");
        out = command(&verb_check, ARGS((char *) "f.conf"), &messages, &status);
        ck_assert_str_eq(
                        out,
                        "f.conf:1:21: warning: \"/dev/sda\" may be another drive after the next boot; write a link below "
                        "/dev/disk/by-id, or a match by model or serial\n");
        ck_assert_int_eq(status, EXIT_WANTED);
}
END_TEST

/* If a rule names an attached drive by an unstable name, the complaint proposes the drive's persistent link. */
START_TEST(test_check_lasting_name) {
        static Drive dm = { .name = (char *) "dm-1", .node = (char *) "/dev/dm-1" };
        _cleanup_free_ char *out = NULL, *messages = NULL;
        int status;

        drives[0] = &dm;
        n_found = 1;
        ck_assert_int_ge(drive_add_link(&dm, "/dev/disk/by-id/dm-name-vg-home", LINK_OWN), 0);
        file_write("f.conf", "drives = ({ match = \"/dev/dm-1\"; read_ahead_kb = 128 });");
        out = command(&verb_check, ARGS((char *) "f.conf"), &messages, &status);
        ck_assert_str_eq(
                        out,
                        "f.conf:1:21: warning: \"/dev/dm-1\" may be another drive after the next boot; for the drive that has this name now, write \"/dev/disk/by-id/dm-name-vg-home\"\n");
        ck_assert_int_eq(status, EXIT_WANTED);
}
END_TEST

/* A file that root can read, but the service's user may not read, causes an error. user: the service's user exists. */
/* clang-format off */
static const struct {
        const char *make; /* a shell command */
        bool user;
        const char *out;
} readable[] = {
        { "true", true, "" },
        { "chmod 600 drivekeep/drivekeep.conf", false, "" },
        { "chmod 600 drivekeep/drivekeep.conf", true,
          "./drivekeep/drivekeep.conf: error: the service's user \"drivekeep\" may not read this file; "
          "'chmod o+r ./drivekeep/drivekeep.conf' allows it\n" },
        { "chgrp 65534 drivekeep/drivekeep.conf; chmod 640 drivekeep/drivekeep.conf", true, "" },
        { "chmod 700 drivekeep/drivekeep.conf.d", true,
          "./drivekeep/drivekeep.conf.d: error: the service's user \"drivekeep\" may not read this directory; "
          "'chmod o+rx ./drivekeep/drivekeep.conf.d' allows it\n" },
        { "chmod 700 drivekeep/drivekeep.conf.d; rm drivekeep/drivekeep.conf.d/*", true,
          "./drivekeep/drivekeep.conf.d: error: the service's user \"drivekeep\" may not read this directory; "
          "'chmod o+rx ./drivekeep/drivekeep.conf.d' allows it\n" },
        { "chmod 711 drivekeep/drivekeep.conf.d; rm drivekeep/drivekeep.conf.d/*", true,
          "./drivekeep/drivekeep.conf.d: error: the service's user \"drivekeep\" may not read this directory; "
          "'chmod o+rx ./drivekeep/drivekeep.conf.d' allows it\n" },
        { "chmod 700 drivekeep; rm -r drivekeep/drivekeep.conf.d", true,
          "./drivekeep: error: the service's user \"drivekeep\" may not read this directory; "
          "'chmod o+rx ./drivekeep' allows it\n" },
};
/* clang-format on */

START_TEST(test_check_readable) {
        _cleanup_free_ char *out = NULL, *messages = NULL;
        int status;

        if (geteuid() != 0)
                return;
        ck_assert_int_eq(
                        system("umask 022; chmod 755 .; mkdir -p drivekeep/drivekeep.conf.d; "
                               "echo 'fsck_wait = \"1min\";' >drivekeep/drivekeep.conf; : >drivekeep/drivekeep.conf.d/a.conf"),
                        0);
        ck_assert_int_eq(system(readable[_i].make), 0);
        user_exists = readable[_i].user;
        out = command(&verb_check, ARGS((char *) "--config-root=."), &messages, &status);
        ck_assert_str_eq(out, readable[_i].out);
        ck_assert_int_eq(status, *out ? EXIT_BAD_INPUT : EXIT_WANTED);
}
END_TEST

START_TEST(test_check_json) {
        _cleanup_(json_putp) struct json_object *array = NULL;
        _cleanup_free_ char *out = NULL, *messages = NULL;
        struct json_object *v;
        int status;

        file_write("f.conf", "drives = ({ match = {}; amp = 1 });");
        out = command(&verb_check, ARGS((char *) "--json", (char *) "f.conf"), &messages, &status);
        ck_assert_int_eq(status, EXIT_BAD_INPUT);
        json_take_list(&out, "complaints");
        array = json_tokener_parse(out);
        ck_assert_uint_eq(json_object_array_length(array), 1);
        ck_assert(json_object_object_get_ex(json_object_array_get_idx(array, 0), "column", &v));
        ck_assert_int_eq(json_object_get_int(v), 25);
        ck_assert(json_object_object_get_ex(json_object_array_get_idx(array, 0), "level", &v));
        ck_assert_str_eq(json_object_get_string(v), "error");
}
END_TEST

/* Hostile files cause EXIT_BAD_INPUT and an error, with less than 200 bytes of output. */
START_TEST(test_check_hostile) {
        static const char *const paths[] = { "missing.conf",  "/",           "fifo", "nul.conf", "huge.conf",
                                             "brackets.conf", "include.conf" };
        _cleanup_free_ char *out = NULL, *messages = NULL;
        FILE *f;
        int status;

        ck_assert_int_eq(mkfifo("fifo", 0600), 0);
        file_write("include.conf", "@include \"/etc\"\n");
        f = fopen("nul.conf", "we");
        ck_assert_uint_eq(fwrite("drives\0", 1, 7, f), 7);
        (void) fclose(f);
        file_write("huge.conf", "");
        ck_assert_int_eq(truncate("huge.conf", 100 << 20), 0);
        f = fopen("brackets.conf", "we");
        fputs("drives = ", f);
        for (unsigned i = 0; i < 200000; i++)
                fputc('(', f);
        (void) fclose(f);

        out = command(&verb_check, ARGS((char *) paths[_i]), &messages, &status);
        ck_assert_int_eq(status, EXIT_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(out, ": error: "));
        ck_assert_uint_lt(strlen(out), 200);
}
END_TEST

#define CONF "drivekeep/drivekeep.conf"
static void write_rules(void) {
        ck_assert_int_eq(mkdir("drivekeep", 0755), 0);
        file_write(CONF,
                   "drives = (\n"
                   "{ match = { transport = \"sata\" }; apm = 127; lookahead = true; on_battery = { apm = 1 }; },\n"
                   "{ match = { transport = \"usb\" }; apm = 2; },\n"
                   "{ match = \"/dev/dsk\"; apm = 254; },\n"
                   "{ match = {}; only_in_raid = true; apm = 3; },\n"
                   "{ match = { wwn = \"0x1\" }; apm = 4; });\n");
}

START_TEST(test_explain) {
        _cleanup_free_ char *out = NULL, *messages = NULL;
        int status;

        n_found = 1;
        write_rules();
        out = command(&verb_explain, ARGS((char *) "--config-root=.", (char *) "5YD1"), &messages, &status);
        ck_assert_str_eq(out, "/dev/dsk (model ST2000DL003-9VT166, serial 5YD1, transport sata)\n\n"
                              "Rules:\n"
                              "  ./" CONF ":2: applies: transport is \"sata\"\n"
                              "  ./" CONF ":3: does not apply: its transport is \"sata\", not \"usb\"\n"
                              "  ./" CONF ":4: applies: /dev/dsk is a name of the drive\n"
                              "  ./" CONF ":5: does not apply: only_in_raid is set, and the drive is in no array\n"
                              "  ./" CONF ":6: does not apply: it has no wwn, and \"0x1\" is required\n"
                              "\nSettings:\n"
                              "  lookahead = on, from ./" CONF ":2\n"
                              "  apm = 254, from ./" CONF ":4\n"
                              "    overrides 127, from ./" CONF ":2\n");
        ck_assert_int_eq(status, EXIT_WANTED);
}
END_TEST

/* spindown_time and standby_z exclude each other. With --as, it is not known which of the two settings the drive
 * supports, so the output states when spindown_time is not written. */
START_TEST(test_explain_excluded) {
        _cleanup_free_ char *out = NULL, *messages = NULL, *json = NULL;
        int status;

        ck_assert_int_eq(mkdir("drivekeep", 0755), 0);
        file_write(CONF, "drives = (\n"
                         "{ match = {}; standby_z = \"1h\"; apm = 127; },\n"
                         "{ match = {}; spindown_time = \"10min\"; },\n"
                         "{ match = {}; standby_z = \"20min\"; epc = false; });\n");
        out = command(&verb_explain, ARGS((char *) "--config-root=.", (char *) "--as=transport=sata"), &messages,
                      &status);
        ck_assert_int_eq(status, EXIT_WANTED);
        ck_assert_str_eq(strstr(out, "\nSettings:\n"),
                         "\nSettings:\n"
                         "  apm = 127, from ./" CONF ":2\n"
                         "  spindown_time = 10 min, from ./" CONF ":3\n"
                         "    not written if the drive supports standby_z, which ./" CONF ":4 sets\n"
                         "  standby_z = 20 min, from ./" CONF ":4\n"
                         "    overrides 1 h, from ./" CONF ":2\n"
                         "  epc = off, from ./" CONF ":4\n");
        free(messages);
        json = command(&verb_explain,
                       ARGS((char *) "--config-root=.", (char *) "--json", (char *) "--as=transport=sata"), &messages,
                       &status);
        ck_assert_ptr_nonnull(strstr(json, "\"excluded_by\""));
}
END_TEST

/* spindown_time and standby_z exclude each other. Whether one block or two blocks set them, `check` reports one notice,
 * and no warning or error. */
START_TEST(test_check_excluded) {
        static const char *const texts[] = {
                "drives = (\n"
                "{ match = { transport = \"sata\"; rotational = true; }; spindown_time = \"20min\"; },\n"
                "{ match = { transport = \"sata\"; rotational = true; }; standby_z = \"20min\"; });\n",
                "drives = (\n"
                "{ match = { transport = \"sata\"; rotational = true; }; spindown_time = \"20min\";\n"
                "standby_z = \"20min\"; });\n",
        };
        _cleanup_free_ char *out = NULL, *messages = NULL;
        int status;

        file_write("pair.conf", texts[_i]);
        out = command(&verb_check, ARGS((char *) "pair.conf"), &messages, &status);
        ck_assert_int_eq(status, EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(
                        out, "pair.conf:2:55: notice: spindown_time is not written to drives that support standby_z: "
                             "the two exclude each other, and the later one (pair.conf:3) wins"));
        ck_assert_ptr_null(strstr(out, "error"));
        ck_assert_ptr_null(strstr(out, "warning"));
}
END_TEST

/* The output says why each rule applies to the drive: by a device on the drive (/dev/md0), by a partition, or by
 * membership in an array. It also explains rules with errors. */
START_TEST(test_explain_stacked) {
        static DriveLink links[] = { { (char *) "/dev/dsk1", LINK_PARTITION }, { (char *) "/dev/md0", LINK_STACKED } };
        _cleanup_free_ char *out = NULL, *messages = NULL;
        int status;

        n_found = 1;
        disk.links = links;
        disk.n_links = ELEMENTSOF(links);
        disk.raid = true;
        ck_assert_int_eq(mkdir("drivekeep", 0755), 0);
        file_write(CONF, "drives = (\n"
                         "{ match = \"/dev/md0\"; apm = 1; },\n"
                         "{ match = \"/dev/dsk1\"; apm = 500; },\n"
                         "{ match = {}; only_in_raid = true; apm = 2; },\n"
                         "{ match = \"/dev/dsk1\"; apm = 3; lookahead };\n"
                         "{ match = [\"/dev/sdb\", \"/dev/sdc\", \"/dev/sdd\"]; apm = 4; });\n");
        out = command(&verb_explain, ARGS((char *) "--config-root=.", (char *) "sda", (char *) "apm"), &messages,
                      &status);
        ck_assert_str_eq(
                        out,
                        "/dev/dsk (model ST2000DL003-9VT166, serial 5YD1, transport sata)\n\n"
                        "Rules:\n"
                        "  ./" CONF ":2: applies: /dev/md0, which lies on the drive\n"
                        "  ./" CONF ":3: applies: /dev/dsk1 is a partition of the drive\n"
                        "  ./" CONF ":4: applies: it matches every drive, the drive is in an array\n"
                        "  ./" CONF
                        ":5: applies: /dev/dsk1 is a partition of the drive; the rule has an error, so its settings are not changed\n"
                        "  ./" CONF
                        ":6: does not apply: neither its node nor a link to it is \"/dev/sdb\", \"/dev/sdc\" or \"/dev/sdd\"\n"
                        "\nSettings:\n"
                        "  apm = (not changed, since the rule has an error), from ./" CONF ":5\n"
                        "    overrides 1, from ./" CONF ":2\n"
                        "    overrides a value in error, from ./" CONF ":3\n"
                        "    overrides 2, from ./" CONF ":4\n");
        ck_assert_ptr_nonnull(strstr(messages, "the configuration has errors, and settings in error are not written"));
        ck_assert_int_eq(status, EXIT_WANTED);
}
END_TEST

START_TEST(test_explain_nothing) {
        _cleanup_free_ char *out = NULL, *messages = NULL;
        int status;

        out = command(&verb_explain, ARGS((char *) "--config-root=.", (char *) "--as=node=/dev/sdz", (char *) "apm"),
                      &messages, &status);
        ck_assert_str_eq(out, "/dev/sdz (model n/a, serial n/a, transport unknown)\n\n"
                              "Rules:\n  none\n\nSettings:\n  no rule sets apm\n");
        ck_assert_str_eq(messages, "");
        ck_assert_int_eq(status, EXIT_WANTED);
}
END_TEST

START_TEST(test_explain_described) {
        static const char as[] = "--as=model=Elements, transport=usb,rotational=true,raid=true,ID_BUS=usb";
        _cleanup_free_ char *out = NULL, *messages = NULL;
        int status;

        write_rules();
        out = command(&verb_explain, ARGS((char *) "--config-root=.", (char *) as, (char *) "apm_battery"), &messages,
                      &status);
        ck_assert_ptr_nonnull(strstr(out, "\nSettings:\n"
                                          "  apm = 3, from ./" CONF ":5\n"
                                          "    overrides 2, from ./" CONF ":3\n"));
        ck_assert_ptr_null(strstr(out, "lookahead"));
        ck_assert_int_eq(status, EXIT_WANTED);
}
END_TEST

/* On mains, the values for battery are printed, too. */
START_TEST(test_explain_on_mains) {
        _cleanup_free_ char *out = NULL, *messages = NULL, *one = NULL;
        int status;

        ck_assert_int_eq(mkdir("drivekeep", 0755), 0);
        file_write(CONF, "drives = (\n"
                         "{ match = {}; lookahead = true; },\n"
                         "{ match = {};\n"
                         "on_battery = { apm = 1; }; });\n");
        out = command(&verb_explain, ARGS((char *) "--config-root=.", (char *) "--as=model=X"), &messages, &status);
        ck_assert_ptr_nonnull(strstr(out, "\nSettings:\n"
                                          "  lookahead = on, from ./" CONF ":2\n"
                                          "  on battery: apm = 1, from ./" CONF ":4\n"));
        free(messages);
        one = command(&verb_explain, ARGS((char *) "--config-root=.", (char *) "--as=model=X", (char *) "apm"),
                      &messages, &status);
        ck_assert_ptr_nonnull(strstr(one, "\nSettings:\n  on battery: apm = 1, from ./" CONF ":4\n"));
}
END_TEST

/* Properties missing in --as are unknown, and control characters in --as are escaped. */
START_TEST(test_explain_unknown) {
        _cleanup_free_ char *out = NULL, *messages = NULL, *second = NULL;
        int status;

        ck_assert_int_eq(mkdir("drivekeep", 0755), 0);
        file_write(CONF, "drives = (\n"
                         "{ match = { rotational = true }; apm = 1; },\n"
                         "{ match = { rotational = false; removable = [false, true] }; apm = 2; },\n"
                         "{ match = { wwn = \"0x\x1b[1m\" }; apm = 3; },\n"
                         "{ match = { model = \"\x1b*\" }; only_in_raid = true; apm = 4; });\n");
        out = command(&verb_explain, ARGS((char *) "--config-root=.", (char *) "--as=model=\x1b[31mx"), &messages,
                      &status);
        ck_assert_str_eq(
                        out,
                        "a drive (model \\x1b[31mx, serial n/a, transport unknown)\n\n"
                        "Rules:\n"
                        "  ./" CONF
                        ":2: does not apply: its rotational is not known, and \"true\" is required; add rotational=... to --as\n"
                        "  ./" CONF
                        ":3: does not apply: its rotational is not known, and \"false\" is required; add rotational=... to --as\n"
                        "  ./" CONF
                        ":4: does not apply: its wwn is not known, and \"0x\\x1b[1m\" is required; add wwn=... to --as\n"
                        "  ./" CONF ":5: does not apply: only_in_raid is set, and --as lacks raid=true\n"
                        "\nSettings:\n  no rule sets anything\n");
        free(messages);
        second = command(&verb_explain,
                         ARGS((char *) "--config-root=.", (char *) "--as=rotational=false,removable=true"), &messages,
                         &status);
        ck_assert_ptr_nonnull(strstr(second, ":2: does not apply: its rotational is \"false\", not \"true\"\n"));
        ck_assert_ptr_nonnull(strstr(second, ":3: applies: rotational is \"false\", removable is \"true\"\n"));
}
END_TEST

/* A setting that a later rule resets by "keep" is printed as keep; a setting without a rule is not printed. */
START_TEST(test_explain_keep) {
        _cleanup_free_ char *out = NULL, *json = NULL, *messages = NULL, *messages_json = NULL;
        int status;

        ck_assert_int_eq(mkdir("drivekeep", 0755), 0);
        file_write(CONF, "drives = (\n"
                         "{ match = {}; apm = 127; lookahead = \"keep\"; },\n"
                         "{ match = { model = \"a*\" }; apm = \"keep\"; },\n"
                         "{ match = { model = \"ab*\" }; lookahead = true; apm = \"keep\"; });\n");
        out = command(&verb_explain, ARGS((char *) "--config-root=.", (char *) "--as=model=abc"), &messages, &status);
        ck_assert_int_eq(status, EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(out, "\nSettings:\n"
                                          "  lookahead = on, from ./" CONF ":4\n"
                                          "    overrides keep, from ./" CONF ":2\n"
                                          "  apm = keep, from ./" CONF ":4\n"
                                          "    overrides 127, from ./" CONF ":2\n"
                                          "    overrides keep, from ./" CONF ":3\n"));
        json = command(&verb_explain, ARGS((char *) "--config-root=.", (char *) "--json", (char *) "--as=model=ax"),
                       &messages_json, &status);
        ck_assert_ptr_nonnull(strstr(json, "\"value\": \"keep\""));
}
END_TEST

START_TEST(test_explain_battery) {
        _cleanup_free_ char *out = NULL, *messages = NULL;
        int status;

        battery = true;
        write_rules();
        out = command(&verb_explain, ARGS((char *) "--config-root=.", (char *) "--as=transport=sata"), &messages,
                      &status);
        ck_assert_ptr_nonnull(strstr(out, "on battery"));
        ck_assert_ptr_nonnull(strstr(out, "  apm = 1, from ./" CONF ":2\n    overrides 127, from ./" CONF ":2\n"));
}
END_TEST

START_TEST(test_explain_json) {
        _cleanup_(json_putp) struct json_object *o = NULL;
        _cleanup_free_ char *out = NULL, *messages = NULL;
        struct json_object *v;
        int status;

        write_rules();
        out = command(&verb_explain, ARGS((char *) "--config-root=.", (char *) "--json", (char *) "--as=transport=usb"),
                      &messages, &status);
        o = json_tokener_parse(out);
        ck_assert_int_eq(json_object_get_int(json_object_object_get(o, "version")), 2);
        ck_assert(json_object_object_get_ex(o, "rules", &v));
        ck_assert_uint_eq(json_object_array_length(v), 5);
        ck_assert(json_object_object_get_ex(o, "settings", &v));
        ck_assert_uint_eq(json_object_array_length(v), 1);
}
END_TEST

/* If a rule does not match by transport, warnings depend on the attached drives. For a SAS drive, spindown_time causes
 * a warning, and apm = "off" causes no warning. */
START_TEST(test_check_kind) {
        static Drive one = { .name = (char *) "sda",
                             .node = (char *) "/dev/sda",
                             .transport = TRANSPORT_SAS,
                             .rotational = true };
        static Drive two = { .name = (char *) "sdb",
                             .node = (char *) "/dev/sdb",
                             .transport = TRANSPORT_SAS,
                             .rotational = true };
        static Drive *both[] = { &one, &two };
        _cleanup_free_ char *out = NULL, *messages = NULL;
        int status;

        drives[0] = both[_i];
        n_found = 1;
        file_write("f.conf", "drives = ({ match = { rotational = true }; spindown_time = \"20min\"; apm = \"off\" });");
        out = command(&verb_check, ARGS((char *) "f.conf"), &messages, &status);
        ck_assert_msg(strstr(out, _i ? "spindown_time is unsupported by /dev/sdb: SCSI drives have standby_z instead"
                                     : "spindown_time is unsupported by /dev/sda: SCSI drives have standby_z instead"),
                      "%s", out);
        ck_assert_ptr_null(strstr(out, "apm"));
}
END_TEST

#define SAS "{ match = { transport = \"sas\"; rotational = true; }; spindown_time = \"20min\"; }"
#define VERDICT(name, verdict) \
        "SETTINGS=1\nSETTING_0_NAME=" name "\nSETTING_0_WANTED=20 min\nSETTING_0_VERDICT=" verdict "\n"
#define USE "USE_SETTING=15 min, by standby_z\nUSE_KEY=drive standby_z 900000000\nUSE_SINCE=1259668800000000\n"

/* The output has the verdict of each setting, and the spin-down timer in effect. has: text that the output must
 * contain; lacks: text that the output must not contain. */
static const struct {
        const char *rules, *record, *arguments;
        const char *has[4], *lacks;
} verdicts[] = {
        { SAS,
          VERDICT("spindown_time", "unsupported") "SETTING_0_REASON=no such timer\n",
          NULL,
          { "  spindown_time = 20 min, from ./" CONF ":1\n    unsupported: no such timer\n", "\nSpin-down: none\n" },
          "in use for" },
        { SAS ", { match = { transport = \"sas\" }; standby_z = \"15min\"; }",
          "SPINDOWN=15 min, by standby_z\nSPINDOWN_KEY=drive standby_z 900000000\n" USE VERDICT("spindown_time",
                                                                                                "unsupported"),
          NULL,
          { "    unsupported\n", "\nSpin-down: 15 min, by standby_z\n",
            "Spin-down timer 15 min, by standby_z, in use for " },
          "timer 20 min" },
        { SAS,
          "SPINDOWN=20 min, by the service\nSPINDOWN_SERVED=1\n" VERDICT("spindown_time", "unchanged"),
          NULL,
          { "    unchanged\n", "\nSpin-down: none\n" },
          "by the service" },
        /* A timer of 5 min is in effect now, so the output calls the recorded timer of 15 min "Earlier". */
        { SAS,
          "SPINDOWN=5 min, by standby_z\nSPINDOWN_KEY=drive standby_z 300000000\n" USE VERDICT("spindown_time",
                                                                                               "forbidden"),
          NULL,
          { "    forbidden\n", "\nSpin-down: 5 min, by standby_z\n",
            "Earlier spin-down timer 15 min, by standby_z, in use for " },
          "\nSpin-down timer" },
        { SAS,
          VERDICT("spindown_time", "unsupported") "SETTING_0_REASON=no such timer\n",
          "--json",
          { "\"verdict\": \"unsupported\",\n      \"reason\": \"no such timer\",\n", "  \"spindown\": null,\n",
            "  \"use\": null\n" },
          NULL },
        { SAS,
          "SETTINGS=0\n",
          "--json",
          { "\"verdict\": null,\n      \"reason\": \"SCSI drives have standby_z " },
          NULL },
        { "{ match = \"/dev/dsk\"; timeout = \"30s\"; }",
          "SPINDOWN=5 min\n" VERDICT("timeout", "applied"),
          NULL,
          { "    applied\n" },
          "Spin-down" },
};

START_TEST(test_explain_verdict) {
        static Drive sas = { .name = (char *) "sda",
                             .node = (char *) "/dev/dsk",
                             .transport = TRANSPORT_SAS,
                             .rotational = true };
        char *const state = (char *) "--state-dir=state";
        _cleanup_free_ char *out = NULL, *messages = NULL,
                            *record = must_format("VERSION=1\nNAME=sda\n%s", verdicts[_i].record);
        _cleanup_free_ char *rules = must_format("drives = ( %s );\n", verdicts[_i].rules);
        int status;

        drives[0] = &sas;
        n_found = 1;
        file_make("state/sda", record);
        file_make(CONF, rules);
        out = command(&verb_explain,
                      ARGS((char *) "--config-root=.", state, (char *) "sda", (char *) verdicts[_i].arguments),
                      &messages, &status);
        for (size_t i = 0; i < ELEMENTSOF(verdicts[_i].has) && verdicts[_i].has[i]; i++)
                ck_assert_msg(strstr(out, verdicts[_i].has[i]), "%s", out);
        ck_assert_msg(!verdicts[_i].lacks || !strstr(out, verdicts[_i].lacks), "%s", out);
        ck_assert_int_eq(status, EXIT_WANTED);
}
END_TEST

/* clang-format off */
static const struct {
        const char *first, *second, *messages;
} mistakes[] = {
        { "sdq",                NULL,     "there is no drive 'sdq'" },
        { "--as=colour=red",    NULL,     "'colour=red' is not a valid KEY=VALUE" },
        { "--as=transport=cat", NULL,     "'transport=cat' is not a valid" },
        { "--as=rotational",    NULL,     "'rotational' is not a valid" },
        { "--as=\x1b[1m=x",      NULL,     "'\\x1b[1m=x' is not a valid" },
        { "--as=model=x,model=y", NULL,   "--as: model is given twice" },
        { "--as=raid=true,raid=true", NULL, "--as: raid is given twice" },
        { "--as=A=1,B=1,A=1",   NULL,     "--as: A is given twice" },
        { "--as=model=x",       "amp",    "there is no setting 'amp'; did you mean 'apm'?" },
        { "sda",                "colour", "there is no setting 'colour'" },
        { "sda",                "\x1b[1m", "there is no setting '\\x1b[1m'" },
        { "sda\x1b",            NULL,     "there is no drive 'sda\\x1b'" },
        { "--as=model=x",       NULL,     "give one drive" }, /* the test adds two arguments, "apm" and "apm" */
};
/* clang-format on */

START_TEST(test_explain_mistakes) {
        bool too_many = streq(mistakes[_i].messages, "give one drive");
        _cleanup_free_ char *out = NULL, *messages = NULL;
        int status;

        n_found = 1;
        out = command(&verb_explain,
                      ARGS((char *) mistakes[_i].first, (char *) (too_many ? "apm" : mistakes[_i].second),
                           (char *) (too_many ? "apm" : NULL)),
                      &messages, &status);
        ck_assert_int_eq(status, EXIT_BAD_INPUT);
        ck_assert_msg(strstr(messages, mistakes[_i].messages) != NULL, "%s", messages);
        ck_assert_str_eq(out, "");
}
END_TEST

int main(void) {
        TCase *t = tcase_create("check");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_loop_test(t, test_check, 0, ELEMENTSOF(checks));
        tcase_add_loop_test(t, test_check_untraced, 0, ELEMENTSOF(untraced));
        tcase_add_test(t, test_check_outlets);
        tcase_add_test(t, test_check_without_drives);
        tcase_add_loop_test(t, test_check_foreign_files, 0, ELEMENTSOF(foreign));
        tcase_add_loop_test(t, test_check_input, 0, ELEMENTSOF(inputs));
        tcase_add_test(t, test_check_input_unread);
        tcase_add_test(t, test_check_names);
        tcase_add_test(t, test_check_lasting_name);
        tcase_add_loop_test(t, test_check_readable, 0, ELEMENTSOF(readable));
        tcase_add_test(t, test_check_json);
        tcase_add_loop_test(t, test_check_hostile, 0, 7);
        tcase_add_test(t, test_explain);
        tcase_add_test(t, test_explain_excluded);
        tcase_add_loop_test(t, test_check_excluded, 0, 2);
        tcase_add_test(t, test_bridge);
        tcase_add_test(t, test_explain_stacked);
        tcase_add_test(t, test_explain_nothing);
        tcase_add_test(t, test_explain_described);
        tcase_add_test(t, test_explain_unknown);
        tcase_add_test(t, test_explain_on_mains);
        tcase_add_test(t, test_explain_keep);
        tcase_add_test(t, test_explain_battery);
        tcase_add_test(t, test_explain_json);
        tcase_add_loop_test(t, test_check_kind, 0, 2);
        tcase_add_loop_test(t, test_explain_verdict, 0, ELEMENTSOF(verdicts));
        tcase_add_loop_test(t, test_explain_mistakes, 0, ELEMENTSOF(mistakes));
        return test_main("cli-check", t);
}
