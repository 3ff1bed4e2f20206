/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a script decides only when it runs is no setting, and nothing of it is lost without a word. */

#include "suite.h"
#include "old-written-case.h"

/* clang-format off */
static const WrittenCase cases[] = {
        /* A variable has its value up to the end of the branch in which it is set. */
#define VALUE_OPEN "the value of -S is known only"
#define DRIVE_OPEN "// match = { rotational = true; };", "// spindown_time = 12;"
        { "x.sh", "T=254\nif [ \"$(cat /sys/class/power_supply/AC/online)\" = 0 ]; then T=1; fi\nhdparm -S $T /dev/sda\n",
          { VALUE_OPEN }, "{" },
        { "x.sh", "D=/dev/sda; if [ \"$(hostname)\" = nas ]; then D=/dev/sdb; fi; hdparm -S12 $D\n", { "$D is known only", DRIVE_OPEN } },
        { "x.sh", "if on_ac_power; then o=-S25; else o=-S12; fi; hdparm $o /dev/sda\n", { "$o is known only when the command runs" }, "nothing" },
        { "x.sh", "for d in sda sdb; do\ncase $d in\nsda) T=60;;\nsdb) T=120;;\nesac\nhdparm -S $T /dev/$d\ndone\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; ( T=12 )\nhdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; f() { T=12; }\nhdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; read -r T; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; unset T; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; T+=0; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; on_ac_power || T=12; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; on_ac_power || { T=12; }; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "on_ac_power && { T=12; hdparm -S $T /dev/sda; }\n", { "// spindown_time = 12;" } },
        { "x.sh", "T=60; . /etc/default/disks; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; eval \"T=12\"; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "i=0; while [ $i != 3 ]; do hdparm -S 12 /dev/disk$i; i=$((i+1)); done\n", { "/dev/disk$i is known", DRIVE_OPEN } },
        { "x.sh", "i=0; for ((i=0;i<3;i++)); do hdparm -S 12 /dev/disk$i; done\n", { "/dev/disk$i is known", DRIVE_OPEN } },
        { "x.sh", "i=0; while x; do hdparm -S 12 /dev/disk$i; ((i++)); done\n", { "/dev/disk$i is known", DRIVE_OPEN } },
        { "x.sh", "T=60; (( T = 12 )); hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "d=/dev/sda; for d; do hdparm -S 12 $d; done\n", { "$d is known", DRIVE_OPEN } },
        { "x.sh", "select d in /dev/sda /dev/sdb; do hdparm -S 12 $d; done\n", { "$d is known", DRIVE_OPEN } },
        { "x.sh", "T=60; while x; do hdparm -S $T /dev/sda; T=12; done\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; while x; do hdparm -S $T /dev/sda; . ./x; done\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; f() { hdparm -S $T /dev/sda; }\nT=12; f\n", { VALUE_OPEN }, "{" },
        { "x.sh", "for T in 60 120; do hdparm -S $T /dev/sda; done\n", { "\n        spindown_time = 120;" }, "no name" },
        /* In it, it has it; and where nothing decides on it, behind it too. */
        { "x.sh", "T=60; hdparm -S $T /dev/sda; T=12; hdparm -S $T /dev/sdb\n", { "\n        spindown_time = 60;", "\n        spindown_time = 12;" } },
        { "x.sh", "if on_ac_power; then T=60; hdparm -S $T /dev/sda; else hdparm -S $T /dev/sda; fi\n", { "// spindown_time = 60;", VALUE_OPEN } },
        { "x.sh", "if [ -x /sbin/hdparm ]; then T=60; fi; hdparm -S $T /dev/sda\n", { "\n        spindown_time = 60;" } },
        { "x.sh", "T=12 true; export T=60; readonly T; hdparm -S $T /dev/sda\n", { "\n        spindown_time = 60;" } },
        { "x.sh", "T=60; T=12 true; hdparm -S $T /dev/sda\n", { "\n        spindown_time = 60;" } },
        { "x.sh", "f() { local T; T=60; hdparm -S $T /dev/sda; }\nf\n", { "\n        spindown_time = 60;" } },
        { "x.sh", "T=60; . /lib/lsb/init-functions; hdparm -S $T /dev/sda\n", { "\n        spindown_time = 60;" } },
        { "x.sh", "O=\"-S 12 -B 1\"; P=\"$O -W1\"; hdparm $P /dev/sda\n", { "\n        spindown_time = 12;", "\n        apm = 1;", "write_cache" } },
        { "x.sh", "for i in sda sdb; do f=/sys/block/$i/queue; echo bfq > $f/scheduler; done\n",
          { "match = \"/dev/sda\";", "match = \"/dev/sdb\";", "\n        scheduler = \"bfq\";" } },
        { "x.sh", "for o in -B1 -S12; do for d in a b; do hdparm $o /dev/sd$d; done; done; for d in c; do hdparm -S1 /dev/sd$d; done\n",
          { "( \"/dev/sda\", \"/dev/sdb\" )", "\n        apm = 1;", "\n        spindown_time = 12;", "\"/dev/sdc\"" } },
        /* bash's arrays. */
        { "x.sh", "D=(sda \"sdb\" # one ; two\n 'sdc')\nfor d in \"${D[@]}\"; do\nhdparm -S 12 /dev/$d\ndone\n",
          { "line 4", "( \"/dev/sda\", \"/dev/sdb\", \"/dev/sdc\" )", "\n        spindown_time = 12;" } },
        { "x.sh", "declare -a O=(-S 12 -B1); hdparm ${O[*]} /dev/sd{a,b}\n",
          { "( \"/dev/sda\", \"/dev/sdb\" )", "\n        spindown_time = 12;", "\n        apm = 1;" } },
        { "x.sh", "D=([0]=/dev/sda); hdparm -S 12 ${D[@]}\n", { "${D[@]} is known only", DRIVE_OPEN }, "match = \"" },
        { "x.sh", "D=($(ls /dev/sd?)); hdparm -S 12 ${D[@]}\n", { "${D[@]} is known only", DRIVE_OPEN }, "match = \"" },
        { "x.sh", "D=(/dev/sda); D+=(/dev/sdb); hdparm -S 12 \"${D[@]}\"\n", { "${D[@]} is known only", DRIVE_OPEN }, "match = \"" },
        { "x.sh", "D=(/dev/sda /dev/sdb); for i in ${!D[@]}; do hdparm -S 12 ${D[$i]}; done\n", { "is known only", DRIVE_OPEN }, "match = \"" },
        { "x.sh", "on_ac_power && D=(/dev/sda); hdparm -S 12 ${D[@]}\n", { "${D[@]} is known only", DRIVE_OPEN }, "match = \"" },
        { "x.sh", "D=(/dev/sda\nhdparm -S 12 /dev/sdb\n", { "it asks for nothing" }, "12" },

        /* What becomes of a drive that refuses. */
        { "x.sh", "for i in /dev/sd?; do\nif smartctl -l scterc,70,70 $i >/dev/null; then true; else\n"
                  "echo 180 > /sys/block/${i/\\/dev\\/}/device/timeout\nfi; done\n",
          { "error_recovery = \"7s\"", "refuse line 2: error_recovery_fallback_timeout = \"180s\";", "// match = \"/dev/sd?\";" } },
        { "x.sh", "smartctl -l scterc,70,70 /dev/sda ||\necho 90 > /sys/block/sda/device/timeout\n",
          { "refuse line 1: error_recovery_fallback_timeout = \"90s\";" } },
        { "x.sh", "hdparm -B1 /dev/sda || echo 90 > /sys/block/sda/device/timeout\n", { "// timeout = \"90s\"" }, "fallback" },
        { "x.sh", "for d in /dev/sda /dev/sdb; do p=${d##*/}; echo 1 > /sys/block/$p/queue/iostats; hdparm -S12 /dev/${d#/dev/}; done\n",
          { "\"/dev/sda\"", "iostats = true", "\"/dev/sdb\"", "iostats = true", "( \"/dev/sda\", \"/dev/sdb\" )" }, "known only" },
        { "x.sh", "for d in $(/bin/ls /dev/sd?); do echo 1 > /sys/block/${d##*/}/queue/iostats; done\n",
          { "is known only when the command runs", "// iostats = true;" }, "match = \"" },
        { "x.sh", "d=/dev/sda; hdparm -B1 ${d%a}b\n", { "is known only" }, "match = \"" },

        /* What is given to a program is no command. */
        { "x.sh", "cat <<EOF\nhdparm -S 12 /dev/sda\nEOF\nhdparm -S 13 /dev/sda\n", { "line 4", "\n        spindown_time = 13;" }, "12" },
        { "x.sh", "cat << 'A B' >x 2>&1 <<-\"B\"; true\nhdparm -S 12 /dev/sda\n\tA B\nA B\nhdparm -S 12 /dev/sda\n\tB\nhdparm -S 13 /dev/sda\n",
          { "line 7", "\n        spindown_time = 13;" }, "12" },
        { "x.sh", "cat <<< EOF\nhdparm -S 12 /dev/sda\n", { "\n        spindown_time = 12;" } },
        { "x.sh", "sudo sh -s <<EOF\nhdparm -S 12 /dev/sda\nEOF\n", { "\n        spindown_time = 12;" } },
        { "x.sh", "ssh nas sh <<EOF\nhdparm -S 12 /dev/sda\nEOF\n", { "it asks for nothing" }, "12" },
        { "x.sh", "cat <<EOF\nhdparm -S 12 /dev/sda\n", { "it asks for nothing" }, "12" },

        /* What is not known is named. */
        { "x.sh", "for d in $(ls /dev/sd?) `cat x`; do hdparm -S 12 $d; done\n", { "$(ls) is known only", "$(cat) is known only", DRIVE_OPEN } },
        { "x.sh", "d=$(ls /dev/sd? | head -n 1); hdparm -S 12 $d\n", { "$d is known only", DRIVE_OPEN } },
        { "x.sh", "hdparm -S 12 /dev/sd$((a+1))x\n", { "/dev/sd$(a+1)x is known only", DRIVE_OPEN } },

        /* And it is not passed over. */
        { "x.sh", "hdparm -B \"$1\" \"$2\"\n", { "// hdparm -B $1 $2", "the value of -B is known only", "$2 is known only" }, "{" },
        { "x.sh", "hdparm $OPTS /dev/sda\n", { "// hdparm $OPTS /dev/sda", "$OPTS is known only" }, "{" },
        { "x.sh", "hdparm -q $OPTS /dev/sda; smartctl $O $D\n", { "$OPTS is known only", "$O is known only" }, "{" },
        { "x.sh", "while read dev val; do hdparm -S $val $dev; done <x\n", { VALUE_OPEN, "$dev is known only" }, "{" },
        { "x.sh", "smartctl -l scterc,$T,$T $D\n", { "// smartctl -l scterc,$T,$T $D", "$D is known only" }, "{" },
        { "x.sh", "nvme set-feature $N -f 6 -v $V\n", { "// nvme set-feature $N", "known only" }, "{" },
        { "x.sh", "sdparm --set WCE=$W $DEV\n", { "// sdparm --set WCE=$W $DEV", "known only" }, "{" },
        { "x.sh", "hdparm -I $1; smartctl -a $1; blockdev --getsz $1; nvme list $1; sdparm --get WCE /dev/sg2\n", { "of another kind" }, "hdparm" },
        { "x.sh", "$HDPARM -B 127 /dev/sda\n", { "which program $HDPARM is", "// match = \"/dev/sda\";", "// apm = 127;" } },
        { "x.sh", "H=$(which hdparm); ${HDPARM:-/sbin/hdparm} -B 127 /dev/sda\n", { "\n        match = \"/dev/sda\";", "\n        apm = 127;" } },
        { "x.sh", "eval \"hdparm -B 127\" /dev/sda; echo hdparm -W1 /dev/sda | sh\n", { "\n        apm = 127;", "\n        write_cache = true;" } },
        { "x.sh", "trap 'hdparm -y /dev/sda' EXIT; echo \"hdparm -y /dev/sda\" | at now\n",
          { "// trap … hdparm -y /dev/sda: drivekeep does not", "// at … hdparm -y /dev/sda: drivekeep does not" }, "{" },

        /* What runs elsewhere is not for the drives here. */
        { "x.sh", "ssh nas sudo hdparm -S 12 /dev/sda; hdparm -S 13 /dev/sda\n", { "// ssh … hdparm: drivekeep does not read", "\n        spindown_time = 13;" }, "= 12" },
        { "x.sh", "docker exec x sh -c 'hdparm -S 12 /dev/sda'\n", { "// docker … hdparm -S 12 /dev/sda: drivekeep does not" }, "{" },
        { "x.sh", "ssh nas 'hdparm --security-unlock hunter2 /dev/sda'\n", { "// ssh … hdparm --: drivekeep does not" }, "hunter2" },
        { "x.sh", "ssh nas reboot; chroot /mnt ls\n", { "it asks for nothing" }, "does not read" },

        /* Nodes. */
        { "x.sh", "for n in /dev/nvme[0-9]; do nvme set-feature $n -f 6 -v 0; done\n", { "match = \"/dev/nvme[0-9]n*\";", "write_cache = false;" } },
        { "x.sh", "nvme set-feature /dev/nvme0n[1-9] -f 6 -v 0\n", { "match = \"/dev/nvme0n[1-9]\";" } },
        { "x.sh", "sdparm --set WCE=1 /dev/sg2\n", { "/dev/sg2 is a drive's node of another kind", "// match", "// write_cache = true;" } },

        /* Units. */
        { "a.service", "[Service]\nExecStart=/sbin/hdparm $OPTS ${DISK}\nEnvironment=\"OPTS=-S 12\" 'DISK=/dev/sda'\nEnvironment=A=b\n",
          { "line 2", "\n        match = \"/dev/sda\";", "\n        spindown_time = 12;" } },
        { "a.service", "[Service]\nEnvironment=\"OPTS=-S 12\"\nEnvironmentFile=-/etc/default/x\nExecStart=/sbin/hdparm $OPTS /dev/sda\n",
          { "line 4", "$OPTS is known only" }, "{" },
        { "a.service", "[Service]\nExecStart=/bin/sh -c 'for d in /dev/sd?; do hdparm -W0 $$d; done; printf %%s bfq >/sys/block/sda/queue/scheduler'\n",
          { "\n        match = \"/dev/sd?\";", "\n        write_cache = false;", "\n        scheduler = \"bfq\";" } },
};
/* clang-format on */

START_TEST(test_written) {
        check_written(&cases[_i]);
}
END_TEST

int main(void) {
        Suite *s = suite_create("import-shell");
        TCase *t = tcase_create("import-shell");

        tcase_add_loop_test(t, test_written, 0, ELEMENTSOF(cases));
        suite_add_tcase(s, t);

        return suite_run(s);
}
