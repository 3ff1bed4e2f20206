/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Commands and drive files of other programs as drivekeep configuration. */

#include <stdio.h>

#include "config.h"
#include "emit.h"
#include "reader.h"
#include "settings.h"
#include "suite.h"
#include "old-written-case.h"

/* clang-format off */
static const WrittenCase cases[] = {
        /* hdparm: letters together, numbers behind or apart, and what only shows. */
        { "rc.local", "/sbin/hdparm -B 127 -S 120 /dev/sda\n",
          { "// hdparm -B 127 -S 120 /dev/sda", "match = \"/dev/sda\";", "apm = 127;", "spindown_time = 120; // 10 min" } },
        { "x.sh", "hdparm -qS12W0A1 /dev/sda /dev/sdb\n",
          { "( \"/dev/sda\", \"/dev/sdb\" )", "spindown_time = 12;", "write_cache = false;", "lookahead = true;" } },
        { "x.sh", "hdparm -S 12 /dev/sda\n", { "names such as /dev/sda can be those of other" } },
        { "x.sh", "hdparm -S 12 /dev/disk/by-id/ata-A /dev/sdb\n", { "names such as /dev/sda can be those of other" } },
        { "x.sh", "hdparm -S 12 /dev/sd{a,b}\n", { "names such as /dev/sda can be those of other" } },
        { "x.sh", "hdparm -S 12 /dev/sd[ab]\n", { "names such as /dev/sda can be those of other" } },
        { "x.sh", "hdparm -S 12 /dev/sd[a-z] /dev/sd? /dev/nvme0\n", { "spindown_time" }, "names such as" },
        { "x.sh", "hdparm -S 12 /dev/disk/by-id/ata-A /dev/disk/by-id/ata-B\n", { "spindown_time" }, "names such as" },
        { "x.sh", "hdparm -tT /dev/sda; hdparm -I /dev/sda\n", { "-T measures or does something once" }, "asks for" },
        { "x.sh", "hdparm -B /dev/sda\n", { "it asks for nothing" } },
        { "x.sh", "hdparm -B255 -t /dev/sda\n", { "-t measures", "apm = 255;" } },
        { "x.sh", "hdparm -N p1000 /dev/sda\n", { "changes the drive for good" }, "{" },
        { "x.sh", "hdparm --user-master u --security-unlock hunter2 /dev/sda\n", { "keeps no passwords" }, "hunter2" },
        { "x.sh", "hdparm -S 12 --security-set-pass hunter2 /dev/sda\n",
          { "\n        spindown_time = 12;" }, "hunter2" },
        { "x.sh", "hdparm -s1 /dev/sda\n", { "dangerous: ", "allow_dangerous", "// poweron_standby = true;" } },
        { "x.sh", "hdparm -d1 -W1 /dev/sda\n", { "never written", "write_cache = true;" } },

        { "x.sh", "smartctl -l scterc,70,70 /dev/sda\n", { "error_recovery = \"7s\";" } },
        { "x.sh", "smartctl -q silent --log=scterc,0,0 -d sat /dev/sda\n", { "error_recovery = \"off\";" } },
        { "x.sh", "smartctl -s standby,241 -s apm,128 -s wcache,off -s aam,off /dev/sda\n",
          { "spindown_time = 241;", "apm = 128;", "write_cache = false;", "acoustic_management = \"off\";" } },
#define BEHIND_RAID "a drive behind a RAID controller", "// match = \"/dev/", "// apm = 128;"
        { "x.sh", "smartctl -d megaraid,5 -s apm,128 /dev/sda\n", { BEHIND_RAID }, "\n        match" },
        { "x.sh", "smartctl -s apm,128 --device=3ware,0 /dev/twa0\n", { BEHIND_RAID }, "\n        match" },
        { "x.sh", "smartctl --device sat+megaraid,5 -s apm,128 /dev/bus/0\n", { BEHIND_RAID }, "\n        match" },
        { "x.sh", "smartctl -dareca,2 -s apm,128 /dev/sg2\n", { "of another kind", "means a drive behind a RAID controller" }, "\n        match" },
        { "x.sh", "smartctl -a -d cciss,0 /dev/sda\n", { "it asks for nothing" } },
        { "x.sh", "smartctl -d sat,12 -s apm,128 /dev/sda; smartctl --device removable -s apm,127 /dev/sdb\n",
          { "\n        apm = 128;", "\n        apm = 127;" }, "RAID" },
        { "x.sh", "smartctl -s on -a /dev/sda\n", { "which is smartd's" }, "{" },
        { "x.sh", "sdparm --set=WCE=0 --save /dev/sda\n", { "permanent = true", "write_cache = false;" } },
        { "x.sh", "sdparm --clear WCE /dev/sda\n", { "write_cache = false;" } },
        { "x.sh", "sdparm -s STANDBY_Z=1,SCT=9000 /dev/sda\n", { "standby_z = \"900s\";" } },
        /* The command is for the array alone, and a match by its name for the drives below, too. */
        { "x.sh", "blockdev --setra 4096 /dev/md0\n",
          { "match = { node = \"/dev/md0\"; transport = \"virtual\"; };", "\n        read_ahead_sect = 4096; // 2 MiB" } },
        { "x.sh", "blockdev --setra 4096 /dev/md0 /dev/sdb\n", { "for the drives below", "\"/dev/sdb\"" } },
        { "x.sh", "echo 4096 > /sys/block/dm-0/queue/read_ahead_kb\n", { "transport = \"virtual\"", "read_ahead_kb = 4096;" } },
        { "x.sh", "blockdev --setro /dev/mapper/vg-snap\n", { "transport = \"virtual\"", "\n        read_only = true;" } },
        { "x.sh", "blockdev --setro /dev/sdb1\n", { "for what it names alone", "// read_only = true;" } },
        { "x.sh", "hdparm -r1 /dev/nvme0n1p2\n", { "for what it names alone", "// read_only = true;" } },
        { "x.sh", "blockdev --setro /dev/disk/by-uuid/1234-ABCD\n", { "// read_only = true;" } },
        { "x.sh", "blockdev --setro /dev/nvme0n1 /dev/disk/by-id/ata-ST1-part\n", { "\n        read_only = true;" } },
        { "x.sh", "nvme set-feature /dev/nvme0 -f 0x06 -v 0\n", { "\"/dev/nvme0n*\"", "write_cache = false;" } },
        { "x.sh", "nvme set-feature -f4 --value=0x157 /dev/nvme0n1\n", { "temperature_threshold = \"70C\";" } },
        { "x.sh", "nvme set-feature /dev/nvme0 -f 8 -v 0x0107\n",
          { "interrupt_coalescing_threshold = 8;", "interrupt_coalescing_time = \"100us\"" } },
        { "x.sh", "nvme set-feature /dev/nvme0 -f 8 -v 0\n",
          { "interrupt_coalescing_threshold = 1;", "interrupt_coalescing_time = \"0us\"" } },
        /* What the tool itself would refuse is nothing that was meant. */
        { "x.sh", "sdparm --set=WCE=on,RTL= /dev/sda\n", { "WCE=on cannot be read", "RTL= cannot" }, "{" },
        { "x.sh", "nvme set-feature /dev/nvme0 -f 6 -v on\n", { "known only when" }, "{" },
        { "x.sh", "hdparm -S=12 /dev/sda\n", { "hdparm takes -S only with a number from 0 to 255" }, "{" },
        /* A flag that hdparm does not know, or a value: of the command nothing is set. */
        { "x.sh", "hdparm -B 127 -S 0xf0 /dev/sda\n", { "hdparm knows no flag 'x'" }, "{" },
        { "x.sh", "hdparm -S 12 -W=1 /dev/sda\n", { "hdparm knows no flag '='" }, "{" },
        { "x.sh", "hdparm -W 0 -U 1 /dev/sda\n", { "hdparm knows no flag 'U'" }, "{" },
        { "x.sh", "hdparm -S 12 -B 300 /dev/sda\n", { "takes -B only with a number from 0 to 255" }, "{" },
        { "x.sh", "hdparm -B 127 -S /dev/sda\n", { "takes -S only with a number" }, "{" },
        { "x.sh", "hdparm -W 0 --standby 120 /dev/sda\n", { "hdparm knows no --standby: it ends there" }, "{" },
        { "x.sh", "hdparm -W 0 --idle-immediate --PREFER-ATA12 /dev/sda\n",
          { "--idle-immediate is a deed", "\n        write_cache = false;" } },
        { "x.sh", "hdparm -qgi -W 0 -V /dev/sda\n", { "it asks for nothing" } },
        { "x.sh", "hdparm -W 0 -$F /dev/sda\n", { "$F is known only", "// write_cache = false;" } },
        /* hdparm acts on a drive with the flags before it. */
        { "x.sh", "hdparm -S 60 /dev/sda -W 0 /dev/sdb\n",
          { "match = \"/dev/sda\";\n        spindown_time = 60; // 5 min\n    },", "match = \"/dev/sdb\";\n        spindown_time = 60; // 5 min\n        write_cache = false;\n    }," } },
        { "x.sh", "hdparm -S 60 /dev/sda -W 0\n",
          { "match = \"/dev/sda\";\n        spindown_time = 60; // 5 min\n    },", "no drive behind its last flags" }, "write_cache" },
        { "x.sh", "hdparm -S 60 /dev/sda -l 0 /dev/sdb\n", { "\"/dev/sda\";", "\n        spindown_time = 60", "knows no flag 'l'" }, "\"/dev/sdb\"" },
        { "x.sh", "hdparm -t /dev/sda -W 0 /dev/sdb\n", { "match = \"/dev/sdb\";\n        write_cache = false;" }, "\"/dev/sda" },
        { "x.sh", "hdparm /dev/sda -W 0\n", { "no drive behind its last flags" }, "write_cache" },
        { "x.sh", "hdparm -S 60 $D -W 0 $E\n", { "// spindown_time = 60;", "// write_cache = false;" } },
        /* Of settings that exclude each other the last one stands, as with the tool. */
        { "x.sh", "smartctl -l scterc,42,70 -l scterc,70,70 /dev/sda\n",
          { "// error_recovery = \"7s\" comes later and excludes it\n", "// error_recovery_read = \"4200ms\";",
            "// error_recovery_write = \"7s\";", "\n        error_recovery = \"7s\";" } },
        { "x.sh", "smartctl -l scterc,70,70 -l scterc,42,70 /dev/sda\n",
          { "// error_recovery = \"7s\";", "\n        error_recovery_read = \"4200ms\";",
            "\n        error_recovery_write = \"7s\";" } },
        { "x.sh", "smartctl -l scterc,60,60 -l scterc,42,70 -l scterc,70,70 /dev/sda\n",
          { "// error_recovery_read = \"4200ms\";", "\n        error_recovery = \"7s\";" }, "6s" },
        { "x.sh", "sdparm --set=STANDBY_Z=1,SCT=9000 /dev/sda; hdparm -S 12 /dev/sda\n",
          { "\n        standby_z = \"900s\";", "\n        spindown_time = 12;" } },
        { "x.sh", "smartctl --set apm,128 --log scterc,70,70 /dev/sda\n",
          { "match = \"/dev/sda\"", "apm = 128;", "error_recovery = \"7s\";" }, "no name" },
        { "x.sh", "nvme list\n", { "it asks for nothing" } },
        { "x.sh", "echo mq-deadline > /sys/block/sda/queue/scheduler\n",
          { "match = \"/dev/sda\";", "scheduler = \"mq-deadline\";" } },
        { "x.sh", "echo 180 > /sys/block/sda/device/timeout\n", { "timeout = \"180s\";" } },
        { "x.sh", "echo -n bfq > /sys/block/sda/queue/scheduler\n",
          { "// echo bfq > /sys/block/sda/queue/scheduler", "\n        match = \"/dev/sda\";", "\n        scheduler = \"bfq\";" } },
        { "x.sh", "echo bfq | sudo tee /sys/block/sda/queue/scheduler\n",
          { "// echo bfq | tee /sys/block/sda/queue/scheduler", "\n        match = \"/dev/sda\";", "\n        scheduler = \"bfq\";" } },
        { "x.sh", "printf '%s\\n' bfq | tee -a /sys/block/sd{a,b}/queue/scheduler >/dev/null\n",
          { "match = \"/dev/sda\";", "scheduler = \"bfq\";", "match = \"/dev/sdb\";", "scheduler = \"bfq\";" } },
        { "x.sh", "echo bfq; date | tee /sys/block/sda/queue/scheduler\n",
          { "// tee /sys/block/sda/queue/scheduler: the value of scheduler is known only when" }, "{" },
        { "x.sh", "sudo echo bfq > /sys/block/sda/queue/scheduler\n", { "\n        scheduler = \"bfq\";" } },
        { "x.sh", "echo bfq > /sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda/queue/scheduler\n",
          { "\n        match = \"/dev/sda\";", "\n        scheduler = \"bfq\";" } },
        { "x.sh", "echo bfq > /sys/block/$i/queue/scheduler\n",
          { "/dev/$i is known only", "// match = { rotational = true; };", "// scheduler = \"bfq\";" } },
        { "x.sh", "echo bfq > $disk/queue/scheduler\n",
          { "which drive $disk is", "// match = { rotational = true; };", "// scheduler = \"bfq\";" } },
        { "x.sh", "echo $S > /sys/block/sda/queue/scheduler\n", { "echo $S > /sys/block/sda/queue/scheduler: the value of scheduler is known only when the" }, "{" },
        { "x.sh", "cat f > /sys/block/sda/queue/scheduler\n", { "> /sys/block/sda/queue/scheduler: the value of scheduler is known only when the" }, "{" },
        { "x.sh", "echo 1 > /sys/block/sda/queue/iosched/low_latency\n", { "low_latency: drivekeep does not read this" }, "{" },
        /* The directories of SCSI disks and NVMe controllers. */
        { "x.sh", "echo 1 > /sys/class/scsi_disk/0:0:0:0/manage_start_stop\n",
          { "which drive /sys/class/scsi_disk/0:0:0:0 is", "// match", "// manage_start_stop = true;" }, "does not read" },
        { "x.sh", "echo 1 > /sys/block/sda/device/scsi_disk/0:0:0:0/manage_system_start_stop\n",
          { "\n        match = \"/dev/sda\";", "\n        manage_system_start_stop = true;" } },
        { "x.sh", "d=/sys/block/sda/device/scsi_disk/0:0:0:0; echo 0 > $d/allow_restart; echo -1 > $d/max_retries\n",
          { "\n        allow_restart = false;", "\n        max_retries = \"unlimited\";" } },
        { "x.sh", "d=/sys/block/sda/device/scsi_disk/0:0:0:0; echo temporary write back > $d/cache_type; echo write through > $d/cache_type\n",
          { "dangerous", "// cache_type = \"write back\";", "\n        write_cache = false;" } },
        { "x.sh", "echo 2000 > /sys/block/sda/device/power/autosuspend_delay_ms; echo -1 > /sys/block/sdb/device/power/autosuspend_delay_ms\n",
          { "\n        autosuspend_delay = \"2000ms\"", "\n        autosuspend_delay = \"never\";" } },
        { "x.sh", "echo write through > /sys/block/sda/queue/write_cache; echo 0 > /sys/block/sda/queue/discard_max_bytes\n",
          { "allow_dangerous", "// queue_write_cache = \"write through\";", "\n        discard_max_bytes = 0; // off" } },
        { "x.sh", "echo 0 > /sys/class/nvme/nvme0/power/pm_qos_latency_tolerance_us; echo any > /sys/block/nvme1n1/device/power/pm_qos_latency_tolerance_us; echo 0 > /sys/class/nvme/nvme0/hmb\n",
          { "\n        match = \"/dev/nvme0n*\";", "\n        apst_latency = \"0us\"; // off", "\n        match = \"/dev/nvme1n1\";",
            "\n        apst_latency = \"any\";", "\n        hmb = false;" } },
        { "x.sh", "echo auto > /sys/class/nvme/nvme0/power/control; echo 1 > /sys/block/sda/allow_restart\n",
          { "power/control: drivekeep does not read this", "allow_restart: drivekeep does not read this" }, "{" },
        { "x.sh", "nvme set-feature /dev/nvme0 -f 0x0c -v 0; nvme set-feature /dev/nvme1 -f 0xc -v 1 -d table\n",
          { "\n        apst_latency = \"off\";", "drivekeep has apst_latency" }, "nothing like it" },
        { "x.sh", "smartctl -s rcache,off /dev/sda\n", { "\n        read_cache = false;" } },
        { "69.rules", "KERNEL==\"sd?\", ATTR{device/scsi_disk/*/manage_runtime_start_stop}=\"1\", ATTR{device/power/autosuspend_delay_ms}=\"15000\"\n",
          { "\n        match = \"/dev/sd?\";", "\n        manage_runtime_start_stop = true;", "\n        autosuspend_delay = \"15000ms\"" } },
        { "69.rules", "SUBSYSTEM==\"scsi_disk\", ATTR{allow_restart}=\"1\"\n",
          { "something else than drives", "// allow_restart = true;" } },
        { "69.rules", "SUBSYSTEM==\"nvme\", ATTR{power/pm_qos_latency_tolerance_us}=\"0\"\n",
          { "something else than drives", "// apst_latency = \"0us\"; // off" } },
        { "x.sh", "echo 0 > /sys/devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0/evt_media_change\n", { "evt_media_change: drivekeep does" }, "{" },
        { "x.sh", "echo 1 > /proc/sys/vm/laptop_mode; echo 0 > /sys/devices/system/cpu/cpu1/online; echo x > /tmp/queue/scheduler\n",
          { "it asks for nothing" }, "does not read" },
        { "x.sh", "echo min_power > /sys/class/scsi_host/host0/link_power_management_policy\n",
          { "this is the adapter's", "put the match right", "// match = { transport = \"sata\"; };", "// link_power_management = \"min_power\";" } },

        /* The shell around them. */
        { "x.sh", "D=\"sda sdb\"\nfor i in $D; do hdparm -S 12 /dev/${i} 2>/dev/null; done\n",
          { "( \"/dev/sda\", \"/dev/sdb\" )", "spindown_time = 12;" } },
        { "x.sh", "hdparm -S 12 /dev/sd{a..c}\n", { "( \"/dev/sda\", \"/dev/sdb\", \"/dev/sdc\" )" } },
        { "x.sh", "[ -x /sbin/hdparm ] && sudo nice -n 5 /sbin/hdparm -S 12 '/dev/sda' || echo hdparm -S 99 /dev/sdz\n",
          { "\"/dev/sda\"", "spindown_time = 12;" }, "99" },
        { "x.sh", "sh -c \"hdparm -S 12 /dev/sda\"\n", { "\"/dev/sda\"", "spindown_time = 12;" } },
        { "x.sh", "bash -lc 'hdparm -S 12 /dev/sda'; sh -ec 'hdparm -S 13 /dev/sdb'\n",
          { "\"/dev/sda\"", "spindown_time = 12;", "\"/dev/sdb\"", "spindown_time = 13;" } },
        { "x.sh", "bash -o pipefail -e -c 'echo bfq | tee /sys/block/sda/queue/scheduler'\n",
          { "\"/dev/sda\"", "scheduler = \"bfq\";" } },
        { "x.sh", "sh script.sh -c 'hdparm -S 12 /dev/sda'\n", { "it asks for nothing" } },
        { "x.sh", "# hdparm -S 12 /dev/sda\nhdparm \\\n -S 13 \\\n /dev/sda\n", { "spindown_time = 13;" }, "12" },
        { "x.sh", "for d in $(ls /dev/sd?); do hdparm -S 12 $d; done\n",
          { "known only when the command runs", "// match = { rotational = true; };", "// spindown_time = 12;" } },
        { "x.sh", "hdparm -S 12 /dev/$1\n", { "/dev/$1 is known only", "// match", "// spindown_time = 12;" } },
        { "x.sh", "hdparm -S $TIME /dev/sda\n", { "the value of -S is known only" }, "{" },

        { "/etc/cron.d/hdparm", "@reboot root hdparm -S 12 /dev/sda\n30 4 * * * root smartctl -s apm,1 /dev/sdb\n",
          { "line 1", "spindown_time = 12;", "line 2", "apm = 1;" } },
        { "a.service", "[Service]\nExecStart=-/sbin/hdparm -S 12 \\\n /dev/sda\nExecStop=/sbin/hdparm -S 99 /dev/sda\n",
          { "line 2", "\"/dev/sda\"", "spindown_time = 12;" }, "99" },
        { "a.service", "[Unit]\nConditionACPower=false\n[Service]\nExecStart=/sbin/hdparm -S 12 /dev/sda\n",
          { "by line 2 the unit runs only on mains, or only on battery", "// spindown_time = 12;" } },
        { "a.service", "[Unit]\nConditionACPower=false\nConditionACPower=\n[Service]\nExecStart=/sbin/hdparm -S 12 /dev/sda\n",
          { "\n        spindown_time = 12;" } },
        { "a@.service", "[Service]\nExecStart=/sbin/hdparm -S 12 /dev/%i\n", { "/dev/%i is known only", "// spindown" } },

        /* Branches and times: what is decided when the file runs is offered, what is there anyway stays. */
#define IN_A_BRANCH "one branch only of what line 1 decides", "// match", "// apm = 254;"
        { "x.sh", "if on_ac_power; then hdparm -B 254 -S 0 /dev/sda; else hdparm -B 128 -S 36 /dev/sda; fi\n",
          { IN_A_BRANCH, "on_battery = {", "// apm = 128;" }, "\n        match" },
        { "x.sh", "if [ -b /dev/sda ]; then hdparm -B 254 /dev/sda; elif true; then hdparm -B 1 /dev/sdb; fi\n",
          { IN_A_BRANCH, "// apm = 1;" }, "\n        match" },
        { "x.sh", "case \"$1\" in true) hdparm -B 254 /dev/sda ;; false) hdparm -B 128 /dev/sda ;; esac\n",
          { IN_A_BRANCH, "// apm = 128;" }, "\n        match" },
        { "x.sh", "case \"$1\" in\n post|resume) hdparm -B 254 /dev/sda ;;\n pre) hdparm -B 1 /dev/sda ;;\nesac\n",
          { IN_A_BRANCH, "// apm = 1;" }, "\n        match" },
        { "x.sh", "if on_ac_power; then hdparm -B 254 /dev/sda; fi\n", { IN_A_BRANCH }, "\n        match" },
        { "x.sh", "on_ac_power && hdparm -B 254 /dev/sda\n", { IN_A_BRANCH }, "\n        match" },
        { "x.sh", "on_ac_power && { true; hdparm -B 254 /dev/sda; }\n", { IN_A_BRANCH }, "\n        match" },
        { "x.sh", "on_ac_power || exit 0\nhdparm -B 254 /dev/sda\n", { IN_A_BRANCH }, "\n        match" },
        { "x.sh", "exit 0\nhdparm -B 254 /dev/sda\n", { IN_A_BRANCH }, "\n        match" },
        { "x.sh", "hdparm -C /dev/sda | grep -q active && sh -c 'hdparm -B 254 /dev/sda'\n", { IN_A_BRANCH }, "\n        match" },
        { "x.sh", "smartctl -l scterc,70,70 /dev/sda || echo 180 > /sys/block/sda/device/timeout\n",
          { "\n        error_recovery = \"7s\";", "one branch", "// timeout = \"180s\";" } },
        { "x.sh", "ac() {\n hdparm -B 254 /dev/sda\n}\nif on_ac_power\nthen\n ac\nfi\n",
          { "what line 5 decides", "// apm = 254;" }, "\n        match" },
        { "x.sh", "all() {\n hdparm -B 254 /dev/sda\n}\nall\n", { "\n        apm = 254;" }, "branch" },
        { "x.sh", "if [ -x /sbin/hdparm ]; then hdparm -B 254 /dev/sda; fi\n", { "\n        apm = 254;" }, "branch" },
        { "x.sh", "if [ ! -x /sbin/hdparm ] || ! command -v nice; then exit 0; fi\nhdparm -B 254 /dev/sda\n",
          { "\n        apm = 254;" }, "branch" },
        { "x.sh", "[ -e /dev/sda ] && hdparm -B 254 /dev/sda\n", { "\n        apm = 254;" }, "branch" },
        { "x.sh", "[ -e /run/mains ] && hdparm -B 254 /dev/sda\n", { IN_A_BRANCH }, "\n        match" },
        { "x.sh", "command -v hdparm >/dev/null 2>&1 && hdparm -B 254 /dev/sda\n", { "\n        apm = 254;" }, "branch" },
        { "x.sh", "case \"$1\" in\n(post|resume|thaw) hdparm -B 254 /dev/sda ;;\n*) echo no hdparm; exit 1 ;;\nesac\n",
          { "\n        apm = 254;" }, "branch" },
        { "/etc/cron.d/x", "0 22 * * * hdparm -S 60 /dev/sda\n0 7 * * * hdparm -S 0 /dev/sda\n30 23 * * * hdparm -y /dev/sdb\n",
          { "drivekeep knows none", "// spindown_time = 60;", "drivekeep knows none", "// spindown_time = 0;" },
          "\n        match" },
        { "/etc/cron.d/x", "@daily hdparm -S 60 /dev/sda\n", { "drivekeep knows none", "// spindown_time = 60;" },
          "\n        match" },

        /* Only what is written by echo itself counts, and its name has variables too. */
        { "x.sh", "echo 180 > /sys/block/sda/device/timeout 2>/dev/null\n", { "\n        timeout = \"180s\";" } },
        { "x.sh", "echo 180 2>/dev/null 1>/sys/block/sda/device/timeout 3>&1\n", { "\n        timeout = \"180s\";" } },
        { "x.sh", "echo 180 >| /sys/block/sda/device/timeout >&2\n", { "\n        timeout = \"180s\";" } },
        { "x.sh", "f=/sys/block/sda/queue/scheduler; echo bfq > $f\n",
          { "match = \"/dev/sda\";", "\n        scheduler = \"bfq\";" } },
        { "x.sh", "for i in sda sdb; do echo bfq > /sys/block/$i/queue/scheduler; done\n",
          { "match = \"/dev/sda\";", "scheduler", "match = \"/dev/sdb\";", "\n        scheduler = \"bfq\";" } },

        { "a.service", "[Service]\nExecStart = /sbin/hdparm -S 12 /dev/sda\n", { "line 2", "\n        spindown_time = 12;" } },
        { "a.service", "[Service]\n ExecStart=-@/bin/sh sh -c 'hdparm -S 12 /dev/sda'\nExecStartPost=+:!!/sbin/hdparm -B 1 /dev/sda\n",
          { "line 2", "\n        spindown_time = 12;", "line 3", "\n        apm = 1;" } },
        { "a.service", "[Service]\nExecStart=@/sbin/hdparm drives -S 12 /dev/sda\n",
          { "\n        spindown_time = 12;" }, "drives -S" },

        /* udev rules: conditions become the match. */
        { "69.rules", "ACTION==\"add\", KERNEL==\"sd[a-z]\", ATTR{queue/rotational}==\"1\", RUN+=\"/sbin/hdparm -B 127 /dev/%k\"\n",
          { "match = { node = \"/dev/sd[a-z]\"; rotational = true; };", "apm = 127;" } },
        { "69.rules", "SUBSYSTEM==\"block\", ENV{ID_SERIAL_SHORT}==\"WD-1\", \\\n RUN+=\"/bin/sh -c 'hdparm -S 12 $devnode'\"\n",
          { "match = { ID_SERIAL_SHORT = \"WD-1\"; };", "\n        spindown_time = 12;" } },
        { "69.rules", "KERNEL==\"sda|sdb\", ATTR{queue/scheduler}=\"bfq\", ATTR{queue/read_ahead_kb}=\"512\"\n",
          { "( \"/dev/sda\", \"/dev/sdb\" )", "scheduler = \"bfq\";", "read_ahead_kb = 512;" } },
        { "69.rules", "ATTRS{idVendor}==\"152d\", KERNEL==\"sd?\", RUN+=\"/sbin/hdparm -S 12 $env{DEVNAME}\"\n",
          { "no match like ATTRS{idVendor}==\"152d\"", "// spindown_time = 12;" } },
        { "69.rules", "ACTION==\"add\", SUBSYSTEMS==\"usb\", KERNEL==\"sd[a-z]\", RUN+=\"/sbin/hdparm -S 120 /dev/%k\"\n",
          { "\n        match = { transport = \"usb\"; node = \"/dev/sd[a-z]\"; };", "\n        spindown_time = 120;" } },
        { "69.rules", "SUBSYSTEMS==\"pci\", KERNEL==\"sd?\", RUN+=\"/sbin/hdparm -S 120 /dev/%k\"\n",
          { "no match like SUBSYSTEMS==\"pci\"", "// spindown_time = 120;" } },
        { "69.rules", "SUBSYSTEMS!=\"usb\", KERNEL==\"sd?\", RUN+=\"/sbin/hdparm -S 120 /dev/%k\"\n",
          { "no match like SUBSYSTEMS!=\"usb\"", "// spindown_time = 120;" } },
        { "69.rules", "ENV{ID_BUS}==\"ata\", KERNEL==\"sd?\", RUN+=\"/sbin/hdparm -S 120 /dev/%k\"\n",
          { "\n        match = { ID_BUS = \"ata\"; node = \"/dev/sd?\"; };", "\n        spindown_time = 120;" } },
        { "69.rules", "SUBSYSTEM==\"power_supply\", ENV{POWER_SUPPLY_ONLINE}==\"0\", RUN+=\"/sbin/hdparm -B 128 /dev/sda\"\n",
          { "on_battery = { … }", "// match = \"/dev/sda\";", "// apm = 128;" }, "\n        apm" },
        { "69.rules", "SUBSYSTEM==\"net\", KERNEL==\"sd?\", RUN+=\"/sbin/hdparm -B 128 /dev/sda\"\n",
          { "something else than drives (SUBSYSTEM==\"net\")", "// match = \"/dev/sda\";", "// apm = 128;" } },
        { "69.rules", "ACTION==\"remove\", KERNEL==\"sda\", RUN+=\"/sbin/hdparm -B 128 /dev/sda\"\n",
          { "no match like ACTION==\"remove\"", "// match = \"/dev/sda\";", "// apm = 128;" } },
        { "69.rules", "ACTION!=\"add\", KERNEL==\"sda\", RUN+=\"/sbin/hdparm -B 128 /dev/sda\"\n",
          { "no match like ACTION!=\"add\"", "// apm = 128;" } },
        { "69.rules", "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"disk\", KERNEL==\"sd*[!0-9]\", RUN+=\"/sbin/hdparm -B 128 %N\"\n",
          { "match = \"/dev/sd*[!0-9]\";", "\n        apm = 128;" } },
        { "69.rules", "ACTION!=\"remove\", TEST==\"/sbin/hdparm\", KERNEL==\"sda\", RUN+=\"/sbin/hdparm -B 128 /dev/sda\"\n",
          { "\n        match = \"/dev/sda\";", "\n        apm = 128;" } },
        { "69.rules", "TEST==\"/etc/quiet\", KERNEL==\"sda\", RUN+=\"/sbin/hdparm -B 128 /dev/sda\"\n",
          { "no match like TEST==\"/etc/quiet\"", "// apm = 128;" } },
        { "69.rules", "PROGRAM=\"/bin/check %k\", KERNEL==\"sda\", RUN+=\"/sbin/hdparm -B 128 /dev/sda\"\n",
          { "no match like PROGRAM=\"/bin/check %k\"", "// apm = 128;" } },
        { "69.rules", "ENV{DEVTYPE}==\"partition\", KERNEL==\"sd*\", RUN+=\"/sbin/hdparm -B 128 /dev/%k\"\n",
          { "no match like ENV{DEVTYPE}==\"partition\"", "// apm = 128;" } },
        /* Both must hold, where two patterns of one match would each do. */
        { "69.rules", "KERNEL==\"sd*\", KERNEL==\"sda\", ATTR{queue/scheduler}=\"bfq\"\n",
          { "no match like KERNEL==\"sda\"", "// scheduler = \"bfq\";" } },
        /* What a GOTO skips, up to its label. */
        { "69.rules", "ACTION!=\"add|change\", GOTO=\"end\"\nSUBSYSTEM!=\"block\", GOTO=\"end\"\nKERNEL!=\"sd[a-z]\", GOTO=\"end\"\n"
          "ENV{ID_BUS}==\"?*\", KERNEL==\"sda\", ATTR{queue/scheduler}=\"bfq\"\nATTR{queue/nr_requests}=\"64\"\nLABEL=\"end\"\n",
          { "\n        match = { ID_BUS = \"?*\"; node = \"/dev/sda\"; };", "\n        scheduler = \"bfq\";",
            "\n        match = \"/dev/sd[a-z]\";", "\n        nr_requests = 64;" } },
        { "69.rules", "ENV{ID_BUS}!=\"usb\", GOTO=\"a\"\nKERNEL==\"sd?\", ATTR{queue/scheduler}=\"bfq\"\nLABEL=\"a\"\n"
          "KERNEL==\"sd?\", ATTR{queue/nr_requests}=\"64\"\n",
          { "\n        match = { node = \"/dev/sd?\"; ID_BUS = \"usb\"; };", "scheduler", "\n        match = \"/dev/sd?\";", "\n        nr_requests" } },
        { "69.rules", "KERNEL==\"loop*\", GOTO=\"a\"\nKERNEL==\"sdb\", GOTO=\"a\"\nKERNEL==\"sd?\", ATTR{queue/scheduler}=\"bfq\"\n",
          { "no match like KERNEL!=\"sdb\"", "// scheduler = \"bfq\";" } },
        { "69.rules", "KERNEL==\"loop*\", GOTO=\"a\"\nKERNEL==\"sd?\", ATTR{queue/scheduler}=\"bfq\"\n",
          { "\n        match = \"/dev/sd?\";", "\n        scheduler = \"bfq\";" } },
        { "69.rules", "ENV{A}==\"1\", ENV{B}==\"1\", GOTO=\"a\"\nKERNEL==\"sd?\", ATTR{queue/scheduler}=\"bfq\"\n",
          { "no match like GOTO==\"a\"", "// scheduler = \"bfq\";" } },
        { "69.rules", "ENV{A}==\"1\", ACTION==\"remove\", GOTO=\"a\"\nKERNEL==\"sd?\", ATTR{queue/scheduler}=\"bfq\"\n",
          { "\n        match = \"/dev/sd?\";", "\n        scheduler = \"bfq\";" } },
        /* The command's drive is not the rule's. */
        { "69.rules", "KERNEL==\"sda\", RUN+=\"/bin/sh -c 'for d in $(ls /dev/sd?); do hdparm -S 12 $d; done'\"\n",
          { "known only when the command runs", "// match = \"/dev/sda\";", "// spindown_time = 12;" } },
        { "69.rules", "KERNEL==\"sd[a-z]\", RUN+=\"/sbin/hdparm -B 128 /dev/sda\"\n",
          { "the command names a drive", "// match = \"/dev/sda\";", "// apm = 128;" }, "sd[a-z]" },
        { "69.rules", "KERNEL==\"sd[a-z]\", RUN+=\"/bin/sh -c 'echo bfq > /sys/block/%k/queue/scheduler'\"\n",
          { "\n        match = \"/dev/sd[a-z]\";", "\n        scheduler = \"bfq\";" } },
        { "69.rules", "KERNEL==\"sd?\", RUN+=\"/bin/sh -c 'echo bfq > /sys$devpath/queue/scheduler; echo 64 | tee /sys%p/queue/nr_requests'\"\n",
          { "\n        match = \"/dev/sd?\";", "\n        scheduler = \"bfq\";", "\n        match = \"/dev/sd?\";", "\n        nr_requests = 64;" } },
        { "69.rules", "KERNEL==\"sd?\", RUN+=\"/bin/sh -c 'echo 180 > /sys$DEVPATH/device/timeout; echo 1 > /sys$DEVPATH/device/evt'\"\n",
          { "\n        timeout = \"180s\";", "/device/evt: drivekeep does not read this" } },
        { "69.rules", "ENV{ID_MODEL}!=\"Foo\", RUN+=\"/bin/sh -c 'echo bfq > /sys/block/sda/queue/scheduler'\"\n",
          { "no match like ENV{ID_MODEL}!=\"Foo\"", "// match = \"/dev/sda\";", "// scheduler = \"bfq\";" } },
        { "69.rules", "KERNEL==\"sd?\", RUN+=\"/bin/sh -c 'echo bfq > /sys/block/$i/queue/scheduler'\"\n",
          { "which drive /sys/block/$i is", "// match = \"/dev/sd?\";", "// scheduler = \"bfq\";" } },
        { "69.rules", "ACTION==\"add\", SUBSYSTEM==\"scsi_host\", KERNEL==\"host*\", ATTR{link_power_management_policy}=\"med_power_with_dipm\"\n",
          { "this is the adapter's", "// match = { transport = \"sata\"; };", "// link_power_management = \"med_power_with_dipm\";" } },
        { "69.rules", "SUBSYSTEM==\"scsi\", ATTR{type}==\"0\", ATTR{timeout}=\"180\"\n",
          { "something else than drives", "// timeout = \"180s\";" } },
        { "69.rules", "KERNEL==\"sd?\", ATTR{queue/iosched/low_latency}=\"1\"\n",
          { "ATTR{queue/iosched/low_latency}=\"1\": drivekeep does not read this" }, "{\n" },
        { "69.rules", "SUBSYSTEM==\"pci\", ATTR{power/control}=\"auto\"\n", { "it asks for nothing" }, "does not read" },
        { "69.rules", "RUN+=\"/sbin/hdparm -S 12 /dev/%k\"\n", { "for every drive", "// spindown_time = 12;" } },

        { "/etc/udisks2/ACME-DISK-ONE-123.conf",
          "[ATA]\nStandbyTimeout=240\nAPMLevel=127\nAAMLevel=128\nWriteCacheEnabled=false\n",
          { "ata-ACME?DISK?ONE?123\"", "spindown_time = 240;", "apm = 127;", "acoustic_management = 128;",
            "write_cache = false;" } },
        { "x.conf", "[ATA]\nStandbyTimeout=286\n", { "it has set 30", "// spindown_time = 286;" } },
        { "x.conf", "[ATA]\nStandbyTimeout=239 \t s\n", { "is no value of spindown_time", "// spindown_time = " } },
        { "x.conf", "[ATA]\nStandbyTimeout=60\nAPMLevel=1\nStandbyTimeout=0\n", { "line 4: StandbyTimeout stands here a second time", "spindown_time = 0;" }, "60" },
        { "x.conf", "[ATA]\nAPMLevel=127\n;off\n", { "line 3", "ignored the whole file", "// {", "// apm = 127;" }, "\n        apm" },
        { "x.conf", "APMLevel=127\n[ATA]\nAPMLevel=126\n", { "line 1", "ignored the whole file", "// apm = 126;" }, "\n        apm" },
        { "x.conf", "[ATA]\n;APMLevel=1\n# APMLevel=2\nAPMLevel=127\n[Other]\nAPMLevel=3\n",
          { "line 2: udisks2 knows no", "line 6 is in no group that udisks2 knows", "\n        apm = 127;" } },
        { "x.conf", "[ATA]\nStandbyTimeOut=240\n", { "udisks2 knows no \"StandbyTimeOut\"" } },
};
/* clang-format on */

