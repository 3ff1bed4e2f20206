/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Imports commands and configuration files of other programs: expected output for each input. */

#include "suite.h"
#include "written-case.h"

/* clang-format off */
static const WrittenCase cases[] = {
#define RUN_OPEN "is known only when"
#define COMMENTED_BY(reason) "// line 1: " reason
#define NOWHERE "//     match = \"/dev/disk/by-id/NAME-OF-THE-DRIVE\";"
#define NOTHING "the file sets nothing"
        /* hdparm accepts combined flags, and a number directly after its flag or as the next word. Flags that only
         * print are not imported. */
        { "rc.local", "/sbin/hdparm -B 254 -S 120 /dev/sda\n", { "match = \"/dev/sda\";", "apm = 254;", "spindown_time = 120; // 10 min" } },
        { "x.sh", "hdparm -qS12W0A1 /dev/sda /dev/sdb\n",
          { "( \"/dev/sda\", \"/dev/sdb\" )", "spindown_time = 12;", "write_cache = false;", "lookahead = true;" } },
        { "x.sh", "hdparm -tT /dev/sda; hdparm -I /dev/sda; hdparm -B /dev/sda; hdparm -qgi -V /dev/sda\n", { NOTHING } },
        { "x.sh", "hdparm -B255 -t /dev/sda\n", { "apm = 255; // off" } },
        { "x.sh", "hdparm -N p1000 /dev/sda\n", { "may change the drive permanently" }, "{" },
        { "x.sh", "hdparm -W1 -X69 /dev/hda\n", { "hdparm -X69 is not understood", "//     write_cache" }, "\n        match" },
        { "x.sh", "hdparm --user-master u --security-unlock hunter2 /dev/sda\n", { "keeps no passwords" }, "hunter2" },
        { "x.sh", "hdparm -S 12 --security-set-pass hunter2 /dev/sda\n", { "\n        spindown_time = 12;" }, "hunter2" },
        { "x.sh", "hdparm -s1 /dev/sda\n", { "// poweron_standby = 1; // dangerous, and needs allow_dangerous = true: " } },
        { "x.sh", "hdparm -d1 -W1 /dev/sda\n", { "// dma = 1; // drivekeep never writes this setting", "write_cache = true;" } },
        { "x.sh", "hdparm -y /dev/sda; hdparm -S6 -Y /dev/sdb\n",
          { "hdparm -y acts once and is not a setting", "hdparm -Y acts once", "match = \"/dev/sdb\";", "spindown_time = 6;" }, "standby =" },
        { "x.sh", "hdparm -W 0 --idle-immediate --prefer-ata12 /dev/sda\n", { "no setting for hdparm --idle-immediate", "\n        write_cache = false;" } },
        /* A command with an unknown flag or value becomes a comment, since hdparm sets nothing then. */
#define NO_FLAG "is not understood"
        { "x.sh", "hdparm -S=12 /dev/sda\n", { "hdparm -S=12 " NO_FLAG }, "\n        match" },
        { "x.sh", "hdparm -B 127 -S 0xf0 /dev/sda\n", { "hdparm -S " NO_FLAG }, "\n        match" },
        { "x.sh", "hdparm -W 0 -U 1 /dev/sda\n", { "hdparm -U " NO_FLAG }, "\n        match" },
        { "x.sh", "hdparm -S 12 -B 300 /dev/sda\n", { "hdparm -B " NO_FLAG }, "\n        match" },
        { "x.sh", "hdparm -B 254 -S /dev/sda\n", { "hdparm -S " NO_FLAG }, "\n        match" },
        { "x.sh", "hdparm -W 0 -$F /dev/sda\n", { "hdparm -$F " NO_FLAG, "//     write_cache = false;" } },
        { "x.sh", "hdparm -S 60 /dev/sda -W 0 /dev/sdb\n", { "flags after a drive", "//     write_cache = false;" }, "\n        match" },
        { "x.sh", "hdparm -t /dev/sda /dev/sdb\n", { NOTHING } },

        { "x.sh", "smartctl -l scterc,70,70 /dev/sda\n", { "error_recovery = \"7s\";" } },
        { "x.sh", "smartctl -q silent --log=scterc,0,0,p -d sat /dev/sda\n", { "error_recovery = \"off\";" } },
        { "x.sh", "smartctl -s standby,241 -s apm,128 -s wcache,off --set aam,off --set=rcache,off /dev/sda\n",
          { "spindown_time = 241;", "apm = 128;", "write_cache = false;", "acoustic_management = \"off\";", "read_cache = false;" } },
        { "x.sh", "smartctl -l scterc,42,70 /dev/sda\n", { "error_recovery_read = \"4200ms\";", "error_recovery_write = \"7s\";" } },
        { "x.sh", "smartctl -s on -a /dev/sda; smartctl -s standby,now /dev/sda\n", { "no setting for smartctl -s on", "acts once" }, "{" },
        { "x.sh", "smartctl -s apm,128 -s standby,now /dev/sda\n", { "acts once", "\n        apm = 128;" } },
        { "x.sh", "smartctl -l scterc,-70,-70 /dev/sda; smartctl -l scterc,+70,+70 /dev/sda\n", { "smartctl -l scterc,-70,-70 is not translated" }, "{" },
        { "x.sh", "hdparm -S 12 -L0 -n 1 /dev/sda\n", { "hdparm -n has no effect", "\n        spindown_time = 12;" } },
#define BEHIND_RAID "a drive behind a RAID controller", NOWHERE, "//     apm = 128;"
        { "x.sh", "smartctl -d megaraid,5 -s apm,128 /dev/sda\n", { BEHIND_RAID }, "\n        match" },
        { "x.sh", "smartctl -s apm,128 --device=3ware,0 /dev/twa0\n", { BEHIND_RAID }, "\n        match" },
        { "x.sh", "smartctl --device sat+megaraid,5 -s apm,128 /dev/bus/0\n", { BEHIND_RAID }, "\n        match" },
        { "x.sh", "smartctl -a -d cciss,0 /dev/sda; nvme list; blockdev --getsz /dev/sda\n", { NOTHING } },
        { "x.sh", "smartctl -d sat,12 -s apm,128 /dev/sda; smartctl --device removable -s apm,254 /dev/sdb\n",
          { "\n        apm = 128;", "\n        apm = 254;" }, "RAID" },
        { "x.sh", "smartctl -d nvme -s wcache,on /dev/nvme0\n",
          { "the command names no drive" }, "\n        match" },
        { "x.sh", "smartctl -H /dev/nvme0\n", { NOTHING } },
        { "x.sh", "for d in sda nvme0; do smartctl -l scterc,70,70 /dev/$d; done\n",
          { "\n        match = \"/dev/sda\";", "\n        error_recovery = \"7s\";" } },
        { "x.sh", "smartctl -d usbjmicron,1 -s apm,128 /dev/sda\n", { BEHIND_RAID }, "\n        match" },
        /* A command with a value that smartctl rejects becomes a comment as a whole. */
        { "x.sh", "smartctl -s apm,128 -s standby,10min /dev/sda; smartctl -s wcache,1 /dev/sdb; smartctl -s apm,$L /dev/sdc\n",
          { "-s wcache,1 is not translated", "-s apm,$L is not translated", COMMENTED_BY("smartctl -s standby,10min"), "//     apm = 128;" },
          "\n        match" },
        { "x.sh", "smartctl -l scterc,70,1000 /dev/sda; smartctl -l scterc,70,70,x /dev/sda\n", { "smartctl -l scterc,70,1000 is not translated" }, "{" },
        /* If a command sets two settings that exclude each other, only the last setting is imported, since the command
         * executes its options in order. */
        { "x.sh", "smartctl -l scterc,42,70 -l scterc,70,70 /dev/sda\n",
          { "// error_recovery_read = \"4200ms\"; // excluded by error_recovery, which is set later", "// error_recovery_write = \"7s\";",
            "\n        error_recovery = \"7s\";" } },
        { "x.sh", "smartctl -l scterc,60,60 -l scterc,42,70 -l scterc,70,70 /dev/sda\n",
          { "// error_recovery_read", "\n        error_recovery = \"7s\";" }, "6s" },

        { "x.sh", "sdparm --set=WCE=0 --save /dev/sda; sdparm --clear WCE /dev/sdb\n", { "\"/dev/sda\", \"/dev/sdb\"", "write_cache = false;" } },
        { "x.sh", "sdparm --set=IDLE_B=1,IBCT=1200,STANDBY_Y=1,SYCT=18005 --save /dev/sda\n",
          { "idle_b = \"120s\";", "standby_y = \"1800500ms\";" } },
        { "x.sh", "sdparm -s idle_c=1,ICCT=6000 -s IDLE=0 -c STANDBY_Y -t sas -p po -S /dev/sda; sdparm -f -s IDLE_A,IACT=20 /dev/sdb\n",
          { "idle_a = \"off\";", "idle_c = \"600s\";", "standby_y = \"off\";", "idle_a = \"2s\";" }, "translated" },
        { "x.sh", "sdparm -s SYCT=9000 /dev/sda; sdparm --set IDLE_B=1 /dev/sda\n", { "SYCT=9000 is not", "IDLE_B=1 is not" }, "{" },
        { "x.sh", "sdparm --six -s WCE=0 --select /dev/sda\n", { "sdparm --select is not understood", "//     write_cache" }, "\n        match" },
        { "x.sh", "smartctl -o on -S on /dev/sda; blockdev --setfra 8 /dev/sda; nvme format /dev/nvme0n1 -s 1\n",
          { "no setting for smartctl -o", "--setfra is not", "no setting for nvme format" }, "{" },
        { "x.sh", "sdparm -s STANDBY_Z=1,SCT=9000 /dev/sda; sdparm --set=WCE=on,RTL= /dev/sda\n",
          { "WCE=on is not translated", "standby_z = \"900s\";" } },
        { "x.sh", "sdparm -t sas --set STANDBY_Z=0,SZCT=9000 /dev/sda; sdparm --set=SCT,WCE=2,IDLE_A=1 /dev/sdb\n",
          { "SZCT=9000 is not translated", "SCT is not", "WCE=2 is not", "IDLE_A=1 is not", "standby_z = \"off\";" }, "900s" },
        { "x.sh", "nvme set-feature /dev/nvme0 -f 0x06 -v 0\n", { "\"/dev/nvme0n*\"", "write_cache = false;" } },
        { "x.sh", "nvme set-feature /dev/nvme0 -f 0x11 -v 1; nvme set-feature /dev/nvme1 --feature-id=17 --value=0\n",
          { "\n        non_operational_permissive_mode = true;", "\n        non_operational_permissive_mode = false;" } },
        { "x.sh", "nvme set-feature -n 1 -f0x10 --value=0x157 /dev/nvme0n1\n", { "thermal_light = \"off\";", "thermal_heavy = \"70C\";" } },
        { "x.sh", "nvme set-feature /dev/nvme0 -f 8 -v 0x0107\n",
          { "interrupt_coalescing_threshold = 8;", "interrupt_coalescing_time = \"100us\";" } },
        { "x.sh", "nvme set-feature /dev/nvme0 -f 4 -v 0x157; nvme set-feature /dev/nvme0 -f 5 -v 70 -n 1; nvme set-feature /dev/nvme0 -f 0xd -v 0\n",
          { "temperature_threshold = \"70C\";", "error_recovery = \"7s\";", "hmb = false;" } },
        /* Three values are not imported: a temperature of a single sensor, error recovery with DULBE, and a
         * temperature below 0 C. */
        { "x.sh", "nvme set-feature /dev/nvme0 -f 4 -v 0x10157; nvme set-feature /dev/nvme0 -f 5 -v 0x10046; nvme set-feature /dev/nvme0 -f 0x10 -v 0x1\n",
          { "-f 4 -v 0x10157 is not translated", "-f 5 -v 0x10046 is not", "-f 0x10 -v 0x1 is not" }, "{" },
        { "x.sh", "nvme set-feature /dev/nvme0 -f 0x0c -v 0; nvme set-feature /dev/nvme1 -f 0xc -v 1 -d table\n",
          { "-f 0xc -v 1 is not", "\n        apst_latency = \"off\";" } },
        { "x.sh", "for n in /dev/nvme[0-9]; do nvme set-feature $n -f 6 -v 0; done\n", { "match = \"/dev/nvme[0-9]n*\";" } },
        { "x.sh", "nvme set-feature /dev/nvme0n[1-9] -f 6 -v 0\n", { "match = \"/dev/nvme0n[1-9]\";" } },
        { "x.sh", "sdparm --set WCE=1 /dev/sg2\n", { "/dev/sg2, which is not a block device", NOWHERE, "//     write_cache = true;" } },

        /* A command for an array sets only the array, but a match by the name of the array includes its member drives. The match therefore
         * also requires transport = "virtual". */
        { "x.sh", "blockdev --setra 4096 /dev/md0\n",
          { "match = { node = \"/dev/md0\"; transport = \"virtual\"; };", "\n        read_ahead_sect = 4096; // 2 MiB" } },
        { "x.sh", "blockdev --setra 4KiB /dev/sda; blockdev --setra $R /dev/sdb\n", { "the value of --setra is not a number", "the value of --setra is known only when the command runs" }, "{" },
        { "x.sh", "blockdev --setra 4096 /dev/md0 /dev/sdb\n", { "also names an array", NOWHERE }, "\n        match" },
        { "x.sh", "echo 4096 > /sys/block/dm-0/queue/read_ahead_kb\n", { "transport = \"virtual\"", "read_ahead_kb = 4096;" } },
        { "x.sh", "blockdev --setro /dev/sdb1\n", { "the command sets a partition", "//     read_only = true;" }, "\n        match" },
        { "x.sh", "blockdev --setro /dev/disk/by-uuid/1234-ABCD; hdparm -r1 /dev/nvme0n1p2\n", { "the command sets a partition" }, "\n        match" },
        { "x.sh", "blockdev --setro /dev/nvme0n1 /dev/disk/by-id/ata-ST1\n", { "\n        read_only = true;" } },

        /* A value that is written to a file below /sys is imported. */
        { "x.sh", "echo 180 > /sys/block/sda/device/timeout 2>/dev/null\n", { "match = \"/dev/sda\";", "timeout = \"180s\";" } },
        { "x.sh", "echo -n bfq > /sys/block/sda/queue/scheduler; printf '%s\\n' 64 | tee -a /sys/block/sda/queue/nr_requests >/dev/null\n",
          { "\n        scheduler = \"bfq\";", "\n        nr_requests = 64;" } },
        { "x.sh", "echo bfq; date | tee /sys/block/sda/queue/scheduler\n", { "the value of scheduler " RUN_OPEN }, "{" },
        { "x.sh", "echo bfq > /sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda/queue/scheduler\n",
          { "\n        match = \"/dev/sda\";", "\n        scheduler = \"bfq\";" } },
        { "x.sh", "echo bfq > /sys/block/$i/queue/scheduler; echo 1 > $disk/queue/iostats\n",
          { "\"/dev/$i\" is known only when", NOWHERE, "//     scheduler = \"bfq\";", NOWHERE, "iostats" }, "\n        match" },
        { "x.sh", "echo 250 > /sys/block/sda/queue/iosched/read_expire; echo 0 > /sys/block/sda/queue/iosched/low_latency; echo 0 > /sys/block/sda/queue/iosched/slice_idle\n",
          { "\n        read_expire = \"250ms\";", "\n        low_latency = false;", "\n        slice_idle = \"0s\";" } },
        { "x.sh", "d=/sys/block/sda/queue/iosched; echo 8192 > $d/max_budget; echo 4000 > $d/slice_idle_us; echo 2048 > $d/back_seek_max; echo 64 > $d/async_depth\n",
          { "no setting for async_depth", "\n        max_budget = 8192; // 4 MiB", "\n        slice_idle = \"4000us\";", "\n        back_seek_max = 2048; // 2 MiB" } },
        { "60-iosched.rules", "ACTION==\"add|change\", KERNEL==\"sd[a-z]\", ATTR{queue/rotational}==\"1\", ATTR{queue/scheduler}=\"bfq\", ATTR{queue/iosched/low_latency}=\"0\"\n",
          { "\n        scheduler = \"bfq\";\n        low_latency = false;" } },
        { "x.sh", "echo 1 > /sys/class/scsi_disk/0:0:0:0/manage_start_stop\n", { NOWHERE, "//     manage_start_stop = true;" } },
        { "x.sh", "d=/sys/block/sda/device/scsi_disk/0:0:0:0; echo 0 > $d/allow_restart; echo -1 > $d/max_retries\n",
          { "\n        allow_restart = false;", "\n        max_retries = \"-1\";" } },
        { "x.sh", "d=/sys/block/sda/device/scsi_disk/0:0:0:0; echo temporary write back > $d/cache_type; echo write through > $d/cache_type\n",
          { "\n        write_cache = false;" } },
        { "x.sh", "echo temporary write back > /sys/block/sda/device/scsi_disk/0:0:0:0/cache_type\n",
          { "// write_cache = \"temporary write back\"; // \"temporary write back\" is not a valid value" }, "\n        match" },
        { "x.sh", "echo 2000 > /sys/block/sda/device/power/autosuspend_delay_ms; echo -1 > /sys/block/sdb/device/power/autosuspend_delay_ms\n",
          { "\n        autosuspend_delay = \"2s\"", "\n        autosuspend_delay = \"-1\";" } },
        { "x.sh", "echo 0 > /sys/class/nvme/nvme0/power/pm_qos_latency_tolerance_us; echo 0 > /sys/block/nvme1n1/device/hmb\n",
          { "\n        match = \"/dev/nvme0n*\";", "\n        apst_latency = \"0us\";", "\n        match = \"/dev/nvme1n1\";", "\n        hmb = false;" } },
        { "x.sh", "echo 1 > /proc/sys/vm/laptop_mode; echo 0 > /sys/devices/system/cpu/cpu1/online; echo x > /tmp/queue/scheduler\n", { NOTHING } },
        { "x.sh", "echo min_power > /sys/class/scsi_host/host0/link_power_management_policy\n",
          { "the path has a number instead", NOWHERE, "//     link_power_management = \"min_power\";" }, "\n        match" },

        /* A drive attribute without a drivekeep setting becomes a comment. */
#define NO_ROW(line, name) "line " line ": drivekeep has no setting for " name
        { "x.sh", "d=/sys/block/sda; echo 1 > $d/bdi/min_ratio\n"
          "echo 1 > $M/md/safe_mode_delay; echo 1 > /sys/module/libata/parameters/noacpi; echo on > /sys/devices/pci0/0:17.0/ata1/power/control\n",
          { NO_ROW("1", "min_ratio"), NO_ROW("2", "safe_mode_delay"), NO_ROW("2", "noacpi"), NO_ROW("2", "control") }, "{" },
        { "69.rules", "SUBSYSTEM==\"bdi\", ATTR{min_ratio}=\"1\"\nKERNEL==\"sd?\", ATTR{bdi/min_ratio}=\"1\"\n",
          { "lines 1, 2: drivekeep has no setting for min_ratio" }, "{" },
        /* Limits on the dirty pages of a drive are imported. */
        { "69.rules", "SUBSYSTEM==\"block\", ENV{ID_USB_DRIVER}==\"usb-storage\", ATTR{bdi/max_bytes}=\"50000000\"\n"
          "SUBSYSTEM==\"block\", SUBSYSTEMS==\"usb\", KERNEL==\"sd?\", ATTR{bdi/strict_limit}=\"1\", ATTR{bdi/max_ratio}=\"1\"\n",
          { "\n        match = { ID_USB_DRIVER = \"usb-storage\"; };\n        max_bytes = 50000000;",
            "\n        match = { transport = \"usb\"; node = \"/dev/sd?\"; };\n        strict_limit = true;\n        max_ratio = 1;" } },
        { "x.sh", "echo 2 > /sys/block/sdb/bdi/max_ratio; echo 101 > /sys/block/sdc/bdi/max_ratio\n",
          { "\n        match = \"/dev/sdb\";\n        max_ratio = 2;", "\"101\" is not a valid value" }, "sdc\";\n        max" },
        { "/etc/sysfs.conf", "class/bdi/8:16/max_ratio = 1\nblock/sdb/bdi/max_bytes = 8388608\n",
          { "the path has a number instead", NOWHERE, "//     max_ratio = 1;", "\n        max_bytes = 8388608;" } },
        /* Guides enable TRIM behind USB bridges by a udev rule for the class scsi_disk, or by a command. */
        { "10-trim.rules", "ACTION==\"add|change\", ATTRS{idVendor}==\"174c\", ATTRS{idProduct}==\"55aa\", SUBSYSTEM==\"scsi_disk\", ATTR{provisioning_mode}=\"unmap\"\n",
          { "\n        match = { ID_VENDOR_ID = \"174c\"; ID_MODEL_ID = \"55aa\"; };\n        provisioning_mode = \"unmap\";" }, "//     " },
        { "10-trim.rules", "SUBSYSTEM==\"scsi_disk\", SUBSYSTEMS==\"usb\", ATTR{provisioning_mode}=\"unmap\", ATTR{manage_shutdown}=\"1\"\n",
          { "\n        match = { transport = \"usb\"; };\n        provisioning_mode = \"unmap\";\n        manage_shutdown = true;" }, "//     " },
        { "10-trim.rules", "ACTION==\"add|change\", SUBSYSTEM==\"scsi_disk\", ATTR{provisioning_mode}=\"unmap\"\n",
          { "the rule applies to every new drive", NOWHERE, "//     provisioning_mode = \"unmap\";" }, "\n        match" },
        { "10-trim.rules", "SUBSYSTEM==\"scsi_disk\", ATTRS{idVendor}==\"174c\", ATTR{provisioning_mode}==\"full\", ATTR{provisioning_mode}=\"unmap\"\n",
          { NOWHERE, "//     provisioning_mode = \"unmap\";" }, "\n        match" },
        { "10-trim.rules", "SUBSYSTEM==\"scsi_disk\", KERNEL==\"0:0:0:0\", ATTR{provisioning_mode}=\"unmap\"\n",
          { NOWHERE, "//     provisioning_mode = \"unmap\";" }, "\n        match" },
        { "10-trim.rules", "SUBSYSTEM==\"scsi_disk\", ATTRS{idVendor}==\"174c\", RUN+=\"/bin/sh -c 'echo unmap > /sys/class/scsi_disk/%k/provisioning_mode'\"\n",
          { "//     provisioning_mode = \"unmap\";" }, "\n        match" },
        { "10-trim.rules", "SUBSYSTEM==\"scsi_disk\", ATTRS{idVendor}==\"174c\", ATTR{provisioning_mode}=\"always\"\n",
          { "\"always\" is not a valid value" }, "\n        match" },
        { "x.sh", "echo unmap > /sys/block/sda/device/scsi_disk/*/provisioning_mode\necho 33553920 > /sys/block/sda/queue/discard_max_bytes\n",
          { "\n        match = \"/dev/sda\";\n        provisioning_mode = \"unmap\";", "discard_max_bytes = 33553920;" } },
        { "x.sh", "for d in sdb sdc; do echo unmap > /sys/block/$d/device/scsi_disk/*/provisioning_mode; done\n",
          { "( \"/dev/sdb\", \"/dev/sdc\" )", "provisioning_mode = \"unmap\";" } },
        { "x.sh", "for f in /sys/class/scsi_disk/*/provisioning_mode; do echo unmap > $f; done\n",
          { "//     provisioning_mode = \"unmap\";" }, "\n        match" },
        { "/etc/tmpfiles.d/trim.conf", "w /sys/block/sda/device/scsi_disk/0:0:0:0/provisioning_mode - - - - unmap\n",
          { "\n        match = \"/dev/sda\";\n        provisioning_mode = \"unmap\";" } },
        /* The attributes md/stripe_cache_size of an array and bdi/strict_limit of a drive are imported. */
#define OF_ARRAY "\n        match = { node = \"/dev/md0\"; transport = \"virtual\"; };\n        stripe_cache_size = 8192;"
        { "x.sh", "echo 8192 > /sys/block/md0/md/stripe_cache_size; echo 1 | tee /sys/block/sda/bdi/strict_limit\n",
          { OF_ARRAY, "\n        match = \"/dev/sda\";\n        strict_limit = true;" } },
        { "x.sh", "echo 4096 > $M/md/stripe_cache_size; echo 16 > /sys/block/md1/md/stripe_cache_size\n",
          { RUN_OPEN, "//     stripe_cache_size = 4096;", "\"16\" is not a valid value" }, "\n        match" },
        { "x.sh", "echo 4 > /sys/block/md0/md/group_thread_cnt; echo 50000 > /sys/block/md0/md/sync_speed_min; echo system > /sys/block/md0/md/sync_speed_max\n",
          { "transport = \"virtual\"; };\n        group_thread_cnt = 4;", "\n        sync_speed_min = 50000; // 50000 KiB", "\n        sync_speed_max = \"system\";" } },
        { "69.rules", "SUBSYSTEM==\"block\", KERNEL==\"md*\", ATTR{md/stripe_cache_size}=\"8192\"\nKERNEL==\"sd?\", ATTR{bdi/strict_limit}=\"1\"\n",
          { "\n        match = { node = \"/dev/md*\"; transport = \"virtual\"; };\n        stripe_cache_size = 8192;", "\n        strict_limit = true;" } },
        { "/etc/tmpfiles.d/disk.conf", "w /sys/block/md0/md/stripe_cache_size - - - - 8192\n", { OF_ARRAY } },
        { "/etc/sysfs.conf", "block/md0/md/stripe_cache_size = 8192\n", { OF_ARRAY } },
        /* The SYSFS lines of mdadm.conf are imported. Other lines set nothing. */
        { "/etc/mdadm/mdadm.conf", "# x\nHOMEHOST <system>\nARRAY /dev/md/0 UUID=1\n\nSYSFS name=/dev/md/0 group_thread_cnt=8 # y=1\nMAILADDR root\n",
          { "{ // line 5\n        match = { node = \"/dev/md/0\"; transport = \"virtual\"; };\n        group_thread_cnt = 8;" }, "line 3" },
        { "mdadm.conf", "sysfs sync_speed_max=1000000\n\tname=/dev/md/x\n  UUID=BEAD5EB6:31c17a27.da120ba27dfda40d\n\tstripe_cache_size=4096\n",
          { "{ // line 1\n        match = { MD_UUID = \"bead5eb6:31c17a27:da120ba2:7dfda40d\"; transport = \"virtual\"; };\n"
            "        sync_speed_max = 1000000; // 1000000 KiB\n        stripe_cache_size = 4096;" }, "/dev/md/x" },
        { "/etc/mdadm.conf", "SYSFS name=md0 group_thread_cnt=8\nSYS uuid=12 sync_speed_max=5\nSYSFS name=/dev/md/a safe_mode_delay=0.1 x\n",
          { "lines 1, 2: mdadm ignores a SYSFS line without", "line 3: drivekeep has no setting for safe_mode_delay" }, "{\n" },
        { "/etc/sysfs.conf", "class/bdi/8:16/strict_limit = 1\nclass/bdi/8:0/read_ahead_kb = 512\n",
          { "the path has a number instead", NOWHERE, "//     strict_limit = true;", "//     read_ahead_kb = 512;" }, "\n        match" },
        { "69.rules", "SUBSYSTEM==\"bdi\", ATTR{strict_limit}=\"1\"\n", { "//     strict_limit = true;" }, "\n        match" },
        { "69.rules", "KERNEL==\"sd?\", RUN+=\"/usr/local/bin/disk-setup %k\"\nKERNEL==\"sg?\", RUN{builtin}+=\"kmod load sg\"\n",
          { "line 1: not understood: /usr/local/bin/disk-setup %k" }, "kmod" },

        /* Commands in units and crontabs, and values in tmpfiles.d and sysfs.conf, are imported. */
        { "a.service", "[Service]\nExecStart=-/sbin/hdparm -S 12 \\\n /dev/sda\nExecStop=/sbin/hdparm -S 99 /dev/sda\n",
          { "{ // line 2", "\"/dev/sda\"", "spindown_time = 12;" }, "99" },
        { "a.service", "[Service]\n ExecStart=-@/bin/sh sh -c 'hdparm -S 12 /dev/sda'\nExecStartPost=+:!!/sbin/hdparm -B 254 /dev/sda\n",
          { "\n        spindown_time = 12;", "\n        apm = 254;" } },
        { "a.service", "[Service]\nExecStart=/bin/sh -c 'for d in /dev/sd?; do hdparm -W0 $$d; done; printf %%s bfq >/sys/block/sda/queue/scheduler'\n",
          { "\n        match = \"/dev/sd?\";", "\n        write_cache = false;", "\n        scheduler = \"bfq\";" } },
        { "a.service", "[Unit]\nConditionACPower=false\n[Service]\nExecStart=/sbin/hdparm -S 12 /dev/sda\n",
          { "ConditionACPower in line 2 decides whether the unit runs: see on_battery", "//     spindown_time = 12;" } },
        { "a.service", "[Service]\nExecCondition=/usr/bin/x\nExecStart=/sbin/hdparm -S 12 /dev/sda\n", { "ExecCondition in line 2 decides" }, "\n        match" },
        { "a.service", "[Service]\nExecStart=/sbin/hdparm -S 12 /dev/sda\n[Unit]\nAssertHost=a\n", { "AssertHost in line 4 decides" }, "\n        match" },
        { "a.service", "[Unit]\nConditionPathExists=/dev/sda\nConditionPathExists=/sys/class/block/sda\nConditionFileIsExecutable=/usr/sbin/hdparm\n[Service]\nExecStart=/sbin/hdparm -S 12 /dev/sda\n",
          { "\n        spindown_time = 12;" } },
        { "a.service", "[Unit]\nConditionPathExists=!/usr/sbin/tlp\n[Service]\nExecStart=/sbin/hdparm -S 12 /dev/sda\n",
          { "ConditionPathExists in line 2 decides" }, "\n        match" },
        /* An empty ExecStart= removes earlier ExecStart= lines, but not ExecStartPre= lines. */
        { "a.service", "[Service]\nExecStart=/sbin/hdparm -S 6 /dev/sda\nExecStartPre=/sbin/hdparm -B 1 /dev/sda\nExecStart=\nExecStart=/sbin/hdparm -S 12 /dev/sda\n",
          { "apm = 1;", "spindown_time = 12;" }, "= 6" },
        { "hd-idle.service.d/x.conf", "[Service]\nExecStart=\nExecStart=/usr/sbin/hd-idle -i 0 -a disk/by-id/ata-X -i 600\n",
          { "match = \"/dev/disk/by-id/ata-X\";", "spindown_time = \"600s\";" }, "rotational" },
        { "a.service", "[Unit]\nConditionACPower=true\nConditionHost=\nAssertHost=a\nAssertPathExists=\n[Service]\nExecCondition=/x\nExecCondition=\nExecStart=/sbin/hdparm -S 12 /dev/sda\n",
          { "\n        spindown_time = 12;" }, "decides" },
        { "a.service", "[Unit]\nConditionACPower=\nConditionACPower=true\n[Service]\nExecStart=/sbin/hdparm -S 12 /dev/sda\n", { "line 3 decides" }, "\n        match" },
        { "a.service", "[Service]\nExecStart=/usr/bin/disks -x\nExecStart=/usr/sbin/hd-idle $HD_IDLE_OPTS\nExecStart=hd-idle -a %i -i 60\n",
          { "line 2: not understood", "line 3: hd-idle's options are known only when hd-idle runs", "the drives of hd-idle -a" }, "\n        match" },
        { "crontab", "MAILTO=root\nPATH=/sbin:/bin\n\n# x\n@reboot root true\n", { NOTHING } },
        { "a.service", "[Service]\nExecReload=/sbin/hdparm -S 12 /dev/sda\n", { NOTHING } },
        { "a.service", "[Service]\nExecStart=/sbin/hdparm -S 12 /dev/sd?\nExecStart=/sbin/hdparm -B 254 /dev/sd{a,b}\n", { "systemd does not interpret the shell operators" }, "\n        match" },
        { "a.service", "[Service]\nExecStart=/bin/echo bfq > /sys/block/sda/queue/scheduler\n",
          { "systemd does not interpret the shell operators", "//     scheduler = \"bfq\";" }, "\n        match" },
        { "a@.service", "[Service]\nExecStart=/sbin/hdparm -S 12 /dev/%i\n", { "\"/dev/%i\" is known only when", NOWHERE } },
        { "crontab", "@reboot root (sleep 60; hdparm -S 12 /dev/sda) &\n", { "\n        spindown_time = 12;" } },
        { "crontab", "@reboot root-owns && hdparm -S 12 /dev/sda\n", { "line 1 decides whether the command runs" }, "\n        match" },
        { "crontab", "@reboot\troot\thdparm -S 12 /dev/sda\n", { "\n        spindown_time = 12;" } },
        { "/etc/cron.d/hdparm", "@reboot root hdparm -S 12 /dev/sda\n30 4 * * * root smartctl -s apm,254 /dev/sdb\n",
          { "\n        spindown_time = 12;", "line 2: cron runs this command at certain times", "//     apm = 254;" } },
        { "/etc/tmpfiles.d/disk.conf", "# x\nw /sys/block/sd*/queue/scheduler - - - - none\nw- /sys/block/sda/queue/nr_requests 0644 root root - 64\nd /tmp - - -\n",
          { "match = \"/dev/sd*\";", "scheduler = \"none\";", "nr_requests = 64;" } },
        { "/etc/sysfs.conf", "block/sda/device/timeout = 30\nblock/sda/queue/iostats=0\n", { "timeout = \"30s\";", "iostats = false;" } },

        /* The conditions of a udev rule become the match. */
        { "69.rules", "ACTION==\"add\", KERNEL==\"sd[a-z]\", ATTR{queue/rotational}==\"1\", RUN+=\"/sbin/hdparm -B 254 /dev/%k\"\n",
          { "match = { node = \"/dev/sd[a-z]\"; rotational = true; };", "apm = 254;" } },
        { "69.rules", "SUBSYSTEM==\"block\", ENV{ID_SERIAL_SHORT}==\"WD-1\", \\\n RUN+=\"/bin/sh -c 'hdparm -S 12 $devnode'\"\n",
          { "match = { ID_SERIAL_SHORT = \"WD-1\"; };", "\n        spindown_time = 12;" } },
        { "69.rules", "KERNEL==\"sda|sdb\", ATTR{queue/scheduler}=\"bfq\", ATTR{queue/read_ahead_kb}=\"512\", RUN+=\"/sbin/hdparm -S 12 $env{DEVNAME}\"\n",
          { "( \"/dev/sda\", \"/dev/sdb\" )", "scheduler = \"bfq\";", "read_ahead_kb = 512;", "spindown_time = 12; // 1 min\n    },\n\n);" } },
        { "69.rules", "ATTRS{idVendor}==\"152d\", ATTRS{idProduct}==\"2338\", KERNEL==\"sd?\", RUN+=\"/sbin/hdparm -S 12 %N\"\n",
          { "\n        match = { ID_VENDOR_ID = \"152d\"; ID_MODEL_ID = \"2338\"; node = \"/dev/sd?\"; };", "spindown_time = 12;" } },
        { "69.rules", "ACTION==\"add\", SUBSYSTEMS==\"usb\", KERNEL==\"sd[a-z]\", RUN+=\"/sbin/hdparm -S 120 /dev/%k\"\n",
          { "\n        match = { transport = \"usb\"; node = \"/dev/sd[a-z]\"; };", "\n        spindown_time = 120;" } },
        { "69.rules", "ENV{ID_BUS}==\"ata\", KERNEL==\"sd?\", RUN+=\"/sbin/hdparm -S 120 /dev/%k\"\n",
          { "\n        match = { ID_BUS = \"ata\"; node = \"/dev/sd?\"; };", "\n        spindown_time = 120;" } },
        { "69.rules", "ACTION!=\"remove\", ENV{DEVTYPE}!=\"partition\", KERNEL==\"sda\", RUN+=\"/sbin/hdparm -B 254 /dev/sda\"\n",
          { "\n        match = \"/dev/sda\";", "\n        apm = 254;" } },
        { "69.rules", "KERNEL==\"sd[a-z]\", RUN+=\"/bin/sh -c 'echo bfq > /sys/block/%k/queue/scheduler; echo 64 | tee /sys%p/queue/nr_requests; echo 180 > /sys$DEVPATH/device/timeout'\"\n",
          { "\n        match = \"/dev/sd[a-z]\";", "\n        scheduler = \"bfq\";", "\n        nr_requests = 64;", "\n        timeout = \"180s\";" } },
        { "69.rules", "KERNEL==\"sd?\", ATTR{device/scsi_disk/*/manage_runtime_start_stop}=\"1\", ATTR{device/power/autosuspend_delay_ms}=\"15000\"\n",
          { "\n        match = \"/dev/sd?\";", "\n        manage_runtime_start_stop = true;", "\n        autosuspend_delay = \"15s\"" } },
        /* A udev rule whose condition has no equivalent in drivekeep is commented out. NOWHERE is a placeholder that matches no drive. */
#define NO_MATCH(condition) "line 1: drivekeep has no match for " condition, NOWHERE
        { "69.rules", "SUBSYSTEMS==\"pci\", KERNEL==\"sd?\", RUN+=\"/sbin/hdparm -S 120 /dev/%k\"\n", { NO_MATCH("SUBSYSTEMS==\"pci\"") }, "\n        match" },
        { "69.rules", "ENV{ID_MODEL}!=\"Foo\", KERNEL==\"sda\", ATTR{queue/scheduler}=\"bfq\"\n", { NO_MATCH("ENV{ID_MODEL}!=\"Foo\"") }, "\n        match" },
        { "69.rules", "ENV{ID_MODEL}==\"W\xe9*\", KERNEL==\"sda\", ATTR{queue/scheduler}=\"bfq\"\n", { NO_MATCH("ENV{ID_MODEL}==\"W\\xe9*\"") }, "\n        match" },
        { "69.rules", "ATTRS{model}==\"A|B\x01\", ATTR{queue/scheduler}=\"bfq\"\n", { NO_MATCH("ATTRS{model}==\"A|B\\x01\"") }, "\n        match" },
        { "69.rules", "KERNEL==\"sd\xff\", ATTR{queue/scheduler}=\"bfq\"\n", { NO_MATCH("KERNEL==\"sd\\xff\"") }, "\n        match" },
        { "69.rules", "KERNEL==\"sd*\", KERNEL==\"sda\", ATTR{queue/scheduler}=\"bfq\"\n", { NO_MATCH("KERNEL==\"sda\"") }, "\n        match" },
        { "69.rules", "ACTION==\"remove\", KERNEL==\"sda\", RUN+=\"/sbin/hdparm -B 254 /dev/sda\"\n", { NO_MATCH("ACTION==\"remove\"") }, "\n        match" },
        { "69.rules", "ACTION!=\"add\", KERNEL==\"sda\", RUN+=\"/sbin/hdparm -B 254 /dev/sda\"\n", { NO_MATCH("ACTION!=\"add\"") }, "\n        match" },
        { "69.rules", "ENV{DEVTYPE}==\"partition\", KERNEL==\"sd*\", RUN+=\"/sbin/hdparm -B 254 /dev/%k\"\n", { NO_MATCH("ENV{DEVTYPE}==\"partition\"") }, "\n        match" },
        { "69.rules", "TEST==\"/sbin/hdparm\", KERNEL==\"sda\", RUN+=\"/sbin/hdparm -B 254 /dev/sda\"\n", { NO_MATCH("TEST==\"/sbin/hdparm\"") }, "\n        match" },
        { "69.rules", "PROGRAM=\"/bin/check %k\", KERNEL==\"sda\", RUN+=\"/sbin/hdparm -B 254 /dev/sda\"\n", { NO_MATCH("PROGRAM=\"/bin/check %k\"") }, "\n        match" },
        { "69.rules", "SUBSYSTEM==\"power_supply\", ENV{POWER_SUPPLY_ONLINE}==\"0\", RUN+=\"/sbin/hdparm -B 254 /dev/sda\"\n",
          { NO_MATCH("SUBSYSTEM==\"power_supply\": see on_battery"), "//     apm = 254;" }, "\n        match" },
        { "69.rules", "KERNEL==\"sda\", IMPORT{program}=\"/bin/on_ac\", RUN+=\"hdparm -B 254 /dev/%k\"\n", { "no match for IMPORT{program}" }, "\n        match" },
        { "69.rules", "ACTION==\"add\", SUBSYSTEM==\"scsi_disk\", ATTR{cache_type}:=\"write through\"\n", { NOWHERE, "//     write_cache = false;" } },
        { "69.rules", "SUBSYSTEM==\"scsi\", ATTR{type}==\"0\", ATTR{timeout}=\"180\"\n", { NOWHERE, "//     timeout = \"180s\";" } },
        { "69.rules", "ACTION==\"add\", SUBSYSTEM==\"scsi_host\", KERNEL==\"host*\", ATTR{link_power_management_policy}=\"min_power\"\n",
          { NOWHERE, "//     link_power_management = \"min_power\";" } },
        { "69.rules", "RUN+=\"/sbin/hdparm -S 12 /dev/%k\"\n", { "the rule applies to every new drive", NOWHERE }, "\n        match" },
        { "69.rules", "KERNEL==\"sd[a-z]\", RUN+=\"/sbin/hdparm -B 254 /dev/sda\"\n", { "the command and the udev rule name different drives" }, "\n        match" },
        { "69.rules", "KERNEL==\"sda\", RUN+=\"/bin/sh -c 'for d in $(ls /dev/sd?); do hdparm -S 12 $d; done'\"\n", { "\"$d\" is known only when", NOWHERE }, "\n        match" },
        { "69.rules", "KERNEL==\"sd?\", RUN+=\"/bin/echo bfq > /sys/block/%k/queue/scheduler\"\n",
          { "udev does not interpret the shell operators", NOWHERE, "//     scheduler = \"bfq\";" }, "\n        match" },
        { "69.rules", "KERNEL==\"sd?\", ATTR{queue/iosched/slice_sync}=\"1\"\n", { "drivekeep has no setting for slice_sync" }, "{\n" },
        { "69.rules", "SUBSYSTEM==\"pci\", ATTR{power/control}=\"auto\"\n", { NOTHING } },
        /* A rule that a GOTO may skip for a drive is commented out. A GOTO that skips only other devices or events has no effect. */
        { "69.rules", "ACTION!=\"add|change\", GOTO=\"end\"\nSUBSYSTEM!=\"block\", GOTO=\"end\"\nKERNEL==\"sda\", ATTR{queue/scheduler}=\"bfq\"\nLABEL=\"end\"\n",
          { "\n        match = \"/dev/sda\";", "\n        scheduler = \"bfq\";" } },
        { "69.rules", "\nENV{ID_BUS}!=\"usb\", GOTO=\"a\"\nKERNEL==\"sda\", ATTR{queue/scheduler}=\"bfq\"\nLABEL=\"a\"\nKERNEL==\"sda\", ATTR{queue/nr_requests}=\"64\"\n",
          { "line 3: the GOTO in line 2 may skip this rule", NOWHERE, "//     scheduler = \"bfq\";", "\n        match = \"/dev/sda\";\n        nr_requests" }, "//     nr_requests" },
        { "69.rules", "ACTION!=\"add\", GOTO=\"end\"\nKERNEL==\"sda\", ATTR{queue/scheduler}=\"bfq\"\nLABEL=\"end\"\n",
          { "\n        match = \"/dev/sda\";", "\n        scheduler = \"bfq\";" } },
        { "69.rules", "ENV{A}==\"1\", GOTO=\"a\"\nENV{B}==\"1\", GOTO=\"b\"\nLABEL=\"a\"\nKERNEL==\"sda\", ATTR{queue/scheduler}=\"bfq\"\nLABEL=\"b\"\nKERNEL==\"sdb\", ATTR{queue/scheduler}=\"bfq\"\n",
          { "line 4: the GOTO in line 2 may skip this rule", "\n        match = \"/dev/sdb\";" }, "\n        match = \"/dev/sda\";" },
        { "69.rules", "KERNEL==\"sda\", ENV{A}==\"1\", GOTO=\"b\"\nKERNEL==\"sda\", ATTR{queue/scheduler}=\"bfq\"\nLABEL=\"a\"\nKERNEL==\"sda\", ATTR{queue/nr_requests}=\"64\"\n",
          { "line 2: the GOTO in line 1 may skip this rule", "//     nr_requests = 64;" }, "\n        match" },
        /* A udev rule with a syntax error is commented out. */
        { "69.rules", "KERNEL==\"sda\", ATTR{queue/scheduler}=\"bfq\" # fast\n", { "the rule is not understood from \"# fast\" on", NOWHERE }, "\n        match" },

        /* The value of apm for one drive is invalid. The value of apm for all drives is commented out, so that no rule
         * sets apm on that drive. */
        { "/etc/hdparm.conf", "apm = 254\nspindown_time = 12\n/dev/sda {\n apm = 300\n}\n",
          { "// apm = 254; // line 4, which is not imported, may set another value", "\n        spindown_time = 12;", "// apm = 300;" } },

        /* udisks2 */
        { "/etc/udisks2/ACME-DISK-ONE-123.conf", "[ATA]\nStandbyTimeout=240\nAPMLevel=254\nAAMLevel=128\nWriteCacheEnabled=false\n",
          { "ata-ACME?DISK?ONE?123\"", "spindown_time = 240;", "apm = 254;", "acoustic_management = 128;", "write_cache = false;" } },
        { "/etc/udisks2/x.conf", "[ATA]\nStandbyTimeout=286\n", { "// spindown_time = 286; // \"286\" is not a valid value" } },
        { "/etc/udisks2/x.conf", "[ATA]\nStandbyTimeout=60\nAPMLevel=254\nStandbyTimeout=0\n", { "spindown_time = 0;" }, "60" },
        { "/etc/udisks2/x.conf", "[ATA]\nAPMLevel=254\n;off\n", { "udisks2 rejects line 3 and ignores the whole file", "//     apm = 254;" }, "\n        apm" },
        { "/etc/udisks2/x.conf", "[ATA]\n# APMLevel=2\nAPMLevel=254\n[Other]\nAPMLevel=3\n", { "\n        apm = 254;" }, "3;" },
        { "/etc/udisks2/x.conf", "[ATA]\nStandbyTimeOut=240\n", { "line 2: udisks2 has no setting \"StandbyTimeOut\"" } },
        { "/etc/udisks2/udisks2.conf", "[udisks2]\nmodules=*\n[defaults]\nencryption=luks2\n", { NOTHING } },

        /* TLP */
#define NOT_USB "transport = ( \"sata\", \"pata\" ); };"
        { "/etc/tlp.conf", "DISK_DEVICES=\"ata-ONE_1 sdb nvme0n1\"\nDISK_APM_LEVEL_ON_AC=\"254 keep\"\nDISK_APM_LEVEL_ON_BAT=\"128 192\"\nDISK_IOSCHED=\"bfq keep none\"\n",
          { "match = { node = \"/dev/disk/by-id/ata-ONE_1\"; " NOT_USB "\n        apm = 254;\n        on_battery = { apm = 128; };",
            "match = { node = \"/dev/sdb\"; " NOT_USB "\n        on_battery = { apm = 192; };",
            "match = \"/dev/disk/by-id/ata-ONE_1\";\n        scheduler = \"bfq\";", "match = \"/dev/nvme0n1\";\n        scheduler = \"none\";" } },
        { "/etc/tlp.d/10-x.conf", "#DISK_DEVICES=sda\nDISK_DEVICES=sda\nDISK_DEVICES+=\"sdb\"\nDISK_SPINDOWN_TIMEOUT_ON_AC=\"240\"\n",
          { "( \"/dev/sda\", \"/dev/sdb\" )", "spindown_time = 240; // 20 min" } },
        { "tlp.conf", "DISK_DEVICES=\"sda\"\nDISK_DEVICES=\"sdc sdd\" # x\nDISK_DEVICES=\"sdc\n",
          { "line 3: TLP ignores this line: DISK_DEVICES=\"sdc" }, "{" },
        { "tlp.conf", "DISK_DEVICES=sda\nDISK_DEVICES=sdb # not sdc\nDISK_SPINDOWN_TIMEOUT_ON_AC=12\n", { "match = \"/dev/sda\";", "spindown_time = 12;" }, "sdc" },
        { "tlp.conf", "TLP_ENABLE=0\nDISK_APM_LEVEL_ON_AC=\"254\"\n", { NOTHING } },
        { "tlp.conf", "TLP_ENABLE=1\nDISK_DEVICES=sda\nDISK_IDLE_SECS_ON_AC=0\nSATA_LINKPWR_ON_AC=\"\"\nRUNTIME_PM_DENYLIST=\"11:22.3\"\n", { NOTHING } },
        /* TLP: a rule matches only drives of the kind to which its setting applies. A setting is commented out if TLP
         * excludes some adapters or classes of drives. */
        { "tlp.conf", "SATA_LINKPWR_ON_AC=\"med_power_with_dipm max_performance\"\nAHCI_RUNTIME_PM_ON_AC=on\n",
          { "line 2: drivekeep does not set runtime_pm of NVMe drives", "match = \"/dev/sda\";", "runtime_pm = \"on\";", "autosuspend_delay = \"15s\";",
            "match = { transport = \"sata\"; };", "link_power_management = \"med_power_with_dipm\";" } },
        { "tlp.conf", "DISK_DEVICES=ata-A_1\nAHCI_RUNTIME_PM_ON_AC=auto\nAHCI_RUNTIME_PM_ON_BAT=auto\nAHCI_RUNTIME_PM_TIMEOUT=60\n",
          { "match = \"/dev/disk/by-id/ata-A_1\";\n        runtime_pm = \"auto\";\n        autosuspend_delay = \"60s\";\n        on_battery = { runtime_pm = \"auto\"; };\n    },\n\n);" } },
        { "tlp.conf", "DISK_DEVICES=sda\nAHCI_RUNTIME_PM_ON_BAT=auto\nAHCI_RUNTIME_PM_TIMEOUT=5\n",
          { "match = \"/dev/sda\";\n        on_battery = { runtime_pm = \"auto\"; autosuspend_delay = \"5s\"; };" } },
        { "tlp.conf", "DISK_DEVICES=\"\"\nAHCI_RUNTIME_PM_ON_AC=auto\nDISK_APM_LEVEL_ON_AC=1\n", { NOTHING } },
        { "tlp.conf", "DISK_DEVICES=sda\nAHCI_RUNTIME_PM_ON_AC=auto\nAHCI_RUNTIME_PM_TIMEOUT=\"\"\n", { NOTHING } },
#define LEFT_OUT(line, host) "line " line " excludes adapter " host ": name the remaining", NOWHERE, "//     link_power_management = \"min_power\";"
        { "tlp.conf", "SATA_LINKPWR_ON_AC=\"min_power\"\nSATA_LINKPWR_DENYLIST=\"host1\"\n", { LEFT_OUT("2", "host1") }, "\n        match" },
        { "tlp.conf", "SATA_LINKPWR_BLACKLIST=\"host0 host4\"\nSATA_LINKPWR_ON_BAT=\"min_power\"\n", { "line 1 excludes adapter host0", NOWHERE }, "\n        match" },
        { "tlp.conf", "SATA_LINKPWR_ON_AC=\"min_power\"\nSATA_LINKPWR_DENYLIST=\"\"\n", { "\n        link_power_management" } },
        { "tlp.conf", "DISK_DEVICES=sda\nDISK_APM_LEVEL_ON_AC=128\nDISK_APM_CLASS_DENYLIST=\"sata ata usb\"\n",
          { "DISK_APM_CLASS_DENYLIST in line 3 excludes all drives", "//     apm = 128;" }, "\n        match" },
        { "tlp.conf", "DISK_DEVICES=sda\nDISK_APM_LEVEL_ON_AC=128\nDISK_APM_CLASS_DENYLIST=\"\"\n", { "\n        match = \"/dev/sda\";\n        apm = 128;" } },
        { "tlp.conf", "DISK_DEVICES=\"sda sdb\"\nDISK_IOSCHED=bfq\n", { "\n        match = \"/dev/sda\";" }, "sdb" },
        { "tlp.conf", "DISK_DEVICES=sda\nDISK_SPINDOWN_TIMEOUT_ON_AC=12\nTLP_PERSISTENT_DEFAULT=1\n", { "TLP_PERSISTENT_DEFAULT in line 3", "//     spindown_time = 12;" }, "\n        match" },
        { "tlp.conf", "DISK_DEVICES=sda\nDISK_APM_LEVEL_ON_SAV=1\ndisk_iosched=bfq\n",
          { "line 2: not understood: DISK_APM_LEVEL_ON_SAV", "line 3: TLP ignores this line: disk_iosched" }, "{" },

        /* tuned */
        { "tuned.conf", "[main]\nsummary=x\n[disk]\ndevices=sdb, sdc\napm=128 # x\nspindown=6\nreadahead=>4096\n",
          { "( \"/dev/sdb\", \"/dev/sdc\" )", "apm = 128;", "spindown_time = 6;", "// read_ahead_kb = 4096; // in tuned, \">4096\" is a limit" } },
        { "tuned.conf", "[one]\ntype=disk\nelevator=bfq\nreadahead=4096 s\n[scsi_host]\nalpm=min_power\n[cpu]\ngovernor=x\n",
          { "\"/dev/nvme*\"", "scheduler = \"bfq\";", "read_ahead_kb = 2048;", "transport = \"sata\"", "link_power_management = \"min_power\";" } },
        { "tuned.conf", "[main]\ninclude=balanced\n[disk]\nreadahead_multiply=2\n[sysfs]\n/sys/block/sda/queue/scheduler=bfq\n[x]\ntype=sysfs\nenabled=0\n/sys/block/sdb/queue/nr_requests=64\n[script]\nscript=x.sh\n",
          { "line 2: not understood: [main] include=balanced", "line 4: not understood: [disk] readahead_multiply=2", "line 12: not understood: [script] script=x.sh",
            "match = \"/dev/sda\";", "scheduler = \"bfq\";", "line 9 decides", "//     nr_requests = 64;" } },
        { "tuned.conf", "[disk]\ndevices=!sda\napm=128\n", { "drivekeep has no match for devices=!sda", NOWHERE, "//     apm = 128;" } },
        { "tuned.conf", "[disk]\nenabled=false\napm=128\n", { "no match for enabled=false", NOWHERE, "//     apm = 128;" } },
        { "tuned.conf", "[disk]\nuname_regex=x86\napm=128\n", { "no match for uname_regex=x86" }, "\n        match" },
        { "tuned.conf", "[disk]\ncpuinfo_regex=x86\napm=128\n", { "no match for cpuinfo_regex=x86" }, "\n        match" },
        { "tuned.conf", "[scsi_host]\ndevices=host0\nalpm=min_power\n", { "drivekeep has no match for devices=host0", NOWHERE }, "\n        match" },
        { "tuned.conf", "[disk]\napm=${apm}\nelevator=${elevator}\n",
          { "// apm = \"${apm}\"; // \"${apm}\" is not a valid value", "// scheduler = \"${elevator}\"; // \"${elevator}\" is not a valid value" } },

        /* smartd */
        { "smartd.conf", "# x\nDEFAULT -e apm,128\n/dev/sda -a \\\n -l scterc,70,70 -m root # y\n", { "match = \"/dev/sda\";", "apm = 128;", "error_recovery = \"7s\";" } },
        { "smartd.conf", "/dev/sda -d sat \\\n  -H \\   # health\n  -n standby,336 \\\t# asleep\n  -e apm,127 \\ # power\n  -e standby,120 # x \\\n/dev/sdb -e apm,1\n",
          { "{ // line 1", "match = \"/dev/sda\";", "apm = 127;", "spindown_time = 120;", "{ // line 6", "match = \"/dev/sdb\";", "apm = 1;" }, "not understood" },
        { "smartd.conf", "/dev/sda -a \\\n# x\n -e apm,127\n", { "line 3: not understood: apm,127" }, "{" },
        { "smartd.conf", "/dev/sda -a -o on -S on -s (S/../.././02|L/../../6/03) -m root -M exec /x -W 4,35,40 -y\n",
          { "no setting for smartd's -o on", "no setting for smartd's -S on", "line 1: not understood: -y" }, "/x" },
#define ATA_DRIVES "match = { transport = ( \"sata\", \"pata\", \"usb\" ); };"
        { "smartd.conf", "DEVICESCAN -n standby -e lookahead,on\n/dev/sda -e apm,128\n", { ATA_DRIVES, "lookahead = true;" }, "apm" },
        { "smartd.conf", "DEVICESCAN -d removable -e lookahead,on\n", { "\n        " ATA_DRIVES } },
        /* DEVICESCAN applies to drives that have no line of their own and that its -d option selects. The DEVICESCAN
         * line is commented out if the import cannot list these drives. */
        { "smartd.conf", "/dev/sda -a\n/dev/sdb -e apm,128\nDEVICESCAN -e apm,254\n",
          { "match = \"/dev/sdb\";", "to the drives that no other line names", NOWHERE, "//     apm = 254;" } },
        { "smartd.conf", "/dev/sda -a\nDEVICESCAN -e apm,254\n", { "to the drives that no other line names", NOWHERE }, "\n        match" },
        { "smartd.conf", "DEFAULT -e apm,254\n/dev/sda -d ignore\nDEVICESCAN\n", { "to the drives that no other line names", NOWHERE }, "\n        match" },
        { "smartd.conf", "DEVICESCAN -d sat -e apm,254\n", { "the drives that smartd finds with this -d", NOWHERE }, "\n        match" },

        /* hd-idle */
        { "/etc/default/hd-idle", "# x\nSTART_HD_IDLE=true\nHD_IDLE_OPTS=\"-i 600 -a sda -i 300 -a disk/by-id/ata-X -i 0 -l /x\"\n",
          { "match = { rotational = true; };\n        spindown_by = \"service\";\n        spindown_time = \"600s\";",
            "match = \"/dev/sda\";\n        spindown_by = \"service\";\n        spindown_time = \"300s\";",
            "match = \"/dev/disk/by-id/ata-X\";\n        spindown_time = \"off\";" } },
        { "/etc/default/hd-idle", "HD_IDLE_OPTS=\"-i 0 -a sda -i 300\"\n", { "match = \"/dev/sda\";", "spindown_by = \"service\";", "spindown_time = \"300s\";" }, "rotational" },
        { "/etc/default/hd-idle", "HD_IDLE_OPTS=\"-h\"\n", { NOTHING } },
        { "/etc/default/hd-idle", "HD_IDLE_OPTS=\"-i 300 --help -a sda -i 0\"\n", { NOTHING } },
        { "/etc/default/hd-idle", "HD_IDLE_OPTS=\"-i 300 -t sda\"\n", { "hd-idle -t acts once" }, "{" },
        /* hd-idle: if the drives with exceptions are not known, the rule for all other drives is commented out, too. */
#define OPEN_OPTIONS(line) "only a shell can compute HD_IDLE_OPTS, because of line " line ": "
        { "/etc/default/hd-idle", "T=3600\nfor d in $(ls /dev/disk/by-id); do\nHD_IDLE_OPTS=\"$HD_IDLE_OPTS -a $d -i ${T}\"\ndone\n",
          { OPEN_OPTIONS("2") "for d in", NOWHERE, "//     spindown_time = \"600s\";" }, "\n        match" },
        { "/etc/default/hd-idle", "HD_IDLE_OPTS=\"-i 600\"\nHD_IDLE_OPTS+=\" -a sda -i 0\"\n", { OPEN_OPTIONS("2"), NOWHERE, "\"600s\"" }, "\n        match" },
        { "/etc/default/hd-idle", "HD_IDLE_OPTS=\"-i 600 $EXTRA\"\n", { OPEN_OPTIONS("1"), NOWHERE }, "\n        match" },
        { "/etc/default/hd-idle", "HD_IDLE_OPTS=\"-i 600 -a sda -i ten\"\n", { "the times of hd-idle -i", NOWHERE }, "\n        match" },
        { "/etc/default/hd-idle", "HD_IDLE_OPTS=\"-i 600 -a\"\n", { "the drives of hd-idle -a", NOWHERE }, "\n        match" },
        { "/etc/default/hd-idle", "START_HD_IDLE=false\nHD_IDLE_OPTS=\"-i 600\"\n", { NOTHING } },

        /* Gentoo: all_args applies only to drives without a line of their own. If any drive has a line of its own,
         * all_args is commented out. */
        { "/etc/conf.d/hdparm", "all_args=\"-A1\"\nsda_args=\"-B254 -S60\"\n",
          { "match = \"/dev/sda\";\n        apm = 254;\n        spindown_time = 60;", "line 1: this line applies to the drives without a line of their own", "//     lookahead = true;" } },
        { "/etc/conf.d/hdparm", "pata_all_args=\"-d1\"\nsata_all_args=\"\"\nall_args=\"-W0\"\n", { "match = \"/dev/sd[a-z]\";", "write_cache = false;" }, "never writes" },
};
/* clang-format on */

