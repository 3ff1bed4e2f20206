/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fnmatch.h>
#include <strings.h>

#include "command.h"

/* ---- programs without a reader ---- */

/* Shell builtins and common programs that set no drive setting. A command that is not listed here is quoted in a note to the user. */
/* clang-format off */
static const char *const harmless[] = {
        ":", "true", "false", "test", "exit", "return", "break", "continue", "cd", "pwd", "shift", "set", "unset", "export", "readonly",
        "local", "declare", "typeset", "read", "wait", "type", "which", "hash", "command", "umask", "ulimit", "let", "getopts", "ls", "cat",
        "grep", "egrep", "fgrep", "zgrep", "awk", "gawk", "mawk", "cut", "tr", "sort", "uniq", "head", "tail", "wc", "mkdir", "rmdir", "rm",
        "ln", "touch", "chmod", "chown", "mktemp", "date", "uname", "hostname", "id", "whoami", "basename", "dirname", "readlink",
        "realpath", "expr", "seq", "bc", "logger", "wall", "mail", "sleep", "usleep", "sync", "kill", "killall", "pkill", "pgrep", "ps",
        "tput", "clear", "stty", "diff", "cmp", "stat", "file", "df", "du", "free", "mount", "umount", "findmnt", "mountpoint", "swapon",
        "swapoff", "blkid", "lsblk", "lsscsi", "lspci", "lsusb", "lsof", "fuser", "fsck", "e2fsck", "mkfs", "mkswap", "fstrim", "partprobe",
        "parted", "sgdisk", "cfdisk", "sfdisk", "fdisk", "mdadm", "zpool", "cryptsetup", "badblocks", "udevadm", "systemctl", "service",
        "update-rc.d", "apt", "apt-get", "dpkg", "yum", "dnf", "zypper", "pacman", "apk", "modprobe", "rmmod", "depmod", "sysctl", "dd",
        "cp", "mv", "install", "sed", "find", "xargs", "gconftool", "fgconftool", "on_ac_power", "running_on_ac", "iostat", "iotop",
        "hddtemp", "sensors", "fio",
};

static const char *const drive_words[] = {
        "/dev/sd", "/dev/hd", "/dev/sg", "/dev/nvme", "/dev/disk/", "/dev/md", "/dev/dm-", "/dev/mapper/", "/dev/sr", "/dev/bsg/",
        "/dev/$", "/sys/block", "/sys/class/block", "/sys/class/scsi", "/sys/class/nvme", "/sys/class/ata", "/sys/class/bdi",
        "hdparm", "sdparm", "smartctl", "blockdev", "hd-idle", "idle3ctl", "SeaChest_", "nvme ", "sg_", "wdidle3", "spindown",
        "standby", "%k",
};
/* clang-format on */

/* Returns true if the text names a drive, or a program for drives. */
static bool text_names_drive(const char *text) {
        for (size_t i = 0; i < ELEMENTSOF(drive_words); i++)
                if (strstr(text, drive_words[i]))
                        return true;

        return false;
}

/* Returns true if the i-th word is a program that sets no drive setting. */
static bool program_is_harmless(const ScriptCommand *c, size_t i) {
        const char *base = base_name(c->words.items[i]);

        /* These may write to files that are named in their arguments. */
        if (STR_IN_SET(base, "dd", "cp", "mv", "install", "sed", "find", "xargs", "sysctl"))
                for (size_t k = i + 1; k < c->words.n_items; k++)
                        if (strstr(c->words.items[k], "/sys/") || strstr(c->words.items[k], "hdparm"))
                                return false;
        for (size_t k = 0; k < ELEMENTSOF(harmless); k++)
                if (streq(base, harmless[k]))
                        return true;
        return fnmatch("@(fsck.*|mkfs.*|log_*_msg)", base, FNM_EXTMATCH) == 0;
}

/* ---- commands ---- */

#define DEPTH_MAX 8U

typedef struct Finder {
        const Place *place;
        char *echoed;      /* output of the previous echo, which a pipe may pass on */
        unsigned recovery; /* ScriptCommand.number of the last command that sets error_recovery; 0: none */
        size_t rule;       /* index of the rule that command number `recovery` has added */
} Finder;

/* Finds the reader of the tool that a word names. The word may be a variable with the tool's name, such as ${HDPARM}. Returns NULL for
 * other words. */
