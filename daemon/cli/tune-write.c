/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is picked, as configuration: a block, and the file that has the blocks of all drives that were measured. The file is made of
 * lines that have a form, so that what stands in it of other drives and settings stays as it is, with its comments. */

#include <stdio.h>
#include <time.h>

#include "clock.h"
#include "draft.h"
#include "output.h"
#include "settings.h"
#include "text-file.h"
#include "tried.h"
#include "tune-evidence.h"
#include "tuning.h"

#define FIRST_LINE "// Written by drivekeep tune"

#define BLOCK_HEAD "    { match = "
#define BLOCK_END "    },\n"

/* ---- this drive's block ---- */

/* ", 512 KiB 187 MB/s (185.2 to 189.1 MB/s)". */
static void put_estimate(FILE *f, const Tuning *t, size_t trial, FigureKind kind, Estimate e) {
        char value[VALUE_TEXT_MAX], median[FIGURE_TEXT_MAX], range[FIGURE_TEXT_MAX];

        fprintf(f, ", %s %s", tuning_format_value(t, trial, value), figure_format(kind, e.median, median));
        if (e.bounded)
                fprintf(f, " (%s)", figure_format_range(kind, e.low, e.high, range));
}

/* Of the value that is picked, and of the present one where that is another one. */
static void put_evidence(FILE *f, const Tuning *t, const Figure *figure,
                         Estimate (*estimate)(const Tuning *t, size_t trial)) {
        size_t picked = t->tune.pick.index, current = t->tune.contest.current;

        (void) fputs(figure->title, f);
        put_estimate(f, t, picked, figure->kind, estimate(t, picked));
        if (picked != current)
                put_estimate(f, t, current, figure->kind, estimate(t, current));
        (void) fputs("; ", f);
}

static void put_setting(FILE *f, const Subject *s, const Tuning *t) {
        time_t now = (time_t) (now_usec() / 1000000);
        _cleanup_free_ char *evidence = evidence_format(s->drive, t->tunable->setting);
        struct tm tm = {};
        char day[16];

        (void) localtime_r(&now, &tm);
        (void) strftime(day, sizeof day, "%Y-%m-%d", &tm);
        fprintf(f, EVIDENCE_COMMENT EVIDENCE "%s, %s: ", day, evidence);
        put_evidence(f, t, t->goal, tuning_goal);
        if (t->tune.pick.reason == PICK_CHEAPER)
                put_evidence(f, t, t->cost, tuning_cost);
        fprintf(f, "%zu samples\n", t->tune.n_used);
        tried_put_value(f, t->tunable->setting, tuning_picked(t));
}

/* Of which it is known which value is best. */
static const Tuning *find_known(const Tunings *all, const char *name, size_t n) {
        for (const Tuning *t = all->items; t < all->items + all->n_items; t++)
                if (!t->lacking && t->tune.pick.reason >= PICK_CURRENT && strlen(t->tunable->setting) == n &&
                    strncmp(t->tunable->setting, name, n) == 0)
                        return t;
        return NULL;
}

static bool any_changes(const Tunings *all) {
        for (const Tuning *t = all->items; t < all->items + all->n_items; t++)
                if (tuning_changes(t))
                        return true;
        return false;
}

/* With what an earlier block of the drive says of other settings (NULL: there is none). */
static void put_block(FILE *f, const Subject *s, const Tunings *all, const char *head, const char *kept) {
        (void) fputs(head, f);
        (void) fputs(kept ?: "", f);
        for (const Tuning *t = all->items; t < all->items + all->n_items; t++)
                if (tuning_changes(t))
                        put_setting(f, s, t);
        (void) fputs(BLOCK_END, f);
}

static char *format_head(const Subject *s) {
        char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        tried_put_head(f, s->drive, false, false);
        must_close(f);
        return text;
}

char *tune_format_block(const Subject *s, const Tunings *all) {
        _cleanup_free_ char *head = format_head(s);
        char *text = NULL;
        size_t size;
        FILE *f;

        if (!any_changes(all))
                return NULL;
        f = must(open_memstream(&text, &size));
        (void) fputs("drives = (\n", f);
        put_block(f, s, all, head, NULL);
        (void) fputs(");\n", f);
        must_close(f);
        return text;
}

/* ---- the file ---- */

/* Is that the line of the value that is picked? */
static bool has_picked(const char *line, const Tuning *t) {
        _cleanup_free_ char *same = NULL;
        size_t size;
        FILE *f = must(open_memstream(&same, &size));

        tried_put_value(f, t->tunable->setting, tuning_picked(t));
        must_close(f);
        return strlen(line) + 1 == size && starts_with(same, line);
}

/* Of the lines of an earlier block those of settings that are not picked anew; a comment goes with the setting below it. One that stays as
 * it is has that from this measurement. Takes over `lines`. */
static char *keep_settings(char *lines, const Subject *s, const Tunings *all, bool *ret_renewed) {
        char *text = NULL, *line, *rest = lines;
        const char *comment = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        while ((line = strsep(&rest, "\n"))) {
                const char *name = line + strspn(line, " ");
                const Tuning *t;

                if (starts_with(line, EVIDENCE_COMMENT)) {
                        comment = line;
                        continue;
                }
                t = find_known(all, name, strcspn(name, " ="));
                if (t && !tuning_changes(t) && has_picked(line, t)) {
                        put_setting(f, s, t);
                        *ret_renewed = true;
                } else if (*name && !(t && tuning_changes(t)))
                        fprintf(f, "%s%s%s\n", comment ?: "", comment ? "\n" : "", line);
                comment = NULL;
        }
        must_close(f);
        free(lines);
        return text;
}

