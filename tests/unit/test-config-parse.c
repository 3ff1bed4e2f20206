/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config-dump.h"
#include "suite.h"

/* clang-format off */

static const struct {
        const char *text, *dump;
        Expected complaints[EXPECTED_MAX];
} files[] = {
        /* A complete example is read without a complaint. */
        { "drives = (\n"
          "  { match = { transport = \"sata\"; rotational = true; };     // a class\n"
          "    spindown_time = \"20min\"; lookahead = true; },\n"
          "  { match = \"/dev/disk/by-id/ata-ST2000DL003-*\";\n"
          "    acoustic_management = 128; read_ahead_kb = 512; },\n"
          "  { match = { model = \"WDC WD*EFRX*\"; serial = \"WD-WCC4*\"; };\n"
          "    apm = 254; error_recovery = \"7s\"; }\n"
          ");\n",
          "2: transport=sata rotational=true > spindown_time=20 min lookahead=on\n"
          "4: node=/dev/disk/by-id/ata-ST2000DL003-* > acoustic_management=128 read_ahead_kb=512 KiB\n"
          "6: model=WDC WD*EFRX* serial=WD-WCC4* > apm=254 error_recovery=7 s\n", {} },
        { "", "", {} },
        { "# nothing yet\n", "", {} },
        { "drives = ();", "", {} },

        /* Every form of a match is accepted. */
        { "drives = ({ match = {}; apm = 1 }, { match = [\"/dev/a\", \"/dev/b\"]; apm = 2 },\n"
          "{ match = (\"/dev/a\", \"/dev/b\",); apm = 3 },\n"
          "{ match = { model = [\"A\", \"B\"]; serial = \"C\"; ID_BUS = \"ata\"; removable = \"no\"; }; apm = 4 },\n"
          "{ match : { node : \"/dev/a\\x20b\", wwn : \"0x5\" }, apm : 5, })",
          "1: > apm=1\n1: node=/dev/a|/dev/b > apm=2\n2: node=/dev/a|/dev/b > apm=3\n"
          "3: model=A|B serial=C property:ID_BUS=ata removable=false > apm=4\n"
          "4: node=/dev/a\\x20b wwn=0x5 > apm=5\n", {} },
        { "drives = ({ match = { rotational = 1; removable = 0x0; }; apm = 1 })",
          "1: rotational=true removable=false > apm=1\n", {} },
        /* Some characters that are special in a shell or a regular expression are literal in drivekeep's globs. If the
         * user probably expects the special meaning, there is a warning. */
        { "drives = ({ match = \"/dev/sd{a,b}\"; apm = 1 },\n{ match = (\"/dev/sd[a-\", \"/dev/sd[ab]\"); apm = 2 },\n"
          "{ match = { model = [ \"a{b}\", \"a\\[\", \"b][\" ] }; apm = 3 })",
          "1: node=/dev/sd{a,b} > apm=1\n2: node=/dev/sd[a-|/dev/sd[ab] > apm=2\n3: model=a{b}|a\\[|b][ > apm=3\n",
          { { 1, 21, 'w', "braces have no special meaning" } } },
        { "drives = ({ match = { model = \"A|B\"; }; apm = 1 },\n{ match = { model = \"A.*\"; }; apm = 2 },\n"
          "{ match = { model = \"A.B*\"; }; apm = 3 })",
          "1: model=A|B > apm=1\n2: model=A.* > apm=2\n3: model=A.B* > apm=3\n",
          { { 1, 31, 'w', "\"|\" has no special meaning" }, { 2, 21, 'w', "a glob, not a regular expression" } } },
        /* "!=" and "!" are reported as a negated match, and not as a missing "=". If the user wrote "=", the rule would
         * match the drives that the user wants to exclude. */
        { BROKEN("  { match = { model != \"X\"; }; apm = 2; }"), BROKEN_DUMP(""),
          { { 3, 21, 'e', "a match cannot be negated" } } },
        { BROKEN("  { match = { model = !\"X\"; }; apm = 2; }"), BROKEN_DUMP(""),
          { { 3, 23, 'e', "a match cannot be negated" } } },
        /* For match keys of lsblk and other programs, the complaint proposes drivekeep's key. "ssd" gets no proposal: it is the opposite of
         * rotational. */
        { "drives = ({ match = { bus = \"usb\"; }; apm = 1 },\n{ match = { name = \"sda\"; }; apm = 2 },\n"
          "{ match = { ssd = true; }; apm = 3 },\n{ match = sd*; apm = 4 }, { match = \"sd*\"; apm = 4 })", "",
          { { 1, 23, 'e', "did you mean \"transport\"?" }, { 2, 13, 'e', "did you mean \"node\"?" },
            { 3, 13, 'e', "the keys are node, model" }, { 4, 11, 'e', "in quotes" }, { 4, 37, 'e', "write \"/dev/sd*\"" } } },
        { "disks = ({ match = {}; apm = 1 });", "1! > apm=!\n", { { 1, 1, 'e', "did you mean \"drives\"?" } } },
        /* Every form of a value is accepted. */
        { "drives = ({ match = {}; write_cache = \"on\"; lookahead = 0; apm = \"off\"; spindown_time = 240;\n"
          "acoustic_management = 0x80; error_recovery = false; read_ahead_sect = 1024;\n"
          "scheduler = \"mq-\" \"deadline\";\n"
          "queue_depth = \"keep\"; timeout = \"1.5min\"; allow_dangerous = true })",
          "1: >> write_cache=on lookahead=off apm=off spindown_time=20 min acoustic_management=128 error_recovery=off "
          "read_ahead_kb=512 KiB scheduler=mq-deadline queue_depth=keep timeout=1 min 30 s\n", {} },

        /* A leading 0 does not make a number octal. Numbers beyond 32 or 64 bits are errors. */
        { "drives = ({ match = {}; apm = 010; queue_depth = 0xFFL; read_ahead_kb = 4294967296 },\n"
          "{ match = {}; apm = +1; lookahead = TRUE; read_ahead_kb = -1; queue_depth = 0x10000000000000000;\n"
          "acoustic_management = 9223372036854775807LL; scheduler = 99999999999999999999 })",
          "1: > apm=10 queue_depth=255 read_ahead_kb=!\n2: > apm=1 lookahead=on read_ahead_kb=! queue_depth=! "
          "acoustic_management=! scheduler=!\n",
          { { 1, 73, 'e', "4294967296 is out of range" }, { 2, 59, 'e', "-1 is out of range" },
            { 2, 77, 'e', "0x10000000000000000 is out of range" }, { 3, 23, 'e', "9223372036854775807LL is out of range" },
            { 3, 58, 'e', "\"99999999999999999999\" is not a valid value for scheduler, which takes a name" } } },
        /* Adjacent strings are joined. Escapes such as \x20, which udev uses in names, stay in the string. */
        { "drives = ({ match = { model = \"x\\x20y\"; serial = (\"a\\\\x20\\\"\", \"\\*\" # why\n \"c\",); };; apm = 1; },\n"
          "{; match = { vendor = [\"a\",\"b\",]; }, apm = 1,; })",
          "1: model=x\\x20y serial=a\\x20\"|\\*c > apm=1\n3: vendor=a|b > apm=1\n",
          { { 2, 2, 'w', "this string is joined to the previous one" } } },

        /* An invalid value affects only its setting. */
        { "drives = ({ match = {};\n apm = 300; queue_depth = 4294967424; lookahead = true;\n"
          " acoustic_management = 99999999999999999999;\n timeout = 30; spindown_time = 7.5; write_cache = \"maybe\";\n"
          " error_recovery = (7); scheduler = 1 })",
          "1: > apm=! queue_depth=! lookahead=on acoustic_management=! timeout=! spindown_time=! write_cache=! "
          "error_recovery=! scheduler=!\n",
          { { 2, 8,  'e', "300 is out of range for apm: 1...254, or off" },
            { 2, 27, 'e', "4294967424 is out of range for queue_depth: 1...1024" },
            { 3, 24, 'e', "99999999999999999999 is out of range for acoustic_management: 1...254, or off" },
            { 4, 12, 'e', "timeout needs a unit, in quotes: write \"30 s\"" },
            { 4, 32, 'e', "\"7.5\" is not a valid value for spindown_time, which takes \"5s\"...\"20min\"" },
            { 4, 51, 'e', "\"maybe\" is not a valid value for write_cache, which takes on or off" },
            { 5, 19, 'e', "not a group or a list" },
            { 5, 36, 'e', "\"1\" is not a valid value for scheduler" } } },
        /* For settings and values of other programs, the complaint proposes drivekeep's setting or value. */
        { "drives = ({ match = {};\n apm_level = 1; idle-time = \"1h\"; write_cache = \"enabled\"; apm = never; })",
          "1! > spindown_time=! write_cache=! apm=!\n",
          { { 2, 2, 'e', "unknown setting \"apm_level\"; did you mean \"apm\"?" },
            { 2, 17, 'e', "unknown setting \"idle-time\"; did you mean \"spindown_time\"?" },
            { 2, 49, 'e', "\"enabled\" is not a valid value for write_cache; did you mean \"on\"?" },
            { 2, 66, 'e', "\"never\" is not a valid value for apm; did you mean \"off\"?" } } },
        { "drives = ({ match = {};\n standby = \"10min\"; })", "1: > standby=!\n",
          { { 2, 12, 'e', "\"10min\" is not a valid value for standby; did you mean spindown_time = \"10min\"?" } } },
        { "drives = ({ match = {};\n standby = true; }, { match = {}; standby = \"often\"; }, { match = {}; standby = [ 1 ]; })",
          "1: > standby=on\n2: > standby=!\n2: > standby=!\n",
          { { 2, 45, 'e', "\"often\" is not a valid value for standby, which takes on or off" }, { 2, 81, 'e', "one value" } } },
        /* For a number without a unit, the complaint proposes only units that make the value valid. */
        { "drives = ({ match = {};\n latency = 100;\n error_recovery = 70;\n idle_a = \"100000\";\n timeout = 10; })",
          "1: > latency=! error_recovery=! idle_a=! timeout=!\n",
          { { 2, 12, 'e', "write \"100 us\", or \"10 ms\" for 100 steps of the drive" },
            { 3, 19, 'e', "write \"70 s\" or \"70 min\", or \"7 s\" for 70 steps of the drive" },
            { 4, 11, 'e', "idle_a needs a unit, in quotes: 1 ms...1 min, or off" },
            { 5, 12, 'e', "in quotes: write \"10 s\" or \"10 min\"" } } },
        { "drives = ({ match = {};\n runtime_pm = true; queue_depth = 3; })", "1: > runtime_pm=! queue_depth=3\n",
          { { 2, 15, 'e', "true could mean two values of runtime_pm: \"auto\" may, \"on\" never" } } },
        { "drives = ({ match = {};\n spindown_time = \"22min\";\n error_recovery = \"7.05s\"; })",
          "1: > spindown_time=30 min error_recovery=7.1 s\n",
          { { 2, 18, 'w', "cannot be exactly \"22min\"; it is set to 30 min" }, { 3, 19, 'w', "it is set to 7.1 s" } } },

        /* A syntax error breaks one block. The settings of this block are then left unchanged on its drives: values of
         * earlier blocks do not apply either. */
        { BROKEN("  { match = \"/dev/sda\"; apm = on; lookahead = yes; write_cache = OFF; }"),
          BROKEN_DUMP("3! node=/dev/sda > apm=! lookahead=! write_cache=!\n"),
          { { 3, 31, 'e', "\"on\" is not a valid value for apm, which takes 1...254, or off" }, { 3, 47, 'e', "write \"yes\"" },
            { 3, 66, 'e', "write \"OFF\"" } } },
        { BROKEN("  { match = \"/dev/sda\"; spindown_time = 20min; }"),
          BROKEN_DUMP("3! node=/dev/sda > spindown_time=!\n"), { { 3, 41, 'e', "write \"20min\"" } } },
        { BROKEN("  { match = \"/dev/sda\"; spindown_time = 20 min; apm = 3 }"),
          BROKEN_DUMP("3! node=/dev/sda > spindown_time=! apm=!\n"), { { 3, 44, 'e', "(\"20 min\")" } } },
        { BROKEN("  { match = \"/dev/sda\"; scheduler = mq-deadline; }"),
          BROKEN_DUMP("3! node=/dev/sda > scheduler=!\n"), { { 3, 37, 'e', "write \"mq-deadline\"" } } },
        { BROKEN("  { match = \"/dev/sda\"; scheduler = 'none'; }"),
          BROKEN_DUMP("3! node=/dev/sda > scheduler=!\n"), { { 3, 37, 'e', "straight double quotes" } } },
        { BROKEN("  { match = \"/dev/sda\"; scheduler = “none”; }"),
          BROKEN_DUMP("3! node=/dev/sda > scheduler=!\n"), { { 3, 37, 'e', "straight double quotes" } } },
        { BROKEN("  { match = \"/dev/sda\"; scheduler = “none; apm = '; }"),
          BROKEN_DUMP("3! node=/dev/sda > scheduler=! apm=!\n"),
          { { 3, 37, 'e', "straight double quotes" }, { 3, 50, 'e', "straight double quotes" } } },
        /* For a word without quotes, the complaint proposes quotes only if the word in quotes is a valid value. */
        { BROKEN("  { match = \"/dev/sda\"; apm = 12o; lookahead = maybe; timeout = keep; }"),
          BROKEN_DUMP("3! node=/dev/sda > apm=! lookahead=! timeout=!\n"),
          { { 3, 31, 'e', "\"12o\" is not a valid value for apm, which takes 1...254, or off" },
            { 3, 48, 'e', "\"maybe\" is not a valid value for lookahead" }, { 3, 65, 'e', "write \"keep\"" } } },
        { BROKEN("  { match = \"/dev/sda\"; apm 3; lookahead = true }"),
          BROKEN_DUMP("3! node=/dev/sda > apm=! lookahead=!\n"),
          { { 3, 25, 'e', "\"=\" is missing after \"apm\"" } } },
        { BROKEN("  { match = \"/dev/sda\"; apm = ; lookahead = true }"),
          BROKEN_DUMP("3! node=/dev/sda > apm=! lookahead=!\n"), { { 3, 25, 'e', "\"apm\" has no value" } } },
        { BROKEN("  { match = \"/dev/sda\"; apm = lookahead = true }"),
          BROKEN_DUMP("3! node=/dev/sda > apm=! lookahead=!\n"), { { 3, 25, 'e', "\"apm\" has no value" } } },
        { BROKEN("  { match = \"/dev/sda\"; apm = = 3 }"),
          BROKEN_DUMP("3! node=/dev/sda > apm=!\n"), { { 3, 31, 'e', "\"=\" is repeated here; delete one" } } },
        { BROKEN("  { match = \"/dev/sda\"; \"apm\" = 3 }"),
          BROKEN_DUMP("3! node=/dev/sda > apm=!\n"), { { 3, 25, 'e', "\"apm\" is not expected here; a setting has the form KEY = VALUE; without quotes around KEY" } } },
        /* An invisible byte in a name is reported once. */
        { BROKEN("  { match = \"/dev/sda\"; apm\u200b = 3 }"),
          BROKEN_DUMP("3! node=/dev/sda >\n"), { { 3, 28, 'e', "U+200B, a zero width space" } } },
        /* The complaint does not shorten the text that the user should write. */
        { BROKEN("  { match = /dev/disk/by-id/ata-WDC_WD40EFRX-68N32N0_WD-WCC7K0000000; apm = 3 }"),
          BROKEN_DUMP(""),
          { { 3, 13, 'e', "write \"/dev/disk/by-id/ata-WDC_WD40EFRX-68N32N0_WD-WCC7K0000000\"" } } },
        { BROKEN("  { match = \"/dev/sda\"; apm = 3; scheduler = \"none; }"),
          BROKEN_DUMP("3! node=/dev/sda > apm=! scheduler=!\n"),
          { { 3, 46, 'e', "closing quote" } } },
        { BROKEN("  { match = \"/dev/sda\"; apm = 3\"; }"),
          BROKEN_DUMP("3! node=/dev/sda > apm=!\n"),
          { { 3, 31, 'e', "or its closing quote is one too many" } } },
        { BROKEN("  { match = \"/dev/sda\"; apm = 3); lookahead = true }"),
          BROKEN_DUMP("3! node=/dev/sda > apm=! lookahead=!\n"), { { 3, 32, 'e', "\")\" is not expected after" } } },
        { BROKEN("  { match = \"/dev/sda\"; apm = (3; lookahead = true }"),
          BROKEN_DUMP("3! node=/dev/sda > apm=! lookahead=!\n"), { { 3, 31, 'e', "this list is not closed; write \")\" before \";\" in line 3" } } },
        { BROKEN("  { match = \"/dev/sda\"; apm = ((((((1)))))); lookahead = true }"),
          BROKEN_DUMP("3! node=/dev/sda > apm=! lookahead=!\n"), { { 3, 31, 'e', "contains something other than values" } } },
        { BROKEN("  { match = \"/dev/sda\"; apm = [1, \"a\"]; lookahead = true }"),
          BROKEN_DUMP("3: node=/dev/sda > apm=! lookahead=on\n"), { { 3, 31, 'e', "not a group or a list" } } },
        { BROKEN("  { match = \"/dev/sda\"; apm = 3; % }"),
          BROKEN_DUMP("3! node=/dev/sda > apm=!\n"), { { 3, 34, 'e', "\"%\" is not expected here" } } },
        { BROKEN("  { match = \"/dev/sda\"; apm = \"\xff\"; }"),
          BROKEN_DUMP("3! node=/dev/sda > apm=!\n"), { { 3, 31, 'e', "not UTF-8" } } },
        { BROKEN("  { match = \"/dev/sda\"; @include \"x\"\n apm = 3; }"),
          GOOD_DUMP(2) GOOD_DUMP(5), { { 3, 25, 'e', "@include is not supported" } } },

        { BROKEN("  { match { transport = \"sata\"; };\n apm = 3; }"), GOOD_DUMP(2) GOOD_DUMP(5),
          { { 3, 5, 'e', "\"=\" is missing after \"match\"" } } },

        /* Misplaced and missing braces, commas and brackets cause errors. Valid blocks around the mistake apply. */
        { BROKEN("  { match = \"/dev/sda\"; apm = 3;"), BROKEN_DUMP("3! node=/dev/sda > apm=!\n"),
          { { 3, 3, 'e', "not closed; write \"}\" before \",\" in line 3" } } },
        { BROKEN("  { match = \"/dev/sda\"; apm = 3; )"), BROKEN_DUMP("3! node=/dev/sda > apm=!\n"),
          { { 3, 34, 'e', "\")\" is not expected here" } } },
        { BROKEN("  {{ match = \"/dev/sda\"; apm = 3; }"), BROKEN_DUMP("3: node=/dev/sda > apm=3\n"),
          { { 3, 4, 'e', "\"{\" is repeated here; delete one" } } },
        /* The content of a block is commented out. The user may have meant the block to exclude drives from the general
         * rules, so the general rules of the file are not applied. */
        { "drives = (\n  { match = { rotational = true; }; apm = 9; },\n  {# match = \"/dev/sda\"; apm = 3; },\n" GOOD "\n);\n",
          "2! rotational=true > apm=!\n" GOOD_DUMP(4),
          { { 3, 3, 'e', "this block is not closed" },
            { 3, 3, 'n', "the general rules of this file are not applied" } } },
        { BROKEN("  { match = \"/dev/sda\"; apm = 3; }}"), BROKEN_DUMP("3! node=/dev/sda > apm=!\n"),
          { { 3, 35, 'e', "\"}\" is repeated here; delete one" } } },
        { BROKEN("  match = \"/dev/sda\"; apm = 3; }"), BROKEN_DUMP("3! node=/dev/sda > apm=!\n"),
          { { 3, 3, 'e', "is a \"{\" missing before it?" } } },
        { "drives = (\n" GOOD "\n" GOOD "\n);\n", GOOD_DUMP(2) GOOD_DUMP(3), { { 3, 3, 'e', "a comma is missing" } } },
        { "drives = (\n" GOOD ";\n" GOOD ";\n);\n", GOOD_DUMP(2) GOOD_DUMP(3),
          { { 2, 36, 'e', "write \",\" instead of \";\"" }, { 3, 36, 'e', "write \",\" instead of \";\"" } } },
        { "drives = (\n" GOOD ",\n" GOOD ",\n);\n", GOOD_DUMP(2) GOOD_DUMP(3), {} },
        { "drives = (\n" GOOD "), \n" GOOD "\n);\n", GOOD_DUMP(2) GOOD_DUMP(3),
          { { 3, 3, 'e', "in the list of drives" } } },
        { "drives = ((\n" GOOD ", \n" GOOD "\n);\n", GOOD_DUMP(2) GOOD_DUMP(3),
          { { 1, 11, 'e', "\"(\" is repeated here; delete one" } } },
        { "drives = (\n" GOOD ",\n" GOOD "\n", GOOD_DUMP(2) GOOD_DUMP(3), { { 1, 10, 'e', "list is not closed" } } },
        { "drives = (\n" GOOD ",\n" GOOD "\nfsck_wait = \"1min\";", GOOD_DUMP(2) GOOD_DUMP(3),
          { { 1, 10, 'e', "list is not closed" } } },
        { "drives = (\n" GOOD ",\n" "  { match = \"/dev/sda\"; apm = 3;\n);\nfsck_wait = \"1min\";\n",
          GOOD_DUMP(2) "3! node=/dev/sda > apm=!\n", { { 3, 3, 'e', "write \"}\" before \")\" in line 4" } } },
        { "drives = (\n" GOOD ",\n" "  { match = \"/dev/sda\"; apm = 3;\n", GOOD_DUMP(2) "3! node=/dev/sda > apm=!\n",
          { { 1, 10, 'e', "list is not closed" }, { 3, 3, 'e', "not closed" } } },
        { "drives (\n" GOOD " );", GOOD_DUMP(2), { { 1, 1, 'e', "a \"=\" is missing after \"drives\"" } } },
        { "drives = (\n" GOOD "\n match = \"/dev/b\"; apm = 2; } );", GOOD_DUMP(2) "3! node=/dev/b > apm=!\n",
          { { 3, 2, 'e', "is a \"{\" missing before it" } } },
        { "drives = {\n match = \"/dev/good\"; apm = 1; };", "1: node=/dev/good > apm=1\n",
          { { 1, 1, 'e', "drives is a list of blocks" } } },
        { "drives = {\n" GOOD ",\n" GOOD "\n};\nfsck_wait = \"1min\";", GOOD_DUMP(2) GOOD_DUMP(3), { { 1, 10, 'e', "write \"(\" here" } } },
        { "drives = {\n" GOOD ",\n" GOOD "\n);", GOOD_DUMP(2) GOOD_DUMP(3), { { 1, 10, 'e', "\");\" at its end" } } },
        { "drives = {\n" GOOD ",\n" GOOD "\n", GOOD_DUMP(2) GOOD_DUMP(3), { { 1, 10, 'e', "round brackets" } } },
        { "drives = [\n" GOOD " ];", GOOD_DUMP(2), { { 1, 10, 'e', "the list of drives needs round brackets" } } },
        /* A file of another program causes one complaint, not one for each key. */
        { "[sda]\napm = 254\ncolour = 7\n[sdb]\napm = 1\n", "",
          { { 1, 1, 'e', "sections as in INI files are not supported" } } },
        { "[sda]\napm = 254\ndrives = (\n" GOOD " );\ncolour = 7;\n", GOOD_DUMP(4),
          { { 1, 1, 'e', "sections as in INI files" }, { 5, 1, 'e', "unknown option" } } },
        { "{ match = \"/dev/good\"; apm = 1; }", "1: node=/dev/good > apm=1\n",
          { { 1, 1, 'e', "in the list of drives" } } },
        { "drives = (\n" GOOD " );\ndrives = (\n" GOOD " );", GOOD_DUMP(2) GOOD_DUMP(4),
          { { 3, 1, 'e', "second list" } } },
        { "drive = (\n" GOOD " );", "2! node=/dev/good > apm=!\n",
          { { 1, 1, 'e', "unknown option \"drive\"; did you mean \"drives\"?" } } },
        { "disks = (\n" GOOD ",\n\"/dev/sda\"; lookahead = false; } );\ndrives = (\n{ match = {}; apm = 3; } );",
          "2! node=/dev/good > apm=!\n5! > apm=!\n",
          { { 1, 1, 'e', "unknown option" }, { 3, 1, 'n', "general rules" }, { 3, 13, 'e', "is a drive setting" }, { 3, 32, 'e', "not expected" } } },
        { "drives = \"/dev/sda\";", "", { { 1, 1, 'e', "list of blocks" } } },
        /* Blocks after an unclosed comment are broken, since they may be part of the comment. */
        { "drives = (\n" GOOD ",\n/* never closed\n" GOOD ",\n" GOOD "\n);",
          GOOD_DUMP(2) "4! node=/dev/good > apm=!\n5! node=/dev/good > apm=!\n",
          { { 3, 1, 'e', "comment is not closed; nothing after it" } } },
        { "drives = (\n" GOOD ",\n" GOOD " /* never closed\n);", GOOD_DUMP(2) GOOD_DUMP(3),
          { { 3, 37, 'e', "comment is not closed" } } },
        { "drives = (\n" GOOD ",\n  { match = \"/dev/sda\"; apm = 3; /* never closed\n } );",
          GOOD_DUMP(2) "3! node=/dev/sda > apm=!\n", { { 3, 34, 'e', "comment is not closed" } } },

        /* Unknown, misplaced and invalid settings and options cause errors. */
        { "drives = ({ match = {}; amp = 3; lookahead = true; colour = \"red\";\n APM = 4; })",
          "1: > apm=! lookahead=on\n",
          { { 1, 25, 'e', "unknown setting \"amp\"; did you mean \"apm\"?" },
            { 1, 52, 'e', "unknown setting \"colour\"" }, { 2, 2, 'e', "did you mean \"apm\"?" } } },
        { "drives = ({ match = {}; apm = 3; recheck = \"1h\"; })", "1: > apm=3\n",
          { { 1, 34, 'e', "\"recheck\" is not a drive setting: write it outside" } } },
        { "drives = ({ match = {}; amp = 3; apm = 4; })", "1: > apm=4\n", { { 1, 25, 'e', "did you mean \"apm\"?" } } },
        { "drives = ({ match = {}; serial = \"x\"; apm = 4; vendro = \"y\" })", "1! > apm=!\n",
          { { 1, 25, 'e', "write it inside match" }, { 1, 48, 'e', "did you mean \"vendor\"?" } } },
        { "drives = ({ match = {}; ID_BUS = \"ata\"; apm = 4 })", "1! > apm=!\n",
          { { 1, 25, 'e', "write it inside match" } } },
        { "drives = ({ match = {}; apm = 1; allow_dangerus = true })", "1: > apm=1\n",
          { { 1, 34, 'e', "did you mean \"allow_dangerous\"?" } } },
        { "drives = ({ match = {}; apm = 1; allow_dangerous = 5 })", "1: > apm=1\n",
          { { 1, 52, 'e', "5 is out of range for allow_dangerous: on or off" } } },
        { "fsk_wait = \"1min\"; apm = 3; nonsense = 1; drivess = 1;", "",
          { { 1, 1,  'e', "did you mean \"fsck_wait\"?" }, { 1, 20, 'e', "\"apm\" is a drive setting" },
            { 1, 29, 'e', "unknown option \"nonsense\"" }, { 1, 43, 'e', "did you mean \"drives\"?" } } },
        { "drivess = { match = \"/dev/sda\"; };", "", { { 1, 1, 'e', "did you mean \"drives\"?" } } },
        { "fsck_wait = 5; fsck_wait = \"1min\";", "",
          { { 1, 13, 'e', "write \"5 s\"" }, { 1, 16, 'e', "is given twice" } } },
        { "fsck_wait = \"2d\";", "", { { 1, 13, 'e', "out of range for fsck_wait: 1 s...24 h" } } },
        { "recheck = \"10s\";", "", { { 1, 11, 'e', "out of range for recheck: 1 min...168 h, or off" } } },
        { "on_drift = \"restor\";", "", { { 1, 12, 'e', "\"restor\" is not a valid value for on_drift; did you mean \"restore\"?" } } },
        { "on_drift = 1;", "", { { 1, 12, 'e', "\"1\" is not a valid value for on_drift, which takes report, or restore" } } },
        { "on_drift = \"1\"; recheck = true;", "",
          { { 1, 12, 'e', "\"1\" is not a valid value for on_drift" }, { 1, 27, 'e', "\"true\" is not a valid value for recheck" } } },
        { "on_drift = true; recheck = 1;", "",
          { { 1, 12, 'e', "\"true\" is not a valid value for on_drift" }, { 1, 28, 'e', "recheck needs a unit" } } },
        { "on_drift = [ \"restore\" ]; recheck = 1.5;", "",
          { { 1, 12, 'e', "on_drift takes one value" }, { 1, 37, 'e', "recheck needs a unit" } } },
        { "spin_up_at_once = 1001;", "", { { 1, 19, 'e', "out of range for spin_up_at_once: 1...1000, or off" } } },
        { "wake_log = \"auto\";", "", { { 1, 12, 'e', "wake_log" } } },
        { "wake_log = 2;", "", { { 1, 12, 'e', "wake_log" } } },
        { "wake_log = \"1min\";", "", { { 1, 12, 'e', "wake_log" } } },
        { "wake_log = [ true ];", "", { { 1, 12, 'e', "wake_log takes one value" } } },
        { "wake_log = true; wake_log = false;", "", { { 1, 18, 'e', "is given twice" } } },
        { "wakelog = true; drives = ();", "", { { 1, 1, 'e', "did you mean \"wake_log\"?" } } },
        { "drives = ( { match = {}; wake_log = true; } );", "1: >\n", { { 1, 26, 'e', "wake_log" } } },
        { "drives = ( { match = {}; recheck = \"1h\"; } );", "1: >\n", { { 1, 26, 'e', "recheck" } } },
        { "recheck = \"1h\"; hello world", "", { { 1, 17, 'e', "\"hello\" is not expected here" } } },
        /* A file that is not a configuration causes one complaint, which quotes no text of the file. */
        { "hello world", "", { { 1, 1, 'e', "this is not a drivekeep configuration: it has neither drives = ( ... ) nor an option" } } },
        { "root:$y$j9T$salt$hash:19000:0:99999:7:::\ndrives:!:19000::::::\nmatch:x:1\nrecheck:$6$s$h\n", "",
          { { 1, 1, 'e', "this is not a drivekeep configuration" } } },
        { "[client]\npassword = \"abc\"\nuser = x\n", "", { { 1, 1, 'e', "this is not a drivekeep configuration" } } },
        { "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\n", "", { { 1, 1, 'e', "this is not a drivekeep configuration" } } },
        { "disks: (\n" GOOD " );", "2! node=/dev/good > apm=!\n", { { 1, 1, 'e', "unknown option \"disks\"" } } },

        /* A setting that a block contains twice is an error. Two different keys for the same setting cause only a
         * warning. */
        { "drives = ({ match = {};\n apm = 3; lookahead = true;\n apm = 4; })", "1: > apm=! lookahead=on\n",
          { { 3, 2, 'e', "is set twice in this block (first in line 2); neither" } } },
        { "drives = ({ match = {};\n read_ahead_kb = 512;\n read_ahead_sect = 256; })", "1: > read_ahead_kb=128 KiB\n",
          { { 3, 2, 'w', "\"read_ahead_sect\" overrides \"read_ahead_kb\" in line 2" } } },

        /* If a match is invalid, only those rules of the file are applied that name a node. */
#define LOST(middle) "drives = (\n  { match = { rotational = true; }; apm = 9; },\n" middle ",\n" GOOD "\n);\n"
#define LOST_DUMP "2! rotational=true > apm=!\n" GOOD_DUMP(4)
#define DRIVES_NOT_KNOWN { 3, 3, 'n', "the general rules of this file are not applied" }
        { LOST("  { match = /dev/sda; apm = 3; }"), LOST_DUMP, { DRIVES_NOT_KNOWN, { 3, 13, 'e', "write \"/dev/sda\"" } } },
        { LOST("  { match = \"/dev/sda; apm = 3; }"), LOST_DUMP,
          { DRIVES_NOT_KNOWN, { 3, 13, 'e', "closing quote" } } },
        { LOST("  { match = \"/dev/sda; apm = \"keep\"; }"), LOST_DUMP,
          { DRIVES_NOT_KNOWN, { 3, 13, 'e', "closing quote of this string is missing" } } },
        { LOST("  { mach = \"/dev/sda\"; apm = 3; }"),
          LOST_DUMP, { DRIVES_NOT_KNOWN, { 3, 5, 'e', "did you mean \"match\"?" } } },
        { LOST("  { apm = 3; }"), LOST_DUMP, { { 3, 3, 'e', "match = {}" }, DRIVES_NOT_KNOWN } },
        { LOST("  { match = \"/dev/sda\"; match = \"/dev/sdb\"; apm = 3; }"), LOST_DUMP,
          { DRIVES_NOT_KNOWN, { 3, 25, 'e', "a second match" } } },
        { LOST("  { match = \"sda\"; apm = 3; }"), LOST_DUMP, { DRIVES_NOT_KNOWN, { 3, 13, 'e', "write \"/dev/sda\"" } } },
        { LOST("  { match = \"by-id/x\"; apm = 3; }"), LOST_DUMP, { DRIVES_NOT_KNOWN, { 3, 13, 'e', "write \"/dev/disk/by-id/x\"" } } },
        { LOST("  { match = \"ata-X\"; apm = 3; }"), LOST_DUMP, { DRIVES_NOT_KNOWN, { 3, 13, 'e', "write \"/dev/disk/by-id/ata-X\"" } } },
        { LOST("  { match = \"*\"; apm = 3; }"), LOST_DUMP, { DRIVES_NOT_KNOWN, { 3, 13, 'e', "for every drive write match" } } },
        { LOST("  { match = \"*\"; apm = 3; }"), LOST_DUMP, { DRIVES_NOT_KNOWN, { 3, 13, 'e', "write match = {}" } } },
        { LOST("  { match = 5; apm = 3; }"), LOST_DUMP, { DRIVES_NOT_KNOWN, { 3, 13, 'e', "5 must be in quotes" } } },
        { LOST("  { match = []; apm = 3; }"), LOST_DUMP, { DRIVES_NOT_KNOWN, { 3, 13, 'e', "an empty list" } } },
        { LOST("  { match = (\"/dev/sda\", { serial = \"x\"; }); apm = 3; }"), LOST_DUMP,
          { DRIVES_NOT_KNOWN, { 3, 13, 'e', "contains something other than values" } } },
        { LOST("  { match = { modell = \"x\"; trasnport = \"y\"; colour = 1 }; apm = 3; }"), LOST_DUMP,
          { DRIVES_NOT_KNOWN, { 3, 15, 'e', "\"modell\" is not a match key; did you mean \"model\"?" },
            { 3, 29, 'e', "\"trasnport\" is not a match key; did you mean \"transport\"?" },
            { 3, 46, 'e', "\"colour\" is not a match key; the keys are node, model," } } },
        { LOST("  { match = { transport = [\"sata\", \"ide\"]; rotational = 5; serial = \"\"; }; apm = 3; }"),
          LOST_DUMP,
          { DRIVES_NOT_KNOWN, { 3, 36, 'e', "\"ide\" is not a transport" }, { 3, 57, 'e', "5 is out of range for rotational: on or off" },
            { 3, 69, 'e', "between 1 and 512" } } },
        { LOST("  { match = { transport = [\"SATA\", \"usb\"]; Serial = \"x\"; }; apm = 3; }"), LOST_DUMP,
          { DRIVES_NOT_KNOWN, { 3, 28, 'e', "\"SATA\" is not a transport; did you mean \"sata\"?" },
            { 3, 44, 'e', "\"Serial\" is not a match key; did you mean \"serial\"?" } } },
        { LOST("  { match = { transport = \"nvm\" }; apm = 3; }"), LOST_DUMP,
          { DRIVES_NOT_KNOWN, { 3, 27, 'e', "\"nvm\" is not a transport; did you mean \"nvme\"?" } } },
        { LOST("  { match = { model = \"x\"; model = \"y\"; }; apm = 3; }"), LOST_DUMP,
          { DRIVES_NOT_KNOWN, { 3, 28, 'e', "\"model\" is given twice in this match" } } },
        { LOST("  { match = { model = x; serial = y; }; apm = 3; }"), LOST_DUMP,
          { DRIVES_NOT_KNOWN, { 3, 23, 'e', "write \"x\"" }, { 3, 35, 'e', "write \"y\"" } } },
        { LOST("  { match = { model = \"x\"; apm = 3; }"), LOST_DUMP,
          { DRIVES_NOT_KNOWN, { 3, 13, 'e', "match is not closed; write \"};\" after its last key, before \"apm\" in line 3" } } },
        { LOST("  { match = { model = x\n allow_dangerous = true; apm = 300; colour = 1; }"),
          "2! rotational=true > apm=!\n5: node=/dev/good > apm=1\n",
          { DRIVES_NOT_KNOWN, { 3, 13, 'e', "match is not closed; write \"};\" after its last key, before \"allow_dangerous\" in line 4" } } },
        { LOST("  { match = { apm = 3; }; apm = 3; }"), LOST_DUMP, { DRIVES_NOT_KNOWN, { 3, 15, 'e', "\"apm\" is not a match key" } } },
        { LOST("  { match = { model = \"x\"; }; apm = 3;"), "2: rotational=true > apm=9\n3! model=x > apm=!\n" GOOD_DUMP(4),
          { { 3, 3, 'e', "block is not closed" } } },
        { LOST("  \"what is this\""), LOST_DUMP, { { 3, 3, 'e', "not expected between blocks" }, DRIVES_NOT_KNOWN } },
        /* Each of two blocks without a match causes an error, but both blocks together cause only one notice about
         * general rules. */
        { "drives = ({ match = {}; apm = 1 },\n{ apm = 2 },\n{ match = { model = \"x\" }; apm = 3 },\n{ apm = 4 });",
          "1! > apm=!\n3! model=x > apm=!\n",
          { { 2, 1, 'e', "no match" }, { 2, 1, 'n', "general rules of this file" }, { 4, 1, 'e', "no match" } } },

        /* These mistakes cause only warnings. */
        { "drives = ({ match = \"/dev/sda\"; },\n{ });", "1: node=/dev/sda >\n",
          { { 1, 11, 'w', "has no effect" }, { 2, 1, 'w', "empty" } } },
        { "drives = ({ match = [\"/dev/a\" \"/dev/b\"]; apm = 1 });", "1: node=/dev/a/dev/b > apm=1\n",
          { { 1, 31, 'w', "a comma missing" } } },
};
/* clang-format on */

