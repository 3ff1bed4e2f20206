/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* udev rules that run a tool for a drive or write into its queue. */

#include "commands.h"
#include "lines.h"
#include "rival.h"
#include "scripts.h"
#include "udev-rules.h"

static const char *file_name(const char *path) {
        return strrchr(path, '/') + 1;
}

/* Calls `each` for what RUN has between quotes. */
static int each_run(const char *rule, int (*each)(void *userdata, const char *command), void *userdata) {
        int k = 0;

        for (const char *s = strstr(rule, "RUN"); s && k >= 0; s = strstr(s, "RUN")) {
                _cleanup_free_ char *command = NULL;
                const char *end;

                s += strcspn(s, "\"");
                end = *s ? strchr(s + 1, '"') : NULL;
                if (!end)
                        return 0;
                command = strndup(s + 1, (size_t) (end - s - 1));
                if (!command)
                        return -ENOMEM;
                k = each(userdata, command);
                s = end + 1;
        }

        return k;
}

typedef struct Look {
        Runner runner;
        const char *path, *text;
        unsigned line;
} Look;

/* A rule that is for something else than drives names them in its command. */
static int check_command(void *userdata, const char *command) {
        const Look *look = userdata;
        _cleanup_(import_done) Import import = {};
        int k;

        k = commands_read(command, strlen(command), look->line, &import);
        return k < 0 ? k : runner_claim(&look->runner, look->path, look->text, &import, false);
}

static int follow(void *userdata, const char *command) {
        const Look *look = userdata;

        return runner_follow(&look->runner, command, strlen(command));
}

static bool is_for_power(const char *rule) {
        return strstr(rule, "\"power_supply\"");
}

/* Those of the import that are not for drives come from check_command(). */
static int drop_rules_for_power(Import *import, const char *text) {
        _cleanup_free_ char *line = NULL;
        Lines lines = { .next = text };
        int k;

        for (k = lines_next(&lines, true, &line); k > 0; k = lines_next(&lines, true, &line))
                for (size_t i = 0; i < import->n_rules && is_for_power(line);) {
                        if (import->rules[i].line != lines.line) {
                                i++;
                                continue;
                        }
                        import_rule_done(&import->rules[i]);
                        memmove(import->rules + i, import->rules + i + 1, (--import->n_rules - i) * sizeof(ImportRule));
                }

        return k;
}

static int check_file(void *userdata, const char *path) {
        _cleanup_(import_done) Import import = {};
        _cleanup_free_ char *text = NULL, *line = NULL;
        const Rivals *r = userdata;
        Look look = { .runner = { .rivals = r, .when = "when the drive appears" }, .path = path };
        Lines lines = {};
        size_t size;
        int k;

        /* The package's own kind of rival. */
        if (streq(file_name(path), "85-hdparm.rules"))
                return 0;
        k = tree_read(r->tree, path, &text, &size);
        if (k <= 0)
                return k;

        k = udev_rules_read(text, size, &import);
        if (k >= 0)
                k = drop_rules_for_power(&import, text);
        if (k >= 0)
                k = runner_claim(&look.runner, path, text, &import, true);
        if (k < 0)
                return k;

        look.text = lines.next = text;
        for (k = lines_next(&lines, true, &line); k > 0; k = lines_next(&lines, true, &line)) {
                bool power = is_for_power(line);

                if (*line == '#')
                        continue;
                look.line = lines.line;
                look.runner.when = power ? "when the power source changes" : "when the drive appears";
                if (power)
                        k = each_run(line, check_command, &look);
                if (k >= 0)
                        k = each_run(line, follow, &look);
                if (k < 0)
                        break;
        }

        return k;
}

int rival_udev_rules(const Rivals *r) {
        static const char *const directories[] = {
                "/etc/udev/rules.d",     "/run/udev/rules.d", "/usr/local/lib/udev/rules.d",
                "/usr/lib/udev/rules.d", "/lib/udev/rules.d", NULL,
        };

        return tree_each(r->tree, directories, ".rules", check_file, (void *) r);
}
