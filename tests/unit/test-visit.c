/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Complete visits: wishes as input, the drive as a script of commands, verdicts as output. */

#include <sys/stat.h>

#include "identify-image.h"
#include "script.h"
#include "settings.h"
#include "visit.h"
#include "suite.h"

/* clang-format off */
#define ID { .cdb = "85 08 0e 00 00 00 01 00 00 00 00 00 00 40 ec 00"
#define POWER(count) { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00",                                               \
                       .sense = "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 " count " 00 00 00 00 00 00 40 50" }
#define FEATURE(f, c) "85 06 20 00 " f " 00 " c " 00 00 00 00 00 00 40 ef 00"
#define GOOD "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 00 00 00 00 00 00 00 40 50"
#define ABORTED "72 0b 00 00 00 00 00 0e 09 0c 00 04 00 00 00 00 00 00 00 00 40 51"

typedef struct Outcome {
        const char *name;
        int64_t wanted;
        Verdict verdict;
} Outcome;

typedef struct Case {
        const char *name;
        Outcome outcomes[4];
        const Row *rows;
        size_t n_rows;
        const Memory *memories;
        unsigned gate_closes_at;
        bool rotational, active, wake, ata_sleep, rewrite;
        VisitWork without, beside; /* the work of the visit is WORK_APPLY minus `without` plus `beside` */
} Case;

static Image cold, apm127, apm100, apm100_lookahead, lookahead_on, all_set, acoustic128, unmarked;

static const Row all_as_wanted[] = { POWER("ff"), ID, .data = &apm127, .data_len = 512 } };

static const Row changes[] = {
        POWER("ff"),
        ID, .data = &cold, .data_len = 512 },
        { .cdb = FEATURE("82", "00"), .sense = GOOD },
        { .cdb = "85 07 20 00 00 00 00 00 00 00 00 00 00 40 ea 00", .sense = GOOD }, /* flush after turning the cache off */
        { .cdb = FEATURE("aa", "00"), .sense = GOOD },
        { .cdb = FEATURE("05", "7f"), .sense = GOOD },
        { .cdb = "85 06 20 00 00 00 78 00 00 00 00 00 00 40 e3 00", .sense = GOOD },
        ID, .data = &all_set, .data_len = 512 },
};

static const Row apm_off[] = {
        POWER("ff"), ID, .data = &cold, .data_len = 512 }, { .cdb = FEATURE("85", "00"), .sense = GOOD },
        ID, .data = &lookahead_on, .data_len = 512 },
};

static const Row acoustic[] = {
        POWER("ff"), ID, .data = &cold, .data_len = 512 }, { .cdb = FEATURE("42", "80"), .sense = GOOD },
        ID, .data = &acoustic128, .data_len = 512 },
};

static const Row ignores[] = {
        POWER("ff"), ID, .data = &cold, .data_len = 512 }, { .cdb = FEATURE("05", "7f"), .sense = GOOD },
        ID, .data = &cold, .data_len = 512 },
};

static const Row quantises[] = {
        POWER("ff"), ID, .data = &cold, .data_len = 512 }, { .cdb = FEATURE("05", "60"), .sense = GOOD },
        ID, .data = &apm100, .data_len = 512 },
};

static const Row refuses_one[] = {
        POWER("ff"),
        ID, .data = &cold, .data_len = 512 },
        { .cdb = FEATURE("aa", "00"), .sense = ABORTED },
        { .cdb = FEATURE("05", "7f"), .sense = GOOD },
        ID, .data = &apm127, .data_len = 512 },
};

/* The cache is off although the drive rejected the flush: the verdict must not report "on". */
static const Row half_done[] = {
        POWER("ff"),
        ID, .data = &cold, .data_len = 512 },
        { .cdb = FEATURE("82", "00"), .sense = GOOD },
        { .cdb = "85 07 20 00 00 00 00 00 00 00 00 00 00 40 ea 00", .sense = ABORTED },
        ID, .data = &all_set, .data_len = 512 },
};

/* Words 85 to 87 are not valid, so the state is not known. An unknown state does not count as off. */
static const Row unknown_state[] = {
        POWER("ff"), ID, .data = &unmarked, .data_len = 512 }, { .cdb = FEATURE("55", "00"), .sense = GOOD },
        ID, .data = &unmarked, .data_len = 512 },
};

static const Row in_standby[] = {
        POWER("00"),
        { .cdb = "85 06 20 00 00 00 78 00 00 00 00 00 00 40 e2 00", .sense = GOOD },
};

static const Row standby_disable[] = { POWER("00") };

static const Row vanishes[] = { POWER("ff"), ID, .data = &cold, .data_len = 512 }, { .cdb = FEATURE("05", "7f"), .host_status = 1 } };

static const Row no_passthrough[] = {
        { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00", .sense = "70 00 05 00 00 00 00 0a 00 00 00 00 20 00 00 00 00 00" },
};

static const Row silent[] = { { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00", .host_status = 3 } };

static const Row fsck_comes[] = { POWER("ff"), ID, .data = &cold, .data_len = 512 }, { .cdb = FEATURE("aa", "00"), .sense = GOOD } };

static const Memory timer_sent[] = { { .sent = { true, 120 } } };
static const Memory timer_sent_other[] = { { .sent = { true, 60 } } };
static const Memory apm_settled[] = {
        { .sent = { true, 96 }, .settled = { true, 100 } },
};
static const Row settled[] = { POWER("ff"), ID, .data = &apm100, .data_len = 512 } };
static const Row timer_only[] = {
        POWER("ff"), ID, .data = &cold, .data_len = 512 },
        { .cdb = "85 06 20 00 00 00 78 00 00 00 00 00 00 40 e3 00", .sense = GOOD },
};