START_TEST(test_file) {
        assert_file(files[_i].text, files[_i].dump, files[_i].complaints);
}
END_TEST

/* Carriage returns and a byte order mark do not change the result. */
START_TEST(test_file_from_windows) {
        _cleanup_(config_freep) Config *c = NULL;
        _cleanup_free_ char *dump = NULL, *text = NULL;
        char *p;

        text = p = malloc(strlen(files[_i].text) * 2 + 4);
        p = stpcpy(p, "\xef\xbb\xbf");
        for (const char *q = files[_i].text; *q; q++) {
                if (*q == '\n')
                        *p++ = '\r';
                *p++ = *q;
        }
        c = parse(text, (size_t) (p - text));
        dump = config_dump(c);

        assert_complaints(&c->complaints, files[_i].complaints);
        ck_assert_str_eq(dump, files[_i].dump);
}
END_TEST

/* A file that is cut after any byte causes no crash. */
START_TEST(test_file_cut) {
        read_file_cut(files[_i].text);
}
END_TEST

START_TEST(test_options) {
        static const char text[] = "fsck_wait = \"90s\"; recheck = \"1h\"; on_drift = \"restore\"; drives = ();";
        _cleanup_(config_freep) Config *c = parse(text, strlen(text)), *none = parse("", 0);

        ck_assert_uint_eq(c->fsck_wait_ms, 90000);
        ck_assert_uint_eq(none->fsck_wait_ms, CONFIG_FSCK_WAIT_DEFAULT_MS);
        ck_assert_uint_eq(c->recheck_ms, 3600000);
        ck_assert_uint_eq(none->recheck_ms, 0);
        ck_assert_uint_eq(c->on_drift, ON_DRIFT_RESTORE);
        ck_assert_uint_eq(none->on_drift, ON_DRIFT_REPORT);
        ck_assert_uint_eq(c->n_files, 1);
        ck_assert_str_eq(c->files[0], "f");
        ck_assert_ptr_null(c->files[1]);
}
END_TEST

