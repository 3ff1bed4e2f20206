/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds conflicting programs on a simulated machine: each complaint has the file, the line and the setting. */

#include "conflicts.h"
#include "settings.h"
#include "test-cli.h"

#define ENABLED(unit) "LINK", "etc/systemd/system/multi-user.target.wants/" unit, "/lib/systemd/system/" unit
#define UNIT(unit)                              \
        "FILE", "usr/lib/systemd/system/" unit, \
                        "[Service]\nExecStart=/usr/sbin/x\n[Install]\nWantedBy=multi-user.target\n"
#define SERVICE(exec) "[Service]\nExecStart=" exec "\n[Install]\nWantedBy=multi-user.target\n"
#define MASKED(unit) "LINK", "etc/systemd/system/" unit, "/dev/null"
#define SDA "sys/devices/pci0/ata1/host0/target0:0:0/0:0:0:0"
#define END NULL, NULL, NULL

static char sda_properties[] = "ID_ATA_FEATURE_SET_APM=1\0ID_PATH=pci-0000:00:1f.2-ata-1";
static DriveLink sda_links[] = {
        { (char *) "/dev/disk/by-id/ata-ST2000DL003-9VT166_5YD1", LINK_OWN },
        { (char *) "/dev/sda1", LINK_PARTITION },
        { (char *) "/dev/disk/by-uuid/1-2", LINK_PARTITION },
        { (char *) "/dev/disk/by-label/my\\x20files", LINK_PARTITION },
        { (char *) "/dev/md0", LINK_STACKED },
};
static Drive sda = {
        .name = (char *) "sda",
        .node = (char *) "/dev/sda",
        .syspath = (char *) "/sys/devices/pci0/ata1/host0/target0:0:0/0:0:0:0/block/sda",
        .model = (char *) "ST2000DL003-9VT166",
        .serial = (char *) "5YD1",
        .transport = TRANSPORT_SATA,
        .rotational = true,
        .ata = true,
        .properties = sda_properties,
        .properties_size = sizeof sda_properties,
        .links = sda_links,
        .n_links = ELEMENTSOF(sda_links),
};
static Drive nvme = {
        .name = (char *) "nvme0n1",
        .node = (char *) "/dev/nvme0n1",
        .transport = TRANSPORT_NVME,
};
static Drive *drives[] = { &sda, &nvme };

#define RULE(match, wishes) "drives = ({ match = " match "; " wishes " });"
#define WANTS_APM RULE("\"/dev/sda\"", "apm = 127")

typedef struct Case {
        const char *conf;
        const char *tree[30]; /* files of the machine, each as kind, path, and text or link target */
        const char *expected; /* beginning of the only complaint; NULL: no complaint */
} Case;

static void make_tree(const char *const *tree) {
        for (; tree[0]; tree += 3) {
                make_parents(tree[1]);
                if (streq(tree[0], "LINK"))
                        ck_assert_int_eq(symlink(tree[2], tree[1]), 0);
                else {
                        file_write(tree[1], tree[2]);
                        ck_assert_int_eq(chmod(tree[1], streq(tree[0], "EXEC") ? 0755 : 0644), 0);
                }
        }
}

static char *check(const char *conf, const char *const *tree, size_t n_drives) {
        _cleanup_(config_freep) Config *c = NULL;
        char *out;
        size_t size;
        FILE *f;

        make_tree(tree);
        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_parse(c, &all_settings, "f.conf", conf, strlen(conf)), 0);
        ck_assert_uint_eq(c->complaints.n_items, 0);
        conflicts_check(".", c, &all_settings, drives, n_drives);

        f = open_memstream(&out, &size);
        for (size_t i = 0; i < c->complaints.n_items; i++) {
                _cleanup_free_ char *line = complaint_format(&c->complaints.items[i]);

                fprintf(f, "%s\n", line);
        }
        ck_assert_int_eq(fclose(f), 0);
        return out;
}

#define UDISKS_FILE "etc/udisks2/ST2000DL003-9VT166-5YD1.conf"
#define UDISKS_UNIT \
        "FILE", "usr/lib/systemd/system/udisks2.service", "[Service]\n[Install]\nWantedBy=graphical.target\n"

