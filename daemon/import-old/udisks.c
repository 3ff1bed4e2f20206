/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <strings.h>

#include "text.h"
#include "udisks.h"

/* clang-format off */
static const struct {
        const char *name, *key;
} keys[] = {
        { "StandbyTimeout",       "spindown_time"       },
        { "APMLevel",             "apm"                 },
        { "AAMLevel",             "acoustic_management" },
        { "WriteCacheEnabled",    "write_cache"         },
        { "ReadLookaheadEnabled", "lookahead"           },
};
/* clang-format on */

/* udisks writes blanks in model and serial number as '-', udev's links as '_', and both keep a '-'. */
static int add_match(ImportRule *rule, const char *file) {
        _cleanup_free_ char *ata = NULL, *usb = NULL, *id = NULL;
        const char *name = base_name(file);
        size_t n;
        int r;

        n = strlen(name);
        if (n > 5 && streq(name + n - 5, ".conf"))
                n -= 5;

        id = strndup(name, n);
        if (!id)
                return -ENOMEM;
        for (char *p = id; *p; p++)
                if (*p == '-' || *p == ' ' || strchr("*?[\\", *p))
                        *p = '?';

        if (asprintf(&ata, "/dev/disk/by-id/ata-%s", id) < 0) {
                ata = NULL;
                return -ENOMEM;
        }
        if (asprintf(&usb, "/dev/disk/by-id/usb-%s-*", id) < 0) {
                usb = NULL;
                return -ENOMEM;
        }

        r = import_match_node(rule, ata);
        if (r > 0)
                r = import_match_node(rule, usb);
        if (r <= 0)
                return r;

        return remark(&rule->remarks,
                      "udisks2 names the drive by the name of this file, %.*s; ? stands for a - that may be a blank",
                      (int) MIN(n, 100U), name);
}

static int read_key(ImportRule *rule, char *name, char *value, unsigned line) {
        ImportWish *w;

        for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
                bool is_boolean = i >= 3;
                char *end;
                long n;
                int r;

                if (!streq(name, keys[i].name))
                        continue;
                if (import_find_wish(rule, keys[i].key)) {
                        r = remark(&rule->remarks, "line %u: %s stands here a second time, and the last one counts",
                                   line, name);
                        if (r < 0)
                                return r;
                        import_drop_wish(rule, keys[i].key);
                }

                r = import_add_wish(rule, line, keys[i].key, value, &w);
                if (r < 0)
                        return r;
                n = strtol(value, &end, 10);
                if (!is_boolean && *value && !*end && (n < 0 || n > 255))
                        return remark(&w->remarks, "udisks2 checks nothing and keeps one byte of it: it has set %u",
                                      (unsigned) (n & 0xff));
                return 0;
        }

        return remark(&rule->remarks, "line %u: udisks2 knows no \"%.40s\"", line, name);
}

int udisks_read(const char *file, const char *text, size_t size, Import *ret) {
        _cleanup_free_ char *copy = strndup(text, size);
        ImportRule *rule;
        bool grouped = false, ata = false;
        unsigned line = 0;
        int r;

        if (!copy)
                return -ENOMEM;
        r = import_add_rule(ret, 1, &rule);
        if (r >= 0)
                r = add_match(rule, file);

        for (char *next, *s = copy; s && r >= 0; s = next) {
                char *value;

                line++;
                next = strchr(s, '\n');
                if (next)
                        *next++ = '\0';
                s = text_strip(s);
                if (*s == '\0' || *s == '#')
                        continue;
                if (*s == '[') {
                        grouped = true;
                        ata = streq(s, "[ATA]");
                        continue;
                }

                value = strchr(s, '=');
                if (!value || !grouped) {
                        rule->offered = true;
                        r = remark(&rule->remarks,
                                   "line %u is no line of such a file (a comment begins with #): udisks2 ignored the "
                                   "whole file, and nothing of it was ever set; take the block out of the comment if "
                                   "it is meant",
                                   line);
                        continue;
                }
                if (!ata) {
                        r = remark(&rule->remarks, "line %u is in no group that udisks2 knows", line);
                        continue;
                }
                *value++ = '\0';
                r = read_key(rule, text_strip(s), text_strip(value), line);
        }

        return r;
}