/* Memories of an earlier visit: the number that was read, or the timer that was sent. */
#define READ_BEFORE(n) { .read = { true, (n) } }
#define TIMER_SENT { .sent = { true, 120 } }
static const Memory was_127[] = { TIMER_SENT, READ_BEFORE(127) };
static const Memory was_128[] = { TIMER_SENT, READ_BEFORE(128) };
static const Memory was_lookahead[] = {
        TIMER_SENT,
        READ_BEFORE(1),
        { .sent = { true, 96 }, .settled = { true, 100 } },
};
static const Row lost[] = {
        POWER("ff"),
        ID, .data = &cold, .data_len = 512 },
        { .cdb = FEATURE("05", "7f"), .sense = GOOD },
        { .cdb = "85 06 20 00 00 00 78 00 00 00 00 00 00 40 e3 00", .sense = GOOD },
        ID, .data = &apm127, .data_len = 512 },
};
static const Row lost_adjusted[] = {
        POWER("ff"),
        ID, .data = &apm100, .data_len = 512 },
        { .cdb = FEATURE("aa", "00"), .sense = GOOD },
        { .cdb = "85 06 20 00 00 00 78 00 00 00 00 00 00 40 e3 00", .sense = GOOD },
        ID, .data = &apm100_lookahead, .data_len = 512 },
};
static const Row new_value[] = {
        POWER("ff"), ID, .data = &cold, .data_len = 512 }, { .cdb = FEATURE("05", "7f"), .sense = GOOD },
        ID, .data = &apm127, .data_len = 512 },
};
static const Row lost_unseen[] = { POWER("00") };
static const Row lost_looked_at[] = { POWER("ff"), ID, .data = &cold, .data_len = 512 } };

/* The bridge returns no registers, so the power mode is not known. */
#define POWER_UNKNOWN_ROW { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00" }
static const Row unclear[] = { POWER_UNKNOWN_ROW };
static const Row unclear_active[] = {
        POWER_UNKNOWN_ROW, ID, .data = &cold, .data_len = 512 }, { .cdb = FEATURE("05", "7f"), .sense = GOOD },
        ID, .data = &apm127, .data_len = 512 },
};
static const Row nv_cache_spun_down[] = { POWER("40") };

/* A rule permits a spin-up, but the visit sets the timer by STANDBY (E2h), which does not spin the drive up. */
static const Row spun_up[] = {
        POWER("00"),
        ID, .data = &cold, .data_len = 512 },
        { .cdb = FEATURE("05", "7f"), .sense = GOOD },
        { .cdb = "85 06 20 00 00 00 78 00 00 00 00 00 00 40 e2 00", .sense = GOOD },
        ID, .data = &apm127, .data_len = 512 },
};
static const Row spun_up_disable[] = { POWER("00"), { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e3 00", .sense = GOOD } };

static const Row same_again[] = {
        POWER("ff"),
        ID, .data = &apm127, .data_len = 512 },
        { .cdb = FEATURE("05", "7f"), .sense = GOOD },
        ID, .data = &apm127, .data_len = 512 },
};
static const Row looked_at[] = { POWER("ff"), ID, .data = &apm100, .data_len = 512 } };