/* clang-format off */
static const Case cases[] = {
        /* udisks2 */
        { WANTS_APM, { UDISKS_UNIT, "FILE", UDISKS_FILE, "[ATA]\n APMLevel=128\nStandbyTimeout=240\n", END },
          "/" UDISKS_FILE ":2:2: warning: udisks2 sets apm to 128 by this line, when the drive appears and after suspend, and f.conf:1 "
          "wants 127 for /dev/sda" },
        { RULE("{ rotational = true }", "spindown_time = \"20min\""),
          { UDISKS_UNIT, "FILE", UDISKS_FILE, "[ATA]\nStandbyTimeout=240\n", END },
          "/" UDISKS_FILE ":2:1: warning: udisks2 sets spindown_time to 20 min by this line, when the drive appears and after suspend, "
          "and f.conf:1 wants the same for /dev/sda" },
        { WANTS_APM, { UDISKS_UNIT, MASKED("udisks2.service"), "FILE", UDISKS_FILE, "[ATA]\nAPMLevel=128\n", END }, NULL },
        { WANTS_APM, { "FILE", UDISKS_FILE, "[ATA]\nAPMLevel=128\n", END },
          NULL },
        /* There is no complaint if the rule does not match the drive that the udisks2 file names, or if that drive is
         * not attached. */
        { RULE("\"/dev/nvme0n1\"", "scheduler = \"none\"; apm = 1"),
          { UDISKS_UNIT, "FILE", UDISKS_FILE, "[ATA]\nAPMLevel=128\n", END }, NULL },
        { WANTS_APM, { UDISKS_UNIT, "FILE", "etc/udisks2/OTHER-1.conf", "[ATA]\nAPMLevel=128\n", END }, NULL },
        { RULE("{ transport = \"sata\" }", "apm = 127"),
          { UDISKS_UNIT, "FILE", "etc/udisks2/OTHER-1.conf", "[ATA]\nAPMLevel=128\n", END },
          NULL },

        /* Debian's hdparm */
#define HDPARM_RULES "FILE", "usr/lib/udev/rules.d/85-hdparm.rules", \
        "ACTION==\"add\", SUBSYSTEM==\"block\", KERNEL==\"[sh]d[a-z]\", RUN+=\"/lib/udev/hdparm\"\n"
#define DEBIAN_WHEN "by this line, when a drive appears (apm and spindown_time also after suspend)"
#define DEFAULT_APM "/usr/lib/udev/rules.d/85-hdparm.rules:1:1: notice: Debian's hdparm package sets apm to 254 " DEBIAN_WHEN \
        ", and f.conf:1 wants 127 for /dev/sda: remove the package"
        { WANTS_APM, { HDPARM_RULES, END }, DEFAULT_APM },
        { WANTS_APM, { HDPARM_RULES, "FILE", "etc/hdparm.conf", "# nothing\n", END }, DEFAULT_APM },
        { RULE("{}", "lookahead = true"), { HDPARM_RULES, END }, NULL },
        { WANTS_APM, { HDPARM_RULES, "LINK", "etc/udev/rules.d/85-hdparm.rules", "/dev/null", END }, NULL },
        { WANTS_APM, { HDPARM_RULES, "LINK", "etc/udev/rules.d/85-hdparm.rules", "/dev/null",
                       "FILE", "etc/hdparm.conf", "/dev/sda {\napm = 200\n}\n", END }, NULL },
        { WANTS_APM, { HDPARM_RULES, "FILE", "etc/hdparm.conf", "\n/dev/sda {\n\tapm = 200\n\twrite_cache = off\n}\n", END },
          "/etc/hdparm.conf:3:2: warning: Debian's hdparm package sets apm to 200 " DEBIAN_WHEN
          ", and f.conf:1 wants 127 for /dev/sda" },
        /* A second block for a drive does not override values for all drives, such as the package's default apm. */
        { WANTS_APM, { HDPARM_RULES, "FILE", "etc/hdparm.conf",
                       "/dev/sda {\nwrite_cache = off\n}\n/dev/sda {\napm = 200\n}\n", END },
          DEFAULT_APM },
        /* A block of hdparm.conf overrides the lines that apply to all drives. */
        { WANTS_APM, { HDPARM_RULES, "FILE", "etc/hdparm.conf", "apm = 254\n/dev/sda {\napm = 200\n}\n", END },
          "/etc/hdparm.conf:3:1: warning: Debian's hdparm package sets apm to 200" },
        { WANTS_APM, { HDPARM_RULES, "FILE", "etc/hdparm.conf", "/dev/sda {\napm_battery = 128\n}\n", END },
          "/etc/hdparm.conf:2:1: warning: Debian's hdparm package sets apm_battery to 128 " DEBIAN_WHEN
          ", and f.conf:1 wants 127 for /dev/sda" },
        { RULE("{}", "write_cache = true"),
          { HDPARM_RULES, "FILE", "etc/hdparm.conf", "/dev/sda {\nwrite_cache = off\n}\n", END },
          "/etc/hdparm.conf:2:1: warning: Debian's hdparm package sets write_cache to off " DEBIAN_WHEN
          ", and f.conf:1 wants on for /dev/sda" },
        { WANTS_APM, { "FILE", "etc/hdparm.conf", "/dev/sda {\napm = 200\n}\n", END },
          NULL },

        /* TLP */
#define TLP_DEFAULTS "FILE", "usr/share/tlp/defaults.conf", \
        "TLP_ENABLE=1\nDISK_DEVICES=\"nvme0n1 sda\"\nDISK_APM_LEVEL_ON_AC=\"254 250\"\nSATA_LINKPWR_ON_AC=\"max_performance\"\n"
#define TLP UNIT("tlp.service"), ENABLED("tlp.service"), TLP_DEFAULTS
        { WANTS_APM, { TLP, END },
          "/usr/share/tlp/defaults.conf:3:1: notice: TLP sets apm to 250 by this line, at boot, after suspend and when the "
          "power source changes, and f.conf:1 wants 127 for /dev/sda" },
        { WANTS_APM, { TLP, "FILE", "etc/tlp.conf", "DISK_APM_LEVEL_ON_AC=\"keep\"\n", END }, NULL },
        { WANTS_APM, { TLP, "FILE", "etc/tlp.conf", "DISK_APM_LEVEL_ON_AC=\"254 250\"\n", END }, "/etc/tlp.conf:1:1: warning: TLP sets apm to 250" },
        { WANTS_APM, { TLP, "FILE", "etc/tlp.d/10-off.conf", "TLP_ENABLE=0\n", END }, NULL },
        { WANTS_APM, { TLP, "FILE", "etc/default/tlp", "DISK_APM_LEVEL_ON_AC=\"1 2\"\n", END },
          "/usr/share/tlp/defaults.conf:3:1: notice: TLP sets apm to 250 by this line" },
        { WANTS_APM, { TLP, "FILE", "etc/default/tlp", "TLP_ENABLE=0\n", "FILE", "etc/tlp.conf", "#\n", END },
          "/usr/share/tlp/defaults.conf:3:1: notice: TLP sets apm to 250" },
        { WANTS_APM, { UNIT("tlp.service"), TLP_DEFAULTS, END }, NULL },
        { WANTS_APM, { TLP, MASKED("tlp.service"), END }, NULL },
        { WANTS_APM, { TLP, "FILE", "etc/tlp.conf", "DISK_DEVICES=\"sdb\"\n#DISK_DEVICES=\"sda\"\n", END }, NULL },
        { RULE("\"/dev/sda\"", "spindown_time = \"1h\""),
          { TLP, "FILE", "etc/tlp.conf", "\nDISK_DEVICES=\"ata-ST2000DL003-9VT166_5YD1\"\nDISK_SPINDOWN_TIMEOUT_ON_BAT=\"12\"\n", END },
          "/etc/tlp.conf:3:1: warning: TLP sets spindown_time to 1 min on battery by this line, at boot, after suspend and when the "
          "power source changes, and f.conf:1 wants 1 h for /dev/sda" },
        { RULE("{}", "link_power_management = \"medium_power\""), { TLP, END },
          "/usr/share/tlp/defaults.conf:4:1: notice: TLP sets link_power_management to max_performance by this line, at "
          "boot, after suspend and when the power source changes, and f.conf:1 wants medium_power for /dev/sda" },

        /* A program that enables runtime PM conflicts with apm and spindown_time, since the kernel then stops the idle
         * drive. */
#define SUSPENDS(file_line, who, rest) file_line ": warning: " who " sets runtime_pm to auto" rest
#define STOPS(wanted) ", so the kernel stops the idle drive, and f.conf:1 wants " wanted " for /dev/sda: "
#define CONTROL_RULE "SUBSYSTEM==\"block\", KERNEL==\"sd?\", ATTR{device/power/control}=\"auto\"\n"
        { WANTS_APM, { TLP, "FILE", "etc/tlp.conf", "\nDISK_APM_LEVEL_ON_AC=\"keep\"\nAHCI_RUNTIME_PM_ON_BAT=auto\nAHCI_RUNTIME_PM_ON_AC=on\n", END },
          SUSPENDS("/etc/tlp.conf:3:1", "TLP", " on battery" STOPS("apm of 127") "set this variable") },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { TLP, "FILE", "etc/tlp.d/1.conf", "AHCI_RUNTIME_PM_ON_AC=auto\n", END },
          SUSPENDS("/etc/tlp.d/1.conf:1:1", "TLP", STOPS("spindown_time of 20 min")) },
        { RULE("\"/dev/sda\"", "spindown_time = \"off\""), { TLP, "FILE", "etc/tlp.d/1.conf", "AHCI_RUNTIME_PM_ON_AC=auto\n", END }, NULL },
        { RULE("\"/dev/sda\"", "runtime_pm = \"on\"; spindown_time = \"20min\""), { TLP, "FILE", "etc/tlp.d/1.conf", "AHCI_RUNTIME_PM_ON_AC=auto\n", END },
          "/etc/tlp.d/1.conf:1:1: warning: TLP sets runtime_pm to auto by this line, at boot, after suspend and when the power source changes, and "
          "f.conf:1 wants on for /dev/sda" },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { "FILE", "etc/udev/rules.d/9.rules", CONTROL_RULE "KERNEL==\"sd?\", ATTR{device/power/autosuspend_delay_ms}=\"15000\"\n", END },
          SUSPENDS("/etc/udev/rules.d/9.rules:1:1", "this line", STOPS("spindown_time of 20 min") "remove the line") },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { "FILE", "etc/udev/rules.d/9.rules", CONTROL_RULE, END }, NULL },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { "FILE", "etc/udev/rules.d/9.rules", CONTROL_RULE, "FILE", SDA "/block/sda/device/power/autosuspend_delay_ms", "-1\n", END }, NULL },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { "FILE", "etc/udev/rules.d/9.rules", CONTROL_RULE, "FILE", SDA "/block/sda/device/power/autosuspend_delay_ms", "15000\n", END },
          SUSPENDS("/etc/udev/rules.d/9.rules:1:1", "this line", STOPS("spindown_time of 20 min")) },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { "EXEC", "etc/rc.local", "#!/bin/sh\necho auto | tee /sys/block/sd*/device/power/control\necho 5000 > /sys/block/sda/device/power/autosuspend_delay_ms\n", END },
          SUSPENDS("/etc/rc.local:2:1", "this line", STOPS("spindown_time of 20 min")) },
        /* laptop-mode-tools */
        #define LMT(text) UNIT("laptop-mode.service"), ENABLED("laptop-mode.service"), "FILE", "etc/laptop-mode/laptop-mode.conf", "HD=/dev/sda\n" text
        { WANTS_APM, { LMT("CONTROL_HD_POWERMGMT=auto\nENABLE_LAPTOP_MODE_ON_AC=0\nNOLM_AC_HD_POWERMGMT=254\n"), END },
          "/etc/laptop-mode/laptop-mode.conf:4:1: warning: laptop-mode-tools sets apm to 254 by this line, at boot, after suspend and when the power "
          "source changes, and f.conf:1 wants 127 for /dev/sda" },
        { WANTS_APM, { LMT("CONTROL_HD_POWERMGMT=0\nNOLM_AC_HD_POWERMGMT=254\n"), END }, NULL },
        { WANTS_APM, { "FILE", "etc/laptop-mode/laptop-mode.conf", "HD=/dev/sda\nCONTROL_HD_POWERMGMT=1\nNOLM_AC_HD_POWERMGMT=254\n", END }, NULL },
        /* laptop-mode.conf overrides the files in conf.d, which are read first. */
        { RULE("\"/dev/sda\"", "link_power_management = \"min_power\";"),
          { LMT("CONTROL_INTEL_SATA_POWER=0\n"), "FILE", "etc/laptop-mode/conf.d/intel.conf", "CONTROL_INTEL_SATA_POWER=1\nNOLM_AC_SATA_POLICY=max_performance\n", END }, NULL },
        { RULE("\"/dev/sda\"", "link_power_management = \"min_power\";"),
          { LMT(""), "FILE", "etc/laptop-mode/conf.d/intel.conf", "CONTROL_INTEL_SATA_POWER=1\nNOLM_AC_SATA_POLICY=max_performance\n", END },
          "/etc/laptop-mode/conf.d/intel.conf:2:1: warning: laptop-mode-tools sets link_power_management to max_performance by this line, at boot, "
          "after suspend and when the power source changes, and f.conf:1 wants min_power for /dev/sda" },
/* PowerTOP */
#define POWERTOP(options) "FILE", "etc/systemd/system/tune.service", SERVICE("/usr/sbin/powertop " options), ENABLED("tune.service")
        { RULE("\"/dev/sda\"", "runtime_pm = \"on\""), { POWERTOP("--auto-tune"), END },
          "/etc/systemd/system/tune.service:2:1: warning: PowerTOP sets runtime_pm to auto by --auto-tune, when this unit starts, and "
          "f.conf:1 wants on for /dev/sda: disable this unit, or remove --auto-tune" },
        { RULE("\"/dev/sda\"", "link_power_management = \"max_performance\""), { POWERTOP("--quiet --auto-tune"), END },
          "/etc/systemd/system/tune.service:2:1: warning: PowerTOP sets link_power_management to med_power_with_dipm by" },
        { RULE("\"/dev/sda\"", "runtime_pm = \"on\""), { POWERTOP("--csv=/tmp/x"), END }, NULL },
        { RULE("\"/dev/sda\"", "runtime_pm = \"on\""), { "EXEC", "etc/rc.local", "#!/bin/sh -e\npowertop --auto-tune\nexit 0\n", END },
          "/etc/rc.local:2:1: warning: this line sets runtime_pm to auto at boot, and f.conf:1 wants on for /dev/sda" },
        { RULE("\"/dev/sda\"", "runtime_pm = \"on\""), { "FILE", "etc/crontab", "@reboot root powertop --auto-tune\n", END },
          "/etc/crontab:1:1: warning: this line sets runtime_pm to auto when cron runs it, and f.conf:1 wants on for /dev/sda" },
        { RULE("\"/dev/sda\"", "runtime_pm = \"on\""), { "FILE", "var/spool/cron/crontabs/root", "@hourly powertop --csv=x\n", END }, NULL },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { POWERTOP("--auto-tune"), END }, NULL },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { POWERTOP("--auto-tune"), "FILE", SDA "/block/sda/device/power/autosuspend_delay_ms", "15000\n", END },
          SUSPENDS("/etc/systemd/system/tune.service:2:1", "PowerTOP", STOPS("spindown_time of 20 min")) },

        /* tuned */
