/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Readers of commands that set drive settings, one for each tool. Each reader adds rules. */

#include "command-rule.h"

/* Reads a shell text, and adds a rule for each command that sets a drive setting; `line`: the line number where the text begins. */
void commands_read(const Place *p, const char *text, unsigned line);

void hdparm_command(Command *c);
void smartctl_command(Command *c);
void sdparm_command(Command *c);
void nvme_command(Command *c);
void blockdev_command(Command *c);
void idle3_command(Command *c);
void powertop_command(Command *c);
void seachest_command(Command *c);

/* Adds the rules for the arguments of hd-idle. Returns false, adding nothing, if the arguments are known only when hd-idle runs. */
bool hd_idle_options(const Place *p, unsigned line, const Words *words);

/* A keyword of /etc/hdparm.conf, with the hdparm flag and the drivekeep key for it. */
typedef struct Keyword {
        const char *name;
        bool alone;      /* the keyword stands without a value */
        char letter;     /* the hdparm flag; '\0': the keyword has no short flag */
        unsigned max;    /* largest number that the flag accepts; 0: the flag takes no number */
        const char *key; /* the drivekeep key; NULL: drivekeep has no such setting */
} Keyword;

/* Finds a keyword by its name or, if the name is NULL, by its flag. Returns NULL if there is no such keyword. */
const Keyword *keyword_find(const char *name, char letter);
