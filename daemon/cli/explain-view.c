/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "explain-view.h"
#include "json-add.h"
#include "text.h"

static void put_patterns(FILE *f, const Criterion *c) {
        for (size_t i = 0; i < c->n_patterns; i++)
                fprintf(f, "%s\"%s\"", i == 0 ? "" : i + 1 < c->n_patterns ? ", " : " or ", c->patterns[i]);
}

static const char *criterion_name(const Criterion *c) {
        return c->property ?: match_key_to_string(c->key);
}

/* "its transport is "sata", not "usb"". */
static void put_failing(FILE *f, const Criterion *c, const Drive *d) {
        const char *fact = match_fact(c, d);

        if (c->key == MATCH_NODE) {
                fputs("neither its node nor a link to it is ", f);
                put_patterns(f, c);
        } else if (!fact && !d->name) {
                fprintf(f, "its %s is not known, and ", criterion_name(c));
                put_patterns(f, c);
                fprintf(f, " is asked for; add %s=... to --as", criterion_name(c));
        } else if (!fact) {
                fprintf(f, "it has no %s, and ", criterion_name(c));
                put_patterns(f, c);
                fputs(" is asked for", f);
        } else {
                fprintf(f, "its %s is \"%s\", not ", criterion_name(c), fact);
                put_patterns(f, c);
        }
}

static void put_fitting(FILE *f, const Block *b, const Drive *d, const DriveLink *link) {
        const Match *m = &b->match;

        if (m->n_criteria == 0)
                fputs("it is for every drive", f);

        for (size_t i = 0; i < m->n_criteria; i++) {
                const Criterion *c = &m->criteria[i];

                fputs(i == 0 ? "" : ", ", f);
                if (c->key != MATCH_NODE)
                        fprintf(f, "%s is \"%s\"", criterion_name(c), match_fact(c, d));
                else
                        fprintf(f, "%s%s", link ? link->path : d->node,
                                link && link->via == LINK_STACKED     ? ", which lies on it"
                                : link && link->via == LINK_PARTITION ? " is a partition of it"
                                                                      : " is its name");
        }

        if (b->only_in_raid)
                fputs(", it is in an array", f);
        if (b->broken)
                fputs("; but it is in error, and withholds what it names", f);
}

/* Why the block is for the drive, or is not, as the end of a sentence. The caller frees *ret. */
static int block_reason(const Block *b, const Drive *d, char **ret, bool *ret_fits) {
        _cleanup_free_ char *reason = NULL;
        const Criterion *failing = match_failing(&b->match, d);
        const DriveLink *link = NULL;
        size_t size;
        FILE *f;

        f = open_memstream(&reason, &size);
        if (!f)
                return -ENOMEM;

        *ret_fits = false;
        if (failing)
                put_failing(f, failing, d);
        else if (b->only_in_raid && !d->raid)
                fputs(d->name ? "it is in no array, and only_in_raid is set"
                              : "only_in_raid is set, and --as does not say raid=true",
                      f);
        else {
                *ret_fits = match_drive(&b->match, d, &link);
                put_fitting(f, b, d, link);
        }

        if (fclose(f) != 0)
                return -ENOMEM;

        *ret = text_escape(reason, NULL);
        return *ret ? 0 : -ENOMEM;
}

static const char *assignment_format(const SettingTable *t, const Assignment *a, char buf[static VALUE_TEXT_MAX]) {
        const Setting *s = setting_find(t, a->name);

        if (a->withheld)
                return "in error";
        if (a->keep)
                return "keep";
        return value_format(&s->range, &a->value, buf);
}

static bool block_fits(const Block *b, const Drive *d) {
        return match_drive(&b->match, d, NULL) && (!b->only_in_raid || d->raid);
}

/* The assignments for one state that lost to the wish, in the order of the files. */
static int overridden(const Explanation *e, const Wish *w,
                      int (*each)(void *userdata, const Block *b, const Assignment *a, const char *value),
                      void *userdata) {
        char buf[VALUE_TEXT_MAX];

        for (size_t i = 0; i < e->config->n_blocks; i++) {
                const Block *b = e->config->blocks + i;

                if (!block_fits(b, e->drive))
                        continue;

                for (size_t k = 0; k < b->n_assignments; k++) {
                        const Assignment *a = b->assignments + k;
                        int r;

                        if (!streq(a->name, w->name) || (a->on_battery && !e->on_battery) ||
                            (b->file == w->file && a->line == w->line && a->column == w->column))
                                continue;

                        r = each(userdata, b, a, assignment_format(e->settings, a, buf));
                        if (r < 0)
                                return r;
                }
        }

        return 0;
}