#define ROWS(r) .rows = (r), .n_rows = ELEMENTSOF(r)
static const Case cases[] = {
        { "without wishes no command is sent", { {} } },
        { "nothing is written if all values are as wanted", { { "apm", 127, VERDICT_UNCHANGED }, { "write_cache", 1, VERDICT_UNCHANGED } },
          ROWS(all_as_wanted) },
        { "four settings are written in the order of the rows",
          { { "spindown_time", 120, VERDICT_UNVERIFIABLE }, { "apm", 127, VERDICT_APPLIED }, { "lookahead", 1, VERDICT_APPLIED },
            { "write_cache", 0, VERDICT_APPLIED } }, ROWS(changes) },
        { "apm off", { { "apm", 255, VERDICT_APPLIED } }, ROWS(apm_off) },
        { "acoustic management", { { "acoustic_management", 128, VERDICT_APPLIED } }, ROWS(acoustic) },
        { "accepted without effect", { { "apm", 127, VERDICT_IGNORED } }, ROWS(ignores) },
        { "the drive adjusts the value", { { "apm", 96, VERDICT_ADJUSTED } }, ROWS(quantises) },
        { "a value that the drive adjusted before is not sent again", { { "apm", 96, VERDICT_ADJUSTED } }, ROWS(settled), apm_settled },
        { "one setting is rejected, the others are applied", { { "apm", 127, VERDICT_APPLIED }, { "lookahead", 1, VERDICT_REFUSED } }, ROWS(refuses_one) },
        { "one of two commands is rejected", { { "write_cache", 0, VERDICT_REFUSED } }, ROWS(half_done) },
        { "state not known", { { "lookahead", 0, VERDICT_UNVERIFIABLE } }, ROWS(unknown_state) },
        { "drive in standby: the timer is set by STANDBY, the rest is deferred",
          { { "apm", 127, VERDICT_DEFERRED }, { "spindown_time", 120, VERDICT_UNVERIFIABLE } }, ROWS(in_standby) },
        { "drive in standby: the timer is not disabled by STANDBY", { { "spindown_time", 0, VERDICT_DEFERRED } }, ROWS(standby_disable) },
        { "a timer that was sent before needs no command", { { "spindown_time", 120, VERDICT_UNVERIFIABLE } }, .memories = timer_sent },
        { "another timer was sent before", { { "spindown_time", 120, VERDICT_UNVERIFIABLE } }, ROWS(timer_only), timer_sent_other },
        { "the timer is sent again if the drive has lost apm",
          { { "spindown_time", 120, VERDICT_UNVERIFIABLE }, { "apm", 127, VERDICT_APPLIED } }, ROWS(lost), was_127 },
        { "the timer is not sent again if the other values are unchanged",
          { { "spindown_time", 120, VERDICT_UNVERIFIABLE }, { "apm", 127, VERDICT_UNCHANGED } }, ROWS(all_as_wanted), was_127 },
        { "only the changed setting is sent after a change of the file",
          { { "spindown_time", 120, VERDICT_UNVERIFIABLE }, { "apm", 127, VERDICT_APPLIED } }, ROWS(new_value), was_128 },
        { "an adjusted value that the drive still has",
          { { "spindown_time", 120, VERDICT_UNVERIFIABLE }, { "lookahead", 1, VERDICT_APPLIED }, { "apm", 96, VERDICT_ADJUSTED } },
          ROWS(lost_adjusted), was_lookahead },
        { "lost settings are not detected in standby",
          { { "spindown_time", 120, VERDICT_UNVERIFIABLE }, { "apm", 127, VERDICT_DEFERRED } }, ROWS(lost_unseen), was_127 },
        { "a read-only visit that finds lost settings sends nothing",
          { { "spindown_time", 120, VERDICT_UNVERIFIABLE }, { "apm", 127, VERDICT_DRIFTED } }, ROWS(lost_looked_at), was_127,
          .without = WORK_WRITE_KERNEL | WORK_WRITE },
        { "the drive vanishes during the visit", { { "apm", 127, VERDICT_VANISHED } }, ROWS(vanishes) },
        { "bridge that passes no ATA commands", { { "apm", 127, VERDICT_UNSUPPORTED }, { "spindown_time", 120, VERDICT_UNSUPPORTED } }, ROWS(no_passthrough) },
        { "a silent drive is probed once, not once per setting", { { "apm", 127, VERDICT_FAILED }, { "lookahead", 1, VERDICT_FAILED } }, ROWS(silent) },
        { "a check begins between two settings", { { "lookahead", 1, VERDICT_DEFERRED }, { "apm", 127, VERDICT_DEFERRED } },
          ROWS(fsck_comes), .gate_closes_at = 4 },
        { "power mode not known, without recent I/O: not even the timer is sent",
          { { "apm", 127, VERDICT_DEFERRED }, { "spindown_time", 120, VERDICT_DEFERRED } }, ROWS(unclear), .rotational = true },
        { "power mode not known, with recent I/O", { { "apm", 127, VERDICT_APPLIED } }, ROWS(unclear_active), .rotational = true,
          .active = true },
        { "power mode not known, of a drive that does not rotate", { { "apm", 127, VERDICT_APPLIED } }, ROWS(unclear_active) },
        { "power mode not known, of a drive that may be spun up", { { "apm", 127, VERDICT_APPLIED } }, ROWS(unclear_active),
          .rotational = true, .wake = true },
        { "spun down behind its flash cache", { { "apm", 127, VERDICT_DEFERRED } }, ROWS(nv_cache_spun_down) },
        { "drive in standby that may be spun up", { { "apm", 127, VERDICT_APPLIED }, { "spindown_time", 120, VERDICT_UNVERIFIABLE } },
          ROWS(spun_up), .wake = true },
        { "the timer is disabled on a drive in standby that may be spun up", { { "spindown_time", 0, VERDICT_UNVERIFIABLE } }, ROWS(spun_up_disable),
          .wake = true },
        { "drive in standby that this visit may not spin up", { { "spindown_time", 0, VERDICT_DEFERRED } }, ROWS(standby_disable),
          .wake = true, .without = WORK_WAKE },
        { "read-only visit", { { "apm", 100, VERDICT_UNCHANGED }, { "lookahead", 1, VERDICT_DRIFTED } }, ROWS(looked_at), .without = WORK_WRITE_KERNEL | WORK_WRITE },
        /* Wishes with `rewrite` */
        { "the value of the drive is written again", { { "apm", 127, VERDICT_APPLIED } }, ROWS(same_again), .without = WORK_APPLY,
          .beside = WORK_REWRITE, .rewrite = true },
        { "only a visit with WORK_REWRITE writes a value again", { { "apm", 127, VERDICT_UNCHANGED } }, ROWS(all_as_wanted),
          .rewrite = true },
};

/* clang-format on */

static Drive sata = { .name = (char *) "sda",
                      .node = (char *) "/dev/sda",
                      .syspath = (char *) "/nonexistent",
                      .transport = TRANSPORT_SATA,
                      .ata = true };

static PowerMode reported_power;
static unsigned n_powers_reported;

static void on_power(_unused_ void *userdata, PowerMode power) {
        reported_power = power;
        n_powers_reported++;
}

