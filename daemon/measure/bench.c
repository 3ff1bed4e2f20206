/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <argz.h>
#include <fcntl.h>
#include <inttypes.h>
#include <json.h>
#include <math.h>

#include "attribute.h"
#include "bench.h"
#include "clock.h"
#include "fio.h"
#include "kernel-view.h"
#include "must.h"
#include "scratch-file.h"
#include "stop.h"

#define ZONES 32U
#define MIB (UINT64_C(1) << 20)
#define PAGE 4096U
#define FRESH_ZONES 2U               /* the second and the third, … */
#define FRESH_LENGTHS 8U             /* … of which a sample may read such a part, … */
#define FRESH_SPARES 8U              /* … or so many times more than what is read ahead */
#define READ_AHEAD_WINDOWS 4U        /* the kernel has two under way at most, each no larger than read_ahead_kb */
#define REST_MS 500                  /* for what is under way still */
#define REST_PART UINT64_C(30000000) /* µs */
#define FILE_SPARE MIB               /* a file system may read for what is written in a file */

void measured_done(Measured *m) {
        free(m->samples);
        free(m->complaint);
}

void bench_done(Bench *b) {
        for (Measured *m = b->items; m < b->items + b->n_items; m++)
                measured_done(m);
        free(b->items);
        *b = (Bench){};
}

Measured *bench_add(Bench *b, const Figure *figure) {
        must_grow(b, items);
        b->items[b->n_items] = (Measured){ .figure = figure };
        return b->items + b->n_items++;
}

const Measured *bench_find(const Bench *b, const Figure *figure) {
        for (const Measured *m = b->items; m < b->items + b->n_items; m++)
                if (m->figure == figure)
                        return m;
        return NULL;
}

size_t bench_count_samples(const Bench *b) {
        size_t n = 0;

        for (const Measured *m = b->items; m < b->items + b->n_items; m++)
                n += m->n_samples;
        return n;
}

void measured_add(Measured *m, double sample) {
        must_grow(m, samples);
        m->samples[m->n_samples++] = sample;
}

/* ---- where ---- */

/* A place in so many bytes for each step, in whole MiB: at multiples of the golden section, which spread evenly however many there are, and
 * of which two that follow each other are far apart. */
static uint64_t spread(uint64_t step, uint64_t bytes) {
        const uint64_t golden = UINT64_C(0x9E3779B97F4A7C15); /* 0.618 of 2^64, beyond which the whole turns are lost */

        return ((step * golden) >> 32) * (bytes / MIB) / (UINT64_C(1) << 32) * MIB;
}

/* As options of fio, which reads on from there for no longer than that. In a zone each sample begins elsewhere in the first half. */
static char *zone_format(const BenchTask *t, unsigned zone, uint64_t step) {
        const uint64_t half = t->size / ZONES / 2 / MIB * MIB;

        return must_format("--filename=%s --offset=%" PRIu64 " --size=%" PRIu64, t->node,
                           2 * half * zone + spread(step, half), half);
}

static uint64_t read_ahead_bytes(const BenchTask *t) {
        char text[32];

        (void) attribute_read(text, sizeof text, "%s/%s/queue/read_ahead_kb", t->classdir, t->name);
        return 1024 * strtoull(text, NULL, 10);
}

/* How much the kernel may have read of its own accord, beside `bytes` that were asked for, or for an earlier sample. */
static uint64_t read_ahead(const BenchTask *t, Place place, uint64_t bytes) {
        switch (place) {
        case PLACE_FRESH:
                return READ_AHEAD_WINDOWS * read_ahead_bytes(t);
        case PLACE_MAPPED:
                return bytes / PAGE * read_ahead_bytes(t);
        default:
                return 0;
        }
}

/* The page cache is to have nothing of it. The kernel also writes out what is changed there; where a file system lies on the whole device it
 * would do so for a direct read, too. */
static void drop_cache(const BenchTask *t, uint64_t offset, uint64_t bytes) {
        _cleanup_close_ int fd = open(t->node, O_RDONLY | O_CLOEXEC);

        if (fd >= 0)
                (void) posix_fadvise(fd, (off_t) offset, (off_t) bytes, POSIX_FADV_DONTNEED);
}

/* Where each sample begins elsewhere, as a drive has a cache, too, and where there is more than what the kernel reads ahead. */
static char *fresh_format(const BenchTask *t, uint64_t step) {
        const uint64_t zone = t->size / ZONES / MIB * MIB, all = FRESH_ZONES * zone,
                       ahead = read_ahead(t, PLACE_FRESH, 0),
                       length = MIN(MAX(all / FRESH_LENGTHS, ahead * FRESH_SPARES) / MIB * MIB, all),
                       offset = zone + spread(step, all - length);

        drop_cache(t, offset, length + ahead);
        return must_format("--filename=%s --offset=%" PRIu64 " --size=%" PRIu64, t->node, offset, length);
}

