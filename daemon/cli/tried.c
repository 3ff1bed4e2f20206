/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>

#include "output.h"
#include "reader.h"
#include "safe-file.h"
#include "settings.h"
#include "tried.h"
#include "verb.h"

#define FIRST_LINE "// Written by drivekeep try"
#define ID_MAX 48

/* ---- what stands in them ---- */

static void put_pattern(FILE *f, const char *text) {
        _cleanup_free_ char *pattern = must(strdup(text));

        /* What would be more than itself in a glob. */
        for (char *p = pattern; (p = strpbrk(p, "*?[]\\"));)
                *p++ = '?';
        emit_string(f, pattern);
}

void tried_put_match(FILE *f, const Drive *d) {
        bool has_serial = d->serial && d->model;

        /* For an ATA drive without a WWN, libata makes one from model and serial number, padded with blanks. */
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

void tried_put_head(FILE *f, const Drive *d, bool allow_dangerous, bool wake) {
        fputs("    { match = ", f);
        tried_put_match(f, d);
        fputs(";\n", f);
        fputs(allow_dangerous ? "      allow_dangerous = true;\n" : "", f);
        fputs(wake ? "      wake = true;\n" : "", f);
}

void tried_put_value(FILE *f, const char *name, const Value *v) {
        char buf[VALUE_TEXT_MAX];
        const ImportWish w = { .key = (char *) name,
                               .value = value_format(&setting_find(&all_settings, name)->range, v, buf) };

        fputs("      ", f);
        emit_wish(f, &all_settings, &w);
        fputc('\n', f);
}

bool tried_can_write(const char *name, const Value *v) {
        return value_has_exact_text(&setting_find(&all_settings, name)->range, v);
}

const Assignment *tried_find(const Config *c, const char *name) {
        for (const Block *b = c->blocks; b < c->blocks + c->n_blocks; b++) {
                const Assignment *a = block_find(b, name, false);

                if (a)
                        return a;
        }
        return NULL;
}

bool tried_is_barred(Verdict v) {
        return v == VERDICT_UNSUPPORTED || v == VERDICT_FORBIDDEN || v == VERDICT_QUARANTINED;
}

bool tried_is_in_vain(const SettingRecord *s) {
        /* A drive can accept a part of a value that it refuses. */
        bool same = streq_ptr(s->before, s->actual);

        return tried_is_barred(s->verdict) ||
               ((s->verdict == VERDICT_REFUSED || s->verdict == VERDICT_IGNORED) && same);
}

void tried_drop(Config *c, const char *name) {
        for (Block *b = c->blocks; b < c->blocks + c->n_blocks; b++)
                for (Assignment *a = b->assignments; a < b->assignments + b->n_assignments;) {
                        if (!streq(a->name, name)) {
                                a++;
                                continue;
                        }
                        b->n_assignments--;
                        memmove(a, a + 1, (size_t) (b->assignments + b->n_assignments - a) * sizeof *a);
                }
}

Config *tried_parse(const char *blocks) {
        _cleanup_free_ char *text = must_format("drives = (\n%s);\n", blocks);
        Config *c;

        must_work(config_new(&c));
        must_work(config_parse(c, &all_settings, "", text, strlen(text)));
        return c;
}

/* Writes the settings of blocks with these permissions. */
static void put_settings(FILE *f, const Config *c, const Config *newer, bool allow_dangerous, bool wake) {
        for (size_t i = 0; c && i < c->n_blocks; i++) {
                const Block *b = c->blocks + i;

                if (b->allow_dangerous != allow_dangerous || b->wake != wake)
                        continue;
                for (const Assignment *a = b->assignments; a < b->assignments + b->n_assignments; a++)
                        if (!newer || !tried_find(newer, a->name))
                                tried_put_value(f, a->name, &a->value);
        }
}

char *tried_format_blocks(const Drive *d, const Config *older, const Config *newer) {
        char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        for (unsigned i = 0; i < 4; i++) {
                bool allow_dangerous = i & 1, wake = i & 2;
                _cleanup_free_ char *settings = NULL;
                FILE *inner = must(open_memstream(&settings, &size));

                put_settings(inner, older, newer, allow_dangerous, wake);
                put_settings(inner, newer, NULL, allow_dangerous, wake);
                must_close(inner);
                if (!*settings)
                        continue;
                tried_put_head(f, d, allow_dangerous, wake);
                fprintf(f, "%s    },\n", settings);
        }
        must_close(f);
        return text;
}

char *tried_format_file(const Drive *d, bool kept, const char *blocks) {
        _cleanup_free_ char *who =
                        format_escaped("%s (model %s, serial %s)", d->name, strna(d->model), strna(d->serial));

        return must_format(FIRST_LINE "%s for %s.%s\n\ndrives = (\n%s);\n", kept ? " --keep" : "", who,
                           kept ? " It writes this file anew when more is kept."
                                : " It ends with the next boot, or with 'drivekeep try --undo'.",
                           blocks);
}

/* ---- where they are ---- */

/* Where a drive has no number the kernel makes a WWN of words ("t10.ATA     MODEL     SERIAL", "nvme.8086-…"), which begin alike for
 * drives of one model and are too long for a file's name. */
static bool wwn_is_number(const Drive *d) {
        return d->wwn && strlen(d->wwn) <= ID_MAX && !starts_with(d->wwn, "t10.") && !strchr(d->wwn, ' ');
}

/* Leaves unusual characters out of the file's name. Two drives may get the same name; the rule inside still names its drive. */
static char *drive_id(const Drive *d) {
        bool has_serial = d->serial && drive_identity_kind(d) != IDENTITY_PATH;
        char *id = must_format("%.*s", ID_MAX, wwn_is_number(d) ? d->wwn : has_serial ? d->serial : d->name);

        for (char *p = id; *p; p++)
                if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-", *p))
                        *p = '_';
        return id;
}

static Config *read_file(const char *path) {
        Config *c;

        must_work(config_new(&c));
        if (access(path, F_OK) >= 0)
                must_work(config_load_file(c, &all_settings, path));
        return c;
}

static void read_id(const char *const *roots, const char *id, bool with_kept, Tried *ret) {
        *ret = (Tried){};
        ret->path = must_format("%s/" CONFIG_DROP_IN_DIRECTORY "/" TRIED_PREFIX "%s.conf", roots[1], id);
        ret->before_path = must_format("%s/" CONFIG_DROP_IN_DIRECTORY "/" TRIED_PREFIX "%s.before", roots[1], id);
        ret->kept_path = must_format("%s/" CONFIG_DROP_IN_DIRECTORY "/90-%s.conf", roots[0], id);
        ret->rule = read_file(ret->path);
        ret->before = read_file(ret->before_path);
        ret->kept = read_file(with_kept ? ret->kept_path : "");
}

void tried_read(const char *const *roots, const Drive *d, Tried *ret) {
        _cleanup_free_ char *id = drive_id(d);

        read_id(roots, id, true, ret);
}

void tried_read_name(const char *const *roots, const char *name, Tried *ret) {
        size_t n = strlen(name) - strlen(TRIED_PREFIX) - strlen(".conf");
        _cleanup_free_ char *id = must(strndup(name + strlen(TRIED_PREFIX), n));

        read_id(roots, id, false, ret);
}

void tried_done(Tried *t) {
        free(t->path);
        free(t->before_path);
        free(t->kept_path);
        (void) config_free(t->rule);
        (void) config_free(t->before);
        (void) config_free(t->kept);
        *t = (Tried){};
}

bool tried_is_ours(const char *path) {
        _cleanup_free_ char *text = NULL;
        const char *objection;
        size_t size;

        return must_not_fail(text_file_read(path, &text, &size, &objection)) == 0 && starts_with(text, FIRST_LINE);
}

/* ---- writing ---- */

/* Makes the directory and the one above it where they are missing. Returns a descriptor of it, or a negative errno; -EPERM: others
 * could exchange what is in it. */
static int open_directory(const char *path) {
        _cleanup_free_ char *directory = must_directory(path), *above = must_directory(directory);
        int fd;

        if (path_is_safe(path) <= 0)
                return -EPERM;
        if ((mkdir(above, 0755) < 0 && errno != EEXIST) || (mkdir(directory, 0755) < 0 && errno != EEXIST))
                return -errno;

        fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

int tried_write(const char *path, const char *text) {
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (!text && unlink(path) >= 0)
                return EXIT_WANTED;
        if (!text && errno == ENOENT)
                return EXIT_WANTED;
        r = text ? open_directory(path) : -errno;
        if (r >= 0) {
                fd = r;
                r = must_not_fail(file_replace(fd, base_name(path), text, true));
        }
        if (r >= 0)
                return EXIT_WANTED;

        warn_escaped("%s cannot be %s: %s", path, text ? "written" : "taken away",
                     r == -EPERM ? "its directory can be written by others; chown root and chmod go-w make it safe"
                                 : strerror(-r));
        return EXIT_BAD_INPUT;
}
