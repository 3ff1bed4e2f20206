/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads the simple commands of a shell script: removes quotes, and expands plain variables and the words of `for` loops. Runs nothing, and
 * makes no guess about values that are known only when the script runs. */

#include "words.h"

/* A program or drive whose presence a script tests before it runs a command. */
typedef struct ScriptPresence {
        char *path;
        unsigned line;
        unsigned depth; /* the test applies to the end of the block at this depth; UINT_MAX: to the end of the list with "&&" or "||" */
} ScriptPresence;

typedef struct ScriptPresences {
        GROWING_ARRAY(ScriptPresence, items);
} ScriptPresences;

typedef struct ScriptCommand {
        Words words;
        Words outputs; /* files that the standard output is redirected to */
        unsigned line;
        unsigned condition_line; /* the line that decides whether the command runs; 0: it always runs */
        unsigned text;           /* line of an earlier here-document that is read as commands to the end; 0: none */
        unsigned number;         /* number of the command, from 1, in the order of the text */
        unsigned unless; /* number of an earlier command that must fail before this command runs; 0: no such condition */
        ScriptPresences presences;
        bool piped;          /* the command reads the output of the previous command */
        bool calls_function; /* the command is a function of the script */
        bool assigns;        /* the command only sets variables */
} ScriptCommand;

/* Calls `each` for every command, in the order of the text. A command in a `for` loop is passed once: the variable of the loop stands for
 * all words of the loop. `line`: number of the first line of the text. */
void script_read(const char *text, unsigned line, void (*each)(void *userdata, const ScriptCommand *c), void *userdata);

/* Returns true if the word is known only when the script runs. */
bool script_is_open(const char *word);