static int64_t reported_load_cycles; /* load cycles in the last report; -1: no report */

static void on_wear(_unused_ void *userdata, const Wear *w) {
        reported_load_cycles = w->load_cycles.known ? w->load_cycles.number : -1;
}

static void visit_case(const Case *c, Drive *drive) {
        Script script = { .rows = c->rows, .n_rows = c->n_rows, .gate_closes_at = c->gate_closes_at };
        DeviceIO io = script_io(&script);
        Wish wishes[4] = {};
        Wishes w = { .items = wishes };
        Visit v = {
                .drive = drive,
                .wishes = &w,
                .memories = c->memories,
                .settings = &all_settings,
                .io = &io,
                .active = c->active,
                .work = (WORK_APPLY & ~c->without) | c->beside,
                .wear = on_wear,
                .ata_sleep = c->ata_sleep,
                .power = on_power,
        };
        Plan p;

        drive->rotational = c->rotational;
        n_powers_reported = 0;
        reported_load_cycles = -1;
        for (; w.n_items < 4 && c->outcomes[w.n_items].name; w.n_items++) {
                const Setting *s = setting_find(&all_settings, c->outcomes[w.n_items].name);

                wishes[w.n_items] = (Wish){
                        .name = s->name,
                        .value = { .type = s->range.type, .number = c->outcomes[w.n_items].wanted },
                        .file = "f",
                        .line = 1,
                        .wake = c->wake,
                        .rewrite = c->rewrite,
                };
        }

        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_uint_eq(p.n_steps, w.n_items);
        for (size_t i = 0; i < p.n_steps; i++) {
                const Step *s = p.steps + i;
                const Outcome *o = c->outcomes + (s->wish - wishes);

                ck_assert_msg(s->verdict == o->verdict, "%s: %s: expected %s, got %s (%s)", c->name, o->name,
                              verdict_to_string(o->verdict), verdict_to_string(s->verdict), s->reason);
                if (c->rows == half_done)
                        ck_assert(s->after.known && s->after.value.number == 0);
                /* Each verdict other than "applied" and "unchanged" has a reason. */
                if (s->verdict != VERDICT_APPLIED && s->verdict != VERDICT_UNCHANGED)
                        ck_assert_msg(s->reason[0], "%s: %s: no reason", c->name, o->name);
        }
        script_done(&script);
        plan_done(&p);
}

START_TEST(test_ata) {
        visit_case(cases + _i, &sata);
}
END_TEST

static Drive nvme = { .name = (char *) "nvme0n1",
                      .node = (char *) "/dev/nvme0n1",
                      .syspath = (char *) "/nonexistent",
                      .transport = TRANSPORT_NVME };

static const uint8_t with_cache[4096] = { [525] = 1 }, without_cache[4096] = { [525] = 6 };
/* clang-format off */
#define CTRL(id) { .opcode = 0x06, .cdw10 = 1, .data = (id), .data_len = 4096 }

static const Row nvme_off[] = {
        CTRL(with_cache), { .opcode = 0x0A, .cdw10 = 6, .result = 1 }, { .opcode = 0x09, .cdw10 = 6, .cdw11 = 0 },
        { .opcode = 0x0A, .cdw10 = 6, .result = 0 },
};
static const Row nvme_same[] = { CTRL(with_cache), { .opcode = 0x0A, .cdw10 = 6, .result = 1 } };
static const Row nvme_none[] = { CTRL(without_cache) };
static const Row nvme_refused[] = {
        CTRL(with_cache), { .opcode = 0x0A, .cdw10 = 6, .result = 1 }, { .opcode = 0x09, .cdw10 = 6, .status = 0x410E },
        { .opcode = 0x0A, .cdw10 = 6, .result = 1 },
};
static const Row nvme_gone[] = { { .opcode = 0x06, .cdw10 = 1, .error = -ENODEV } };

static const Case nvme_cases[] = {
        { "write cache off", { { "write_cache", 0, VERDICT_APPLIED } }, ROWS(nvme_off) },
        { "write cache is already on", { { "write_cache", 1, VERDICT_UNCHANGED } }, ROWS(nvme_same) },
        { "controller without a write cache", { { "write_cache", 1, VERDICT_UNSUPPORTED } }, ROWS(nvme_none) },
        { "write cache off on a controller without one", { { "write_cache", 0, VERDICT_UNCHANGED } }, ROWS(nvme_none) },
        { "feature is not changeable", { { "write_cache", 0, VERDICT_REFUSED } }, ROWS(nvme_refused) },
        { "gone", { { "write_cache", 0, VERDICT_VANISHED } }, ROWS(nvme_gone) },
        { "ATA setting on an NVMe drive", { { "apm", 127, VERDICT_UNSUPPORTED } } },
};
/* clang-format on */

START_TEST(test_nvme) {
        visit_case(nvme_cases + _i, &nvme);
}
END_TEST

/* A SAS drive is probed by REQUEST SENSE first. In standby the drive gets no other command. */
static int mode_read(Device *d _unused_, const Setting *s _unused_, Reading *ret) {
        *ret = (Reading){ .supported = true, .known = true, .value = VALUE_BOOLEAN(true) };
        return 0;
}

static int mode_write(Device *d _unused_, const Setting *s _unused_, const Value *v _unused_) {
        ck_abort_msg("nothing is to be written");
}

