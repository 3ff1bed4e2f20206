/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Commands that set something of a drive, and the rules that are made of them. One reader for each tool. */

#include "command-rule.h"

/* Adds a rule for each command in a shell's text that sets something of a drive; `line` is where the text begins. */
void commands_read(const Place *p, const char *text, unsigned line);

void hdparm_command(Command *c);
void smartctl_command(Command *c);
void sdparm_command(Command *c);
void nvme_command(Command *c);
void blockdev_command(Command *c);
void idle3_command(Command *c);
void powertop_command(Command *c);
void seachest_command(Command *c);

/* The words behind hd-idle. False: they are known only when it runs, and nothing was added. */
bool hd_idle_options(const Place *p, unsigned line, const Words *words);

/* The keywords of /etc/hdparm.conf, with hdparm's flags and drivekeep's keys for them. */
typedef struct Keyword {
        const char *name;
        bool alone;      /* it stands alone on its line; else it is given a value */
        char letter;     /* hdparm's flag; '\0': it has a long name */
        unsigned max;    /* of the number that the flag takes; 0: none */
        const char *key; /* drivekeep's; NULL: none */
} Keyword;

/* By its name, or where that is NULL by its flag. NULL: there is none. */
const Keyword *keyword_find(const char *name, char letter);
