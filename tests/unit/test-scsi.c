/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Mode pages of SCSI drives: complete visits, byte by byte. */

#include "script.h"
#include "settings.h"
#include "suite.h"
#include "visit.h"

typedef struct Case {
        const char *text;
        const char *name, *value;
        Verdict verdict;
        const char *reason_part;
        const Row *rows;
        size_t n_rows;
        bool permanent; /* true if the block has `permanent = true` */
        bool save;      /* true for a visit by `apply --permanent` */
} Case;

/* clang-format off */
#define BYTES(...) .data = (const uint8_t[]){ __VA_ARGS__ }, .data_len = sizeof((uint8_t[]){ __VA_ARGS__ })
#define ACTIVE { .cdb = "03 00 00 00 fc 00", BYTES(0x70, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) }
#define STANDBY_Z { .cdb = "03 00 00 00 fc 00", BYTES(0x70, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x5e, 2, 0, 0, 0, 0) }
#define SENSE(control_and_page) "5a 08 " control_and_page " 00 00 00 00 00 fc 00"
#define SELECT(save, len) "55 1" save " 00 00 00 00 00 00 " len " 00"
#define NO_OPCODE "70 00 05 00 00 00 00 0a 00 00 00 00 20 00 00 00 00 00"
#define NO_FIELD "72 05 24 00 00 00 00 00"
#define ATTENTION "70 00 06 00 00 00 00 0a 00 00 00 00 29 00 00 00 00 00"
#define NOT_IN_LIST "72 05 26 00 00 00 00 00"
#define ROUNDED "72 01 37 00 00 00 00 00"

/* Answer with the caching page: a header of eight bytes and a page of twenty. Bit 7 (PS) of the page's first byte is set. */
#define CACHING(ps, b2) BYTES(0, 0x1a, 0, 0x10, 0, 0, 0, 0, (ps) | 0x08, 0x12, b2, 0, 0xff, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x80, 0x14, 0, 0, 0, 0, 0, 0)
#define CACHING_6(b2) BYTES(0x17, 0, 0x10, 0, 0x88, 0x12, b2, 0, 0xff, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x80, 0x14, 0, 0, 0, 0, 0, 0)
#define CACHING_OUT(b2) "08 12 " b2 " 00 ff ff 00 00 ff ff ff ff 80 14 00 00 00 00 00 00"
/* The caching page after a block descriptor that was not requested. */
#define CACHING_DESCRIPTOR(b2) BYTES(0, 0x22, 0, 0x10, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 2, 0, 0x88, 0x12, b2, 0, 0xff, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x80, 0x14, 0, 0, 0, 0, 0, 0)
#define FLUSH { .cdb = "35 00 00 00 00 00 00 00 00 00" }
#define ZERO8 "00 00 00 00 00 00 00 00 "

