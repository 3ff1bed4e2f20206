/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks the tables in drivekeep-migration(7): the right column is valid configuration, and equals the output of
 * `drivekeep import` for the left column. */

#include <stdio.h>

#include "suite.h"
#include "written-case.h"

#define PAGE "man/drivekeep-migration.7"

/* The sections of the manual page. The imported file has the name `file` and consists of `before`, a cell of the left
 * column, and `behind`. If `file` is NULL, the left column is not imported. */
static const struct {
        const char *section;
        unsigned n_rows;
        ImportKind kind;
        const char *file, *before, *behind;
} sections[] = {
        { "Which drives", 9, _IMPORT_KIND_INVALID, NULL, NULL, NULL },
        { "From hdparm", 12, IMPORT_SCRIPT, "script", "", " /dev/sda" },
        { "From smartctl, sdparm and blockdev", 13, IMPORT_SCRIPT, "script", "", " /dev/sda" },
        { "From nvme and sysfs", 4, IMPORT_SCRIPT, "script", "", "" },
        { "From /etc/hdparm.conf", 10, IMPORT_HDPARM_CONF, "hdparm.conf", "/dev/sda {\n", "\n}\n" },
        { "From /etc/udisks2/*.conf", 5, IMPORT_UDISKS, "EXAMPLE-1.conf", "[ATA]\n", "\n" },
        { "From TLP", 6, IMPORT_TLP, "tlp.conf", "DISK_DEVICES=sda\n", "\n" },
        { "From laptop-mode-tools", 5, IMPORT_LAPTOP_MODE, "laptop-mode.conf",
          "HD=/dev/sda\nCONTROL_HD_POWERMGMT=1\nCONTROL_HD_IDLE_TIMEOUT=1\nCONTROL_HD_WRITECACHE=1\n", "\n" },
        { "From the plugins disk and scsi_host of tuned", 5, IMPORT_TUNED, "tuned.conf", "[disk]\n", "\n" },
        { "From smartd.conf", 8, IMPORT_SMARTD, "smartd.conf", "/dev/sda ", "\n" },
};

static FILE *page;

/* Reads the next line of the page without its newline and its backslashes (roff escapes). Returns NULL at the end of the file. */
static char *next_line(char line[static 256]) {
        char *to = line;

        if (!fgets(line, 256, page))
                return NULL;
        line[strcspn(line, "\n")] = '\0';
        for (const char *from = line; *from; from++)
                if (*from != '\\')
                        *to++ = *from;
        *to = '\0';
        return line;
}

/* Returns true for a complaint that is expected because a row of a table is only a part of a rule. Such a part has no
 * settings or no match. */
static bool is_of_row(const Complaint *c, const char *line) {
        return c->level == COMPLAINT_NOTICE || strstr(line, "has a match but no settings") ||
               strstr(line, "can do harm here: this rule matches all drives");
}

static Config *parse(const char *text) {
        return check_config(PAGE, text, is_of_row);
}

static Config *import(size_t section, const char *left) {
        _cleanup_free_ char *text = NULL, *out = NULL;

        ck_assert_int_ge(asprintf(&text, "%s%s%s",
                                  starts_with(left, "alpm") ? "[scsi_host]\n" : sections[section].before, left,
                                  sections[section].behind),
                         0);
        out = import_to_text(sections[section].file, text, strlen(text), sections[section].kind);
        return parse(out);
}

static const Assignment *find(const Config *c, const Assignment *a) {
        for (size_t i = 0; i < c->n_blocks; i++)
                for (size_t k = 0; k < c->blocks[i].n_assignments; k++) {
                        const Assignment *b = &c->blocks[i].assignments[k];

                        if (streq(a->name, b->name) && a->on_battery == b->on_battery)
                                return b;
                }

        return NULL;
}

static void check_row(size_t section, char *row) {
        _cleanup_(config_freep) Config *right = NULL, *left = NULL;
        _cleanup_free_ char *text = NULL;
        char *gap = strstr(row, "  ");

        ck_assert_msg(gap, "%s", row);
        *gap = '\0';
        gap += strspn(gap + 1, " ") + 1;

        ck_assert_int_ge(asprintf(&text, "drives = ( { %s %s } );", strncmp(gap, "match", 5) == 0 ? "" : "match = { };",
                                  gap),
                         0);
        right = parse(text);
        ck_assert_uint_eq(right->n_blocks, 1);
        if (strncmp(gap, "match", 5) == 0)
                return;
        ck_assert_uint_eq(right->blocks[0].n_assignments, 1);
        if (!sections[section].file)
                return;

        left = import(section, row);
        ck_assert_msg(left->n_blocks == 1 && left->blocks[0].n_assignments == 1, "%s: %zu rules", row, left->n_blocks);
        const Assignment *a = &right->blocks[0].assignments[0], *b = find(left, a);
        ck_assert_msg(b && value_equal(&a->value, &b->value) && !a->withheld && !b->withheld, "%s is not %s", row, gap);
}

START_TEST(test_section) {
        char line[256], title[256];
        bool here = false, inside = false;
        unsigned n = 0;

        page = fopen(PAGE, "r");
        ck_assert_ptr_nonnull(page);
        snprintf(title, sizeof title, ".Ss %s", sections[_i].section);
        while (next_line(line)) {
                if (strncmp(line, ".Ss ", 4) == 0 || strncmp(line, ".Sh ", 4) == 0)
                        here = streq(line, title);
                else if (here && strncmp(line, ".Bd -literal", 12) == 0)
                        inside = true;
                else if (streq(line, ".Ed"))
                        inside = false;
                else if (inside) {
                        check_row((size_t) _i, line);
                        n++;
                }
        }
        fclose(page);
        ck_assert_uint_eq(n, sections[_i].n_rows);
}
END_TEST

/* `sections` contains every table of the manual page. */
START_TEST(test_sections_are_all) {
        unsigned n = 0;
        char line[256];

        page = fopen(PAGE, "r");
        ck_assert_ptr_nonnull(page);
        while (next_line(line))
                n += strncmp(line, ".Bd ", 4) == 0;
        fclose(page);
        ck_assert_uint_eq(n, ELEMENTSOF(sections));
}
END_TEST

int main(void) {
        Suite *suite = suite_create("migration");
        TCase *t = tcase_create("migration");

        tcase_add_loop_test(t, test_section, 0, ELEMENTSOF(sections));
        tcase_add_test(t, test_sections_are_all);
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
