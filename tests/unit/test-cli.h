/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Helpers for the tests of the drivekeep command: a scratch directory (scratch.h), records, and captured output. */

#include <check.h>
#include <json.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "drive-record.h"
#include "scratch.h"
#include "suite.h"
#include "verb.h"

static inline void json_putp(struct json_object **o) {
        (void) json_object_put(*o);
}

/* If the text is a JSON document, checks its head, and replaces the text by the list `key` of the document. */
static inline _unused_ void json_take_list(char **text, const char *key) {
        _cleanup_(json_putp) struct json_object *document = **text == '{' ? json_tokener_parse(*text) : NULL;
        struct json_object *list = json_object_object_get(document, key);
        char host[HOST_NAME_MAX + 1];

        if (!document)
                return;

        ck_assert_int_eq(gethostname(host, sizeof host), 0);
        ck_assert_int_eq(json_object_get_int(json_object_object_get(document, "version")), 2);
        ck_assert_str_eq(json_object_get_string(json_object_object_get(document, "host")), host);
        ck_assert_uint_eq(strlen(json_object_get_string(json_object_object_get(document, "boot_id"))), 32);
        ck_assert_int_eq(json_object_object_length(document), 4);
        ck_assert_msg(json_object_is_type(list, json_type_array), "%s", *text);
        free(*text);
        ck_assert_int_gt(asprintf(text, "%s\n",
                                  json_object_to_json_string_ext(list, JSON_C_TO_STRING_PRETTY |
                                                                                       JSON_C_TO_STRING_SPACED |
                                                                                       JSON_C_TO_STRING_NOSLASHESCAPE)),
                         0);
}

static inline int test_main(const char *name, TCase *cases) {
        Suite *s = suite_create(name);

        suite_add_tcase(s, cases);

        return suite_run(s);
}

static inline _unused_ void file_write(const char *path, const char *text) {
        FILE *f = fopen(path, "we");

        ck_assert_ptr_nonnull(f);
        ck_assert_int_ge(fputs(text, f), 0);
        ck_assert_int_eq(fclose(f), 0);
}

/* Makes a file and its parent directories. If `text` is NULL, makes a directory. */
static inline _unused_ void file_make(const char *path, const char *text) {
        make_parents(path);
        if (text)
                file_write(path, text);
        else
                ck_assert(mkdir(path, 0755) == 0 || errno == EEXIST);
}

/* Reads the beginning of a file. If the file is missing, the text is empty. */
static inline _unused_ void file_read(const char *path, char *text, size_t size) {
        FILE *f = fopen(path, "re");

        text[f ? fread(text, 1, size - 1, f) : 0] = '\0';
        if (f)
                (void) fclose(f);
}

static inline _unused_ DriveRecord *record_of(const char *text) {
        DriveRecord *r = NULL;

        ck_assert_int_eq(drive_record_parse(text, strlen(text), &r), 0);
        return r;
}

/* Redirects descriptor 1 or 2 to a file; catch_end() returns what was written. */
static inline _unused_ FILE *catch_begin(FILE *stream) {
        FILE *f = tmpfile();

        ck_assert_ptr_nonnull(f);
        fflush(stream);
        ck_assert_int_ge(dup2(fileno(f), fileno(stream)), 0);
        return f;
}

static inline _unused_ char *catch_end(FILE *stream, FILE *f) {
        char *text;
        long size;

        fflush(stream);
        ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
        size = ftell(f);
        rewind(f);

        text = calloc(1, (size_t) size + 1);
        ck_assert_ptr_nonnull(text);
        ck_assert_uint_eq(fread(text, 1, (size_t) size, f), (size_t) size);
        (void) fclose(f);
        return text;
}

/* Runs the verb with the arguments in `words`, which end with NULL. The caller frees the output and the messages. */
static inline _unused_ int verb_catch(const Verb *verb, const char *state_dir, const char *const *words, char **ret_out,
                                      char **ret_err) {
        char *argv[12] = { (char *) verb->name, (char *) "--state-dir", (char *) state_dir };
        FILE *out = catch_begin(stdout), *err = catch_begin(stderr);
        int argc = 3, r;

        for (; words && *words; words++)
                argv[argc++] = (char *) *words;
        r = verb_run(verb, argc, argv);
        *ret_out = catch_end(stdout, out);
        *ret_err = catch_end(stderr, err);
        return r;
}
