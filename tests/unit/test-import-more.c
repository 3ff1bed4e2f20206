/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Imports files of laptop-mode-tools, template units, and files whose effect depends on other files. */

#include "suite.h"
#include "written-case.h"

/* clang-format off */
#define COMMENTED(line) "// line 1: " line
#define NOTHING "the file sets nothing"

/* laptop-mode-tools. */
#define LMT "/etc/laptop-mode/laptop-mode.conf"
#define HD "HD=\"/dev/sda\"\n"
#define APM HD "CONTROL_HD_POWERMGMT=1\nNOLM_AC_HD_POWERMGMT=254\nLM_AC_HD_POWERMGMT=200\nBATT_HD_POWERMGMT=1\n"
#define MATCH "match = { node = \"/dev/sda\"; rotational = true; transport = ( \"sata\", \"pata\" ); };"

static const WrittenCase cases[] = {
        { LMT, "ENABLE_LAPTOP_MODE_ON_AC=0\n" APM, { "\n        " MATCH "\n        apm = 254;\n        on_battery = { apm = 1; };" } },
        { LMT, "ENABLE_LAPTOP_MODE_ON_AC=1 # also here\n" APM, { "\n        apm = 200;\n" } },
        { LMT, "ENABLE_LAPTOP_MODE_TOOLS=0\n" APM, { NOTHING } },
        { LMT, "CONTROL_HD_POWERMGMT=0\nNOLM_AC_HD_POWERMGMT=254\n" HD, { NOTHING } },
        { LMT, "ENABLE_AUTO_MODULES=0\n" HD "CONTROL_HD_POWERMGMT=\"auto\"\nNOLM_AC_HD_POWERMGMT=254\n", { NOTHING } },
        { LMT, HD "CONTROL_HD_IDLE_TIMEOUT=1\nENABLE_LAPTOP_MODE_ON_AC=0\nENABLE_LAPTOP_MODE_ON_BATTERY=1\nLM_AC_HD_IDLE_TIMEOUT_SECONDS=20\nLM_BATT_HD_IDLE_TIMEOUT_SECONDS=300\nNOLM_HD_IDLE_TIMEOUT_SECONDS=7200\n",
          { "\n        spindown_time = \"7200s\";", "on_battery = { spindown_time = \"300s\"; };" } },
        { LMT, HD "CONTROL_HD_WRITECACHE=1\nNOLM_AC_HD_WRITECACHE=1\nNOLM_BATT_HD_WRITECACHE=0\nLM_HD_WRITECACHE=0\nENABLE_LAPTOP_MODE_ON_AC=0\nENABLE_LAPTOP_MODE_ON_BATTERY=1\n",
          { "\n        write_cache = true;", "on_battery = { write_cache = false; };" } },
        { LMT, "HD='/dev/sda /dev/disk/by-id/ata-X'\nCONTROL_HD_POWERMGMT=1\nBATT_HD_POWERMGMT=128\n", { "( \"/dev/sda\", \"/dev/disk/by-id/ata-X\" )", "on_battery = { apm = 128; };" } },
        /* A line becomes a comment if its drives or its value depend on a shell or on another file. */
        { LMT, "HD=\"$DISKS /dev/sdb\"\nCONTROL_HD_POWERMGMT=1\nBATT_HD_POWERMGMT=128\n", { "only a shell can expand \"$DISKS\" in line 1" }, "\n        match" },
        { LMT, "CONTROL_HD_POWERMGMT=1\nBATT_HD_POWERMGMT=128\n", { "the variable HD in another file names the drives" }, "\n        match" },
        { LMT, APM "if [ -e /run/x ]; then\nHD=/dev/sdb\nfi\n", { "only a shell can evaluate line 6: if [ -e /run/x ]; then" }, "\n        match" },
        { LMT, APM "ENABLE_LAPTOP_MODE_WHEN_LID_CLOSED=1\nENABLE_LAPTOP_MODE_ON_AC=0\n", { "// apm = 254; // line 4 applies while the lid is closed", "on_battery = { apm = 1; };" } },
        { LMT, APM, { "// apm = 254; // ENABLE_LAPTOP_MODE_ON_AC in another file decides between this line and line 4" } },
        { LMT, HD "CONTROL_READAHEAD=1\nLM_READAHEAD=3072\nNOLM_READAHEAD=128\nENABLE_LAPTOP_MODE_ON_AC=0\n", { "// read_ahead_kb = 128; // laptop-mode-tools sets the read-ahead only while" }, "\n        read" },
        { LMT, HD "BATT_HD=4\nCONTROL_HD_IDLE_TIMEOUT=0\n", { "line 2: not understood: BATT_HD" }, "{" },
#define LINKS "/etc/laptop-mode/conf.d/intel-sata-powermgmt.conf"
        { LINKS, "CONTROL_INTEL_SATA_POWER=\"auto\"\nCONTROL_AHCI_RUNTIME_PM=1\nBATT_SATA_POLICY=med_power_with_dipm\nLM_AC_SATA_POLICY=max_performance\nNOLM_AC_SATA_POLICY=max_performance\n",
          { "transport = \"sata\"; };\n        link_power_management = \"max_performance\";\n        on_battery = { link_power_management = \"med_power_with_dipm\"; };",
            "runtime_pm = \"on\";\n        on_battery = { runtime_pm = \"auto\"; };" } },
        { "/etc/laptop-mode/conf.d/runtime-pm.conf", "CONTROL_RUNTIME_AUTOSUSPEND=1\n", { "not understood: CONTROL_RUNTIME_AUTOSUSPEND" } },

        /* The instance of a template unit, such as "sda" in hd@sda.service, is taken from the name of the file or of
         * its directory. */
#define TEMPLATE(exec) "[Service]\nExecStart=" exec "\n"
#define OPEN "is known only when the command runs"
        { "/etc/systemd/system/hd@sda.service", TEMPLATE("/sbin/hdparm -S 120 /dev/%i"), { "\n        match = \"/dev/sda\";\n        spindown_time = 120;" } },
        { "hd@.service", TEMPLATE("/sbin/hdparm -S 120 /dev/%i"), { "line 2: the drive \"/dev/%i\" " OPEN, "//     spindown_time = 120;" }, "\n        match" },
        { "hd.service", TEMPLATE("/sbin/hdparm -S 120 /dev/%i"), { "\"/dev/%i\" " OPEN }, "\n        match" },
        { "/etc/systemd/system/hd@sdb.service.d/x.conf", TEMPLATE("/bin/sh -c 'hdparm -S 120 /dev/%I; echo 100%% >/dev/null'"), { "\n        match = \"/dev/sdb\";" } },
        { "hd@dev-disk-by\\x2did-ata\\x2dX1.service", TEMPLATE("/sbin/hdparm -S 120 %f"), { "\n        match = \"/dev/disk/by-id/ata-X1\";" } },
        { "hd@dev-sda.service", TEMPLATE("/sbin/hdparm -S 120 /%I"), { "\n        match = \"/dev/sda\";" } },
        { "hd@120.service", TEMPLATE("/sbin/hdparm -S %i /dev/sda"), { "\n        spindown_time = 120;" } },
        { "hd@a\\x20b.service", TEMPLATE("/sbin/hdparm -S 120 %f"), { OPEN }, "\n        match" },
        { "x.service", TEMPLATE("/bin/sh -c 'echo %H > /sys/block/sda/queue/scheduler'"), { "the value of a systemd specifier is known only when the unit runs", "//     // scheduler" }, "\n        match" },
        { "hd@sda.service", "[Unit]\nConditionPathExists=/dev/%i\n" TEMPLATE("/sbin/hdparm -S 120 /dev/%i"), { "\n        match = \"/dev/sda\";" } },

        /* PowerTOP. */
#define TUNES "match = \"/dev/sd*\";", "runtime_pm = \"auto\";", "match = { transport = \"sata\"; };", "link_power_management = \"med_power_with_dipm\";"
        { "/etc/rc.local", "#!/bin/sh -e\n/usr/sbin/powertop --auto-tune >/dev/null 2>&1 &\nexit 0\n", { "\n        " TUNES } },
        { "/etc/rc.local", "nice powertop --html=/tmp/x.html --time=5\n", { NOTHING } },
        { "/etc/crontab", "@reboot root /usr/sbin/powertop --auto-tune\n", { "\n        " TUNES } },
        { "/etc/crontab", "0 * * * * root powertop --auto-tune\n", { "cron runs this command at certain times", TUNES }, "\n        match" },
        { "x.rules", "ACTION==\"add\", KERNEL==\"sda\", RUN+=\"/usr/sbin/powertop --auto-tune\"\n", { "the udev rule name different drives", "runtime_pm" }, "\n        match" },
        { "x.service", TEMPLATE("-/bin/sh -c 'powertop --auto-tune'"), { "\n        " TUNES } },

        /* smartd ignores lines after DEVICESCAN. For such lines, the import writes a comment with this reason. */
        { "/etc/smartd.conf", "/dev/sda -e apm,128\nDEVICESCAN -a\nDEVICESCAN -e apm,127\n/dev/sdb -e wcache,off\n",
          { "lines 3, 4: smartd ignores lines after DEVICESCAN", "apm = 128;" }, "127" },
        /* RUN= may cancel commands of earlier udev rules, so these commands are commented out. */
        { "x.rules", "KERNEL==\"sda\", RUN+=\"hdparm -B 254 /dev/%k\", ATTR{queue/nr_requests}=\"64\"\nKERNEL==\"sda\", RUN=\"\"\n",
          { "line 1: RUN= in line 2 may cancel this command", "//     apm = 254;", "\n        nr_requests = 64;" } },
        { "x.rules", "KERNEL==\"sda\", RUN+=\"hdparm -B 254 /dev/%k\", RUN=\"hdparm -S 12 /dev/%k\"\n",
          { "RUN= in line 1 may cancel this command", "//     apm = 254;", "\n        spindown_time = 12;" } },
        { "x.rules", "KERNEL==\"sda\", RUN=\"hdparm -B 254 /dev/%k\"\nKERNEL==\"sd?\", RUN:=\"hdparm -S 12 /dev/%k\"\n",
          { "RUN= in line 2 may cancel this command", "//     apm = 254;", "match = \"/dev/sd?\";", "\n        spindown_time = 12;" } },
        { "x.rules", "KERNEL==\"sda\", RUN=\"hdparm -B 254 /dev/%k\"\nKERNEL==\"sdb\", RUN=\"hdparm -S 12 /dev/%k\"\n",
          { "\n        apm = 254;", "\n        spindown_time = 12;" }, "take" },
        { "x.rules", "KERNEL==\"sd?\", RUN+=\"hdparm -B 254 /dev/%k\"\nKERNEL==\"sdb\", RUN=\"\"\n", { "RUN= in line 2 may cancel this command" }, "\n        match" },
        { "x.rules", "KERNEL==\"sda\", RUN+=\"hdparm -B 254 /dev/%k\"\nKERNEL==\"sda\", ENV{X}==\"1\", RUN=\"\"\n", { "RUN= in line 2 may cancel this command" }, "\n        match" },
        { "x.rules", "KERNEL==\"sda\", RUN+=\"hdparm -B 254 /dev/%k\"\nACTION==\"change\", KERNEL==\"sda\", RUN=\"\"\n", { "RUN= in line 2 may cancel this command" }, "\n        match" },
        { "x.rules", "ACTION==\"add\", KERNEL==\"sda\", RUN+=\"hdparm -B 254 /dev/%k\"\nACTION==\"add\", KERNEL==\"sda\", RUN=\"\"\n", { "RUN= in line 2 may cancel this command" }, "\n        match" },
        { "x.rules", "KERNEL==\"sda\", RUN+=\"hdparm -B 254 /dev/%k\"\nACTION==\"remove\", KERNEL==\"sda\", RUN=\"\"\nSUBSYSTEM==\"net\", RUN=\"\"\n", { "\n        apm = 254;" }, "take" },
        /* If the shell command of a udev rule tests whether the rule's own drive exists, the command is imported
         * without a condition. */
        { "x.rules", "KERNEL==\"sd?\", RUN+=\"/bin/sh -c '[ -b /dev/%k ] && hdparm -S 12 /dev/%k'\"\n", { "match = \"/dev/sd?\";", "\n        spindown_time = 12;" }, "decides" },
        /* A command is commented out if it depends on the presence of another drive. The presence of the command's own
         * drive is no condition. */
        { "a.service", "[Unit]\nConditionPathExists=/dev/sdb\n[Service]\nExecStart=/sbin/hdparm -S 12 /dev/sda\n",
          { "ConditionPathExists in line 2 decides" }, "\n        match" },
        { "a.service", "[Unit]\nConditionPathExists=/sys/block/sda/queue\nAssertPathExists=/usr/sbin/hdparm\n[Service]\nExecStart=/sbin/hdparm -S 12 /dev/sda\n",
          { "\n        match = \"/dev/sda\";" } },
        /* Commands in two branches of a script become two blocks, both commented out. */
        { "x.sh", "case $1 in\n  a) hdparm -B 254 /dev/sda ;;\n  *) hdparm -S 120 /dev/sda ;;\nesac\n",
          { "//     apm = 254;\n    // },\n", "// line 3: line 1 decides whether the command runs\n", "//     spindown_time = 120;" }, "\n        match" },
        /* A line with a SCSI device number is commented out, since the number may belong to any drive. */
        { "/etc/tmpfiles.d/x.conf", "w /sys/class/scsi_device/0:0:0:0/device/timeout - - - - 180\nw /sys/bus/scsi/devices/1:0:0:0/queue_depth - - - - 1\n",
          { COMMENTED("the path has a number instead of the name of a drive"), "//     timeout = \"180s\";\n    // },\n", "// line 2: the path has", "//     queue_depth = 1;" }, "\n        match" },
        { "/etc/tmpfiles.d/x.conf", "w /sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/power/control - - - - auto\n",
          { "//     runtime_pm = \"auto\";" }, "\n        match" },
        { "/etc/tmpfiles.d/x.conf", "w \"/sys/block/sda/queue/scheduler\" - - - - none\n", { "\n        scheduler = \"none\";" } },
        { "x.sh", "sdparm --command=stop /dev/sda; sdparm -C start /dev/sda; sdparm -C ready /dev/sda\n",
          { "sdparm --command=stop acts once", "sdparm --command=start acts once" }, "ready" },
        { "x.rules", "SUBSYSTEM==\"block\", KERNEL==\"sd?\", TAG+=\"systemd\", ENV{SYSTEMD_WANTS}+=\"hd@%k.service\"\n",
          { "the rule starts a systemd unit, whose commands are not known: hd@%k.service" } },
        { "x.rules", "SUBSYSTEM==\"net\", ENV{SYSTEMD_WANTS}=\"x.service\"\n", { NOTHING } },
        /* A command that always succeeds is not a condition. */
        { "/etc/crontab", "@reboot root /bin/sleep 60 && hdparm -S 120 /dev/sda\n", { "\n        spindown_time = 120;" } },
        { "x.sh", "sleep 5 || hdparm -S 120 /dev/sda\n", { COMMENTED("line 1 decides") }, "\n        match" },
        { "x.timer", "[Unit]\nDescription=x\n[Timer]\nOnBootSec=5min\nOnUnitActiveSec=1h\n", { "lines 4, 5: a timer only starts another unit; import the file of that unit" } },
        /* A command or rule is commented out if it has a pattern of bash or udev that drivekeep would read
         * differently. */
        { "x.sh", "hdparm -S 120 /dev/disk/by-id/ata-!(*SSD*)\n", { OPEN }, "\n        match" },
        { "x.rules", "SUBSYSTEM==\"block\", KERNEL==i\"SDA\", ATTR{queue/scheduler}=\"none\"\n", { "no match for KERNEL==i\"SDA\"" }, "\n        match" },
        /* In units and udev rules, a comment neither continues a line nor ends a continued line. */
        { "x.rules", "# a comment \\\nKERNEL==\"sda\", ATTR{queue/scheduler}=\"none\"\n", { "line 2", "\n        match = \"/dev/sda\";" } },
        { "x.rules", "KERNEL==\"sda\", \\\n  # of this one\n  ENV{ID_BUS}==\"usb\", ATTR{queue/scheduler}=\"none\"\n",
          { "line 1", "\n        match = { node = \"/dev/sda\"; ID_BUS = \"usb\"; };" } },
        { "x.service", "[Service]\n# comment \\\nExecStart=/sbin/hdparm -S 12 \\\n; not this: /dev/sdb \\\n  /dev/sda\n", { "line 3", "\n        match = \"/dev/sda\";" } },
        /* hdparm.conf: a drive's earlier block overrides a later block with a pattern, so the import writes the block with the pattern
         * first. If the earlier block sets nothing, the block with the pattern is commented out. */
        { "/etc/hdparm.conf", "/dev/disk/by-id/ata-X {\n  apm = 127\n}\n/dev/sd? {\n  apm = 254\n  lookahead = on\n}\n",
          { "match = \"/dev/sd?\";\n        apm = 254;\n        lookahead = true;", "match = \"/dev/disk/by-id/ata-X\";\n        apm = 127;" } },
        { "/etc/hdparm.conf", "/dev/disk/by-id/ata-SSD {\n}\n/dev/sd* {\n  apm = 254\n}\n",
          { "the block in line 1 sets nothing, and may be an exception to this block", "//     apm = 254;" }, "\n        apm" },
};
/* clang-format on */

START_TEST(test_written) {
        check_written(&cases[_i]);
}
END_TEST

int main(void) {
        Suite *s = suite_create("import-more");
        TCase *t = tcase_create("import-more");

        tcase_add_loop_test(t, test_written, 0, ELEMENTSOF(cases));
        suite_add_tcase(s, t);

        return suite_run(s);
}
