/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fnmatch.h>
#include <regex.h>

#include "reader.h"

/* clang-format off */
static const struct {
        const char *name;
        void (*read)(const char *text, Import *ret);
        const char *files[4]; /* globs: of a whole path where there is a '/' in it */
        const char *begins;   /* an extended regular expression: how only a text of this kind begins, behind its comments; NULL: as any other */
} kinds[_IMPORT_KIND_MAX] = {
        [IMPORT_HDPARM_CONF] = { "hdparm.conf", hdparm_conf_read, { "hdparm.conf" },
          "^/dev/[^ \t\n{]+\\s*\\{\\s*(#[^\n]*\\s+)*(quiet|apm|apm_battery|spindown_time|write_cache|lookahead|read_ahead_sect|"
          "mult_sect_io|dma|io32_support|acoustic_management|poweron_standby|keep_[a-z_]+|transfer_mode|[a-z_]*standby)\\>" },
        [IMPORT_CONF_D]      = { "conf.d",      conf_d_read,      { "*/conf.d/hdparm" }, NULL },
        [IMPORT_UDISKS]      = { "udisks2",     udisks_read,      { "*/udisks2/*.conf" }, "^\\[ATA]" },
        [IMPORT_TLP]         = { "tlp",         tlp_read,
          { "tlp.conf", "*/tlp.d/*.conf", "*/default/tlp", "*/tlp/defaults.conf" }, NULL },
        [IMPORT_TUNED]       = { "tuned",       tuned_read,       { "tuned.conf" }, NULL },
        [IMPORT_SMARTD]      = { "smartd.conf", smartd_read,      { "smartd.conf" }, NULL },
        [IMPORT_HD_IDLE]     = { "hd-idle",     hd_idle_read,     { "*/default/hd-idle", "*/sysconfig/hd-idle" }, NULL },
        [IMPORT_SCRIPT]      = { "script",      script_file_read, { "*.sh", "rc.local", "rc.local.local" },
          "^(#![^\n]*[/ ](ba|da|a)?sh\\s|(hdparm|smartctl) -[-A-Za-z])" },
        [IMPORT_CRONTAB]     = { "crontab",     crontab_read,     { "crontab", "*/cron.d/*", "*/crontabs/*" },
          "^(@reboot |([0-9*,/-]+[ \t]+){5})" },
        [IMPORT_UNIT]        = { "unit",        unit_read,        { "*.service", "*.service.d/*.conf" }, "^\\[(Unit|Service)]" },
        [IMPORT_UDEV_RULES]  = { "udev-rules",  udev_rules_read,  { "*.rules" }, "^((ACTION|SUBSYSTEM)[!=]=|KERNEL==)\"" },
        [IMPORT_TMPFILES]    = { "tmpfiles",    tmpfiles_read,    { "*/tmpfiles.d/*.conf" }, NULL },
        [IMPORT_SYSFS_CONF]  = { "sysfs.conf",  sysfs_conf_read,  { "sysfs.conf", "*/sysfs.d/*.conf" }, NULL },
};
/* clang-format on */

ImportKind import_kind_from_string(const char *s) {
        for (ImportKind k = 0; k < _IMPORT_KIND_MAX; k++)
                if (streq(kinds[k].name, s))
                        return k;

        return _IMPORT_KIND_INVALID;
}

static ImportKind kind_by_name(const char *file) {
        for (ImportKind k = 0; k < _IMPORT_KIND_MAX; k++)
                for (size_t i = 0; i < ELEMENTSOF(kinds[k].files) && kinds[k].files[i]; i++) {
                        const char *glob = kinds[k].files[i];

                        if (fnmatch(glob, strchr(glob, '/') ? file : base_name(file), 0) == 0)
                                return k;
                }

        return _IMPORT_KIND_INVALID;
}

/* Behind blanks and comments. */
static const char *skip_comments(const char *s) {
        for (;;) {
                s += strspn(s, " \t\r\n");
                if (*s != '#')
                        return s;
                s += strcspn(s, "\n");
        }
}

static bool fits(const char *text, const char *expression) {
        regex_t regex;
        bool found;

        if (regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB) != 0)
                (void) must(NULL);
        found = regexec(&regex, text, 0, NULL, 0) == 0;
        regfree(&regex);
        return found;
}

static ImportKind kind_by_text(const char *text) {
        const char *first = starts_with(text, "#!") ? text : skip_comments(text);

        for (ImportKind k = 0; k < _IMPORT_KIND_MAX; k++)
                if (kinds[k].begins && fits(first, kinds[k].begins))
                        return k;

        return _IMPORT_KIND_INVALID;
}

int import_read(const char *file, const char *text, size_t size, ImportKind kind, Import *ret,
                const char **ret_objection) {
        const char *objection = NULL;

        if (kind == _IMPORT_KIND_INVALID)
                kind = kind_by_name(file);
        if (kind == _IMPORT_KIND_INVALID)
                kind = kind_by_text(text);
        if (memchr(text, '\0', size))
                objection = "there is a NUL byte in it: this is no text, or not in UTF-8";
        else if (kind == _IMPORT_KIND_INVALID && *skip_comments(text))
                objection = "what kind of file this is cannot be told for certain: say --format=KIND";
        else if (kind == IMPORT_SCRIPT && starts_with(text, "#!") && kind_by_text(text) != IMPORT_SCRIPT)
                objection = "its first line names no shell that is understood here";
        if (objection) {
                *ret_objection = objection;
                return 1;
        }

        *ret = (Import){ .file = must(strdup(file)) };
        if (kind != _IMPORT_KIND_INVALID)
                kinds[kind].read(text, ret);
        import_join(ret);
        return 0;
}
