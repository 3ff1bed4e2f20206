/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* hdparm's flags, as its main() reads them (9.65): letters may stand together, a number behind its letter or alone. It acts
 * on a drive when it comes to its name, with the flags so far, and ends at what it does not know. */

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "command.h"
#include "hdparm-keyword.h"
#include "shell.h"

/* Letters that take a number or, unless they need it, without one only show. */
typedef struct NumberFlag {
        char letter;
        bool needed;
        unsigned short max;
} NumberFlag;

static const NumberFlag numbers[] = {
        { 'a', false, 2048 }, { 'A', false, 1 }, { 'b', false, 2 },  { 'B', false, 255 },  { 'c', false, 3 },
        { 'd', false, 1 },    { 'D', true, 1 },  { 'E', true, 255 }, { 'J', false, 300 },  { 'k', false, 1 },
        { 'K', true, 1 },     { 'L', true, 1 },  { 'm', false, 64 }, { 'M', false, 255 },  { 'n', false, 1 },
        { 'P', true, 255 },   { 's', true, 1 },  { 'S', true, 255 }, { 'Q', false, 1024 }, { 'r', false, 1 },
        { 'R', false, 3 },    { 'u', false, 1 }, { 'W', false, 1 },
};

/* Their values have letters, too. */
#define WORDS "XpN"

/* What it does once, or only shows. */
static const char deeds[] =
                "offset drq-hsm-error dco-identify dco-restore dco-setmax fallocate fibmap fwdownload "
                "fwdownload-mode3 fwdownload-mode3-max fwdownload-mode7 fwdownload-modee fwdownload-modee-max "
                "idle-immediate idle-unload make-bad-sector set-sector-size trim-sector-ranges "
                "trim-sector-ranges-stdin write-sector repair-sector read-sector Istdin Istdout Iraw "
                "sanitize-status sanitize-antifreeze-lock sanitize-block-erase sanitize-crypto-scramble "
                "sanitize-overwrite sanitize-overwrite-passes ";

static const char modifiers[] = "yes-i-know-what-i-am-doing please-destroy-my-drive verbose prefer-ata12 direct ";

static void end(Command *c) {
        while (c->rule->n_wishes > 0)
                import_drop_wish(c->rule, c->rule->wishes[0].key);
        c->open = false;
        c->ended = true;
}

static int refuse(Command *c, const char *what) {
        end(c);
        return remark(&c->rule->remarks, "hdparm %s: it ends there, and sets nothing on a drive behind it", what);
}

static int want_letter(Command *c, char letter, const char *value) {
        const Keyword *k = keyword_find_letter(letter);

        if (letter == 'Q')
                return command_want(c, "queue_depth", value);
        if (letter == 'N' || letter == 'J')
                return remark(&c->rule->remarks,
                              "-%c is not taken over: it changes the drive for good, and drivekeep has no part in that",
                              letter);
        if (k)
                return command_want(c, k->key,
                                    k->form == KEYWORD_BOOLEAN && streq(value, "1")   ? "on"
                                    : k->form == KEYWORD_BOOLEAN && streq(value, "0") ? "off"
                                                                                      : value);
        return remark(&c->rule->remarks, "-%c %s has nothing that lasts or that a kernel of today takes", letter,
                      value);
}

static int read_long(Command *c, const char *name, size_t *i) {
        static const struct {
                const char *name, *key;
        } freezes[] = {
                { "security-freeze", "security_freeze" },
                { "dco-freeze", "dco_freeze" },
                { "sanitize-freeze-lock", "sanitize_freeze" },
        };
        char what[64];

        for (size_t k = 0; k < ELEMENTSOF(freezes); k++)
                if (strcasecmp(name, freezes[k].name) == 0)
                        return command_want(c, freezes[k].key, "on");

        if (strncasecmp(name, "security-", strlen("security-")) == 0 || strcasecmp(name, "user-master") == 0) {
                /* Its argument may be a password. */
                if (*i + 1 < c->n_words && strncmp(c->words[*i + 1], "/dev/", 5) != 0)
                        ++*i;
                return remark(&c->rule->remarks,
                              "--%s is not taken over: drivekeep sends no security commands and keeps "
                              "no passwords",
                              strcasecmp(name, "user-master") == 0 ? "user-master" : "security-…");
        }
        if (word_is_one_of_any_case(name, modifiers))
                return 0;
        if (word_is_one_of_any_case(name, deeds))
                return remark(&c->rule->remarks, "--%.40s is a deed, not a setting that can be kept", name);

        (void) snprintf(what, sizeof what, "knows no --%.40s", name);
        return refuse(c, what);
}

