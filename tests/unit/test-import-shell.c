/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Imports shell scripts. An unconditional command becomes a rule. Any other command becomes a comment with a reason. */

#include "suite.h"
#include "written-case.h"

#define S12 "\n        spindown_time = 12;"
#define COMMENTED(line) ": line " line " decides whether the command runs"
#define NOWHERE "//     match = \"/dev/disk/by-id/NAME-OF-THE-DRIVE\";"
#define NOTHING "the file sets nothing"
#define DRIVE_OPEN "is known only when the command runs", NOWHERE, "//     spindown_time = 12;"
#define UNKNOWN "an unknown program may run hdparm"

/* clang-format off */
static const WrittenCase cases[] = {
        /* The import splits words, quotes and lines in the same way as a shell. */
        { "x.sh", "# hdparm -S 99 /dev/sda\nhdparm \\\n -S 12 \\\n '/dev/sda' # x\n", { "{ // line 2", "match = \"/dev/sda\";", S12 }, "99" },
        { "x.sh", "hdparm -S 12 /dev/sd{ab,}\n", { "( \"/dev/sdab\", \"/dev/sd\" )", S12 } },
        { "x.sh", "echo a | xargs -I{} hdparm -S 12 /dev/{}\n", { UNKNOWN }, "{\n" },
        { "x.sh", "[ \"$1\" = x ] && echo bfq |& tee /sys/block/sda/queue/scheduler\n", { "line 1 decides" }, "\n        match" },
        { "x.sh", "hdparm -S 12 /dev/sd{a,b}; hdparm -S 12 /dev/sd{c..$x}\n", { "( \"/dev/sda\", \"/dev/sdb\" )", S12, "the drive \"/dev/sd{c..$x}\" is", NOWHERE } },
        { "x.sh", "for d in /dev/sd{a..c}; do hdparm -S 12 $d; done\n", { "( \"/dev/sda\", \"/dev/sdb\", \"/dev/sdc\" )", S12 } },
        { "x.sh", "for i in {c..a}; do hdparm -S 12 /dev/sd$i; done; for n in {0..1} 7; do echo bfq > /sys/block/nvme${n}n1/queue/scheduler; done\n",
          { "( \"/dev/sdc\", \"/dev/sdb\", \"/dev/sda\" )", S12, "( \"/dev/nvme0n1\", \"/dev/nvme1n1\", \"/dev/nvme7n1\" )" } },
        { "x.sh", "hdparm -S 12 /dev/disk/by-id/{ata,usb}-X{09..10}\n", { "ata-X09\"", "usb-X09\"", "ata-X10\"", "usb-X10\"", S12 } },
        { "x.sh", "echo 1 > /sys/block/sd{a,b}/queue/iostats; hdparm -S 12 /dev/sd{a..e..2}; hdparm -S 12 /dev/sd{A..c}; hdparm -S 12 /dev/x{1..200}\n",
          { "\n        iostats = true;", "{a..e..2}\" is known", NOWHERE, "{A..c}", NOWHERE, "x{1..200}\"" } },
        { "x.sh", "sudo nice -n 5 /sbin/hdparm -S 12 \"/dev/sda\" 2>/dev/null >&2 &\n", { "match = \"/dev/sda\";", S12 } },
        { "x.sh", "sh -c \"hdparm -S 12 /dev/sda\"; bash -lc 'hdparm -B 254 /dev/sda'\n", { S12, "\n        apm = 254;" } },
        { "x.sh", "bash -o pipefail -e -c 'echo bfq | tee /sys/block/sda/queue/scheduler'\n", { "\n        scheduler = \"bfq\";" } },
        { "x.sh", "sh script.sh -c 'hdparm -S 12 /dev/sda'; echo hdparm -S 12 /dev/sda; which hdparm smartctl; apt install hdparm; systemctl enable hdparm --now\n",
          { "line 1: not understood: sh script.sh -c hdparm -S 12 /dev/sda\n\n);" } },
        { "x.sh", "doas -u root env A=1 timeout -s KILL 9 busybox ionice -c idle hdparm -S 12 /dev/sda\nS=\"\"; $S systemd-run hdparm -B 254 /dev/sda\n",
          { S12, "\n        apm = 254;" } },
        { "x.sh", "hdparm -B {1,254} /dev/sda\n", { "the drive \"{1,254}\" is" }, "\n        match" },
        { "x.sh", "sh -c '/sbin/hdparm -S 12 /dev/sd{a,b}'\nsh -c '{ echo a,b; exit; }'\n", { "( \"/dev/sda\", \"/dev/sdb\" )", S12 } },
        { "x.sh", "sh -c '{ echo a,b; exit; }; hdparm -S 12 /dev/sda'\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "echo hdparm -S 12 /dev/sda | sh\n", { S12 } },

        /* Variables with plain values, and `for` loops over plain words, are expanded. */
        { "x.sh", "D=/dev/sda\nO=\"-S 12 -B 254\"; hdparm $O \"${D}\"\n", { "match = \"/dev/sda\";", S12, "\n        apm = 254;" } },
        { "x.sh", "export T=12; readonly D=/dev/sda; hdparm -S $T $D\n", { S12 } },
        { "x.sh", "T=60; hdparm -S $T /dev/sda; T=12; hdparm -S $T /dev/sdb\n", { "spindown_time = 60;", S12 } },
        { "x.sh", "D=\"sda sdb\"\nfor i in $D; do hdparm -S 12 /dev/${i}; done\n", { "( \"/dev/sda\", \"/dev/sdb\" )", S12 } },
        { "x.sh", "for i in /dev/sda /dev/sdb\ndo\n echo 60 > /sys/block/${i##*/}/device/timeout\ndone\n", { "\"/dev/$i\" is known only when the command runs", "//     timeout = \"60s\";" } },
        { "x.sh", "for i in sda; do f=/sys/block/$i/queue; echo bfq > $f/scheduler; done\n", { "match = \"/dev/sda\";", "scheduler = \"bfq\";" } },
        { "x.sh", "for d in /dev/sd?; do hdparm -S 12 $d; done\n", { "match = \"/dev/sd?\";", S12 } },
        { "x.sh", "for d in sda sdb; do sh -c \"hdparm -S 12 /dev/$d\"; done\n", { "( \"/dev/sda\", \"/dev/sdb\" )", S12 } },
        { "x.sh", "for n in 60 120; do hdparm -S $n /dev/sda; done\n", { "hdparm -S is not understood" }, "\n        match" },
        { "x.sh", "for d in sda sdb; do a; done; hdparm -S 12 /dev/$d\n", { "\"/dev/$d\"", "//     spindown_time" }, "\n        match" },
        { "x.sh", "for d in sda sdb; do D=/dev/$d; done; hdparm -S 12 $D\n", { "is known only when the command runs", "//     spindown_time" }, "\n        match" },
        { "x.sh", "for d in sd{a,b} sdc; do hdparm -S 12 /dev/$d; done\n", { "( \"/dev/sda\", \"/dev/sdb\", \"/dev/sdc\" )", S12 } },
        { "x.sh", "D=sda; i=0; for n in 1; do i=$((i+1)); done; hdparm -S 12 /dev/$D\n", { "match = \"/dev/sda\";", S12 } },
        { "x.sh", "for a in sda sdb; do for b in x; do c; done; hdparm -S 12 /dev/$a; break; done\n", { DRIVE_OPEN }, "\n        match" },
        { "x.sh", "for a in sda; do for b in sdb sdc; do hdparm -S 12 /dev/$a /dev/$b; done; done\n", { "( \"/dev/sda\", \"/dev/sdb\", \"/dev/sdc\" )", S12 } },

        /* Commands with values or drives that are known only when the script runs become comments. */
#define VALUE_OPEN "the value of hdparm -S is known only when the command runs"
        { "x.sh", "for d in $(ls /dev/sd?) `cat x`; do hdparm -S 12 $d; done\n", { "\"$d\"", DRIVE_OPEN } },
        { "x.sh", "hdparm -S 12 /dev/$1; hdparm -S 12 $(cat x)\n", { "\"/dev/$1\"", DRIVE_OPEN } },
        { "x.sh", "while read d; do hdparm -S 12 $d; done <x\n", { "\"$d\"", DRIVE_OPEN } },
        { "x.sh", "D=(/dev/sda /dev/sdb); for d in \"${D[@]}\"; do hdparm -S 12 $d; done\n", { DRIVE_OPEN }, "sda" },
        { "x.sh", "T=60; read -r T; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; unset T; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; T+=0; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; let T=12; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "A=(hdparm -S 12 /dev/sda); \"${A[@]}\"\n", { "not understood: $A" }, "{" },
        { "x.sh", "T=60; ((T++)); hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; : $((T++)); hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; : $((--T)); hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; . ./x; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; eval T=12; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60 true; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; if on_ac_power; then T=12; fi; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; on_ac_power || T=12; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; IFS= read -r T; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; readarray T <x; hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; : $((T=12)); hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "T=60; (T=12); hdparm -S $T /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "select D in /dev/sda /dev/sdb; do hdparm -S 12 $D; done\n", { "\"$D\"", DRIVE_OPEN }, "\n        match" },
        { "x.sh", "f() { T=12; }\nT=60; ( T=12 ); f; hdparm -S ${T} /dev/sda\n", { VALUE_OPEN }, "{" },
        { "x.sh", "hdparm -S ${T:-12} /dev/sda; hdparm -S $((6+6)) /dev/sda\n", { "line 1: " VALUE_OPEN }, "{" },
        { "x.sh", "hdparm $OPTS -W0 /dev/sda\n", { "\"$OPTS\" is", NOWHERE } },
        { "x.sh", "smartctl -l scterc,$T,$T /dev/sda; nvme set-feature /dev/nvme0 -f 6 -v $V; sdparm --set WCE=$W /dev/sda\n",
          { "scterc are known only", "-f 6 -v $V is not", "WCE=$W" }, "{" },
        { "x.sh", "echo $S > /sys/block/sda/queue/scheduler; cat f > /sys/block/sda/queue/scheduler\n", { "the value of scheduler is known only" }, "{" },

        /* Commands in branches and functions and after "&&" and "||" become comments. */
        { "x.sh", "if on_ac_power; then hdparm -S 12 /dev/sda; else hdparm -S 6 /dev/sda; fi\n",
          { COMMENTED("1"), "//     spindown_time = 12;", COMMENTED("1"), "//     spindown_time = 6;" }, "\n        match" },
        { "x.sh", "if a; then b; fi\ncase $1 in\npost|resume) hdparm -S 12 /dev/sda;;\nesac\nhdparm -B 254 /dev/sda\n",
          { COMMENTED("2"), "match = \"/dev/sda\"", "//     spindown_time = 12;", "\n        apm = 254;" } },
        { "x.sh", "while true; do hdparm -S 12 /dev/sda; done; until a; do hdparm -S 6 /dev/sda; done\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "f() {\n hdparm -S 12 /dev/sda\n}\nf\nfunction g {\nhdparm -S 6 /dev/sdb\n}\n", { COMMENTED("1"), COMMENTED("5") }, "\n        match" },
        { "x.sh", "f(){ hdparm -S 12 /dev/sda; }\nfunction g(){\nhdparm -S 12 /dev/sda\n}\nh (){ a; }\nhdparm -B 254 /dev/sda\n",
          { COMMENTED("1"), COMMENTED("2"), "\n        apm = 254;" }, "\n        spindown" },
        { "x.sh", "a && hdparm -S 12 /dev/sda\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "a && { b; hdparm -S 12 /dev/sda; }\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "a || ( hdparm -S 12 /dev/sda )\nhdparm -B 254 /dev/sda\n", { COMMENTED("1"), "\n        apm = 254;" } },
        { "x.sh", "hdparm -C /dev/sda | grep -q x && sh -c 'hdparm -S 12 /dev/sda'\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "hdparm -B 254 /dev/sda\nexec 2>/dev/null\nhdparm -A1 /dev/sda\nexec hdparm -S 12 /dev/sda\nhdparm -W0 /dev/sda\n",
          { "\n        apm = 254;", "\n        lookahead = true;", S12, COMMENTED("4"), "//     write_cache" } },
        { "x.sh", "if [ ! -x /sbin/hdparm ]; then a; else\nexit; fi\nhdparm -S 12 /dev/sda\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "for d in sda sdb; do\nif [ -b /dev/$d ]; then\nhdparm -S 12 /dev/$d\nbreak\nfi\ndone\n", { "\"/dev/$d\"", DRIVE_OPEN }, "\n        match" },
        { "x.sh", "for d in sda sdb; do\na && continue\nhdparm -S 12 /dev/$d\ndone\nhdparm -B 254 /dev/sda\n",
          { COMMENTED("2"), "//     spindown_time = 12;", "\n        apm = 254;" } },
        { "x.sh", "[ \"$1\" = start ] || exit 0\nfor d in sda; do\na && continue\ndone\nhdparm -B 254 /dev/sda\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "log() {\n [ -n \"$QUIET\" ] && return\n echo \"$1\"\n}\nhdparm -S 12 /dev/sda\n", { S12 } },
        { "x.sh", "if a; then\nreturn\nfi\nhdparm -S 12 /dev/sda\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "die() {\n exit\n}\na || die\nhdparm -S 12 /dev/sda\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "case $1 in\nfi) a;; done) hdparm -S 12 /dev/sda;;\nesac\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "time for d in $L; do hdparm -S 12 /dev/sda; done\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "f ( ) {\n a\n hdparm -S 12 /dev/sda\n}\nfunction g () {\n hdparm -S 12 /dev/sda\n}\n", { COMMENTED("1"), COMMENTED("5") }, "\n        match" },
        { "x.sh", "\non_ac_power || exit 0\nhdparm -S 12 /dev/sda\n", { COMMENTED("2") }, "\n        match" },
        { "x.sh", "hdparm -B 254 /dev/sda\nexit 0\nhdparm -S 12 /dev/sda\n", { "\n        apm = 254;", COMMENTED("2"), "//     spindown" } },
        /* If a command sets the kernel's timeout after smartctl -l scterc has failed, the command becomes
         * error_recovery_fallback_timeout. */
#define FALLBACK "\n        error_recovery = \"7s\";\n        error_recovery_fallback_timeout = \"180s\";\n    },\n\n);"
        { "x.sh", "smartctl -l scterc,70,70 /dev/sda ||\necho 180 > /sys/block/sda/device/timeout\n", { "match = \"/dev/sda\";" FALLBACK } },
        { "x.sh", "for d in sda sdb; do smartctl -q errorsonly -l scterc,70,70 /dev/$d || echo 180 > /sys/block/$d/device/timeout; done\n", { "( \"/dev/sda\", \"/dev/sdb\" );" FALLBACK } },
        { "x.sh", "for i in /dev/sd? ; do\n if smartctl -l scterc,70,70 $i > /dev/null ; then\n echo good\n else\n echo 180 > /sys/block/${i/\\/dev\\/}/device/timeout\n echo bad\n fi ;\n smartctl -i $i | egrep x\ndone\n",
          { "match = \"/dev/sd?\";" FALLBACK } },
        { "x.sh", "if ! smartctl -l scterc,70,70 /dev/sda; then echo 180 | tee /sys/block/sda/device/timeout; fi\n", { "match = \"/dev/sda\";" FALLBACK } },
        { "x.sh", "! smartctl -l scterc,70,70 /dev/sda && { echo bad; echo 180 > /sys/block/sda/device/timeout; }\n", { "match = \"/dev/sda\";" FALLBACK } },
        { "x.sh", "for d in $(list); do smartctl -l scterc,70,70 $d || echo 180 > /sys/block/${d##*/}/device/timeout; done\n",
          { NOWHERE, "//     error_recovery = \"7s\";\n    //     error_recovery_fallback_timeout = \"180s\";" }, "\n        match" },
        { "x.sh", "smartctl -l scterc,70,70 /dev/sda && echo 30 > /sys/block/sda/device/timeout\nsmartctl -l scterc,70,70 /dev/sdb || a || echo 30 > /sys/block/sdb/device/timeout\n",
          { "error_recovery = \"7s\";", COMMENTED("1"), "//     timeout = \"30s\";", COMMENTED("2"), "//     timeout = \"30s\";" }, "fallback" },
        { "x.sh", "smartctl -l scterc,70,70 /dev/sda || echo 90 > /sys/block/sdb/device/timeout; echo 60 > /sys/block/sdc/device/timeout\n",
          { "error_recovery = \"7s\";", COMMENTED("1"), "match = \"/dev/sdb\";", "//     timeout = \"90s\";", "\n        timeout = \"60s\";" }, "fallback" },

        /* A command that runs only if the program or the drive exists is imported without a condition. */
        { "x.sh", "[ -x /sbin/hdparm ] && hdparm -S 12 /dev/sda\n", { S12 } },
        { "x.sh", "test -x /usr/sbin/hdparm || exit 0\nhdparm -S 12 /dev/sda\n", { S12 } },
        { "x.sh", "if [ ! -x /sbin/hdparm ]; then\nexit 1\nfi\nhdparm -S 12 /dev/sda\n", { S12 } },
        { "x.sh", "if command -v hdparm >/dev/null 2>&1; then hdparm -S 12 /dev/sda; fi\n", { S12 } },
        { "x.sh", "if [ -b /dev/sda ]; then hdparm -S 12 /dev/sda; elif [ -b /dev/sdb ]; then hdparm -B 254 /dev/sda; fi\n",
          { S12, COMMENTED("1"), "//     apm = 254;" } },
        { "x.sh", "[ -L /dev/disk/by-id/ata-X ] && hdparm -S 12 /dev/disk/by-id/ata-X\n[ -d /sys/class/block/sda ] && hdparm -B 254 /dev/sda\n",
          { S12, "\n        apm = 254;" }, "decides" },
        { "x.sh", "[ -e /dev/nvme0 ] && nvme set-feature /dev/nvme0 -f 6 -v 1\n", { "match = \"/dev/nvme0n*\";", "\n        write_cache = true;" }, "decides" },
        { "x.sh", "for d in sda sdb; do [ -b /dev/$d ] || continue; hdparm -S 12 /dev/$d; done\n", { "( \"/dev/sda\", \"/dev/sdb\" )", S12 }, "decides" },
        { "x.sh", "if [ -b /dev/sda ]; then hdparm -S 12 /dev/sda; fi; hdparm -B 254 /dev/sdb\n", { S12, "\n        apm = 254;" }, "decides" },
        { "x.sh", "[ -b /dev/sda ] && hdparm -S 12 /dev/sda; { [ -b /dev/sdc ]; }; hdparm -B 254 /dev/sdb\n", { S12, "\n        apm = 254;" }, "decides" },
        { "x.sh", "([ -b /dev/sda ] || exit; hdparm -S 12 /dev/sda); hdparm -B 254 /dev/sdb\n", { S12, "\n        apm = 254;" }, "decides" },
        /* A command that runs only if another drive exists becomes a comment. If a command tests a link, but names its
         * drive without this link, it also becomes a comment, since the link may lead to any drive. */
        { "x.sh", "[ -b /dev/sdb ] && hdparm -S 12 /dev/sda\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "[ -L /dev/disk/by-id/ata-X ] && [ -d /sys/class/block/sda ] && hdparm -S 12 /dev/sda\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "[ -b /dev/sdb ] && { hdparm -B 254 /dev/sdb; hdparm -S 12 /dev/sda; }\nhdparm -A1 /dev/sda\n",
          { "\n        apm = 254;", COMMENTED("1"), "//     spindown_time = 12;", "\n        lookahead = true;" } },
        { "x.sh", "\nif [ -b /dev/sda ] && test -e /dev/sdb\nthen\nhdparm -S 12 /dev/sda\nfi\n", { COMMENTED("2") }, "\n        match" },
        { "x.sh", "[ -b /dev/sdb ] || exit 0\nhdparm -B 254 /dev/sdb\nhdparm -S 12 /dev/sda\n", { "\n        apm = 254;", COMMENTED("1"), "//     spindown_time = 12;" } },
        { "x.sh", "if [ ! -b /dev/sdb ]; then exit 1; fi\nhdparm -S 12 /dev/sda\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "if [ -b /dev/sdb ]; then a; else exit 1; fi\nhdparm -S 12 /dev/sda\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "f() {\n[ -b /dev/sdb ] || return\na\n}\nhdparm -S 12 /dev/sda\n", { S12 }, "decides" },
        { "x.sh", "[ -e /sys/block/sdb ] && sh -c 'hdparm -S 12 /dev/sda'\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "[ -e /sys/block/sdb ] && echo bfq > /sys/block/sda/queue/scheduler\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "if which hdparm; then a; elif which sdparm; then b; else exit 1; fi\nhdparm -S 12 /dev/sda\n", { S12 } },
        { "x.sh", "if [ ! -b /dev/sda ]; then a; elif [ -n \"$1\" ]; then exit; fi\nhdparm -S 12 /dev/sda\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "[ -e /run/mains ] && hdparm -S 12 /dev/sda\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "! command -v x && hdparm -S 12 /dev/sda\n", { COMMENTED("1") }, "\n        match" },

        { "x.sh", "a && [ -x /sbin/hdparm ] && hdparm -S 12 /dev/sda\na && for d in sda; do hdparm -B 254 /dev/$d; done\n", { COMMENTED("1"), COMMENTED("2") }, "\n        match" },
        { "x.sh", "[ -x /bin/a -a $1 = b ] && hdparm -S 12 /dev/sda\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "command -v hdparm &>/dev/null || { echo; exit 1; }\nwhich hdparm || (echo; exit 1)\nhdparm -S 12 /dev/sda\n", { S12 } },
        { "x.sh", "if [ -x /sbin/hdparm ]; then exit 0; fi\nhdparm -S 12 /dev/sda\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "D=sda; (a # :)\nhdparm -S 12 /dev/$D\ncase\t$1 in a) b;; (c) exit;; esac)\nhdparm -B 254 /dev/sda\n",
          { S12, COMMENTED("3"), "//     apm = 254;" } },
        { "x.sh", "( a \\)\n exit\n hdparm -B 254 /dev/sda )\nhdparm -S 12 /dev/sda\n", { COMMENTED("2"), "//     apm = 254;", S12 } },
        { "x.sh", "( (sleep 60; hdparm -S 12 /dev/sda) & )\n", { S12 } },
        { "x.sh", "X=$(a \"\\\"\" \\) # it's )\nb)\nhdparm -S 12 /dev/sda\n", { "{ // line 3", S12 } },
        { "x.sh", "(sleep 9; hdparm -S 12 /dev/sda) &\na && (case b in c) d;; esac\nhdparm -B 254 /dev/sda)\n", { S12, COMMENTED("2") }, "\n        apm" },

        /* A setting is commented out if a later command may set another value on some of its drives. The later command
         * becomes a comment, too. */
#define EXCEPTION(line) "line " line ", which is not imported, may set another value for some of these drives"
        { "x.sh", "for d in /dev/sd?; do hdparm -S 12 -B 254 $d; done\nhdparm -S 0 $(slow)\n", { "\n        match = \"/dev/sd?\"", "// spindown_time = 12; // " EXCEPTION("2"), "apm = 254;", NOWHERE } },
        { "x.sh", "hdparm -S 12 /dev/sda /dev/sdb\na && hdparm -S 0 /dev/sdb\n", { "// spindown_time = 12; // " EXCEPTION("2") }, "\n        match" },
        { "x.sh", "hdparm -S 12 /dev/sda\na && hdparm -S 0 /dev/disk/by-id/ata-X\n", { EXCEPTION("2") }, "\n        match" },
        { "x.sh", "hdparm -S 12 /dev/sda\na && hdparm -S 0 /dev/sdb\na && hdparm -S 12 /dev/sda\n", { "\n        spindown_time = 12;" }, "may apply to some" },
        { "x.sh", "hdparm -S 0 $X; hdparm -S 12 /dev/sda\n", { NOWHERE, "\n        match = \"/dev/sda\";" } },

        /* All commands after "<<" are commented out, since the import does not look for the end of a here-document. */
        { "x.sh", "hdparm -B 254 /dev/sda\ncat <<EOF\nhdparm -S 6 /dev/sda\nfi\n}\nEOF\nhdparm -S 12 /dev/sda\n",
          { "\n        apm = 254;", COMMENTED("2"), "//     spindown_time = 6;", COMMENTED("2"), "//     spindown_time = 12;" } },
        { "x.sh", "if a; then\ncat <<A\n\tA\nhdparm -S 6 /dev/sda\nA\nfi\nhdparm -S 12 /dev/sda\n", { COMMENTED("1"), COMMENTED("1") }, "\n        match" },
        { "x.sh", "sudo sh <<EOF\nhdparm -S 12 /dev/sda\nEOF\n", { COMMENTED("1"), "//     spindown_time = 12;" }, "\n        match" },
        { "x.sh", "while read a; do b; done <<EOF\nhdparm -S 12 /dev/sda\nEOF\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "sh <<<x; hdparm -S 12 /dev/sda\n", { S12 } },
        { "x.sh", "echo bfq | sed s/b/c/ | tee /sys/block/sda/queue/scheduler\n", { "the value of scheduler is known only" }, "{" },

        /* Commands that run on another machine, in a container, or at a later time are not imported. */
        { "x.sh", "ssh nas sudo hdparm -S 6 /dev/sda; hdparm -S 12 /dev/sda\n", { UNKNOWN, S12 }, "= 6" },
        { "x.sh", "docker exec x sh -c 'hdparm -S 6 /dev/sda'; eval 'hdparm -S 6 /dev/sda'\n",
          { "not understood: docker exec x sh -c hdparm", "not understood: eval hdparm" }, "{" },
        { "x.sh", "sudo -E pdsh -w nas hdparm -S 6 /dev/sda\n", { UNKNOWN }, "{" },
        { "x.sh", ": hdparm -S 6 /dev/sda\n", { UNKNOWN }, "{" },
        { "x.sh", "echo hdparm -S 6 /dev/sda | ssh nas sh\n", { "line 1: not understood (arguments not shown): ssh" }, "{" },
        { "x.sh", "trap 'hdparm -S 6 /dev/sda' EXIT; echo hdparm -S 6 /dev/sda | at now; eval hdparm -S 6 /dev/sda\n", { UNKNOWN }, "{" },
        { "x.sh", "$RUN nas hdparm -S 12 /dev/sda\n", { UNKNOWN }, "{" },
        { "x.sh", "ssh nas reboot; chroot /mnt ls\n", { ": ssh", ": chroot" }, "{" },

        /* "The file sets nothing" appears only if all commands are understood. */
        { "x.sh", "echo /dev/sda\nmount /dev/sda1 /mnt\nsleep 5; logger done\n[ -e /dev/sdb ] && exit 0\nf() { true; }\nf\n", { NOTHING } },
        { "x.sh", "case $1 in\nstart|restart) echo a;;\n(stop) true ;;&\nif) date\n;;\nesac\n", { NOTHING } },
        { "x.sh", "case $1 in x) hdparm -S 12 /dev/sda;; y) case $2 in z) hdparm -B 1 /dev/sda; esac; hdparm -W 0 /dev/sda;; esac; hdparm -A 1 /dev/sda\n",
          { "//     spindown_time = 12", "//     apm = 1;", "//     write_cache", "\n        lookahead = true;" } },
        { "x.sh", "/usr/local/bin/disks --quiet\nset-timers hunter2\n/usr/local/bin/disks --quiet\n",
          { "lines 1, 3: not understood (arguments not shown): /usr/local/bin/disks", "line 2:" }, "hunter2" },
        { "x.sh", "disks /dev/sda\nidle3ctl -s 138 /dev/sdb\n", { "line 1: not understood: disks /dev/sda", "line 2: idle3ctl -s changes the drive permanently" } },
        { "x.sh", "idle3ctl -g /dev/sdb; idle3ctl -h; hd-idle -h; hd-idle --version; hdparm -V; hdparm -h -S 12 /dev/sda; smartctl --version; smartctl -h -s apm,1 /dev/sda; "
          "sdparm -V; sdparm --dummy -s WCE=0 /dev/sda; blockdev --help; openSeaChest_PowerControl -d /dev/sda --showEPCSettings; nvme version\n", { NOTHING } },
        { "x.sh", "sed -i s/a/b/ /sys/block/sda/queue/scheduler; dd of=/sys/block/sda/queue/scheduler\n", { "not understood: sed -i", "not understood: dd of" } },
        { "x.sh", "find /dev/disk/by-id -name 'ata-*' -exec hdparm -S 12 {} \\;\n", { "not understood: find" } },
        { "x.sh", "X=$(hdparm -S 12 /dev/sda)\nY=`hdparm -C /dev/sda`\necho \"$(cat x)\"\n", { "\n        match = \"/dev/sda\";", S12 }, "not understood" },
        { "x.sh", "X=$(( 1 + $(hdparm -S 12 /dev/$d) ))\n", { DRIVE_OPEN } },
        { "x.sh", "cat >/etc/motd <<EOF\nWelcome to nas.\n  disks: 4\nEOF\nhdparm -S 12 /dev/sda\n", { "line 1: not understood: the text after << has no end line", COMMENTED("1") }, "Welcome" },
        { "x.sh", "mailer $(disks /dev/sdb)\n", { "not understood: disks /dev/sdb" } },

        /* Commands of hd-idle and openSeaChest are imported. Options that drivekeep cannot translate are listed in
         * comments. */
        { "x.sh", "hd-idle -i 0 -a sda -i 300 -l /var/log/x\n", { "match = \"/dev/sda\";\n        spindown_by = \"service\";\n        spindown_time = \"300s\";" }, "rotational" },
        { "x.sh", "hd-idle -i 600 -a $D -i 0\n", { "the drives of hd-idle -a", NOWHERE, "600s", NOWHERE, "\"off\"" }, "\n        match" },
        { "x.sh", "hd-idle $HD_IDLE_OPTS; hd-idle -t sda; hd-idle -x 3\n",
          { "hd-idle's options are known only when hd-idle runs: hd-idle $HD_IDLE_OPTS", "hd-idle -t acts once", "hd-idle rejects: -x" }, "{" },
        { "x.sh", "openSeaChest_PowerControl -d /dev/sda --idle_b 120000 --standby_z 1800050 --EPCfeature enable --idle_a disable\n",
          { "match = \"/dev/sda\";", "idle_b = \"120s\";", "standby_z = \"1800s\";", "epc", "idle_a = \"off\";" } },
        { "x.sh", "for d in sda sdb; do /opt/SeaChest_PowerControl_x86_64 -d /dev/$d --standby_z default --setAPMLevel 3; done\n",
          { "--standby_z default is not translated", "match = ( \"/dev/sda\", \"/dev/sdb\" );", "apm = 3;" } },
        { "x.sh", "openSeaChest_PowerControl -d /dev/sda --disableAPM; openSeaChest_PowerControl -d /dev/sdb --setPowerConsumption 3\n",
          { "--setPowerConsumption of openSeaChest", "match = \"/dev/sda\";", "apm = \"off\";" }, "/dev/sdb" },
        { "x.sh", "openSeaChest_PowerControl -d all --modelMatch ST8 --idle_c 600000; openSeaChest_PowerControl -d /dev/sg1 --idle_c=600000; openSeaChest_PowerControl -d /dev/sda --onlySeagate --idle_c=600000\n",
          { "is not a drive node", NOWHERE, "which is not a block device", "--onlySeagate selects" }, "\n        match" },
        { "x.sh", "openSeaChest_PowerControl -d /dev/sda --spinDown; openSeaChest_Configure -d /dev/sda --writeCache disable\n", { "--spinDown acts once", "write_cache = false;" } },

        /* A command with an unclosed quote or substitution becomes a comment. If a script ends a block that never
         * began, the later commands become comments. */
        { "x.sh", "hdparm -S 12 /dev/sda; hdparm -B 254 `", { S12, "the drive", NOWHERE } },
        { "x.sh", "fi } ) done esac ;; else\nhdparm -S 12 /dev/sda\n", { COMMENTED("1") }, "\n        match" },
        { "x.sh", "hdparm -S 12 '/dev/sda\nhdparm -B 254 /dev/sdb\n", { "is not a drive name" }, "\n        match" },
        { "x.sh", "${HDPARM:-/sbin/hdparm} -S 12 /dev/sda; $HDPARM -B 254 /dev/sda\n", { S12, "\n        apm = 254;" } },
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
