/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From records of wakes to what a drive did in each quarter of an hour: no journal, no drive. */

#include <time.h>

#include "strip.h"
#include "test-cli.h"

#define SECOND UINT64_C(1000000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define MIDNIGHT UINT64_C(1795132800000000) /* 2026-11-20 00:00:00 UTC, a Friday */
#define NONE UINT64_MAX

typedef struct TestWake {
        uint64_t when, slept; /* since midnight; slept NONE: not known */
        const char *boot;
} TestWake;

typedef struct Present {
        PowerMode power;
        uint64_t since, told; /* since: 0: there is no state file */
} Present;

/* clang-format off */
static const struct {
        const char *title;
        TestWake wakes[5]; /* when 0 at the end */
        Present present;
        uint64_t now;
        unsigned ago;
        const char *hours; /* what each of them is drawn as: ? not known, # awake, _ asleep, and where it was woken, how often */
        const char *asleep;
} cases[] = {
        { "nothing is known",
          {}, {}, 24 * HOUR, 0, "????????????????????????", NULL },
        { "what is still to come is nothing",
          {}, {}, 20 * HOUR + 1, 0, "?????????????????????   ", NULL },
        { "one record: before and behind it nothing is known",
          { { 10 * HOUR, 4 * HOUR, "a" } }, {}, 24 * HOUR, 0, "??????____1?????????????", "4.0 h" },
        { "awake between two",
          { { 10 * HOUR, 4 * HOUR, "a" }, { 20 * HOUR, 2 * HOUR, "a" } }, {}, 24 * HOUR, 0, "??????____1#######__1???", "6.0 h" },
        { "another boot between: nobody knows",
          { { 10 * HOUR, 4 * HOUR, "a" }, { 20 * HOUR, 2 * HOUR, "b" } }, {}, 24 * HOUR, 0, "??????____1???????__1???", "6.0 h" },
        { "how long it slept is not known: nor when it fell asleep",
          { { 10 * HOUR, 4 * HOUR, "a" }, { 20 * HOUR, NONE, "a" } }, {}, 24 * HOUR, 0, "??????____1?????????1???", "4.0 h" },
        { "it began before the day",
          { { 10 * HOUR, 40 * HOUR, "a" } }, {}, 24 * HOUR, 0, "__________1?????????????", "10.0 h" },
        { "the same, the day before",
          { { 10 * HOUR, 40 * HOUR, "a" } }, {}, 24 * HOUR, 1, "________________________", "24.0 h" },
        { "it began before the week",
          { { 10 * HOUR, 400 * HOUR, "a" } }, {}, 24 * HOUR, 6, "________________________", "24.0 h" },
        { "longer than there is time",
          { { 10 * HOUR, INT64_MAX, "a" } }, {}, 24 * HOUR, 0, "__________1?????????????", "10.0 h" },
        { "longer than since the wake before: cut off there",
          { { 10 * HOUR, 4 * HOUR, "a" }, { 15 * HOUR, 9 * HOUR, "a" } }, {}, 24 * HOUR, 0, "??????____1____1????????", "9.0 h" },
        { "the clock was set back: what was told first stays",
          { { 10 * HOUR, 4 * HOUR, "a" }, { 7 * HOUR, HOUR, "a" }, { 12 * HOUR, HOUR, "a" } }, {}, 24 * HOUR, 0,
          "??????_1__1_1???????????", "5.0 h" },
        { "twice at once",
          { { 10 * HOUR, 4 * HOUR, "a" }, { 10 * HOUR, 4 * HOUR, "a" } }, {}, 24 * HOUR, 0, "??????____2?????????????", "4.0 h" },
        { "several in an hour",
          { { 10 * HOUR, 4 * HOUR, "a" }, { 10 * HOUR + 20 * MINUTE, MINUTE, "a" }, { 10 * HOUR + 59 * MINUTE, MINUTE, "a" } },
          {}, 24 * HOUR, 0, "??????____3?????????????", "4.0 h" },
        { "of the future: of a clock that was wrong",
          { { 10 * HOUR, 4 * HOUR, "a" }, { 23 * HOUR, 2 * HOUR, "a" } }, {}, 12 * HOUR, 0, "??????____1#            ", "4.0 h" },

        { "asleep now",
          { { 10 * HOUR, 4 * HOUR, "a" } }, { POWER_STANDBY, 15 * HOUR, 18 * HOUR }, 18 * HOUR, 0, "??????____1####___      ", "7.0 h" },
        { "asleep now, and no record",
          {}, { POWER_STANDBY, 15 * HOUR, 18 * HOUR }, 18 * HOUR, 0, "???????????????___      ", "3.0 h" },
        { "asleep now, and the record is of another boot",
          { { 10 * HOUR, 4 * HOUR, "b" } }, { POWER_STANDBY, 15 * HOUR, 18 * HOUR }, 18 * HOUR, 0, "??????____1????___      ", "7.0 h" },
        { "asleep since before it was woken: that is older",
          { { 10 * HOUR, 4 * HOUR, "a" } }, { POWER_STANDBY, 6 * HOUR, 18 * HOUR }, 18 * HOUR, 0, "??????____1???????      ", "4.0 h" },
        { "the service has ended: what it knew holds until then",
          { { 10 * HOUR, 4 * HOUR, "a" } }, { POWER_STANDBY, 15 * HOUR, 17 * HOUR }, 18 * HOUR, 0, "??????____1####__?      ", "6.0 h" },
        { "awake now",
          { { 10 * HOUR, 4 * HOUR, "a" } }, { POWER_AWAKE, 10 * HOUR + SECOND, 18 * HOUR }, 18 * HOUR, 0, "??????____1#######      ", "4.0 h" },
        { "awake now, noted before the journal had the record",
          { { 10 * HOUR, 4 * HOUR, "a" } }, { POWER_AWAKE, 10 * HOUR - SECOND, 18 * HOUR }, 18 * HOUR, 0, "??????____1#######      ", "4.0 h" },
        { "awake now, by a wake that is in no record",
          { { 10 * HOUR, 4 * HOUR, "a" } }, { POWER_AWAKE, 15 * HOUR, 18 * HOUR }, 18 * HOUR, 0, "??????____1????###      ", "4.0 h" },
        { "awake now, and no record",
          {}, { POWER_AWAKE, 15 * HOUR, 18 * HOUR }, 18 * HOUR, 0, "???????????????###      ", "0.0 h" },
        { "awake now, and the record is of another boot",
          { { 10 * HOUR, 4 * HOUR, "b" } }, { POWER_AWAKE, 10 * HOUR + SECOND, 18 * HOUR }, 18 * HOUR, 0, "??????____1#######      ", "4.0 h" },
        { "what the service does not know",
          { { 10 * HOUR, 4 * HOUR, "a" } }, { POWER_UNKNOWN, 15 * HOUR, 18 * HOUR }, 18 * HOUR, 0, "??????____1???????      ", "4.0 h" },
        { "most of the hour counts, the sum is rounded down",
          { { 10 * HOUR + 29 * MINUTE, 4 * HOUR, "a" }, { 13 * HOUR + 31 * MINUTE, 81 * MINUTE, "a" } },
          { POWER_AWAKE, 13 * HOUR + 31 * MINUTE, 18 * HOUR }, 18 * HOUR, 0, "???????___1#_1####      ", "5.3 h" },
        { "not known for a part of the hour: not known",
          { { 10 * HOUR, 4 * HOUR - MINUTE, "a" } }, { POWER_AWAKE, 10 * HOUR, 11 * HOUR }, 11 * HOUR, 0, "???????___1             ", "3.9 h" },
};
/* clang-format on */