static CommandReader find_tool(const char *word) {
        static const struct {
                const char *name;
                CommandReader reader;
        } tools[] = {
                { "hdparm", hdparm_command },     { "smartctl", smartctl_command }, { "sdparm", sdparm_command },
                { "nvme", nvme_command },         { "blockdev", blockdev_command }, { "idle3ctl", idle3_command },
                { "powertop", powertop_command },
        };
        size_t length = strcspn(word, ")");

        if (fnmatch("?(open)SeaChest_*", base_name(word), FNM_EXTMATCH) == 0)
                return seachest_command;
        for (size_t i = 0; i < ELEMENTSOF(tools); i++) {
                size_t n = strlen(tools[i].name);

                if (streq(base_name(word), tools[i].name) ||
                    (script_is_open(word) && length > n && strncasecmp(word + length - n, tools[i].name, n) == 0))
                        return tools[i].reader;
        }
        return NULL;
}

/* Returns the output of echo, or of printf with a simple format. The caller frees the output. */
static char *echo_text(const Words *w) {
        size_t first = 0;
        char *input;

        while (first < w->n_items && STR_IN_SET(w->items[first], "-n", "-e", "-ne", "-en", "-E", "%s", "%s\\n"))
                first++;
        input = words_join(w, first, " ");
        if (ends_with(input, "\\n"))
                input[strlen(input) - 2] = '\0';
        return input;
}

/* Adds the rules for writing `input` to the files. `input` is NULL if the text is known only when the command runs. */
static void write_files(const Place *p, unsigned line, const Words *files, const char *input) {
        for (size_t i = 0; i < files->n_items; i++)
                command_write(p, line, files->items[i], input);
}

/* Returns the script of a shell: the text of "-c TEXT", or `input` from a pipe. Returns NULL if the script is in a file. */
static const char *shell_text(const Words *w, const char *input) {
        for (size_t i = 0; i + 1 < w->n_items && w->items[i][0] == '-'; i++) {
                if (strchr(w->items[i], 'c'))
                        return w->items[i + 1];
                i += strpbrk(w->items[i], "oO") != NULL; /* skips the argument of -o or -O */
        }
        return w->n_items == 0 ? input : NULL;
}

/* Returns the command as text for a note. In the text, %k stands for the drive of a udev rule. The caller frees the text. */
static char *quote(const ScriptCommand *c) {
        _cleanup_free_ char *joined = words_join(&c->words, 0, " ");
        char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        for (const char *s = joined; *s; s++)
                fputs(*s == *RULE_DRIVE ? "%k" : (char[]){ *s, '\0' }, f);
        must_close(f);
        return text;
}

/* Reads the command whose program is the i-th word. `input`: the program's input from a pipe, or NULL. Returns false if the program is not
 * known. */
static bool read_program(Finder *f, const ScriptCommand *c, size_t i, const Place *p, const char *input) {
        const char *word = c->words.items[i], *base = base_name(word), *text = NULL;
        const Words rest = { .items = c->words.items + i + 1, .n_items = c->words.n_items - i - 1 };

        if (STR_IN_SET(base, "sh", "ash", "bash", "dash"))
                text = shell_text(&rest, input);
        if (STR_IN_SET(base, "echo", "printf")) {
                f->echoed = echo_text(&rest);
                write_files(p, c->line, &c->outputs, f->echoed);
        } else if (streq(base, "tee"))
                write_files(p, c->line, &rest, input);
        else if (text)
                commands_read(p, text, c->line);
        else if (streq(base, "hd-idle")) {
                _cleanup_free_ char *quoted = quote(c);

                if (!hd_idle_options(p, c->line, &rest))
                        import_not_understood(p->import, c->line, "hd-idle's options are known only when hd-idle runs",
                                              quoted);
        } else if (find_tool(word))
                command_read(p, find_tool(word), &rest, c->line);
        else
                return false;
        return true;
}

/* Returns true if the word is a program that runs the command after it (sudo, nice), or an option or option value of such a program. */
static bool is_passed(const Words *w, size_t i) {
        const char *word = w->items[i];

        return STR_IN_SET(base_name(word), "sudo", "doas", "pkexec", "runuser", "env", "nice", "ionice", "chrt",
                          "taskset", "nohup", "setsid", "time", "timeout", "exec", "command", "builtin", "busybox",
                          "systemd-run", "sh", "ash", "bash", "dash") ||
               (i > 0 && (strchr("-0123456789", *word) || strchr(word, '=') ||
                          STR_IN_SET(w->items[i - 1], "-u", "-g", "-s", "-c")));
}

/* Reads the commands inside $( ... ). */
static void read_inner(const Place *p, const ScriptCommand *c, const char *word) {
        Place inner = *p;

        if (++inner.depth > DEPTH_MAX)
                return;
        for (const char *begin = word; (begin = strstr(begin, "$(")); begin += 2) {
                size_t depth = 1, n = 2;

                /* Arithmetic, $((...)), is skipped, but may contain further substitutions. */
                for (; begin[n] && depth > 0 && begin[2] != '('; n++)
                        depth = depth + (begin[n] == '(') - (begin[n] == ')');
                if (begin[2] != '(') {
                        _cleanup_free_ char *text = must_format("%.*s", (int) (n - 2 - (depth == 0)), begin + 2);

                        if (text_names_drive(text))
                                commands_read(&inner, text, c->line);
                }
                begin += n - 2;
        }
}

