/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The crash guard's part in the life of one watched drive. */

#include "watched.h"

int watched_guard_attach(Watched *w);
void watched_guard_done(Watched *w);

/* What the plan must know: which wishes are in quarantine. */
void watched_guard_remember(Watched *w);

/* The drive was lost while something was written to it, and is attached again: what is pending waits until it has stayed for a
 * while, unless somebody asks for it. */
void watched_guard_hesitates(Watched *w);

/* May it not be visited at all? It is said why. Nothing is written in a boot that the kernel's command line forbids it in, and to a
 * drive that is left alone. */
bool watched_guard_holds(Watched *w);

/* healthy_at has come. */
void watched_guard_look(Watched *w);

/* Its visit gets a worker; is over. */
void watched_guard_begins(Watched *w);
void watched_guard_ended(Watched *w);

/* The visitor's events. */
void watched_guard_intends(void *userdata, const WorkerMessage *m);
void watched_guard_writing(void *userdata, size_t wish);

/* The drive went away, or another medium came into it, maybe while something was being written: called before more is told. */
void watched_guard_lost(Watched *w);

/* It is no longer there at all; a worker may still be at it, but of that visit the guard hears no more. Called before w->gone is
 * set. */
void watched_guard_leaves(Watched *w);

/* The daemon ends in good order. */
void watched_guard_rest(Watched *w);
