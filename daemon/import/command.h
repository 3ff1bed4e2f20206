/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Commands that set something of a drive, and the rules that are made of them. One reader for each tool. */

#include "reader.h"
#include "words.h"

/* In the command of a udev rule: the kernel name of the drive that the rule is for. */
#define OWN "\x01"

/* Around a command. */
typedef struct Place {
        Import *import;
        const Match *match; /* a udev rule's: which drives OWN is; NULL: the command says which drives */
        const char *held;   /* why nothing of it stands; NULL: it does */
        bool partial;       /* `held`: as not all is known of which drives it is for */
        unsigned depth;     /* of commands in the words of commands */
} Place;

typedef struct Command {
        const Place *place;
        ImportRule *rule;
        unsigned line;
        char **words; /* behind the tool's name */
        size_t n_words;
} Command;

typedef void (*CommandReader)(Command *c);

/* Adds a rule for each command in a shell's text that sets something of a drive; `line` is where the text begins. */
void commands_read(const Place *p, const char *text, unsigned line);

/* Is the rule for the drive at this path, below /dev or /sys? A path of no drive is a program's, without which nothing runs. */
bool command_is_for(const ImportRule *r, const char *path);

/* The same for the words of one command behind the tool's name, without a shell around them. */
void command_read(const Place *p, CommandReader reader, const Words *words, unsigned line);

/* `value` is written into a file, which may be one of a drive below /sys. */
void command_write(const Place *p, unsigned line, const char *path, const char *value);

/* For the readers of tools. What names a drive: */
void command_device(Command *c, const char *word);
#define command_want(c, key, ...) import_want((c)->rule, (c)->line, key, __VA_ARGS__)
void command_want_ms(Command *c, const char *key, long long ms);
/* Something of it is not taken over. */
#define command_note(c, ...) import_note((c)->place->import, (c)->line, __VA_ARGS__)

/* The command only shows something, and ends: it sets nothing. */
void command_shows(Command *c);

/* Once the words are read: the rule's drives, or no rule if it sets nothing. */
void command_settle(Command *c);

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

/* Is the i-th word a program that sets nothing of a drive? */
bool program_is_harmless(const ScriptCommand *c, size_t i);
/* Does the text name a drive, or a program for drives? */
bool text_names_drive(const char *text);

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
