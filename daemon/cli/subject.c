/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <err.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "attribute.h"
#include "choice.h"
#include "clock.h"
#include "fio.h"
#include "known-device.h"
#include "nvme.h"
#include "output.h"
#include "probe.h"
#include "settings.h"
#include "stack.h"
#include "statistics.h"
#include "subject.h"
#include "sysfs.h"
#include "wear-read.h"

#define TOO_WARM 60 /* C; the makers of hard disks allow no more in use */
#define BUDGET_MIN_MS (10LL * 1000)
#define BUDGET_MAX_MS (12LL * 60 * 60 * 1000)

/* ---- which drive ---- */

static int find_subject(Subject *s) {
        const Inventory *inventory = &s->inventory;
        int r;

        s->drive = inventory->drives[0];
        s->result = result_new(s->drive, now_usec());
        r = must_not_fail(stack_disks_below(INVENTORY_CLASSDIR, s->drive->name, &s->names));
        if (r < 0)
                return r;
        s->is_array = !names_contain(s->names, s->drive->name);
        s->disks = must(calloc(inventory->n_drives, sizeof *s->disks));
        for (size_t i = 0; i < inventory->n_drives; i++)
                if (names_contain(s->names, inventory->drives[i]->name))
                        s->disks[s->n_disks++] = inventory->drives[i];
        return EXIT_WANTED;
}

/* ---- the settings in force, and what speaks against a measurement ---- */

typedef struct Listing {
        Result *result;
        const Drive *drive;
} Listing;

static void list_setting(void *userdata, const Probed *p) {
        char value[VALUE_TEXT_MAX];
        Listing *l = userdata;

        if (p->reading.supported && p->reading.known)
                result_add_setting(l->result, l->drive, p->setting->name,
                                   value_format(&p->setting->range, &p->reading.value, value));
}

static char *format_testing(const Drive *d) {
        return must_format("%s tests itself", d->name);
}

/* Of a disk that is awake: what speaks against having it read for minutes. NULL: nothing does, as far as it tells. */
static char *find_disk_strain(Device *device, const Drive *d, Backend by) {
        bool testing = false;
        Wear w = {};

        if (wear_and_test_read(device, by, &w, &testing) < 0)
                return NULL;
        if (testing)
                return format_testing(d);
        if (w.temperature.known && w.temperature.number > TOO_WARM)
                return must_format("%s has %" PRId64 " C, and more than %d is too warm", d->name, w.temperature.number,
                                   TOO_WARM);
        return NULL;
}

/* The kernel's driver asks how warm it is, and of what it warns (drivers/nvme/host/hwmon.c): in thousandths of a degree. */
static char *find_nvme_heat(Device *device, const Drive *d) {
        int64_t is, may_be;

        if (sysfs_number(device, "device/hwmon*/temp1_input", &is) < 0 ||
            sysfs_number(device, "device/hwmon*/temp1_max", &may_be) < 0)
                return NULL;
        /* The controller tells whole Kelvin, of which the kernel takes 273.15. */
        is = (is + 500) / 1000;
        may_be = (may_be + 500) / 1000;
        return is > may_be ? must_format("%s has %" PRId64 " C, and warns of more than %" PRId64, d->name, is, may_be)
                           : NULL;
}

/* The same of an NVMe drive. */
static char *find_nvme_strain(Device *device, const Drive *d) {
        bool testing;

        return nvme_is_testing(device, &testing) >= 0 && testing ? format_testing(d) : find_nvme_heat(device, d);
}

/* Of a disk, or of an array, which is asked nothing. Returns why it is not to be used now, as a sentence's end; NULL: it may be. */
static char *look_at(Subject *s, const Drive *d) {
        unsigned backends = drive_backends(d), asked = backends & (1U << BACKEND_ATA | 1U << BACKEND_SCSI_MODE);
        Listing l = { &s->result, d };
        char *strain = NULL;
        const char *state;
        Device device;
        int r = 0;

        device_init_known(&device, d, records_of(&s->records, d), &s->leave.io);
        if (asked)
                r = power_look(&device, power_backend(asked));
        state = power_state(&device);
        if (r >= 0 && asked)
                strain = find_disk_strain(&device, d, power_backend(asked));
        else if (backends & 1U << BACKEND_NVME)
                strain = find_nvme_strain(&device, d);
        if (r >= 0)
                probe(&device, backends, &all_settings, list_setting, &l);
        device_done(&device);

        if (strain)
                return strain;
        if (r < 0)
                return must_format("%s does not answer", d->name);
        if (state && STR_IN_SET(state, "standby", "suspended", "sleep"))
                return must_format("%s sleeps, and is not woken for this; read from it first if that is meant",
                                   d->name);
        return NULL;
}

/* The array of this disk, or the array itself, that is being rebuilt or checked; NULL: none. */
static char *find_sync(const Subject *s) {
        for (char **disk = s->names; disk && *disk; disk++) {
                _cleanup_(names_freep) char **above = NULL;

                (void) must_not_fail(stack_above(INVENTORY_CLASSDIR, *disk, &above));
                for (char **name = above; name && *name; name++) {
                        char action[32];

                        if (attribute_read(action, sizeof action, INVENTORY_CLASSDIR "/%s/md/sync_action", *name) >=
                                            0 &&
                            !STR_IN_SET(action, "idle", "frozen"))
                                return must_format("%s is busy with '%s'", *name, action);
                }
        }
        return NULL;
}