static const struct {
        const char *text;
        uint64_t n;
} at_onces[] = {
        { "", 0 },
        { "spin_up_at_once = 2;", 2 },
        { "spin_up_at_once = \"off\";", 0 },
        { "spin_up_at_once = -1;", 0 },
        { "spin_up_at_once = 0;", 0 },
};

START_TEST(test_spin_up_at_once) {
        _cleanup_(config_freep) Config *c = parse(at_onces[_i].text, strlen(at_onces[_i].text));

        ck_assert_uint_eq(c->spin_up_at_once, at_onces[_i].n);
}
END_TEST

/* If the value of wake_log is invalid, the default "auto" is used. If wake_log is given twice, the first value is
 * used. */
static const struct {
        const char *text;
        WakeLog log;
} wake_logs[] = {
        { "", WAKE_LOG_AUTO },
        { "drives = ();", WAKE_LOG_AUTO },
        { "wake_log = true;", WAKE_LOG_ON },
        { "wake_log = \"on\";", WAKE_LOG_ON },
        { "wake_log = 1;", WAKE_LOG_ON },
        { "wake_log = 0;", WAKE_LOG_OFF },
        { "wake_log = false;", WAKE_LOG_OFF },
        { "wake_log = \"auto\";", WAKE_LOG_AUTO },
        { "wake_log = 7;", WAKE_LOG_AUTO },
        { "wake_log = \"report\";", WAKE_LOG_AUTO },
        { "wake_log = [ false ];", WAKE_LOG_AUTO },
        { "wake_log = false; wake_log = true;", WAKE_LOG_OFF },
        { "drives = (); /* never closed\nwake_log = true;", WAKE_LOG_AUTO },
};

