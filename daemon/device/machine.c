/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "attribute.h"
#include "machine.h"

#define ATTRIBUTE_MAX 64U

static bool attribute_is(const char *supply, const char *name, const char *value) {
        char buf[ATTRIBUTE_MAX];

        return attribute_read(buf, sizeof buf, "%s/%s", supply, name) >= 0 && streq(buf, value);
}

/* Returns true if all ports of the supply's USB-C controller feed other devices. The kernel reports such a supply as "online", too. */
static bool is_source(const char *supply) {
        _cleanup_(globfree) glob_t found;

        (void) attribute_glob(&found, "%s/device/typec/*/power_role", supply);
        for (size_t i = 0; i < found.gl_pathc; i++) {
                char role[ATTRIBUTE_MAX];

                /* Brackets mark the current role: "source [sink]". */
                if (attribute_read(role, sizeof role, "%s", found.gl_pathv[i]) >= 0 && !strstr(role, "[source]"))
                        return false;
        }
        return found.gl_pathc > 0;
}

static bool is_online(const char *supply, const char *type) {
        /* "2" is the value of a programmable supply that is online. */
        return (attribute_is(supply, "online", "1") || attribute_is(supply, "online", "2")) &&
               !(streq(type, "USB") && is_source(supply));
}

int power_on_battery(const char *classdir) {
        bool online = false, discharging = false;
        _cleanup_(globfree) glob_t supplies;
        int r;

        r = attribute_glob(&supplies, "%s/*", classdir);
        if (r < 0)
                return r;

        for (size_t i = 0; i < supplies.gl_pathc; i++) {
                const char *supply = supplies.gl_pathv[i];
                char type[ATTRIBUTE_MAX];

                /* The supply may have disappeared by now. */
                if (attribute_read(type, sizeof type, "%s/type", supply) < 0 || attribute_is(supply, "scope", "Device"))
                        continue;

                if (streq(type, "Battery"))
                        discharging = discharging || (!attribute_is(supply, "present", "0") &&
                                                      attribute_is(supply, "status", "Discharging"));
                else if (*type)
                        online = online || is_online(supply, type);
        }

        return discharging && !online;
}

/* Size of the longest kernel command line of all architectures (COMMAND_LINE_SIZE), with NUL. */
#define LINE_SIZE 4097

const char *kernel_command_line_forbids(const char *path) {
        static const char *const words[] = { "drivekeep=0", "drivekeep=no", "drivekeep=off", "nohdparm" };
        char line[LINE_SIZE], *rest = line, *word;

        if (attribute_read(line, sizeof line, "%s", path) < 0)
                return NULL;

        while ((word = strsep(&rest, " \t")))
                for (size_t i = 0; i < ELEMENTSOF(words); i++)
                        if (streq(word, words[i]))
                                return words[i];

        return NULL;
}
