/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <regex.h>

#include "must.h"
#include "reader.h"

/* clang-format off */
static const struct {
        const char *name;
        void (*read)(const char *text, Import *ret);
        const char *words[2]; /* by which it may be known, somewhere in it */
        const char *begins;   /* how only a text of this kind begins, behind its comments; NULL: as any other */
} kinds[_IMPORT_KIND_MAX] = {
        [IMPORT_HDPARM_CONF] = { "hdparm.conf", hdparm_conf_read, { "spindown_time", "apm" },
          "/dev/[^ \t\n{]+\\s*\\{\\s*(#[^\n]*\\s+)*(quiet|apm|apm_battery|spindown_time|write_cache|lookahead|read_ahead_sect|"
          "mult_sect_io|dma|io32_support|acoustic_management|poweron_standby|keep_[a-z_]+|transfer_mode|[a-z_]*standby)\\>" },
        [IMPORT_CONF_D]      = { "conf.d",      conf_d_read,      { "_args=" }, NULL },
        [IMPORT_UDISKS]      = { "udisks2",     udisks_read,      { NULL }, "\\[ATA]" },
        [IMPORT_TLP]         = { "tlp",         tlp_read,         { "DISK_APM_LEVEL" }, NULL },
        [IMPORT_TUNED]       = { "tuned",       tuned_read,       { "[disk]" }, NULL },
        [IMPORT_SMARTD]      = { "smartd.conf", smartd_read,      { "DEVICESCAN" }, NULL },
        [IMPORT_HD_IDLE]     = { "hd-idle",     hd_idle_read,     { "HD_IDLE_OPTS" }, NULL },
        [IMPORT_SCRIPT]      = { "script",      script_file_read, { "hdparm -", "/sys/block/" }, "(hdparm|smartctl) -[-A-Za-z]" },
        [IMPORT_CRONTAB]     = { "crontab",     crontab_read,     { NULL }, "@reboot |([0-9*,/-]+[ \t]+){5}" },
        [IMPORT_UNIT]        = { "unit",        unit_read,        { NULL }, "\\[(Unit|Service)]" },
        [IMPORT_UDEV_RULES]  = { "udev-rules",  udev_rules_read,  { NULL }, "(ACTION|SUBSYSTEM)[!=]=\"|KERNEL==\"" },
        [IMPORT_TMPFILES]    = { "tmpfiles",    tmpfiles_read,    { NULL }, NULL },
        [IMPORT_SYSFS_CONF]  = { "sysfs.conf",  sysfs_conf_read,  { NULL }, NULL },
};
/* clang-format on */

ImportKind import_kind_from_string(const char *s) {
        for (ImportKind k = 0; k < _IMPORT_KIND_MAX; k++)
                if (streq(kinds[k].name, s))
                        return k;

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

/* An extended regular expression, which is to fit at the beginning. */
static bool begins(const char *text, const char *expression) {
        _cleanup_free_ char *anchored = must_format("^(%s)", expression);
        regex_t regex;
        bool found;

        if (regcomp(&regex, anchored, REG_EXTENDED | REG_NOSUB) != 0)
                (void) must(NULL);
        found = regexec(&regex, text, 0, NULL, 0) == 0;
        regfree(&regex);
        return found;
}

static ImportKind kind_by_text(const char *text) {
        const char *first = skip_comments(text);

        if (starts_with(text, "#!"))
                return begins(text, "#![^\n]*[/ ](ba|da|a)?sh\\s") ? IMPORT_SCRIPT : _IMPORT_KIND_INVALID;
        for (ImportKind k = 0; k < _IMPORT_KIND_MAX; k++)
                if (kinds[k].begins && begins(first, kinds[k].begins))
                        return k;

        return _IMPORT_KIND_INVALID;
}

static char *objection_to(const char *text) {
        /* From the end, as the words of hdparm.conf are in some of the others, too. */
        for (ImportKind k = _IMPORT_KIND_MAX; k-- > 0;)
                for (size_t i = 0; i < ELEMENTSOF(kinds[k].words) && kinds[k].words[i]; i++)
                        if (strstr(text, kinds[k].words[i]))
                                return must_format(
                                                "what kind of file this is cannot be told for certain; if it is what it resembles, "
                                                "say --format=%s",
                                                kinds[k].name);

        return must(strdup("nothing in it tells what kind of file this is: say --format=KIND"));
}

int import_read(const char *file, const char *text, size_t size, ImportKind kind, Import *ret, char **ret_objection) {
        if (memchr(text, '\0', size)) {
                *ret_objection = must(strdup("there is a NUL byte in it: this is no text, or not in UTF-8"));
                return 1;
        }

        if (kind == _IMPORT_KIND_INVALID)
                kind = import_kind_by_name(file);
        if (kind == _IMPORT_KIND_INVALID)
                kind = kind_by_text(text);
        if (kind == _IMPORT_KIND_INVALID && *skip_comments(text)) {
                *ret_objection = objection_to(text);
                return 1;
        }

        if (kind == IMPORT_SCRIPT && starts_with(text, "#!") && kind_by_text(text) != IMPORT_SCRIPT) {
                *ret_objection = must(strdup("its first line names no shell that is understood here"));
                return 1;
        }

        *ret = (Import){ .file = must(strdup(file)) };
        if (kind != _IMPORT_KIND_INVALID)
                kinds[kind].read(text, ret);
        import_join(ret);
        return 0;
}