static char *file_format(const BenchTask *t) {
        return must_format("--filename=/proc/%d/fd/%d --size=%llu --time_based", getpid(), t->file, SCRATCH_FILE_SIZE);
}

static char *place_format(const BenchTask *t, Place place, uint64_t step) {
        switch (place) {
        case PLACE_START:
                return zone_format(t, 0, step);
        case PLACE_MIDDLE:
                return zone_format(t, ZONES / 2, step);
        case PLACE_END:
                return zone_format(t, ZONES - 1, step);
        case PLACE_FRESH:
                return fresh_format(t, step);
        case PLACE_MAPPED:
                drop_cache(t, 0, 0);
                _fallthrough_;
        case PLACE_ANYWHERE:
                return must_format("--filename=%s --size=%" PRIu64 " --time_based", t->node, t->size);
        case PLACE_ONCE:
                return must_format("--filename=%s --size=%" PRIu64 " --number_ios=1", t->node, t->size);
        case PLACE_FILE:
                break;
        }
        return file_format(t);
}

/* ---- one sample ---- */

/* What is told in a group is told of all its jobs as of one. */
static char *beside_format(const BenchTask *t, const Job *job) {
        _cleanup_free_ char *file = NULL;

        if (!job->beside)
                return must(strdup(""));
        file = file_format(t);
        return must_format(" --group_reporting --name=beside --group_reporting %s %s", file, job->beside);
}

static int job_run(const BenchTask *t, const Job *job, uint64_t step, struct json_object **ret, char **ret_complaint) {
        _cleanup_free_ char *place = place_format(t, job->place, step), *beside = beside_format(t, job), *words = NULL,
                            *argz = NULL, **arguments = NULL;
        size_t size;

        words = must_format("fio --output-format=json --thread --runtime=%ums --randseed=%" PRIu64
                            " --norandommap --invalidate=0 --fadvise_hint=0 --allow_file_create=0%s --name=%s %s %s%s",
                            job->milliseconds, step + 1, job_writes(job) ? "" : " --readonly", job->name, place,
                            job->arguments, beside);
        must_work(-argz_create_sep(words, ' ', &argz, &size));
        arguments = must(calloc(argz_count(argz, size) + 1, sizeof *arguments));
        argz_extract(argz, size, arguments);
        return fio_run(arguments, t->stop_fd, ret, ret_complaint);
}

typedef struct Use {
        uint64_t read_bytes, below_read_bytes; /* from the device, and from the disks below an array */
        uint64_t changes;                      /* of all of these: writes, discards and flushes */
        bool counted;                          /* all of this is known */
} Use;

static uint64_t use_add(Use *u, const BenchTask *t, const char *name) {
        _cleanup_free_ char *path = must_format("%s/%s", t->classdir, name);
        Traffic x = {};

        u->counted = traffic_read(path, &x) >= 0 && u->counted;
        u->changes += x.writes + x.discards + x.flushes;
        return x.read_bytes;
}

/* What is read ahead still belongs to the sample before. */
static Use use_read(const BenchTask *t) {
        _cleanup_free_ char *path = must_format("%s/%s", t->classdir, t->name);
        Use u = { .counted = true };

        for (unsigned i = 0; i < REST_MS && activity_in_flight(path); i++)
                (void) usleep(1000);

        u.read_bytes = use_add(&u, t, t->name);
        for (char *const *name = t->below; name && *name; name++)
                u.below_read_bytes += use_add(&u, t, *name);
        return u;
}

typedef enum SampleVerdict {
        SAMPLE_USED,
        SAMPLE_OTHERS,
        SAMPLE_CACHED,
} SampleVerdict;

/* Of a sample in which `bytes` were read. */
static SampleVerdict sample_judge(const BenchTask *t, Bench *b, const Job *job, const Use *before, uint64_t bytes) {
        uint64_t read, spare = read_ahead(t, job->place, bytes);
        Use after;

        /* What a file system writes by itself for a file of ours is ours, too. */
        if (!b->counted || job->place == PLACE_FILE)
                return SAMPLE_USED;

        after = use_read(t);
        /* It may have been switched off meanwhile. */
        b->counted = before->counted && after.counted;
        if (!b->counted)
                return SAMPLE_USED;
        read = after.read_bytes - before->read_bytes;
        /* Beside writes this is all that can be told: disks of an array may be read for these, too. */
        if (job->beside)
                return read > bytes + FILE_SPARE ? SAMPLE_OTHERS : SAMPLE_USED;
        if (read > bytes + spare || after.below_read_bytes - before->below_read_bytes > bytes + spare ||
            after.changes != before->changes)
                return SAMPLE_OTHERS;
        if (job->place == PLACE_MAPPED)
                return read < bytes ? SAMPLE_CACHED : SAMPLE_USED;
        return job->place == PLACE_FRESH && read + spare < bytes ? SAMPLE_CACHED : SAMPLE_USED;
}

