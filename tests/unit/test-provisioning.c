/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The settings provisioning_mode and discard_max_bytes. Each case has the bytes that a drive reports about its discards, and the verdict
 * on a wanted discard command. No case sends a command to the drive. */

#include "script.h"
#include "settings.h"
#include "suite.h"
#include "sysfs-tree.h"
#include "visit.h"

/* VPD pages, with their headers of four bytes. B0: MAXIMUM UNMAP LBA COUNT and MAXIMUM UNMAP BLOCK DESCRIPTOR COUNT. B2: LBPU, LBPWS and
 * LBPWS10 in byte 5. */
#define B0(lbas, descriptors) "00 b0 00 3c 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 " lbas " " descriptors
#define B2(bits) "00 b2 00 04 00 " bits " 02 00"
#define LIMITS B0("00 3f ff c0", "00 00 00 01") /* 4194240 blocks */

#define MODE SYSFS_DISK "provisioning_mode"
#define MISSING(what) "does not report this command (" what "); allow_dangerous = true in the block permits"

static const struct {
        const char *value, *thin; /* thin: the kernel's LBPME; NULL: no such file */
        const char *b0, *b2;      /* NULL: the kernel has no such page of the drive */
        Verdict verdict;
        const char *reason;
        bool allow_dangerous;
        const char *now; /* provisioning_mode before the visit; NULL: full */
} cases[] = {
        { "unmap", "1", LIMITS, B2("80"), VERDICT_APPLIED },
        { "unmap", "1", LIMITS, B2("e0"), VERDICT_APPLIED },
        { "unmap", "1", LIMITS, B2("60"), VERDICT_FORBIDDEN, MISSING("LBPU = 0") },
        { "unmap", "0", LIMITS, B2("80"), VERDICT_FORBIDDEN, MISSING("LBPME = 0") },
        { "unmap", NULL, LIMITS, B2("80"), VERDICT_FORBIDDEN, MISSING("LBPME = 0") },
        { "unmap", "1", B0("00 00 00 00", "00 00 00 01"), B2("80"), VERDICT_FORBIDDEN,
          MISSING("MAXIMUM UNMAP LBA COUNT = 0") },
        { "unmap", "1", B0("00 3f ff c0", "00 00 00 00"), B2("80"), VERDICT_FORBIDDEN,
          MISSING("MAXIMUM UNMAP BLOCK DESCRIPTOR COUNT = 0") },
        /* A short page, as from SBC-2, has no counts. */
        { "unmap", "1", "00 b0 00 0c 00 00 00 00 00 00 00 00 00 00 00 00", B2("80"), VERDICT_FORBIDDEN,
          MISSING("MAXIMUM UNMAP LBA COUNT = 0") },
        { "unmap", "1", LIMITS, NULL, VERDICT_FORBIDDEN, MISSING("VPD page B2h missing") },
        { "unmap", "1", LIMITS, "", VERDICT_FORBIDDEN, MISSING("VPD page B2h missing") },
        { "unmap", "1", LIMITS, B0("ff ff ff ff", "ff ff ff ff"), VERDICT_FORBIDDEN, MISSING("VPD page B2h missing") },
        /* A USB stick has no VPD page. */
        { "unmap", "0", NULL, NULL, VERDICT_FORBIDDEN,
          MISSING("LBPME = 0, VPD page B2h missing, VPD page B0h missing") },
        { "unmap", "0", NULL, NULL, VERDICT_APPLIED, .allow_dangerous = true },
        { "writesame_16", "0", NULL, NULL, VERDICT_APPLIED, .allow_dangerous = true },
        { "unmap", "0", NULL, NULL, VERDICT_UNCHANGED, .now = "unmap" },

        { "writesame_16", "1", NULL, B2("40"), VERDICT_APPLIED },
        { "writesame_16", "1", LIMITS, B2("a0"), VERDICT_FORBIDDEN, MISSING("LBPWS = 0") },
        { "writesame_10", "1", NULL, B2("20"), VERDICT_APPLIED },
        { "writesame_10", "1", LIMITS, B2("c0"), VERDICT_FORBIDDEN, MISSING("LBPWS10 = 0") },
        { "writesame_10", "0", LIMITS, B2("c0"), VERDICT_FORBIDDEN, MISSING("LBPME = 0, LBPWS10 = 0") },

        { "full", "0", NULL, NULL, VERDICT_APPLIED, .now = "unmap" },
        { "disabled", "0", NULL, NULL, VERDICT_APPLIED, .now = "unmap" },
};

