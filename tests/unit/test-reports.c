/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Models of drives from the reports in tests/data/reports, which people sent. A new report needs no new code. */

#include <glob.h>
#include <systemd/sd-id128.h>

#include "ata-identify.h"
#include "probe.h"
#include "report-file.h"
#include "settings.h"
#include "suite.h"
#include "visit.h"

/* IDENTIFY images of real drives, which are not part of the project. */
#define IMAGES "../shared/corpus/identify/*.bin"

#define REPORT_MAX (1024U * 1024U)

static glob_t reports, images;

static int machine_id_error;

int sd_id128_get_machine_app_specific(sd_id128_t app, sd_id128_t *ret) {
        for (size_t i = 0; i < sizeof app.bytes; i++)
                ret->bytes[i] = app.bytes[i] * 167 + 41;
        return machine_id_error;
}

static char *file_read(const char *path, size_t *ret_size) {
        char *text = must(calloc(1, REPORT_MAX));
        FILE *f = must(fopen(path, "re"));

        *ret_size = fread(text, 1, REPORT_MAX - 1, f);
        (void) fclose(f);
        return text;
}

/* ---- settings, plan and verdicts ---- */

static const ReportSetting *setting_of(const ReportFile *r, const Setting *s) {
        for (size_t i = 0; i < r->n_settings; i++)
                if (streq(r->settings[i].name, s->name) && streq(r->settings[i].backend, backend_to_string(s->backend)))
                        return r->settings + i;
        return NULL;
}

static const char *cell(const Probed *s, bool known, const Value *v, char buf[static VALUE_TEXT_MAX]) {
        return known && s->reading.supported ? value_format(&s->setting->range, v, buf) : "-";
}

typedef struct Compared {
        const char *path;
        const ReportFile *report;
        unsigned n;
} Compared;

static void compare(void *userdata, const Probed *s) {
        Compared *c = userdata;
        const ReportSetting *old = setting_of(c->report, s->setting);
        char value[VALUE_TEXT_MAX], saved[VALUE_TEXT_MAX];
        const char *supported = s->reading.supported ? "yes" : s->reason ? "-" : "no";

        /* The test cannot make a file that the kernel refuses to read. */
        if (!old || ((s->setting->flags & SETTING_KERNEL) && streq(old->value, "-")))
                return;
        ck_assert_msg(streq(old->supported, supported) &&
                                      streq(old->value, cell(s, s->reading.known, &s->reading.value, value)) &&
                                      streq(old->saved, cell(s, s->reading.saved_known, &s->reading.saved, saved)),
                      "%s: %s: reported %s, %s, %s, and now %s, %s, %s (%s)", c->path, s->setting->name, old->supported,
                      old->value, old->saved, supported, cell(s, s->reading.known, &s->reading.value, value),
                      cell(s, s->reading.saved_known, &s->reading.saved, saved), strna(s->reason));
        c->n++;
}

/* Visits the drive with one wish, as Wish.rewrite if `rewrite` is true. */
static Verdict visit(ReportFile *r, const Setting *s, const Value *value, bool dry, bool rewrite,
                     char reason[static STEP_REASON_MAX]) {
        Wish wish = { .name = s->name, .value = *value, .file = "f", .line = 1 };
        Wishes wishes = { .items = &wish, .n_items = 1 };
        const DeviceIO io = report_io(r);
        const Visit v = {
                .drive = &r->drive,
                .wishes = &wishes,
                .settings = &all_settings,
                .io = &io,
                .dry = dry,
                .active = r->active,
                .bridge = &r->bridge,
                .work = rewrite ? WORK_REWRITE : WORK_APPLY | WORK_PERMANENT,
        };
        Verdict verdict;
        Plan p;

        wish.rewrite = rewrite;
        wish.allow_dangerous = !rewrite;

        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_uint_eq(p.n_steps, 1);
        verdict = p.steps[0].verdict;
        (void) strcpy(reason, p.steps[0].reason);
        plan_done(&p);
        return verdict;
}

