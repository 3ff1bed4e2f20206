/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is told of a spin-down timer: by what the service has counted, and of who woke the drive last. */

#include "advice.h"
#include "wakes-journal.h"

#define NOW (NOON + UINT64_C(1000000) * 86400 * 20)
#define HEAD "VERSION=1\nNAME=sda\nSERIAL=5YD1\nSPINDOWN=20 min\nUSE_SETTING=20 min\nUSE_SINCE=1259668800000000\n"
#define TAIL "SETTINGS=0\n"
/* Ten days: of each there were two times of 25 minutes without use, and one of 5 hours. */
#define GAPS                                                                         \
        "USE_WATCHED=864000\nUSE_GAPS=0 0 0 0 0 0 20000 0 0 0 0 0 0 0 10000 0 0 0\n" \
        "USE_GAP_TIMES=0 0 0 0 0 0 30000 0 0 0 0 0 0 0 180000 0 0 0\nUSE_SPIN_UPS=29\nUSE_ASLEEP=171000\n"
#define WEAR(first, last)                                                 \
        "FIRST_WEAR_WHEN=1259668800000000\nFIRST_WEAR_LOAD_CYCLES=" first \
        "\nWEAR_WHEN=1260532800000000\nWEAR_LOAD_CYCLES=" last "\nWEAR_START_STOPS=900\nWEAR_TEMPERATURE=35\n"

static void setup(void) {
        journal_set(NULL, 0, 0);
        is_readable = false;
        ck_assert_int_eq(setenv("TZ", "UTC", 1), 0);
}

static char *advice(const char *record, bool json) {
        _cleanup_(drive_record_freep) DriveRecord *r = record ? record_of(record) : NULL;
        _cleanup_(output_freep) Output *o = output_new(json, NULL, 0);
        FILE *f = catch_begin(stdout);

        output_object(o, NULL);
        advice_tell(o, r, NOW);
        output_end(o);
        output_print(o);
        return catch_end(stdout, f);
}

static const struct {
        const char *record;
        const char *told[8]; /* lines; all of them, unless the last is NULL */
} tellings[] = {
        { HEAD GAPS WEAR("1000", "1030") "USE_KNOWN_FROM=600\n" TAIL,
          { "", "Since the timer is 20 min, for 10 days:", "  spun up 29 times, 2.9 a day, asleep for 4.8 h a day",
            "  1030 load cycles, 3.0 more a day: 600000 (assumed, the drive does not say for how many it is made) are "
            "reached in 547 years",
            "  900 spindle starts", "  35 degrees Celsius, 12:00",
            "As it was used in that time, a timer of its own would have come to:",
            "  10 min: spun up 3.0 times a day, asleep for 5.3 h a day" } },
};

START_TEST(test_told) {
        _cleanup_free_ char *text = advice(tellings[_i].record, false), *want = NULL;
        size_t size;
        FILE *f = open_memstream(&want, &size);

        for (size_t i = 0; i < ELEMENTSOF(tellings[_i].told) && tellings[_i].told[i]; i++)
                fprintf(f, "%s\n", tellings[_i].told[i]);
        ck_assert_int_eq(fclose(f), 0);
        ck_assert_msg(starts_with(text, want), "%s", text);
}
END_TEST

static const struct {
        const char *record, *has, *lacks;
} parts[] = {
        /* Each timer that can be told of. */
        { HEAD GAPS "USE_KNOWN_FROM=600\n" TAIL, "  20 min: spun up 3.0 times a day, asleep for 4.8 h a day\n",
          "   5 min" },
        { HEAD GAPS "USE_KNOWN_FROM=600\n" TAIL, "  30 min: spun up 1.0 times a day, asleep for 4.5 h a day\n",
          "not known: with that" },
        { HEAD GAPS "USE_KNOWN_FROM=600\n" TAIL,
          "Of timers below 10 min that is not known: with this one, shorter times without use are missed.\n",
          "90 min" },
        { HEAD GAPS TAIL, "   5 min: spun up 3.0 times a day, asleep for 5.6 h a day\n", "not known" },
        { HEAD GAPS "USE_KNOWN_FROM=7200\n" TAIL, "Of timers below 120 min that", "As it was used" },
        /* Another timer than that of now. */
        { HEAD "SPINDOWN_KEY=drive spindown_time 1800000000\nUSE_KEY=drive spindown_time 1200000000\n" TAIL,
          "While the timer was 20 min, for ", "Since" },
        { HEAD "SPINDOWN_KEY=drive spindown_time 1200000000\nUSE_KEY=drive spindown_time 1200000000\n" TAIL,
          "Since the timer is 20 min, for ", "While" },
        /* Not yet. */
        { HEAD "USE_WATCHED=3600\nUSE_SPIN_UPS=2\nUSE_ASLEEP=1800\n" TAIL,
          "  spun up 2 times, asleep for 0.5 h\nWhat other timers would have come to shows when it was watched for a day.\n",
          "As it was used" },
        /* One of each. */
        { HEAD
          "USE_WATCHED=3600\nUSE_SPIN_UPS=1\nUSE_ASLEEP=1800\nWEAR_WHEN=1260532800000000\nWEAR_LOAD_CYCLES=1\nWEAR_START_STOPS=1\n" TAIL,
          "  spun up 1 time, asleep for 0.5 h\n  1 load cycle\n  1 spindle start\n", "cycles" },
        /* No use was counted, which is not the same as that there was none. */
        { HEAD TAIL, "  how often it spun up is not known: no time without reads and writes was counted yet\n",
          "spun up 0" },
        /* Counts of the drive's. */
        { HEAD GAPS WEAR("1000", "1000") TAIL, "  1000 load cycles, and no more since\n", "reached" },
        { HEAD GAPS WEAR("1000", "7000") "WEAR_RATED_LOAD_CYCLES=300000\n" TAIL,
          "  7000 load cycles, 600.0 more a day: 300000 are reached in 1 years\n", "assumed" },
        { HEAD GAPS "WEAR_WHEN=1260532800000000\nWEAR_LOAD_CYCLES=7\n" TAIL, "  7 load cycles\n", "more a day" },
};

