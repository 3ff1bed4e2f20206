/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints drivekeep-settings(7) from the tables of settings, at build time. */

#include <stdio.h>

#include "macro.h"
#include "settings.h"

static const char *const backends[_BACKEND_MAX] = {
        [BACKEND_ATA] = "ATA drives (SATA, PATA, also behind SAS controllers and USB bridges)",
        [BACKEND_NVME] = "NVMe controllers",
        [BACKEND_SCSI_MODE] = "SCSI drives (SAS, Fibre Channel), mostly in mode pages",
        [BACKEND_SCSI] = "the kernel for SCSI devices (SATA, SAS, USB)",
        [BACKEND_BLOCK] = "the kernel for all block devices, in their request queues",
        [BACKEND_OPTICAL] = "CD, DVD and Blu-ray drives",
};

/* Prints text at the start of a line. Escapes each backslash, and a first character that mdoc would take for a control
 * character. */
static void print_escaped(const char *s) {
        if (*s == '.' || *s == '\'')
                fputs("\\&", stdout);
        for (; *s; s++)
                if (*s == '\\')
                        fputs("\\e", stdout);
                else
                        putchar(*s);
}

/* Prints a line of a setting's entry. */
static void print_line(const char *title, const char *text) {
        printf("%s:\n", title);
        print_escaped(text);
        puts("\n.br");
}

/* Prints the entry of a setting that is never written. */
static void print_unwritten(const Setting *s) {
        printf(".It Cm %s\n", s->name);
        print_escaped(s->equivalent);
        fputs(": ", stdout);
        print_escaped(s->summary);
        puts(".\n.br");
        print_escaped(s->instead);
        puts(".");
}

/* Prints a section with all settings that have the flag `flag`. */
static void print_unwritten_section(const char *title, SettingFlags flag, const char *text) {
        printf(".Ss %s\n%s\n.Bl -tag -width Ds\n", title, text);
        SETTING_TABLE_FOREACH(s, &all_settings)
                if (s->flags & flag)
                        print_unwritten(s);
        puts(".El");
}

/* Returns true if the tables have settings of this backend. */
static bool has_settings(Backend b) {
        SETTING_TABLE_FOREACH(s, &all_settings)
                if (s->backend == b)
                        return true;

        return false;
}

/* Prints the entry of a setting. */
static void print_setting(const Setting *s) {
        char range[256];

        printf(".It Cm %s\n", s->name);
        print_escaped(s->summary);
        puts(".\n.br");
        print_line("Values", value_range_format(&s->range, range, sizeof range));
        if (s->alias_of)
                print_line(s->flags & SETTING_ON_BATTERY ? "Sets, on battery" : "Sets, in another unit", s->alias_of);
        print_line("In other programs", s->equivalent);
        print_line("Lost by", s->lost_by);
        if (s->flags & SETTING_UNREADABLE)
                puts("Cannot be read back: the value is written after each boot, attach, resume and reset, and the verdict is\n"
                     ".Dq unverifiable .\n.br");
        if (s->flags & SETTING_NONVOLATILE)
                puts("The drive keeps the value over power cycles: only\n.Ql drivekeep apply --permanent\nwrites the value.\n.br");
        if (s->flags & SETTING_SAVEABLE)
                puts("With\n.Cm permanent = true\nin its block,\n.Ql drivekeep apply --permanent\nmakes the drive save the value.\n.br");
        if (s->flags & SETTING_AT_ATTACH)
                puts("An action, performed once when the drive is attached.\n.br");
        if ((s->flags & SETTING_AT_ATTACH) && s->range.words)
                puts("With\n.Dq resume ,\nthe action is also performed after each resume.\nWhen the drive is active again, the value is\n"
                     ".Dq off ,\nand the verdict is\n.Dq applied ,\nwith a reason.\n.br");
        if (s->danger)
                print_line("Dangerous, requires allow_dangerous = true", s->danger);
        if (s->harm)
                print_line("Warning of 'drivekeep check' for some values", s->harm->why);
        if (s->excludes)
                print_line("Excludes, if the drive supports both", s->excludes);
        if (s->unless)
                print_line("Only for drives without", s->unless);
        print_line("Source", s->source);
}

int main(void) {
        puts(".\\\" Written by man/settings.c from the tables in daemon/device/.\n"
             ".Dd November 29, 2026\n"
             ".Dt DRIVEKEEP-SETTINGS 7\n"
             ".Os\n"
             ".Sh NAME\n"
             ".Nm drivekeep-settings\n"
             ".Nd all settings of drivekeep and their values\n"
             ".Sh DESCRIPTION\n"
             "Each setting is a key in a block of\n"
             ".Xr drivekeep.conf 5 .\n"
             "A key for several kinds of drives has an entry for each kind.\n"
             "Lines in an entry:\n"
             ".Bl -tag -width \"In other programs\" -compact\n"
             ".It \\&In other programs\n"
             "the command or option that writes the same setting\n"
             ".It Lost by\n"
             "events that reset the value\n"
             ".It Excludes\n"
             "settings that cannot be combined with this one; the later rule wins\n"
             ".It Source\n"
             "the standard or kernel file that defines the setting\n"
             ".El\n"
             ".Sh EXAMPLES\n"
             "Show one setting:\n"
             ".Pp\n"
             ".Dl $ drivekeep settings apm\n"
             ".Sh SETTINGS");

        for (Backend b = 0; b < _BACKEND_MAX; b++) {
                if (!has_settings(b))
                        continue;
                printf(".Ss Held by %s\n.Bl -tag -width Ds\n", backends[b]);
                SETTING_TABLE_FOREACH(s, &all_settings)
                        if (s->backend == b && !(s->flags & (SETTING_DEAD | SETTING_EXCLUDED)))
                                print_setting(s);
                puts(".El");
        }

        print_unwritten_section(
                        "Keys without effect", SETTING_DEAD,
                        "These keys of\n.Pa /etc/hdparm.conf\nset features of kernels before Linux 5.14.\nTheir verdict is\n.Dq unsupported .");
        print_unwritten_section(
                        "Keys that are never written", SETTING_EXCLUDED,
                        "These keys change a drive permanently or destroy data.\nTheir verdict is\n.Dq forbidden ,\n"
                        "and their values are neither stored nor logged.");

        puts(".Sh SEE ALSO\n"
             ".Xr drivekeep 1 ,\n"
             ".Xr drivekeep.conf 5 ,\n"
             ".Xr drivekeepd 8");
        return ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