static const Setting mode_settings[] = {
        { .name = "page",
          .backend = BACKEND_SCSI_MODE,
          .range = { .type = VALUE_BOOL },
          .read = mode_read,
          .write = mode_write },
        {},
};

static const uint8_t active_sense[18] = { 0x70, [7] = 10 }, attention_sense[18] = { 0x70, 0, 6, [7] = 10, [12] = 0x29 },
                     stopped_sense[18] = { 0x70, 0, 2, [7] = 10, [12] = 0x04, [13] = 2 },
                     idle_sense[8] = { 0x72, 0, 0x5E, 0x05 },
                     standby_sense[18] = { 0x70, [7] = 10, [12] = 0x5E, [13] = 2 },
                     standby_y_sense[8] = { 0x72, 0, 0x5E, 0x0A }, low_sense[8] = { 0x72, 0, 0x5E, 0x00 },
                     no_sense[18] = {};

/* clang-format off */
#define REQUEST_SENSE { .cdb = "03 00 00 00 fc 00"
static const Row sense_active[] = { REQUEST_SENSE, .data = active_sense, .data_len = 18 } };
static const Row sense_attention[] = {
        REQUEST_SENSE, .data = attention_sense, .data_len = 18 }, REQUEST_SENSE, .data = idle_sense, .data_len = 8 },
};
static const Row sense_standby[] = { REQUEST_SENSE, .data = standby_sense, .data_len = 18 } };
static const Row sense_standby_y[] = { REQUEST_SENSE, .data = standby_y_sense, .data_len = 8 } };
static const Row sense_low[] = { REQUEST_SENSE, .data = low_sense, .data_len = 8 } };
static const Row sense_stopped[] = { REQUEST_SENSE, .data = stopped_sense, .data_len = 18 } };
static const Row sense_none[] = { REQUEST_SENSE, .data = no_sense, .data_len = 18 } };

static const struct {
        const char *name;
        const Row *rows;
        size_t n_rows;
        bool active;
        Verdict verdict;
} sas_cases[] = {
        { "active", ROWS(sense_active), false, VERDICT_UNCHANGED },
        { "a unit attention, then idle_b", ROWS(sense_attention), false, VERDICT_UNCHANGED },
        { "standby_z", ROWS(sense_standby), true, VERDICT_DEFERRED },
        { "standby_y", ROWS(sense_standby_y), false, VERDICT_DEFERRED },
        { "unnamed low power condition", ROWS(sense_low), false, VERDICT_DEFERRED },
        { "stopped", ROWS(sense_stopped), true, VERDICT_DEFERRED },
        { "no usable answer", ROWS(sense_none), false, VERDICT_DEFERRED },
        { "no usable answer, with recent I/O", ROWS(sense_none), true, VERDICT_UNCHANGED },
};
/* clang-format on */

START_TEST(test_sas) {
        static const SettingTable table = { .tables = { mode_settings } };
        Drive sas = { .name = (char *) "sdb",
                      .node = (char *) "/dev/sdb",
                      .syspath = (char *) "/nonexistent",
                      .transport = TRANSPORT_SAS,
                      .rotational = true };
        Script script = { .rows = sas_cases[_i].rows, .n_rows = sas_cases[_i].n_rows };
        DeviceIO io = script_io(&script);
        Wish wish = { .name = "page", .value = VALUE_BOOLEAN(true), .file = "f", .line = 1 };
        Wishes w = { &wish, 1 };
        Visit v = { .drive = &sas,
                    .wishes = &w,
                    .settings = &table,
                    .io = &io,
                    .active = sas_cases[_i].active,
                    .work = WORK_APPLY };
        Plan p;

        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_msg(p.steps[0].verdict == sas_cases[_i].verdict, "%s: %s (%s)", sas_cases[_i].name,
                      verdict_to_string(p.steps[0].verdict), p.steps[0].reason);
        script_done(&script);
        plan_done(&p);
}
END_TEST

/* ---- the power mode reported at the end of the visit ---- */

static Drive sas_drive = { .name = (char *) "sdb",
                           .node = (char *) "/dev/sdb",
                           .syspath = (char *) "/nonexistent",
                           .transport = TRANSPORT_SAS };

/* clang-format off */
#define ATTENTION REQUEST_SENSE, .data = attention_sense, .data_len = 18 }
static const Row active_only[] = { POWER("ff") };
static const Row standby_only[] = { POWER("00") };
static const Row sense_attentions[] = { ATTENTION, ATTENTION, ATTENTION, ATTENTION };
static const Row sense_gone[] = { { .cdb = "03 00 00 00 fc 00", .host_status = 1 } };
static const Row standby_now[] = {
        POWER("ff"), ID, .data = &apm127, .data_len = 512 },
        { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e0 00", .sense = GOOD }, POWER("00"),
};

