/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a command shows, as a table for people (by libsmartcols) or as JSON for programs (by json-c): the same calls make both. A
 * value has the key of its JSON member, and the column of that key shows it in the table. The shapes of the JSON are in
 * man/drivekeep.schema.json and stay as they are; more keys may be added. */

#include "complaint.h"
#include "must.h"
#include "text.h"
#include "value.h"

/* must_format(), escaped: sentences have words of the user's, who may have copied them from anywhere, or of a drive's. What would
 * steer the terminal stands as \xNN. */
#define format_escaped(...)                                           \
        ({                                                            \
                _cleanup_free_ char *_raw = must_format(__VA_ARGS__); \
                (char *) must(text_escape(_raw, NULL));               \
        })

/* warnx(3), escaped. */
#define warn_escaped(...)                                                  \
        ({                                                                 \
                _cleanup_free_ char *_shown = format_escaped(__VA_ARGS__); \
                warnx("%s", _shown);                                       \
        })

/* A complaint, on stderr and escaped: "file:line: error: …", which editors jump by. */
void warn_complaint(const Complaint *c);

#define COLUMN_HIDE_RANK_MAX 4U

typedef struct Column {
        const char *key; /* by which its cells are set */
        const char *title;
        bool right;         /* numbers */
        bool wrap;          /* long cells: broken over lines before others are */
        unsigned hide_rank; /* left out when there is no room, 1 first, up to COLUMN_HIDE_RANK_MAX; 0: never */
        bool path;    /* shown without directories: names of files are unique, since one masks another of its name */
        bool verdict; /* each verdict has its colour, which says nothing that the word does not say */
} Column;

typedef struct Output Output;

/* `columns` is borrowed. Without any there is no table. */
Output *output_new(bool json, const Column *columns, size_t n_columns);
Output *output_free(Output *o);
DEFINE_CLEANUP(Output *, output_free);

/* From here on no Output shows heads, nor notes below tables. */
void output_hide_legend(void);

/* None of the following fails: without memory the command ends (must.h).
 *
 * Begins the JSON document: an object that says its version, the host and the boot, as journald's _HOSTNAME and _BOOT_ID have those.
 * `list` is the key of an array in it, to which is added what follows, or NULL. Neither needs its end. */
void output_document(Output *o, const char *list);

/* A value is added to the innermost object or array that is open; `key` is NULL inside an array. Rows are not nested. */
void output_object(Output *o, const char *key);
void output_array(Output *o, const char *key);
void output_row(Output *o); /* an object in an array; a row of the table, if there is one */
void output_end(Output *o); /* of the object, array or row that was opened last */

/* NULL: not known. Texts are escaped, since JSON must be UTF-8 and a terminal is not to be steered, whatever a drive says. */
void output_text(Output *o, const char *key, const char *text);
#define output_textf(o, key, ...)                                           \
        ({                                                                  \
                _cleanup_free_ char *_formatted = must_format(__VA_ARGS__); \
                output_text(o, key, _formatted);                            \
        })

void output_boolean(Output *o, const char *key, int b); /* a table says "yes" and "no"; negative: not known */

/* In JSON only: what a table has of it is in a unit that suits people. Not known: null. */
void output_number(Output *o, const char *key, bool known, int64_t n);

/* In the table only: a text that JSON lacks or has in another form. */
void output_cell(Output *o, const char *key, const char *text);

/* A text that is a line of its own where no row of the table is open. `key` NULL: not in JSON. */
void output_fact(Output *o, const char *title, const char *key, const char *text);

/* Not in JSON. A line is printed at once, a note is printed below the table, a head above it. Escaped. */
#define output_line(o, ...) output_take_line(o, false, format_escaped(__VA_ARGS__))
#define output_note(o, ...) output_take_line(o, true, format_escaped(__VA_ARGS__))
#define output_head(o, ...) output_take_head(o, format_escaped(__VA_ARGS__))
void output_take_line(Output *o, bool below, char *text);
void output_take_head(Output *o, char *text);

/* The table as text that fits into `width` columns, 0: as wide as it is. On a terminal too narrow for it, columns that can be
 * spared are left out, then cells are broken over lines. Without a newline at its end. Good until the next one is made. There must
 * have been a row. */
const char *output_format_table(Output *o, size_t width, bool colored);

/* Of the terminal, in columns. 0: standard output is none. */
size_t output_width(const Output *o);

/* All of it, once, to stdout, in colour where that is welcome. */
void output_print(Output *o);

/* For what is told as it comes: the JSON document, if there is to be one, on one line, and all that was printed so far goes out.
 * Returns a negative errno where it cannot. */
int output_print_line(Output *o);

/* ---- numbers as people say them, and times as people and programs do ---- */

#define HUMAN_MAX 32U

/* In the drive makers' units, powers of 1000: "2.0 TB". NULL for 0: not known. */
const char *capacity_format(uint64_t bytes, char buf[static HUMAN_MAX]);

/* Local time, as short as ps(1) has it: "02:39" on the day of `now`, "Nov 20" in its year, "2024" before. Both are
 * CLOCK_REALTIME in µs. NULL for 0: never. */
const char *time_format_short(uint64_t when, uint64_t now, char buf[static HUMAN_MAX]);

/* How long, rounded down to what people care for: "3 h 12 min", "4 min 10 s". In µs. */
const char *duration_format_short(uint64_t usec, char buf[static VALUE_TEXT_MAX]);

/* RFC 3339, UTC, whole seconds: "2025-11-21T02:39:11Z". NULL for 0. */
const char *time_format_rfc3339(uint64_t when, char buf[static HUMAN_MAX]);