#define TUNED(profile) UNIT("tuned.service"), ENABLED("tuned.service"), "FILE", "etc/tuned/active_profile", profile "\n"
#define BASE "FILE", "usr/lib/tuned/base/tuned.conf", "[disk]\napm=128\nspindown=6\nreadahead=>4096\n"
        { WANTS_APM, { TUNED("base"), BASE, END },
          "/usr/lib/tuned/base/tuned.conf:2:1: warning: tuned sets apm to 128 by this line of its active profile, when tuned "
          "starts and when a drive appears, and f.conf:1 wants 127 for /dev/sda" },
        { WANTS_APM, { TUNED("mine"), BASE, "FILE", "etc/tuned/mine/tuned.conf",
                       "[main]\ninclude=base\n[disk]\napm=64\ndevices=sd*\n", END },
          "/etc/tuned/mine/tuned.conf:4:1: warning: tuned sets apm to 64 by this line" },
        /* The included profile sets apm. There is no complaint if the including profile excludes the drive, or sets apm
         * to an empty value. */
        { WANTS_APM, { TUNED("mine"), BASE, "FILE", "etc/tuned/mine/tuned.conf", "[main]\ninclude=base\n[disk]\ndevices=!sda\n", END }, NULL },
        { WANTS_APM, { TUNED("mine"), BASE, "FILE", "etc/tuned/mine/tuned.conf", "[main]\ninclude=base\n[disk]\ndevices=sd*, -sda\n", END }, NULL },
        { WANTS_APM, { TUNED("mine"), BASE, "FILE", "etc/tuned/mine/tuned.conf", "[main]\ninclude=base\n[disk]\ndevices=sdb\n", END }, NULL },
        { WANTS_APM, { TUNED("mine"), BASE, "FILE", "etc/tuned/mine/tuned.conf", "[main]\ninclude=base\n[disk]\ndevices=!sdb\n", END },
          "/usr/lib/tuned/base/tuned.conf:2:1: warning: tuned sets apm to 128 by this line" },
        { WANTS_APM, { TUNED("mine"), BASE, "FILE", "etc/tuned/mine/tuned.conf", "[main]\ninclude=base\n[disk]\ndevices=${mine}\n", END },
          "/usr/lib/tuned/base/tuned.conf:2:1: warning: tuned sets apm to 128 by this line" },
        { WANTS_APM, { TUNED("mine"), BASE, "FILE", "etc/tuned/mine/tuned.conf", "[main]\ninclude=base\n[disk]\ndevices_udev_regex=X\n", END },
          "/usr/lib/tuned/base/tuned.conf:2:1: warning: tuned sets apm to 128 by this line" },
        { WANTS_APM, { TUNED("mine"), BASE, "FILE", "etc/tuned/mine/tuned.conf", "[main]\ninclude=base\n[disk]\napm=\n", END }, NULL },
        { RULE("\"/dev/sda\"", "read_ahead_kb = 128"), { TUNED("base"), BASE, END },
          "/usr/lib/tuned/base/tuned.conf:4:1: warning: tuned sets read_ahead_kb by this line of its active profile, when tuned "
          "starts and when a drive appears, and f.conf:1 wants 128 KiB for /dev/sda" },
        { WANTS_APM, { TUNED("other"), BASE, END }, NULL },
        /* A profile that tuned chose by itself causes a notice. A profile that the user chose causes a warning. */
        { WANTS_APM, { TUNED("base"), BASE, "FILE", "etc/tuned/profile_mode", "auto\n", END }, "/usr/lib/tuned/base/tuned.conf:2:1: notice: tuned sets apm" },
        { WANTS_APM, { TUNED("base"), BASE, "FILE", "etc/tuned/profile_mode", "manual\n", END }, "/usr/lib/tuned/base/tuned.conf:2:1: warning: tuned sets apm" },
        /* A backslash does not continue a line. Of two active profiles, the later profile wins, whatever directory it
         * is in. */
        { WANTS_APM, { TUNED("mine"), BASE, "FILE", "etc/tuned/mine/tuned.conf", "[main]\nsummary=x \\\ninclude=base\n", END },
          "/usr/lib/tuned/base/tuned.conf:2:1: warning: tuned sets apm to 128 by this line" },
        { WANTS_APM, { TUNED("base mine"), BASE, "FILE", "etc/tuned/profiles/mine/tuned.conf", "[disk]\napm=64\n", END },
          "/etc/tuned/profiles/mine/tuned.conf:2:1: warning: tuned sets apm to 64 by this line" },
        { WANTS_APM, { TUNED("mine base"), BASE, "FILE", "etc/tuned/profiles/mine/tuned.conf", "[disk]\napm=64\n", END },
          "/usr/lib/tuned/base/tuned.conf:2:1: warning: tuned sets apm to 128 by this line" },
        { WANTS_APM, { TUNED("mine"), BASE, "FILE", "etc/tuned/mine/tuned.conf", "[main]\ninclude=gone, base\n", END },
          "/usr/lib/tuned/base/tuned.conf:2:1: warning: tuned sets apm to 128 by this line" },
        { WANTS_APM, { UNIT("tuned.service"), "FILE", "etc/tuned/active_profile", "base\n", BASE, END }, NULL },
        /* A profile that includes itself causes one complaint, and no endless loop. */
        { WANTS_APM, { TUNED("a"), "FILE", "etc/tuned/a/tuned.conf", "[main]\ninclude=a\n[disk]\napm=1\n", END },
          "/etc/tuned/a/tuned.conf:4:1: warning: tuned sets apm to 1 by" },
        { WANTS_APM, { TUNED("a"), "FILE", "etc/tuned/a/tuned.conf", "[main]\ninclude=a a a a a a a a a a\n[disk]\napm=1\n", END },
          "/etc/tuned/a/tuned.conf:4:1: warning: tuned sets apm to 1 by" },

        /* smartd */
#define SMARTD_UNIT "FILE", "usr/lib/systemd/system/smartmontools.service", "[Service]\nEnvironmentFile=-/etc/default/smartmontools\n" \
        "EnvironmentFile=-/etc/sysconfig/smartmontools\nExecStart=/usr/sbin/smartd -n $smartd_opts\n[Install]\nWantedBy=multi-user.target\nAlias=smartd.service\n"
#define SMARTD(text) SMARTD_UNIT, ENABLED("smartmontools.service"), "FILE", "etc/smartd.conf", text
        { WANTS_APM, { SMARTD("# x\nDEFAULT -e apm,1\n/dev/sda -a \\\n -e apm,128\n"), END },
          "/etc/smartd.conf:3:1: warning: smartd sets apm to 128 by this line, when smartd starts or reloads, and f.conf:1 wants 127 for "
          "/dev/sda" },
        { RULE("\"/dev/sda\"", "error_recovery = \"8s\""), { SMARTD("DEVICESCAN -l scterc,70,70\n/dev/sda -l scterc,10,10\n"), END },
          "/etc/smartd.conf:1:1: warning: smartd sets error_recovery to 7 s by this line, when smartd starts or reloads, and f.conf:1 wants "
          "8 s for /dev/sda" },
        { WANTS_APM, { SMARTD("/dev/sdb -e apm,128\n"), END }, NULL },
        { RULE("\"/dev/sda\"", "spindown_time = \"1h\""), { SMARTD("DEVICESCAN -n standby\n"), END },
          "/etc/smartd.conf:1:1: warning: smartd disturbs spindown_time by polling the drive, and f.conf:1 wants "
          "1 h for /dev/sda" },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { SMARTD("DEVICESCAN -n standby\n"), END }, NULL },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { SMARTD("DEVICESCAN -n standby,q\n"),
            "FILE", "etc/default/smartmontools", "#smartd_opts=\"--interval=99\"\nsmartd_opts=\"--interval=600\"\n", END },
          "/etc/smartd.conf:1:1: warning: smartd disturbs spindown_time by polling the drive, and f.conf:1 wants "
          "20 min for /dev/sda" },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { SMARTD("DEVICESCAN -n standby\n"),
            "FILE", "etc/default/smartmontools", "smartd_opts=\"-i 600\"\n", END },
          "/etc/smartd.conf:1:1: warning: smartd disturbs spindown_time by polling the drive" },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { SMARTD("DEVICESCAN -n standby\n"),
            "FILE", "etc/default/smartmontools", "# x\nsmartd_opts=\"--quit=never\"\n# once -i 60 was here\n", END }, NULL },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { SMARTD("DEVICESCAN -n standby\n"),
            "FILE", "etc/sysconfig/smartmontools", "smartd_opts='--quit=never \\\n-i 1199'\n", END },
          "/etc/smartd.conf:1:1: warning: smartd disturbs spindown_time by polling the drive" },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { SMARTD("DEVICESCAN -n standby\n"),
            "FILE", "etc/default/smartmontools", "smartd_opts='-i 1200'\n", END },
          "/etc/smartd.conf:1:1: warning: smartd disturbs spindown_time by polling the drive" },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { SMARTD("DEVICESCAN -n idle\n"),
            "FILE", "etc/default/smartmontools", "smartd_opts='-i 1201'\n", END }, NULL },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { SMARTD("DEVICESCAN # was -n standby\n"), END },
          "/etc/smartd.conf:1:1: warning: smartd disturbs spindown_time by polling the drive" },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { SMARTD("DEVICESCAN\n"), END },
          "/etc/smartd.conf:1:1: warning: smartd disturbs spindown_time by polling the drive, and f.conf:1 wants "
          "20 min for /dev/sda: set -n standby in this line, and an interval longer than the configured time (smartd -i SECONDS)" },
        { RULE("\"/dev/sda\"", "spindown_time = \"off\""), { SMARTD("DEVICESCAN\n"), END }, NULL },
        { RULE("{}", "standby_z = \"20min\""), { SMARTD("DEVICESCAN\n"), END },
          "/etc/smartd.conf:1:1: warning: smartd disturbs standby_z by polling the drive, and f.conf:1 wants 20 min" },
        { RULE("{}", "spindown_by = \"service\"; spindown_time = \"1h\""), { SMARTD("DEVICESCAN -n standby\n"), END }, NULL },
        { RULE("{}", "spindown_by = \"service\"; commands_are_use = true; spindown_time = \"1h\""), { SMARTD("DEVICESCAN -n standby\n"), END },
          "/etc/smartd.conf:1:1: warning: smartd disturbs spindown_time" },
        { RULE("{}", "spindown_by = \"service\"; spindown_time = \"20min\""), { SMARTD("DEVICESCAN\n"), END },
          "/etc/smartd.conf:1:1: warning: smartd disturbs spindown_time" },
        { RULE("{}", "spindown_time = \"20min\""), { SMARTD("DEFAULT -n standby\nDEVICESCAN -n never\n"), END },
          "/etc/smartd.conf:2:1: warning: smartd disturbs spindown_time" },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { SMARTD("/dev/sda -d ignore\nDEVICESCAN\n"), END }, NULL },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { SMARTD("/dev/sda -n standby\nDEVICESCAN\n"), END }, NULL },
        { WANTS_APM, { SMARTD("/dev/sda -e apm,128\n"), "FILE", "etc/default/smartmontools", "smartd_opts=--version\n", END }, NULL },
        { WANTS_APM, { SMARTD("/dev/sda -e apm,128\n"), "FILE", "etc/default/smartmontools", "smartd_opts='-c /etc/own.conf'\n",
                       "FILE", "etc/own.conf", "\n/dev/sda -e apm,64\n", END },
          "/etc/own.conf:2:1: warning: smartd sets apm to 64 by this line" },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { SMARTD("DEVICESCAN -n standby\n"),
            "FILE", "etc/default/smartmontools", "smartd_opts='-i 600'\n",
            "FILE", "etc/systemd/system/smartd.service.d/o.conf", "[Service]\nExecStart=\nExecStart=/usr/sbin/smartd -n\n", END }, NULL },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { SMARTD("DEFAULT -n standby\n# x\n/dev/sda -a\n/dev/sdb\n"), END },
          NULL },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { SMARTD("# x\n/dev/sdb\n/dev/sda -a\nDEVICESCAN -n standby\n/dev/sda\n"), END },
          "/etc/smartd.conf:3:1: warning: smartd disturbs spindown_time by polling the drive" },

        /* hd-idle */
