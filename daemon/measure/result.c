/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <fcntl.h>
#include <json.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <systemd/sd-id128.h>
#include <time.h>

#include "must.h"
#include "result.h"
#include "statistics.h"
#include "text-file.h"

#define VERSION 1
#define SUFFIX ".json"

void result_done(Result *r) {
        free(r->name);
        free(r->drive);
        free(r->key);
        free(r->model);
        free(r->serial);
        free(r->firmware);
        free(r->kernel);
        free(r->host);
        free(r->boot_id);
        for (ResultSetting *s = r->settings; s < r->settings + r->n_settings; s++) {
                free(s->drive);
                free(s->key);
                free(s->name);
                free(s->value);
        }
        free(r->settings);
        bench_done(&r->bench);
        *r = (Result){};
}

void results_done(Results *r) {
        for (size_t i = 0; i < r->n_items; i++)
                result_done(r->items + i);
        free(r->items);
}

static char *copy(const char *text) {
        return text ? must(strdup(text)) : NULL;
}

const char *result_drive_key(const Drive *d) {
        return drive_property(d, "DM_UUID") ?: drive_property(d, "MD_UUID") ?: d->wwn ?: d->serial ?: d->name;
}

Result result_new(const Drive *drive, uint64_t when) {
        time_t seconds = (time_t) (when / 1000000);
        struct utsname system = {};
        Result r = { .when = when };
        char text[32] = "", boot_id[SD_ID128_STRING_MAX];
        sd_id128_t boot;
        struct tm t;

        (void) uname(&system);
        if (localtime_r(&seconds, &t))
                (void) strftime(text, sizeof text, "%Y%m%d-%H%M%S", &t);

        r.name = must_format("%s-%s", drive->name, text);
        r.drive = copy(drive->name);
        r.key = copy(result_drive_key(drive));
        r.model = copy(drive->model);
        r.serial = copy(drive->serial);
        r.firmware = copy(drive->firmware);
        r.kernel = copy(system.release);
        r.host = copy(system.nodename);
        if (sd_id128_get_boot(&boot) >= 0)
                r.boot_id = copy(sd_id128_to_string(boot, boot_id));
        return r;
}

static void add_setting(Result *r, const char *drive, const char *key, const char *name, const char *value) {
        must_grow(r, settings);
        r->settings[r->n_settings++] = (ResultSetting){ copy(drive), copy(key), copy(name), copy(value) };
}

void result_add_setting(Result *r, const Drive *drive, const char *name, const char *value) {
        add_setting(r, drive->name, result_drive_key(drive), name, value);
}

/* ---- as JSON ---- */

/* Of Measured, beside its samples. */
static const struct {
        const char *key;
        size_t offset;
} counts[] = {
        { "others", offsetof(Measured, n_others) },
        { "cached", offsetof(Measured, n_cached) },
        { "errors", offsetof(Measured, n_failed) },
};

static const struct {
        const char *key;
        size_t offset;
        bool needed;
} texts[] = {
        { "host", offsetof(Result, host), false },         { "boot_id", offsetof(Result, boot_id), false },
        { "drive", offsetof(Result, drive), true },        { "key", offsetof(Result, key), true },
        { "model", offsetof(Result, model), false },       { "serial", offsetof(Result, serial), false },
        { "firmware", offsetof(Result, firmware), false }, { "kernel", offsetof(Result, kernel), false },
};

static void put(struct json_object *o, const char *key, struct json_object *value) {
        must_work(json_object_object_add(o, key, value));
}

static void put_text(struct json_object *o, const char *key, const char *text) {
        put(o, key, text ? must(json_object_new_string(text)) : NULL);
}

static void put_number(struct json_object *o, const char *key, bool known, double n) {
        put(o, key, known ? must(json_object_new_double(n)) : NULL);
}

