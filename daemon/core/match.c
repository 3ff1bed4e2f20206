/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>

#include "match.h"
#include "text.h"
#include "value.h"

/* Limits the run time of fnmatch(3), which may grow with the product of the lengths of pattern and text. */
#define PATTERN_MAX 512U

/* Characters with a special meaning in patterns. */
#define GLOB "*?["

/* clang-format off */
static const struct {
        const char *name;
        size_t fact; /* offset of the Drive member that the patterns are compared with; 0: no such member */
} table[_MATCH_KEY_MAX] = {
        [MATCH_NODE]       = { "node",       0                         },
        [MATCH_MODEL]      = { "model",      offsetof(Drive, model)    },
        [MATCH_SERIAL]     = { "serial",     offsetof(Drive, serial)   },
        [MATCH_WWN]        = { "wwn",        offsetof(Drive, wwn)      },
        [MATCH_FIRMWARE]   = { "firmware",   offsetof(Drive, firmware) },
        [MATCH_VENDOR]     = { "vendor",     offsetof(Drive, vendor)   },
        [MATCH_TRANSPORT]  = { "transport",  0                         },
        [MATCH_ROTATIONAL] = { "rotational", 0                         },
        [MATCH_REMOVABLE]  = { "removable",  0                         },
        [MATCH_PROPERTY]   = { "property",   0                         },
};
/* clang-format on */

const char *match_key_to_string(MatchKey k) {
        return k >= 0 && k < _MATCH_KEY_MAX ? table[k].name : NULL;
}

MatchKey match_key_from_string(const char *s) {
        for (MatchKey k = 0; k < _MATCH_KEY_MAX; k++)
                if (k != MATCH_PROPERTY && streq(table[k].name, s))
                        return k;

        /* The match key of a udev property is the name of the property, which is in capitals. */
        if (isupper((unsigned char) *s) && strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(s))
                return MATCH_PROPERTY;

        return _MATCH_KEY_INVALID;
}

/* Converts a pattern to the form in which it is stored. -EINVAL: the pattern can match no drive. */
static int pattern_normalize(MatchKey key, const char *pattern, const char **ret) {
        static const ValueRange boolean = { .type = VALUE_BOOL };
        Value v;

        if (strlen(pattern) > PATTERN_MAX || pattern[0] == '\0')
                return -EINVAL;

        if (key == MATCH_NODE && !starts_with(pattern, "/dev/"))
                return -EINVAL;

        if (key == MATCH_ROTATIONAL || key == MATCH_REMOVABLE) {
                if (value_parse(&boolean, pattern, &v) < 0)
                        return -EINVAL;
                pattern = v.number ? "true" : "false";
        }

        if (key == MATCH_TRANSPORT) {
                Transport t = 0;

                while (t < _TRANSPORT_MAX && fnmatch(pattern, transport_to_string(t), 0) != 0)
                        t++;
                if (t == _TRANSPORT_MAX)
                        return -EINVAL;
        }

        *ret = pattern;
        return 0;
}

/* Finds the criterion for a key and property. A Match has at most one criterion for each such pair. */
static Criterion *find_criterion(const Match *m, MatchKey key, const char *property) {
        for (size_t i = 0; i < m->n_criteria; i++)
                if (m->criteria[i].key == key && streq_ptr(m->criteria[i].property, property))
                        return m->criteria + i;

        return NULL;
}

int match_add(Match *m, MatchKey key, const char *property, const char *pattern) {
        Criterion *c;
        int r;

        assert((key == MATCH_PROPERTY) == (property != NULL));

        r = pattern_normalize(key, pattern, &pattern);
        if (r < 0)
                return r;

        c = find_criterion(m, key, property);
        if (!c) {
                if (!GREW(m, criteria))
                        return -ENOMEM;
                c = m->criteria + m->n_criteria;
                *c = (Criterion){ .key = key, .property = property ? strdup(property) : NULL };
                if (property && !c->property)
                        return -ENOMEM;
                m->n_criteria++;
        }

        if (!GREW(c, patterns))
                return -ENOMEM;
        c->patterns[c->n_patterns] = strdup(pattern);
        if (!c->patterns[c->n_patterns])
                return -ENOMEM;
        c->n_patterns++;
        return 0;
}

void match_done(Match *m) {
        for (size_t i = 0; i < m->n_criteria; i++) {
                Criterion *c = &m->criteria[i];

                for (size_t k = 0; k < c->n_patterns; k++)
                        free(c->patterns[k]);
                free(c->patterns);
                free(c->property);
        }
        free(m->criteria);
        *m = (Match){};
}

/* Decodes udev's \xHH escapes, except for '/' and NUL, which would end a component of a path. */
static void decode_escapes(char *s) {
        char *p = s;

        for (; *s; s++) {
                char c = text_escaped_character(s);

                if (c == '\0' || c == '/')
                        *p++ = *s;
                else {
                        *p++ = c;
                        s += 3;
                }
        }
        *p = '\0';
}