static void draw(const StripDay *d, char hours[static 25]) {
        for (size_t i = 0; i < 24; i++) {
                StripCell c = strip_day_sum(d, i * STRIP_CELLS_PER_HOUR, STRIP_CELLS_PER_HOUR);
                StripState state = strip_cell_state(&c);

                hours[i] = c.n_wakes > 0 ? (char) ('0' + c.n_wakes) : state == STRIP_NONE ? ' ' : "?#_"[state];
        }
        hours[24] = '\0';
}

static void zone_set(const char *zone) {
        ck_assert_int_eq(setenv("TZ", zone, 1), 0);
        tzset();
}

START_TEST(test_day) {
        WakeRecord items[5] = {};
        WakeRecords records = { items, 0 };
        DriveRecord present = { .boot_id = (char *) "a",
                                .power = cases[_i].present.power,
                                .power_when = MIDNIGHT + cases[_i].present.since };
        char hours[25], asleep[STRIP_TEXT_MAX];
        StripCell sum;
        StripDay day;
        Strip s;

        zone_set("UTC");
        for (const TestWake *w = cases[_i].wakes; w->when > 0; w++)
                items[records.n_items++] = (WakeRecord){ .when = MIDNIGHT + w->when,
                                                         .drive = (char *) "sda",
                                                         .boot_id = (char *) w->boot,
                                                         .slept = { w->slept != NONE, (int64_t) w->slept } };
        s = strip_make(&records, "sda", NULL, present.power_when > MIDNIGHT ? &present : NULL,
                       MIDNIGHT + cases[_i].present.told);
        strip_day(&s, MIDNIGHT + cases[_i].now - (cases[_i].now == 24 * HOUR), cases[_i].ago, &day);
        draw(&day, hours);
        sum = strip_day_sum(&day, 0, STRIP_CELLS);

        ck_assert_msg(streq(hours, cases[_i].hours), "%s:\n%s\n%s", cases[_i].title, cases[_i].hours, hours);
        ck_assert_msg(streq_ptr(strip_cell_asleep(&sum, asleep), cases[_i].asleep), "%s: %s", cases[_i].title, asleep);
        for (size_t i = 1; i < s.n_spans; i++)
                ck_assert_uint_ge(s.spans[i].begin, s.spans[i - 1].end);
        strip_done(&s);
}
END_TEST

