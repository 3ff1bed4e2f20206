/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is open in a shell script where it is being read: files, branches, loops and braces, one in the other. */

#include "shell-branches.h"

/* How far what stands behind a command is not reached. */
enum {
        CUT_LOOP = 1,     /* continue, break */
        CUT_FUNCTION = 2, /* return */
        CUT_SHELL = 4,    /* exit */
};

/* Commands joined by && and ||. */
typedef struct List {
        Chance chance;  /* of what is joined so far */
        Chance last;    /* of the list before */
        char operator;  /* '&', '|'; 0: nothing is joined */
        bool begun;     /* it has a command */
        bool continued; /* what the operator joins is yet to come */
        bool negated;
        unsigned line; /* of the first command */
} List;

struct Frame {
        FrameKind kind;
        List list;
        size_t decision; /* its place among these, or among the functions */
        unsigned line;
        unsigned branch;             /* the number of the branch that is open */
        bool maybe;                  /* it is not reached whenever the frame is */
        bool joined;                 /* what it is joined to by && and || decides whether it is reached */
        size_t again;                /* the innermost loop or function that this is or is in; 0: none */
        unsigned outer;              /* the line of what decides whether this is reached; 0: nothing does */
        unsigned decided;            /* the same for the branch that is open */
        bool outer_missing, missing; /* reached only where there is nothing to set */
        Chance chance;               /* of an if: the first question */
        bool asked;                  /* of an if: its first branch is open */
        bool patterns;               /* of a case: patterns are next */
        bool own, usual;             /* of a case: it is for the script's own verb; all patterns are usual ones */
        bool sets;                   /* it does something to drives; of a case: the branch that is open */
        unsigned n_setting;          /* of a case: branches that do */
        unsigned cut, left, cut_line;
};

struct Decision {
        bool several;       /* else, elif */
        unsigned n_setting; /* branches that do something to drives */
};

struct Function {
        char *name;
        bool called, sets, exits;
        unsigned decided; /* the line of what decides on a call of it */
        unsigned found;   /* the same, as far as this reading has come */
};

static inline Frame *frame_innermost(const Branches *b) {
        return &b->frames[b->n_frames - 1];
}

void list_add(List *l, Chance c, unsigned line);
void list_end(List *l);
void list_join(List *l, char operator);

int frame_push(Branches *b, FrameKind kind);
int frame_push_decision(Branches *b, FrameKind kind);

/* Closes the innermost one; or one of these kinds, and with it all in it that was not closed. */
void frame_pop(Branches *b, unsigned line);
void frame_pop_kind(Branches *b, FrameKind kind, FrameKind or_kind, unsigned line);

/* Of the innermost branch: behind it another one is reached in spite of an exit in this one. */
void frame_end_branch(Branches *b);

/* Whether what comes next in it is reached only where there is nothing to set. */
bool frame_is_missing(const Frame *f);