static void put_page(const char *path, const char *hex) {
        uint8_t bytes[64] = {};

        (void) script_bytes(hex, bytes, sizeof bytes);
        put_bytes(path, bytes, *hex ? sizeof bytes : 0);
}

START_TEST(test_reports) {
        const char *before = cases[_i].now ?: "full";
        Script script = {};
        DeviceIO io = script_io(&script);
        Wish wish = { .name = "provisioning_mode",
                      .value = { .type = VALUE_NAME },
                      .file = "f",
                      .allow_dangerous = cases[_i].allow_dangerous };
        Wishes w = { &wish, 1 };
        Drive d;
        Visit v = { .drive = &d, .wishes = &w, .settings = &all_settings, .io = &io, .work = WORK_APPLY };
        Plan p;

        make_disk(&d, TRANSPORT_USB);
        strcpy(wish.value.name, cases[_i].value);
        put(MODE, before);
        if (cases[_i].thin)
                put(SYSFS_DISK "thin_provisioning", cases[_i].thin);
        if (cases[_i].b0)
                put_page("device/vpd_pgb0", cases[_i].b0);
        if (cases[_i].b2)
                put_page("device/vpd_pgb2", cases[_i].b2);

        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_msg(p.steps[0].verdict == cases[_i].verdict, "case %d: %s (%s)", _i,
                      verdict_to_string(p.steps[0].verdict), p.steps[0].reason);
        ck_assert_msg(!cases[_i].reason || strstr(p.steps[0].reason, cases[_i].reason), "case %d: reason '%s'", _i,
                      p.steps[0].reason);
        check_text(MODE, cases[_i].verdict == VERDICT_APPLIED ? cases[_i].value : before);
        plan_done(&p);
        drop_tree(&d);
}
END_TEST

/* WRITE SAME(10) with zeros is permitted if the kernel found that the drive has WRITE SAME. */
START_TEST(test_write_zeros) {
        static const char *const blocks[] = { "65535", "0", NULL };
        Script script = {};
        DeviceIO io = script_io(&script);
        Wish wish = { .name = "provisioning_mode", .value = { VALUE_NAME, 0, "writesame_zero" }, .file = "f" };
        Wishes w = { &wish, 1 };
        Drive d;
        Visit v = { .drive = &d, .wishes = &w, .settings = &all_settings, .io = &io, .work = WORK_APPLY };
        Plan p;

        make_disk(&d, TRANSPORT_SCSI);
        put(MODE, "full");
        if (blocks[_i])
                put(SYSFS_DISK "max_write_same_blocks", blocks[_i]);
        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_int_eq(p.steps[0].verdict, _i == 0 ? VERDICT_APPLIED : VERDICT_FORBIDDEN);
        ck_assert(_i == 0 || strstr(p.steps[0].reason, MISSING("max_write_same_blocks = 0")));
        plan_done(&p);
        drop_tree(&d);
}
END_TEST

/* The drive has no discards before the visit (discard_max_hw_bytes is 0). The visit turns discards on, and then sets discard_max_bytes. To
 * simulate the kernel, which computes the limit when provisioning_mode is written, the limit is a link to provisioning_mode: "0", then
 * "unmap". */
static const struct {
        const char *thin, *limit; /* limit: content of discard_max_hw_bytes; NULL: the link */
        bool wants_mode;
        Verdict mode, discard;
        const char *reason;
} together[] = {
        { "1", NULL, true, VERDICT_APPLIED, VERDICT_APPLIED, NULL },
        { "0", NULL, true, VERDICT_FORBIDDEN, VERDICT_UNSUPPORTED, "sends this drive no discards" },
        /* The kernel accepts provisioning_mode, but still sends no discards. */
        { "1", "0", true, VERDICT_APPLIED, VERDICT_UNSUPPORTED, "sends this drive no discards" },
        { "1", "0", false, _VERDICT_INVALID, VERDICT_UNSUPPORTED, "has no discard_max_bytes" },
};

