/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The few things that all our JSON is made of, by json-c. */

#include <json.h>

#include "macro.h"

static inline void json_putp(struct json_object **o) {
        (void) json_object_put(*o);
}

/* Texts are escaped, since JSON must be UTF-8 whatever a drive says; NULL adds null. */
int json_add_text(struct json_object *o, const char *key, const char *text);
/* An object of such texts, to which more may be added. */
typedef struct JsonText {
        const char *key, *text;
} JsonText;
int json_object_of_texts(const JsonText *texts, size_t n, struct json_object **ret);

int json_add_number(struct json_object *o, const char *key, uint64_t n);

/* Both take the child over, also when they fail. NULL: it could not be made, -ENOMEM. */
int json_add(struct json_object *o, const char *key, struct json_object *child);
int json_append(struct json_object *array, struct json_object *child);

/* To stdout, indented, with a newline. */
int json_print(struct json_object *o);