/* Finds a value that the drive does not have. */
static bool other_value(const Setting *s, const Value *now, Value *ret) {
        *ret = *now;
        if (s->range.type == VALUE_NAME || s->range.type == VALUE_ANY)
                return false;
        ret->number = s->range.type == VALUE_BOOL   ? !now->number
                      : now->number != s->range.min ? s->range.min
                                                    : s->range.min + 1;
        return true;
}

/* Writes the value of the drive again. A write that the drive would not accept now is not permitted, and sends nothing. The values of the
 * harmless settings must be sent, except to SCSI drives: reports lack the changeable fields of mode pages. */
static void check_rewrite(const char *path, ReportFile *r, const Setting *s, const Value *now) {
        char reason[STEP_REASON_MAX];
        Value other;
        Verdict verdict = visit(r, s, now, false, true, reason);
        bool sent = r->n_written > 0,
             harmless = STR_IN_SET(s->name, "apm", "error_recovery", "idle_a", "lookahead", "write_cache"),
             expected = sent       ? verdict == VERDICT_APPLIED && setting_may_rewrite(s)
                        : harmless ? verdict == VERDICT_UNSUPPORTED && s->backend == BACKEND_SCSI_MODE
                                   : STR_IN_SET(verdict_to_string(verdict), "forbidden", "unsupported");

        ck_assert_msg(expected, "%s: %s: the verdict of the same value is %s (%s), %u writes", path, s->name,
                      verdict_to_string(verdict), reason, r->n_written);
        r->n_written = 0;
        if (!other_value(s, now, &other))
                return;
        verdict = visit(r, s, &other, false, true, reason);
        ck_assert_msg(r->n_written == 0 && verdict != VERDICT_APPLIED,
                      "%s: %s: another value is written, and the verdict is %s", path, s->name,
                      verdict_to_string(verdict));
}

static void check_report(const char *path, ReportFile *r) {
        Compared c = { .path = path, .report = r };
        char reason[STEP_REASON_MAX];
        Device d;

        report_device(r, &d);
        probe(&d, drive_backends(&r->drive), &all_settings, compare, &c);
        device_done(&d);
        ck_assert_msg(c.n > 0, "%s has no setting", path);
        ck_assert_msg(r->n_written == 0, "%s: a probe writes", path);

        SETTING_TABLE_FOREACH(s, &all_settings) {
                const ReportSetting *old = s->alias_of ? NULL : setting_of(r, s);
                Value now, other;
                Verdict verdict;

                if (!old || !streq(old->supported, "yes") || value_parse(&s->range, old->value, &now) < 0)
                        continue;

                for (int dry = 0; dry <= 1; dry++) {
                        verdict = visit(r, s, &now, dry, false, reason);
                        ck_assert_msg(verdict == VERDICT_UNCHANGED && r->n_written == 0,
                                      "%s: %s: the drive has the value %s, and the verdict is %s (%s), %u writes", path,
                                      s->name, old->value, strna(verdict_to_string(verdict)), reason, r->n_written);
                }

                check_rewrite(path, r, s, &now);

                /* The model keeps each value of the drive, whatever is written. */
                if ((s->flags & SETTING_KERNEL) || !other_value(s, &now, &other))
                        continue;
                verdict = visit(r, s, &other, false, false, reason);
                ck_assert_msg(verdict != VERDICT_APPLIED && verdict != VERDICT_UNCHANGED,
                              "%s: %s: the drive kept the value %s, and the verdict is %s", path, s->name, old->value,
                              verdict_to_string(verdict));
                r->n_written = 0;
        }
}

START_TEST(test_report) {
        ReportFile r;
        size_t size;

        report_parse(&r, file_read(reports.gl_pathv[_i], &size));
        check_report(reports.gl_pathv[_i], &r);
        report_done(&r);
}
END_TEST

/* Without a key for the hashes there is no report. */
START_TEST(test_no_machine_id) {
        char *text = NULL;
        ReportFile r;
        size_t size;
        Device d;
        FILE *f;

        report_parse(&r, file_read(reports.gl_pathv[0], &size));
        report_device(&r, &d);
        f = must(open_memstream(&text, &size));
        machine_id_error = -ENOENT;
        ck_assert_int_eq(report_write(f, &d, NULL), 1);
        machine_id_error = 0;
        must_close(f);
        ck_assert_uint_eq(size, 0);
        free(text);
        device_done(&d);
        report_done(&r);
}
END_TEST

