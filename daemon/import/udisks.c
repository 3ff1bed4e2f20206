/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads udisks2's drive files, /etc/udisks2/VENDOR-MODEL-SERIAL.conf. The file name identifies the drive (udisks(8); keys from
 * udiskslinuxdriveata.c of udisks 2.10). */

#include "reader.h"
#include "words.h"

/* A '-' in the file name may stand for a blank in the model or serial number. udev's link has '_' for a blank, and '-' for a '-'. Each '-'
 * of the file name therefore matches any character. */
static void add_match(ImportRule *rule, const char *file) {
        const char *name = base_name(file);
        _cleanup_free_ char *pattern = must(strdup(name));

        if (ends_with(name, ".conf"))
                pattern[strlen(name) - strlen(".conf")] = '\0';
        for (char *p = pattern; *p; p++)
                if (strchr("- *?[\\", *p))
                        *p = '?';

        (void) import_match(rule, MATCH_NODE, "/dev/disk/by-id/ata-%s", pattern);
        (void) import_match(rule, MATCH_NODE, "/dev/disk/by-id/usb-%s-*", pattern);
}

void udisks_read(const char *text, Import *ret) {
        static const char *const keys[][2] = {
                { "StandbyTimeout", "spindown_time" },   { "APMLevel", "apm" },
                { "AAMLevel", "acoustic_management" },   { "WriteCacheEnabled", "write_cache" },
                { "ReadLookaheadEnabled", "lookahead" },
        };
        _cleanup_(pairs_done) Pairs pairs = pairs_read(text, false);
        ImportRule *rule = import_add_rule(ret, 1);

        add_match(rule, ret->file);
        for (const Pair *p = pairs.items; p < pairs.items + pairs.n_items; p++) {
                size_t i = 0;

                if (!p->section || (!p->value && *p->name != '['))
                        import_comment_out(rule, "udisks2 rejects line %u and ignores the whole file", p->line);
                if (!p->section || !p->value || !streq(p->section, "ATA"))
                        continue;
                while (i < ELEMENTSOF(keys) && !streq(p->name, keys[i][0]))
                        i++;
                if (i < ELEMENTSOF(keys))
                        import_want(rule, p->line, keys[i][1], "%s", p->value);
                else
                        import_note(ret, p->line, "udisks2 has no setting \"%.40s\"", p->name);
        }
}
