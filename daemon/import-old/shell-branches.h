/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which commands of a shell script run whenever it does, and which only in a branch of what it decides then. What stands
 * behind a branch (an else, another case) counts for what stands before it, so a script is read more than once: the first
 * times to learn. */

#include "shell-condition.h"
#include "words.h"

/* What stands behind a command. */
typedef enum ShellEnd {
        SHELL_END_COMMAND, /* ";", "&" or the end of the line */
        SHELL_END_AND,
        SHELL_END_OR,
        SHELL_END_PIPE,
        SHELL_END_BRANCH, /* ";;" */
        SHELL_END_OPEN,   /* "(" */
        SHELL_END_CLOSE,  /* ")" */
} ShellEnd;

typedef enum FrameKind {
        FRAME_FILE,
        FRAME_IF,
        FRAME_CASE,
        FRAME_LOOP,
        FRAME_BRACES,
        FRAME_SUBSHELL,
        FRAME_FUNCTION,
        _FRAME_KIND_MAX,
} FrameKind;

typedef struct Frame Frame;
typedef struct Decision Decision;
typedef struct Function Function;

typedef struct Branches {
        Frame *frames; /* what is open, the innermost last */
        size_t n_frames;
        unsigned n_begun;               /* frames, and branches of them */
        size_t n_open[_FRAME_KIND_MAX]; /* of each kind */
        Decision *decisions;            /* each if and case, in the order of the text */
        size_t n_decisions, n_met;
        Function *functions;
        size_t n_functions;
        char *function; /* the body of which comes next */
        bool commanded; /* a command is being read */
        Chance chance;  /* of its success */
} Branches;

/* At the beginning of each time that the text is read. */
int branches_begin(Branches *b);
void branches_done(Branches *b);

/* The control words in front of a command: *ret_first is the first word that is none. */
int branches_enter(Branches *b, const Words *words, unsigned line, size_t *ret_first);

/* From where on something holds: from there to the end of the branch. */
typedef struct BranchPlace {
        size_t frame;
        unsigned branch;
} BranchPlace;

/* The place of what is being read; false: whether it runs is decided by the commands that it is joined to. */
bool branches_place(const Branches *b, BranchPlace *ret);

/* Whether what holds from there on holds here; *ret_again: this is in a loop or function that began behind it, and so can
 * be reached again after what stands further behind. */
bool branches_hold(const Branches *b, const BranchPlace *p, bool *ret_again);

/* The line of what decides whether the next command runs; 0: it runs whenever the script does. */
unsigned branches_decided(const Branches *b);

/* The command itself, without control words and assignments; `output`: it writes below /sys. */
void branches_command(Branches *b, char *const *words, size_t n_words, bool output, unsigned line);

/* Behind it. */
int branches_leave(Branches *b, ShellEnd end, unsigned line);

/* "NAME ()": the next braces are what it does. */
int branches_function(Branches *b, const char *name);