static const Row cache_off[] = {
        ACTIVE,
        { .cdb = SENSE("08"), CACHING(0x80, 0x14) },
        { .cdb = SENSE("08"), CACHING(0x80, 0x14) },
        { .cdb = SENSE("48"), CACHING(0x80, 0x04) },
        { .cdb = SELECT("0", "1c"), .out = ZERO8 CACHING_OUT("10") },
        FLUSH,
        { .cdb = SENSE("08"), CACHING(0x80, 0x10) },
};
static const Row cache_on_already[] = { ACTIVE, { .cdb = SENSE("08"), CACHING(0x80, 0x04) } };
static const Row cache_with_descriptor[] = { ACTIVE, { .cdb = SENSE("08"), CACHING_DESCRIPTOR(0x04) } };
static const Row cache_attention[] = {
        ACTIVE,
        { .cdb = SENSE("08"), .sense = ATTENTION },
        { .cdb = SENSE("08"), .sense = ATTENTION },
        { .cdb = SENSE("08"), CACHING(0x80, 0x04) },
};
static const Row cache_by_six[] = {
        ACTIVE,
        { .cdb = SENSE("08"), .sense = NO_OPCODE }, { .cdb = "1a 08 08 00 fc 00", CACHING_6(0) },
        { .cdb = SENSE("08"), .sense = NO_OPCODE }, { .cdb = "1a 08 08 00 fc 00", CACHING_6(0) },
        { .cdb = SENSE("48"), .sense = NO_OPCODE }, { .cdb = "1a 08 48 00 fc 00", CACHING_6(4) },
        { .cdb = "15 10 00 00 18 00", .out = "00 00 00 00 " CACHING_OUT("04") },
        { .cdb = SENSE("08"), .sense = NO_OPCODE }, { .cdb = "1a 08 08 00 fc 00", CACHING_6(4) },
};
static const Row cache_fixed[] = {
        ACTIVE,
        { .cdb = SENSE("08"), CACHING(0x80, 0) },
        { .cdb = SENSE("08"), CACHING(0x80, 0) },
        { .cdb = SENSE("48"), CACHING(0x80, 0x01) },
        { .cdb = SENSE("08"), CACHING(0x80, 0) },
};
static const Row cache_refused[] = {
        ACTIVE,
        { .cdb = SENSE("08"), CACHING(0x80, 0) },
        { .cdb = SENSE("08"), CACHING(0x80, 0) },
        { .cdb = SENSE("48"), CACHING(0x80, 0x04) },
        { .cdb = SELECT("0", "1c"), .sense = NOT_IN_LIST },
        { .cdb = SENSE("08"), CACHING(0x80, 0) },
};
static const Row no_page[] = { ACTIVE, { .cdb = SENSE("08"), .sense = NO_FIELD } };
static const Row wrong_page[] = { ACTIVE, { .cdb = SENSE("08"), BYTES(0, 0x0c, 0, 0, 0, 0, 0, 0, 0x0a, 0x04, 0, 0, 0, 0) } };
static const Row cut_short[] = { ACTIVE, { .cdb = SENSE("08"), BYTES(0, 0x0c, 0, 0, 0, 0, 0, 0, 0x08, 0x12, 0x04, 0, 0, 0) } };
static const Row cut_by_transport[] = { ACTIVE, { .cdb = SENSE("08"), .resid = 252 - 12, CACHING(0x80, 0x00) } };
static const Row all_received[] = { ACTIVE, { .cdb = SENSE("08"), .resid = 252 - 28, CACHING(0x80, 0x04) } };
static const Row nothing_received[] = { ACTIVE, { .cdb = SENSE("08"), .resid = 252 } };
static const Row in_standby[] = { STANDBY_Z };
static const Row vanishes[] = { ACTIVE, { .cdb = SENSE("08"), .host_status = 1 } };

/* If `permanent` is true, the visit reads the saved page. If `save` is true, the visit also writes with the bit SP (save pages) set. */
static const Row saved_otherwise[] = {
        ACTIVE, { .cdb = SENSE("08"), CACHING(0x80, 0x04) }, { .cdb = SENSE("c8"), CACHING(0x80, 0x00) },
};
static const Row cannot_save[] = { ACTIVE, { .cdb = SENSE("08"), CACHING(0x00, 0x04) } };
static const Row saves[] = {
        ACTIVE,
        { .cdb = SENSE("08"), CACHING(0x80, 0x04) }, { .cdb = SENSE("c8"), CACHING(0x80, 0x00) },
        { .cdb = SENSE("08"), CACHING(0x80, 0x04) }, { .cdb = SENSE("48"), CACHING(0x80, 0x04) },
        { .cdb = SELECT("1", "1c"), .out = ZERO8 CACHING_OUT("04") },
        { .cdb = SENSE("08"), CACHING(0x80, 0x04) }, { .cdb = SENSE("c8"), CACHING(0x80, 0x04) },
};

#define RECOVERY(high, low) BYTES(0, 0x12, 0, 0x10, 0, 0, 0, 0, 0x81, 0x0a, 0xc0, 11, 0xff, 0, 0, 0, 11, 0, high, low)
static const Row recovery[] = {
        ACTIVE,
        { .cdb = SENSE("01"), RECOVERY(0, 0) },
        { .cdb = SENSE("01"), RECOVERY(0, 0) },
        { .cdb = SENSE("41"), RECOVERY(0xff, 0xff) },
        { .cdb = SELECT("0", "14"), .out = ZERO8 "01 0a c0 0b ff 00 00 00 0b 00 1b 58" }, /* 1B58h: 7000 ms */
        { .cdb = SENSE("01"), RECOVERY(0x1b, 0x58) },
};
static const Row recovery_rounded[] = {
        ACTIVE,
        { .cdb = SENSE("01"), RECOVERY(0, 0) },
        { .cdb = SENSE("01"), RECOVERY(0, 0) },
        { .cdb = SENSE("41"), RECOVERY(0xff, 0xff) },
        { .cdb = SELECT("0", "14"), .out = ZERO8 "01 0a c0 0b ff 00 00 00 0b 00 00 64", .sense = ROUNDED },
        { .cdb = SENSE("01"), RECOVERY(0x00, 0x96) },
};
static const Row recovery_too_long[] = { ACTIVE, { .cdb = SENSE("01"), RECOVERY(0, 0) }, { .cdb = SENSE("01"), RECOVERY(0, 0) } };