#define HD_IDLE_UNIT "FILE", "usr/lib/systemd/system/hd-idle.service", "[Service]\nType=forking\nEnvironmentFile=/etc/default/hd-idle\n" \
        "ExecStart=/usr/sbin/hd-idle $HD_IDLE_OPTS\n[Install]\nWantedBy=multi-user.target\n", ENABLED("hd-idle.service")
#define HD_IDLE(options) HD_IDLE_UNIT, "FILE", "etc/default/hd-idle", \
        "# x\nHD_IDLE_OPTS=\"" options "\"\n"
        { RULE("{}", "spindown_time = \"20min\""), { HD_IDLE("-i 0 -a sda -i 300"), END },
          "/etc/default/hd-idle:2:1: warning: hd-idle sets spindown_time to 5 min by spinning idle drives down "
          "itself, and f.conf:1 wants 20 min for /dev/sda" },
        { RULE("{}", "spindown_time = \"20min\""), { HD_IDLE("-i 600 -a sda -i 300"), END },
          "/etc/default/hd-idle:2:1: warning: hd-idle sets spindown_time to 5 min" },
        { RULE("{}", "spindown_time = \"20min\""), { HD_IDLE("-i 180"), END },
          "/etc/default/hd-idle:2:1: warning: hd-idle sets spindown_time to 3 min" },
        { RULE("\"/dev/sda\"", "spindown_time = \"20min\""), { HD_IDLE("-i 0 -a sdb -i 300"), END }, NULL },
#define SLEEPS RULE("{}", "spindown_time = \"20min\"")
#define HD_IDLE_WARNS(file, line, time) file ":" line ":1: warning: hd-idle sets spindown_time to " time " by spinning idle drives down itself"
#define DROP_IN(path, lines) "FILE", path, "[Service]\n" lines
        /* There is no complaint if hd-idle only prints text, or if the defaults of Debian's package do not start it. */
        { SLEEPS, { HD_IDLE("-h"), END }, NULL },
        { SLEEPS, { HD_IDLE("-i 600 --version"), END }, NULL },
        { SLEEPS, { HD_IDLE_UNIT, "FILE", "etc/default/hd-idle", "START_HD_IDLE=false\n#HD_IDLE_OPTS=\"-i 180\"\n", END }, NULL },
        { SLEEPS, { HD_IDLE_UNIT, "FILE", "etc/default/hd-idle", "START_HD_IDLE=true\n#HD_IDLE_OPTS=\"-i 180\"\n", END },
          HD_IDLE_WARNS("/usr/lib/systemd/system/hd-idle.service", "4", "10 min") },
        { SLEEPS, { HD_IDLE("-i 180\"\nSTART_HD_IDLE=\"false"), DROP_IN("etc/systemd/system/hd-idle.service.d/o.conf", "ExecStart=\nExecStart=/usr/sbin/hd-idle -i 300\n"), END }, NULL },
        /* Drop-ins override ExecStart=, Environment= and EnvironmentFile= of the unit. */
        { SLEEPS, { HD_IDLE("-h"), DROP_IN("etc/systemd/system/hd-idle.service.d/o.conf", "ExecStart=\nExecStart=/usr/sbin/hd-idle -i 0 -a sda -i 300\n"), END },
          HD_IDLE_WARNS("/etc/systemd/system/hd-idle.service.d/o.conf", "3", "5 min") },
        { SLEEPS, { HD_IDLE("-i 300"), DROP_IN("run/systemd/system/hd-idle.service.d/o.conf", "ExecStart=\nExecStart=/usr/sbin/hd-idle -i 0\n"), END }, NULL },
        { SLEEPS, { HD_IDLE("-i 300"), DROP_IN("etc/systemd/system/hd-idle.service.d/o.conf", "EnvironmentFile=\nEnvironmentFile=-/etc/hd-idle.env\n"),
                    "FILE", "etc/hd-idle.env", "HD_IDLE_OPTS='-i 0 -a sda -i 240'\n", END }, HD_IDLE_WARNS("/etc/hd-idle.env", "1", "4 min") },
        { SLEEPS, { HD_IDLE("-i 300"), DROP_IN("etc/systemd/system/service.d/o.conf", "Environment=\"HD_IDLE_OPTS=-i 0\" A=B\nEnvironmentFile=\n"), END }, NULL },
        { SLEEPS, { HD_IDLE("-i 0"), DROP_IN("etc/systemd/system/hd-.service.d/o.conf", "Environment=A=B \"HD_IDLE_OPTS=-i 180\"\nEnvironmentFile=\n"), END },
          HD_IDLE_WARNS("/etc/systemd/system/hd-.service.d/o.conf", "2", "3 min") },
        { SLEEPS, { HD_IDLE_UNIT, END }, NULL }, /* The EnvironmentFile is missing, so systemd does not start the unit. */
        { SLEEPS, { HD_IDLE("-i 300"), MASKED("hd-idle.service"), END }, NULL },
        { SLEEPS, { "FILE", "etc/systemd/system/nas.service", "[Service]\nExecStart=-/opt/hd-idle \\\n -i 120\n[Install]\nWantedBy=multi-user.target\n", ENABLED("nas.service"), END },
          HD_IDLE_WARNS("/etc/systemd/system/nas.service", "2", "2 min") },
        { SLEEPS, { "FILE", "etc/systemd/system/nas.service", "[Service]\nExecStart=/opt/hd-idle -i 120\n[Install]\nWantedBy=multi-user.target\n", END }, NULL },
        { SLEEPS, { "FILE", "etc/default/hd-idle", "HD_IDLE_OPTS=\"-i 120\"\n", END }, NULL },

        /* udev rules */
        { RULE("{}", "scheduler = \"bfq\""), { "FILE", "usr/lib/udev/rules.d/60-ioschedulers.rules",
            "# HDD\nACTION==\"add|change\", KERNEL==\"sd[a-z]*\", ATTR{queue/rotational}==\"1\", \\\n ATTR{queue/scheduler}=\"mq-deadline\"\n", END },
          "/usr/lib/udev/rules.d/60-ioschedulers.rules:2:1: warning: this line sets scheduler to mq-deadline when udev "
          "runs it, and f.conf:1 wants bfq for /dev/sda" },
        { RULE("{}", "scheduler = \"bfq\""), { "FILE", "usr/lib/udev/rules.d/60-io.rules",
            "KERNEL==\"sd[a-z]*\", ATTR{queue/scheduler}=\"mq-deadline\"\n", "FILE", "etc/udev/rules.d/60-io.rules", "", END }, NULL },
        { WANTS_APM, { "FILE", "etc/udev/rules.d/69-hdparm.rules",
            "ACTION==\"add\", KERNEL==\"sda\", RUN+=\"/usr/bin/hdparm -B 254 -S 0 /dev/sda\"\n", END },
          "/etc/udev/rules.d/69-hdparm.rules:1:1: warning: this line sets apm to 254 when udev runs it, and f.conf:1 wants "
          "127 for /dev/sda" },
        { WANTS_APM, { "FILE", "etc/udev/rules.d/69.rules",
            "SUBSYSTEM==\"power_supply\", ATTR{online}==\"0\", RUN+=\"/sbin/hdparm -B 128 /dev/sda\"\n", END },
          "/etc/udev/rules.d/69.rules:1:1: warning: this line sets apm to 128 when udev runs it, and f.conf:1 wants "
          "127 for /dev/sda" },
        { WANTS_APM, { "FILE", "etc/udev/rules.d/69.rules",
            "SUBSYSTEM==\"power_supply\", ATTR{online}==\"0\", RUN+=\"/sbin/hdparm -B 128 /dev/sdb\"\n", END }, NULL },
        { WANTS_APM, { "FILE", "etc/udev/rules.d/69.rules", "KERNEL==\"sda\", RUN+=\"/sbin/hdparm -B 254 /dev/%k\"\nKERNEL==\"sd?\", RUN=\"\"\n", END }, NULL },
        { WANTS_APM, { "FILE", "etc/udev/rules.d/69.rules", "KERNEL==\"sd?\", RUN+=\"/usr/local/bin/disk.sh %k\"\n",
                       "EXEC", "usr/local/bin/disk.sh", "#!/bin/sh\nhdparm -B 1 /dev/$1\n", END },
          "/usr/local/bin/disk.sh:2:1: warning: this line sets apm to 1 when udev runs it, and f.conf:1 wants 127 for "
          "/dev/sda" },

        /* Conditions of udev rules are evaluated for the drive, even if drivekeep has no match key for them. A GOTO is
         * evaluated, too. */
#define ZONED "SUBSYSTEM!=\"block\", GOTO=\"end\"\nACTION!=\"add|change\", GOTO=\"end\"\nENV{ID_FS_TYPE}!=\"btrfs\", GOTO=\"end\"\n" \
        "ATTR{queue/zoned}==\"host-managed\", ATTR{queue/scheduler}=\"mq-deadline\"\nLABEL=\"end\"\n"