START_TEST(test_wake_log) {
        _cleanup_(config_freep) Config *c = parse(wake_logs[_i].text, strlen(wake_logs[_i].text));

        ck_assert_uint_eq(c->wake_log, wake_logs[_i].log);
}
END_TEST

/* Options after an unclosed comment are not applied, since they may be part of the comment. */
START_TEST(test_options_after_comment) {
        static const char text[] =
                        "recheck = \"1h\"; drives = (); /* never closed\nfsck_wait = \"90s\"; on_drift = \"restore\";";
        _cleanup_(config_freep) Config *c = parse(text, strlen(text));
        static const Expected expected[] = { { 1, 30, 'e', "nothing after it is applied" }, {} };

        assert_complaints(&c->complaints, expected);
        ck_assert_uint_eq(c->recheck_ms, 3600000);
        ck_assert_uint_eq(c->fsck_wait_ms, CONFIG_FSCK_WAIT_DEFAULT_MS);
        ck_assert_uint_eq(c->on_drift, ON_DRIFT_REPORT);
}
END_TEST

/* A broken block of one file does not affect the general rules of another file. */
START_TEST(test_two_files) {
        static const char first[] = "drives = ({ match = {}; apm = 1 });", second[] = "drives = ({ apm = 2 });";
        _cleanup_(config_freep) Config *c = parse(first, strlen(first));
        _cleanup_free_ char *dump = NULL;

        ck_assert_int_eq(config_parse(c, &fake_table, "g", second, strlen(second)), 0);
        dump = config_dump(c);
        ck_assert_str_eq(dump, "1: > apm=1\n");
        ck_assert_uint_eq(c->n_files, 2);
        ck_assert_str_eq(c->complaints.items[0].file, "g");
}
END_TEST