/* Replaces each run of blanks and '_' by one blank, and removes blanks at both ends. */
static void collapse_blanks(char *s) {
        char *p = s;

        for (const char *q = s; *q; q++)
                if (*q != ' ' && *q != '_')
                        *p++ = *q;
                else if (p > s && p[-1] != ' ')
                        *p++ = ' ';
        if (p > s && p[-1] == ' ')
                p--;
        *p = '\0';
}

static const char *skip_wwn_prefix(const char *s) {
        if (strncasecmp(s, "0x", 2) == 0)
                return s + 2;
        return s + (strncasecmp(s, "naa.", 4) == 0 || strncasecmp(s, "eui.", 4) == 0 ? 4 : 0);
}

static bool pattern_fits(MatchKey key, const char *pattern, const char *text) {
        int flags = key == MATCH_NODE ? FNM_PATHNAME : key == MATCH_WWN ? FNM_CASEFOLD : 0;
        char p[PATTERN_MAX + 1], t[PATH_MAX];

        if (key == MATCH_WWN) {
                pattern = skip_wwn_prefix(pattern);
                text = skip_wwn_prefix(text);
        }

        if (strlen(text) >= sizeof t)
                return false;
        (void) strcpy(p, pattern);
        (void) strcpy(t, text);
        if (table[key].fact > 0 && key != MATCH_WWN) {
                collapse_blanks(p);
                collapse_blanks(t);
        }

        /* The text has udev's escapes. A pattern may have the same escapes, or the decoded characters. If neither
         * the pattern nor the text has a backslash, there is nothing to decode. */
        if (fnmatch(p, t, flags | FNM_NOESCAPE) == 0)
                return true;
        if (!strchr(p, '\\') && !strchr(t, '\\'))
                return false;
        decode_escapes(t);
        return fnmatch(p, t, flags) == 0;
}

const char *match_fact(const Criterion *c, const Drive *d) {
        switch (c->key) {
        case MATCH_TRANSPORT:
                return transport_to_string(d->transport);
        case MATCH_ROTATIONAL:
                return d->rotational_unknown ? NULL : d->rotational ? "true" : "false";
        case MATCH_REMOVABLE:
                return d->removable_unknown ? NULL : d->removable ? "true" : "false";
        case MATCH_PROPERTY:
                return drive_property(d, c->property);
        default:
                return table[c->key].fact > 0 ? *(char *const *) ((const char *) d + table[c->key].fact) : NULL;
        }
}

/* Returns true if the criterion holds. Sets *best to the matching link that is nearest to the drive. */
static bool criterion_holds(const Criterion *c, const Drive *d, const DriveLink **best) {
        const char *fact = c->key == MATCH_NODE ? d->node : match_fact(c, d);
        bool holds = false;

        for (size_t i = 0; i < c->n_patterns; i++) {
                holds = holds || (fact && pattern_fits(c->key, c->patterns[i], fact));

                for (const DriveLink *l = d->links; c->key == MATCH_NODE && l < d->links + d->n_links; l++)
                        if (pattern_fits(c->key, c->patterns[i], l->path)) {
                                holds = true;
                                if (!*best || l->via < (*best)->via)
                                        *best = l;
                        }
        }

        return holds;
}

const Criterion *match_failing(const Match *m, const Drive *d, const DriveLink **ret_link) {
        const DriveLink *best = NULL;

        for (size_t i = 0; i < m->n_criteria; i++)
                if (!criterion_holds(m->criteria + i, d, &best))
                        return m->criteria + i;

        if (ret_link)
                *ret_link = best;
        return NULL;
}

bool match_drive(const Match *m, const Drive *d, const DriveLink **ret_link) {
        return !match_failing(m, d, ret_link);
}

bool match_needs_identity(const Match *m) {
        for (size_t i = 0; i < m->n_criteria; i++)
                if (table[m->criteria[i].key].fact > 0 && m->criteria[i].key != MATCH_VENDOR)
                        return true;

        return false;
}

bool match_is_general(const Match *m) {
        for (size_t i = 0; i < m->n_criteria; i++) {
                const Criterion *c = &m->criteria[i];
                bool globs = false;

                if (c->key != MATCH_NODE && c->key != MATCH_SERIAL && c->key != MATCH_WWN)
                        continue;

                for (size_t k = 0; k < c->n_patterns; k++)
                        globs = globs || strpbrk(c->patterns[k], GLOB);
                if (!globs)
                        return false;
        }

        return true;
}

static bool has_pattern(const Criterion *c, const char *pattern) {
        for (size_t i = 0; i < c->n_patterns; i++)
                if (streq(c->patterns[i], pattern))
                        return true;

        return false;
}

bool match_includes(const Match *wide, const Match *narrow) {
        for (size_t i = 0; i < wide->n_criteria; i++) {
                const Criterion *x = wide->criteria + i, *y = find_criterion(narrow, x->key, x->property);

                if (!y)
                        return false;
                for (size_t k = 0; k < y->n_patterns; k++)
                        if (!has_pattern(x, y->patterns[k]))
                                return false;
        }

        return true;
}