static void put_begin(FILE *f) {
        (void) fputs(FIRST_LINE " --write. It writes this file anew when more is measured.\n\ndrives = (\n", f);
}

/* The text of the file (NULL: there is none), with this drive's block anew, and last. NULL: the file is not as this made it, so that
 * something that somebody has written there would be lost. *ret_renewed: what stays as it is has that from this measurement now. */
static char *format_file(const Subject *s, const Tunings *all, const char *old, bool *ret_renewed) {
        _cleanup_free_ char *head = format_head(s), *mine = NULL, *same = NULL;
        char *text = NULL;
        size_t size, same_size;
        FILE *f = must(open_memstream(&text, &size)), *g = must(open_memstream(&same, &same_size));
        bool once = true;

        put_begin(f);
        put_begin(g);
        for (const char *block = old ? strstr(old, BLOCK_HEAD) : NULL, *end; block; block = strstr(end, BLOCK_HEAD)) {
                const char *body = block + strlen(head);

                end = strstr(block, "\n" BLOCK_END);
                if (!end)
                        break;
                end++;
                fprintf(g, "%.*s" BLOCK_END, (int) (end - block), block);
                if (!starts_with(block, head))
                        fprintf(f, "%.*s" BLOCK_END, (int) (end - block), block);
                else {
                        once = once && !mine;
                        free(mine);
                        mine = keep_settings(must(strndup(body, end > body ? (size_t) (end - body) : 0)), s, all,
                                             ret_renewed);
                }
                end += strlen(BLOCK_END);
        }
        put_block(f, s, all, head, mine);
        (void) fputs(");\n", f);
        (void) fputs(");\n", g);
        must_close(f);
        must_close(g);
        if (old && !(once && streq(old, same))) {
                free(text);
                return NULL;
        }
        return text;
}

/* Is each value that is picked in force then, and no later file in the way? */
static bool is_in_force(const Subject *s, const Tunings *all, const Config *c, const char *path) {
        _cleanup_(wishes_done) Wishes wishes = {};
        bool all_well = true;

        must_work(config_resolve(c, s->drive, false, &wishes));
        for (const Tuning *t = all->items; t < all->items + all->n_items; t++) {
                const Wish *w = !tuning_changes(t) ? NULL : wishes_find(&wishes, t->tunable->setting);

                if (!w || streq(w->file, path))
                        continue;
                warn_escaped("%s of %s is set by %s:%u, which is read later; change it there", w->name, s->drive->name,
                             w->file, w->line);
                all_well = false;
        }
        return all_well;
}

static char *format_path(const Subject *s) {
        return must_format("%s/" CONFIG_DROP_IN_DIRECTORY "/" TUNED_NAME, s->options->roots[0]);
}

/* The text of the file, where nothing of it would be lost (NULL: there is none). */
static int read_file(const Subject *s, const char *path, char **ret) {
        _cleanup_free_ char *old = NULL, *same = NULL;
        const char *objection;
        bool renewed;
        size_t size;
        int r;

        r = must_not_fail(text_file_read(path, &old, &size, &objection));
        if (r == -ENOENT)
                return EXIT_WANTED;
        if (r != 0) {
                warn_escaped("%s cannot be read: %s", path, r > 0 ? objection : strerror(-r));
                return EXIT_BAD_INPUT;
        }
        same = format_file(s, &(const Tunings){}, old, &renewed);
        if (!same) {
                warn_escaped("%s %s, so it is left as it is; without --write what is better is shown", path,
                             starts_with(old, FIRST_LINE) ? "was changed by hand" : "is not of 'drivekeep tune' alone");
                return EXIT_BAD_INPUT;
        }
        *ret = TAKE_PTR(old);
        return EXIT_WANTED;
}

int tune_may_write(const Subject *s) {
        _cleanup_free_ char *path = format_path(s), *old = NULL;

        return read_file(s, path, &old);
}

int tune_write(const Subject *s, const Tunings *all) {
        const char *const *roots = s->options->roots;
        _cleanup_free_ char *path = format_path(s), *old = NULL, *text = NULL;
        _cleanup_(config_freep) Config *c = NULL;
        bool renewed = false;
        int r;

        r = read_file(s, path, &old);
        if (r != EXIT_WANTED)
                return r;
        text = format_file(s, all, old, &renewed);
        if (!any_changes(all) && !renewed) {
                warnx("nothing is better than what the drive has, so nothing is written");
                return EXIT_WANTED;
        }
        r = draft_check(roots, &(ConfigDraft){ path, text, strlen(text) }, NULL, &c);
        if (r == EXIT_WANTED && !is_in_force(s, all, c, path))
                r = EXIT_BAD_INPUT;
        if (r == EXIT_WANTED)
                r = tried_write(path, text);
        if (r == EXIT_WANTED)
                r = request_reload(s->leave.bus, false);
        if (r == EXIT_WANTED && !s->options->json)
                printf("Written to %s.\n", path);
        return r;
}
