/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is measured: jobs, each of which is a run of fio for a second or less, and the figures that each tells. */

#include "macro.h"

typedef enum FigureKind {
        FIGURE_SPEED,   /* bytes per second */
        FIGURE_LATENCY, /* seconds; less is better */
        FIGURE_RATE,    /* reads, or reads and writes, per second */
        _FIGURE_KIND_MAX,
} FigureKind;

extern const char *const figure_units[_FIGURE_KIND_MAX]; /* for programs: "B/s" */

#define FIGURE_TEXT_MAX 48U

typedef struct Figure {
        const char *key; /* in files and JSON: it stays as it is */
        const char *title;
        FigureKind kind;
        /* Where fio has it, in the object of its job: "read/clat_ns/percentile/50.000000". A second one is added to it. */
        const char *path, *more_path;
        double unit;  /* what fio counts in, in the kind's own unit */
        double error; /* how coarse fio tells it, as a part of it */
} Figure;

/* Where on the drive a job reads. A zone is a thirty-second of it. */
typedef enum Place {
        PLACE_START, /* the outer zone of a disk that turns */
        PLACE_MIDDLE,
        PLACE_END,      /* the inner zone */
        PLACE_FRESH,    /* beside the start, where nothing was read before: most likely not in the page cache */
        PLACE_ANYWHERE, /* places drawn by fio from all of it */
        PLACE_ONCE,     /* one such place, and then it is over */
        PLACE_MAPPED,   /* the same, through the page cache, which reads more than what is asked for */
        PLACE_FILE,     /* a file of its own */
} Place;

#define JOB_FIGURES_MAX 2U

typedef struct Job {
        const char *name;
        Place place;
        unsigned milliseconds; /* that a sample takes: figures may depend on it */
        const char *arguments; /* of fio, with a blank between them */
        const char *beside;    /* the same of what is done in a file of its own meanwhile; NULL: nothing is */
        bool for_settings;     /* tells what a setting does, and not how fast a drive is */
        Figure figures[JOB_FIGURES_MAX + 1]; /* ends with {} */
} Job;

/* Ends with {}; those that need a file of their own come last. */
extern const Job jobs[];
#define JOBS_FOREACH(job) for (const Job *job = jobs; job->name; job++)
#define FIGURES_FOREACH(figure, job) for (const Figure *figure = (job)->figures; figure->key; figure++)

const Figure *figure_find(const char *key);
const Job *figure_job(const Figure *figure); /* that tells it */

/* In a file of its own. */
static inline bool job_writes(const Job *job) {
        return job->place == PLACE_FILE || job->beside;
}

/* "187 MB/s", "8.13 ms", "85.0 us", "1230 /s": three digits, which is more than most samples carry. */
char *figure_format(FigureKind kind, double value, char buf[static FIGURE_TEXT_MAX]);

/* "185.2 to 189.1 MB/s": four, which tell the bounds apart. */
char *figure_format_range(FigureKind kind, double low, double high, char buf[static FIGURE_TEXT_MAX]);
