/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the notices about missing files and programs for metrics and mail, with the units of a made-up machine. */

#include "outlet.h"
#include "test-cli.h"

#define PATH_UNIT "[Path]\nPathExists=/x\n[Install]\nWantedBy=drivekeep.service\n"
#define METRICS "usr/lib/systemd/system/drivekeep-metrics."
#define ALERT "usr/lib/systemd/system/drivekeep-alert."
#define WANTED "etc/systemd/system/drivekeep.service.wants/drivekeep-"
#define DROP_IN(unit) "etc/systemd/system/drivekeep-" unit ".service.d/x.conf"
#define DIRECTORY "var/lib/prometheus/node-exporter"
#define ENABLED(unit) "LINK", WANTED unit ".path", "/usr/lib/systemd/system/drivekeep-" unit ".path"
#define MASKED(unit) "LINK", "etc/systemd/system/drivekeep-" unit ".path", "/dev/null"
#define FILE_MADE(path, text) "FILE", path, text
#define PROGRAM(path) "EXEC", path, "#!/bin/sh\n"
#define MADE(path) "DIR", path, ""
#define NO_DIRECTORY(directory)                            \
        "no metrics are written: the directory " directory \
        " does not exist; create it with 'mkdir -p', or choose another directory: see drivekeep-fleet(7)\n"
#define NO_MAIL(own)                                                                                         \
        "no alerts are sent: the program 'mail' is missing; install a package such as bsd-mailx or s-nail, " \
        "or create " own "\n"
#define NO_JQ "no alerts are sent: the program 'jq' is missing; install the package jq\n"
#define WITHOUT(path) "GONE", path, ""
#define NOTICE ": notice: "

static const char *const units[] = {
        FILE_MADE(METRICS "path", PATH_UNIT),
        FILE_MADE(METRICS "service", "[Service]\nEnvironment=PLACE=/" DIRECTORY "/drivekeep.prom\n"
                                     "ExecStartPre=sleep 1\n"
                                     "ExecStart=/usr/bin/drivekeep status --quiet --metrics --output=${PLACE}\n"),
        FILE_MADE(ALERT "path", PATH_UNIT),
        FILE_MADE(ALERT "service", "[Service]\nExecStart=/usr/bin/drivekeep alert\n"),
        PROGRAM("usr/bin/jq"),
        NULL,
};

