/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The expected numbers of each row of the settings table. A wrong limit in the table would allow dangerous values in a
 * file, and a wrong order would let one setting undo another. */

#include <inttypes.h>
#include <stdio.h>

#include "macro.h"
#include "plan.h"
#include "settings.h"
#include "suite.h"

/* One line per row: "BACKEND KEY ORDER, MIN…MAX/STEP (UNIT)". A number that is written without a unit has the unit UNIT.
 * The line ends with "off" and other words with their numbers, and with "harm" and the values that may do harm. */
/* clang-format off */
static const char *const expected[] = {
        "ata software_settings_preservation 90, 0…1/0 (0)",
        "ata lookahead 110, 0…1/0 (0)",
        "ata acoustic_management 120, 1…254/0 (0), off 0",
        "ata free_fall_control 140, 1…255/0 (0), off -1, vendor 0, on 0",
        "ata device_statistics_notification 141, 0…1/0 (0)",
        "ata write_read_verify 150, 1024…261120/1024 (0), off 0, all -1, first -2, vendor -3, on -1",
        "ata mult_sect_io 160, 1…128/0 (0), off 0",
        "ata keep_features_over_reset 170, 0…1/0 (0)",
        "ata write_cache 100, 0…1/0 (0)",
        "ata write_cache_forced 95, normal, on, off",
        "ata write_cache_reordering 105, 0…1/0 (0)",
        "ata apm 200, 1…254/0 (0), off 255",
        "ata apm_battery 200, 1…254/0 (0), off 255",
        "ata spindown_time 210, 0…255/0 (0), off 0",
        "ata force_spindown_time 210, 0…255/0 (0), off 0",
        "ata poweron_standby 220, 0…1/0 (0)",
        "ata keep_active 890, 5000…600000/1000 (0), off 0",
        "ata standby 900, off 0, on 1, resume 2",
        "ata sleep 910, 0…1/0 (0)",
        "ata error_recovery 130, 100…6553400/100 (0), off 0, harm 0…0",
        "ata error_recovery_read 131, 100…6553400/100 (0), off 0, harm 0…0",
        "ata error_recovery_write 132, 100…6553400/100 (0), off 0, harm 0…0",
        "scsi error_recovery_fallback_timeout 25, 1000…3600000/1000 (0), harm 0…19999",
        "ata epc 180, 0…1/0 (0)",
        "ata idle_a 190, 100…429496729500/100 (0), off 0",
        "ata idle_b 191, 100…429496729500/100 (0), off 0",
        "ata idle_c 192, 100…429496729500/100 (0), off 0",
        "ata standby_y 193, 100…429496729500/100 (0), off 0",
        "ata standby_z 194, 100…429496729500/100 (0), off 0",
        "ata security_freeze 300, 0…1/0 (0)",
        "ata dco_freeze 310, 0…1/0 (0)",
        "ata sanitize_freeze 320, 0…1/0 (0)",
        "nvme write_cache 100, 0…1/0 (0)",
        "nvme error_recovery 130, 100…6553400/100 (0), off 0",
        "nvme temperature_threshold 300, 0…150/0 (0)",
        "nvme thermal_light 310, 0…150/0 (0), off -273",
        "nvme thermal_heavy 311, 0…150/0 (0), off -273",
        "nvme interrupt_coalescing_threshold 320, 1…256/0 (0)",
        "nvme interrupt_coalescing_time 321, 100…25500/100 (0), off 0",
        "nvme non_operational_permissive_mode 325, 0…1/0 (0)",
        "nvme hmb 330, 0…1/0 (0)",
        "nvme apst_latency 400, 1…2147483646/0 (0), off 0, any 2147483647, auto -1",
        "nvme power_state 410, 0…31/0 (0)",
        "scsi-mode write_cache 100, 0…1/0 (0)",
        "scsi-mode error_recovery 130, 100…6553400/100 (0), off 0",
        "scsi-mode read_cache 101, 0…1/0 (0)",
        "scsi-mode lookahead 110, 0…1/0 (0)",
        "scsi-mode auto_reallocate_write 131, 0…1/0 (0), harm 0…0",
        "scsi-mode auto_reallocate_read 132, 0…1/0 (0)",
        "scsi-mode idle_a 200, 100…429496729500/100 (0), off 0",
        "scsi-mode idle_b 201, 100…429496729500/100 (0), off 0",
        "scsi-mode idle_c 202, 100…429496729500/100 (0), off 0",
        "scsi-mode standby_y 203, 100…429496729500/100 (0), off 0",
        "scsi-mode standby_z 204, 100…429496729500/100 (0), off 0",
        "scsi-mode spindown_time 210, 0…255/0 (0), off 0",
        "scsi-mode keep_active 890, 5000…600000/1000 (0), off 0",
        "scsi-mode standby 900, off 0, on 1, resume 2",
        "scsi timeout 20, 1000…3600000/1000 (0), harm 0…19999",
        "scsi queue_depth 30, 1…65535/0 (0)",
        "scsi eh_timeout 21, 1000…3600000/1000 (0)",
        "scsi max_retries 22, 0…5/0 (0), unlimited -1",
        "scsi allow_restart 23, 0…1/0 (0)",
        "scsi cdl_enable 31, 0…1/0 (0)",
        "scsi ncq_prio_enable 32, 0…1/0 (0)",
        "scsi link_power_management 90, max_performance, medium_power, med_power_with_dipm, min_power_with_partial, min_power",
        "scsi cache_type 400, write back, write through",
        "scsi manage_start_stop 410, 0…1/0 (0)",
        "scsi manage_system_start_stop 411, 0…1/0 (0)",
        "scsi manage_runtime_start_stop 412, 0…1/0 (0)",
        "scsi manage_shutdown 413, 0…1/0 (0)",
        "scsi autosuspend_delay 420, 1000…604800000/1 (0), never -1",
        "scsi runtime_pm 421, auto, on",
        "scsi provisioning_mode 700, full, unmap, writesame_16, writesame_10, writesame_zero, disabled",
        "block scheduler 10",
        "block nr_requests 35, 4…65536/0 (0)",
        "block wbt_lat_usec 40, 1…60000000/0 (1), off 0, default -1",
        "block rotational 800, 0…1/0 (0)",
        "block add_random 801, 0…1/0 (0)",
        "block iostats 802, 0…1/0 (0)",
        "block rq_affinity 803, 0…2/0 (0)",
        "block nomerges 804, 0…2/0 (0)",
        "block io_timeout 805, 1000…3600000/1 (0), harm 0…19999",
        "block discard_max_bytes 806, 512…2199023255040/0 (1), off 0",
        "block max_sectors_kb 810, 4096…2199023255552/1024 (1024), default -1",
        "block queue_write_cache 820, write back, write through",
        "block strict_limit 830, 0…1/0 (0)",
        "block max_ratio 831, 0…100/0 (0)",
        "block max_bytes 831, 4096…1099511627776/0 (1)",
        "block stripe_cache_size 840, 17…32768/0 (0)",
        "block group_thread_cnt 841, 0…8192/0 (0)",
        "block sync_speed_min 842, 1024…2199023254528/1024 (1024), system -1",
        "block sync_speed_max 843, 1024…2199023254528/1024 (1024), system -1",
        "block read_ahead_kb 900, 0…1099511627776/4096 (1024)",
        "block read_ahead_sect 900, 0…1099511627776/4096 (512)",
        "block read_expire 50, 1…2147483647/1 (0)",
        "block write_expire 51, 1…2147483647/1 (0)",
        "block prio_aging_expire 52, 1…2147483647/1 (0)",
        "block fifo_batch 53, 0…2147483647/0 (0)",
        "block writes_starved 54, 0…2147483647/0 (0)",
        "block front_merges 55, 0…1/0 (0)",
        "block low_latency 60, 0…1/0 (0)",
        "block strict_guarantees 61, 0…1/0 (0)",
        "block slice_idle 62, 1…2147483647/0 (0), off 0",
        "block timeout_sync 63, 1…2147483647/1 (0)",
        "block max_budget 64, 512…1099511627264/512 (512), auto 0",
        "block fifo_expire_sync 65, 1…2147483647/1 (0)",
        "block fifo_expire_async 66, 1…2147483647/1 (0)",
        "block back_seek_max 67, 0…2199023254528/1024 (1024)",
        "block back_seek_penalty 68, 1…2147483647/0 (0)",
        "block read_lat_nsec 70, 1…60000000000/0 (0)",
        "block write_lat_nsec 71, 1…60000000000/0 (0)",
        "block read_only 890, 0…1/0 (0), harm 1…1",
        "optical cd_speed 100, 1…255/0 (0), default 0",
};
/* clang-format on */