#define BFQ RULE("\"/dev/sda\"", "scheduler = \"bfq\"")
#define LIB_RULES "FILE", "usr/lib/udev/rules.d/64.rules"
#define WARNS(file_line) "/usr/lib/udev/rules.d/64.rules:" file_line ": warning: this line sets scheduler to mq-deadline when udev runs it"
#define SDA_SYS "FILE", SDA "/block/sda/uevent", "", "FILE", SDA "/block/sda/queue/zoned", "none\n", "FILE", SDA "/vendor", "ATA     \n", \
        "FILE", SDA "/uevent", "", "LINK", SDA "/subsystem", "/sys/bus/scsi"
        { BFQ, { LIB_RULES, ZONED, END }, NULL },
        { BFQ, { LIB_RULES, "ATTR{queue/zoned}==\"host-managed\", ATTR{queue/scheduler}=\"mq-deadline\"\n", SDA_SYS, END }, NULL },
        { BFQ, { LIB_RULES, "ATTR{queue/zoned}!=\"host-managed\", ATTR{queue/scheduler}=\"mq-deadline\"\n", SDA_SYS, END }, WARNS("1:1") },
        { BFQ, { LIB_RULES, "ATTR{queue/gone}!=\"1\", ATTR{queue/scheduler}=\"mq-deadline\"\n", SDA_SYS, END }, NULL },
        { BFQ, { LIB_RULES, "KERNEL==\"sd*\", ATTR{queue/rotational}!=\"1\", ATTR{queue/scheduler}=\"mq-deadline\"\n", END }, NULL },
        { BFQ, { LIB_RULES, "KERNEL!=\"nvme*\", ATTR{removable}!=\"1\", ATTR{queue/scheduler}=\"mq-deadline\"\n", END }, WARNS("1:1") },
        { BFQ, { LIB_RULES, "ENV{ID_ATA_FEATURE_SET_APM}!=\"1\", ATTR{queue/scheduler}=\"mq-deadline\"\n", END }, NULL },
        { BFQ, { LIB_RULES, "ENV{ID_FS_TYPE}==\"\", KERNEL!=\"nvme*\", ATTR{queue/scheduler}=\"mq-deadline\"\n", END }, WARNS("1:1") },
        { BFQ, { LIB_RULES, "ATTRS{vendor}!=\"ATA\", ATTR{queue/scheduler}=\"mq-deadline\"\n", SDA_SYS, END }, NULL },
        { BFQ, { LIB_RULES, "SUBSYSTEMS==\"usb\", ATTR{queue/scheduler}=\"mq-deadline\"\n", SDA_SYS, END }, NULL },
        { BFQ, { LIB_RULES, "SUBSYSTEMS==\"scsi\", KERNELS==\"0:*\", ATTRS{vendor}==\"A*\", ATTR{queue/scheduler}=\"mq-deadline\"\n", SDA_SYS, END }, WARNS("1:1") },
        { BFQ, { LIB_RULES, "KERNELS==\"1:*\", ATTR{queue/scheduler}=\"mq-deadline\"\n", SDA_SYS, END }, NULL },
        { BFQ, { LIB_RULES, "DRIVERS==\"sd\", ATTR{queue/scheduler}=\"mq-deadline\"\n", SDA_SYS, END }, NULL },
        { BFQ, { LIB_RULES, "DRIVERS==\"sd\", ATTR{queue/scheduler}=\"mq-deadline\"\n", SDA_SYS,
                 "LINK", SDA "/driver", "../../../bus/sd", END }, WARNS("1:1") },
        { BFQ, { LIB_RULES, "TEST==\"queue/gone\", ATTR{queue/scheduler}=\"mq-deadline\"\n", SDA_SYS, END }, NULL },
        { BFQ, { LIB_RULES, "TEST!=\"/sys/gone\", ATTR{queue/scheduler}=\"mq-deadline\"\n", SDA_SYS, END }, WARNS("1:1") },
        { BFQ, { LIB_RULES, "ACTION==\"remove\", ATTR{queue/scheduler}=\"mq-deadline\"\n", END }, NULL },
        { BFQ, { LIB_RULES, "ENV{DEVTYPE}==\"partition\", ATTR{queue/scheduler}=\"mq-deadline\"\n", END }, NULL },
        { BFQ, { LIB_RULES, "ACTION!=\"add\", ATTR{queue/scheduler}=\"mq-deadline\"\n", END }, WARNS("1:1") },
        /* If a condition cannot be evaluated, the rule may apply, so there is a warning. */
        { BFQ, { LIB_RULES, "PROGRAM==\"/bin/x\", ATTR{queue/scheduler}=\"mq-deadline\"\n", SDA_SYS, END }, WARNS("1:1") },
        { BFQ, { LIB_RULES, "PROGRAM==\"/bin/x\", GOTO=\"end\"\nATTR{queue/scheduler}=\"mq-deadline\"\nLABEL=\"end\"\n", END }, WARNS("2:1") },
        { BFQ, { LIB_RULES, "ATTR{queue/zoned}==\"none\", ATTR{queue/scheduler}=\"mq-deadline\"\n", END }, WARNS("1:1") },
        { BFQ, { LIB_RULES, "ENV{.own}==\"1\", ATTR{queue/scheduler}=\"mq-deadline\"\n", END }, WARNS("1:1") },
        { BFQ, { LIB_RULES, "ACTION==\"change\", GOTO=\"end\"\nATTR{queue/scheduler}=\"mq-deadline\"\nLABEL=\"end\"\n", END }, WARNS("2:1") },
        /* A GOTO skips the lines up to its label. If the label does not exist, the GOTO skips no line. */
        { BFQ, { LIB_RULES, "KERNEL==\"sd?\", GOTO=\"end\"\nATTR{queue/scheduler}=\"none\"\nLABEL=\"end\"\nKERNEL==\"sd?\", ATTR{queue/scheduler}=\"mq-deadline\"\n", END },
          WARNS("4:1") },
        { BFQ, { LIB_RULES, "KERNEL==\"sd?\", GOTO=\"gone\"\nKERNEL==\"sd?\", ATTR{queue/scheduler}=\"mq-deadline\"\nLABEL=\"end\"\n", END }, WARNS("2:1") },
        { BFQ, { LIB_RULES, "SUBSYSTEM==\"block\", GOTO=\"end\"\nKERNEL==\"sd?\", ATTR{queue/scheduler}=\"mq-deadline\"\nLABEL=\"end\"\n", END }, NULL },
        /* A udev rule for the drive's SCSI device conflicts if the attributes of the SCSI device match. */
        { RULE("\"/dev/sda\"", "provisioning_mode = \"full\""), { LIB_RULES, "SUBSYSTEM==\"scsi_disk\", ATTRS{vendor}==\"ATA\", ATTR{provisioning_mode}=\"unmap\"\n", SDA_SYS, END },
          "/usr/lib/udev/rules.d/64.rules:1:1: warning: this line sets provisioning_mode to unmap when udev runs it" },
        { RULE("\"/dev/sda\"", "provisioning_mode = \"full\""), { LIB_RULES, "SUBSYSTEM==\"scsi_disk\", ATTRS{vendor}==\"VMware*\", ATTR{provisioning_mode}=\"unmap\"\n", SDA_SYS, END }, NULL },
        { RULE("\"/dev/sda\"", "timeout = \"30s\""), { LIB_RULES, "SUBSYSTEM==\"scsi\", ATTR{vendor}==\"VMware*\", ATTR{timeout}=\"180\"\n", SDA_SYS, END }, NULL },
        { RULE("\"/dev/sda\"", "timeout = \"30s\""), { LIB_RULES, "SUBSYSTEM==\"scsi\", KERNEL==\"0:*\", ATTR{vendor}==\"ATA\", ATTR{timeout}=\"180\"\n", SDA_SYS, END },
          "/usr/lib/udev/rules.d/64.rules:1:1: warning: this line sets timeout to 3 min when udev runs it" },

        /* Two scripts have the same name in different directories. Each script is read by its path. */
        { WANTS_APM, { "FILE", "etc/udev/rules.d/69.rules",
                       "KERNEL==\"sd?\", RUN+=\"/opt/udev/disk\"\nKERNEL==\"sd?\", RUN+=\"/etc/udev/disk\"\n",
                       "EXEC", "opt/udev/disk", "#!/bin/sh\n",
                       "EXEC", "etc/udev/disk", "#!/bin/sh\nhdparm -B 1 /dev/sda\n", END },
          "/etc/udev/disk:2:1: warning: this line sets apm to 1 when udev runs it" },

        /* There is no complaint about a command that runs on another machine. */
        { WANTS_APM, { "EXEC", "etc/rc.local", "#!/bin/sh\nssh nas hdparm -B 1 /dev/sda\n", END }, NULL },

        /* units */
        { WANTS_APM, { "FILE", "etc/systemd/system/disk.service", SERVICE("/sbin/hdparm -B 1 /dev/sda"), ENABLED("disk.service"), END },
          "/etc/systemd/system/disk.service:2:1: warning: this line sets apm to 1 whenever this unit starts, and f.conf:1 "
          "wants 127 for /dev/sda" },
        { WANTS_APM, { "FILE", "etc/systemd/system/disk.service", SERVICE("/sbin/hdparm -B 1 /dev/sda"), END }, NULL },
        { WANTS_APM, { "FILE", "etc/systemd/system/disk@.service", SERVICE("/sbin/hdparm -B 1 /dev/%i"), ENABLED("disk@sdz.service"), END }, NULL },
        { WANTS_APM, { "FILE", "etc/systemd/system/disk@.service", SERVICE("/sbin/hdparm -B 1 /dev/%i"), ENABLED("disk@sdz.service"), ENABLED("disk@sda.service"), END },
          "/etc/systemd/system/disk@.service:2:1: warning: this line sets apm to 1 whenever" },
        { WANTS_APM, { "FILE", "etc/systemd/system/disk@.service", SERVICE("/sbin/hdparm -B 1 /dev/%i"), ENABLED("disk@sda.service"), END },
          "/etc/systemd/system/disk@.service:2:1: warning: this line sets apm to 1 whenever" },
        { WANTS_APM, { "FILE", "etc/systemd/system/disk.service", "[Service]\nExecStart=/sbin/hdparm -B 1 /dev/sda\n", END },
          "/etc/systemd/system/disk.service:2:1: warning: this line sets apm to 1 whenever" },
        { WANTS_APM, { "FILE", "etc/systemd/system/disk.service", "[Service]\nExecStart=/sbin/hdparm -B 1 /dev/sda\n",
                       "FILE", "etc/systemd/system/disk.timer", "[Timer]\n[Install]\nWantedBy=timers.target\n", END },
          "/etc/systemd/system/disk.service:2:1: warning: this line sets apm to 1 whenever" },
        { WANTS_APM, { "FILE", "usr/lib/systemd/system/omv.service", SERVICE("-run-parts --verbose /etc/smartmontools/hdparm.d"),
                       ENABLED("omv.service"),
                       "EXEC", "etc/smartmontools/hdparm.d/sda", "#!/bin/sh\nsmartctl -s apm,1 /dev/sda\n", END },
          "/etc/smartmontools/hdparm.d/sda:2:1: warning: this line sets apm to 1 whenever" },
        { WANTS_APM, { "FILE", "usr/lib/systemd/system/x.service", SERVICE("/usr/sbin/x"), ENABLED("x.service"),
                       "FILE", "etc/systemd/system/x.service.d/disk.conf", "[Service]\nExecStartPost=/sbin/hdparm -B 1 /dev/sda\n", END },
          "/etc/systemd/system/x.service.d/disk.conf:2:1: warning: this line sets apm to 1 whenever" },

        { WANTS_APM, { "FILE", "usr/lib/systemd/system/x.service", SERVICE("/usr/sbin/x"),
                       "FILE", "etc/systemd/system/x.service.d/disk.conf", "[Service]\nExecStartPost=/sbin/hdparm -B 1 /dev/sda\n", END },
          NULL },
        { WANTS_APM, { "FILE", "usr/lib/systemd/system/x.service", SERVICE("/sbin/hdparm -B 1 /dev/sda"), ENABLED("x.service"),
                       "LINK", "lib", "usr/lib", END },
          "/usr/lib/systemd/system/x.service:2:1: warning: this line sets apm to 1 whenever" },

        /* Drop-ins are read in the order of their names. A drop-in in /etc replaces drop-ins of the same name in other directories. */