static bool assignment_keeps(const Explanation *e, const Block *b, const Assignment *a) {
        return a->keep && !a->withheld && (!a->on_battery || e->on_battery) && block_fits(b, e->drive);
}

/* A setting that a rule takes back ("keep") is nothing that is wished for. The next of them, as if it were; false: no more. */
static bool next_kept(const Explanation *e, const Wishes *w, size_t *block, size_t *assignment, Wish *ret) {
        for (; *block < e->config->n_blocks; ++*block, *assignment = 0) {
                const Block *b = e->config->blocks + *block;

                while (*assignment < b->n_assignments) {
                        const Assignment *a = b->assignments + (*assignment)++;
                        bool last = assignment_keeps(e, b, a) && !wishes_find(w, a->name);

                        for (size_t i = *block; i < e->config->n_blocks && last; i++) {
                                const Block *later = e->config->blocks + i;

                                for (size_t k = i == *block ? *assignment : 0; k < later->n_assignments && last; k++)
                                        last = !streq(later->assignments[k].name, a->name) ||
                                               !assignment_keeps(e, later, later->assignments + k);
                        }
                        if (!last)
                                continue;

                        *ret = (Wish){ .name = a->name, .file = b->file, .line = a->line, .column = a->column };
                        return true;
                }
        }

        return false;
}

static int put_overridden(void *userdata, const Block *b, const Assignment *a, const char *value) {
        fprintf(userdata, "    not %s, of %s:%u\n", value, b->file, a->line);
        return 0;
}

static const char *wish_format(const Explanation *e, const Wish *w, char buf[static VALUE_TEXT_MAX]) {
        return w->withheld ? "left alone, as the rule is in error"
                           : value_format(&setting_find(e->settings, w->name)->range, &w->value, buf);
}

static bool wish_is_asked(const Explanation *e, const Wish *w) {
        return !e->setting || streq(w->name, e->setting);
}

int explain_print(const Explanation *e, FILE *f) {
        _cleanup_free_ char *title = NULL, *shown = NULL;
        _cleanup_(wishes_done) Wishes w = {};
        const Drive *d = e->drive;
        char buf[VALUE_TEXT_MAX];
        bool any = false;
        Wish kept;
        int r;

        r = config_resolve(e->config, d, e->on_battery, &w);
        if (r < 0)
                return r;

        if (asprintf(&title, "%s (model %s, serial %s, transport %s%s)", strna(d->node), strna(d->model),
                     strna(d->serial), transport_to_string(d->transport), e->on_battery ? ", on battery" : "") < 0) {
                title = NULL;
                return -ENOMEM;
        }
        shown = text_escape(title, NULL);
        if (!shown)
                return -ENOMEM;

        fprintf(f, "%s\n\nRules:\n", shown);
        for (size_t i = 0; i < e->config->n_blocks; i++) {
                const Block *b = e->config->blocks + i;
                _cleanup_free_ char *reason = NULL;
                bool fits;

                r = block_reason(b, d, &reason, &fits);
                if (r < 0)
                        return r;
                fprintf(f, "  %s:%u: %s: %s\n", b->file, b->line, fits ? "for it" : "not for it", reason);
        }
        if (e->config->n_blocks == 0)
                fputs("  none\n", f);

        fputs("\nSettings:\n", f);
        for (size_t i = 0; i < w.n_items; i++) {
                const Wish *x = w.items + i;

                if (!wish_is_asked(e, x))
                        continue;

                any = true;
                fprintf(f, "  %s = %s, of %s:%u\n", x->name, wish_format(e, x, buf), x->file, x->line);
                (void) overridden(e, x, put_overridden, f);
        }
        for (size_t i = 0, k = 0; next_kept(e, &w, &i, &k, &kept);) {
                if (!wish_is_asked(e, &kept))
                        continue;

                any = true;
                fprintf(f, "  %s = keep, of %s:%u\n", kept.name, kept.file, kept.line);
                (void) overridden(e, &kept, put_overridden, f);
        }
        if (!any)
                fprintf(f, "  no rule sets %s\n", e->setting ?: "anything");

        return ferror(f) ? -EIO : 0;
}