static void describe(const Setting *s, FILE *f) {
        const ValueRange *r = &s->range;

        fprintf(f, "%s %s %u", backend_to_string(s->backend), s->name, s->order);
        if (r->min != 0 || r->max != 0)
                fprintf(f, ", %" PRId64 "…%" PRId64 "/%" PRId64 " (%" PRId64 ")", r->min, r->max, r->step, r->unit);
        if (r->has_off)
                fprintf(f, ", off %" PRId64, r->off);
        for (const ValueWord *w = r->words; w && w->word; w++)
                fprintf(f, r->type == VALUE_NAME ? ", %s" : ", %s %" PRId64, w->word, w->number);
        if (s->harm)
                fprintf(f, ", harm %" PRId64 "…%" PRId64, s->harm->from, s->harm->to);
}

START_TEST(test_rows) {
        size_t n = 0;

        SETTING_TABLE_FOREACH(s, &all_settings) {
                char text[512] = "";
                FILE *f;

                /* Skips settings that are never written. Their ranges do not matter. */
                if (s->flags & (SETTING_DEAD | SETTING_EXCLUDED))
                        continue;

                f = fmemopen(text, sizeof text, "w");
                ck_assert_ptr_nonnull(f);
                describe(s, f);
                ck_assert_int_eq(fclose(f), 0);
                ck_assert_uint_lt(n, ELEMENTSOF(expected));
                ck_assert_str_eq(text, expected[n++]);
        }
        ck_assert_uint_eq(n, ELEMENTSOF(expected));
}
END_TEST