/* Why it is not to be measured now, as a sentence's end. */
static char *find_objection(Subject *s) {
        char *objection = NULL;

        if (s->drive->optical)
                return must(strdup("it reads discs, and a disc is no drive"));
        if (s->drive->size < BENCH_SIZE_MIN)
                return must_format("it has less than %llu GiB, or no medium", BENCH_SIZE_MIN >> 30);

        if (s->is_array)
                objection = look_at(s, s->drive);
        for (size_t i = 0; i < s->n_disks && !objection; i++)
                objection = look_at(s, s->disks[i]);
        return objection ?: find_sync(s);
}

/* ---- meanwhile ---- */

bool subject_is_here(const Subject *s) {
        char text[32];

        (void) attribute_read(text, sizeof text, INVENTORY_CLASSDIR "/%s/diskseq", s->drive->name);
        return s->drive->diskseq == 0 || strtoull(text, NULL, 10) == s->drive->diskseq;
}

int subject_stays(const Subject *s) {
        if (subject_is_here(s))
                return EXIT_WANTED;
        warn_escaped("%s cannot be measured any longer: it is gone", s->drive->name);
        return EXIT_BAD_INPUT;
}

static int may_go_on(void *userdata) {
        Subject *s = userdata;
        const char *why;

        if (subject_stays(s) != EXIT_WANTED)
                return EXIT_BAD_INPUT;
        for (size_t i = 0; s->leave.io.gate && i < s->n_disks; i++)
                if (s->leave.io.gate(s->leave.io.userdata, s->disks[i], &why) < 0) {
                        warn_escaped("%s cannot be measured any longer: %s", s->drive->name, why);
                        return EXIT_BAD_INPUT;
                }
        return 0;
}

static void tell_progress(void *userdata, uint64_t spent) {
        const Subject *s = userdata;
        uint64_t all = MIN(s->spent + spent, s->budget);
        unsigned width = 30, done = (unsigned) (all * width / s->budget);
        char left[VALUE_TEXT_MAX];

        if (s->progress)
                fprintf(stderr, "\r%s [%.*s%*s] %3u %%, %s left\033[K", s->drive->name, (int) done,
                        "##############################", (int) (width - done), "", (unsigned) (all * 100 / s->budget),
                        duration_format_short(s->budget - all, left));
}

/* Readable once the user wants an end, which then does not end the command. What is ignored, as by nohup(1), stays so. */
static int open_stop(void) {
        static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
        sigset_t set;

        (void) sigemptyset(&set);
        for (size_t i = 0; i < ELEMENTSOF(signals); i++) {
                struct sigaction action;

                if (sigaction(signals[i], NULL, &action) < 0 || action.sa_handler != SIG_IGN)
                        (void) sigaddset(&set, signals[i]);
        }
        (void) sigprocmask(SIG_BLOCK, &set, NULL);
        return signalfd(-1, &set, SFD_CLOEXEC);
}

/* ---- from its beginning to its end ---- */

static int read_budget(const Options *o, const char *otherwise, uint64_t *ret) {
        static const ValueRange range = { .type = VALUE_DURATION, .min = BUDGET_MIN_MS, .max = BUDGET_MAX_MS };
        Value v;
        int r = value_parse(&range, o->budget ?: otherwise, &v);

        if (r < 0) {
                warn_escaped("'%s' is no time to measure for: write --budget=%s, or another one from 10s to 12h",
                             o->budget, otherwise);
                return EXIT_BAD_INPUT;
        }
        *ret = (uint64_t) v.number * 1000;
        return EXIT_WANTED;
}

int subject_open(const Options *o, const char *verb, const char *budget, Subject *s) {
        size_t n;
        int r;

        *s = (Subject){ .options = o,
                        .file = -EBADF,
                        .stop_fd = -EBADF,
                        .progress = isatty(STDERR_FILENO) && !o->quiet };
        r = read_budget(o, budget, &s->budget);
        if (r == EXIT_WANTED)
                r = records_read_drives(o->state_dir, &s->inventory, &s->records);
        if (r == EXIT_WANTED)
                r = drives_choose(s->inventory.drives, s->inventory.n_drives, (char *[]){ o->names[0], NULL }, &n);
        if (r != EXIT_WANTED)
                return r;
        if (geteuid() != 0) {
                warnx("only root may measure drives");
                return EXIT_BAD_INPUT;
        }
        if (!fio_is_installed()) {
                warnx("drivekeep %s needs fio: install the package 'fio'", verb);
                return EXIT_BAD_INPUT;
        }

        s->stop_fd = open_stop();
        r = s->stop_fd < 0 ? -errno : find_subject(s);
        if (r == EXIT_WANTED)
                r = leave_get(&s->leave, o->state_dir, s->disks, s->n_disks);
        if (r == EXIT_WANTED) {
                _cleanup_free_ char *objection = find_objection(s);

                if (objection) {
                        warn_escaped("%s is not measured: %s", s->drive->name, objection);
                        r = EXIT_BAD_INPUT;
                }
        }
        return r;
}

void subject_close(Subject *s) {
        closep(&s->file);
        closep(&s->stop_fd);
        leave_done(&s->leave);
        records_done(&s->records);
        result_done(&s->result);
        (void) names_free(s->names);
        free(s->disks);
        inventory_done(&s->inventory);
        *s = (Subject){};
}

BenchTask subject_task(Subject *s) {
        return (BenchTask){ .classdir = INVENTORY_CLASSDIR,
                            .name = s->drive->name,
                            .node = s->drive->node,
                            .size = s->drive->size,
                            .below = s->is_array ? s->names : NULL,
                            .file = s->file,
                            .budget = s->budget,
                            .samples_max = SAMPLES_MAX,
                            .stop_fd = s->stop_fd,
                            .may_go_on = may_go_on,
                            .tell = tell_progress,
                            .userdata = s };
}

void subject_hide_progress(const Subject *s) {
        if (s->progress)
                (void) fputs("\r\033[K", stderr);
}