/* Adds a note about an unknown command. The note quotes the whole command if the command names a drive. Otherwise the note quotes only
 * the program, because an argument may be a password. */
static void note_unknown(const Place *p, const ScriptCommand *c, size_t program) {
        _cleanup_free_ char *quoted = quote(c), *short_form = NULL;
        const Words *w = &c->words;

        for (size_t i = 0; i < w->n_items; i++)
                if (find_tool(w->items[i]) && strchr("/$", *w->items[w->n_items - 1])) {
                        _cleanup_free_ char *why = must_format("an unknown program may run %s", w->items[i]);

                        import_not_understood(p->import, c->line, why, quoted);
                        return;
                }
        if (c->calls_function || program_is_harmless(c, program))
                return;
        if (text_names_drive(quoted)) {
                import_not_understood(p->import, c->line, NULL, quoted);
                return;
        }
        if (c->text > 0) {
                import_note(p->import, c->text, "not understood: the text after << has no end line");
                return;
        }
        short_form = words_join(&(const Words){ .items = w->items, .n_items = program + 1 }, 0, " ");
        if (program + 1 < w->n_items)
                import_not_understood(p->import, c->line, "not understood (arguments not shown)", short_form);
        else
                import_not_understood(p->import, c->line, NULL, short_form);
}

/* Returns true if the rules from index `first` on set `timeout` for exactly the drives of the rule `drives`. */
static bool is_timeout_of(const Import *import, size_t first, const ImportRule *drives) {
        const Criterion *nodes = import_nodes(&drives->match);
        size_t n = import->n_rules - first;

        for (const ImportRule *r = import->rules + first; r < import->rules + import->n_rules; r++)
                /* A rule with unknown drives is accepted: the variable in its path stands for the drive of the earlier command, which
                 * failed. */
                if (!import_find_wish(r, "timeout", false) ||
                    (!r->drives_unknown &&
                     (!match_includes(&drives->match, &r->match) || !nodes || nodes->n_patterns != n)))
                        return false;
        return n > 0;
}

/* Joins the rules of both commands in "smartctl -l scterc,70,70 $d || echo 180 > .../timeout". Called after each command `c` whose program
 * is known. `before`: number of rules before command `c`. */
static void join_fallback(Finder *f, const ScriptCommand *c, size_t before) {
        Import *import = f->place->import;
        const ImportWish *timeout;

        if (import->n_rules > before && import_find_wish(&import->rules[before], "error_recovery", false)) {
                f->recovery = c->number;
                f->rule = before;
        }
        if (c->unless == 0 || c->unless != f->recovery || !is_timeout_of(import, before, &import->rules[f->rule]))
                return;
        timeout = import_find_wish(&import->rules[before], "timeout", false);
        import_want(&import->rules[f->rule], timeout->line, "error_recovery_fallback_timeout", "%s", timeout->value);
        while (import->n_rules > before)
                import_drop_rule(import);
}

static void find_commands(void *userdata, const ScriptCommand *c) {
        Finder *f = userdata;
        _cleanup_free_ char *reason = NULL, *input = TAKE_PTR(f->echoed);
        const Words *w = &c->words;
        Place p = *f->place;
        size_t i = 0, before = p.import->n_rules;
        bool found = false;

        if (c->condition_line > 0)
                import_set_reason(&reason, "line %u decides whether the command runs", c->condition_line);
        p.comment_reason = p.comment_reason ?: reason;
        for (size_t k = 0; k < w->n_items; k++)
                read_inner(&p, c, w->items[k]);
        if (c->assigns)
                return;
        do
                found = read_program(f, c, i, &p, c->piped ? input : NULL);
        while (!found && is_passed(w, i++) && i < w->n_items);

        for (ImportRule *r = p.import->rules + before; r < p.import->rules + p.import->n_rules; r++)
                for (size_t k = 0; k < c->presences.n_items; k++)
                        if (!command_is_for(r, c->presences.items[k].path))
                                import_comment_out(r, "line %u decides whether the command runs",
                                                   c->presences.items[k].line);
        if (found) {
                join_fallback(f, c, before);
                return;
        }
        note_unknown(&p, c, i - 1);
        write_files(&p, c->line, &c->outputs, NULL);
}

void commands_read(const Place *p, const char *text, unsigned line) {
        Finder f = { .place = p };

        script_read(text, line, find_commands, &f);
        free(f.echoed);
}
