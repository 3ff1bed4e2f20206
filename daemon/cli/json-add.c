/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "json-add.h"
#include "text.h"

int json_add(struct json_object *o, const char *key, struct json_object *child) {
        if (!child)
                return -ENOMEM;

        if (json_object_object_add(o, key, child) < 0) {
                (void) json_object_put(child);
                return -ENOMEM;
        }

        return 0;
}

int json_append(struct json_object *array, struct json_object *child) {
        if (!child)
                return -ENOMEM;

        if (json_object_array_add(array, child) < 0) {
                (void) json_object_put(child);
                return -ENOMEM;
        }

        return 0;
}

int json_add_text(struct json_object *o, const char *key, const char *text) {
        _cleanup_free_ char *escaped = NULL;

        /* json-c's null is NULL, which json_add() takes for a failure. */
        if (!text)
                return json_object_object_add(o, key, NULL) < 0 ? -ENOMEM : 0;

        escaped = text_escape(text, NULL);
        if (!escaped)
                return -ENOMEM;

        return json_add(o, key, json_object_new_string(escaped));
}

int json_object_of_texts(const JsonText *texts, size_t n, struct json_object **ret) {
        _cleanup_(json_putp) struct json_object *o = NULL;

        o = json_object_new_object();
        if (!o)
                return -ENOMEM;

        for (size_t i = 0; i < n; i++) {
                int r;

                r = json_add_text(o, texts[i].key, texts[i].text);
                if (r < 0)
                        return r;
        }

        *ret = TAKE_PTR(o);
        return 0;
}

int json_add_number(struct json_object *o, const char *key, uint64_t n) {
        return json_add(o, key, json_object_new_uint64(n));
}

int json_print(struct json_object *o) {
        const char *text;

        text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                                                 JSON_C_TO_STRING_NOSLASHESCAPE);
        if (!text)
                return -ENOMEM;

        (void) puts(text);
        return 0;
}
