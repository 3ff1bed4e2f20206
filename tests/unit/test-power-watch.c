/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Feeds the inputs in a script to the state machine of the power mode. Each line has an input and its expected output,
 * "TIME INPUT WORD… | OUTPUT". The output is the PowerNews, the power mode if it changed, and the time of the next poll
 * if it changed. The option "--write" writes the actual outputs to the script. */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "power-watch.h"
#include "suite.h"
#include "text.h"
#include "safe-file.h"

#define SCRIPT "tests/unit/power-watch.txt"

#define SECOND UINT64_C(1000000)
/* CLOCK_MONOTONIC at the time 0:00 of the scripts, µs. Not 0, since CLOCK_MONOTONIC is never 0. */
#define BEGIN (3600 * SECOND)

static PowerWatch watch;
static PowerCounters counters;
static uint64_t due;
static PowerMode mode;
static uint64_t quiet_since, quiet_io; /* values that an earlier run of the service stored */

static uint64_t parse_time(const char *text) {
        unsigned minutes, seconds;

        ck_assert_int_eq(sscanf(text, "%u:%u", &minutes, &seconds), 2);
        return BEGIN + (minutes * 60 + seconds) * SECOND;
}

static const char *format_span(uint64_t usec, char buf[static 32]) {
        (void) snprintf(buf, 32, "%" PRIu64 ":%02" PRIu64, usec / SECOND / 60, usec / SECOND % 60);
        return buf;
}

static const char *format_time(uint64_t usec, char buf[static 32]) {
        return usec == UINT64_MAX ? "never" : format_span(usec - BEGIN, buf);
}

/* ---- inputs ---- */

/* Returns a wake by the command that `word` names: "read" is READ(10), "smart" is SMART READ DATA, and "identify" is
 * IDENTIFY DEVICE, which makes some drives spin up. "smart" and "identify" are sent by ATA PASS-THROUGH(16). */
static Wake wake_of(const char *word) {
        if (streq(word, "read"))
                return (Wake){ .kind = WAKE_READ, .process.pid = 1, .cdb = { 0x28 }, .cdb_len = 10 };
        if (streq(word, "smart"))
                return (Wake){ .kind = WAKE_COMMAND,
                               .process.pid = 2,
                               .cdb = { 0x85, 0x08, 0, 0, 0xD0, [14] = 0xB0 },
                               .cdb_len = 16 };
        ck_assert_str_eq(word, "identify");
        return (Wake){ .kind = WAKE_COMMAND, .process.pid = 3, .cdb = { 0x85, 0x08, [14] = 0xEC }, .cdb_len = 16 };
}

static PowerMode mode_of(const char *word) {
        return streq(word, "active")      ? POWER_ACTIVE
               : streq(word, "sleep")     ? POWER_ATA_SLEEP
               : streq(word, "suspended") ? POWER_SUSPENDED
                                          : POWER_STANDBY;
}

/* Sets the policy that `what` names: "service", "traced", "stopped" (traced only after a spin-down by the service) or
 * "nothing". */
static void set_policy(const char *what, unsigned minutes) {
        watch.policy = (PowerPolicy){
                .patience = minutes * 60 * SECOND,
                .by_service = strstr(what, "service"),
                .traced = strstr(what, "traced"),
                .traced_stopped = strstr(what, "stopped") || strstr(what, "traced"),
        };
}

static void set_counters(const char *word, uint64_t n) {
        counters.error = streq(word, "uncounted") ? -ENODATA : streq(word, "gone") ? -ENODEV : 0;
        if (streq(word, "io"))
                counters.io = n;
        counters.in_flight = streq(word, "flight");
        counters.suspended = streq(word, "suspended");
}

