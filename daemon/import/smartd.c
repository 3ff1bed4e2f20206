/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads smartd.conf: the directives -e and -l scterc equal smartctl's options -s and -l scterc. Each line also names a drive that smartd
 * polls (smartd.conf(5), 7.3). */

#include "command.h"

/* watching: directives that only monitor a drive. with_value: directives that have a value. */
static const char watching[] = "aHfpuntTlsmMiIrRCUWFvPdc", with_value[] = "dnToSlesmMiIrRCUWFvPc";

/* Translates a directive into options of smartctl. */
static void read_directive(Import *import, unsigned line, Words *options, const char *option, const char *value) {
        _cleanup_free_ char *shown = must_format("%s%s%s", option, *value ? " " : "", value);

        if (STR_IN_SET(option, "-e", "-d") || (streq(option, "-l") && starts_with(value, "scterc,"))) {
                words_add(options, streq(option, "-e") ? "-s" : option, 2);
                words_add(options, value, strlen(value));
        } else if (STR_IN_SET(option, "-o", "-S"))
                import_note(import, line, "drivekeep has no setting for smartd's %s", shown);
        else if (option[0] != '-' || !option[1] || option[2] || !strchr(watching, option[1]))
                import_not_understood(import, line, NULL, shown);
}

/* Reads the directives of one line. `named`: drives named by earlier lines, which DEVICESCAN excludes. */
static void read_directives(Import *import, unsigned line, const char *directives, const char *device, Match *named) {
        bool scans = streq(device, "DEVICESCAN"), skips_standby = false;
        _cleanup_(words_done) Words words = {}, options = {};
        _cleanup_(match_done) Match ata = {};
        Place place = { .import = import };

        if (scans) {
                /* -e and -l scterc apply to ATA drives only. */
                for (size_t i = 0; i < 3; i++)
                        (void) import_match_add(&ata, MATCH_TRANSPORT, NULL,
                                                ((const char *[]){ "sata", "pata", "usb" })[i]);
                place.match = &ata;
                place.comment_reason =
                                named->n_criteria > 0
                                                ? "this line applies to the drives that no other line names; name these drives in match"
                                                : NULL;
                place.drives_unknown = true;
                device = "/dev/" RULE_DRIVE;
        }
        words_split(&words, directives);
        for (size_t i = 0; i < words.n_items; i++) {
                const char *option = words.items[i], *value = "";

                if (option[0] == '-' && option[1] && strchr(with_value, option[1]) && i + 1 < words.n_items)
                        value = words.items[++i];
                if (streq(option, "-n"))
                        skips_standby = starts_with(value, "standby") || starts_with(value, "idle");
                if (streq(option, "-d") && streq(value, "ignore"))
                        return;
                i += streq(option, "-M") && streq(value, "exec");
                if (scans && streq(option, "-d") && !streq(value, "removable"))
                        place.comment_reason =
                                        place.comment_reason
                                                        ?: "drivekeep has no match for the drives that smartd finds with this -d option";
                else
                        read_directive(import, line, &options, option, value);
        }
        if (scans || *device == '/') {
                must_grow(import, polls);
                import->polls[import->n_polls] = (ImportPoll){ .line = line, .skips_standby = skips_standby };
                (void) import_match_add(&import->polls[import->n_polls].match, MATCH_NODE, NULL,
                                        scans ? "/dev/sd*" : device);
                import_match_copy(&import->polls[import->n_polls++].except, named);
        }
        words_add(&options, device, strlen(device));
        command_read(&place, smartctl_command, &options, line);
}

void smartd_read(const char *text, Import *ret) {
        _cleanup_free_ char *line = NULL, *defaults = NULL;
        _cleanup_(match_done) Match named = {};
        Lines l = { .next = text };
        bool scanned = false;

        while (joined_lines_next(&l, LINES_SMARTD, &line)) {
                _cleanup_free_ char *directives = NULL;
                size_t n;

                n = strcspn(line, " \t");
                /* Directives of the line override those of DEFAULT. */
                directives = must_format("%s %s", starts_with(line, "DEFAULT") ? "" : defaults ?: "", line + n);
                line[n] = '\0';
                if (scanned && n > 0)
                        import_note(ret, l.line, "smartd ignores lines after DEVICESCAN");
                else if (streq(line, "DEFAULT")) {
                        free(defaults);
                        defaults = TAKE_PTR(directives);
                } else if (n > 0) {
                        read_directives(ret, l.line, directives, line, &named);
                        (void) import_match_add(&named, MATCH_NODE, NULL, line);
                }
                scanned = scanned || streq(line, "DEVICESCAN");
        }
}