START_TEST(test_written) {
        check_written(&cases[_i]);
}
END_TEST

/* clang-format off */
static const struct {
        const char *file, *text;
        const char *objection; /* reason why the file is rejected; NULL: the file is imported */
        const char *has;  /* text that the output must contain */
} kinds[] = {
#define MAYBE "the kind of this file is not recognized; give the kind with --format=KIND"
        /* The kind of a file follows from its name or its directory. */
        { "/etc/hdparm.conf",   "apm = 254\n", NULL, "apm = 254;" },
        { "/x/tuned.conf",      "[disk]\napm=254\n", NULL, "apm = 254;" },
        { "/etc/default/tlp",   "DISK_DEVICES=sda\nDISK_APM_LEVEL_ON_AC=254\n", NULL, "apm = 254;" },
        { "/var/spool/cron/crontabs/me", "@reboot hdparm -B 254 /dev/sda\n", NULL, "apm = 254;" },
        /* The kind of a file follows from its first lines. */
        { "f", "",                              NULL, NOTHING },
        { "f", "# only this\n",                 NULL, NOTHING },
        { "f", "# x\n/dev/sda {\n apm = 254\n}\n", NULL, "\n        apm = 254;" },
        { "f", "/dev/sda\n{\n # x\n apm = 254\n}\n", NULL, "\n        apm = 254;" },
        { "f", "[ATA]\nAPMLevel=254\n",         NULL, "apm = 254;" },
        { "f", "[Unit]\nX=y\n[Service]\nExecStart=/sbin/hdparm -B 254 /dev/sda\n", NULL, "apm = 254;" },
        { "f", "ACTION==\"add\", KERNEL==\"sda\", RUN+=\"/sbin/hdparm -B 254 /dev/sda\"\n", NULL, "apm = 254;" },
        { "f", "#!/bin/sh\nhdparm -B 254 /dev/sda\n", NULL, "apm = 254;" },
        { "f", "#!/bin/ash\nash -c 'hdparm -B 254 /dev/sda'\n", NULL, "apm = 254;" },
        { "f", "#!/usr/bin/env bash\nhdparm -B 254 /dev/sda\n", NULL, "apm = 254;" },
        { "f", "hdparm -B 254 /dev/sda\n",      NULL, "apm = 254;" },
        { "f", "@reboot hdparm -B 254 /dev/sda\n", NULL, "apm = 254;" },
        { "f", "hdparm - get/set parameters\nhdparm -S 240 /dev/sda\n", MAYBE, NULL },
        /* In a file that looks like hdparm.conf, a line after a block must not become a rule for all drives. */
        { "f", "/dev/sda {\n apm = 254\n}\nlookahead = on\n", NULL, "Debian ignores lines after a block" },
        /* A file of an unknown kind is rejected, even if it contains keywords of hdparm.conf. */
        { "f", "apm = 254\n",                   MAYBE, NULL },
        { "f", "standby\n",                     MAYBE, NULL },
        { "x.po", "msgid \"\"\nmsgstr \"\"\nstandby\n", MAYBE, NULL },
        { "x.yml", "- hosts: all\n  tasks:\n  - name: hdparm -y\n    standby\n", MAYBE, NULL },
        { "profile.conf", "[main]\n[disk]\napm=128\n", MAYBE, NULL },
        { "f", "devices=sdb\napm=1\nspindown_time=12\n", MAYBE, NULL },
        { "f", "#!/usr/bin/perl\nsystem(\"hdparm -y /dev/sda\");\n", MAYBE, NULL },
        { "f", "DISK_APM_LEVEL_ON_AC=254\n",    MAYBE, NULL },
        { "f", "/dev/sda {\n device /dev/drbd0;\n}\n", MAYBE, NULL },
        { "f", "Lorem ipsum dolor\n",           MAYBE, NULL },
        { "f", "\xff\xfe\x2f",                  MAYBE, NULL },
        { "rc.local", "#!/usr/bin/fish\nhdparm -B 254 /dev/sda\n", "the first line does not name a supported shell (sh, ash, bash or dash)", NULL },
        { "x.sh", "#!/bin/csh -f\nhdparm -B 254 /dev/sda\n", "the first line does not name a supported shell", NULL },
};
/* clang-format on */

