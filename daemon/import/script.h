/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The simple commands of a shell script, read line by line: quotes taken away, plain variables and the words of a `for` put
 * in. Nothing is run, and nothing of what depends on the run is guessed. */

#include "words.h"

typedef struct ScriptCommand {
        Words words;
        Words outputs; /* the files that its standard output goes to */
        unsigned line;
        unsigned decided; /* the line that decides whether it runs; 0: it runs whenever the script does */
        bool piped;       /* it reads what the command before it writes */
} ScriptCommand;

/* Calls `each` for every command, in the order of the text, in a loop once with all of its words. `line` is the number of the
 * first line. */
void script_read(const char *text, unsigned line, void (*each)(void *userdata, const ScriptCommand *c), void *userdata);

/* Is a word known only when the script runs? */
bool script_is_open(const char *word);

/* The words from the first-th on, with the separator between them; the caller frees it. */
char *script_join(const Words *w, size_t first, const char *separator);