static void feed(const char *input, const char *word, unsigned n, PowerNews *ret) {
        PowerProbe p = { .mode = mode_of(word), .quiet_since = quiet_since, .quiet_io = quiet_io };

        *ret = (PowerNews){};
        if (streq(input, "policy"))
                set_policy(word, n);
        else if (streq(input, "set"))
                set_counters(word, n);
        else if (streq(input, "before")) {
                quiet_since = parse_time(word);
                quiet_io = n;
        } else if (streq(input, "settle"))
                power_watch_settle(&watch, &counters, quiet_since, quiet_io, ret);
        else if (streq(input, "restart"))
                power_watch_restart(&watch, &counters, ret);
        else if (streq(input, "poll"))
                power_watch_poll(&watch, &counters, ret);
        else if (streq(input, "probe") || streq(input, "visit") || streq(input, "spun-down") || streq(input, "again")) {
                p.on_purpose = streq(input, "probe");
                p.spun_down = streq(input, "spun-down");
                p.again = streq(input, "again");
                power_watch_probed(&watch, &p, &counters, ret);
        } else if (streq(input, "suspended"))
                power_watch_suspended(&watch, &counters, ret);
        else if (streq(input, "resumed"))
                power_watch_resumed(&watch, &counters, ret);
        else if (streq(input, "stopped"))
                power_watch_stopped(&watch, streq(word, "unverifiable"), counters.now, ret);
        else if (streq(input, "query"))
                return;
        else if (streq(input, "delay"))
                power_watch_delay(&watch, parse_time(word), counters.now);
        else if (streq(input, "retry"))
                power_watch_retry(&watch, counters.now);
        else if (streq(input, "give-up"))
                power_watch_give_up(&watch);
        else if (streq(input, "traced"))
                power_watch_traced(&watch, &counters);
        else if (streq(input, "confirmed"))
                power_watch_confirmed(&watch, &counters, ret);
        else if (streq(input, "command") || streq(input, "meanwhile")) {
                Wake w = wake_of(word);

                power_watch_command(&watch, &w, streq(input, "meanwhile"), &counters, ret);
        } else if (streq(input, "suspect")) {
                Wake w = wake_of(word);

                power_watch_suspect(&watch, &w);
        } else {
                ck_assert_str_eq(input, "lost");
                power_watch_lost(&watch, &counters, ret);
        }
}

/* ---- outputs ---- */

static void put_news(FILE *f, const PowerNews *n) {
        static const char *const words[] = { "io",      "active",    "spun-up", "woken",   "still-active", "",
                                             "counted", "uncounted", "trace",   "untrace", "PROBE",        "IDLE" };
        char from[32], to[32];

        for (unsigned i = 0; i < ELEMENTSOF(words); i++)
                if (n->events & 1U << i && words[i][0])
                        fprintf(f, " %s", words[i]);
        if ((n->events & POWER_NEWS_PROBE) && n->probe_at > 0)
                fprintf(f, "=%s", format_time(n->probe_at, from));
        if ((n->events & POWER_NEWS_IO) && n->has_gap)
                fprintf(f, " gap=%s..%s", format_span(n->gap_least, from), format_span(n->gap_most, to));
        if ((n->events & POWER_NEWS_IO) && n->watched > 0)
                fprintf(f, " watched=%s", format_span(n->watched * SECOND, from));
        if (n->events & POWER_NEWS_SPUN_UP)
                fprintf(f, " standby=%s..%s%s", format_time(n->standby_from, from), format_time(n->standby_until, to),
                        n->to_log ? "" : " unlogged");
        if (n->events & (POWER_NEWS_SPUN_UP | POWER_NEWS_LEFT_STANDBY))
                fprintf(f, " by=%d", n->has_waker ? n->waker.process.pid : 0);
        if ((n->events & POWER_NEWS_LEFT_STANDBY) && n->stopped_at > 0)
                fprintf(f, " stopped=%s%s", format_time(n->stopped_at, from), n->by_io ? "" : " without-io");
}

