/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The simple commands in a shell script, as far as they can be known without running it: quotes taken away, plain
 * variables and `for` lists put in, control words left out. What is decided only when it runs keeps its '$'. */

#include "words.h"

typedef struct ShellCommand {
        Words words;
        char *output; /* where it writes to (> FILE); NULL: nowhere special */
        unsigned line;
        unsigned decided; /* the line of what decides, when the script runs, whether this does; 0: nothing */
} ShellCommand;

/* Calls `each` for every command with words, in the order of the text; one in a loop once, with all that its variable is
 * as words, but once for each file that it writes to. */
int shell_commands(const char *text, size_t size, unsigned line, int (*each)(void *userdata, const ShellCommand *c),
                   void *userdata);

/* Whether it is a shell's name. */
bool shell_is_name(const char *word);

/* Whether a word is known only when the command runs. */
bool shell_is_open(const char *word);
