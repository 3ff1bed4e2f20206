/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep wakes`: the records, and those that come. */

#include "tracefs.h"
#include "wakes-journal.h"

/* The obstacle to the kernel's trace; NULL: none. */
static const char *obstacle;
const char *tracefs_obstacle(const char *root) {
        ck_assert_str_eq(root, "");
        return obstacle;
}

/* clang-format off */
static const Fields some[] = {
        RECORD("sdb", "command", "sent SMART READ DATA", PROCESS "smartctl", "DRIVEKEEP_WAKE_PID=812", UNIT "smartd.service",
               SERIAL "5YD1", "DRIVEKEEP_WWN=0x5000c5002f8ebf71", "DRIVEKEEP_MODEL=ST2000", "DRIVEKEEP_WAKE_COMMAND_LINE=smartctl -a /dev/sdb",
               "DRIVEKEEP_WAKE_SENT=SMART READ DATA", "DRIVEKEEP_SLEPT_USEC=11520999999",
               "MESSAGE=sdb: woken by smartctl, which sent SMART READ DATA."),
        { "MESSAGE=of no drive" },
        RECORD("sda", "md", "wrote the superblock", THREAD "md0_resync", SERIAL "W1\\x1b", "DRIVEKEEP_WAKE_SECTOR=2048"),
        { "DRIVEKEEP_DRIVE=sdc\x1b[2J", "DRIVEKEEP_WAKE_PID=-1", "DRIVEKEEP_WAKE_SECTOR=99999999999999999999", "DRIVEKEEP_WAKE_INODE=7x",
          "DRIVEKEEP_SLEPT_USEC=", PROCESS },
        RECORD("sdb", "flush", "changed the file 17", PROCESS "cat", THREAD "kworker/u8:1", SERIAL "5YD1", "DRIVEKEEP_WWN=0x5000c5002f8ebf71",
               "DRIVEKEEP_WAKE_INODE=17", "DRIVEKEEP_SLEPT_USEC=0", "_BOOT_ID=ab"),
};

#define HEAD  "TIME DRIVE      SLEPT      WHO                UNIT           WHAT\n"
#define ROW_0 "2009 sdb        3 h 12 min smartctl           smartd.service sent SMART READ DATA\n"
#define ROW_2 "2009 sda        -          kernel: md0_resync -              wrote the superblock\n"
#define ROW_3 "2009 sdc\\x1b[2J -          unknown            -              -\n"
#define ROW_4 "2009 sdb        0 s        cat                -              changed the file 17\n"
#define JSON_0 \
        "  {\n" \
        "    \"time\": \"2009-11-21T12:01:00Z\",\n" \
        "    \"boot_id\": null,\n" \
        "    \"drive\": \"sdb\",\n" \
        "    \"serial\": \"5YD1\",\n" \
        "    \"model\": \"ST2000\",\n" \
        "    \"kind\": \"command\",\n" \
        "    \"process\": \"smartctl\",\n" \
        "    \"pid\": 812,\n" \
        "    \"unit\": \"smartd.service\",\n" \
        "    \"command_line\": \"smartctl -a /dev/sdb\",\n" \
        "    \"thread\": null,\n" \
        "    \"what\": \"sent SMART READ DATA\",\n" \
        "    \"command\": \"SMART READ DATA\",\n" \
        "    \"sector\": null,\n" \
        "    \"inode\": null,\n" \
        "    \"slept_seconds\": 11520\n" \
        "  }"
/* clang-format on */

START_TEST(test_table) {
        journal_set(some, ELEMENTSOF(some), ELEMENTSOF(some));
        assert_wakes(NULL, EXIT_WANTED,
                     HEAD ROW_0 ROW_2 ROW_3 ROW_4
                     "sdb: 'find MOUNTPOINT -xdev -inum 17' shows the files of these inodes, and wakes the drive\n",
                     "");
        ck_assert_str_eq(matches, "MESSAGE_ID=b2d3f4a1c6e84d0f9a7b5c3e1d2f4a68\n_SYSTEMD_UNIT=drivekeep.service\n");
}
END_TEST

/* By serial number, WWN or the name that it had; a drive that is here has the name that it has now. */
static const struct {
        const char *word, *text, *said;
        int status;
} choices[] = {
        { "5YD1", "sdb|cat|", "", EXIT_WANTED },
        { "0x5000c5002f8ebf71", "sdb|cat|", "", EXIT_WANTED },
        { "sdb", "sdb|cat|", "", EXIT_WANTED },
        { "W1\\x1b", "md0_resync|", "", EXIT_WANTED },
        { "sdx", "md0_resync|", "", EXIT_WANTED },
        { "sda", "", "no wake of these drives has been recorded", EXIT_WANTED },
        { "5YD2", "", "'5YD2' is no drive that drivekeep knows; 'drivekeep list' shows them", EXIT_BAD_INPUT },
};

START_TEST(test_choice) {
        _cleanup_free_ char *text = NULL, *said = NULL;
        static const char *const marks[] = { "smartctl", "cat", "md0_resync", "unknown" };

        journal_set(some, ELEMENTSOF(some), ELEMENTSOF(some));
        file_write("sdx", "VERSION=1\nNAME=sdx\nSERIAL=W1\\x1b\nSETTINGS=0\n");
        file_write("sda", "VERSION=1\nNAME=sda\nSERIAL=OTHER\nSETTINGS=0\n");
        ck_assert_int_eq(wakes(WORDS(choices[_i].word), &text, &said), choices[_i].status);
        for (size_t i = 0; i < ELEMENTSOF(marks); i++)
                ck_assert_msg(!strstr(text, marks[i]) == !strstr(choices[_i].text, i == 0 ? "sdb" : marks[i]), "%s: %s",
                              marks[i], text);
        ck_assert_ptr_nonnull(strstr(said, choices[_i].said));
}
END_TEST

START_TEST(test_json) {
        journal_set(some, ELEMENTSOF(some), ELEMENTSOF(some));
        assert_wakes(WORDS("--json", "sdb"), EXIT_WANTED,
                     "[\n" JSON_0 ",\n"
                     "  {\n"
                     "    \"time\": \"2009-11-21T12:05:00Z\",\n"
                     "    \"boot_id\": \"ab\",\n"
                     "    \"drive\": \"sdb\",\n"
                     "    \"serial\": \"5YD1\",\n"
                     "    \"model\": null,\n"
                     "    \"kind\": \"flush\",\n"
                     "    \"process\": \"cat\",\n"
                     "    \"pid\": null,\n"
                     "    \"unit\": null,\n"
                     "    \"command_line\": null,\n"
                     "    \"thread\": \"kworker/u8:1\",\n"
                     "    \"what\": \"changed the file 17\",\n"
                     "    \"command\": null,\n"
                     "    \"sector\": null,\n"
                     "    \"inode\": 17,\n"
                     "    \"slept_seconds\": 0\n"
                     "  }\n"
                     "]\n",
                     "");
}
END_TEST

/* Only the last ones are read. */
START_TEST(test_many) {
        _cleanup_free_ char *text = NULL, *said = NULL;

        journal_set(some, 1, WAKE_RECORDS_MAX + 5);
        ck_assert_int_eq(wakes(WORDS("--summary", "--no-legend"), &text, &said), EXIT_WANTED);
        ck_assert_str_eq(text, "10000 sdb    2009 smartctl smartd.service\n");
}
END_TEST

/* ---- those that come ---- */

/* Without any before, too, the first one that comes is shown. */
static const struct {
        size_t n_before;
        const char *word, *text;
} watches[] = {
        { 4, NULL, "2009 sdb: woken by cat\n" },
        { 5, NULL, "" },
        { 1, "5YD1", "2009 sdb: woken by cat\n" },
        { 0, NULL,
          "2009 sdb: woken by smartctl, which sent SMART READ DATA.\n2009 sda: woken by kernel: md0_resync\n"
          "2009 sdc\\x1b[2J: woken by unknown\n2009 sdb: woken by cat\n" },
};

START_TEST(test_watch) {
        journal_set(some, ELEMENTSOF(some), watches[_i].n_before);
        assert_wakes(WORDS("--watch", watches[_i].word), -EIO, watches[_i].text, "");
}
END_TEST

START_TEST(test_watch_json) {
        _cleanup_free_ char *text = NULL, *said = NULL;

        journal_set(some, 1, 0);
        ck_assert_int_eq(wakes(WORDS("--watch", "--json"), &text, &said), -EIO);
        ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
        json_take_list(&text, "wakes");
        ck_assert_str_eq(text, "[\n" JSON_0 "\n]\n");
}
END_TEST

START_TEST(test_watch_that_nobody_takes) {
        _cleanup_free_ char *said = NULL;
        char *argv[] = { (char *) "drivekeep wakes", (char *) "--watch", NULL };

        journal_set(some, ELEMENTSOF(some), 0);
        ck_assert_ptr_nonnull(freopen("/dev/full", "w", stdout));
        ck_assert_int_eq(verb_run(&verb_wakes, 2, argv), -ENOSPC);
}
END_TEST

/* ---- nothing ---- */

START_TEST(test_none) {
        journal_set(some, 1, 0);
        assert_wakes(NULL, EXIT_WANTED, "",
                     "no wake has been recorded; drivekeepd records them for drives with a spin-down");
        assert_wakes(WORDS("--summary"), EXIT_WANTED, "", "see wake_log in drivekeep.conf(5)");
        assert_wakes(WORDS("--json"), EXIT_WANTED, JSON_EMPTY("") "\n", "no wake has been recorded");
}
END_TEST

/* ---- files ---- */

#define CHANGED(drive, inode) \
        RECORD(drive, "flush", "-", PROCESS "sh", SERIAL "S-" drive, "DRIVEKEEP_WAKE_INODE=" inode)

static const Fields changed[] = {
        CHANGED("sdx", "1"), CHANGED("sdx", "2"), CHANGED("sdy", "3"),  CHANGED("sdx", "4"),
        CHANGED("sdx", "2"), CHANGED("sdx", "5"), CHANGED("sdx", "6"),  CHANGED("sdx", "7"),
        CHANGED("sdx", "8"), CHANGED("sdx", "9"), CHANGED("sdx", "10"),
};

/* One command for each drive, with its newest inodes; none in JSON. */
START_TEST(test_files) {
        _cleanup_free_ char *text = NULL, *said = NULL, *json = NULL, *said2 = NULL;

        file_write("sdx", "VERSION=1\nNAME=sdx\nSERIAL=S-sdx\nSETTINGS=0\n");
        journal_set(changed, ELEMENTSOF(changed), ELEMENTSOF(changed));
        ck_assert_int_eq(wakes(NULL, &text, &said), EXIT_WANTED);
        ck_assert_msg(ends_with(text,
                                "\nsdx: 'find MOUNTPOINT -xdev -inum 10 -o -inum 9 -o -inum 8 -o -inum 7 -o -inum 6 "
                                "-o -inum 5 -o -inum 2 -o -inum 4' shows the files of these inodes, and wakes the drive\n"
                                "sdy: 'find MOUNTPOINT -xdev -inum 3' shows the files of these inodes, and wakes the drive\n"),
                      "%s", text);
        ck_assert_int_eq(wakes(WORDS("--json"), &json, &said2), EXIT_WANTED);
        ck_assert_ptr_null(strstr(json, "find"));
}
END_TEST

/* When there are no wakes, the cause and the remedy are shown. */
START_TEST(test_untraced) {
        const char *row = _i ? "TIME DRIVE SLEPT      WHO      UNIT           WHAT\n"
                               "2009 sdb   3 h 12 min smartctl smartd.service sent SMART READ DATA\n"
                             : "";
        _cleanup_close_ int lock = record_directory_lock(".");

        journal_set(some, 1, _i);
        obstacle = "something is in the way";
        assert_wakes(NULL, EXIT_WANTED, row, "who wakes drives is not known: something is in the way\n");
        obstacle = NULL;
        file_write("sda", "VERSION=1\nNAME=sda\nTRACING=no-socket\nSETTINGS=0\n");
        assert_wakes(NULL, EXIT_WANTED, row, "'systemctl start drivekeep-tracer.socket'");
        file_write("sda", "VERSION=1\nNAME=sda\nTRACING=fine\nSETTINGS=0\n");
        if (_i)
                assert_wakes(NULL, EXIT_WANTED, row, "");
}
END_TEST

START_TEST(test_not_readable) {
        is_readable = false;
        assert_wakes(WORDS("--json"), EXIT_BAD_INPUT, "",
                     geteuid() == 0 ? "there is no journal"
                                    : "only root and members of the groups systemd-journal and adm");
}
END_TEST

START_TEST(test_both) {
        assert_wakes(WORDS("--summary", "--watch"), EXIT_BAD_INPUT, "", "say --summary or --watch");
}
END_TEST

int main(void) {
        TCase *t = tcase_create("wakes");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_test(t, test_table);
        tcase_add_loop_test(t, test_choice, 0, ELEMENTSOF(choices));
        tcase_add_test(t, test_json);
        tcase_add_test(t, test_many);
        tcase_add_loop_test(t, test_watch, 0, ELEMENTSOF(watches));
        tcase_add_test(t, test_watch_json);
        tcase_add_test(t, test_watch_that_nobody_takes);
        tcase_add_test(t, test_none);
        tcase_add_test(t, test_files);
        tcase_add_loop_test(t, test_untraced, 0, 2);
        tcase_add_test(t, test_not_readable);
        tcase_add_test(t, test_both);
        return test_main("cli-wakes", t);
}