static struct json_object *format_figure(const Measured *m) {
        struct json_object *o = must(json_object_new_object()), *samples = must(json_object_new_array());
        Estimate e = samples_estimate(m->samples, m->n_samples, m->figure->error);

        put_text(o, "name", m->figure->key);
        put_text(o, "unit", figure_units[m->figure->kind]);
        put_number(o, "median", m->n_samples > 0, e.median);
        put_number(o, "low", e.bounded, e.low);
        put_number(o, "high", e.bounded, e.high);
        for (size_t i = 0; i < m->n_samples; i++)
                must_work(json_object_array_add(samples, must(json_object_new_double(m->samples[i]))));
        put(o, "samples", samples);
        put_text(o, "complaint", m->complaint);
        for (size_t i = 0; i < ELEMENTSOF(counts); i++)
                put(o, counts[i].key,
                    must(json_object_new_int64((int64_t) * (size_t *) ((char *) m + counts[i].offset))));
        return o;
}

char *result_format(const Result *r) {
        struct json_object *o = must(json_object_new_object()), *settings = must(json_object_new_array()),
                           *figures = must(json_object_new_array());
        char *text;

        put(o, "version", must(json_object_new_int(VERSION)));
        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                put_text(o, texts[i].key, *(char **) ((char *) r + texts[i].offset));
        put(o, "when_usec", must(json_object_new_int64((int64_t) r->when)));
        put(o, "counted", must(json_object_new_boolean(r->bench.counted)));
        for (const ResultSetting *s = r->settings; s < r->settings + r->n_settings; s++) {
                struct json_object *setting = must(json_object_new_object());

                put_text(setting, "drive", s->drive);
                put_text(setting, "key", s->key);
                put_text(setting, "name", s->name);
                put_text(setting, "value", s->value);
                must_work(json_object_array_add(settings, setting));
        }
        put(o, "settings", settings);
        for (const Measured *m = r->bench.items; m < r->bench.items + r->bench.n_items; m++)
                must_work(json_object_array_add(figures, format_figure(m)));
        put(o, "figures", figures);

        text = must_format("%s\n", (const char *) must((void *) json_object_to_json_string_ext(
                                                   o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED)));
        (void) json_object_put(o);
        return text;
}

static struct json_object *get(struct json_object *o, const char *key, json_type type) {
        struct json_object *value;

        return json_object_object_get_ex(o, key, &value) && json_object_is_type(value, type) ? value : NULL;
}

static const char *get_text(struct json_object *o, const char *key) {
        struct json_object *value = get(o, key, json_type_string);

        return value ? json_object_get_string(value) : NULL;
}

static size_t array_length(struct json_object *array) {
        return array ? json_object_array_length(array) : 0;
}

static void parse_figure(struct json_object *o, Bench *b) {
        const char *key = get_text(o, "name");
        const Figure *figure = key ? figure_find(key) : NULL;
        struct json_object *samples = get(o, "samples", json_type_array);
        Measured *m;

        if (!figure || bench_find(b, figure))
                return;
        m = bench_add(b, figure);
        for (size_t i = 0; i < MIN(array_length(samples), SAMPLES_MAX); i++) {
                double value = json_object_get_double(json_object_array_get_idx(samples, i));

                if (value > 0 && value < 1e18)
                        measured_add(m, value);
        }
        for (size_t i = 0; i < ELEMENTSOF(counts); i++)
                *(size_t *) ((char *) m + counts[i].offset) =
                                (size_t) MAX(json_object_get_int64(get(o, counts[i].key, json_type_int)), 0);
}

