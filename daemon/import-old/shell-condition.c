/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shell-condition.h"
#include "words.h"

static const char *const tools[] = { "hdparm", "smartctl", "sdparm", "nvme", "blockdev" };

Chance chance_opposite(Chance c) {
        return c == CHANCE_GIVEN ? CHANCE_MISSING : c == CHANCE_MISSING ? CHANCE_GIVEN : CHANCE_OPEN;
}

bool condition_is_tool(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(tools); i++)
                if (streq(name, tools[i]))
                        return true;

        return false;
}

bool condition_names_tool(const char *text) {
        for (size_t i = 0; i < ELEMENTSOF(tools); i++)
                if (strstr(text, tools[i]))
                        return true;

        return false;
}

/* Where drives and programs are. What lies elsewhere can be a sign of anything: /run/on-battery. */
static bool is_place(const char *path) {
        static const char *const places[] = { "/dev/", "/sys/block/", "/sys/class/block/", "/bin/", "/sbin/", "/usr/" };

        for (size_t i = 0; i < ELEMENTSOF(places); i++)
                if (starts_with(path, places[i]))
                        return true;

        return false;
}

static bool is_test(const char *word) {
        return streq(word, "[") || streq(word, "[[") || streq(word, "test");
}

static bool is_joint(const char *word) {
        return streq(word, "-a") || streq(word, "-o") || word[0] == ']';
}

/* -x FILE and its like; *i goes behind it. */
static bool asks_for_presence(char *const *words, size_t n_words, size_t *i) {
        const char *operator= words[*i];
        bool any;

        if (operator[0] != '-' || !operator[1] || operator[2] || !strchr("xbefdLhrwc", operator[1]))
                return false;

        /* A list of drives is several words. */
        any = operator[1] == 'x' || operator[1] == 'b';
        for (++*i; *i < n_words && !is_joint(words[*i]); ++*i)
                if (!any && !is_place(words[*i]))
                        return false;
        return true;
}

/* [ … ] is about what is there in all of its parts, or in none of them. */
static Chance test_chance(char *const *words, size_t n_words) {
        Chance all = CHANCE_OPEN;
        size_t i = is_test(words[0]);

        while (i < n_words) {
                Chance one = CHANCE_GIVEN;

                if (is_joint(words[i])) {
                        i++;
                        continue;
                }
                if (streq(words[i], "!")) {
                        one = CHANCE_MISSING;
                        i++;
                }
                if (i == n_words || !asks_for_presence(words, n_words, &i) || (all != CHANCE_OPEN && all != one))
                        return CHANCE_OPEN;
                all = one;
        }

        return all;
}

Chance condition_chance(char *const *words, size_t n_words) {
        static const char runners[] = "sudo nice ionice env ";
        static const char steady[] =
                        "true : echo printf sleep cd sync set . source modprobe udevadm logger which type hash "
                        "log_daemon_msg log_action_msg log_begin_msg log_end_msg exit return continue break ";
        const char *name;

        while (n_words > 0 && word_is_one_of(base_name(words[0]), runners)) {
                words++;
                n_words--;
        }
        if (n_words == 0)
                return CHANCE_GIVEN;

        if (is_test(words[0]) || words[0][0] == '-')
                return test_chance(words, n_words);
        name = base_name(words[0]);
        if (streq(name, "false"))
                return CHANCE_MISSING;
        if (streq(name, "command"))
                return n_words > 1 && strncasecmp(words[1], "-v", 3) == 0 ? CHANCE_GIVEN
                                                                          : condition_chance(words + 1, n_words - 1);
        if (word_is_one_of(name, steady) || condition_is_tool(name))
                return CHANCE_GIVEN;
        return CHANCE_OPEN;
}

bool condition_is_usual(const char *verb) {
        static const char verbs[] =
                        "post post/* resume thaw start start_pre start_post do_start restart reload force-reload boot ";

        return word_is_one_of(verb, verbs);
}

bool condition_sets(char *const *words, size_t n_words) {
        static const char talkers[] =
                        "echo printf command which type hash logger grep log_daemon_msg log_action_msg log_begin_msg ";

        if (n_words == 0 || is_test(words[0]) || word_is_one_of(base_name(words[0]), talkers))
                return false;
        for (size_t i = 0; i < n_words; i++)
                if (strstr(words[i], "/sys/") || condition_names_tool(words[i]))
                        return true;

        return false;
}
