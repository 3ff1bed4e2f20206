/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Translates one command that sets drive settings into a rule. The rule has the command's drives and wishes. */

#include "reader.h"
#include "shell.h"

/* Stands for the drive's kernel name in a command. Place.match describes the drive. */
#define RULE_DRIVE "\x01"

/* The context of a command. */
typedef struct Place {
        Import *import;
        const Match *match;         /* the drives that RULE_DRIVE stands for; NULL: the command names its drives */
        const char *comment_reason; /* why all rules of the command are commented out; NULL: the rules are active */
        bool drives_unknown;        /* true if comment_reason is that the drives are not known */
        unsigned depth;             /* number of $( ... ) around the command */
} Place;

typedef struct Command {
        const Place *place;
        ImportRule *rule;
        unsigned line;
        char **words; /* the arguments of the tool */
        size_t n_words;
} Command;

typedef void (*CommandReader)(Command *c);

/* Adds the rule of one command; `words`: the arguments of the tool. */
void command_read(const Place *p, CommandReader reader, const Words *words, unsigned line);

/* Adds the rule for writing `value` to a file below /sys, if the file belongs to a drive (command-sysfs.c). */
void command_write(const Place *p, unsigned line, const char *path, const char *value);

/* Adds a drive to the command's rule; `word`: the drive's node. */
void command_device(Command *c, const char *word);
#define command_want(c, key, ...) import_want((c)->rule, (c)->line, key, __VA_ARGS__)
void command_want_ms(Command *c, const char *key, long long ms);
/* Adds a note that a part of the command is not imported. */
#define command_note(c, ...) import_note((c)->place->import, (c)->line, __VA_ARGS__)

/* Drops the wishes and the remaining words, because an option such as --help makes the command only print something. */
void command_shows(Command *c);

/* Finishes the rule after all words were read, or drops the rule if the command sets nothing. */
void command_settle(Command *c);

/* Returns true if the rule is for the drive with this path below /dev or /sys. Also returns true if the path is not the
 * path of a drive but of a program, because a program does not limit the rule's drives. */
bool command_is_for(const ImportRule *r, const char *path);
