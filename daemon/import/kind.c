/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fnmatch.h>

#include "kind.h"
#include "macro.h"

/* Globs: of a whole path where there is a '/' in it. */
/* clang-format off */
static const char *const files[_IMPORT_KIND_MAX][4] = {
        [IMPORT_HDPARM_CONF] = { "hdparm.conf" },
        [IMPORT_CONF_D]      = { "*/conf.d/hdparm" },
        [IMPORT_UDISKS]      = { "*/udisks2/*.conf" },
        [IMPORT_TLP]         = { "tlp.conf", "*/tlp.d/*.conf", "*/default/tlp", "*/tlp/defaults.conf" },
        [IMPORT_TUNED]       = { "tuned.conf" },
        [IMPORT_SMARTD]      = { "smartd.conf" },
        [IMPORT_HD_IDLE]     = { "*/default/hd-idle", "*/sysconfig/hd-idle" },
        [IMPORT_SCRIPT]      = { "*.sh", "rc.local", "rc.local.local" },
        [IMPORT_CRONTAB]     = { "crontab", "*/cron.d/*", "*/crontabs/*" },
        [IMPORT_UNIT]        = { "*.service", "*.service.d/*.conf" },
        [IMPORT_UDEV_RULES]  = { "*.rules" },
        [IMPORT_TMPFILES]    = { "*/tmpfiles.d/*.conf" },
        [IMPORT_SYSFS_CONF]  = { "sysfs.conf", "*/sysfs.d/*.conf" },
};
/* clang-format on */

ImportKind import_kind_by_name(const char *file) {
        for (ImportKind k = 0; k < _IMPORT_KIND_MAX; k++)
                for (size_t i = 0; i < ELEMENTSOF(files[k]) && files[k][i]; i++) {
                        const char *glob = files[k][i];

                        if (fnmatch(glob, strchr(glob, '/') ? file : base_name(file), 0) == 0)
                                return k;
                }

        return _IMPORT_KIND_INVALID;
}