static void put_answers(FILE *f) {
        char time[32];

        fprintf(f, "%s idle-at=%s%s%s", power_watch_may_spin_down(&watch) ? " may-spin-down" : "",
                format_time(power_watch_idle_at(&watch, &counters), time),
                power_watch_is_traced(&watch) ? " traced" : "", power_watch_is_stopped(&watch) ? " stopped" : "");
}

static void put_state(FILE *f) {
        char time[32];

        if (power_watch_mode(&watch) != mode)
                fprintf(f, " mode=%s", power_mode_to_string(power_watch_mode(&watch)) ?: "unknown");
        mode = power_watch_mode(&watch);
        if (power_watch_due(&watch) != due)
                fprintf(f, " due=%s", format_time(power_watch_due(&watch), time));
        due = power_watch_due(&watch);
}

/* Runs one line of the script, "TIME INPUT WORD… | OUTPUT". Returns the actual output, with a space before each word. */
static char *run_line(const char *line) {
        char time[32] = "", input[32] = "", word[32] = "", *text = NULL;
        PowerNews news;
        unsigned n = 0;
        size_t size;
        FILE *f;

        ck_assert_int_ge(sscanf(line, "%31s %31s %31[^| ] %u", time, input, word, &n), 2);
        counters.now = parse_time(time);
        feed(input, word, n, &news);

        f = open_memstream(&text, &size);
        if (streq(input, "query"))
                put_answers(f);
        put_news(f, &news);
        put_state(f);
        (void) fclose(f);
        return text;
}

static void begin_case(void) {
        power_watch_done(&watch);
        watch = (PowerWatch){};
        counters = (PowerCounters){ .io = 5 };
        due = UINT64_MAX;
        mode = POWER_UNKNOWN;
        quiet_since = quiet_io = 0;
}

/* Runs the script. Returns the text of the script with the actual outputs in place of the expected outputs. */
static char *play(const char *path) {
        char line[512], *played = NULL;
        FILE *in = fopen(path, "re"), *out;
        size_t size;

        ck_assert_ptr_nonnull(in);
        out = open_memstream(&played, &size);
        while (fgets(line, sizeof line, in)) {
                if (starts_with(line, "case"))
                        begin_case();
                if (isdigit((unsigned char) line[0])) {
                        _cleanup_free_ char *output = NULL;

                        line[strcspn(line, "|\n")] = '\0';
                        output = run_line(line);
                        while (ends_with(line, " "))
                                line[strlen(line) - 1] = '\0';
                        fprintf(out, "%s%s%s\n", line, *output ? " |" : "", output);
                } else
                        fputs(line, out);
        }
        begin_case();
        (void) fclose(in);
        (void) fclose(out);
        return played;
}

/* True if the option "--write" was given, which overwrites the script. After use of the option, check the diff of the
 * script. */
static bool is_written;

static void write_script(const char *played) {
        FILE *f = fopen(SCRIPT, "we");

        ck_assert_ptr_nonnull(f);
        fputs(played, f);
        ck_assert_int_eq(fclose(f), 0);
}

START_TEST(test_script) {
        _cleanup_free_ char *played = play(SCRIPT), *expected = NULL;
        const char *p, *e, *objection;
        unsigned n = 1;
        size_t size;

        if (is_written)
                write_script(played);
        ck_assert_int_eq(text_file_read(SCRIPT, &expected, &size, &objection), 0);
        for (p = played, e = expected; *p && *p == *e; p++, e++)
                n += *p == '\n';
        ck_assert_msg(*p == *e, SCRIPT ":%u: not \"%.*s\", but \"%.*s\"", n, (int) strcspn(e, "\n"), e,
                      (int) strcspn(p, "\n"), p);
}
END_TEST

int main(int argc, char *argv[]) {
        Suite *s = suite_create("power-watch");
        TCase *t = tcase_create("power-watch");

        is_written = argc > 1 && streq(argv[1], "--write");
        tcase_add_test(t, test_script);
        suite_add_tcase(s, t);
        return suite_run(s);
}