static void sample_fail(Measured *m, const char *complaint) {
        free(m->complaint);
        m->complaint = must(strdup(complaint));
        m->n_failed++;
}

/* Why what fio tells of this figure is not used, for the caller to free; NULL: it is. */
static char *find_fault(struct json_object *told, const Job *job, const Figure *f, double value) {
        double ms = fio_number(told, "read/runtime");

        /* In too short a time fio has finished nothing. */
        if (isnan(value) || value <= 0)
                return must(strdup("fio has measured nothing"));
        if (job->place <= PLACE_FRESH && ms * f->error < 1)
                return must_format("all of the place was read in %.0f ms, which is too short a time to measure", ms);
        return NULL;
}

static void sample_keep(Measured *m, SampleVerdict v, double value) {
        switch (v) {
        case SAMPLE_USED:
                measured_add(m, value);
                break;
        case SAMPLE_OTHERS:
                m->n_others++;
                break;
        case SAMPLE_CACHED:
                m->n_cached++;
                break;
        }
}

/* The service leaves the drive alone for a minute after may_go_on(): in a longer time without use that is asked again. */
static int rest(const BenchTask *t, uint64_t idle) {
        int r = 0;

        while (r == 0 && idle > 0) {
                uint64_t part = MIN(idle, REST_PART);

                if (stop_wait(t->stop_fd, part))
                        return -ECANCELED;
                idle -= part;
                if (idle > 0)
                        r = t->may_go_on(t->userdata);
        }
        return r;
}

int bench_sample(const BenchTask *t, Bench *b, const Job *job, Measured *m, uint64_t step, uint64_t idle) {
        Use before = use_read(t);
        _cleanup_free_ char *complaint = NULL;
        struct json_object *told = NULL;
        SampleVerdict v = SAMPLE_USED;
        double bytes;
        int r;

        r = rest(t, idle);
        if (r == 0)
                r = job_run(t, job, step, &told, &complaint);
        if (r != 0 && r != -EIO)
                return r;
        bytes = r < 0 ? NAN : fio_number(told, "read/io_bytes");
        if (bytes >= 0)
                v = sample_judge(t, b, job, &before, (uint64_t) bytes);
        /* Before anything else is measured, what was written here is on the drive. */
        if (job_writes(job))
                (void) fsync(t->file);

        FIGURES_FOREACH(f, job) {
                double value = r < 0 ? NAN
                                     : fio_number(told, f->path) + (f->more_path ? fio_number(told, f->more_path) : 0);
                _cleanup_free_ char *fault = complaint ? NULL : find_fault(told, job, f, bytes >= 0 ? value : NAN);

                if (complaint || fault)
                        sample_fail(m, complaint ?: fault);
                else
                        sample_keep(m, v, value * f->unit);
                m++;
        }
        (void) json_object_put(told);
        return 0;
}

/* ---- all of them ---- */

/* Heads move, a drive in a low-power state comes out of it. It also shows whether the kernel counts. */
int bench_warm_up(const BenchTask *t, Bench *b) {
        Use before = use_read(t), after;
        _cleanup_free_ char *complaint = NULL;
        struct json_object *told = NULL;
        int r;

        r = job_run(t, jobs, 0, &told, &complaint);
        (void) json_object_put(told);
        after = use_read(t);
        b->counted = before.counted && after.counted && (r < 0 || after.read_bytes != before.read_bytes);
        return r == -EIO ? 0 : r;
}

static bool is_wanted(const BenchTask *t, const Job *job) {
        return !job->for_settings && (!job_writes(job) || t->file >= 0);
}

static int bench_rounds(const BenchTask *t, Bench *b, uint64_t start) {
        uint64_t fresh = now_usec(), longest = 0;

        for (uint64_t round = 1; round <= t->samples_max; round++) {
                Measured *m = b->items;

                JOBS_FOREACH(job) {
                        uint64_t begun = monotonic_usec();
                        int r;

                        if (!is_wanted(t, job))
                                continue;
                        if (stop_is_wanted(t->stop_fd) || begun - start + longest > t->budget)
                                return 0;
                        r = t->may_go_on(t->userdata);
                        if (r == 0)
                                r = bench_sample(t, b, job, m, job->place < PLACE_FRESH ? round : fresh + round, 0);
                        if (r != 0)
                                return r;
                        FIGURES_FOREACH(f, job)
                                m++;
                        longest = MAX(longest, monotonic_usec() - begun);
                        t->tell(t->userdata, monotonic_usec() - start);
                }
        }
        return 0;
}

int bench_run(const BenchTask *t, Bench *ret) {
        uint64_t start = monotonic_usec();
        int r;

        *ret = (Bench){};
        JOBS_FOREACH(job)
                if (is_wanted(t, job))
                        FIGURES_FOREACH(f, job)
                                bench_add(ret, f);

        r = bench_warm_up(t, ret);
        if (r == 0)
                r = bench_rounds(t, ret, start);
        return r == -ECANCELED ? 0 : r;
}