/* Verdict of the value "off" on drives that have no row for the setting. */
static const struct {
        const char *name;
        unsigned backends;
        Verdict verdict;
} elsewhere[] = {
        { "apm", 1U << BACKEND_NVME | 1U << BACKEND_BLOCK, VERDICT_UNCHANGED },
        { "apm", 1U << BACKEND_SCSI_MODE | 1U << BACKEND_SCSI, VERDICT_UNCHANGED },
        { "apm", 1U << BACKEND_OPTICAL, VERDICT_UNSUPPORTED },
        { "spindown_time", 1U << BACKEND_NVME, VERDICT_UNCHANGED },
        { "standby_z", 1U << BACKEND_NVME, VERDICT_UNCHANGED },
        { "idle_a", 1U << BACKEND_BLOCK, VERDICT_UNCHANGED },
        { "apst_latency", 1U << BACKEND_ATA | 1U << BACKEND_SCSI, VERDICT_UNCHANGED },
        { "error_recovery_read", 1U << BACKEND_NVME, VERDICT_UNSUPPORTED },
        { "write_cache", 1U << BACKEND_BLOCK, VERDICT_UNSUPPORTED },
        { "auto_reallocate_write", 1U << BACKEND_ATA, VERDICT_UNSUPPORTED },
};

START_TEST(test_off_elsewhere) {
        const Setting *s = setting_find(&all_settings, elsewhere[_i].name);
        Wish wish = { .name = elsewhere[_i].name, .value = { .type = s->range.type, .number = s->range.off } };
        _cleanup_(plan_done) Plan p = {};

        ck_assert_int_eq(plan_new(&(Wishes){ .items = &wish, .n_items = 1 }, &all_settings, elsewhere[_i].backends, &p),
                         0);
        ck_assert(step_settle(p.steps, NULL));
        ck_assert_msg(p.steps[0].verdict == elsewhere[_i].verdict, "%s: %s", wish.name, p.steps[0].reason);
}
END_TEST

/* ---- values in files ---- */

/* Checks that a worker accepts the value `text` for every row of the setting `key`. Returns the number of rows; 0: `text` is not valid. */
static unsigned check_taken(const Setting *key, const char *text) {
        unsigned n = 0;
        Value v;

        if (value_parse(&key->range, text, &v) < 0)
                return 0;
        SETTING_TABLE_FOREACH(s, &all_settings)
                if (!s->alias_of && streq(s->name, setting_state(key))) {
                        ck_assert_msg(value_has_exact_text(&s->range, &v), "%s = %s", key->name, text);
                        n++;
                }
        return n;
}

/* A worker accepts each value that a file can contain, with each key and each unit. */
START_TEST(test_worker_takes_values) {
        static const char *const units[] = { "", "ms", "us", "s", "min", "h", "B", "KiB", "MiB", "C", " stripes" };
        static const char *const words[] = { "on", "off", "vendor (8 to 12 h)", "mq-deadline" };

        SETTING_TABLE_FOREACH(s, &all_settings) {
                unsigned taken = 0;

                for (size_t i = 0; i < ELEMENTSOF(words); i++)
                        taken += check_taken(s, words[i]);
                for (const ValueWord *w = s->range.words; w && w->word; w++)
                        taken += check_taken(s, w->word);
                for (size_t u = 0; u < ELEMENTSOF(units); u++)
                        for (int64_t n = -300; n < 1LL << 45; n += n < 300 ? 1 : n / 3) {
                                char text[64];

                                (void) snprintf(text, sizeof text, "%" PRIi64 "%s", n, units[u]);
                                taken += check_taken(s, text);
                        }
                ck_assert_msg(taken > 0 || (s->flags & (SETTING_DEAD | SETTING_EXCLUDED)), "%s", s->name);
        }
}
END_TEST

/* A setting is found by its name in another program, even if a different setting of drivekeep has a similar name. */
START_TEST(test_also) {
        unsigned n = 0;

        SETTING_TABLE_FOREACH(s, &all_settings)
                for (const char *p = s->also; p && *p; p += strspn(p, " ")) {
                        _cleanup_free_ char *word = strndup(p, strcspn(p, " "));

                        p += strlen(word);
                        ck_assert_msg(setting_called(&all_settings, word) == s, "%s: %s", s->name, word);
                        if (!setting_find(&all_settings, word))
                                ck_assert_str_eq(setting_nearest(&all_settings, word), s->name);
                        n++;
                }
        ck_assert_uint_gt(n, 50);
}
END_TEST

int main(void) {
        Suite *s = suite_create("rows");
        TCase *t = tcase_create("rows");

        tcase_add_test(t, test_rows);
        tcase_add_test(t, test_also);
        tcase_add_loop_test(t, test_off_elsewhere, 0, ELEMENTSOF(elsewhere));
        tcase_add_test(t, test_worker_takes_values);
        suite_add_tcase(s, t);

        return suite_run(s);
}