START_TEST(test_written) {
        check_written(&cases[_i]);
}
END_TEST

/* clang-format off */
static const struct {
        const char *file, *text;
        ImportKind kind;
} kinds[] = {
        { "hdparm.conf",        "hdparm -B 1 /dev/sda\n",               IMPORT_HDPARM_CONF   },
        { "f",                  "",                                     IMPORT_HDPARM_CONF   },
        { "f",                  "# only this\n",                        IMPORT_HDPARM_CONF   },
        { "f",                  "quiet\n",                              IMPORT_HDPARM_CONF   },
        { "f",                  "/dev/sda\n{\n",                        IMPORT_HDPARM_CONF   },
        { "f",                  "apm=127\n",                            IMPORT_HDPARM_CONF   },
        { "f",                  "command_line {\n",                     IMPORT_HDPARM_CONF   },
        { "f",                  "sata_all_args=\"-S1\"\n",              IMPORT_HDPARM_CONF   },
        { "f",                  "[ATA]\n",                              IMPORT_UDISKS        },
        { "f",                  "[Unit]\n",                             IMPORT_UNIT          },
        { "f",                  "ACTION==\"add\", RUN+=\"x\"\n",        IMPORT_UDEV_RULES    },
        { "f",                  "#!/bin/sh\nexit 0\n",                  IMPORT_SCRIPT        },
        { "f",                  "if true; then hdparm -y /dev/sda; fi\n", IMPORT_SCRIPT      },
        { "f",                  "@reboot hdparm -S 1 /dev/sda\n",       IMPORT_CRONTAB       },
        { "f",                  "0 3 * * * hdparm -S 1 /dev/sda\n",     IMPORT_CRONTAB       },
        { "/var/spool/cron/crontabs/me", "x\n",                         IMPORT_CRONTAB       },
        { "f",                  "Lorem ipsum dolor\n",                  _IMPORT_KIND_INVALID },
        { "f",                  "{{{{{{{{\n",                           _IMPORT_KIND_INVALID },
};
/* clang-format on */