#define DISK_UNIT "FILE", "usr/lib/systemd/system/disk-a.service", SERVICE("/sbin/hdparm -B 1 /dev/sda"), ENABLED("disk-a.service")
#define DISK_WARNS(file, value) file ": warning: this line sets apm to " value " whenever this unit starts"
        { WANTS_APM, { DISK_UNIT, DROP_IN("etc/systemd/system/disk-a.service.d/x.conf", "ExecStart=\n"), END }, NULL },
        { WANTS_APM, { DISK_UNIT, DROP_IN("usr/lib/systemd/system/disk-a.service.d/x.conf", "ExecStart=\n"),
                       DROP_IN("etc/systemd/system/disk-a.service.d/w.conf", "ExecStart=/sbin/hdparm -B 2 /dev/sda\n"), END }, NULL },
        { WANTS_APM, { DISK_UNIT, DROP_IN("etc/systemd/system/disk-a.service.d/x.conf", "ExecStart=\n"),
                       DROP_IN("usr/lib/systemd/system/disk-a.service.d/y.conf", "ExecStart=/sbin/hdparm -B 2 /dev/sda\n"), END },
          DISK_WARNS("/usr/lib/systemd/system/disk-a.service.d/y.conf:2:1", "2") },
        { WANTS_APM, { DISK_UNIT, DROP_IN("usr/lib/systemd/system/disk-a.service.d/x.conf", "ExecStart=/sbin/hdparm -B 2 /dev/sda\n"),
                       DROP_IN("etc/systemd/system/disk-a.service.d/x.conf", "ExecStart=\n"), END }, NULL },
        { WANTS_APM, { DISK_UNIT, DROP_IN("usr/lib/systemd/system/disk-a.service.d/x.conf", "ExecStart=\n"),
                       "LINK", "etc/systemd/system/disk-a.service.d/x.conf", "/dev/null", END },
          DISK_WARNS("/usr/lib/systemd/system/disk-a.service:2:1", "1") },
        { WANTS_APM, { DISK_UNIT, DROP_IN("usr/lib/systemd/system/disk-a.service.d/x.conf", "ExecStart=\n"),
                       DROP_IN("usr/lib/systemd/system/disk-.service.d/x.conf", "ExecStart=/sbin/hdparm -B 2 /dev/sda\n"),
                       DROP_IN("etc/systemd/system/service.d/x.conf", "ExecStart=/sbin/hdparm -B 3 /dev/sda\n"), END }, NULL },
        { WANTS_APM, { DISK_UNIT, DROP_IN("etc/systemd/system/disk.service.d/x.conf", "ExecStart=\n"), DROP_IN("etc/systemd/system/disk-a.timer.d/x.conf", "ExecStart=\n"),
                       DROP_IN("etc/systemd/system/dis-.service.d/x.conf", "ExecStart=\n"), END }, DISK_WARNS("/usr/lib/systemd/system/disk-a.service:2:1", "1") },
        { WANTS_APM, { "FILE", "etc/systemd/system/disk@.service", SERVICE("/sbin/hdparm -B 1 /dev/%i"), ENABLED("disk@sda.service"),
                       DROP_IN("etc/systemd/system/disk@.service.d/x.conf", "ExecStart=\n"), END }, NULL },
        { WANTS_APM, { "FILE", "etc/systemd/system/disk.service", "[Service]\nEnvironmentFile=-/etc/disk\nExecStart=/sbin/hdparm -B ${LEVEL} $DISK\n",
                       "FILE", "etc/disk", "DISK=/dev/sda\nLEVEL=5\n", END },
          "/etc/disk:1:1: warning: this line sets apm to 5 whenever" },
        { WANTS_APM, { "FILE", "etc/systemd/system/disk.service", "[Service]\nEnvironment=LEVEL=5\nExecStart=/bin/sh -c 'for d in /dev/sda; do hdparm -B ${LEVEL} $$d; done'\n", END },
          "/etc/systemd/system/disk.service:2:1: warning: this line sets apm to 5 whenever" },
        { WANTS_APM, { "FILE", "etc/systemd/system/disk.service", "[Unit]\nConditionPathExists=/etc/gone\n[Service]\nExecStart=/sbin/hdparm -B 1 /dev/sda\n", END }, NULL },
        { WANTS_APM, { "FILE", "etc/systemd/system/disk.service", "[Unit]\nConditionPathExists=!/etc/gone\n[Service]\nExecStart=/sbin/hdparm -B 1 /dev/sda\n", END },
          DISK_WARNS("/etc/systemd/system/disk.service:4:1", "1") },
        { WANTS_APM, { "FILE", "etc/systemd/system/disk.service", "[Unit]\nConditionPathExists=/etc/gone\n[Service]\nExecStart=/sbin/hdparm -B 1 /dev/sda\n",
                       "FILE", "etc/systemd/system/disk.service.d/x.conf", "[Unit]\nConditionUser=\n", END },
          DISK_WARNS("/etc/systemd/system/disk.service:4:1", "1") },
        /* A unit that is started by its timer, and a unit with two names, cause one complaint each. */
        { WANTS_APM, { "FILE", "etc/systemd/system/disk.service", SERVICE("/sbin/hdparm -B 1 /dev/sda"),
                       "FILE", "etc/systemd/system/disk.timer", "[Timer]\n[Install]\nWantedBy=timers.target\n",
                       "LINK", "etc/systemd/system/timers.target.wants/disk.timer", "../disk.timer", END },
          DISK_WARNS("/etc/systemd/system/disk.service:2:1", "1") },
        { WANTS_APM, { DISK_UNIT, "LINK", "etc/systemd/system/other.service", "/usr/lib/systemd/system/disk-a.service", END },
          DISK_WARNS("/usr/lib/systemd/system/disk-a.service:2:1", "1") },

        /* hooks, rc.local, cron */
        { WANTS_APM, { "EXEC", "usr/lib/systemd/system-sleep/disk", "#!/bin/sh\ncase $1 in post)\n  hdparm -B 1 /dev/sda\nesac\n", END },
          "/usr/lib/systemd/system-sleep/disk:3:3: warning: this line sets apm to 1 before and after suspend, and f.conf:1 wants 127 for "
          "/dev/sda" },
        { WANTS_APM, { "FILE", "usr/lib/systemd/system-sleep/disk", "#!/bin/sh\nhdparm -B 1 /dev/sda\n", END }, NULL },
        { WANTS_APM, { "EXEC", "etc/systemd/system-sleep/disk", "#!/bin/sh\nhdparm -B 1 /dev/sda\n", END },
          NULL },
        { WANTS_APM, { "EXEC", "etc/rc.local", "#!/bin/sh -e\nhdparm -B 1 /dev/sda\nexit 0\n", END },
          "/etc/rc.local:2:1: warning: this line sets apm to 1 at boot, and f.conf:1 wants 127 for /dev/sda" },
        /* rc.local is reported only once, even if a unit calls it. */
        { WANTS_APM, { "EXEC", "etc/rc.local", "#!/bin/sh -e\nhdparm -B 1 /dev/sda\nexit 0\n",
                       "FILE", "usr/lib/systemd/system/rc-local.service", "[Service]\nExecStart=/etc/rc.local start\n", END },
          "/etc/rc.local:2:1: warning: this line sets apm to 1 at boot, and f.conf:1 wants 127 for /dev/sda" },
        { WANTS_APM, { "FILE", "etc/rc.local", "#!/bin/sh -e\nhdparm -B 1 /dev/sda\nexit 0\n", END }, NULL },
        { RULE("{}", "read_ahead_kb = 128"), { "EXEC", "etc/rc.local", "#!/bin/sh\necho 1024 > /sys/block/sda/queue/read_ahead_kb\n", END },
          "/etc/rc.local:2:1: warning: this line sets read_ahead_kb to 1 MiB at boot, and f.conf:1 wants 128 KiB for /dev/sda" },
        { RULE("{}", "read_ahead_kb = 128"), { "EXEC", "etc/rc.local", "#!/bin/sh\necho 1024 > /sys/block/sda/queue/read_ahead_kb 2>/dev/null\n", END },
          "/etc/rc.local:2:1: warning: this line sets read_ahead_kb to 1 MiB at boot, and f.conf:1 wants 128 KiB for /dev/sda" },
        /* A command that runs only under a condition causes a complaint, but only about the drives in its arguments. */
        { WANTS_APM, { "EXEC", "etc/rc.local", "#!/bin/sh\non_ac_power && hdparm -B 1 /dev/sda\n", END },
          "/etc/rc.local:2:1: warning: this line sets apm to 1 at boot, and f.conf:1 wants 127 for /dev/sda" },
        { WANTS_APM, { "EXEC", "etc/rc.local", "#!/bin/sh\non_ac_power && hdparm -B 1 /dev/sdb\n", END }, NULL },
        { WANTS_APM, { "EXEC", "etc/rc.local", "#!/bin/sh\nif on_ac_power; then /opt/disk; fi\n",
                       "EXEC", "opt/disk", "#!/bin/sh\nhdparm -B 1 /dev/sda\n", END },
          "/opt/disk:2:1: warning: this line sets apm to 1 at boot" },
        { WANTS_APM, { "FILE", "etc/cron.d/disk", "# x\n*/5 * * * * root /sbin/hdparm -B 1 /dev/sda\n", END },
          "/etc/cron.d/disk:2:1: warning: this line sets apm to 1 when cron runs it, and f.conf:1 wants 127 for /dev/sda" },
        { WANTS_APM, { "FILE", "etc/crontab", "@reboot root /usr/local/sbin/disk\n",
                       "EXEC", "usr/local/sbin/disk", "#!/bin/sh\n/usr/local/sbin/disk again\nhdparm -B 1 /dev/sda\n", END },
          "/usr/local/sbin/disk:3:1: warning: this line sets apm to 1 when cron runs it" },

        { WANTS_APM, { "EXEC", "etc/cron.daily/all", "#!/bin/sh\nrun-parts --verbose \\\n  /opt/disks\n",
                       "EXEC", "opt/disks/a", "#!/bin/sh\nhdparm -B 1 /dev/sda\n", END },
          "/opt/disks/a:2:1: warning: this line sets apm to 1 when cron runs it" },
        { WANTS_APM, { "EXEC", "etc/cron.daily/disk", "#!/bin/sh\n# not /opt/disk\nhdparm -B 1 /dev/sda\n",
                       "EXEC", "opt/disk", "#!/bin/sh\nhdparm -B 2 /dev/sda\n", END },
          "/etc/cron.daily/disk:3:1: warning: this line sets apm to 1 when cron runs it" },

        /* files for /sys */
        { RULE("{}", "scheduler = \"bfq\""), { "FILE", "etc/tmpfiles.d/disk.conf", "# x\nw /sys/block/sd*/queue/scheduler - - - - none\n", END },
          "/etc/tmpfiles.d/disk.conf:2:1: warning: systemd-tmpfiles sets scheduler to none by this line at boot, and f.conf:1 "
          "wants bfq for /dev/sda" },
        { RULE("{}", "timeout = \"60s\""), { "FILE", "etc/init.d/sysfsutils", "#!/bin/sh\n", "FILE", "etc/sysfs.conf", " block/sda/device/timeout = 30\n", END },
          "/etc/sysfs.conf:1:2: warning: sysfsutils sets timeout to 30 s by this line at boot, and f.conf:1 wants 1 min for "
          "/dev/sda" },

        /* Debian's timer for node_exporter polls the drive. There is a warning if the drive's timer can never expire
         * between two polls. */