START_TEST(test_position_of_block) {
        static const char text[] = "drives = (\n\t{ match = {};\n  apm = 1 });";
        _cleanup_(config_freep) Config *c = parse(text, strlen(text));

        ck_assert_uint_eq(c->blocks[0].line, 2);
        ck_assert_uint_eq(c->blocks[0].column, 2);
        ck_assert_uint_eq(c->blocks[0].assignments[0].line, 3);
        ck_assert_uint_eq(c->blocks[0].assignments[0].column, 3);
        ck_assert_str_eq(c->blocks[0].file, "f");
}
END_TEST

int main(void) {
        Suite *suite = suite_create("config-parse");
        TCase *tc = tcase_create("config-parse");

        tcase_add_loop_test(tc, test_file, 0, ELEMENTSOF(files));
        tcase_add_loop_test(tc, test_file_from_windows, 0, ELEMENTSOF(files));
        tcase_add_loop_test(tc, test_file_cut, 0, ELEMENTSOF(files));
        tcase_add_test(tc, test_options);
        tcase_add_loop_test(tc, test_spin_up_at_once, 0, ELEMENTSOF(at_onces));
        tcase_add_loop_test(tc, test_wake_log, 0, ELEMENTSOF(wake_logs));
        tcase_add_test(tc, test_options_after_comment);
        tcase_add_test(tc, test_two_files);
        tcase_add_test(tc, test_position_of_block);
        suite_add_tcase(suite, tc);

        return suite_run(suite);
}