static const struct {
        Case visit;
        Drive *drive;
        PowerMode reported; /* expected report; POWER_UNKNOWN: no report */
} powers[] = {
        /* If only the power mode is requested, exactly one command is sent. */
        { { "ATA drive in active mode", { {} }, ROWS(active_only), .beside = WORK_POWER, .rotational = true }, &sata, POWER_ACTIVE },
        { { "ATA drive in standby", { {} }, ROWS(standby_only), .beside = WORK_POWER, .rotational = true }, &sata, POWER_STANDBY },
        { { "ATA power mode not known", { {} }, ROWS(unclear), .beside = WORK_POWER, .rotational = true }, &sata, POWER_UNKNOWN },
        { { "power mode behind a bridge that passes no ATA commands", { {} }, ROWS(no_passthrough), .beside = WORK_POWER, .rotational = true }, &sata, POWER_UNKNOWN },
        { { "ATA drive without an answer", { {} }, ROWS(silent), .beside = WORK_POWER, .rotational = true }, &sata, POWER_UNKNOWN },
        { { "ATA Sleep mode", { {} }, .beside = WORK_POWER, .ata_sleep = true, .rotational = true }, &sata, POWER_ATA_SLEEP },
        { { "SCSI drive reports active", { {} }, ROWS(sense_active), .beside = WORK_POWER, .rotational = true }, &sas_drive, POWER_ACTIVE },
        { { "SCSI drive after one unit attention", { {} }, ROWS(sense_attention), .beside = WORK_POWER, .rotational = true }, &sas_drive, POWER_ACTIVE },
        { { "SCSI drive with endless unit attentions", { {} }, ROWS(sense_attentions), .beside = WORK_POWER, .rotational = true }, &sas_drive, POWER_UNKNOWN },
        { { "SCSI drive in standby", { {} }, ROWS(sense_standby), .beside = WORK_POWER, .rotational = true }, &sas_drive, POWER_STANDBY },
        { { "stopped SCSI drive", { {} }, ROWS(sense_stopped), .beside = WORK_POWER, .rotational = true }, &sas_drive, POWER_STANDBY },
        { { "SCSI power mode not known", { {} }, ROWS(sense_none), .beside = WORK_POWER, .rotational = true }, &sas_drive, POWER_UNKNOWN },
        { { "SCSI drive that has vanished", { {} }, ROWS(sense_gone), .beside = WORK_POWER, .rotational = true }, &sas_drive, POWER_UNKNOWN },
        /* The power mode is neither requested nor needed: the visit does not read it, and reports no power mode. */
        { { "no wish and no request", { {} }, .rotational = true }, &sata, POWER_UNKNOWN },
        { { "a wish that needs no command", { { "spindown_time", 120, VERDICT_UNVERIFIABLE } }, .memories = timer_sent },
          &sata, POWER_UNKNOWN },
        /* If the visit itself needs the power mode, the power mode is probed once and reported. */
        { { "all values are as wanted", { { "apm", 127, VERDICT_UNCHANGED } }, ROWS(all_as_wanted) }, &sata, POWER_ACTIVE },
        { { "all values are as wanted, and the power mode is requested", { { "apm", 127, VERDICT_UNCHANGED } }, ROWS(all_as_wanted), .beside = WORK_POWER }, &sata, POWER_ACTIVE },
        { { "power mode requested with a wish that needs no command", { { "spindown_time", 120, VERDICT_UNVERIFIABLE } }, ROWS(active_only), timer_sent,
            .beside = WORK_POWER }, &sata, POWER_ACTIVE },
        { { "active drive with a write", { { "apm", 127, VERDICT_APPLIED } }, ROWS(new_value) }, &sata, POWER_ACTIVE },
        { { "drive in standby with a deferred setting", { { "spindown_time", 0, VERDICT_DEFERRED } }, ROWS(standby_disable) }, &sata, POWER_STANDBY },
        { { "drive that remains in standby after STANDBY sets its timer", { { "apm", 127, VERDICT_DEFERRED }, { "spindown_time", 120, VERDICT_UNVERIFIABLE } },
            ROWS(in_standby) }, &sata, POWER_STANDBY },
        { { "drive in standby that this visit may not spin up", { { "spindown_time", 0, VERDICT_DEFERRED } }, ROWS(standby_disable),
            .wake = true, .without = WORK_WAKE }, &sata, POWER_STANDBY },
        { { "drive in standby with values to write again", { { "apm", 127, VERDICT_DEFERRED }, { "lookahead", 1, VERDICT_DEFERRED } },
            ROWS(standby_only), .without = WORK_APPLY, .beside = WORK_REWRITE, .rewrite = true }, &sata, POWER_STANDBY },
        { { "power mode not known, setting deferred without recent I/O", { { "apm", 127, VERDICT_DEFERRED } }, ROWS(unclear), .rotational = true }, &sata, POWER_UNKNOWN },
        { { "power mode assumed active after recent I/O", { { "apm", 127, VERDICT_APPLIED } }, ROWS(unclear_active), .rotational = true, .active = true }, &sata,
          POWER_ACTIVE },
        /* If the power mode may have changed since the probe, no power mode is reported. */
        { { "drive that was spun up by a write", { { "apm", 127, VERDICT_APPLIED }, { "spindown_time", 120, VERDICT_UNVERIFIABLE } }, ROWS(spun_up), .wake = true },
          &sata, POWER_UNKNOWN },
        { { "drive that was spun up to disable its timer", { { "spindown_time", 0, VERDICT_UNVERIFIABLE } }, ROWS(spun_up_disable), .wake = true },
          &sata, POWER_UNKNOWN },
        { { "drive that was put into standby", { { "standby", 1, VERDICT_APPLIED } }, ROWS(standby_now) }, &sata, POWER_UNKNOWN },
        { { "drive that was already in standby", { { "standby", 1, VERDICT_UNCHANGED } }, ROWS(standby_only) }, &sata, POWER_STANDBY },
        /* For a drive without a power mode, nothing is reported. */
        { { "NVMe drive", { { "write_cache", 1, VERDICT_UNCHANGED } }, ROWS(nvme_same) }, &nvme, POWER_UNKNOWN },
};
/* clang-format on */