static int parse_object(struct json_object *o, Result *r) {
        struct json_object *settings = get(o, "settings", json_type_array),
                           *figures = get(o, "figures", json_type_array);

        if (!o || json_object_get_int(get(o, "version", json_type_int)) != VERSION)
                return -EBADMSG;
        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                const char *text = get_text(o, texts[i].key);

                if (!text && texts[i].needed)
                        return -EBADMSG;
                *(char **) ((char *) r + texts[i].offset) = copy(text);
        }
        r->when = (uint64_t) json_object_get_int64(get(o, "when_usec", json_type_int));
        r->bench.counted = json_object_get_boolean(get(o, "counted", json_type_boolean));
        for (size_t i = 0; i < array_length(settings); i++) {
                struct json_object *s = json_object_array_get_idx(settings, i);
                const char *drive = get_text(s, "drive"), *key = get_text(s, "key"), *name = get_text(s, "name"),
                           *value = get_text(s, "value");

                if (drive && key && name && value)
                        add_setting(r, drive, key, name, value);
        }
        for (size_t i = 0; i < array_length(figures); i++)
                parse_figure(json_object_array_get_idx(figures, i), &r->bench);
        return 0;
}

int result_parse(const char *text, Result *ret) {
        struct json_object *o = json_tokener_parse(text);
        Result r = {};
        int k;

        k = parse_object(json_object_is_type(o, json_type_object) ? o : NULL, &r);
        (void) json_object_put(o);
        if (k < 0)
                result_done(&r);
        else
                *ret = r;
        return k;
}

/* ---- as files ---- */

int result_save(const char *directory, const Result *r) {
        _cleanup_free_ char *above = must_directory(directory), *name = must_format("%s" SUFFIX, r->name),
                            *text = result_format(r);
        _cleanup_close_ int dir_fd = -EBADF, fd = -EBADF;
        size_t size = strlen(text);
        ssize_t n;

        (void) mkdir(above, 0755);
        if (mkdir(directory, 0755) < 0 && errno != EEXIST)
                return -errno;
        /* The directory above is the service's user's, who is not to lead root elsewhere: neither is a link followed, nor a file opened
         * that is there. */
        dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (dir_fd < 0)
                return -errno;
        fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd < 0)
                return -errno;

        n = write(fd, text, size);
        if (n != (ssize_t) size) {
                int error = n < 0 ? -errno : -ENOSPC;

                (void) unlinkat(dir_fd, name, 0);
                return error;
        }
        return 0;
}

static int load_at(int dir_fd, const char *file, Result *ret) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r;

        r = must_not_fail(record_file_read(dir_fd, file, TEXT_FILE_MAX, &text, &size));
        if (r < 0)
                return r;
        r = result_parse(text, ret);
        if (r < 0)
                return r;
        ret->name = must(strndup(file, strlen(file) - (ends_with(file, SUFFIX) ? strlen(SUFFIX) : 0)));
        return 0;
}

int result_load(const char *directory, const char *name, Result *ret) {
        _cleanup_free_ char *above = strchr(name, '/') ? must_directory(name) : must(strdup(directory)),
                            *file = must_format("%s%s", base_name(name), ends_with(name, SUFFIX) ? "" : SUFFIX);
        _cleanup_close_ int fd = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 ? -errno : load_at(fd, file, ret);
}

static int compare_results(const void *a, const void *b) {
        const Result *x = a, *y = b;

        return x->when == y->when ? strcmp(x->name, y->name) : x->when < y->when ? -1 : 1;
}

int results_load(const char *directory, Results *ret) {
        _cleanup_close_ int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        Results all = {};
        struct dirent **files;
        int n;

        if (fd < 0 && errno != ENOENT)
                return -errno;
        n = fd < 0 ? 0 : scandirat(fd, ".", &files, NULL, alphasort);
        if (n < 0)
                return must_not_fail(-errno);

        for (int i = 0; i < n; i++) {
                Result r;

                if (ends_with(files[i]->d_name, SUFFIX) && load_at(fd, files[i]->d_name, &r) >= 0) {
                        must_grow(&all, items);
                        all.items[all.n_items++] = r;
                }
                free(files[i]);
        }
        if (n > 0)
                free(files);
        if (all.n_items > 0)
                qsort(all.items, all.n_items, sizeof *all.items, compare_results);
        *ret = all;
        return 0;
}
