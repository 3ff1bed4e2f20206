/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config-dump.h"
#include "config.h"
#include "suite.h"

/* clang-format off */
static const struct {
        const char *text;
        Expected complaints[EXPECTED_MAX];
} cases[] = {
        { "", {} },
        { "drives = ({ match = {}; apm = 1 },\n{ match = \"/dev/sda\"; apm = 2 });", {} },

        /* If a later rule sets the same setting for at least the same drives, the earlier value has no effect. The
         * warning is at the earlier value. */
        { "drives = ({ match = \"/dev/sda\"; apm = 2;\nlookahead = true },\n{ match = {}; apm = 1 });",
          { { 1, 33, 'w', "apm has no effect here: f:3 overrides it for all drives of this block" } } },
        { "drives = ({ match = { transport = \"sata\"; model = \"WDC*\" }; apm = 2 },\n"
          "{ match = { transport = [\"usb\", \"sata\"] }; apm = 1 });",
          { { 1, 61, 'w', "apm has no effect here: f:2" } } },
        { "drives = ({ match = { transport = \"sata\" }; apm = 2 },\n"
          "{ match = { transport = \"sata\"; model = \"WDC*\" }; apm = 1 });", {} },
        { "drives = ({ match = { transport = \"sata\" }; apm = 2 },\n{ match = { transport = \"usb\" }; apm = 1 });", {} },
        { "drives = ({ match = \"/dev/sda\"; apm = \"keep\" },\n{ match = {}; apm = 1 });",
          { { 1, 33, 'w', "apm has no effect here" } } },
        { "drives = ({ match = \"/dev/sda\"; apm = 1 },\n{ match = {}; only_in_raid = true; apm = 2 });", {} },
        { "drives = ({ match = \"/dev/sda\"; only_in_raid = true; apm = 1 },\n"
          "{ match = {}; only_in_raid = true; apm = 2 });", { { 1, 54, 'w', "apm has no effect here" } } },
        /* A later value in on_battery does not override a plain value. A later plain value overrides an earlier value
         * in on_battery. */
        { "drives = ({ match = \"/dev/sda\"; apm = 2 },\n{ match = {}; on_battery = { apm = 1 } });", {} },
        { "drives = ({ match = \"/dev/sda\"; on_battery = { apm = 2 } },\n{ match = {}; apm = 1 });",
          { { 1, 48, 'w', "apm has no effect here" } } },
        /* A broken block does not override values of other blocks. */
        { "drives = ({ match = \"/dev/sda\"; apm = 2 },\n{ match = {}; apm = 1 1; });", { { 2, 23, 'e', "" } } },

        { "drives = ({ match = \"/dev/sda\"; apm = 2 },\n{ match = [ \"/dev/sda\" ]; lookahead = true });",
          { { 2, 1, 'w', "matches the same drives as the one in f:1" } } },
        /* Two blocks for the same drives are no duplicates if they differ in spindown_by or wake. */
        { "drives = ({ match = \"/dev/sda\"; lookahead = true },\n{ match = \"/dev/sda\"; spindown_time = \"1h\"; spindown_by = \"auto\" });", {} },
        { "drives = ({ match = \"/dev/sda\"; apm = 2 },\n{ match = \"/dev/sda\"; lookahead = true; wake = true });", {} },

        /* A setting whose name is also a match key does not select drives. There is a warning if the user may have
         * meant to select drives. */
#define CHOOSING "rotational is written to all drives of this block; to select drives by rotational, write the key inside match"
        { "drives = ({ match = { transport = \"sata\"; };\nrotational = true; apm = 1 });", { { 2, 1, 'w', CHOOSING } } },
        { "drives = ({ match = {};\nrotational = false });", { { 2, 1, 'w', CHOOSING } } },
        { "drives = ({ match = {};\non_battery = { rotational = false } });", { { 2, 16, 'w', CHOOSING } } },
        { "drives = ({ match = \"/dev/sd*\";\nrotational = false });", { { 2, 1, 'w', CHOOSING } } },
        { "drives = ({ match = { transport = \"sata\"; rotational = true; }; rotational = false });", {} },
        { "drives = ({ match = \"/dev/sda\"; rotational = false });", {} },
        { "drives = ({ match = { serial = \"x\"; }; rotational = false });", {} },
        { "drives = ({ match = {}; rotational = \"keep\" });", {} },

        /* A value of apm below 128 lets the drive spin down by its own timer. Such a value causes a warning if
         * spindown_time is set, too. */
        { "drives = ({ match = {}; spindown_time = \"20min\";\napm = 127 });",
          { { 2, 1, 'w', "apm below 128 (unlike 128 or more) lets the drive spin down" } } },
        { "drives = ({ match = {}; spindown_time = \"20min\"; apm = 128 });", {} },
        { "drives = ({ match = {}; spindown_time = \"20min\"; apm = \"keep\" });", {} },
        { "drives = ({ match = {}; spindown_time = \"20min\"; apm = 254;\non_battery = { apm = 1 } });",
          { { 2, 16, 'w', "apm below 128" } } },

        /* Two values that conflict cause a warning, in one block or in two blocks. Two values that do not conflict
         * cause no warning. */
        { "drives = ({ match = {}; thermal_light = 70; thermal_heavy = 70 });",
          { { 1, 25, 'w', "thermal_light is not written: it must be below the thermal_heavy of f:1" } } },
        { "drives = ({ match = {}; thermal_light = 70; thermal_heavy = 71 },\n"
          "{ match = \"/dev/sda\"; thermal_light = 70; thermal_heavy = \"off\" });", {} },
        { "drives = ({ match = {}; error_recovery = \"40s\";\ntimeout = \"30s\" });",
          { { 2, 1, 'w', "which must be longer than the error_recovery of f:1" } } },
        { "drives = ({ match = {}; error_recovery = \"29s\"; timeout = \"30s\" });", {} },
        { "drives = ({ match = {}; error_recovery = false; timeout = \"30s\" });", {} },
        { "drives = ({ match = {}; write_cache = false; write_cache_forced = \"on\" });",
          { { 1, 25, 'w', "write_cache has no effect here: the drive obeys the write_cache_forced at f:1" } } },
        { "drives = ({ match = {}; write_cache = true; write_cache_forced = \"on\" });", {} },
        { "drives = ({ match = {}; write_cache = true; write_cache_forced = \"normal\" });", {} },
        { "drives = ({ match = \"/dev/sda\"; apm = 60 },\n{ match = \"/dev/sda\"; wake = true; spindown_time = \"1h\" });",
          { { 1, 33, 'w', "the spindown_time of f:2" } } },
        { "drives = ({ match = {}; apm = 60 },\n{ match = \"/dev/sda\"; spindown_time = \"1h\" },\n"
          "{ match = \"/dev/sdb\"; apm = 254; spindown_time = \"1h\" },\n"
          "{ match = \"/dev/sdc\"; apm = \"keep\" });",
          { { 1, 25, 'w', "the spindown_time of f:2" } } },
        { "drives = ({ match = {}; apm = 60 },\n{ match = \"/dev/sda\"; epc = true },\n"
          "{ match = \"/dev/sdb\"; epc = false },\n{ match = \"/dev/sdc\"; apm = \"off\"; epc = true });",
          {} },
        { "drives = ({ match = { transport = \"usb\" }; apm = 60 },\n{ match = \"/dev/sda\"; spindown_time = \"1h\" });", {} },
        { "drives = ({ match = {}; apm = 254 },\n"
          "{ match = \"/dev/sda\"; spindown_time = \"1h\"; on_battery = { apm = 60 } });",
          { { 2, 60, 'w', "the spindown_time of f:2" } } },

        /* Two settings that exclude each other cause only a notice, since a drive may support only one of the two
         * settings. */
#define ONLY(a, b, line) \
        a " is not written to drives that support " b ": the two exclude each other, and the later one (f:" #line ") wins"
        { "drives = ({ match = { transport = \"sata\" }; apm = 1 },\n{ match = { transport = \"sata\" }; epc = true });",
          { { 1, 45, 'n', ONLY("apm", "epc", 2) } } },
        { "drives = ({ match = { transport = \"sata\" }; apm = 1 },\n{ match = {}; epc = true });", { { 1, 45, 'n', ONLY("apm", "epc", 2) } } },
        { "drives = ({ match = {}; epc = true; lookahead = true;\napm = 1 });", { { 1, 25, 'n', ONLY("epc", "apm", 2) } } },
        { "drives = ({ match = {}; on_battery = { apm = 1; lookahead = true;\nepc = true } });", { { 1, 40, 'n', ONLY("apm", "epc", 2) } } },
        { "drives = ({ match = {}; on_battery = { apm = 1 } },\n{ match = {}; epc = true });", { { 1, 40, 'n', ONLY("apm", "epc", 2) } } },
        /* recovery_read is part of error_recovery, so a drive that supports one of the settings supports both settings.
         * The earlier setting is therefore never written, which causes a warning. */
        { "drives = ({ match = {}; error_recovery = \"7s\"; recovery_read = \"4s\" });", { { 1, 25, 'w', ONLY("error_recovery", "recovery_read", 1) } } },
        { "drives = ({ match = {}; recovery_read = \"4s\"; error_recovery = false });", { { 1, 25, 'w', ONLY("recovery_read", "error_recovery", 1) } } },
        /* A later "keep" overrides apm, so apm is never written, and there is no notice about epc. */
        { "drives = ({ match = {}; apm = 1 },\n{ match = {}; apm = \"keep\"; epc = true });", { { 1, 25, 'w', "apm has no effect here" } } },
        { "drives = ({ match = {}; apm = 1 },\n{ match = {}; epc = true },\n{ match = {}; apm = \"keep\" });",
          { { 1, 25, 'w', "apm has no effect here" }, { 3, 1, 'w', "merge the two blocks" } } },
        /* No notice appears if the later of two exclusive settings applies to only some of the drives, applies only on
         * battery, is turned off, has an error, or is in a broken block. */
        { "drives = ({ match = {}; apm = 1 },\n{ match = { transport = \"sata\" }; epc = true });", {} },
        { "drives = ({ match = {}; apm = 1; on_battery = { epc = true } });", {} },
        { "drives = ({ match = {}; apm = 1 },\n{ match = {}; on_battery = { epc = true } });",
          { { 2, 1, 'w', "merge the two blocks" } } },
        { "drives = ({ match = {}; epc = true; on_battery = { apm = 1 } });", {} },
        { "drives = ({ match = {}; apm = 1; epc = false });", {} },
        { "drives = ({ match = {}; apm = 1; epc = \"keep\" });", {} },
        { "drives = ({ match = {}; apm = 1; epc = 7 });", { { 1, 40, 'e', "" } } },
        { "drives = ({ match = {}; apm = 1 },\n{ match = {}; epc = true; lookahead = 1 1 });", { { 2, 41, 'e', "" } } },
        { "drives = ({ match = { transport = \"sata\" }; apm = 1; epc = true },\n{ match = {}; epc = false });",
          { { 1, 54, 'w', "epc has no effect here" } } },
        { "drives = ({ match = \"/dev/sda\"; apm = \"keep\" },\n{ match = \"/dev/sda\"; epc = true });",
          { { 2, 1, 'w', "merge the two blocks" } } },

        /* A drive that is kept active cannot spin down. */
        { "drives = ({ match = {}; keep_active = \"45s\"; spindown_time = \"20min\" });",
          { { 1, 25, 'e', "keep_active and spindown_time (f:1) exclude each other: no drive can spin down and stay active; remove one" } } },
        { "drives = ({ match = {}; spindown_time = \"20min\" },\n{ match = {}; allow_dangerous = true; keep_active = \"45s\" });",
          { { 1, 25, 'e', "spindown_time and keep_active (f:2) exclude each other" } } },
        { "drives = ({ match = {}; keep_active = \"45s\"; spindown_time = \"off\" });", {} },
        { "drives = ({ match = {}; keep_active = \"off\"; spindown_time = \"20min\" });", {} },

        /* With iostats = false, the kernel counts no I/O, so the service cannot know when to spin the drive down.
         * spindown_time therefore causes a warning. */
        { "drives = ({ match = {}; iostats = false;\nspindown_time = \"1h\"; spindown_by = \"service\" });",
          { { 2, 1, 'w', "spin-down by the service needs the kernel's I/O counters: remove this setting, or remove iostats = false at f:1" } } },
        { "drives = ({ match = {}; iostats = false },\n{ match = \"/dev/sda\"; spindown_time = \"1h\"; spindown_by = \"auto\" });",
          { { 2, 23, 'w', "iostats = false at f:1" } } },
        { "drives = ({ match = {}; spindown_time = \"1h\"; spindown_by = \"auto\" },\n{ match = \"/dev/sda\"; iostats = false });",
          { { 1, 25, 'w', "iostats = false at f:2" } } },
        { "drives = ({ match = {}; iostats = false; spindown_time = \"1h\" });", {} },
        { "drives = ({ match = {}; iostats = true; spindown_time = \"1h\"; spindown_by = \"service\" });", {} },
        { "drives = ({ match = {}; iostats = false; spindown_time = \"off\"; spindown_by = \"service\" });", {} },
        { "drives = ({ match = {}; iostats = false; spindown_time = \"1h\"; spindown_by = \"service\"; commands_are_use = true });", {} },
        { "drives = ({ match = \"/dev/sda\"; iostats = false },\n{ match = \"/dev/sdb\"; spindown_time = \"1h\"; spindown_by = \"service\" });", {} },
        { "drives = ({ match = {}; iostats = false },\n"
          "{ match = \"/dev/sda\"; iostats = true; spindown_time = \"1h\"; spindown_by = \"service\" });", {} },

        /* on_drift without recheck causes no warning, since on_drift also applies to visits for other reasons, such as
         * the visit after Debian's udev rule. */
        { "on_drift = \"restore\";", {} },
        { "on_drift = \"restore\"; recheck = \"1h\";", {} },
        { "on_drift = \"report\";", {} },

        /* A dangerous setting without allow_dangerous causes a warning. A setting that only 'drivekeep apply
         * --permanent' writes causes a notice. An option of a block causes a warning if it applies to no setting of the
         * block. */
        { "drives = ({ match = {}; poweron_standby = true });",
          { { 1, 25, 'w', "poweron_standby is not written without allow_dangerous = true in this block: it may never come up" },
            { 1, 25, 'n', "the service only checks the value; 'drivekeep apply --permanent' writes it" } } },
        { "drives = ({ match = {}; allow_dangerous = true; poweron_standby = true });",
          { { 1, 49, 'n', "the service only checks the value; 'drivekeep apply --permanent' writes it" } } },
        { "drives = ({ match = {}; poweron_standby = false });", { { 1, 25, 'n', "--permanent" } } },
        { "drives = ({ match = {}; poweron_standby = \"keep\" });", {} },
        { "drives = ({ match = {}; permanent = true; apm = 1 });", { { 1, 11, 'w', "permanent = true has no effect here" } } },
        { "drives = ({ match = {}; permanent = true; idle_a = \"2s\" });", {} },
        { "drives = ({ match = {}; spindown_by = \"service\"; idle_a = \"2s\" });", { { 1, 11, 'w', "spindown_by has no effect here" } } },
        { "drives = ({ match = {}; spindown_by = \"auto\"; spindown_time = \"1h\" });", {} },
        { "drives = ({ match = {}; spindown_by = \"auto\"; spindown_time = \"off\" });", {} },
        { "drives = ({ match = {}; spindown_by = \"drive\"; apm = 1 });", {} },
        { "drives = ({ match = {}; wake_together = true; apm = 1 });", { { 1, 11, 'w', "wake_together has no effect here" } } },
        { "drives = ({ match = {}; wake_together = true; spindown_time = \"1h\" });", {} },
        { "drives = ({ match = {}; commands_are_use = true; apm = 1 });", { { 1, 11, 'w', "commands_are_use has no effect here" } } },
        { "drives = ({ match = {}; commands_are_use = true; spindown_time = \"1h\" });", {} },
        { "drives = ({ match = \"/dev/sda\"; lookahead = true },\n{ match = \"/dev/sda\"; spindown_time = \"1h\"; commands_are_use = true });", {} },

        /* Two rules set apm. There is a warning if the later rule matches all drives of the earlier rule. There is no
         * warning if the matches only overlap, or if they have different keys. */
        { "drives = ({ match = { model = [\"A\", \"B\"] }; apm = 2 },\n{ match = { model = [\"B\", \"A\", \"C\"] }; apm = 1 });",
          { { 1, 45, 'w', "apm has no effect here" } } },
        { "drives = ({ match = { model = [\"A\", \"B\"] }; apm = 2 },\n{ match = { model = [\"B\", \"C\"] }; apm = 1 });", {} },
        { "drives = ({ match = { ID_A = \"x\" }; apm = 2 },\n{ match = { ID_B = \"x\" }; apm = 1 });", {} },
        { "drives = ({ match = { ID_A = \"x\" }; apm = 2 },\n{ match = { ID_A = \"x\" }; apm = 1 });",
          { { 1, 37, 'w', "apm has no effect here" }, { 2, 1, 'w', "matches the same drives" } } },
        /* An assignment with an error (apm = 300) is not compared with spindown_time. */
        { "drives = ({ match = {}; spindown_time = \"20min\"; apm = 300 });", { { 1, 56, 'e', "" } } },
        /* Two blocks are no duplicates if the first block is broken, or differs in permanent or allow_dangerous. */
        { "drives = ({ match = \"/dev/sda\"; apm = 2 2 },\n{ match = \"/dev/sda\"; lookahead = true });", { { 1, 41, 'e', "" } } },
        { "drives = ({ match = \"/dev/sda\"; apm = 2; permanent = true; idle_a = \"2s\" },\n{ match = \"/dev/sda\"; lookahead = true });", {} },
        { "drives = ({ match = \"/dev/sda\"; apm = 2; allow_dangerous = true },\n{ match = \"/dev/sda\"; lookahead = true });", {} },
        /* apm = "off" and spindown_time = "keep" set no timer, so they cause no warning. If apm = 127 conflicts with
         * two values of spindown_time, there are two warnings. */
        { "drives = ({ match = {}; spindown_time = \"20min\"; apm = \"off\" });", {} },
        { "drives = ({ match = {}; spindown_time = \"keep\"; apm = 127 });", {} },
        { "drives = ({ match = {}; spindown_time = \"20min\"; apm = 127;\non_battery = { spindown_time = \"5min\" } });",
          { { 1, 50, 'w', "of f:1" }, { 1, 50, 'w', "of f:2" } } },

        /* A scheduler that is not built into Linux causes a warning. */
        { "drives = ({ match = {}; scheduler = \"cfq\" });", { { 1, 25, 'w', "scheduler \"cfq\" is not built into Linux; did you mean \"bfq\"?" } } },
        { "drives = ({ match = {}; scheduler = \"anticipatory\" });", { { 1, 25, 'w', "did you mean \"none\"?" } } },
        { "drives = ({ match = {}; scheduler = \"mq-deadline\" });", {} },

        /* A spindown_time without a unit is in the units of hdparm -S. A number that the user may have meant as minutes
         * causes a notice. */
        { "drives = ({ match = {}; spindown_time = 30 });",
          { { 1, 41, 'n', "spindown_time = 30 is 2 min 30 s in the units of hdparm -S; for 30 minutes write \"30min\"" } } },
        { "drives = ({ match = {}; spindown_time = 45 });", { { 1, 41, 'n', "45 is 3 min 45 s in the units of hdparm -S" } } },
        { "drives = ({ match = {}; spindown_time = 61 }, { match = \"/dev/x\"; spindown_time = 0 });", {} },
        { "drives = ({ match = {}; spindown_time = \"30min\" });", {} },

        /* The complaint does not shorten the text that the user should write. */
#define LONG "/dev/disk/by-id/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        { "drives = ({ match = " LONG "; apm = 1 });", { { 1, 21, 'e', "must be in quotes: write \"" LONG "\"" } } },
};

