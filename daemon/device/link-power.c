/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <limits.h>
#include <stdio.h>

#include "attribute.h"
#include "link-power.h"
#include "plan.h"
#include "sysfs.h"

/* AHCI 1.3.1, 3.3.7 (PxCMD) and 3.1.1 (CAP). */
#define PORT_HOT_PLUG (1U << 18)
#define PORT_EXTERNAL (1U << 21)
#define HOST_SUPPORTS_EXTERNAL (1U << 5)

/* clang-format off */
const ValueWord link_power_words[] = {
        { "max_performance", 0 }, { "medium_power", 0 }, { "med_power_with_dipm", 0 }, { "min_power_with_partial", 0 },
        { "min_power", 0 }, {},
};
/* clang-format on */

static uint32_t read_register(Device *d, const char *path) {
        char text[32];

        return sysfs_read(d, path, text, sizeof text) < 0 ? 0 : strtoul(text, NULL, 16);
}

/* Is the controller itself something that is plugged in (Thunderbolt, ExpressCard)? PCI says so of the device or of a port
 * above it. */
static bool controller_is_removable(Device *d) {
        char path[PATH_MAX], text[32];
        _cleanup_free_ char *real = NULL;

        (void) snprintf(path, sizeof path, "%s/device/../..", d->drive->syspath);
        real = realpath(path, NULL);
        if (!real)
                return false;

        for (char *slash; (slash = strrchr(real, '/')) && slash > real; *slash = '\0') {
                (void) attribute_read(text, sizeof text, "%s/removable", real);
                if (streq(text, "removable"))
                        return true;
        }

        return false;
}

/* What the port is, where a drive may be plugged in at any time; NULL: it is not such a port, or nobody says so. */
static const char *port_for_plugging(Device *d) {
        uint32_t port = read_register(d, LINK_HOST "ahci_port_cmd");

        if (port & PORT_HOT_PLUG)
                return "is a hot-plug port";
        if ((port & PORT_EXTERNAL) && (read_register(d, LINK_HOST "ahci_host_caps") & HOST_SUPPORTS_EXTERNAL))
                return "is an external port (eSATA)";
        if (controller_is_removable(d))
                return "is on a controller that can be unplugged";
        return NULL;
}

/* Behind a port multiplier. */
static size_t drives_at_port(Device *d) {
        _cleanup_(globfree) glob_t found;

        (void) attribute_glob(&found, "%s/device/../../target*", d->drive->syspath);
        return found.gl_pathc;
}

int link_power_read(Device *d, const Setting *s, Reading *ret) {
        char supported[16];

        if (sysfs_read(d, LINK_HOST "link_power_management_supported", supported, sizeof supported) >= 0 &&
            streq(supported, "0"))
                return device_fail(d, STEP_UNSUPPORTED, "the port or the drive does not take it, says the kernel");

        return sysfs_setting_read(d, s, ret);
}

int link_power_write(Device *d, const Setting *s, const Value *v) {
        const char *port = streq(v->name, "max_performance") ? NULL : port_for_plugging(d);
        size_t n = drives_at_port(d);

        if (port && !d->allow_dangerous)
                return device_fail(d, STEP_FORBIDDEN,
                                   "its port %s, and may miss a drive that is plugged in while the link sleeps; "
                                   "allow_dangerous = true in the block says that it is meant",
                                   port);

        /* One port, one policy: the drive that is visited last has its way, so the file should want the same of all. */
        if (n > 1)
                (void) snprintf(d->note, sizeof d->note, "the port has one policy for its %zu drives", n);

        return sysfs_setting_write(d, s, v);
}