#define TIMER(unit, times) "FILE", "usr/lib/systemd/system/" unit, \
        "[Timer]\n" times "[Install]\nWantedBy=timers.target\n"
#define TIMED(unit, times) TIMER(unit, times), "LINK", "etc/systemd/system/timers.target.wants/" unit, "/usr/lib/" unit
#define SMARTMON "prometheus-node-exporter-smartmon.timer"
#define SMARTMON_TIMES "OnBootSec=0\nOnUnitActiveSec=15min\n"
        { SLEEPS, { TIMED(SMARTMON, SMARTMON_TIMES), END },
          "/usr/lib/systemd/system/" SMARTMON ":3:1: warning: " SMARTMON " disturbs spindown_time by polling the drive every "
          "15 min, and f.conf:1 wants 20 min for /dev/sda: set an interval longer than the configured time with "
          "'systemctl edit " SMARTMON "'" },
        { RULE("{}", "standby_z = \"15min\""), { TIMED(SMARTMON, SMARTMON_TIMES), END },
          "/usr/lib/systemd/system/" SMARTMON ":3:1: warning: " SMARTMON " disturbs standby_z by polling the drive every 15 min, "
          "and f.conf:1 wants 15 min for /dev/sda" },
        { RULE("{}", "standby_y = \"14min\""), { TIMED(SMARTMON, SMARTMON_TIMES), END }, NULL },
        { RULE("{}", "spindown_time = \"off\""), { TIMED(SMARTMON, SMARTMON_TIMES), END }, NULL },
        { RULE("{}", "idle_c = \"20min\""), { TIMED(SMARTMON, SMARTMON_TIMES), END }, NULL },
        { RULE("\"/dev/nvme0n1\"", "spindown_time = \"20min\""), { TIMED(SMARTMON, SMARTMON_TIMES), END }, NULL },
        { RULE("{}", "on_battery = { spindown_time = \"20min\"; }"), { TIMED(SMARTMON, SMARTMON_TIMES), END },
          "/usr/lib/systemd/system/" SMARTMON ":3:1: warning: " SMARTMON " disturbs spindown_time" },
        { RULE("{}", "spindown_by = \"service\"; spindown_time = \"20min\""), { TIMED(SMARTMON, SMARTMON_TIMES), END }, NULL },
        { SLEEPS, { TIMER(SMARTMON, SMARTMON_TIMES), END }, NULL },
        { SLEEPS, { TIMED(SMARTMON, SMARTMON_TIMES), MASKED(SMARTMON), END }, NULL },
        { SLEEPS, { TIMED(SMARTMON, "OnCalendar=hourly\n"), END }, NULL },
        { SLEEPS, { TIMED(SMARTMON, SMARTMON_TIMES), "FILE", "etc/systemd/system/" SMARTMON ".d/override.conf",
                    "[Timer]\nOnUnitActiveSec=\nOnUnitActiveSec=1h\n", END }, NULL },
        { SLEEPS, { TIMED(SMARTMON, SMARTMON_TIMES), "FILE", "etc/systemd/system/" SMARTMON ".d/override.conf",
                    "[Timer]\nOnUnitActiveSec=\nOnCalendar=daily\n", END }, NULL },
        { SLEEPS, { TIMED(SMARTMON, "OnUnitActiveSec=1h\n"), "FILE", "etc/systemd/system/" SMARTMON ".d/override.conf",
                    "[Timer]\nOnUnitActiveSec=\nOnUnitActiveSec=90\n", END },
          "/etc/systemd/system/" SMARTMON ".d/override.conf:3:1: warning: " SMARTMON " disturbs spindown_time by polling the drive "
          "every 1 min 30 s, and" },

        /* smartctl_exporter */
#define EXPORTER(name, options) "FILE", "usr/lib/systemd/system/" name ".service", \
        SERVICE("/usr/bin/" name options "\nEnvironmentFile=-/etc/default/" name), ENABLED(name ".service")
#define OPTIONS(options) EXPORTER("smartctl_exporter", options)
#define EXPORTER_WARNS "/usr/lib/systemd/system/smartctl_exporter.service:2:1: warning: smartctl_exporter disturbs spindown_time " \
        "by polling the drive every "
        { SLEEPS, { OPTIONS(""), END },
          EXPORTER_WARNS "1 min, and f.conf:1 wants 20 min for /dev/sda: set --smartctl.interval longer than the configured time" },
        { SLEEPS, { OPTIONS(" --smartctl.interval=1h30m"), END }, NULL },
        { SLEEPS, { OPTIONS(" --smartctl.interval=1h --smartctl.powermode-check=standby"), END }, NULL },
        { SLEEPS, { OPTIONS(" --smartctl.interval 10m --smartctl.powermode-check idle"), END }, EXPORTER_WARNS "10 min, and" },
        { SLEEPS, { OPTIONS(" --smartctl.interval=1h \\\n  --smartctl.powermode-check=\"never\""), END },
          EXPORTER_WARNS "1 h, and f.conf:1 wants 20 min for /dev/sda: set --smartctl.powermode-check=standby, and --smartctl.interval longer" },
        { RULE("{}", "spindown_by = \"service\"; spindown_time = \"20min\""), { OPTIONS(""), END }, NULL },
        { RULE("{}", "spindown_by = \"service\"; commands_are_use = true; spindown_time = \"20min\""), { OPTIONS(""), END }, EXPORTER_WARNS },
        { RULE("{}", "spindown_by = \"service\"; spindown_time = \"20min\""),
          { OPTIONS(" --smartctl.powermode-check=never"), END }, EXPORTER_WARNS },
        { SLEEPS, { OPTIONS(" --smartctl.device=/dev/nvme0n1"), END }, NULL },
        { SLEEPS, { OPTIONS(" --smartctl.device=/dev/nvme0n1 --smartctl.device=/dev/sda;sat"), END }, EXPORTER_WARNS },
        { SLEEPS, { OPTIONS(" --smartctl.device-exclude=sda"), END }, NULL },
        { SLEEPS, { OPTIONS(" --smartctl.interval=often"), END }, NULL },
        { SLEEPS, { "FILE", "usr/lib/systemd/system/smartctl_exporter.service", SERVICE("/usr/bin/smartctl_exporter"), END }, NULL },
        { WANTS_APM, { OPTIONS(""), END }, NULL },
        { SLEEPS, { EXPORTER("prometheus-smartctl-exporter", " $ARGS"), "FILE", "etc/default/prometheus-smartctl-exporter",
                    "# ARGS=\"--smartctl.interval=1h\"\nARGS=\"--smartctl.interval=2m\"\n", END },
          "/etc/default/prometheus-smartctl-exporter:2:1: warning: smartctl_exporter disturbs spindown_time by polling the drive "
          "every 2 min, and" },
        { SLEEPS, { EXPORTER("prometheus-smartctl-exporter", " ${ARGS}"), "FILE", "etc/default/prometheus-smartctl-exporter",
                    "ARGS=\"--smartctl.interval=1h\"\n", END }, NULL },
        { SLEEPS, { OPTIONS(" --smartctl.interval=1h"), "FILE", "etc/systemd/system/smartctl_exporter.service.d/x.conf",
                    "[Service]\nExecStart=\nExecStart=/usr/bin/smartctl_exporter --smartctl.interval=30s\n", END },
          "/etc/systemd/system/smartctl_exporter.service.d/x.conf:3:1: warning: smartctl_exporter disturbs spindown_time by polling "
          "the drive every 30 s" },

        /* updatedb */