/* The bits DRA and RCD are the inverse of their settings. */
#define CACHING_12(b2, b12) BYTES(0, 0x1a, 0, 0x10, 0, 0, 0, 0, 0x88, 0x12, b2, 0, 0xff, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff, b12, 0x14, 0, 0, 0, 0, 0, 0)
static const Row lookahead_off[] = {
        ACTIVE,
        { .cdb = SENSE("08"), CACHING_12(0x04, 0x80) },
        { .cdb = SENSE("08"), CACHING_12(0x04, 0x80) },
        { .cdb = SENSE("48"), CACHING_12(0x05, 0x20) },
        { .cdb = SELECT("0", "1c"), .out = ZERO8 "08 12 04 00 ff ff 00 00 ff ff ff ff a0 14 00 00 00 00 00 00" },
        { .cdb = SENSE("08"), CACHING_12(0x04, 0xa0) },
};
static const Row lookahead_on[] = {
        ACTIVE,
        { .cdb = SENSE("08"), CACHING_12(0x04, 0xa0) },
        { .cdb = SENSE("08"), CACHING_12(0x04, 0xa0) },
        { .cdb = SENSE("48"), CACHING_12(0x05, 0x20) },
        { .cdb = SELECT("0", "1c"), .out = ZERO8 CACHING_OUT("04") },
        { .cdb = SENSE("08"), CACHING_12(0x04, 0x80) },
};
static const Row read_cache_off[] = {
        ACTIVE,
        { .cdb = SENSE("08"), CACHING(0x80, 0x14) },
        { .cdb = SENSE("08"), CACHING(0x80, 0x14) },
        { .cdb = SENSE("48"), CACHING(0x80, 0x05) },
        { .cdb = SELECT("0", "1c"), .out = ZERO8 CACHING_OUT("15") },
        { .cdb = SENSE("08"), CACHING(0x80, 0x15) },
};
static const Row read_cache_on_already[] = { ACTIVE, { .cdb = SENSE("08"), CACHING(0x80, 0x14) } };
#define REALLOCATE(b2) BYTES(0, 0x12, 0, 0x10, 0, 0, 0, 0, 0x81, 0x0a, b2, 11, 0xff, 0, 0, 0, 11, 0, 0, 0)
static const Row awre_on[] = {
        ACTIVE,
        { .cdb = SENSE("01"), REALLOCATE(0x00) },
        { .cdb = SENSE("01"), REALLOCATE(0x00) },
        { .cdb = SENSE("41"), REALLOCATE(0xc0) },
        { .cdb = SELECT("0", "14"), .out = ZERO8 "01 0a 80 0b ff 00 00 00 0b 00 00 00" },
        { .cdb = SENSE("01"), REALLOCATE(0x80) },
};
static const Row arre_off[] = {
        ACTIVE,
        { .cdb = SENSE("01"), REALLOCATE(0xc0) },
        { .cdb = SENSE("01"), REALLOCATE(0xc0) },
        { .cdb = SENSE("41"), REALLOCATE(0xc0) },
        { .cdb = SELECT("0", "14"), .out = ZERO8 "01 0a 80 0b ff 00 00 00 0b 00 00 00" },
        { .cdb = SENSE("01"), REALLOCATE(0x80) },
};