static const struct {
        const char *node;
        const char *contains; /* part of the complaint; NULL: no complaint */
} names[] = {
        { "/dev/disk/by-id/ata-X_1", NULL },
        { "/dev/disk/by-*/ata-X_1", NULL },
        { "/dev/disk/by-?d/ata-X_1", NULL },
        { "/dev/disk/[b]y-id/ata-X_1", NULL },
        { "/dev/disk/by-vdev/A0", NULL },
        { "/dev/disk/by-foo/x", "udev makes no directory /dev/disk/by-foo, so" },
        { "/dev/disk/by-di/x-part1x", "did you mean \"/dev/disk/by-id/x-part1x\"?" },
        { "/dev/disk/BY-ID/x", "did you mean \"/dev/disk/by-id/x\"?" },
        { "/dev/disk/by-id/ata-X-part12", "for the whole drive; write \"/dev/disk/by-id/ata-X\"" },
        { "/dev/sda1", "write \"/dev/sda\"" },
        { "/dev/nvme0n1p2", "write \"/dev/nvme0n1\"" },
        { "/dev/mmcblk0p1", "write \"/dev/mmcblk0\"" },
        { "/dev/sda", "may be another drive after the next boot" },
        { "/dev/sdX", "may be another drive" },
        { "/dev/nvme0n1", "may be another drive" },
        { "/dev/sr0", "may be another drive" },
        { "/dev/mmcblk0", "may be another drive" },
        { "/dev/hda", "write a link below /dev/disk/by-id, or a match by model or serial" },
        { "/dev/dm-1", "may be another drive after the next boot; write a link below /dev/disk/by-id" },
        { "/dev/md127", "may be another drive after the next boot; write a link below /dev/disk/by-id" },
        { "/dev/md0", "may be another drive" },
        { "/dev/md_d1", "may be another drive" },
        { "/dev/md127p1", "write \"/dev/md127\"" },
        { "/dev/disk/by-diskseq/9", "may be another drive" },
        { "/dev/block/8:0", "may be another drive" },
        /* If an attached drive has the name, the complaint proposes the drive's persistent link. */
        { "/dev/sdq", "may be another drive after the next boot; for the drive that has this name now, write "
                      "\"/dev/disk/by-id/ata-Q\"" },
        { "/dev/block/65:0", "for the drive that has this name now, write \"/dev/disk/by-id/ata-Q\"" },
        { "/dev/sdq2", "for the whole drive; write \"/dev/disk/by-id/ata-Q\"" },
        { "/dev/dm-7", "now, write \"/dev/disk/by-id/dm-name-vg-lv\"" },
        { "/dev/vdb", "now, write \"/dev/disk/by-path/pci-1\"" },
        { "/dev/vdc", "write a link below /dev/disk/by-id, or" },
        { "/dev/disk/by-id/ata-Q", NULL },
        { "/dev/sd*", NULL },
        { "/dev/md/home", NULL },
        { "/dev/mapper/vg-lv", NULL },
        { "/dev/vg/lv", NULL },
        { "/dev/mdadm", NULL },
        { "/dev/mapper/sda1", NULL },
};
/* clang-format on */