START_TEST(test_part) {
        _cleanup_free_ char *text = advice(parts[_i].record, false);

        ck_assert_msg(strstr(text, parts[_i].has) && !strstr(text, parts[_i].lacks), "%s", text);
}
END_TEST

static const char *const silent[] = {
        NULL, "VERSION=1\nNAME=sda\n" TAIL,
        "VERSION=1\nNAME=sda\nUSE_SETTING=20 min\n" TAIL, /* nothing is wanted any more */
};

START_TEST(test_silent) {
        _cleanup_free_ char *text = advice(silent[_i], false), *json = advice(silent[_i], true);

        ck_assert_str_eq(text, "");
        ck_assert_str_eq(json, "{\n  \"use\": null\n}\n");
}
END_TEST

static const Fields woken[] = {
        RECORD("sda", "read", "read", PROCESS "old", SERIAL "5YD1"),
        RECORD("sdb", "read", "read", PROCESS "other", SERIAL "X"),
        RECORD("sda", "read", "read", PROCESS "smbd", UNIT "smbd.service", SERIAL "5YD1",
               "DRIVEKEEP_SLEPT_USEC=7200000000"),
};

START_TEST(test_last_wake) {
        _cleanup_free_ char *text = NULL, *json = NULL;

        journal_set(woken, ELEMENTSOF(woken), ELEMENTSOF(woken));
        is_readable = true;
        text = advice(HEAD TAIL, false);
        ck_assert_msg(strstr(text, "  woken last Nov 21 by smbd, smbd.service, when it had slept for 2 h\n"), "%s",
                      text);
        json = advice(HEAD TAIL, true);
        ck_assert_msg(strstr(json, "\"time\": \"2009-11-21T12:03:00Z\",\n      \"process\": \"smbd\""), "%s", json);
}
END_TEST

START_TEST(test_json) {
        _cleanup_free_ char *json = advice(HEAD GAPS WEAR("1000", "1030") "USE_KNOWN_FROM=600\n" TAIL, true);
        _cleanup_(json_putp) struct json_object *o = json_tokener_parse(json);

        ck_assert_ptr_nonnull(o);
        ck_assert_msg(strstr(json,
                             "\"watched_seconds\": 864000,\n    \"spin_ups\": 29,\n    \"asleep_seconds\": 171000,"),
                      "%s", json);
        ck_assert_msg(strstr(json,
                             "\"count\": 1030,\n      \"rated\": null,\n      \"more_per_100_days\": 300,\n      \"years_left\": 546"),
                      "%s", json);
        ck_assert_msg(strstr(json, "\"minutes\": 5,\n        \"spin_ups_per_100_days\": null"), "%s", json);
        ck_assert_msg(strstr(json,
                             "\"minutes\": 30,\n        \"spin_ups_per_100_days\": 100,\n        \"asleep_seconds_per_day\": 16200"),
                      "%s", json);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("cli-advice");

        tcase_add_checked_fixture(t, setup, NULL);
        tcase_add_loop_test(t, test_told, 0, ELEMENTSOF(tellings));
        tcase_add_loop_test(t, test_part, 0, ELEMENTSOF(parts));
        tcase_add_loop_test(t, test_silent, 0, ELEMENTSOF(silent));
        tcase_add_test(t, test_last_wake);
        tcase_add_test(t, test_json);

        return test_main("cli-advice", t);
}
