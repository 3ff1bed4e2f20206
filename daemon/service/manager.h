/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The daemon: all drives, the bound on workers, and the one door by which every trigger enters, manager_visit(). */

#include <systemd/sd-event.h>

#include "watched.h"

typedef struct Manager Manager;

/* Reads the files, listens, enumerates, and only then says that it is ready; visits start when the loop runs. */
int manager_new(sd_event *event, Manager **ret);
Manager *manager_free(Manager *m);
DEFINE_CLEANUP(Manager *, manager_free);

/* Boot scan, hotplug, resume, reload and request all come in here. */
void manager_visit(Manager *m, Watched *w, VisitReason reason);

Watched *manager_first(Manager *m); /* the list of drives, by ->next */
Watched *manager_find(Manager *m, const char *name);