static const NumberFlag *find_number(char letter) {
        for (size_t i = 0; i < ELEMENTSOF(numbers); i++)
                if (numbers[i].letter == letter)
                        return &numbers[i];

        return NULL;
}

static size_t value_length(char letter, const char *s) {
        size_t n = 0;

        while (strchr(WORDS, letter) ? isalnum((unsigned char) s[n]) : isdigit((unsigned char) s[n]))
                n++;
        return n;
}

/* A letter that takes a value, `s` being what is behind it: *ret is what is behind the value. */
static int read_value(Command *c, char letter, const char *s, size_t *i, const char **ret) {
        const char *next = !*s && *i + 1 < c->n_words ? c->words[*i + 1] : "";
        const NumberFlag *f = find_number(letter);
        char value[32], what[64];
        size_t n;

        if (value_length(letter, next) > 0 || *next == '$' || *next == '`' || (*next == '%' && f && f->needed)) {
                s = next;
                ++*i;
        }
        n = value_length(letter, s);
        *ret = s + n;
        if (**ret && strchr("$`%", **ret)) {
                *ret = "";
                return remark(&c->rule->remarks, "the value of -%c is known only when the command runs", letter);
        }

        (void) snprintf(value, sizeof value, "%.*s", (int) MIN(n, sizeof value), s);
        if (f && (n > 0 ? strtoul(value, NULL, 10) > f->max : f->needed)) {
                (void) snprintf(what, sizeof what, "takes -%c only with a number from 0 to %u", letter, f->max);
                return refuse(c, what);
        }

        return n > 0 ? want_letter(c, letter, value) : 0;
}

static int read_letters(Command *c, const char *s, size_t *i) {
        char what[32];
        int r = 0;

        while (*s && r >= 0 && !c->ended) {
                char letter = *s++;

                if (find_number(letter) || strchr(WORDS, letter))
                        r = read_value(c, letter, s, i, &s);
                else if (strchr("yYZ", letter))
                        r = command_want(c, keyword_find_letter(letter)->key, "on");
                else if (strchr("fFtTwzC", letter))
                        r = remark(&c->rule->remarks, "-%c measures or does something once; it sets nothing", letter);
                else if (strchr("hV", letter))
                        end(c); /* it tells of itself, and no more */
                else if (strchr("$`%", letter)) {
                        c->open = true;
                        return remark(&c->rule->remarks, "%.60s is known only when the command runs", s - 1);
                } else if (!strchr("gHiIqv", letter)) {
                        (void) snprintf(what, sizeof what, "knows no flag '%c'", letter);
                        r = refuse(c, what);
                }
        }

        return r;
}

int hdparm_command(Command *c) {
        bool flags = true, met = false, behind = c->from > 0;
        size_t i = c->from;
        int r = 0;

        for (c->from = 0; i < c->n_words && r >= 0 && !c->ended; i++) {
                const char *w = c->words[i];

                if (!flags || w[0] != '-' || w[1] == '\0') {
                        r = command_device(c, w);
                        met = met || r > 0;
                        behind = false;
                        continue;
                }

                /* What is behind a drive is for the next ones only. */
                if (met && c->rule->n_wishes > 0) {
                        c->from = i;
                        return 0;
                }
                if (met) {
                        match_done(&c->rule->match);
                        c->n_devices = 0;
                        met = false;
                        behind = true;
                }

                if (streq(w, "--"))
                        flags = false;
                else if (w[1] == '-')
                        r = read_long(c, w + 2, &i);
                else
                        r = read_letters(c, w + 1, &i);
        }

        return r >= 0 && behind && c->rule->n_wishes > 0 ? refuse(c, "is told of no drive behind its last flags") : r;
}