/* Only of that drive: by its serial number, or by its name where that is not known. */
START_TEST(test_drive) {
        WakeRecord items[] = {
                { .when = MIDNIGHT + HOUR, .drive = (char *) "sda", .serial = (char *) "1" },
                { .when = MIDNIGHT + 2 * HOUR, .drive = (char *) "sdb", .serial = (char *) "1" },
                { .when = MIDNIGHT + 3 * HOUR, .drive = (char *) "sda", .serial = (char *) "2" },
                { .when = MIDNIGHT + 4 * HOUR, .drive = (char *) "sda" },
        };
        WakeRecords records = { items, ELEMENTSOF(items) };
        Strip s = strip_make(&records, "sda", "1", NULL, 0);

        ck_assert_uint_eq(s.n_wakes, 3);
        ck_assert(s.wakes[0] == items && s.wakes[1] == items + 1 && s.wakes[2] == items + 3);
        strip_done(&s);
}
END_TEST

/* As the time zone database has them, which need not be installed. */
#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"
#define LORD_HOWE "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"
#define SANTIAGO "<-04>4<-03>,M9.1.6/24,M4.1.6/24"
#define KATHMANDU "<+0545>-5:45"

/* The drive sleeps all the time. An hour that
 * is skipped is empty, and one that comes twice has its time twice. */
static const struct {
        const char *zone, *label, *hours, *asleep;
        uint64_t now; /* s since 1970: a noon */
        unsigned ago;
} days[] = {
        { "UTC", "Sat 24 Oct", "________________________", "24.0 h", 1792929600, 1 },
        { BERLIN, "Sun 25 Oct", "________________________", "25.0 h", 1793012400, 1 },
        { BERLIN, "Sat 24 Oct", "________________________", "24.0 h", 1793012400, 2 },
        { BERLIN, "Mon 26 Oct", "____________            ", "12.0 h", 1793012400, 0 },
        { BERLIN, "Sun 29 Mar", "__ _____________________", "23.0 h", 1774864800, 1 },
        { BERLIN, "Sat 28 Mar", "________________________", "24.0 h", 1774864800, 2 },
        { LORD_HOWE, "Sun  4 Oct", "________________________", "23.5 h", 1791162000, 1 },
        /* Summer time begins at midnight, and ends there. */
        { SANTIAGO, "Sun  6 Sep", " _______________________", "23.0 h", 1788793200, 1 },
        { SANTIAGO, "Sat  5 Sep", "________________________", "24.0 h", 1788793200, 2 },
        { SANTIAGO, "Sat  4 Apr", "________________________", "25.0 h", 1775404800, 1 },
        { KATHMANDU, "Wed 31 Dec", "________________________", "24.0 h", 1767248100, 1 },
};

START_TEST(test_zone) {
        WakeRecord wake = { .when = UINT64_C(1900000000) * SECOND,
                            .drive = (char *) "sda",
                            .slept = { true, 1900000000000000 } };
        WakeRecords records = { &wake, 1 };
        Strip s = strip_make(&records, "sda", NULL, NULL, 0);
        char hours[25], asleep[STRIP_TEXT_MAX];
        StripCell sum;
        StripDay day;

        zone_set(days[_i].zone);
        strip_day(&s, days[_i].now * SECOND, days[_i].ago, &day);
        draw(&day, hours);
        sum = strip_day_sum(&day, 0, STRIP_CELLS);
        ck_assert_str_eq(day.label, days[_i].label);
        ck_assert_msg(streq(hours, days[_i].hours), "%s: %s", days[_i].label, hours);
        ck_assert_str_eq(strip_cell_asleep(&sum, asleep), days[_i].asleep);
        strip_done(&s);
}
END_TEST

/* In the hour that comes twice: both wakes are of its cells, and at the same place. */
START_TEST(test_twice) {
        WakeRecord items[] = {
                { .when = UINT64_C(1792888200) * SECOND, .drive = (char *) "sda" }, /* 02:30 CEST */
                { .when = UINT64_C(1792891800) * SECOND, .drive = (char *) "sda" }, /* 02:30 CET */
        };
        WakeRecords records = { items, ELEMENTSOF(items) };
        Strip s = strip_make(&records, "sda", NULL, NULL, 0);
        uint64_t now = UINT64_C(1793012400) * SECOND;
        StripDay day;

        zone_set(BERLIN);
        strip_day(&s, now, 1, &day);
        ck_assert_uint_eq(day.cells[10].n_wakes, 2);
        ck_assert_int_eq(strip_day_second(&day, now, items[0].when), 9000);
        ck_assert_int_eq(strip_day_second(&day, now, items[1].when), 9000);
        ck_assert_int_lt(strip_day_second(&day, items[0].when, items[1].when), 0);
        strip_done(&s);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("strip");

        tcase_add_loop_test(t, test_day, 0, ELEMENTSOF(cases));
        tcase_add_test(t, test_drive);
        tcase_add_loop_test(t, test_zone, 0, ELEMENTSOF(days));
        tcase_add_test(t, test_twice);
        return test_main("cli-strip", t);
}
