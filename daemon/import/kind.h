/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The kinds of files that can be imported, and the names by which they are known. */

typedef enum ImportKind {
        IMPORT_HDPARM_CONF,
        IMPORT_CONF_D, /* Gentoo's /etc/conf.d/hdparm */
        IMPORT_UDISKS, /* udisks2's /etc/udisks2/VENDOR-MODEL-SERIAL.conf */
        IMPORT_TLP,
        IMPORT_TUNED,
        IMPORT_SMARTD,
        IMPORT_HD_IDLE,
        IMPORT_SCRIPT, /* rc.local, hooks, one command */
        IMPORT_CRONTAB,
        IMPORT_UNIT, /* systemd's */
        IMPORT_UDEV_RULES,
        IMPORT_TMPFILES,   /* systemd's tmpfiles.d */
        IMPORT_SYSFS_CONF, /* sysfsutils' /etc/sysfs.conf */
        _IMPORT_KIND_MAX,
        _IMPORT_KIND_INVALID = -1,
} ImportKind;

/* By the file's name and place; _IMPORT_KIND_INVALID: these do not tell. */
ImportKind import_kind_by_name(const char *file);
