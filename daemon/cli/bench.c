/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep bench`: measures a drive as it is, by reads alone, and keeps what came of it. */

#include <err.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include "attribute.h"
#include "bench-show.h"
#include "choice.h"
#include "clock.h"
#include "fio.h"
#include "inventory.h"
#include "known-device.h"
#include "output.h"
#include "probe.h"
#include "request.h"
#include "scratch-file.h"
#include "settings.h"
#include "stack.h"

#define BUDGET_TEXT "3min"
#define BUDGET_MIN_MS (10LL * 1000)
#define BUDGET_MAX_MS (60LL * 60 * 1000)

typedef struct Subject {
        const Options *options;
        const Drive *drive;
        bool is_array; /* its disks are others */
        char **names;  /* kernel names of the disks below, or its own */
        Drive **disks; /* the same, of those that drivekeep knows; borrowed */
        size_t n_disks;
        Records records;
        Leave leave;
        Result result;
        uint64_t budget; /* µs */
        bool progress;
} Subject;

/* ---- what is measured ---- */

static int find_subject(const Options *o, const Inventory *inventory, Subject *s) {
        int r;

        if (o->names[1]) {
                warnx("one drive is measured at a time: 'drivekeep bench DRIVE'");
                return EXIT_BAD_INPUT;
        }

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

/* Of a disk, or of an array, which is asked nothing. Returns why it is not to be used now, as a sentence's end; NULL: it may be. */
static char *look_at(Subject *s, const Drive *d) {
        unsigned backends = drive_backends(d);
        Listing l = { &s->result, d };
        const char *state;
        Device device;
        int r = 0;

        device_init_known(&device, d, records_of(&s->records, d), &s->leave.io);
        if (backends & (1U << BACKEND_ATA | 1U << BACKEND_SCSI_MODE))
                r = power_look(&device, power_backend(backends));
        state = power_state(&device);
        if (r >= 0)
                probe(&device, backends, &all_settings, list_setting, &l);
        device_done(&device);

        if (r < 0)
                return must_format("%s does not answer", d->name);
        if (state && STR_IN_SET(state, "standby", "sleep"))
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

/* ---- a file of its own ---- */

/* The block device that a file system is on; NULL: it is on none, or on some that nobody can tell. */
static char *find_device(const struct stat *st) {
        _cleanup_free_ char *link = must_format("/sys/dev/block/%u:%u", major(st->st_dev), minor(st->st_dev)),
                            *path = NULL;

        path = realpath(link, NULL);
        return path ? must(strdup(base_name(path))) : NULL;
}

/* Is it on this drive, and on no other? */
static bool is_on_drive(const Subject *s, const char *device) {
        _cleanup_(names_freep) char **above = NULL, **below = NULL;

        (void) must_not_fail(stack_above(INVENTORY_CLASSDIR, s->drive->name, &above));
        (void) must_not_fail(stack_disks_below(INVENTORY_CLASSDIR, device, &below));
        if (!streq(device, s->drive->name) && !names_contain(above, device))
                return false;
        for (char **disk = below; disk && *disk; disk++)
                if (!names_contain(s->names, *disk))
                        return false;
        return true;
}

/* What is wrong with the directory of --file; a sentence. NULL: nothing. btrfs has numbers of its own, so that it is believed. */
static char *find_fault(const Subject *s, const char *directory) {
        _cleanup_free_ char *device = NULL;
        struct statfs fs;
        struct stat st;

        if (stat(directory, &st) < 0 || !S_ISDIR(st.st_mode) || statfs(directory, &fs) < 0)
                return must_format("'%s' is no directory: --file wants one that is on %s", directory, s->drive->name);
        if (fs.f_type == BTRFS_SUPER_MAGIC)
                return NULL;

        device = find_device(&st);
        if (!device)
                return must_format("'%s' is on no drive that can be told: --file wants a directory on %s", directory,
                                   s->drive->name);
        if (!is_on_drive(s, device))
                return must_format("'%s' is not on %s alone, so what is written there says nothing about it", directory,
                                   s->drive->name);
        return NULL;
}

/* Returns its descriptor, -1 where none is wanted, or -EBADMSG, having said why. */
static int make_file(const Subject *s, int stop_fd) {
        const char *directory = s->options->file;
        _cleanup_free_ char *fault = directory ? find_fault(s, directory) : NULL;
        int r;

        if (!directory)
                return -1;
        if (fault) {
                warn_escaped("%s", fault);
                return -EBADMSG;
        }

        r = scratch_file_make(directory, stop_fd);
        if (r < 0 && r != -ECANCELED)
                warn_escaped("no file of %llu MiB can be written in '%s': %s", SCRATCH_FILE_SIZE >> 20, directory,
                             strerror(-r));
        return r < 0 ? -EBADMSG : r;
}

/* ---- meanwhile ---- */

static int may_go_on(void *userdata) {
        Subject *s = userdata;
        const char *why;

        for (size_t i = 0; s->leave.io.gate && i < s->n_disks; i++)
                if (s->leave.io.gate(s->leave.io.userdata, s->disks[i], &why) < 0) {
                        warn_escaped("%s cannot be measured any longer: %s", s->drive->name, why);
                        return 1;
                }
        return 0;
}

static void tell_progress(void *userdata, uint64_t spent) {
        const Subject *s = userdata;
        unsigned width = 30, done = (unsigned) (MIN(spent, s->budget) * width / s->budget);
        char left[VALUE_TEXT_MAX];

        if (s->progress)
                fprintf(stderr, "\r%s [%.*s%*s] %3u %%, %s left\033[K", s->drive->name, (int) done,
                        "##############################", (int) (width - done), "",
                        (unsigned) (MIN(spent, s->budget) * 100 / s->budget),
                        duration_format_short(s->budget - MIN(spent, s->budget), left));
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

/* ---- doing it ---- */

static int show_and_keep(const Subject *s) {
        const Options *o = s->options;
        const Result *r = &s->result;
        int status, k;

        status = bench_show(o, r);
        if (status != EXIT_WANTED)
                return status;
        if (bench_count_samples(&r->bench) == 0) {
                warn_escaped("nothing was measured of %s, so nothing is kept", s->drive->name);
                return EXIT_BAD_INPUT;
        }

        k = result_save(o->results, r);
        if (k < 0) {
                warn_escaped("the measurement cannot be kept in %s: %s", o->results, strerror(-k));
                return EXIT_BAD_INPUT;
        }
        if (!o->json && !o->no_legend)
                printf("\nKept as %s. 'drivekeep bench --compare' compares the last two of a drive.\n", r->name);
        return EXIT_WANTED;
}

static int measure_subject(Subject *s) {
        _cleanup_close_ int stop_fd = open_stop(), file = -EBADF;
        BenchTask task = { .classdir = INVENTORY_CLASSDIR,
                           .name = s->drive->name,
                           .node = s->drive->node,
                           .size = s->drive->size,
                           .below = s->is_array ? s->names : NULL,
                           .file = -1,
                           .budget = s->budget,
                           .stop_fd = stop_fd,
                           .may_go_on = may_go_on,
                           .tell = tell_progress,
                           .userdata = s };
        int r;

        if (stop_fd < 0)
                return -errno;
        file = make_file(s, stop_fd);
        if (file == -EBADMSG)
                return EXIT_BAD_INPUT;
        task.file = file;

        r = bench_run(&task, &s->result.bench);
        if (s->progress)
                (void) fputs("\r\033[K", stderr);
        return r < 0 ? r : show_and_keep(s);
}

static int read_budget(const Options *o, uint64_t *ret) {
        static const ValueRange range = { .type = VALUE_DURATION, .min = BUDGET_MIN_MS, .max = BUDGET_MAX_MS };
        Value v;
        int r = value_parse(&range, o->budget ?: BUDGET_TEXT, &v);

        if (r < 0) {
                warn_escaped("'%s' is no time to measure for: write --budget=3min, or another one from 10s to 1h",
                             o->budget);
                return EXIT_BAD_INPUT;
        }
        *ret = (uint64_t) v.number * 1000;
        return EXIT_WANTED;
}

static int measure(const Options *o) {
        _cleanup_(inventory_done) Inventory inventory = {};
        Subject s = { .options = o, .progress = isatty(STDERR_FILENO) && !o->quiet };
        _cleanup_free_ char *objection = NULL;
        size_t n;
        int r;

        r = read_budget(o, &s.budget);
        if (r == EXIT_WANTED)
                r = inventory_read(&inventory);
        if (r == EXIT_WANTED)
                r = drives_choose(inventory.drives, inventory.n_drives, o->names, &n);
        if (r != EXIT_WANTED)
                return r;
        if (geteuid() != 0) {
                warnx("only root may measure drives");
                return EXIT_BAD_INPUT;
        }
        if (!fio_is_installed()) {
                warnx("drivekeep bench needs fio: install the package 'fio'");
                return EXIT_BAD_INPUT;
        }

        r = find_subject(o, &inventory, &s);
        if (r == EXIT_WANTED) {
                (void) records_read(o->state_dir, &s.records);
                r = leave_get(&s.leave, o->state_dir, s.disks, s.n_disks);
        }
        if (r == EXIT_WANTED) {
                objection = find_objection(&s);
                if (objection) {
                        warn_escaped("%s is not measured: %s", s.drive->name, objection);
                        r = EXIT_BAD_INPUT;
                } else
                        r = measure_subject(&s);
        }
        leave_done(&s.leave);
        records_done(&s.records);
        result_done(&s.result);
        (void) names_free(s.names);
        free(s.disks);
        return r;
}

static int run(const Options *o) {
        if ((o->budget || o->file) && (o->compare || !o->names)) {
                warnx("--budget and --file are for a measurement: 'drivekeep bench DRIVE'");
                return EXIT_BAD_INPUT;
        }
        /* Others may read what is kept. */
        (void) umask(0022);
        if (o->compare)
                return bench_compare(o);
        return o->names ? measure(o) : bench_list(o);
}

const Verb verb_bench = {
        .name = "bench",
        .summary = "Measure how fast a drive is, and compare measurements",
        .arguments = "[DRIVE]\n--compare [DRIVE]\n--compare BEFORE AFTER",
        .help = "Measures how fast a drive is with the settings that it has, by reads alone, for three minutes, and keeps the "
                "figures. Without arguments: lists what is kept. Needs fio."
                "\v" DRIVE_IS ". "
                "--compare says whether the last two measurements of a drive differ, or BEFORE and AFTER, as the list names them. "
                "Measuring needs root.",
        .options = OPTION_BENCH | OPTION_JSON | OPTION_STATE_DIR,
        .run = run,
};
