/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes drivekeep-settings(7) from the rows themselves, at build time. */

#include <stdio.h>

#include "macro.h"
#include "settings.h"

static const char *const backends[_BACKEND_MAX] = {
        [BACKEND_ATA] = "ATA drives (SATA, PATA, and behind SAS controllers and USB bridges that pass commands on)",
        [BACKEND_NVME] = "NVMe controllers",
        [BACKEND_SCSI_MODE] = "SCSI drives (SAS, Fibre Channel), in their mode pages most of all",
        [BACKEND_SCSI] = "the kernel's SCSI devices (SATA, SAS, USB)",
        [BACKEND_BLOCK] = "the kernel's request queues, of any block device",
        [BACKEND_OPTICAL] = "CD, DVD and Blu-ray drives",
};

/* Backslashes, and a control character at the start of a line, mean something to the formatter. */
static void put(const char *s) {
        if (*s == '.' || *s == '\'')
                fputs("\\&", stdout);
        for (; *s; s++)
                if (*s == '\\')
                        fputs("\\e", stdout);
                else
                        putchar(*s);
}

static void line(const char *title, const char *text) {
        printf("%s:\n", title);
        put(text);
        puts("\n.br");
}

/* A row that is never written. */
static void answer(const Setting *s) {
        printf(".It Cm %s\n", s->name);
        put(s->equivalent);
        fputs(": ", stdout);
        put(s->summary);
        puts(".\n.br");
        put(s->instead);
        puts(".");
}

static void answers(const char *title, SettingFlags flag, const char *text) {
        printf(".Ss %s\n%s\n.Bl -tag -width Ds\n", title, text);
        SETTING_TABLE_FOREACH(s, &all_settings)
                if (s->flags & flag)
                        answer(s);
        puts(".El");
}

static bool has_rows(Backend b) {
        SETTING_TABLE_FOREACH(s, &all_settings)
                if (s->backend == b)
                        return true;

        return false;
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
                puts("Cannot be read back: sent once per boot, attach, resume and reset; verdict\n.Dq unverifiable .\n.br");
        if (s->flags & SETTING_NONVOLATILE)
                puts("Kept by the drive itself over power cycles: written by\n.Ql drivekeep apply --permanent\nonly.\n.br");
        if (s->flags & SETTING_SAVEABLE)
                puts("With\n.Cm permanent = true\nin its block,\n.Ql drivekeep apply --permanent\nhas the drive save it.\n.br");
        if (s->flags & SETTING_AT_ATTACH)
                puts("Done once, when the drive is attached.\n.br");
        if ((s->flags & SETTING_AT_ATTACH) && s->range.words)
                puts("With\n.Dq resume ,\nalso done once after each resume.\nWhen the drive is awake again, the verdict is\n"
                     ".Dq applied ,\nwith the value\n.Dq off\nand a reason that says so.\n.br");
        if (s->danger)
                line("Dangerous, so that its block needs allow_dangerous = true", s->danger);
        if (s->harm)
                line("Some values can do harm, and 'drivekeep check' warns of them", s->harm->why);
        if (s->excludes)
                line("Excludes, and where a drive supports both the later rule wins", s->excludes);
        if (s->unless)
                line("Only where this cannot be had", s->unless);
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
                if (!has_rows(b))
                        continue;
                printf(".Ss Held by %s\n.Bl -tag -width Ds\n", backends[b]);
                SETTING_TABLE_FOREACH(s, &all_settings)
                        if (s->backend == b && !(s->flags & (SETTING_DEAD | SETTING_EXCLUDED)))
                                row(s);
                puts(".El");
        }

        answers("Of old files, without effect", SETTING_DEAD,
                "These are keys of\n.Pa /etc/hdparm.conf\nfor kernels before Linux 5.14.\nTheir verdict is\n.Dq unsupported .");
        answers("Never done", SETTING_EXCLUDED,
                "What is permanent or destroys data is left to people.\nThe verdict is\n.Dq forbidden ,\n"
                "and what stands behind such a key is neither kept nor logged.");

        puts(".Sh SEE ALSO\n"
             ".Xr drivekeep 1 ,\n"
             ".Xr drivekeep.conf 5 ,\n"
             ".Xr drivekeepd 8");
        return ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
