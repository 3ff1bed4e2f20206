/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <fnmatch.h>

#include "match.h"
#include "nearest.h"
#include "value.h"

/* fnmatch(3) may take a time that grows with the product of both lengths. */
#define PATTERN_MAX 512U

/* Where these stand, a pattern is more than its characters. */
#define GLOB "*?["

/* clang-format off */
static const struct {
        const char *name;
        size_t fact; /* where the Drive has it; 0: it has no text of its own */
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

        /* A property is written by its own name, which udev has in capitals. */
        if (isupper((unsigned char) *s) && strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(s))
                return MATCH_PROPERTY;

        return _MATCH_KEY_INVALID;
}

const char *match_key_nearest(const char *s) {
        Nearest n = { .typed = s };

        for (MatchKey k = 0; k < MATCH_PROPERTY; k++)
                nearest_offer(&n, table[k].name);

        return n.word;
}

/* The form in which a pattern is kept; -EINVAL when it can fit nothing. */
static int pattern_normalize(MatchKey key, const char *pattern, const char **ret) {
        static const ValueRange boolean = { .type = VALUE_BOOL };
        Value v;
        int r;

        if (strlen(pattern) > PATTERN_MAX || pattern[0] == '\0')
                return -EINVAL;

        if (key == MATCH_NODE && strncmp(pattern, "/dev/", 5) != 0)
                return -EINVAL;

        if (key == MATCH_ROTATIONAL || key == MATCH_REMOVABLE) {
                r = value_parse(&boolean, pattern, &v);
                if (r < 0)
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

static int match_criterion(Match *m, MatchKey key, const char *property, Criterion **ret) {
        _cleanup_free_ char *name = NULL;

        for (size_t i = 0; i < m->n_criteria; i++)
                if (m->criteria[i].key == key && streq_ptr(m->criteria[i].property, property)) {
                        *ret = &m->criteria[i];
                        return 0;
                }

        if (property) {
                name = strdup(property);
                if (!name)
                        return -ENOMEM;
        }

        if (!GREW(m->criteria, m->n_criteria))
                return -ENOMEM;

        m->criteria[m->n_criteria] = (Criterion){ .key = key, .property = TAKE_PTR(name) };
        *ret = &m->criteria[m->n_criteria++];
        return 0;
}

int match_add(Match *m, MatchKey key, const char *property, const char *pattern) {
        _cleanup_free_ char *copy = NULL;
        Criterion *c = NULL;
        int r;

        assert((key == MATCH_PROPERTY) == (property != NULL));

        r = pattern_normalize(key, pattern, &pattern);
        if (r < 0)
                return r;

        copy = strdup(pattern);
        if (!copy)
                return -ENOMEM;

        r = match_criterion(m, key, property, &c);
        if (r < 0)
                return r;

        if (!GREW(c->patterns, c->n_patterns))
                return -ENOMEM;

        c->patterns[c->n_patterns++] = TAKE_PTR(copy);
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

/* udev writes characters that it dislikes as \xHH. Decodes one at `s` into *ret; '/' and NUL stay as they are, since
 * decoded they would end a path's component. Returns false when there is none. */
static bool escape_decode(const char *s, char *ret) {
        char digits[3];

        if (s[0] != '\\' || s[1] != 'x' || !isxdigit((unsigned char) s[2]) || !isxdigit((unsigned char) s[3]))
                return false;

        memcpy(digits, s + 2, 2);
        digits[2] = '\0';
        *ret = (char) strtoul(digits, NULL, 16);

        return *ret != '/' && *ret != '\0';
}

/* Decodes \xHH, so that one written so and the plain character are equal. In a glob, what comes of it stays literal. */
static char *text_decode(const char *s, bool glob) {
        char *decoded, *p;

        decoded = p = malloc(strlen(s) * 2 + 1);
        if (!decoded)
                return NULL;

        while (*s) {
                char c;

                if (escape_decode(s, &c)) {
                        if (glob && strchr("*?[]\\", c))
                                *p++ = '\\';
                        *p++ = c;
                        s += 4;
                } else if (glob && s[0] == '\\' && s[1] == 'x') {
                        p = stpcpy(p, "\\\\"); /* an escape that stays: fnmatch() shall see its backslash */
                        s++;
                } else if (glob && s[0] == '\\' && s[1]) {
                        *p++ = *s++;
                        *p++ = *s++;
                } else
                        *p++ = *s++;
        }
        *p = '\0';

        return decoded;
}

/* One blank for each run of blanks and '_', none at the ends. */
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

/* Goes on by one character as match_loose() compares them, but for blanks at the start. */
static inline char loose_next(const char **s) {
        char c = **s;

        if (c == '\0')
                return c;
        *s += 1;
        if (c != ' ' && c != '_')
                return c;

        *s += strspn(*s, " _");
        return **s ? ' ' : '\0';
}

/* As far as the pattern's first glob: 0 and 1 are the answer, -1 means that the rest decides. Neither has anything to decode. */
static int compare_loosely(const char *pattern, const char *text) {
        char p, t;

        pattern += strspn(pattern, " _");
        text += strspn(text, " _");
        do {
                if (*pattern == '*' || *pattern == '?' || *pattern == '[')
                        return -1;
                p = loose_next(&pattern);
                t = loose_next(&text);
        } while (p == t && p);

        return p == t;
}

bool match_loose(const char *pattern, const char *text) {
        _cleanup_free_ char *p = NULL, *t = NULL;
        int r = -1;

        /* Asked of every rule for every drive: most are for others, and that shows soon. */
        if (!strchr(pattern, '\\') && !strchr(text, '\\'))
                r = compare_loosely(pattern, text);
        if (r >= 0)
                return r;

        p = text_decode(pattern, true);
        t = text_decode(text, false);
        /* Out of memory: no match, nothing is written. */
        if (!p || !t)
                return false;

        collapse_blanks(p);
        collapse_blanks(t);
        return fnmatch(p, t, 0) == 0;
}

/* Asked of every rule and every link of every drive, and nearly always there is nothing to decode. */
static bool match_text(const char *pattern, const char *text, int flags) {
        _cleanup_free_ char *p = NULL, *t = NULL;

        if (!strchr(pattern, '\\') && !strchr(text, '\\'))
                return strpbrk(pattern, GLOB) ? fnmatch(pattern, text, flags) == 0 : streq(pattern, text);

        p = text_decode(pattern, true);
        t = text_decode(text, false);
        return p && t && fnmatch(p, t, flags) == 0;
}

static const char *skip_wwn_prefix(const char *s) {
        static const char *const prefixes[] = { "0x", "naa.", "eui." };

        for (size_t i = 0; i < ELEMENTSOF(prefixes); i++)
                if (strncasecmp(s, prefixes[i], strlen(prefixes[i])) == 0)
                        return s + strlen(prefixes[i]);

        return s;
}

static bool match_wwn(const char *pattern, const char *wwn) {
        pattern = skip_wwn_prefix(pattern);
        wwn = skip_wwn_prefix(wwn);
        return strpbrk(pattern, GLOB "\\") ? fnmatch(pattern, wwn, FNM_CASEFOLD) == 0 : strcasecmp(pattern, wwn) == 0;
}

/* By what node patterns fitted. The nearer to the drive, the better an answer. */
typedef struct NodeFit {
        bool node;
        const DriveLink *link;
} NodeFit;

static bool match_node(const char *pattern, const Drive *d, NodeFit *best) {
        bool fits = match_text(pattern, d->node, FNM_PATHNAME);

        best->node = best->node || fits;
        for (size_t i = 0; i < d->n_links; i++) {
                const DriveLink *l = &d->links[i];

                if (!match_text(pattern, l->path, FNM_PATHNAME))
                        continue;
                if (!best->link || l->via < best->link->via)
                        best->link = l;
                fits = true;
        }

        return fits;
}

const char *match_fact(const Criterion *c, const Drive *d) {
        const char *fact = NULL;

        switch (c->key) {
        case MATCH_TRANSPORT:
                return transport_to_string(d->transport);
        case MATCH_ROTATIONAL:
                return d->rotational_untold ? NULL : d->rotational ? "true" : "false";
        case MATCH_REMOVABLE:
                return d->removable_untold ? NULL : d->removable ? "true" : "false";
        case MATCH_PROPERTY:
                return drive_property(d, c->property);
        default:
                if (table[c->key].fact > 0)
                        memcpy(&fact, (const char *) d + table[c->key].fact, sizeof fact);
                return fact;
        }
}

static inline bool pattern_holds(const Criterion *c, const char *pattern, const Drive *d, NodeFit *best) {
        const char *fact = match_fact(c, d);

        if (c->key == MATCH_NODE)
                return match_node(pattern, d, best);
        if (!fact)
                return false;

        if (c->key == MATCH_WWN)
                return match_wwn(pattern, fact);
        return table[c->key].fact > 0 ? match_loose(pattern, fact) : match_text(pattern, fact, 0);
}

/* All patterns are tried, for the best answer. */
static bool criterion_holds(const Criterion *c, const Drive *d, NodeFit *best) {
        bool holds = false;

        for (size_t i = 0; i < c->n_patterns; i++)
                if (pattern_holds(c, c->patterns[i], d, best))
                        holds = true;

        return holds;
}

static const Criterion *find_failing(const Match *m, const Drive *d, NodeFit *best) {
        for (size_t i = 0; i < m->n_criteria; i++)
                if (!criterion_holds(&m->criteria[i], d, best))
                        return &m->criteria[i];

        return NULL;
}

bool match_drive(const Match *m, const Drive *d, const DriveLink **ret_link) {
        NodeFit best = {};

        if (find_failing(m, d, &best))
                return false;

        if (ret_link)
                *ret_link = best.node ? NULL : best.link;
        return true;
}

const Criterion *match_failing(const Match *m, const Drive *d) {
        return find_failing(m, d, &(NodeFit){});
}

bool match_asks_property(const Match *m, const char *key) {
        for (size_t i = 0; i < m->n_criteria; i++)
                if (streq_ptr(m->criteria[i].property, key))
                        return true;
        return false;
}

bool match_asks_identity(const Match *m) {
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

static bool patterns_include(const Criterion *wide, const Criterion *narrow) {
        for (size_t i = 0; i < narrow->n_patterns; i++) {
                bool found = false;

                for (size_t k = 0; k < wide->n_patterns && !found; k++)
                        found = streq(wide->patterns[k], narrow->patterns[i]);
                if (!found)
                        return false;
        }

        return true;
}

bool match_includes(const Match *wide, const Match *narrow) {
        for (size_t i = 0; i < wide->n_criteria; i++) {
                const Criterion *x = &wide->criteria[i];
                bool found = false;

                for (size_t k = 0; k < narrow->n_criteria && !found; k++) {
                        const Criterion *y = &narrow->criteria[k];

                        found = x->key == y->key && streq_ptr(x->property, y->property) && patterns_include(x, y);
                }
                if (!found)
                        return false;
        }

        return true;
}
