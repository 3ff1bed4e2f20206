/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep bench`: measures a drive as it is, by reads alone, and keeps what came of it. */

#include <err.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include "bench-show.h"
#include "output.h"
#include "scratch-file.h"
#include "stack.h"
#include "subject.h"

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
static int make_file(const Subject *s) {
        const char *directory = s->options->file;
        _cleanup_free_ char *fault = directory ? find_fault(s, directory) : NULL;
        int r;

        if (!directory)
                return -1;
        if (fault) {
                warn_escaped("%s", fault);
                return -EBADMSG;
        }

        r = scratch_file_make(directory, s->stop_fd);
        if (r < 0 && r != -ECANCELED)
                warn_escaped("no file of %llu MiB can be written in '%s': %s", SCRATCH_FILE_SIZE >> 20, directory,
                             strerror(-r));
        return r < 0 ? -EBADMSG : r;
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
        _cleanup_close_ int file = make_file(s);
        BenchTask task = subject_task(s);
        int r;

        if (file == -EBADMSG)
                return EXIT_BAD_INPUT;
        task.file = file;

        r = bench_run(&task, &s->result.bench);
        subject_hide_progress(s);
        return r < 0 ? r : show_and_keep(s);
}

static int measure(const Options *o) {
        Subject s;
        int r;

        if (o->names[1]) {
                warnx("one drive is measured at a time: 'drivekeep bench DRIVE'");
                return EXIT_BAD_INPUT;
        }
        r = subject_open(o, "bench", "3min", &s);
        if (r == EXIT_WANTED)
                r = measure_subject(&s);
        subject_close(&s);
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
        .options = OPTION_BENCH | OPTION_BUDGET | OPTION_JSON | OPTION_STATE_DIR,
        .run = run,
};