START_TEST(test_names) {
        static const struct {
                const char *node, *links[5];
        } present[] = {
                { "/dev/sdq",
                  { "/dev/disk/by-path/pci-2", "/dev/disk/by-id/wwn-0x5", "/dev/disk/by-id/lvm-pv-uuid-q",
                    "/dev/block/65:0", "/dev/disk/by-id/ata-Q" } },
                { "/dev/dm-7", { "/dev/disk/by-id/dm-uuid-x", "/dev/vg/lv", "/dev/disk/by-id/dm-name-vg-lv" } },
                { "/dev/vdb", { "/dev/disk/by-path/pci-1" } },
                { "/dev/vdc", {} },
        };
        Drive drives[ELEMENTSOF(present)] = {}, *all[ELEMENTSOF(present)];
        _cleanup_(config_freep) Config *c = NULL;
        Expected expected[2] = { { 2, 11, 'w', names[_i].contains } };
        char text[256];

        (void) snprintf(text, sizeof text, "drives = ({ apm = 1;\n  match = (\"%s\"); });", names[_i].node);
        for (size_t i = 0; i < ELEMENTSOF(present); i++) {
                all[i] = drives + i;
                drives[i].node = (char *) present[i].node;
                for (size_t k = 0; k < ELEMENTSOF(present[i].links) && present[i].links[k]; k++)
                        ck_assert_int_ge(drive_add_link(drives + i, present[i].links[k], LINK_OWN), 0);
        }
        c = parse(text, strlen(text));
        ck_assert_int_eq(config_check_names(c, all, ELEMENTSOF(all)), 0);
        assert_complaints(&c->complaints, expected);
        for (size_t i = 0; i < ELEMENTSOF(present); i++) {
                for (size_t k = 0; k < drives[i].n_links; k++)
                        free(drives[i].links[k].path);
                free(drives[i].links);
        }
}
END_TEST

