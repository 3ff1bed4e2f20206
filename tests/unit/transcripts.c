/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Plays a transcript: a file with a made-up machine, command lines and their expected output. transcripts/README describes the format.
 *
 *   transcripts FILE            runs each block (##) as a test
 *   transcripts --rewrite FILE  replaces the expected output in the file by the present one, for review as a diff */

#include <err.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <wordexp.h>

#include "must.h"
#include "suite.h"
#include "text.h"
#include "transcript-world.h"

int drivekeep_main(int argc, char *argv[]);

#define ANY_LINES "    \xe2\x80\xa6" /* an ellipsis */

static struct {
        const char *path;
        GROWING_ARRAY(char *, lines);
        GROWING_ARRAY(size_t, blocks); /* first line of each block; lines before the first block belong to all blocks */
        char **rewritten; /* new output of each command line; NULL: the transcript is played, not rewritten */
} transcript;

static void read_file(const char *path) {
        FILE *f = fopen(path, "re");
        char *line = NULL;
        size_t size = 0;

        if (!f) {
                perror(path);
                exit(EXIT_FAILURE);
        }
        transcript.path = path;
        while (getline(&line, &size, f) > 0) {
                line[strcspn(line, "\n")] = '\0';
                if (starts_with(line, "## ")) {
                        must_grow(&transcript, blocks);
                        transcript.blocks[transcript.n_blocks++] = transcript.n_lines;
                }
                must_grow(&transcript, lines);
                transcript.lines[transcript.n_lines++] = must(strdup(line));
        }
        free(line);
        (void) fclose(f);
}

/* Returns the number of indented lines from line `i` on, including blank lines between them. */
static size_t count_indented(size_t i) {
        size_t n = 0;

        for (size_t k = 0; i + k < transcript.n_lines; k++)
                if (transcript.lines[i + k][0] == ' ')
                        n = k + 1;
                else if (transcript.lines[i + k][0] != '\0')
                        break;
        return n;
}

/* ---- commands ---- */

/* Starts the command with these files as standard input, output and error. */
static pid_t start(const char *line, bool in_shell, const char *input, const char *output, const char *errors) {
        char *argv[] = { (char *) "sh", (char *) "-c", (char *) line, NULL };
        wordexp_t words;
        static char **copy; /* keeps all words reachable for leak checks, since the command reorders its argv */
        char **unescaped;
        size_t n = 0;
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid > 0)
                return pid;

        if (!freopen(access(input, F_OK) == 0 ? input : "/dev/null", "r", stdin) || !freopen(output, "w", stdout) ||
            !freopen(errors, "a", stderr))
                _exit(99);
        world_enter();
        if (in_shell) {
                (void) execv("/bin/sh", argv);
                _exit(99);
        }
        if (wordexp(line, &words, WRDE_NOCMD | WRDE_UNDEF) != 0)
                errx(98, "this line cannot be split into words");
        for (; strchr(words.we_wordv[n], '='); n++)
                (void) putenv(words.we_wordv[n]);
        unescaped = must(calloc(words.we_wordc + 1, sizeof *unescaped));
        copy = must(calloc(words.we_wordc + 1, sizeof *copy));
        for (size_t i = n; i < words.we_wordc; i++) {
                must_work(text_unescape(words.we_wordv[i], copy + i - n));
                unescaped[i - n] = copy[i - n];
        }
        exit(drivekeep_main((int) (words.we_wordc - n), unescaped));
}

