/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "output.h"
#include "reader.h"
#include "safe-file.h"
#include "settings.h"
#include "try-values.h"

#define FIRST_LINE "// Written by drivekeep try --keep"
#define ID_MAX 48

/* ---- values ---- */

TemporaryValues *try_values_read_file(const char *state_dir, const char *name) {
        TemporaryValues *t = NULL;

        if (must_not_fail(temporary_read_file(state_dir, name, &all_settings, &t)) < 0 || !t)
                t = must(calloc(1, sizeof *t));
        for (size_t i = t->n_items; i > 0; i--)
                if (!t->items[i - 1].until_boot)
                        temporary_drop(t, t->items + i - 1);
        return t;
}

TemporaryValues *try_values_read(const char *state_dir, const Drive *d) {
        _cleanup_free_ char *name = NULL;

        must_work(temporary_name(d, &name));
        return try_values_read_file(state_dir, name);
}

TemporaryValues *try_values_of_config(const Config *c) {
        TemporaryValues *t = must(calloc(1, sizeof *t));

        for (const Block *b = c->blocks; b < c->blocks + c->n_blocks; b++)
                for (const Assignment *a = b->assignments; a < b->assignments + b->n_assignments; a++)
                        must_work(temporary_set(t, &(TemporaryValue){ .setting = setting_find(&all_settings, a->name),
                                                                      .value = a->value,
                                                                      .until_boot = true,
                                                                      .allow_dangerous = b->allow_dangerous,
                                                                      .wake = b->wake }));
        return t;
}

void try_values_add(TemporaryValues *t, const TemporaryValues *more) {
        for (const TemporaryValue *v = more->items; v < more->items + more->n_items; v++)
                if (!v->restoring)
                        must_work(temporary_set(t, v));
}

/* ---- as text ---- */

static void put_pattern(FILE *f, const char *text) {
        _cleanup_free_ char *pattern = must(strdup(text));

        /* Replaces characters that are special in a glob or a string by "?", which matches any character. */
        for (char *p = pattern; (p = strpbrk(p, "*?[]\\"));)
                *p++ = '?';
        emit_string(f, pattern);
}

void try_values_put_match(FILE *f, const Drive *d) {
        bool has_serial = d->serial && d->model;

        /* For an ATA drive without a WWN, libata makes a WWN of model and serial number, padded with blanks. A pattern for model and
         * serial number is more readable. */
        if (d->wwn && !(has_serial && starts_with(d->wwn, "t10.ATA "))) {
                fputs("{ wwn = ", f);
                put_pattern(f, d->wwn);
                fputs("; }", f);
        } else if (has_serial) {
                fputs("{ model = ", f);
                put_pattern(f, d->model);
                fputs("; serial = ", f);
                put_pattern(f, d->serial);
                fputs("; }", f);
        } else
                put_pattern(f, drive_stable_link(d) ?: d->node);
}

void try_values_put_head(FILE *f, const Drive *d, bool allow_dangerous, bool wake) {
        fputs("    { match = ", f);
        try_values_put_match(f, d);
        fputs(";\n", f);
        fputs(allow_dangerous ? "      allow_dangerous = true;\n" : "", f);
        fputs(wake ? "      wake = true;\n" : "", f);
}

char *try_values_format_blocks(const Drive *d, const TemporaryValues *t, bool until_boot) {
        char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        for (unsigned i = 0; i < 4; i++) {
                bool allow_dangerous = i & 1, wake = i & 2, any = false;

                for (const TemporaryValue *v = t->items; v < t->items + t->n_items; v++) {
                        if (v->until_boot != until_boot || v->allow_dangerous != allow_dangerous || v->wake != wake)
                                continue;
                        if (!any)
                                try_values_put_head(f, d, allow_dangerous, wake);
                        any = true;
                        fputs("      ", f);
                        emit_wish(f, &all_settings,
                                  &(ImportWish){ .key = v->name, .value = v->restoring ? v->before_text : v->text });
                        fputc('\n', f);
                }
                fputs(any ? "    },\n" : "", f);
        }
        must_close(f);
        return text;
}

/* ---- the file with kept values ---- */

/* For a drive without a WWN, the kernel makes a WWN of words ("t10.ATA     MODEL     SERIAL", "nvme.8086-…"). Returns false for such a
 * WWN: it is too long for a file name, and its beginning is the same for all drives of one model. */
static bool wwn_is_number(const Drive *d) {
        return d->wwn && strlen(d->wwn) <= ID_MAX && !starts_with(d->wwn, "t10.") && !strchr(d->wwn, ' ');
}

/* Replaces unusual characters in the file name. Two drives may get the same file name, but the match in the file still identifies the
 * drive. */
char *try_values_kept_path(const Options *o, const Drive *d) {
        bool has_serial = d->serial && drive_identity_kind(d) != IDENTITY_PATH;
        _cleanup_free_ char *id = must_format("%.*s", ID_MAX,
                                              wwn_is_number(d) ? d->wwn
                                              : has_serial     ? d->serial
                                                               : d->name);

        for (char *p = id; *p; p++)
                if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-", *p))
                        *p = '_';
        return must_format("%s/" CONFIG_DROP_IN_DIRECTORY "/90-%s.conf", o->roots[0], id);
}

char *try_values_format_file(const Drive *d, const TemporaryValues *t) {
        _cleanup_free_ char *blocks = try_values_format_blocks(d, t, true),
                            *who = format_escaped("%s (model %s, serial %s)", d->name, strna(d->model),
                                                  strna(d->serial));

        return *blocks ? must_format(FIRST_LINE
                                     ", for %s. The next --keep for this drive replaces the file.\n\ndrives = (\n%s);\n",
                                     who, blocks)
                       : NULL;
}

bool try_values_is_ours(const char *path) {
        _cleanup_free_ char *text = NULL;
        const char *objection;
        size_t size;

        return must_not_fail(text_file_read(path, &text, &size, &objection)) == 0 && starts_with(text, FIRST_LINE);
}
