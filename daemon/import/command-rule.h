/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One command that sets something of a drive, and the rule that is made of it: which drives it is for, and what it wants. */

#include "reader.h"
#include "shell.h"

/* In the command of a udev rule: the kernel name of the drive that the rule is for. */
#define RULE_DRIVE "\x01"

/* Around a command. */
typedef struct Place {
        Import *import;
        const Match *match;         /* a udev rule's: which drives OWN is; NULL: the command says which drives */
        const char *comment_reason; /* why nothing of it stands; NULL: it does */
        bool drives_unknown;        /* `held`: as not all is known of which drives it is for */
        unsigned depth;             /* of commands in the words of commands */
} Place;

typedef struct Command {
        const Place *place;
        ImportRule *rule;
        unsigned line;
        char **words; /* behind the tool's name */
        size_t n_words;
} Command;

typedef void (*CommandReader)(Command *c);

/* Adds the rule of one command, whose words stand behind the tool's name. */
void command_read(const Place *p, CommandReader reader, const Words *words, unsigned line);

/* The same where `value` is written into a file, which may be one of a drive below /sys (command-sysfs.c). */
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

/* Is the rule for the drive at this path, below /dev or /sys? A path of no drive is a program's, without which nothing runs. */
bool command_is_for(const ImportRule *r, const char *path);