static int rule_text(char **ret, const char *file, unsigned line) {
        return asprintf(ret, "%s:%u", file, line) < 0 ? -ENOMEM : 0;
}

static int rule_json(const Block *b, const Drive *d, struct json_object **ret) {
        _cleanup_free_ char *reason = NULL, *rule = NULL;
        _cleanup_(json_putp) struct json_object *o = NULL;
        bool fits;
        int r;

        r = block_reason(b, d, &reason, &fits);
        if (r >= 0 && rule_text(&rule, b->file, b->line) < 0) {
                rule = NULL;
                r = -ENOMEM;
        }
        if (r < 0)
                return r;

        const JsonText texts[] = { { "rule", rule }, { "reason", reason } };

        r = json_object_of_texts(texts, ELEMENTSOF(texts), &o);
        if (r >= 0)
                r = json_add(o, "matches", json_object_new_boolean(fits));
        if (r < 0)
                return r;

        *ret = TAKE_PTR(o);
        return 0;
}

static int json_overridden(void *userdata, const Block *b, const Assignment *a, const char *value) {
        _cleanup_free_ char *rule = NULL;
        struct json_object *o;
        int r;

        if (rule_text(&rule, b->file, a->line) < 0) {
                rule = NULL;
                return -ENOMEM;
        }

        r = json_object_of_texts((const JsonText[]){ { "value", value }, { "rule", rule } }, 2, &o);
        return r < 0 ? r : json_append(userdata, o);
}

static int wish_json(const Explanation *e, const Wish *w, const char *value, struct json_object **ret) {
        _cleanup_(json_putp) struct json_object *o = NULL;
        _cleanup_free_ char *rule = NULL;
        struct json_object *array;
        int r;

        if (rule_text(&rule, w->file, w->line) < 0) {
                rule = NULL;
                return -ENOMEM;
        }

        const JsonText texts[] = {
                { "name", w->name },
                { "value", value },
                { "rule", rule },
        };

        r = json_object_of_texts(texts, ELEMENTSOF(texts), &o);
        if (r < 0)
                return r;

        array = json_object_new_array();
        r = json_add(o, "overridden", array);
        if (r >= 0)
                r = overridden(e, w, json_overridden, array);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(o);
        return 0;
}

int explain_json(const Explanation *e, struct json_object **ret) {
        _cleanup_(json_putp) struct json_object *o = NULL;
        _cleanup_(wishes_done) Wishes w = {};
        struct json_object *rules = NULL, *settings = NULL, *child;
        char buf[VALUE_TEXT_MAX];
        Wish kept;
        int r;

        const JsonText texts[] = {
                { "node", e->drive->node },
                { "model", e->drive->model },
                { "serial", e->drive->serial },
                { "transport", transport_to_string(e->drive->transport) },
        };

        r = config_resolve(e->config, e->drive, e->on_battery, &w);
        if (r >= 0)
                r = json_object_of_texts(texts, ELEMENTSOF(texts), &o);
        if (r < 0)
                return r;

        r = json_add(o, "on_battery", json_object_new_boolean(e->on_battery));
        if (r >= 0)
                r = json_add(o, "rules", rules = json_object_new_array());
        if (r >= 0)
                r = json_add(o, "settings", settings = json_object_new_array());

        for (size_t i = 0; i < e->config->n_blocks && r >= 0; i++) {
                r = rule_json(e->config->blocks + i, e->drive, &child);
                if (r >= 0)
                        r = json_append(rules, child);
        }
        for (size_t i = 0; i < w.n_items && r >= 0; i++) {
                if (!wish_is_asked(e, w.items + i))
                        continue;
                r = wish_json(e, w.items + i, w.items[i].withheld ? NULL : wish_format(e, w.items + i, buf), &child);
                if (r >= 0)
                        r = json_append(settings, child);
        }
        for (size_t i = 0, k = 0; r >= 0 && next_kept(e, &w, &i, &k, &kept);) {
                if (!wish_is_asked(e, &kept))
                        continue;
                r = wish_json(e, &kept, "keep", &child);
                if (r >= 0)
                        r = json_append(settings, child);
        }
        if (r < 0)
                return r;

        *ret = TAKE_PTR(o);
        return 0;
}