/* The name of a node is checked only as a value of the key `node`, and not in a broken block. */
START_TEST(test_names_elsewhere) {
        static const char text[] =
                        "drives = ({ match = { model = \"/dev/sda\" }; apm = 1 }, { match = \"/dev/sda\"; apm = 1 1 });";
        _cleanup_(config_freep) Config *c = parse(text, strlen(text));

        ck_assert_int_eq(config_check_names(c, NULL, 0), 0);
        ck_assert_uint_eq(c->complaints.n_items, 1);
}
END_TEST

/* complaints_drop() removes the complaints about one file. Complaints about other files remain. */
START_TEST(test_dropped) {
        _cleanup_(complaints_done) Complaints c = {};

        ck_assert_int_eq(complain(&c, COMPLAINT_ERROR, "a", 1, 1, "wrong"), 0);
        ck_assert_int_eq(complain(&c, COMPLAINT_WARNING, "a", 2, 1, "odd"), 0);
        ck_assert_int_eq(complain(&c, COMPLAINT_WARNING, "b", 1, 1, "odd"), 0);
        ck_assert(complaints_have_error(&c, "a"));
        ck_assert(!complaints_have_error(&c, "b"));
        ck_assert(!complaints_have_error(&c, "c"));

        complaints_drop(&c, "a");
        ck_assert_uint_eq(c.n_items, 1);
        ck_assert_uint_eq(c.n_errors, 0);
        ck_assert_str_eq(c.items[0].file, "b");
        ck_assert(!complaints_have_error(&c, "a"));
}
END_TEST