START_TEST(test_limit_after_mode) {
        Script script = {};
        DeviceIO io = script_io(&script);
        Wish wishes[] = { { .name = "discard_max_bytes", .value = { VALUE_SIZE, 1 << 20, "" }, .file = "f" },
                          { .name = "provisioning_mode", .value = { VALUE_NAME, 0, "unmap" }, .file = "f" } };
        Wishes w = { wishes, together[_i].wants_mode ? 2 : 1 };
        Drive d;
        Visit v = { .drive = &d, .wishes = &w, .settings = &all_settings, .io = &io, .work = WORK_APPLY, .dry = true };
        char path[PATH_MAX], target[PATH_MAX];

        make_disk(&d, TRANSPORT_SCSI);
        put(MODE, "0");
        put(SYSFS_DISK "thin_provisioning", together[_i].thin);
        put_page("device/vpd_pgb0", LIMITS);
        put_page("device/vpd_pgb2", B2("80"));
        put("queue/discard_max_bytes", "0");
        path_of("queue/discard_max_hw_bytes", path);
        path_of(MODE, target);
        if (together[_i].limit)
                put("queue/discard_max_hw_bytes", together[_i].limit);
        else
                ck_assert_int_eq(symlink(target, path), 0);

        /* A dry run assumes that the kernel will have the limit. */
        for (bool dry = true;; dry = v.dry = false) {
                bool planned = dry && together[_i].mode == VERDICT_APPLIED;
                Plan p;

                ck_assert_int_eq(visit_run(&v, &p), 0);
                for (const Step *s = p.steps; s < p.steps + p.n_steps; s++) {
                        bool mode = streq(s->wish->name, "provisioning_mode");

                        ck_assert_msg(planned ? s->write
                                              : s->verdict == (mode ? together[_i].mode : together[_i].discard),
                                      "case %d: %s: %s (%s)", _i, s->wish->name, verdict_to_string(s->verdict),
                                      s->reason);
                        ck_assert(planned || mode || !together[_i].reason || strstr(s->reason, together[_i].reason));
                }
                plan_done(&p);
                if (!dry)
                        break;
        }
        check_text(MODE, together[_i].mode == VERDICT_APPLIED ? "unmap" : "0");
        check_text("queue/discard_max_bytes", together[_i].discard == VERDICT_APPLIED ? "1048576" : "0");
        drop_tree(&d);
}
END_TEST

/* While LBPME is 0, the kernel ignores the drive's limit for UNMAP. A note asks for a smaller discard_max_bytes. */
static const struct {
        const char *thin, *b0, *limit; /* limit: the kernel's discard_max_bytes */
        int64_t wanted;                /* discard_max_bytes in the same block; 0: none */
        bool note;
} limits[] = {
        { "0", LIMITS, "4294966784", 0, true },        { "0", LIMITS, "2147450880", 0, false },
        { "0", LIMITS, "4294966784", 1 << 30, false }, { "0", LIMITS, "4294966784", 3LL << 30, true },
        { "0", NULL, "4294966784", 0, false },         { "1", LIMITS, "4294966784", 0, false },
};

START_TEST(test_note) {
        Script script = {};
        DeviceIO io = script_io(&script);
        Wish wishes[] = {
                { .name = "provisioning_mode",
                  .value = { VALUE_NAME, 0, "unmap" },
                  .file = "f",
                  .allow_dangerous = true },
                { .name = "discard_max_bytes", .value = { VALUE_SIZE, limits[_i].wanted, "" }, .file = "f" }
        };
        Wishes w = { wishes, limits[_i].wanted ? 2 : 1 };
        Drive d;
        Visit v = { .drive = &d, .wishes = &w, .settings = &all_settings, .io = &io, .work = WORK_APPLY };
        Plan p;

        make_disk(&d, TRANSPORT_USB);
        put(MODE, "full");
        put(SYSFS_DISK "thin_provisioning", limits[_i].thin);
        put_page("device/vpd_pgb2", B2("80"));
        if (limits[_i].b0)
                put_page("device/vpd_pgb0", limits[_i].b0);
        put("queue/logical_block_size", "512");
        put("queue/discard_max_bytes", limits[_i].limit);

        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_int_eq(p.steps[0].verdict, VERDICT_APPLIED);
        ck_assert_str_eq(p.steps[0].reason,
                         limits[_i].note ? "the kernel does not apply the drive's limit for UNMAP (VPD page B0h): set "
                                           "discard_max_bytes = 2147450880 or less"
                                         : "");
        plan_done(&p);
        drop_tree(&d);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("provisioning");
        TCase *t = tcase_create("provisioning");

        tcase_add_loop_test(t, test_reports, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_write_zeros, 0, 3);
        tcase_add_loop_test(t, test_limit_after_mode, 0, ELEMENTSOF(together));
        tcase_add_loop_test(t, test_note, 0, ELEMENTSOF(limits));
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
