/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The simple commands of a shell script, read line by line: quotes taken away, plain variables and the words of a `for` put
 * in. Nothing is run, and nothing of what depends on the run is guessed. */

#include "words.h"

/* A program or drive that has to be there for a command to run. */
typedef struct ScriptPresence {
        char *path;
        unsigned line;
        unsigned depth; /* of the blocks with the end of which it ends; UINT_MAX: with the list of "&&" and "||" */
} ScriptPresence;

typedef struct ScriptPresences {
        GROWING_ARRAY(ScriptPresence, items);
} ScriptPresences;

typedef struct ScriptCommand {
        Words words;
        Words outputs; /* the files that its standard output goes to */
        unsigned line;
        unsigned condition_line; /* the line that decides whether it runs; 0: it runs whenever the script does */
        unsigned text;   /* the line of a here-document, the end of which is not looked for; 0: there is none before */
        unsigned number; /* from 1 on, in the order of the text */
        unsigned unless; /* it runs where the command with this number has failed; 0: that is not so */
        ScriptPresences presences;
        bool piped;          /* it reads what the command before it writes */
        bool calls_function; /* it calls a function of the script */
        bool assigns;        /* it only sets variables */
} ScriptCommand;

/* Calls `each` for every command, in the order of the text, in a loop once with all of its words. `line` is the number of the
 * first line. */
void script_read(const char *text, unsigned line, void (*each)(void *userdata, const ScriptCommand *c), void *userdata);

/* Is a word known only when the script runs? */
bool script_is_open(const char *word);