/* One mistake causes exactly one complaint. */
/* clang-format off */
#define BEFORE "drives = (\n  { match = \"/dev/x\"; apm = 1; },\n"
#define BEHIND "\n  { match = \"/dev/y\"; apm = 1; } );\n"
static const struct {
        const char *text;
        Expected complaints[2];
} faults[] = {
        { BEFORE "{ match = {}; apm = 127;" BEHIND,                { { 3, 1, 'e', "this block is not closed" } } },
        { BEFORE "{ match = {}; apm = 127; }" BEHIND,              { { 4, 3, 'e', "a comma is missing" } } },
        { BEFORE "{ match = {}; apm 127; }," BEHIND,               { { 3, 15, 'e', "\"=\" is missing" } } },
        { BEFORE "{ match = {}; apm = ; }," BEHIND,                { { 3, 15, 'e', "has no value" } } },
        { BEFORE "{ match = {}; apm == 1; }," BEHIND,              { { 3, 20, 'e', "\"=\" is repeated here" } } },
        { BEFORE "{ match = {}; apm = \"127; }," BEHIND,           { { 3, 21, 'e', "closing quote" } } },
        { BEFORE "{ match = {}; spindown_time = 20min; }," BEHIND, { { 3, 31, 'e', "write \"20min\"" } } },
        { BEFORE "{ match = {}; amp = 127; }," BEHIND,             { { 3, 15, 'e', "did you mean \"apm\"?" } } },
        { BEFORE "{ match = {}; apm = \"fast\"; }," BEHIND,        { { 3, 21, 'e', "not a valid value for apm" } } },
        { BEFORE "{ match = {}; apm = 1; apm = 2; }," BEHIND,      { { 3, 24, 'e', "is set twice" } } },
        { BEFORE "{ match = {}; apm = 1; }}," BEHIND,              { { 3, 25, 'e', "\"}\" is repeated here" } } },
        { BEFORE "{ match = {}; apm = 1; };" BEHIND,               { { 3, 25, 'e', "write \",\" instead of \";\"" } } },
        { BEFORE "{ apm = 127; }," BEHIND,                         { { 3, 1, 'e', "has no match" } } },
        { BEFORE "{ match = {}; apm = 1; };",                      { { 1, 10, 'e', "list is not closed" } } },
        { "drive = ( { match = {}; apm = 1; } );",                 { { 1, 1, 'e', "did you mean \"drives\"?" } } },
};
/* clang-format on */

