/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes drivekeep-settings(7) from the rows themselves, at build time. */

#include <stdio.h>

#include "macro.h"
#include "settings.h"

static const char *const backends[_BACKEND_MAX] = {
        [BACKEND_ATA] = "ATA drives (SATA, PATA, and behind SAS controllers and USB bridges that pass commands on)",
        [BACKEND_NVME] = "NVMe controllers",
        [BACKEND_SCSI] = "the kernel's SCSI devices (SATA, SAS, USB)",
        [BACKEND_BLOCK] = "the kernel's request queues, of any block device",
};

/* Backslashes, and a control character at the start of a line, mean something to the formatter. */
static void put(const char *s) {
        if (*s == '.' || *s == '\'')
                fputs("\\&", stdout);
        for (; *s; s++)
                if (*s == '\\')
                        fputs("\\e", stdout);
                else if (strncmp(s, "…", strlen("…")) == 0) {
                        fputs("\\[u2026]", stdout);
                        s += strlen("…") - 1;
                } else
                        putchar(*s);
}

static void line(const char *title, const char *text) {
        printf("%s:\n", title);
        put(text);
        puts("\n.br");
}

static void row(const Setting *s) {
        char range[256];

        printf(".It Cm %s\n", s->name);
        put(s->summary);
        puts(".\n.br");
        line("Values", value_range_format(&s->range, range, sizeof range));
        if (s->alias_of)
                line(s->flags & SETTING_ON_BATTERY ? "On battery, sets" : "Another unit for", s->alias_of);
        line("As", s->equivalent);
        line("Lost by", s->lost_by);
        if (s->flags & SETTING_UNREADABLE)
                puts("Cannot be read back: sent once per boot, attach and resume; verdict\n.Dq unverifiable .\n.br");
        line("From", s->source);
}

int main(void) {
        puts(".\\\" Written by man/settings.c from the tables in daemon/device/.\n"
             ".Dd November 21, 2026\n"
             ".Dt DRIVEKEEP-SETTINGS 7\n"
             ".Os\n"
             ".Sh NAME\n"
             ".Nm drivekeep-settings\n"
             ".Nd the settings that drivekeep keeps\n"
             ".Sh DESCRIPTION\n"
             "Each of these is a key in a block of\n"
             ".Xr drivekeep.conf 5 .\n"
             "A setting that no block names is not touched.\n"
             "The same key may stand for a setting of several kinds of drives.");

        for (Backend b = 0; b < _BACKEND_MAX; b++) {
                printf(".Ss Held by %s\n.Bl -tag -width Ds\n", backends[b]);
                SETTING_TABLE_FOREACH(s, &all_settings)
                        if (s->backend == b)
                                row(s);
                puts(".El");
        }

        puts(".Sh SEE ALSO\n"
             ".Xr drivekeep 1 ,\n"
             ".Xr drivekeep.conf 5 ,\n"
             ".Xr drivekeepd 8");
        return ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