/* The power condition page. TIMERS(10, 0x70): idle_a after 1 s, standby_z after 10 min. */
#define CONDITIONS(b2, b3, ...) BYTES(0, 0x2e, 0, 0, 0, 0, 0, 0, 0x9a, 0x26, b2, b3, __VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#define TIMERS(a, z) 0, 0, 0, a, 0, 0, 0x17, z, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
static const Row standby_on[] = {
        ACTIVE,
        { .cdb = SENSE("1a"), CONDITIONS(0, 0x02, TIMERS(10, 0x70)) },
        { .cdb = SENSE("1a"), CONDITIONS(0, 0x02, TIMERS(10, 0x70)) },
        { .cdb = SENSE("5a"), BYTES(0, 0x2e, 0, 0, 0, 0, 0, 0, 0x9a, 0x26, 1, 0x0f, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) },
        { .cdb = SELECT("0", "30"), .out = ZERO8 "1a 26 00 03 00 00 00 0a 00 00 46 50 00 00 00 00" }, /* 4650h: 30 min in units of 100 ms */
        { .cdb = SENSE("1a"), BYTES(0, 0x2e, 0, 0, 0, 0, 0, 0, 0x9a, 0x26, 0, 3, 0, 0, 0, 10, 0, 0, 0x46, 0x50, 0, 0, 0, 0, 0, 0, 0, 0,
                                    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) },
};
static const Row idle_off[] = {
        ACTIVE,
        { .cdb = SENSE("1a"), CONDITIONS(0, 0x02, TIMERS(10, 0x70)) },
        { .cdb = SENSE("1a"), CONDITIONS(0, 0x02, TIMERS(10, 0x70)) },
        { .cdb = SENSE("5a"), CONDITIONS(1, 0x0f, TIMERS(0, 0)) },
        { .cdb = SELECT("0", "30"), .out = ZERO8 "1a 26 00 00 00 00 00 0a 00 00 17 70" }, /* standby_z is off and keeps its time */
        { .cdb = SENSE("1a"), CONDITIONS(0, 0x00, TIMERS(10, 0x70)) },
};
/* The bits in b2 and b3 turn conditions on. Each condition has a different time: idle_a 1 s, standby_z 2 s, idle_b 3 s, idle_c 4 s,
 * standby_y 5 s. */
#define ONE_CONDITION(b2, b3) { .cdb = SENSE("1a"), CONDITIONS(b2, b3, 0, 0, 0, 10, 0, 0, 0, 20, 0, 0, 0, 30, 0, 0, 0, 40, 0, 0, 0, 50) }
static const Row idle_a[] = { ACTIVE, ONE_CONDITION(0, 0x02) };
static const Row idle_b[] = { ACTIVE, ONE_CONDITION(0, 0x04) };
static const Row idle_c[] = { ACTIVE, ONE_CONDITION(0, 0x08) };
static const Row standby_y[] = { ACTIVE, ONE_CONDITION(0x01, 0) };
static const Row standby_z[] = { ACTIVE, ONE_CONDITION(0, 0x01) };
static const Row all_but_idle_b[] = { ACTIVE, ONE_CONDITION(0x01, 0x0b) };
static const Row aborted[] = { ACTIVE, { .cdb = SENSE("08"), .sense = "72 0b 20 00 00 00 00 00" } };
static const Row aborted_by_six[] = {
        ACTIVE, { .cdb = SENSE("08"), .sense = NO_OPCODE }, { .cdb = "1a 08 08 00 fc 00", .sense = NO_OPCODE },
};
static const Row saves_nothing[] = {
        ACTIVE, { .cdb = SENSE("08"), CACHING(0x80, 0x04) }, { .cdb = SENSE("c8"), .sense = "72 05 39 00 00 00 00 00" },
};
static const Row old_short_page[] = { ACTIVE, { .cdb = SENSE("1a"), BYTES(0, 0x12, 0, 0, 0, 0, 0, 0, 0x9a, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) } };