START_TEST(test_power) {
        visit_case(&powers[_i].visit, powers[_i].drive);
        ck_assert_msg(n_powers_reported == (powers[_i].reported != POWER_UNKNOWN), "%s: reported %u times",
                      powers[_i].visit.name, n_powers_reported);
        if (n_powers_reported > 0)
                ck_assert_msg(reported_power == powers[_i].reported, "%s: %d", powers[_i].visit.name, reported_power);
}
END_TEST

/* Wear is read from an active drive. A drive in standby gets no command that reads wear. */
static const uint8_t starts_page[] = { 0x0E, 0, 0, 8, 0, 6, 3, 4, 0, 0, 3, 0xCA };
static const Row worn[] = { REQUEST_SENSE, .data = active_sense, .data_len = 18 },
                 { .cdb = "4d 00 4e 00 00 00 00 00 fc 00", .data = starts_page, .data_len = sizeof starts_page },
                 { .cdb = "4d 00 4d 00 00 00 00 00 fc 00", .sense = "72 05 24 00 00 00 00 00" },
}
;
static const Row worn_refused[] = { REQUEST_SENSE, .data = active_sense, .data_len = 18 },
                 { .cdb = "4d 00 4e 00 00 00 00 00 fc 00", .sense = "72 04 44 00 00 00 00 00" },
}
;

static const struct {
        Case visit;
        int64_t load_cycles;
} wears[] = {
        { { "SCSI drive in active mode", { {} }, ROWS(worn), .beside = WORK_WEAR, .rotational = true }, 970 },
        { { "SCSI drive that rejects the log page",
            { {} },
            ROWS(worn_refused),
            .beside = WORK_WEAR,
            .rotational = true },
          -1 },
        { { "SCSI drive in standby, wear not read",
            { {} },
            ROWS(sense_standby),
            .beside = WORK_WEAR,
            .rotational = true },
          -1 },
        { { "wear not requested", { {} }, ROWS(sense_active), .beside = WORK_POWER, .rotational = true }, -1 },
};

START_TEST(test_wear) {
        visit_case(&wears[_i].visit, &sas_drive);
        ck_assert_int_eq(reported_load_cycles, wears[_i].load_cycles);
}
END_TEST

/* Writes a file in a directory that replaces sysfs. */
static void put(const char *dir, const char *path, const char *text) {
        char name[512];
        FILE *f;

        snprintf(name, sizeof name, "%s/%s", dir, path);
        f = fopen(name, "w");
        ck_assert_ptr_nonnull(f);
        fputs(text, f);
        fclose(f);
}

static void check_file(const char *dir, const char *path, const char *expected) {
        char name[512], text[64] = "";
        FILE *f;

        snprintf(name, sizeof name, "%s/%s", dir, path);
        f = fopen(name, "r");
        ck_assert_ptr_nonnull(f);
        ck_assert_uint_gt(fread(text, 1, sizeof text - 1, f), 0);
        fclose(f);
        text[strcspn(text, "\n")] = 0;
        ck_assert_str_eq(text, expected);
}

START_TEST(test_sysfs) {
        char dir[] = "/tmp/drivekeep-test-XXXXXX", sub[600];
        Drive d = { .name = (char *) "sda", .node = (char *) "/dev/sda", .transport = TRANSPORT_SCSI };
        Script script = {};
        DeviceIO io = script_io(&script);
        Wish wishes[] = {
                { .name = "timeout", .value = { VALUE_DURATION, 180000, "" }, .file = "f" },
                { .name = "read_ahead_kb", .value = { VALUE_SIZE, 512 * 1024, "" }, .file = "f" },
                { .name = "scheduler", .value = { VALUE_NAME, 0, "none" }, .file = "f" },
                { .name = "queue_depth", .value = { VALUE_INT, 16, "" }, .file = "f" },
        };
        Wishes w = { wishes, ELEMENTSOF(wishes) };
        Visit v = { .drive = &d, .wishes = &w, .settings = &all_settings, .io = &io, .work = WORK_APPLY };
        static const char *const order[] = { "scheduler", "timeout", "queue_depth", "read_ahead_kb" };
        static const Verdict verdicts[] = { VERDICT_UNCHANGED, VERDICT_APPLIED, VERDICT_UNSUPPORTED, VERDICT_APPLIED };
        Plan p;

        ck_assert_ptr_nonnull(mkdtemp(dir));
        d.syspath = dir;
        snprintf(sub, sizeof sub, "%s/queue", dir);
        ck_assert_int_eq(mkdir(sub, 0755), 0);
        snprintf(sub, sizeof sub, "%s/device", dir);
        ck_assert_int_eq(mkdir(sub, 0755), 0);
        put(dir, "device/timeout", "30\n");
        put(dir, "queue/read_ahead_kb", "128\n");
        put(dir, "queue/scheduler", "mq-deadline [none]\n");

        ck_assert_int_eq(visit_run(&v, &p), 0);
        for (size_t i = 0; i < p.n_steps; i++) {
                ck_assert_str_eq(p.steps[i].wish->name, order[i]);
                ck_assert_msg(p.steps[i].verdict == verdicts[i], "%s: %s (%s)", order[i],
                              verdict_to_string(p.steps[i].verdict), p.steps[i].reason);
        }
        check_file(dir, "device/timeout", "180");
        check_file(dir, "queue/read_ahead_kb", "512");
        ck_assert_uint_eq(script.n_gates, 2); /* gate() is called once per write to a file, and not for reads */
        plan_done(&p);

        snprintf(sub, sizeof sub, "rm -r %s", dir);
        ck_assert_int_eq(system(sub), 0);
}
END_TEST