/* ---- reports of IDENTIFY images ---- */

static uint8_t *find(const uint8_t *data, size_t n, const uint8_t *wanted, size_t k) {
        return memmem(data, n, wanted, k);
}

/* The data must not contain the bytes, in either order of the bytes of a word. */
static void check_absent(const char *path, const uint8_t *data, size_t n, const uint8_t *wanted, size_t k) {
        uint8_t *swapped = must(malloc(n + 1));

        for (size_t i = 0; i < n; i++)
                swapped[i] = data[(i ^ 1) < n ? i ^ 1 : i];
        ck_assert_msg(k == 0 || n == 0 || (!find(data, n, wanted, k) && !find(swapped, n, wanted, k)),
                      "%s: the report contains a serial number or WWN", path);
        free(swapped);
}

static char *write_report(ReportFile *model) {
        char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));
        Device d;

        report_device(model, &d);
        ck_assert_int_eq(report_write(f, &d, NULL), 0);
        device_done(&d);
        must_close(f);
        return text;
}

/* Builds a model that has the image and rejects all other commands that read, and checks the report of the model. */
START_TEST(test_image) {
        const char *path = images.gl_pathv[_i];
        _cleanup_(drive_freep) Drive *drive = NULL;
        Exchange exchanges[] = {
                { .sg = { .cdb = { 0x85, 0x06, 0x20, [13] = 0x40, 0xE5 },
                          .cdb_len = 16,
                          .status = 2,
                          .sense_len = 22 } },
                { .sg = { .cdb = { 0x85, 0x08, 0x0E, [6] = 1, [13] = 0x40, 0xEC }, .cdb_len = 16 }, .data_len = 512 },
        };
        ReportFile model = { .exchanges = exchanges, .n_exchanges = 2 }, r;
        DriveIdentity identity;
        uint16_t id[256];
        char *text;
        size_t size;

        exchanges[1].data = (uint8_t *) file_read(path, &size);
        ck_assert_int_eq(identify_image_parse((const char *) exchanges[1].data, size, id), 0);
        memcpy(exchanges[0].sg.sense, report_good, sizeof report_good);
        exchanges[0].sg.sense[13] = 0xFF; /* active */
        identify_drive(id, &identity);
        ck_assert_int_eq(identify_image_drive(id, "sda", &drive), 0);
        model.drive = *drive;

        text = write_report(&model);
        check_absent(path, (uint8_t *) text, strlen(text), (uint8_t *) identity.serial, strlen(identity.serial));
        check_absent(path, (uint8_t *) text, strlen(text), (uint8_t *) identity.wwn + 2, identity.wwn[0] ? 16 : 0);
        report_parse(&r, text);
        for (size_t i = 0; i < r.n_exchanges; i++) {
                const Exchange *x = r.exchanges + i;

                check_absent(path, x->data, x->data_len, (uint8_t *) identity.serial, strlen(identity.serial));
                for (unsigned byte = 0; byte < 8; byte++)
                        exchanges[1].data[byte] = (uint8_t) (id[108 + byte / 2] >> (byte % 2 ? 0 : 8));
                check_absent(path, x->data, x->data_len, exchanges[1].data, identity.wwn[0] ? 8 : 0);
        }
        check_report(path, &r);
        report_done(&r);
        free(exchanges[1].data);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("reports");
        TCase *t = tcase_create("reports");

        (void) glob("tests/data/reports/*.txt", 0, NULL, &reports);
        (void) glob(IMAGES, 0, NULL, &images);
        tcase_add_loop_test(t, test_report, 0, (int) reports.gl_pathc);
        tcase_add_test(t, test_no_machine_id);
        if (images.gl_pathc > 0)
                tcase_add_loop_test(t, test_image, 0, (int) images.gl_pathc);
        else
                printf("skipped: the cases with IDENTIFY images of real drives, which are not here (" IMAGES ")\n");
        suite_add_tcase(suite, t);
        return suite_run(suite);
}