#define ROWS(r) .rows = (r), .n_rows = ELEMENTSOF(r)
static const Case cases[] = {
        { "the cache is turned off, then flushed", "write_cache", "off", VERDICT_APPLIED, NULL, ROWS(cache_off) },
        { "the cache is already on", "write_cache", "on", VERDICT_UNCHANGED, NULL, ROWS(cache_on_already) },
        { "an unrequested block descriptor before the page", "write_cache", "on", VERDICT_UNCHANGED, NULL, ROWS(cache_with_descriptor) },
        { "unit attentions before the answer", "write_cache", "on", VERDICT_UNCHANGED, NULL, ROWS(cache_attention) },
        { "drive with 6-byte commands only", "write_cache", "on", VERDICT_APPLIED, NULL, ROWS(cache_by_six) },
        { "nothing is sent if the bit is not changeable", "write_cache", "on", VERDICT_REFUSED, "does not allow this change", ROWS(cache_fixed) },
        { "refused", "write_cache", "on", VERDICT_REFUSED, "MODE SELECT (illegal request: invalid field in parameter list, sense 5h 26h/00h): not supported; write_cache = \"keep\" leaves the setting unchanged", ROWS(cache_refused) },
        { "mode page is not supported", "write_cache", "on", VERDICT_UNSUPPORTED, "08h", ROWS(no_page) },
        { "answer with another page", "write_cache", "on", VERDICT_FAILED, "without page 08h", ROWS(wrong_page) },
        { "answer with half a page", "write_cache", "on", VERDICT_FAILED, "a part of page 08h", ROWS(cut_short) },
        { "half a page, as reported by the transport", "write_cache", "on", VERDICT_FAILED, "a part of page 08h", ROWS(cut_by_transport) },
        { "answer with exactly one page", "write_cache", "on", VERDICT_UNCHANGED, NULL, ROWS(all_received) },
        { "empty answer", "write_cache", "on", VERDICT_FAILED, "without page 08h", ROWS(nothing_received) },
        { "drive in standby", "write_cache", "on", VERDICT_DEFERRED, NULL, ROWS(in_standby) },
        { "gone", "write_cache", "on", VERDICT_VANISHED, NULL, ROWS(vanishes) },
        { "saved value differs", "write_cache", "on", VERDICT_UNCHANGED, "apply --permanent", ROWS(saved_otherwise), .permanent = true },
        { "page that cannot be saved", "write_cache", "on", VERDICT_UNCHANGED, "cannot save", ROWS(cannot_save), .permanent = true },
        { "saves", "write_cache", "on", VERDICT_APPLIED, NULL, ROWS(saves), true, true },
        { "recovery time limit", "error_recovery", "7s", VERDICT_APPLIED, NULL, ROWS(recovery) },
        { "recovery time limit rounded by the drive", "error_recovery", "100ms", VERDICT_ADJUSTED, NULL, ROWS(recovery_rounded) },
        { "time limit above 16 bits", "error_recovery", "70s", VERDICT_REFUSED, "too long for mode page", ROWS(recovery_too_long) },
        { "read-ahead off", "lookahead", "off", VERDICT_APPLIED, NULL, ROWS(lookahead_off) },
        { "read-ahead on", "lookahead", "on", VERDICT_APPLIED, NULL, ROWS(lookahead_on) },
        { "read cache off, with the write cache kept", "read_cache", "off", VERDICT_APPLIED, NULL, ROWS(read_cache_off) },
        { "read cache is already on", "read_cache", "on", VERDICT_UNCHANGED, NULL, ROWS(read_cache_on_already) },
        { "reallocation on write errors is turned on", "auto_reallocate_write", "on", VERDICT_APPLIED, NULL, ROWS(awre_on) },
        { "reallocation on read errors is turned off", "auto_reallocate_read", "off", VERDICT_APPLIED, NULL, ROWS(arre_off) },
        { "power condition is turned on", "standby_z", "30min", VERDICT_APPLIED, NULL, ROWS(standby_on) },
        { "power condition is turned off", "idle_a", "off", VERDICT_APPLIED, NULL, ROWS(idle_off) },
        { "idle_a", "idle_a", "1s", VERDICT_UNCHANGED, NULL, ROWS(idle_a) },
        { "idle_b", "idle_b", "3s", VERDICT_UNCHANGED, NULL, ROWS(idle_b) },
        { "idle_c", "idle_c", "4s", VERDICT_UNCHANGED, NULL, ROWS(idle_c) },
        { "standby_y", "standby_y", "5s", VERDICT_UNCHANGED, NULL, ROWS(standby_y) },
        { "standby_z", "standby_z", "2s", VERDICT_UNCHANGED, NULL, ROWS(standby_z) },
        { "power condition that is off while all others are on", "idle_b", "off", VERDICT_UNCHANGED, NULL, ROWS(all_but_idle_b) },
        { "MODE SENSE aborted for another reason", "write_cache", "on", VERDICT_REFUSED, "Bh 20h/00h", ROWS(aborted) },
        { "neither MODE SENSE(10) nor (6) is supported", "write_cache", "on", VERDICT_UNSUPPORTED, "08h", ROWS(aborted_by_six) },
        { "drive without saved pages", "write_cache", "on", VERDICT_UNCHANGED, NULL, ROWS(saves_nothing), .permanent = true },
        { "spindown_time is unsupported without a command", "spindown_time", "20min", VERDICT_UNSUPPORTED,
          "SCSI drives have standby_z instead of this timer; spindown_by = \"service\" makes the service spin the drive down" },
        { "spindown_time off is unsupported without a command", "spindown_time", "off", VERDICT_UNSUPPORTED, "standby_z" },
        { "drive with an old, short page without idle_b", "idle_b", "30s", VERDICT_UNSUPPORTED, "too short", ROWS(old_short_page) },
};
/* clang-format on */