/* If a drive vanishes in one step, all steps end with the verdict `vanished`, and no more commands are sent or
 * announced. */
typedef struct Leaving {
        const char *at_read, *at_write;
        unsigned n_read, n_written, n_intended, n_ended;
} Leaving;

static Leaving leaving;

static int leaving_read(Device *d, const Setting *s, Reading *ret) {
        leaving.n_read++;
        if (streq_ptr(leaving.at_read, s->name))
                return device_fail(d, END_VANISHED, "the drive is gone");
        *ret = (Reading){ .supported = true, .known = true, .value = VALUE_BOOLEAN(false) };
        return 0;
}

static int leaving_write(Device *d, const Setting *s, const Value *v _unused_) {
        leaving.n_written++;
        return streq_ptr(leaving.at_write, s->name) ? device_fail(d, END_VANISHED, "the drive is gone") : 0;
}

static int leaving_intend(void *userdata _unused_, const Step *s _unused_) {
        leaving.n_intended++;
        return 0;
}

static void leaving_ended(void *userdata _unused_, const Step *s) {
        leaving.n_ended++;
        ck_assert_int_eq(s->verdict, VERDICT_VANISHED);
        ck_assert_str_eq(s->reason, "the drive is gone");
}

/* clang-format off */
static const Setting leaving_rows[] = {
        { .name = "first", .backend = BACKEND_NVME, .range = { .type = VALUE_BOOL }, .flags = SETTING_FIRST, .read = leaving_read, .write = leaving_write },
        { .name = "a", .backend = BACKEND_NVME, .range = { .type = VALUE_BOOL }, .order = 1, .read = leaving_read, .write = leaving_write },
        { .name = "b", .backend = BACKEND_NVME, .range = { .type = VALUE_BOOL }, .order = 2, .read = leaving_read, .write = leaving_write },
        { .name = "c", .backend = BACKEND_BLOCK, .range = { .type = VALUE_BOOL }, .order = 3, .read = leaving_read, .write = leaving_write },
        {},
};
/* clang-format on */

static const struct {
        Leaving leaving;
        size_t skip; /* the first `skip` settings of leaving_rows are not wanted */
} leaving_cases[] = {
        { { .at_read = "first", .n_read = 1 }, 0 },
        { { .at_read = "b", .n_read = 2 }, 1 },
        { { .at_write = "a", .n_read = 3, .n_written = 1, .n_intended = 1 }, 1 },
        { { .at_write = "b", .n_read = 3, .n_written = 2, .n_intended = 1 }, 1 },
};

START_TEST(test_drive_vanishes_at_each_step) {
        static const SettingTable table = { .tables = { leaving_rows } };
        const Leaving *expected = &leaving_cases[_i].leaving;
        Script script = {};
        DeviceIO io = script_io(&script);
        Wish wishes[4];
        Wishes w = { wishes, 0 };
        Visit v = {
                .drive = &nvme,
                .wishes = &w,
                .work = WORK_APPLY,
                .settings = &table,
                .io = &io,
                .intend = leaving_intend,
                .ended = leaving_ended,
        };
        Plan p;

        for (const Setting *s = leaving_rows + leaving_cases[_i].skip; s->name; s++)
                wishes[w.n_items++] = (Wish){ .name = s->name, .value = VALUE_BOOLEAN(true), .file = "f" };

        leaving = (Leaving){ .at_read = expected->at_read, .at_write = expected->at_write };
        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_uint_eq(leaving.n_ended, w.n_items);
        ck_assert_uint_eq(leaving.n_read, expected->n_read);
        ck_assert_uint_eq(leaving.n_written, expected->n_written);
        ck_assert_uint_eq(leaving.n_intended, expected->n_intended);
        plan_done(&p);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("visit");
        TCase *t = tcase_create("visit");

        cold = image_make(true, false, 128, -1);
        apm127 = image_make(true, false, 127, -1);
        apm100 = image_make(true, false, 100, -1);
        apm100_lookahead = image_make(true, true, 100, -1);
        lookahead_on = image_make(true, true, -1, -1);
        all_set = image_make(false, true, 127, -1);
        acoustic128 = image_make(true, false, 128, 128);
        unmarked = cold;
        unmarked.words[87] = 0;
        image_seal(&unmarked);

        tcase_add_loop_test(t, test_ata, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_nvme, 0, ELEMENTSOF(nvme_cases));
        tcase_add_loop_test(t, test_sas, 0, ELEMENTSOF(sas_cases));
        tcase_add_loop_test(t, test_power, 0, ELEMENTSOF(powers));
        tcase_add_loop_test(t, test_wear, 0, ELEMENTSOF(wears));
        tcase_add_loop_test(t, test_drive_vanishes_at_each_step, 0, ELEMENTSOF(leaving_cases));
        tcase_add_test(t, test_sysfs);
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
