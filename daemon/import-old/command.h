/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One command that sets something of a drive, and the rule that is being made of it. One reader for each tool. */

#include "import.h"
#include "words.h"

/* Around a command: where what comes of it goes, and for which drives it is run. */
typedef struct Place {
        Import *import;
        const Match *match; /* NULL: the command's own words say which drives */
        bool offered;       /* the match is not all that there is to be met */
        unsigned line;
} Place;

typedef struct Command {
        ImportRule *rule;
        unsigned line;
        char **words; /* behind the tool's name */
        size_t n_words;
        size_t n_devices, n_open; /* known ones, and words for what is known only when it runs */
        bool open;                /* which drives are meant is known only when it runs */
        bool ended;               /* the tool goes no further */
        size_t from; /* its first word to read; then the first for a further rule, which has this one's settings, too; 0: none */
        bool given; /* it is run for the drives of a match: a word for them is known, though not what it is */
} Command;

int command_want(Command *c, const char *key, const char *value);
int command_want_number(Command *c, const char *key, long long number, const char *unit);
int command_device(Command *c, const char *word); /* 1, or 0 when it is not known which drive that is */

/* A flag's value: what stands behind the first `n` bytes of word *i, or the next word. NULL: there is none. */
const char *command_value(Command *c, size_t *i, size_t n);

/* A match for a rule that names no drive: nothing that it says is in force before somebody looks. */
int command_guess(Command *c, MatchKey key, const char *pattern);

/* Once the words are read: the rule's match, from them or from the place. */
int command_settle(Command *c, const Place *p);

/* A command is for what it names, and not for the whole drive or the drives below. */
int command_settle_nodes(ImportRule *rule);

int match_copy(Match *to, const Match *from);

/* Something is written into a file, which may be one below /sys: a rule, or a remark when it is about a drive and cannot be
 * taken over. `value` NULL: what is written is not known. `shown`: how the file says it. */
int command_write(const Place *p, const char *path, const char *value, const char *shown);

/* The same for an attribute of an adapter, which is for all drives that hang on it: 1, or 0 when it is none that is known. */
int command_write_host(const Place *p, const char *attribute, const char *value, const char *shown);

/* Something that is done to drives and that nothing here can read. */
int command_unread(const Place *p, const char *shown);

/* What "echo WORD…", or the plain forms of printf, says, the name being word `i`; the caller frees it. NULL: it cannot be
 * known, or memory is out. */
char *echo_said(const Words *w, size_t i);

/* `said` (NULL: not known what) goes into the file, by ">" or "| tee". */
int command_output(const Place *p, const char *said, const char *with, const char *file);

/* tee FILE…, the name being word `i`, behind an echo. */
int tee_command(const Place *p, const Words *w, size_t i, const char *said);

int hdparm_command(Command *c);
int smartctl_command(Command *c);
int sdparm_command(Command *c);
int nvme_command(Command *c);
int blockdev_command(Command *c);