START_TEST(test_mode) {
        const Case *c = cases + _i;
        const Setting *s = setting_for_backends(&all_settings, c->name, 1U << BACKEND_SCSI_MODE);
        Drive d = { .name = (char *) "sda",
                    .node = (char *) "/dev/sda",
                    .syspath = (char *) "/nonexistent",
                    .transport = TRANSPORT_SAS,
                    .rotational = true };
        Script script = { .rows = c->rows, .n_rows = c->n_rows };
        DeviceIO io = script_io(&script);
        Wish wish = { .name = c->name, .file = "f", .line = 1, .permanent = c->permanent };
        Wishes w = { &wish, 1 };
        Visit v = { .drive = &d,
                    .wishes = &w,
                    .settings = &all_settings,
                    .io = &io,
                    .work = WORK_APPLY | (c->save ? WORK_PERMANENT : 0) };
        Plan p;

        ck_assert_ptr_nonnull(s);
        ck_assert_int_eq(value_parse(&s->range, c->value, &wish.value), 0);
        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_msg(p.steps[0].verdict == c->verdict, "%s: expected %s, got %s (%s)", c->text,
                      verdict_to_string(c->verdict), verdict_to_string(p.steps[0].verdict), p.steps[0].reason);
        ck_assert_msg(!c->reason_part || strstr(p.steps[0].reason, c->reason_part), "%s: reason '%s'", c->text,
                      p.steps[0].reason);
        script_done(&script);
        plan_done(&p);
}
END_TEST

/* Values are parsed by setting name, so rows with the same name must accept the same values. */
START_TEST(test_same_ranges) {
        char a[256], b[256];

        SETTING_TABLE_FOREACH(s, &all_settings) {
                const Setting *first = setting_find(&all_settings, s->name);

                ck_assert_int_eq(s->range.type, first->range.type);
                ck_assert_int_eq(s->range.step, first->range.step);
                ck_assert_int_eq(s->range.unit, first->range.unit);
                ck_assert_msg(streq(value_range_format(&s->range, a, sizeof a),
                                    value_range_format(&first->range, b, sizeof b)),
                              "%s: %s and %s", s->name, a, b);
        }
}
END_TEST

/* Checks that the displayed text of a value is valid in a configuration file. */
static void check_round_trip(const Setting *s, int64_t number) {
        Value v = { .type = s->range.type, .number = number }, again = {};
        char text[VALUE_TEXT_MAX];
        const char *shown = value_format(&s->range, &v, text);
        int r = value_parse(&s->range, shown, &again);

        ck_assert_msg(r == 0 && value_equal(&v, &again), "%s: %lld is shown as '%s', which is read as %lld (%d)",
                      s->name, (long long) number, shown, (long long) again.number, r);
}

START_TEST(test_round_trip) {
        SETTING_TABLE_FOREACH(s, &all_settings) {
                const ValueRange *v = &s->range;
                int64_t step = MAX(v->step, 1);

                if (v->type == VALUE_NAME || v->type == VALUE_ANY)
                        continue;
                for (int64_t n = v->min; n <= v->max;
                     n = n < v->max / 3 ? n * 3 + step : n + MAX(v->max / 7 / step * step, step)) {
                        int64_t rounded = n / step * step;

                        if (rounded >= v->min && !(v->type == VALUE_STANDBY_TIMER && rounded == 254))
                                check_round_trip(s, rounded);
                }
                check_round_trip(s, v->min);
                check_round_trip(s, v->max);
                if (v->has_off)
                        check_round_trip(s, v->off);
                for (const ValueWord *w = v->words; w && w->word; w++)
                        check_round_trip(s, w->number);
                for (int64_t n = 0; v->type == VALUE_STANDBY_TIMER && n < 254; n++)
                        check_round_trip(s, n);
        }
}
END_TEST

int main(void) {
        Suite *suite = suite_create("scsi");
        TCase *t = tcase_create("scsi");

        tcase_set_timeout(t, 60);
        tcase_add_loop_test(t, test_mode, 0, ELEMENTSOF(cases));
        tcase_add_test(t, test_same_ranges);
        tcase_add_test(t, test_round_trip);
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