static int finish(pid_t pid) {
        int status;

        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define STDOUT_MARK "    "

/* Prints the text in the format of transcripts, each line after `mark`. */
static void show_lines(FILE *f, const char *mark, const char *text) {
        for (size_t n; *text; text += n + (text[n] == '\n')) {
                n = strcspn(text, "\n");
                if (n > 0)
                        (void) fputs(mark, f);
                else if (!streq(mark, STDOUT_MARK))
                        (void) fprintf(f, "%.3s", mark);
                else if (!text[1])
                        (void) fputs("  .", f); /* marks an empty last line, which would otherwise be invisible */
                for (const char *c = text; c < text + n;)
                        if (starts_with(c, world_root))
                                c += strlen(world_root);
                        else if (*c >= ' ' && *c < 0x7f)
                                (void) fputc(*c++, f);
                        else
                                fprintf(f, "\\x%02x", (unsigned char) *c++);
                (void) fputs(text[n] ? "\n" : "\n  (no newline)\n", f);
        }
}

/* Joins empty arrays, which json-c before 0.18 prints on two lines. */
static void join_empty_arrays(char *text) {
        for (char *p = text; (p = strstr(p, "[\n")); p++) {
                char *end = p + 2 + strspn(p + 2, " ");

                if (*end == ']')
                        memmove(p + 1, end, strlen(end) + 1);
        }
}

static void show_file(FILE *f, const char *mark, const char *path) {
        FILE *source = fopen(path, "re");
        _cleanup_free_ char *text = NULL;
        size_t size = 0;

        if (source && getdelim(&text, &size, '\0', source) > 0) {
                join_empty_arrays(text);
                show_lines(f, mark, text);
        }
        if (source)
                (void) fclose(source);
}

/* Runs the command after "$ ". Returns the command's output in the format of transcripts; the caller frees the text. */
static char *play_command(const char *line) {
        const char *filter = strstr(line, " | ");
        bool is_ours = starts_with(line, "drivekeep") ||
                       (strchr(line, '=') && strstr(line, " drivekeep ") && strcspn(line, "=") < strcspn(line, " "));
        _cleanup_free_ char *ours = must(strndup(line, filter ? (size_t) (filter - line) : strlen(line))),
                            *calls = NULL;
        char *redirected = strrchr(ours, '>');
        const char *output = "../output";
        char *text;
        size_t size;
        FILE *f;
        int status;

        (void) unlink("../errors");
        if (!is_ours || !redirected || strpbrk(redirected, " '\""))
                redirected = NULL;
        if (redirected) {
                output = redirected + 1;
                *redirected = '\0';
                ck_assert_msg(*output != '/' || starts_with(output, "/dev/"), "%s is a file of the real machine", line);
        }
        if (is_ours) {
                status = finish(start(ours, false, "../stdin", output, "../errors"));
                /* Reaps the process that answered in place of the service. */
                while (waitpid(-1, NULL, WNOHANG) > 0)
                        ;
                if (filter)
                        (void) finish(start(filter + strlen(" | "), true, TAKE_PTR(output), "../filtered",
                                            "../errors"));
        } else
                status = finish(start(line, true, "../stdin", output, "../errors"));

        f = must(open_memstream(&text, &size));
        if (!redirected)
                show_file(f, STDOUT_MARK, output ?: "../filtered");
        show_file(f, "  ! ", "../errors");
        calls = world_take_calls();
        if (*calls) /* printed without the comma and the blank at the end */
                fprintf(f, "  > %.*s\n", (int) strlen(calls) - 2, calls);
        if (status != 0)
                fprintf(f, "  = %d\n", status);
        must_close(f);
        return text;
}

/* Returns true if the text has these lines; ANY_LINES matches any number of lines. */
static bool fits(const char *text, char *const *lines, size_t n) {
        size_t length = strcspn(text, "\n");

        if (n == 0)
                return *text == '\0';
        if (streq(*lines, ANY_LINES)) {
                for (;; text += strcspn(text, "\n") + 1)
                        if (fits(text, lines + 1, n - 1))
                                return true;
                        else if (!*text)
                                return false;
        }
        return *text && strlen(*lines) == length && strncmp(text, *lines, length) == 0 &&
               fits(text + length + 1, lines + 1, n - 1);
}

static void block_fail(size_t line, const char *what, const char *more) {
        size_t block = line;

        while (block > 0 && !starts_with(transcript.lines[block], "## "))
                block--;
        ck_abort_msg("%s:%zu: %s: %s\n%s\n%.3000s", transcript.path, line + 1, transcript.lines[block] + strlen("## "),
                     what, transcript.lines[line], more);
}

/* ---- files ---- */

static void play(size_t begin, size_t end) {
        for (size_t i = begin, n; i < end; i += 1 + n) {
                const char *line = transcript.lines[i];

                n = count_indented(i + 1);
                if (starts_with(line, "$ ")) {
                        _cleanup_free_ char *text = play_command(line + strlen("$ "));

                        if (fits(text, transcript.lines + i + 1, n))
                                continue;
                        if (!transcript.rewritten)
                                block_fail(i, "the output differs from the file:", text);
                        transcript.rewritten[i] = TAKE_PTR(text);
                } else if (*line && *line != '#') {
                        _cleanup_free_ char *text = NULL;
                        const char *objection;
                        wordexp_t words;
                        size_t size;
                        FILE *f = must(open_memstream(&text, &size));

                        for (size_t k = i + 1; k <= i + n; k++)
                                fprintf(f, "%s\n", transcript.lines[k] + strnlen(transcript.lines[k], 4));
                        must_close(f);
                        if (wordexp(line, &words, WRDE_NOCMD | WRDE_UNDEF) != 0)
                                block_fail(i, "this line cannot be split into words", "");
                        objection = world_change(words.we_wordv, words.we_wordc, text);
                        wordfree(&words);
                        if (objection)
                                block_fail(i, "invalid directive:", objection);
                }
        }
}

static void play_block(size_t i) {
        play(0, transcript.n_blocks > 0 ? transcript.blocks[0] : transcript.n_lines);
        play(transcript.blocks[i], i + 1 < transcript.n_blocks ? transcript.blocks[i + 1] : transcript.n_lines);
}

START_TEST(test_block) {
        play_block((size_t) _i);
}
END_TEST

static int rewrite(const char *path) {
        FILE *f = fopen(path, "we");

        if (!f)
                return EXIT_FAILURE;
        for (size_t i = 0; i < transcript.n_lines; i++) {
                fprintf(f, "%s\n", transcript.lines[i]);
                if (transcript.rewritten[i]) {
                        (void) fputs(transcript.rewritten[i], f);
                        i += count_indented(i + 1);
                }
        }
        return fclose(f) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char *argv[]) {
        bool rewrites = argc == 3 && streq(argv[1], "--rewrite");
        _cleanup_free_ char *path = NULL;
        Suite *s;
        int r;

        if (argc != 2 + rewrites) {
                fprintf(stderr, "usage: transcripts [--rewrite] FILE\n");
                return EXIT_FAILURE;
        }
        (void) prctl(PR_SET_CHILD_SUBREAPER, 1);
        read_file(argv[argc - 1]);
        path = realpath(argv[argc - 1], NULL);
        if (rewrites) {
                (void) setenv("CK_FORK", "no", true);
                transcript.rewritten = must(calloc(transcript.n_lines, sizeof *transcript.rewritten));
        }

        s = suite_create(base_name(transcript.path));
        for (size_t i = 0; i < transcript.n_blocks; i++) {
                TCase *t = tcase_create(transcript.lines[transcript.blocks[i]] + strlen("## "));

                tcase_add_checked_fixture(t, world_make, world_remove);
                tcase_add_loop_test(t, test_block, (int) i, (int) i + 1);
                suite_add_tcase(s, t);
        }
        r = suite_run(s);
        return rewrites ? rewrite(path) : r;
}