START_TEST(test_kind) {
        const char *text = kinds[_i].text;
        _cleanup_(import_done) Import import = {};
        _cleanup_free_ char *out = NULL;
        const char *objection;

        if (kinds[_i].has) {
                out = import_to_text(kinds[_i].file, text, strlen(text), _IMPORT_KIND_INVALID);
                ck_assert_msg(strstr(out, kinds[_i].has), "%s", out);
                return;
        }
        ck_assert_int_eq(import_read(kinds[_i].file, text, strlen(text), _IMPORT_KIND_INVALID, &import, &objection), 1);
        ck_assert_msg(strstr(objection, kinds[_i].objection), "%s", objection);
}
END_TEST

START_TEST(test_nul) {
        _cleanup_(import_done) Import import = {};
        const char *objection;

        ck_assert_int_eq(import_read("hdparm.conf", "apm = 1\0", 8, _IMPORT_KIND_INVALID, &import, &objection), 1);
        ck_assert_ptr_nonnull(strstr(objection, "NUL"));
}
END_TEST

/* Large meaningless inputs are read as each kind of file, without a crash. The shortest parts nest deepest, so they are repeated most often. */
static const char *const hostile[] = {
        "{",
        "}",
        "(",
        "[",
        "\n",
        "$(",
        "`",
        "\"",
        "'",
        "\\\n",
        "a=$a$a\n",
        "{a,b}",
        "/dev/sd{a,b}{c,d} {\n",
        "hdparm -B1 /dev/sd{a..\x7f}\n",
        "/dev/sda{,}",
        "hdparm -B1 ",
        "sh -c '",
        "for i in a b; do ",
        "RUN+=\"hdparm -B1\" ",
        "KERNEL==\"sda\",GOTO=\"a\"\nKERNEL==\"sd?\",ATTR{queue/scheduler}=\"bfq\"\n",
        "echo a|tee /sys/block/a/queue/scheduler;",
        "x==\"",
        "[ATA]\n",
        "APMLevel=1\n",
        "ExecStart=hdparm -S1 ",
        "/dev/sda {\n",
        "/dev/sda { apm = 1 }\n",
        "command_line {\n",
        "* * * * * hdparm -S1 /dev/sda\n",
        "apm = 1\n",
        "# \n",
        ">",
        "cat <<A\n",
        "<<-A ",
        "hdparm -S1 /dev/sda;",
        "if x; then hdparm -S1 /dev/sda; ",
        "case $1 in a) hdparm -S1 /dev/sda;",
        "x() { hdparm -S1 /dev/sda; ",
        "( if fi ) } esac done ;; ",
        "for i in a b c; do echo 1 > /sys/block/$i/queue/nomerges; ",
};

START_TEST(test_hostile) {
        size_t n = strlen(hostile[_i]), size = n <= 3 ? 50000 : 10000;
        _cleanup_free_ char *text = malloc(size + 1);

        for (size_t i = 0; i < size; i++)
                text[i] = hostile[_i][i % n];
        text[size] = '\0';

        for (ImportKind k = 0; k < _IMPORT_KIND_MAX; k++) {
                _cleanup_free_ char *out = import_to_text("f", text, size, k);

                ck_assert_ptr_nonnull(out);
        }
}
END_TEST

int main(void) {
        Suite *s = suite_create("import-commands");
        TCase *t = tcase_create("import-commands");

        tcase_set_timeout(t, 60);
        tcase_add_loop_test(t, test_written, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_kind, 0, ELEMENTSOF(kinds));
        tcase_add_test(t, test_nul);
        tcase_add_loop_test(t, test_hostile, 0, ELEMENTSOF(hostile));
        suite_add_tcase(s, t);

        return suite_run(s);
}
