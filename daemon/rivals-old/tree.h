/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Files below a root, which may be that of another system's image: links lead nowhere out of it. Paths begin with '/'. */

#include "words.h"

typedef struct Tree {
        int fd;
        bool whole; /* this machine's own: links lead where they lead */
} Tree;

int tree_open(const char *root, Tree *ret);
void tree_done(Tree *t);

/* 1, with the text of a regular file, a NUL behind it and none inside; 0: there is none, or it cannot be read; -ENOMEM. */
int tree_read(const Tree *t, const char *path, char **ret_text, size_t *ret_size);

/* The names in a directory in their order, dotfiles left out; none when there is no such directory. 0 or -ENOMEM. */
int tree_list(const Tree *t, const char *directory, Words *ret);

bool tree_exists(const Tree *t, const char *path);
bool tree_executable(const Tree *t, const char *path);
bool tree_masked(const Tree *t, const char *path); /* empty, or a link to /dev/null */

/* The same file name in several directories counts once, in the first that has it: calls `each` for it, in the order of the
 * names, those that are masked left out. */
int tree_each(const Tree *t, const char *const *directories, const char *suffix,
              int (*each)(void *userdata, const char *path), void *userdata);