START_TEST(test_one_complaint) {
        _cleanup_(config_freep) Config *c = parse(faults[_i].text, strlen(faults[_i].text));

        assert_complaints(&c->complaints, faults[_i].complaints);
}
END_TEST

START_TEST(test_check) {
        _cleanup_(config_freep) Config *c = parse(cases[_i].text, strlen(cases[_i].text));

        ck_assert_int_eq(config_check(c, &fake_table), 0);
        assert_complaints(&c->complaints, cases[_i].complaints);
}
END_TEST

/* In a file with many blocks, blocks are not compared: comparing all pairs would delay the service by minutes. */
START_TEST(test_many_blocks) {
        static const char block[] = "{ match = \"/dev/sda\"; apm = 1 },";
        _cleanup_(config_freep) Config *c = NULL;
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f;

        f = open_memstream(&text, &size);
        ck_assert_ptr_nonnull(f);
        fputs("drives = (", f);
        for (unsigned i = 0; i < 2000; i++)
                fputs(block, f);
        fputs("{ match = \"/dev/sda\"; apm = 2 });", f);
        ck_assert_int_eq(fclose(f), 0);

        c = parse(text, size);
        ck_assert_uint_eq(c->n_blocks, 2001);
        ck_assert_int_eq(config_check(c, &fake_table), 0);
        ck_assert_uint_eq(c->complaints.n_items, 0);
}
END_TEST

/* ---- settings that a kind of drive does not support ---- */

/* clang-format off */
static const Remedy by_standby_z = { "use standby_z", { "standby_z", "standby_y" }, 1U << BACKEND_SCSI_MODE };
static const Remedy by_kernel = { "boot another kernel", {}, 0 };

static const ValueWord pm_words[] = { { "on", 0 }, { "auto", 1 }, {} }, delay_words[] = { { "never", -1 }, {} };

static const Setting kind_rows[] = {
        { .name = "spindown_time", .backend = BACKEND_ATA, .spins_down = true, .remedy = &by_standby_z,
          .range = { .type = VALUE_STANDBY_TIMER, .max = 255, .has_off = true } },
        { .name = "apm", .backend = BACKEND_ATA, .off_without = 1U << BACKEND_ATA, .remedy = &by_standby_z,
          .range = { .type = VALUE_INT, .min = 1, .max = 255, .has_off = true, .off = 255 } },
        { .name = "write_cache", .backend = BACKEND_ATA, .range = { .type = VALUE_BOOL } },
        { .name = "standby_z", .backend = BACKEND_SCSI_MODE, .spins_down = true,
          .range = { .type = VALUE_DURATION, .max = 60000, .has_off = true, .off = 0 } },
        { .name = "standby_y", .backend = BACKEND_SCSI_MODE,
          .range = { .type = VALUE_DURATION, .max = 60000, .has_off = true, .off = 0 } },
        { .name = "sleep", .backend = BACKEND_SCSI_MODE, .flags = SETTING_ABSENT, .remedy = &by_kernel,
          .range = { .type = VALUE_BOOL } },
        { .name = "sleep", .backend = BACKEND_ATA, .remedy = &by_kernel, .range = { .type = VALUE_BOOL } },
        { .name = "runtime_pm", .backend = BACKEND_SCSI, .range = { .type = VALUE_NAME, .words = pm_words } },
        { .name = "autosuspend_delay", .backend = BACKEND_SCSI,
          .range = { .type = VALUE_DURATION, .min = 1000, .max = 3600000, .step = 1, .words = delay_words } },
        { .name = "manage_start_stop", .backend = BACKEND_SCSI, .range = { .type = VALUE_BOOL } },
        { .name = "manage_runtime_start_stop", .backend = BACKEND_SCSI, .range = { .type = VALUE_BOOL } },
        {}
};
static const SettingTable kind_table = { .tables = { kind_rows } };

