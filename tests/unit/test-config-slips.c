/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Removes, repeats or replaces one character anywhere in a valid file. The changed file must have the same meaning or
 * cause one complaint. A user who follows the complaint restores the meaning. */

#include "config-dump.h"
#include "suite.h"

/* NULL: the example in README.md. The other files contain elements that the example's blocks do not contain. */
#define README "README.md"
static const char *const files[] = {
        NULL,
        "drives = (\n"
        "  { match = \"/dev/disk/by-id/ata-X\";\n"
        "    apm = 254;\n"
        "    scheduler = \"none\"; },\n"
        "  { match = [\"/dev/a\", \"/dev/b\"];\n"
        "    lookahead = true; },\n"
        "  { match = { model = (\"A B\", \"C\"); rotational = false; };\n"
        "    permanent = true;\n"
        "    apm = 1; }\n"
        ");\n"
        "recheck = \"1h\";\n",
        "fsck_wait = \"1min\";\n"
        "drives = (\n"
        "  { match = {};\n"
        "    on_battery = { apm = 1; lookahead = false; };\n"
        "    permanent = true;\n"
        "    apm = 254; },\n"
        "  { match = { ID_BUS = \"ata\" };\n"
        "    scheduler = \"none\" }\n"
        ");\n",
        "drives = ({ match = {}; apm = 1; }, { match = \"/dev/a\"; apm = 2; })",
        "drives = ({ match = { serial = \"x\"; }; spindown_time = \"20min\"; scheduler = \"none\"; });",
        "drives = (\n"
        "  { match = { transport = [ \"sata\", \"usb\" ]; rotational = true; };\n"
        "    apm = 254;\n"
        "    on_battery = { apm = 128; spindown_time = \"5min\"; }; },\n"
        "  { match = { model = [ \"A\", \"B\" ]; };\n"
        "    on_battery = {\n"
        "      scheduler = \"none\";\n"
        "      lookahead = true;\n"
        "    };\n"
        "    spindown_time = \"10min\";\n"
        "    wake = true; }\n"
        ");\n",
        "drives: (\n"
        "  {\n"
        "    match: {\n"
        "      transport: [\"sata\", \"usb\"]\n"
        "      rotational: true\n"
        "    }\n"
        "    on_battery: {\n"
        "      apm: 128\n"
        "      spindown_time: \"3min\"\n"
        "    }\n"
        "    apm: 254\n"
        "    wake: true\n"
        "  }\n"
        ")\n",
};

static char *read_readme(void) {
        char *text = calloc(1, 64 * 1024), *begin, *end;
        FILE *f = fopen(README, "r");

        ck_assert_msg(f && text, README);
        ck_assert_uint_gt(fread(text, 1, 64 * 1024 - 1, f), 0);
        (void) fclose(f);
        begin = strstr(text, "\ndrives = (");
        ck_assert_ptr_nonnull(begin);
        end = strstr(begin, "```");
        ck_assert_ptr_nonnull(end);
        *end = '\0';
        memmove(text, begin + 1, strlen(begin));
        return text;
}

/* ---- edits by which a user follows a complaint ---- */

/* Returns the beginning of the line with the number `line`, or NULL if the text has no such line. The first line has
 * the number 1. */
static char *find_line(char *text, unsigned line) {
        for (; text && line > 1; line--) {
                text = strchr(text, '\n');
                text += text != NULL;
        }
        return text;
}

static void insert(char *at, const char *s) {
        memmove(at + strlen(s), at, strlen(at) + 1);
        memcpy(at, s, strlen(s));
}

/* Follows a complaint that says either `write "x" before "y" in line n, column m` or `write "x" after its last key,
 * before "y" in line n`. */
static bool write_before(char *text, char *at, const char *sentence) {
        const char *advice = strstr(sentence, "write \"");
        unsigned line, column = 0;
        char what[8], word[32];
        char *place;

        if (!advice || (sscanf(advice, "write \"%7[^\"]\" before \"%31[^\"]\" in line %u, column %u", what, word, &line,
                               &column) < 4 &&
                        sscanf(advice, "write \"%7[^\"]\" after its last key, before \"%31[^\"]\" in line %u", what,
                               word, &line) < 3))
                return false;
        place = find_line(text, line);
        if (column > 0)
                place += column - 1;
        else
                place = strstr(MAX(place, at), word);
        ck_assert(place && strncmp(place, word, strlen(word)) == 0);
        insert(place, what);
        return true;
}

static bool write_at_end(char *text, _unused_ char *at, const char *sentence) {
        char what[8];
        const char *p = strstr(sentence, "write \"");

        if (!p || !strstr(p, " at the end of the file") || sscanf(p, "write \"%7[^\"]\"", what) != 1)
                return false;
        strcat(text, what);
        return true;
}

/* Follows a complaint of the form `a "x" is missing after "y"`. `at` is the beginning of "y". */
static bool write_after(_unused_ char *text, char *at, const char *sentence) {
        char what[8], word[32];

        if (sscanf(sentence, "a \"%7[^\"]\" is missing after \"%31[^\"]\"", what, word) != 2)
                return false;
        ck_assert(strncmp(at, word, strlen(word)) == 0);
        insert(at + strlen(word), what);
        return true;
}

static bool write_here(_unused_ char *text, char *at, const char *sentence) {
        char what[8];

        if (strstr(sentence, "a comma is missing") || strstr(sentence, "is a comma missing")) {
                insert(at, ",");
                return true;
        }
        if (strstr(sentence, "write \",\" instead of \";\"")) {
                *at = ',';
                return true;
        }
        if (sscanf(sentence, "a \"%7[^\"]\" is missing before", what) != 1 &&
            sscanf(sentence, "a match belongs in a block; is a \"%7[^\"]\" missing before it?", what) != 1)
                return false;
        insert(at, what);
        return true;
}