static const struct {
        const char *tree[13]; /* files, each as kind, path, and text or link target */
        const char *expected;
} machines[] = {
        { {}, "" }, /* neither drivekeep-metrics.path nor drivekeep-alert.path is enabled */

        { { ENABLED("metrics") }, "/" METRICS "service:2:1" NOTICE NO_DIRECTORY("/" DIRECTORY) },
        { { ENABLED("metrics"), MADE(DIRECTORY) }, "" },
        { { ENABLED("metrics"), FILE_MADE("var/lib/prometheus", "") },
          "/" METRICS "service:2:1" NOTICE NO_DIRECTORY("/" DIRECTORY) },
        { { ENABLED("metrics"), MASKED("metrics") }, "" },
        { { ENABLED("metrics"), FILE_MADE(DROP_IN("metrics"), "[Service]\n\nEnvironment=PLACE=/srv/m/d.prom\n"),
            MADE(DIRECTORY) },
          "/" DROP_IN("metrics") ":3:1" NOTICE NO_DIRECTORY("/srv/m") },
        { { ENABLED("metrics"), FILE_MADE(DROP_IN("metrics"), "[Service]\nEnvironment=PLACE=/srv/m/d.prom\n"),
            MADE("srv/m") },
          "" },
        { { ENABLED("metrics"), FILE_MADE(DROP_IN("metrics"), "[Service]\nEnvironmentFile=/etc/default/m\n"),
            FILE_MADE("etc/default/m", "PLACE=/srv/n/d.prom\n") },
          "/etc/default/m:1:1" NOTICE NO_DIRECTORY("/srv/n") },
        { { ENABLED("metrics"),
            FILE_MADE(DROP_IN("metrics"), "[Service]\nExecStart=\n"
                                          "ExecStart=/usr/bin/drivekeep status --metrics --output /srv/o/d.prom\n") },
          "/" DROP_IN("metrics") ":3:1" NOTICE NO_DIRECTORY("/srv/o") },
        /* No notice: as in drivekeep-fleet(7), RuntimeDirectory= makes systemd create the directory when the unit starts. */
        { { ENABLED("metrics"),
            FILE_MADE(DROP_IN("metrics"),
                      "[Service]\nEnvironment=PLACE=/run/metrics/d.prom\nRuntimeDirectory=a metrics\n") },
          "" },
        { { ENABLED("metrics"),
            FILE_MADE(DROP_IN("metrics"),
                      "[Service]\nEnvironment=PLACE=/run/metrics/d.prom\nStateDirectory=metrics\n") },
          "/" DROP_IN("metrics") ":2:1" NOTICE NO_DIRECTORY("/run/metrics") },
        /* No notice: the directory of the metrics file cannot be derived from the unit. */
        { { ENABLED("metrics"), FILE_MADE(DROP_IN("metrics"), "[Service]\nEnvironment=PLACE=%t/metrics/d.prom\n") },
          "" },
        { { ENABLED("metrics"),
            FILE_MADE(DROP_IN("metrics"), "[Service]\nExecStart=\nExecStart=/usr/bin/drivekeep status --metrics\n") },
          "" },
        { { ENABLED("metrics"),
            FILE_MADE(DROP_IN("metrics"), "[Service]\nExecStart=\nExecStart=/usr/bin/mine --output=/srv/p/d.prom\n") },
          "" },

        { { ENABLED("alert") }, "/" ALERT "service:2:1" NOTICE NO_MAIL("/etc/drivekeep/alert") },
        { { ENABLED("alert"), PROGRAM("usr/bin/mail") }, "" },
        { { ENABLED("alert"), PROGRAM("bin/mail") }, "" },
        { { ENABLED("alert"), FILE_MADE("usr/bin/mail", "") },
          "/" ALERT "service:2:1" NOTICE NO_MAIL("/etc/drivekeep/alert") },
        { { ENABLED("alert"), PROGRAM("opt/bin/mail") },
          "/" ALERT "service:2:1" NOTICE NO_MAIL("/etc/drivekeep/alert") },
        { { ENABLED("alert"), PROGRAM("opt/bin/mail"),
            FILE_MADE(DROP_IN("alert"), "[Service]\nEnvironment=PATH=/usr/bin:/opt/bin\n") },
          "" },
        { { ENABLED("alert"), PROGRAM("usr/bin/mail"),
            FILE_MADE(DROP_IN("alert"), "[Service]\nEnvironment=PATH=/opt/bin\n") },
          "/" ALERT "service:2:1" NOTICE NO_JQ "/" ALERT "service:2:1" NOTICE NO_MAIL("/etc/drivekeep/alert") },
        { { ENABLED("alert"), PROGRAM("usr/bin/mail"), WITHOUT("usr/bin/jq") }, "/" ALERT "service:2:1" NOTICE NO_JQ },
        { { ENABLED("alert"), PROGRAM("etc/drivekeep/alert"), WITHOUT("usr/bin/jq") },
          "/" ALERT "service:2:1" NOTICE NO_JQ },
        { { ENABLED("alert"), WITHOUT("usr/bin/jq") },
          "/" ALERT "service:2:1" NOTICE NO_JQ "/" ALERT "service:2:1" NOTICE NO_MAIL("/etc/drivekeep/alert") },
        { { WITHOUT("usr/bin/jq") }, "" },
        { { ENABLED("alert"), PROGRAM("etc/drivekeep/alert") }, "" },
        { { ENABLED("alert"), PROGRAM("usr/bin/mail"), FILE_MADE("etc/drivekeep/alert", "#!/bin/sh\n") },
          "/etc/drivekeep/alert" NOTICE
          "no alerts are sent: this file is not executable; run 'chmod +x /etc/drivekeep/alert'\n" },
        { { ENABLED("alert"), PROGRAM("etc/drivekeep/alert"),
            FILE_MADE(DROP_IN("alert"),
                      "[Service]\nExecStart=\nExecStart=/usr/bin/drivekeep alert --config-root=/srv\n") },
          "/" DROP_IN("alert") ":3:1" NOTICE NO_MAIL("/srv/drivekeep/alert") },
        { { ENABLED("alert"), FILE_MADE(DROP_IN("alert"), "[Service]\nExecStart=\nExecStart=/usr/bin/mine\n") }, "" },

        { { ENABLED("metrics"), ENABLED("alert") },
          "/" METRICS "service:2:1" NOTICE NO_DIRECTORY("/" DIRECTORY) "/" ALERT "service:2:1" NOTICE NO_MAIL(
                          "/etc/drivekeep/alert") },
};

static void make_tree(const char *const *tree) {
        for (; *tree; tree += 3) {
                make_parents(tree[1]);
                if (streq(tree[0], "GONE"))
                        ck_assert_int_eq(unlink(tree[1]), 0);
                else if (streq(tree[0], "LINK"))
                        ck_assert_int_eq(symlink(tree[2], tree[1]), 0);
                else
                        file_make(tree[1], streq(tree[0], "DIR") ? NULL : tree[2]);
                if (streq(tree[0], "EXEC"))
                        ck_assert_int_eq(chmod(tree[1], 0755), 0);
        }
}

START_TEST(test_outlets) {
        _cleanup_(complaints_done) Complaints found = {};
        char text[1024] = "";

        make_tree(units);
        make_tree(machines[_i].tree);
        outlets_check(".", &found);
        for (size_t i = 0; i < found.n_items; i++) {
                _cleanup_free_ char *line = complaint_format(&found.items[i]);

                ck_assert_uint_lt(strlen(text) + strlen(line) + 1, sizeof text);
                (void) strcat(strcat(text, line), "\n");
        }
        ck_assert_str_eq(text, machines[_i].expected);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("outlet");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_loop_test(t, test_outlets, 0, ELEMENTSOF(machines));
        return test_main("cli-outlet", t);
}
