/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The way from a text to its rules, and from these to drivekeep configuration. */

#include <stdio.h>

#include "import.h"
#include "setting.h"

/* The kinds of files that can be imported. */
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

ImportKind import_kind_from_string(const char *s);

/* Reads a text of any bytes, with a NUL behind it, as the kind that the caller says, or else as what its name, its place or its
 * first lines say for certain. 0; or 1 when it is not read, with why in *ret_objection. */
int import_read(const char *file, const char *text, size_t size, ImportKind kind, Import *ret,
                const char **ret_objection);

/* Writes drivekeep configuration. What the settings table does not take (a value out of range, a dangerous setting) becomes a
 * comment, so that what is written is always without error and safe as it is. What becomes a comment is held back
 * in `imports`, too. 0 or -EIO. */
int emit(FILE *f, Import *imports, size_t n_imports, const SettingTable *table);

/* One reader for each kind: adds the rules and notes of the text. */
void hdparm_conf_read(const char *text, Import *ret);
void conf_d_read(const char *text, Import *ret);
void udisks_read(const char *text, Import *ret); /* ret->file names the drive */
void tlp_read(const char *text, Import *ret);
void tuned_read(const char *text, Import *ret);
void smartd_read(const char *text, Import *ret);
void hd_idle_read(const char *text, Import *ret);
void script_file_read(const char *text, Import *ret);
void crontab_read(const char *text, Import *ret);
void unit_read(const char *text, Import *ret);
void udev_rules_read(const char *text, Import *ret);
void tmpfiles_read(const char *text, Import *ret);
void sysfs_conf_read(const char *text, Import *ret);