static bool delete_here(_unused_ char *text, char *at, const char *sentence) {
        if (!strstr(sentence, "; delete ") && !starts_with(sentence, "delete this "))
                return false;
        memmove(at, at + 1, strlen(at));
        return true;
}

/* Inserts the closing quote where a user would see the end of the string. */
static bool close_string(_unused_ char *text, char *at, const char *sentence) {
        if (!strstr(sentence, "closing quote of this string is missing"))
                return false;
        at += 1 + strcspn(at + 1, ";,)]}\n\"");
        while (at[-1] == ' ')
                at--;
        insert(at, "\"");
        return true;
}

static bool open_string(_unused_ char *text, char *at, const char *sentence) {
        if (!strstr(sentence, "opening quote of this string is missing"))
                return false;
        insert(at, "\"");
        return true;
}

static bool narrow_here(_unused_ char *text, char *at, const char *sentence) {
        if (sscanf(sentence, "this is a full-width \"%c\"; write the ASCII character", at) != 1)
                return false;
        memmove(at + 1, at + 3, strlen(at + 3) + 1);
        return true;
}

static bool comment_here(_unused_ char *text, char *at, const char *sentence) {
        if (!strstr(sentence, "write \"//\" instead of \"/\""))
                return false;
        insert(at, "/");
        return true;
}

static bool (*const edits[])(char *text, char *at, const char *sentence) = {
        write_before, write_at_end, write_after, write_here,   delete_here,
        close_string, open_string,  narrow_here, comment_here,
};

static void follow(char *text, const Complaint *c) {
        char *at = find_line(text, c->line) + c->column - 1;

        for (size_t i = 0; i < ELEMENTSOF(edits); i++)
                if (edits[i](text, at, c->sentence))
                        return;
        ck_abort_msg("%u:%u: %s: in\n%s", c->line, c->column, c->sentence, text);
}

/* ---- the mistakes ---- */

/* Dumps the configuration without line numbers, which an edit may change. */
static char *meaning_of(const char *text, Complaint *ret_error, size_t *ret_errors) {
        _cleanup_(config_freep) Config *c = parse(text, strlen(text));
        char *dump, *out;

        *ret_errors = 0;
        for (size_t i = 0; i < c->complaints.n_items; i++)
                if (c->complaints.items[i].level != COMPLAINT_NOTICE && (*ret_errors)++ == 0) {
                        *ret_error = c->complaints.items[i];
                        ret_error->sentence = strdup(c->complaints.items[i].sentence);
                }

        dump = out = config_dump(c);
        for (const char *p = dump; *p; p++)
                if (p > dump ? p[-1] == '\n' : true)
                        p += strspn(p, "0123456789") - 1;
                else
                        *out++ = *p;
        *out = '\0';
        return dump;
}

static void try(const char *slip, const char *meaning) {
        _cleanup_free_ char *text = calloc(1, strlen(slip) + 64), *now = NULL, *then = NULL, *said = NULL;
        Complaint error = {};
        size_t n = 0;

        strcpy(text, slip);
        now = meaning_of(text, &error, &n);
        said = error.sentence;
        if (n == 0) {
                ck_assert_msg(streq(now, meaning), "silently something else:\n%s", slip);
                return;
        }
        ck_assert_msg(n == 1, "%zu complaints, the first: %u:%u: %s: of\n%s", n, error.line, error.column, said, slip);

        follow(text, &error);
        error.sentence = NULL;
        then = meaning_of(text, &error, &n);
        ck_assert_msg(n == 0 && streq(then, meaning), "\"%s\" made of\n%s\nthis:\n%s\nthat means\n%s\n%s", said, slip,
                      text, then, n > 0 ? error.sentence : "");
}

#define SIGNS "{}()[];,=\""

START_TEST(test_slips) {
        _cleanup_free_ char *text = files[_i] ? strdup(files[_i]) : read_readme(), *meaning = NULL;
        Complaint error;
        size_t n = 0, n_slips = 0;

        meaning = meaning_of(text, &error, &n);
        ck_assert_uint_eq(n, 0);
        for (char *p = text; *p; p++) {
                _cleanup_free_ char *slip = calloc(1, strlen(text) + 4);

                if (p[0] == '/' && p[1] == '/' && p > text && p[-1] == ' ') {
                        memcpy(slip, text, (size_t) (p - text));
                        strcpy(slip + (p - text), p + 1);
                        try(slip, meaning);
                        p += strcspn(p, "\n");
                }
                if (!strchr(SIGNS, *p))
                        continue;

                /* A character is missing. */
                memcpy(slip, text, (size_t) (p - text));
                strcpy(slip + (p - text), p + 1);
                try(slip, meaning);
                /* A character is repeated. */
                memcpy(slip, text, (size_t) (p + 1 - text));
                strcpy(slip + (p + 1 - text), p);
                try(slip, meaning);
                /* A character is replaced by its full-width form. */
                if (*p != '"') {
                        (void) sprintf(slip, "%.*s\xef%c%c%s", (int) (p - text), text, 0xbc + (*p - ' ') / 0x40,
                                       0x80 + (*p - ' ') % 0x40, p + 1);
                        try(slip, meaning);
                }
                /* "," and ";" are exchanged. */
                strcpy(slip, text);
                if (*p == ';' || *p == ',') {
                        slip[p - text] = *p == ';' ? ',' : ';';
                        try(slip, meaning);
                }
                n_slips++;
        }
        ck_assert_uint_gt(n_slips, 10);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("config-slips");
        TCase *tc = tcase_create("config-slips");

        tcase_add_loop_test(tc, test_slips, 0, ELEMENTSOF(files));
        suite_add_tcase(suite, tc);

        return suite_run(suite);
}