#define FSTAB(lines) "FILE", "etc/fstab", lines
#define SRV FSTAB("# <fs> <dir>\nUUID=1-2 /srv ext4 defaults 0 2\n")
#define PRUNES(text) TIMED("plocate-updatedb.timer", "OnCalendar=daily\n"), "FILE", "etc/updatedb.conf", text
#define PRUNES_SOME PRUNES("# PRUNEPATHS=\"/srv\"\nPRUNEPATHS = \"/tmp /media /sr\"\nPRUNEFS=\"NFS tmpfs\"\n")
#define UPDATEDB_WARNS "/etc/updatedb.conf:2:1: warning: updatedb disturbs spindown_time by searching /"
        { SLEEPS, { PRUNES_SOME, SRV, END },
          UPDATEDB_WARNS "srv, and f.conf:1 wants 20 min for /dev/sda: add the mount point to PRUNEPATHS" },
        { RULE("{}", "spindown_by = \"service\"; spindown_time = \"20min\""), { PRUNES_SOME, SRV, END }, UPDATEDB_WARNS },
        { WANTS_APM, { PRUNES_SOME, SRV, END }, NULL },
        { SLEEPS, { PRUNES("PRUNEPATHS=\"/tmp /srv/\"\n"), SRV, END }, NULL },
        { SLEEPS, { PRUNES("\nPRUNEPATHS=\"/SRV\"\n"), SRV, END }, UPDATEDB_WARNS },
        { SLEEPS, { PRUNES("PRUNEFS = \"EXT4\"\n"), SRV, END }, NULL },
        { SLEEPS, { PRUNES("PRUNEFS=\"nfs\"\n"), SRV, END }, "/etc/updatedb.conf: warning: updatedb disturbs" },
        { SLEEPS, { PRUNES("PRUNEFS=\"nfs\"\n"), SRV, MASKED("plocate-updatedb.timer"), END }, NULL },
        { SLEEPS, { "FILE", "etc/updatedb.conf", "PRUNEPATHS=\"/tmp\"\n", SRV, END }, NULL },
        { SLEEPS, { "FILE", "etc/updatedb.conf", "\nPRUNEPATHS=\"/tmp\"\n", SRV,
                    "EXEC", "etc/cron.daily/mlocate", "#!/bin/sh\n/usr/bin/updatedb.mlocate\n", END }, UPDATEDB_WARNS "srv" },
        { SLEEPS, { "FILE", "etc/updatedb.conf", "PRUNEPATHS=\"/tmp\"\n", SRV,
                    "EXEC", "etc/cron.daily/plocate", "#!/bin/sh\n[ -d /run/systemd/system ] && exit 0\nupdatedb.plocate\n", END },
          NULL },
        { SLEEPS, { PRUNES_SOME, FSTAB("/dev/sda1 /media/disk ext4 defaults 0 2\n"), END }, NULL },
        { SLEEPS, { PRUNES_SOME, FSTAB("/dev/sda1 /\\040x ext4 defaults 0 2\n"), END }, UPDATEDB_WARNS " x, and" },
        { SLEEPS, { PRUNES_SOME, FSTAB("LABEL=my\\040files /x ext4 defaults 0 2\n"), END }, UPDATEDB_WARNS "x, and" },
        { SLEEPS, { PRUNES_SOME, FSTAB("/dev/md0 /x ext4 defaults 0 2\n"), END }, UPDATEDB_WARNS "x, and" },
        { SLEEPS, { PRUNES_SOME, FSTAB("UUID=\"1-2\" /x ext4 defaults 0 2\n"), END }, UPDATEDB_WARNS "x, and" },
        { SLEEPS, { PRUNES_SOME, FSTAB("UUID=3-4 /x ext4 defaults 0 2\nnas:/x /y nfs4 defaults\n/dev/sda1\n"), END }, NULL },
        { SLEEPS, { PRUNES_SOME, FSTAB("/dev/sda1 none swap sw 0 0\n/dev/sda1 / ext4 defaults\n"), END }, NULL },
        { SLEEPS, { PRUNES_SOME, FSTAB("/dev/sda1 /x ext4 noauto 0 2\n"), END }, NULL },

        /* access times */
        { SLEEPS, { FSTAB("\n# x\nUUID=1-2 /srv ext4 rw,strictatime 0 2\n"), END },
          "/etc/fstab:3:1: warning: strictatime disturbs spindown_time by writing an access time after each read of a file on /srv, "
          "even of a cached file, and f.conf:1 wants 20 min for /dev/sda: remove strictatime: the default, relatime, writes at most once a day for a file "
          "that is only read" },
        { WANTS_APM, { FSTAB("UUID=1-2 /srv ext4 strictatime\n"), END }, NULL },
        { SLEEPS, { FSTAB("UUID=3-4 /srv ext4 strictatime\n"), END }, NULL },
        { SLEEPS, { FSTAB("UUID=1-2 /srv ext4 atime\n"), END }, NULL },
        { SLEEPS, { FSTAB("UUID=1-2 /srv ext4 relatime\nUUID=1-2 /x ext4 noatime,nostrictatime\n"), END }, NULL },
        { SLEEPS, { FSTAB("UUID=1-2 /srv ext4 ro,strictatime\nUUID=1-2 /x ext4 lazytime,strictatime\n"), END }, NULL },

        /* There is no complaint if the configuration is empty, or if the machine has no files of other programs. */
        { "drives = ();", { HDPARM_RULES, END }, NULL },
        { WANTS_APM, { END }, NULL },
};
/* clang-format on */

/* Asserts that exactly one complaint exists and begins with `expected`. If `expected` is NULL, asserts that there is no
 * complaint. */
static void assert_complaint(const char *out, const char *expected) {
        if (!expected) {
                ck_assert_str_eq(out, "");
                return;
        }
        ck_assert_msg(strncmp(out, expected, strlen(expected)) == 0, "\n%s\nis not\n%s", out, expected);
        ck_assert_msg(strchr(out, '\n') == strrchr(out, '\n'), "%s", out);
        ck_assert_ptr_null(strstr(out, "(null)"));
}

START_TEST(test_conflict) {
        _cleanup_free_ char *out = check(cases[_i].conf, cases[_i].tree, ELEMENTSOF(drives));

        assert_complaint(out, cases[_i].expected);
}
END_TEST

/* Without a line for apm in hdparm.conf, Debian's default apm is in effect: the complaint is at the udev rule. */
START_TEST(test_block_without_apm) {
        static const char *const tree[] = { HDPARM_RULES, "FILE", "etc/hdparm.conf", "/dev/sda {\nlookahead = on\n}\n",
                                            END };
        _cleanup_free_ char *out = check(RULE("{}", "apm = 127"), tree, ELEMENTSOF(drives));

        assert_complaint(out,
                         "/usr/lib/udev/rules.d/85-hdparm.rules:1:1: notice: Debian's hdparm package sets apm to 254");
}
END_TEST

/* mdadm.conf names the array by its UUID. */
START_TEST(test_array) {
        static const char *const tree[] = {
                "FILE", "etc/mdadm/mdadm.conf",
                "SYSFS uuid=bead5eb6:31c17a27:da120ba2:7dfda40d group_thread_cnt=4 sync_speed_max=1000\n", END
        };
        static char properties[] = "MD_UUID=bead5eb6:31c17a27:da120ba2:7dfda40d";
        Drive array = { .name = (char *) "md127",
                        .node = (char *) "/dev/md127",
                        .transport = TRANSPORT_VIRTUAL,
                        .properties = properties,
                        .properties_size = sizeof properties };
        _cleanup_free_ char *out = NULL;

        drives[0] = &array;
        out = check(RULE("{}", "group_thread_cnt = 8;"), tree, ELEMENTSOF(drives));
        drives[0] = &sda;
        assert_complaint(
                        out,
                        "/etc/mdadm/mdadm.conf:1:1: warning: mdadm sets group_thread_cnt to 4 by this line, when the array starts, and "
                        "f.conf:1 wants 8 for /dev/md127: remove the value from this line");
}
END_TEST

START_TEST(test_without_drives) {
        static const char *const tree[] = { UDISKS_UNIT, "FILE", UDISKS_FILE, "[ATA]\nAPMLevel=128\n", TLP, END };
        _cleanup_free_ char *out = check(RULE("{}", "apm = 127"), tree, 0);

        assert_complaint(out, NULL);
}
END_TEST

/* Pipes, devices and other unusable files are skipped without waiting. */
START_TEST(test_hostile) {
        static const char *const tree[] = { "FILE", "etc/tlp.conf/x", "", "FILE", "etc/udisks2/x/y", "", TLP, END };
        static const char nul[] = "[ATA]\nAPMLevel=1\0\n";
        _cleanup_free_ char *out = NULL;
        FILE *f;

        make_parents("etc/udisks2/");
        ck_assert_int_eq(mkdir("etc", 0755) < 0 && errno == EEXIST, 1);
        ck_assert_int_eq(mkfifo("etc/hdparm.conf", 0600), 0);
        ck_assert_int_eq(mkfifo("etc/rc.local", 0700), 0);
        ck_assert_int_eq(symlink("loop", "etc/smartd.conf"), 0);
        ck_assert_int_eq(symlink("smartd.conf", "etc/loop"), 0);
        f = fopen("etc/udisks2/nul.conf", "we");
        ck_assert_uint_eq(fwrite(nul, 1, sizeof nul, f), sizeof nul);
        (void) fclose(f);
        file_write("etc/crontab", "");
        ck_assert_int_eq(truncate("etc/crontab", 100 << 20), 0);

        out = check(WANTS_APM, tree, 1);
        assert_complaint(out, "/usr/share/tlp/defaults.conf:3:1: notice: TLP sets apm to 250");
}
END_TEST

int main(void) {
        TCase *t = tcase_create("conflicts");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_loop_test(t, test_conflict, 0, ELEMENTSOF(cases));
        tcase_add_test(t, test_block_without_apm);
        tcase_add_test(t, test_array);
        tcase_add_test(t, test_without_drives);
        tcase_add_test(t, test_hostile);
        return test_main("conflicts", t);
}