START_TEST(test_kind) {
        ck_assert_int_eq(import_kind_detect(kinds[_i].file, kinds[_i].text, strlen(kinds[_i].text)), kinds[_i].kind);
}
END_TEST

START_TEST(test_refused) {
        static const struct {
                const char *text;
                size_t size;
                const char *says;
        } refused[] = {
                { "\xff\xfe\x2f\0", 4, "UTF-16" },
                { "apm = 1\0", 8, "NUL" },
                { "apm = \xff\n", 8, "not UTF-8" },
                { "Lorem ipsum", 11, "nothing in it" },
        };
        _cleanup_(import_done) Import import = {};
        const char *objection;

        ck_assert_int_eq(import_read("f", refused[_i].text, refused[_i].size, _IMPORT_KIND_INVALID, NULL, &import,
                                     &objection),
                         1);
        ck_assert_ptr_nonnull(strstr(objection, refused[_i].says));
}
END_TEST

/* A lot of what nobody means, as every kind. */
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
        size_t n = strlen(hostile[_i]), size = 50000;
        _cleanup_free_ char *text = malloc(size + 1);

        for (size_t i = 0; i < size; i++)
                text[i] = hostile[_i][i % n];
        text[size] = '\0';

        for (ImportKind k = 0; k < _IMPORT_KIND_MAX; k++) {
                _cleanup_(import_done) Import import = {};
                _cleanup_free_ char *out = NULL;
                const char *objection;
                size_t out_size;
                FILE *f;

                ck_assert_int_eq(import_read("f", text, size, k, NULL, &import, &objection), 0);
                f = open_memstream(&out, &out_size);
                ck_assert_int_eq(emit(f, &import, 1, &all_settings, NULL), 0);
                ck_assert_int_eq(fclose(f), 0);
        }
}
END_TEST

int main(void) {
        Suite *s = suite_create("import-commands");
        TCase *t = tcase_create("import-commands");

        tcase_set_timeout(t, 60);
        tcase_add_loop_test(t, test_written, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_kind, 0, ELEMENTSOF(kinds));
        tcase_add_loop_test(t, test_refused, 0, 4);
        tcase_add_loop_test(t, test_hostile, 0, ELEMENTSOF(hostile));
        suite_add_tcase(s, t);

        return suite_run(s);
}