#define SAS "drives = ({ match = { transport = \"sas\" };\n"
#define KIND(name, how) name " is unsupported by drives of this transport: " how

/* Complaints of config_check() about rules that match drives by transport. The complaints appear even if no drive is
 * attached. */
static const struct {
        const char *text;
        Expected complaints[EXPECTED_MAX];
} kind_rules[] = {
        { SAS "spindown_time = \"1h\" });", { { 2, 1, 'w', KIND("spindown_time", "use standby_z") } } },
        { SAS "apm = 127 });", { { 2, 1, 'w', KIND("apm", "use standby_z") } } },
        { SAS "sleep = true });", { { 2, 1, 'w', KIND("sleep", "boot another kernel") } } },
        /* There is a warning if no transport in the match supports the setting. There is no warning if the rule may
         * match a drive that supports the setting. */
        { "drives = ({ match = { transport = [\"sas\", \"scsi\"] };\napm = 127 });", { { 2, 1, 'w', KIND("apm", "use standby_z") } } },
        { "drives = ({ match = { transport = [\"sas\", \"sata\"] };\napm = 127 });", {} },
        { "drives = ({ match = { transport = [\"sas\", \"pata\"] };\napm = 127 });", {} },
        { "drives = ({ match = { transport = [\"sas\", \"s*\"] };\napm = 127 });", {} },
        { "drives = ({ match = { model = \"X\"; transport = \"sas\" };\napm = 127 });", { { 2, 1, 'w', KIND("apm", "use standby_z") } } },
        { "drives = ({ match = { model = \"X\" };\napm = 127 });", {} },
        { "drives = ({ match = { transport = \"sata\" };\nsleep = true });", {} },
        { "drives = ({ match = { transport = \"nvme\" };\nsleep = true; apm = 127 });", {} },
        /* write_cache causes no warning, since the settings table of the test proposes no other setting in its
         * place. */
        { SAS "write_cache = true });", {} },
        /* apm = "off" and apm = "keep" cause no warning, since they need no write to a drive without APM. spindown_time
         * causes no warning if the service spins the drive down. */
        { SAS "apm = \"off\" });", {} },
        { SAS "apm = \"keep\" });", {} },
        { SAS "spindown_time = \"off\" });", { { 2, 1, 'w', KIND("spindown_time", "use standby_z") } } },
        { SAS "spindown_time = \"1h\"; spindown_by = \"service\" });", {} },
        { SAS "spindown_time = \"1h\"; spindown_by = \"auto\" });", {} },
        { SAS "apm = 128; spindown_time = \"1h\"; spindown_by = \"auto\" });", { { 2, 1, 'w', KIND("apm", "use standby_z") } } },
        /* There is no warning about apm if standby_z or standby_y is set on mains for all drives of the rule, since
         * either setting can replace apm. */
        { SAS "apm = 127; standby_z = \"1min\" });", {} },
        { SAS "apm = 127; standby_y = \"1min\" });", {} },
        { SAS "apm = 127 },\n{ match = {}; standby_z = \"1min\" });", {} },
        { SAS "apm = 127 },\n{ match = {}; only_in_raid = true; standby_z = \"1min\" });", { { 2, 1, 'w', KIND("apm", "use standby_z") } } },
        { SAS "only_in_raid = true; apm = 127 },\n{ match = {}; only_in_raid = true; standby_z = \"1min\" });", {} },
        { SAS "apm = 127 },\n{ match = \"/dev/sda\"; standby_z = \"1min\" });", { { 2, 1, 'w', KIND("apm", "use standby_z") } } },
        { SAS "apm = 127; on_battery = { standby_z = \"1min\" } });", { { 2, 1, 'w', KIND("apm", "use standby_z") } } },
        /* A setting with an error, or in a broken block, causes no warning about the transport. */
        { SAS "apm = \"x\" });", { { 2, 7, 'e', "apm" } } },
        { SAS "apm = 127; standby_z = 1 1 });", { { 2, 26, 'e', "" } } },
};

#define FOR(name, how) name " is unsupported by /dev/sda: " how

/* Complaints of config_check_drive() about the attached drive /dev/sda. All rules that match the drive are considered
 * together. */
