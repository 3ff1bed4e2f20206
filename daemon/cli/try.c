/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep try`: a rule that ends with the boot, or with --undo. Only the service writes to the drive, by this rule as by any other,
 * so that what a rule may not do cannot be tried either. */

#include <assert.h>
#include <sys/stat.h>

#include "choice.h"
#include "draft.h"
#include "dry-visit.h"
#include "machine.h"
#include "output.h"
#include "reader.h"
#include "request.h"
#include "settings.h"
#include "status-table.h"
#include "tried.h"

/* ---- what is asked for ---- */

static int put_word(FILE *f, const char *word) {
        size_t n = strcspn(word, "=");
        _cleanup_free_ char *name = must(strndup(word, n));
        const char *value = word + n + 1;

        if (n == 0 || word[n] == '\0' || *value == '\0') {
                warn_escaped("'%s' is no setting with its value: write SETTING=VALUE", word);
                return EXIT_BAD_INPUT;
        }
        if (streq(name, "allow_dangerous") || streq(name, "wake")) {
                if (!streq(value, "true")) {
                        warn_escaped("'%s' is not known here: write %s=true, or leave it out", word, name);
                        return EXIT_BAD_INPUT;
                }
                fprintf(f, "%s;\n", word);
                return EXIT_WANTED;
        }
        if (setting_choose(&all_settings, name) != EXIT_WANTED)
                return EXIT_BAD_INPUT;
        if (streq(value, "keep") || setting_find(&all_settings, name)->flags & SETTING_ON_BATTERY) {
                warn_escaped("'%s' cannot be tried, as it writes nothing now; it can stand in the configuration", word);
                return EXIT_BAD_INPUT;
        }

        emit_wish(f, &all_settings, &(ImportWish){ .key = name, .value = (char *) value });
        fputc('\n', f);
        return EXIT_WANTED;
}

/* The words as a block for the drive; no words: none. */
static int read_words(const Drive *d, char *const *words, Config **ret) {
        _cleanup_(config_freep) Config *c = NULL;
        _cleanup_free_ char *text = NULL;
        int status = EXIT_WANTED;
        bool any = *words;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        fputs("drives = (\n", f);
        tried_put_head(f, d, false, false);
        for (; *words && status == EXIT_WANTED; words++)
                status = put_word(f, *words);
        fputs("} );\n", f);
        must_close(f);
        if (status != EXIT_WANTED)
                return status;

        must_work(config_new(&c));
        if (any)
                must_work(config_parse(c, &all_settings, "", text, size));
        for (size_t i = 0; i < c->complaints.n_items; i++)
                warn_escaped("%s", c->complaints.items[i].sentence);
        if (c->complaints.n_errors > 0)
                return EXIT_BAD_INPUT;
        *ret = TAKE_PTR(c);
        return EXIT_WANTED;
}

/* ---- what is there before ---- */

typedef struct Trial {
        const Options *options;
        const Drive *drive;
        const DriveRecord *record;
        Tried tried;
        Config *asked;  /* by this command; tried.rule has the earlier ones */
        Config *before; /* the readable values before this command; NULL: not read yet */
        bool on_battery;
} Trial;

/* The wishes that come of the rule, without what is tried already: that was read before then. */
static int find_wishes(const Trial *t, const Config *c, const Config *rule, const char *path, Wishes *all,
                       Wishes *ret) {
        must_work(config_resolve(c, t->drive, t->on_battery, all));
        for (Wish *w = all->items; w < all->items + all->n_items; w++) {
                if (!tried_find(rule, w->name))
                        continue;
                if (!streq(w->file, path)) {
                        warn_escaped("%s of %s is set by %s:%u, which is read later; change it there", w->name,
                                     t->drive->name, w->file, w->line);
                        return EXIT_BAD_INPUT;
                }
                if (tried_find(t->tried.rule, w->name))
                        continue;
                must_grow(ret, items);
                ret->items[ret->n_items++] = *w;
        }
        return EXIT_WANTED;
}

static bool is_readable(const Step *s) {
        return s->before.known && tried_can_write(s->wish->name, &s->before.value);
}

static void tell_unreadable(const Drive *d, const Step *s) {
        const char *why = s->reason[0]                                             ? s->reason
                          : s->setting && (s->setting->flags & SETTING_UNREADABLE) ? "nothing can read it"
                                                                                   : "it cannot be read";

        /* A value that will not be written needs no undo. */
        if (!tried_is_barred(s->verdict))
                warn_escaped("%s: what %s is now is not known (%s), so 'drivekeep try --undo' cannot put it back",
                             d->name, s->wish->name, why);
}

/* Into t->before: the drive is read for that, and not woken. */
static int read_before(Trial *t, const Wishes *wishes, const DeviceIO *io) {
        const Block *asked = t->asked->blocks;
        _cleanup_(plan_done) Plan plan = {};
        _cleanup_free_ char *blocks = NULL;
        Visit v = dry_visit(t->drive, t->record, wishes, io);
        bool any = false;
        size_t size;
        FILE *f;
        int r;

        v.work &= ~WORK_WAKE;
        r = wishes->n_items > 0 ? must_not_fail(visit_run(&v, &plan)) : 0;
        if (r < 0) {
                warn_escaped("%s cannot be read: %s", t->drive->name, strerror(-r));
                return EXIT_BAD_INPUT;
        }

        f = must(open_memstream(&blocks, &size));
        for (const Step *s = plan.steps; s < plan.steps + plan.n_steps; s++)
                if (is_readable(s)) {
                        if (!any)
                                tried_put_head(f, t->drive, asked->allow_dangerous, asked->wake);
                        any = true;
                        tried_put_value(f, s->wish->name, &s->before.value);
                } else
                        tell_unreadable(t->drive, s);
        fputs(any ? "    },\n" : "", f);
        must_close(f);
        t->before = tried_parse(blocks);
        return EXIT_WANTED;
}

/* ---- doing it ---- */

/* The text of a file with the settings of both. NULL: there are none, and the file must not exist. */
static char *format_file(const Trial *t, bool kept, const Config *older, const Config *newer) {
        _cleanup_free_ char *blocks = tried_format_blocks(t->drive, older, newer);

        return *blocks ? tried_format_file(t->drive, kept, blocks) : NULL;
}

/* The files of a trial. A kept rule replaces the tried one. */
typedef struct Files {
        char *rule, *before, *kept; /* their texts; NULL: no such file */
} Files;

static void files_done(Files *f) {
        free(f->rule);
        free(f->before);
        free(f->kept);
}

static Files files_of_before(const Trial *t) {
        return (Files){
                .rule = format_file(t, false, t->tried.rule, NULL),
                .before = format_file(t, false, t->tried.before, NULL),
                .kept = format_file(t, true, t->tried.kept, NULL),
        };
}

static Files files_of_now(const Trial *t) {
        _cleanup_free_ char *blocks = tried_format_blocks(t->drive, t->tried.rule, t->asked);
        _cleanup_(config_freep) Config *rule = tried_parse(blocks);

        if (t->options->keep)
                return (Files){ .kept = format_file(t, true, t->tried.kept, rule) };
        return (Files){
                .rule = format_file(t, false, rule, NULL),
                .before = format_file(t, false, t->tried.before, t->before),
                .kept = format_file(t, true, t->tried.kept, NULL),
        };
}

/* Writes the file that undoes a rule before the rule, and removes it after the rule. */
static int files_write(const Trial *t, const Files *f) {
        int status = t->options->keep ? tried_write(t->tried.kept_path, f->kept) : EXIT_WANTED;

        if (status == EXIT_WANTED && f->rule)
                status = tried_write(t->tried.before_path, f->before);
        if (status == EXIT_WANTED)
                status = tried_write(t->tried.path, f->rule);
        if (status == EXIT_WANTED && !f->rule)
                status = tried_write(t->tried.before_path, f->before);
        return status;
}

/* Removes the values that were not written, so that --undo and --keep leave them out. Returns whether there were any. */
static bool drop_in_vain(Trial *t) {
        _cleanup_(records_done) Records records = {};
        _cleanup_(config_freep) Config *asked = NULL;
        _cleanup_free_ char *blocks = tried_format_blocks(t->drive, t->asked, NULL);
        const DriveRecord *record;
        bool any = false;

        (void) records_read(t->options->state_dir, &records);
        record = records_find(&records, t->drive->name);
        asked = tried_parse(blocks);
        TRIED_FOREACH(a, asked) {
                const SettingRecord *s = record ? drive_record_find(record, a->name) : NULL;

                if (!s || !tried_is_in_vain(s))
                        continue;
                printf("%s%s: not written, so this value is not tried any more\n", any ? "" : "\n", a->name);
                any = true;
                tried_drop(t->asked, a->name);
                if (t->before)
                        tried_drop(t->before, a->name);
        }
        return any;
}

static void tell_how_to_go_on(const Trial *t) {
        _cleanup_free_ char *blocks = tried_format_blocks(t->drive, t->tried.rule, t->asked);

        if (!*blocks)
                return;
        if (t->options->keep)
                printf("\nKept in %s:\n\n%s", t->tried.kept_path, blocks);
        else
                printf("\nThis ends with the next boot, or with 'drivekeep try --undo %s'.\n"
                       "To keep it: 'drivekeep try --keep %s', or this in the configuration:\n\n%s",
                       t->drive->name, t->drive->name, blocks);
}

static int apply(Trial *t, const Files *now, const Files *old) {
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        int status, s = EXIT_WANTED;

        status = request_open(&bus);
        if (status < 0)
                return request_explain(status, &SD_BUS_ERROR_NULL);
        status = files_write(t, now);
        if (status == EXIT_WANTED)
                status = request_reload(bus, false);
        if (status != EXIT_WANTED) {
                (void) files_write(t, old);
                return status;
        }

        status = visit_drives(t->options, bus, "Apply", (char *const[]){ t->drive->name, NULL }, visited_show_status);
        if (drop_in_vain(t)) {
                Files left = files_of_now(t);

                s = files_write(t, &left);
                if (s == EXIT_WANTED)
                        s = request_reload(bus, true);
                files_done(&left);
        }
        tell_how_to_go_on(t);
        return s == EXIT_WANTED ? status : s;
}

static int run_trial(Trial *t, Permission *permission) {
        bool keep = t->options->keep;
        const char *path = keep ? t->tried.kept_path : t->tried.path;
        _cleanup_(wishes_done) Wishes wishes = {};
        _cleanup_(config_freep) Config *c = NULL, *rule = NULL;
        _cleanup_(files_done) Files old = {}, now = {};
        _cleanup_free_ char *blocks = NULL;
        const char *text;
        Wishes mine = {};
        int status;

        if (keep && t->tried.kept->n_files > 0 &&
            (t->tried.kept->complaints.n_errors > 0 || !tried_is_ours(t->tried.kept_path))) {
                warn_escaped("%s is not of 'drivekeep try --keep' alone, so it is left as it is; write the block there yourself",
                             t->tried.kept_path);
                return EXIT_BAD_INPUT;
        }

        blocks = tried_format_blocks(t->drive, t->tried.rule, t->asked);
        rule = tried_parse(blocks);
        old = files_of_before(t);
        now = files_of_now(t);
        text = keep ? now.kept : now.rule;
        assert(text); /* try_words() has made sure that something is asked for, or was */
        status = draft_check(t->options->roots,
                             &(ConfigDraft){ path, text, strlen(text), .without = keep ? t->tried.path : NULL },
                             t->asked, &c);
        if (status != EXIT_WANTED)
                return status;
        status = find_wishes(t, c, rule, path, &wishes, &mine);
        if (status == EXIT_WANTED && !keep)
                status = read_before(t, &mine, &permission->io);
        free(mine.items);
        /* The drive is not kept free of visits any longer. */
        permission_done(permission);
        *permission = (Permission){};
        if (status != EXIT_WANTED)
                return status;

        files_done(&now);
        now = files_of_now(t);
        return apply(t, &now, &old);
}

static int try_words(const Options *o) {
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(records_done) Records records = {};
        _cleanup_(config_freep) Config *asked = NULL;
        _cleanup_(permission_done) Permission permission = {};
        Trial t = { .options = o };
        int on_battery, status;
        size_t n;

        status = records_read_drives(o->state_dir, &inventory, &records);
        if (status < 0)
                return status;
        status = drives_choose(inventory.drives, inventory.n_drives, (char *[]){ o->names[0], NULL }, &n);
        if (status == EXIT_WANTED)
                status = read_words(inventory.drives[0], o->names + 1, &asked);
        if (status != EXIT_WANTED)
                return status;

        status = permission_get(&permission, o->state_dir, inventory.drives, n);
        if (status == EXIT_WANTED && !permission.bus)
                status = request_explain(-ENOENT, &SD_BUS_ERROR_NULL);
        if (status != EXIT_WANTED)
                return status;

        on_battery = power_on_battery(POWER_SUPPLY_CLASSDIR);
        if (on_battery < 0)
                return on_battery;

        t.drive = inventory.drives[0];
        t.record = records_of(&records, t.drive);
        t.asked = asked;
        t.on_battery = on_battery;
        tried_read(o->roots, t.drive, &t.tried);
        if (o->keep && !o->names[1] && t.tried.rule->n_blocks == 0) {
                warn_escaped("nothing is being tried on %s, so there is nothing to keep", t.drive->name);
                status = EXIT_BAD_INPUT;
        } else
                status = run_trial(&t, &permission);
        tried_done(&t.tried);
        (void) config_free(t.before);
        return status;
}

static int try_run(const Options *o) {
        size_t n = 0;

        while (o->names && o->names[n])
                n++;
        if ((o->undo && (o->keep || n > 1)) || (o->keep && n == 0) || (n == 1 && !o->keep && !o->undo)) {
                warnx("say which drive and what to try: 'drivekeep try DRIVE SETTING=VALUE', or 'drivekeep try --undo', or "
                      "'drivekeep try --keep DRIVE'");
                return EXIT_BAD_INPUT;
        }
        if ((n > 0 || o->undo) && geteuid() != 0) {
                warnx("only root may try settings");
                return EXIT_BAD_INPUT;
        }

        /* The service, which is another user, is to read it. */
        (void) umask(0022);
        return o->undo ? tried_undo(o) : n == 0 ? tried_list(o) : try_words(o);
}

const Verb verb_try = {
        .name = "try",
        .changes = true,
        .summary = "Try a value until the next boot",
        .arguments = "[DRIVE SETTING=VALUE...]\n--keep DRIVE [SETTING=VALUE...]\n--undo [DRIVE]",
        .help = "Has drivekeep.service apply the values now, by a rule that ends with the next boot or with --undo, and prints "
                "the block to keep them by. Without arguments: shows what is being tried."
                "\v" DRIVE_IS ". "
                "--keep writes what is tried as a file below /etc/drivekeep/drivekeep.conf.d. Needs root.",
        .options = OPTION_TRY | OPTION_STATE_DIR,
        .run = try_run,
};
