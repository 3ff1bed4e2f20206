/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "name-owner.h"

#define BUS_NAME "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"

static void owner_set(NameOwner *o, const char *unique) {
        free(o->unique);
        /* If memory runs out, all signals are rejected until the next change of the owner. */
        o->unique = *unique ? strdup(unique) : NULL;
}

static int on_owner(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        const char *unique;

        if (!sd_bus_message_is_method_error(m, NULL) && sd_bus_message_read(m, "s", &unique) >= 0)
                owner_set(userdata, unique);
        return 1;
}

static int on_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        const char *name, *old_owner, *new_owner;
        NameOwner *o = userdata;

        /* Rejects forged signals: only the bus itself can send under this name. */
        if (!streq_ptr(sd_bus_message_get_sender(m), BUS_NAME) ||
            sd_bus_message_read(m, "sss", &name, &old_owner, &new_owner) < 0)
                return 0;

        owner_set(o, new_owner);
        o->changed(o->userdata);
        return 0;
}

int name_owner_follow(NameOwner *o, sd_bus *bus, const char *name, NameOwnerFn changed, void *userdata) {
        char match[256];
        int r;

        name_owner_forget(o);
        o->changed = changed;
        o->userdata = userdata;
        (void) snprintf(match, sizeof match,
                        "type='signal',sender='" BUS_NAME "',path='" BUS_PATH "',interface='" BUS_NAME
                        "',member='NameOwnerChanged',arg0='%s'",
                        name);
        r = sd_bus_add_match_async(bus, NULL, match, on_owner_changed, NULL, o);
        if (r >= 0)
                r = sd_bus_call_method_async(bus, NULL, BUS_NAME, BUS_PATH, BUS_NAME, "GetNameOwner", on_owner, o, "s",
                                             name);
        return r;
}

void name_owner_forget(NameOwner *o) {
        free(o->unique);
        o->unique = NULL;
}

bool name_owner_sent(const NameOwner *o, sd_bus_message *m) {
        return o->unique && streq_ptr(sd_bus_message_get_sender(m), o->unique);
}