static const struct {
        const char *text;
        Transport transport;
        Expected complaints[EXPECTED_MAX];
} kind_present[] = {
        { "drives = ({ match = {}; apm = 127 });", TRANSPORT_SAS, { { 1, 25, 'w', FOR("apm", "use standby_z") } } },
        { "drives = ({ match = {}; apm = 127 });", TRANSPORT_SATA, {} },
        { "drives = ({ match = {}; apm = 127 });", TRANSPORT_NVME, {} },
        { "drives = ({ match = {}; sleep = true });", TRANSPORT_SAS, { { 1, 25, 'w', FOR("sleep", "boot another kernel") } } },
        { "drives = ({ match = {}; write_cache = true });", TRANSPORT_SAS, {} },
        { "drives = ({ match = {}; apm = \"off\" });", TRANSPORT_SAS, {} },
        { "drives = ({ match = {}; apm = \"x\" });", TRANSPORT_SAS, { { 1, 31, 'e', "apm" } } },
        { "drives = ({ match = {}; spindown_time = \"1h\"; spindown_by = \"auto\" });", TRANSPORT_SAS, {} },
        { "drives = ({ match = {}; spindown_time = \"1h\" });", TRANSPORT_SAS, { { 1, 25, 'w', FOR("spindown_time", "use standby_z") } } },
        { "drives = ({ match = {}; apm = 127 },\n{ match = \"/dev/sda\"; standby_y = \"1min\" });", TRANSPORT_SAS, {} },
        { "drives = ({ match = {}; apm = 127 },\n{ match = \"/dev/sdb\"; standby_y = \"1min\" });", TRANSPORT_SAS, { { 1, 25, 'w', FOR("apm", "use standby_z") } } },
        { "drives = ({ match = {}; apm = 127 },\n{ match = \"/dev/sda\"; standby_y = \"x\" });", TRANSPORT_SAS,
          { { 1, 25, 'w', FOR("apm", "use standby_z") }, { 2, 35, 'e', "standby_y" } } },
        /* Runtime PM stops the drive, so the drive's own timer and apm have no say. */
#define PM "runtime_pm = \"auto\"; autosuspend_delay = \"15min\"; "
#define STOPS(rest) { 1, 25, 'w', "with runtime_pm = \"auto\" the kernel stops /dev/sda after autosuspend_delay: remove this setting, or the " rest }
        { "drives = ({ match = {}; " PM "apm = 127 });", TRANSPORT_SATA, { STOPS("apm at f:1") } },
        { "drives = ({ match = {}; " PM "},\n{ match = \"/dev/sda\"; spindown_time = \"1h\"; spindown_by = \"service\" });", TRANSPORT_SATA,
          { STOPS("spindown_time at f:2") } },
        { "drives = ({ match = {}; " PM "standby_z = \"30s\"; manage_runtime_start_stop = true });", TRANSPORT_SAS, { STOPS("standby_z at f:1") } },
        { "drives = ({ match = {}; " PM "standby_z = \"30s\"; manage_start_stop = true });", TRANSPORT_SAS, { STOPS("standby_z at f:1") } },
        { "drives = ({ match = {}; on_battery = { " PM "}; apm = 127 });", TRANSPORT_SATA,
          { { 1, 40, 'w', "with runtime_pm = \"auto\" the kernel stops /dev/sda after autosuspend_delay: remove this setting, or the apm at f:1" } } },
        { "drives = ({ match = {}; " PM "spindown_time = \"off\" });", TRANSPORT_SATA, {} },
        { "drives = ({ match = {}; " PM "});", TRANSPORT_SATA, {} },
        { "drives = ({ match = {}; " PM "write_cache = true });", TRANSPORT_SATA, {} },
        { "drives = ({ match = {}; " PM "standby_z = \"30s\" });", TRANSPORT_SAS, {} },
        { "drives = ({ match = {}; " PM "manage_runtime_start_stop = false; apm = 127 });", TRANSPORT_SATA, {} },
        { "drives = ({ match = {}; runtime_pm = \"auto\"; apm = 127 });", TRANSPORT_SATA, {} },
        { "drives = ({ match = {}; runtime_pm = \"auto\"; autosuspend_delay = \"never\"; apm = 127 });", TRANSPORT_SATA, {} },
        { "drives = ({ match = {}; runtime_pm = \"on\"; autosuspend_delay = \"15min\"; apm = 127 });", TRANSPORT_SATA, {} },
        { "drives = ({ match = {}; autosuspend_delay = \"15min\"; apm = 127 });", TRANSPORT_SATA, {} },
        /* config_check() has already warned about this rule, so config_check_drive() does not warn again. */
        { SAS "apm = 127 });", TRANSPORT_SAS, { { 2, 1, 'w', KIND("apm", "use standby_z") } } },
};
/* clang-format on */

static Config *check_kind(const char *text) {
        Config *c;

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_parse(c, &kind_table, "f", text, strlen(text)), 0);
        ck_assert_int_eq(config_check(c, &kind_table), 0);
        return c;
}

START_TEST(test_kind) {
        _cleanup_(config_freep) Config *c = check_kind(kind_rules[_i].text);

        assert_complaints(&c->complaints, kind_rules[_i].complaints);
}
END_TEST

START_TEST(test_kind_of_present) {
        const Drive d = { .name = (char *) "sda",
                          .node = (char *) "/dev/sda",
                          .syspath = (char *) "/sys/devices/sda",
                          .transport = kind_present[_i].transport,
                          .rotational = true,
                          .ata = kind_present[_i].transport == TRANSPORT_SATA };
        _cleanup_(config_freep) Config *c = check_kind(kind_present[_i].text);

        /* The second call stands for a second drive that the same rule matches. It adds no complaint. */
        ck_assert_int_eq(config_check_drive(c, &kind_table, &d), 0);
        ck_assert_int_eq(config_check_drive(c, &kind_table, &d), 0);
        assert_complaints(&c->complaints, kind_present[_i].complaints);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("config-check");
        TCase *tc = tcase_create("config-check");

        tcase_add_loop_test(tc, test_check, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(tc, test_names, 0, ELEMENTSOF(names));
        tcase_add_test(tc, test_names_elsewhere);
        tcase_add_test(tc, test_dropped);
        tcase_add_loop_test(tc, test_one_complaint, 0, ELEMENTSOF(faults));
        tcase_add_test(tc, test_many_blocks);
        tcase_add_loop_test(tc, test_kind, 0, ELEMENTSOF(kind_rules));
        tcase_add_loop_test(tc, test_kind_of_present, 0, ELEMENTSOF(kind_present));
        suite_add_tcase(suite, tc);

        return suite_run(suite);
}
