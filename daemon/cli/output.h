/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Prints a table for people (libsmartcols) or JSON for programs (json-c) from the same calls. A value's key is its JSON key, and selects
 * its column in the table. man/drivekeep.schema.json describes the JSON, which is stable except for additional keys. */

#include "complaint.h"
#include "must.h"
#include "text.h"
#include "value.h"

/* Like must_format(), with the result escaped: control characters become \xNN, since texts of the user or a drive must not control the
 * terminal. */
#define format_escaped(...)                                           \
        ({                                                            \
                _cleanup_free_ char *_raw = must_format(__VA_ARGS__); \
                (char *) must(text_escape(_raw, NULL));               \
        })

/* Like warnx(3), with the message escaped. */
#define warn_escaped(...)                                                  \
        ({                                                                 \
                _cleanup_free_ char *_shown = format_escaped(__VA_ARGS__); \
                warnx("%s", _shown);                                       \
        })

/* Prints a complaint on stderr, escaped, as "file:line: error: …", which editors can parse. */
void warn_complaint(const Complaint *c);

#define COLUMN_HIDE_RANK_MAX 4U

typedef struct Column {
        const char *key; /* key of the column's values */
        const char *title;
        bool right;         /* right-aligned, for numbers */
        bool wrap;          /* long cells of this column are wrapped before the cells of other columns */
        unsigned hide_rank; /* columns with rank 1 are hidden first on a narrow terminal; 0: never hidden */
        bool path; /* a path, shown without directories: the file name is unique, since a configuration file masks files of the same name */
        bool verdict; /* coloured by verdict; the colour adds no information */
} Column;

typedef struct Output Output;

/* Borrows `columns`. Without columns there is no table. */
Output *output_new(bool json, const Column *columns, size_t n_columns);
Output *output_free(Output *o);
DEFINE_CLEANUP(Output *, output_free);

/* Hides table headings and notes of all outputs from now on. */
void output_hide_legend(void);

/* The functions below never fail: if memory runs out, the process exits (must.h).
 *
 * Starts the JSON document: an object with the schema version, the host and the boot ID in the format of journald's _HOSTNAME and _BOOT_ID.
 * `list`: key of an array that receives all values added later; NULL: no array. The document and the array need no output_end(). */
void output_document(Output *o, const char *list);

/* Values are added to the innermost open object or array. `key` is NULL in an array. Rows cannot be nested. */
void output_object(Output *o, const char *key);
void output_array(Output *o, const char *key);
void output_row(Output *o); /* an object in an array, and a row of the table */
void output_end(Output *o); /* ends the object, array or row that was opened last */

/* Adds a text; NULL if unknown. Texts are escaped: JSON must be UTF-8, and a drive's text must not control the terminal. */
void output_text(Output *o, const char *key, const char *text);
#define output_textf(o, key, ...)                                           \
        ({                                                                  \
                _cleanup_free_ char *_formatted = must_format(__VA_ARGS__); \
                output_text(o, key, _formatted);                            \
        })

/* Adds a time (CLOCK_REALTIME in µs; 0: unknown), by RFC 3339 in JSON and as by time_format_short() in the table. */
void output_time(Output *o, const char *key, uint64_t when);

void output_boolean(Output *o, const char *key, int b); /* "yes" or "no" in a table; negative: unknown */

/* Adds a number to JSON only; if `known` is false, adds JSON null. In the table, output_cell() shows the value in a readable unit. */
void output_number(Output *o, const char *key, bool known, int64_t n);

/* Like output_number(), for a finite number, which is rounded to one decimal. */
void output_decimal(Output *o, const char *key, bool known, double n);

/* Adds a text to the table only. */
void output_cell(Output *o, const char *key, const char *text);

/* If `key` is not NULL, adds a text to JSON. If no row is open, also prints the text on a line of its own. */
void output_fact(Output *o, const char *title, const char *key, const char *text);

/* Print texts that JSON omits. output_line() prints at once, output_note() below the table, and output_head() above the table. All texts
 * are escaped. */
#define output_line(o, ...) output_take_line(o, false, format_escaped(__VA_ARGS__))
#define output_note(o, ...) output_take_line(o, true, format_escaped(__VA_ARGS__))
#define output_head(o, ...) output_take_head(o, format_escaped(__VA_ARGS__))
void output_take_line(Output *o, bool below, char *text);
void output_take_head(Output *o, char *text);

/* Formats the table for `width` columns; 0: unlimited. If the table is too wide, hides columns by hide_rank, then wraps cells. The text
 * has no newline at its end, and is valid until the next call. There must be at least one row. */
const char *output_format_table(Output *o, size_t width, bool colored);

/* Returns the width of the terminal in columns, or 0 if standard output is not a terminal. */
size_t output_width(const Output *o);

/* Prints all output to stdout, with colour if the terminal supports colours and the user allows them. Call this function once. */
void output_print(Output *o);

/* Prints a JSON document whose array `list` is empty. Does nothing if output_print() has printed a JSON document. */
void output_print_empty(const char *list);

/* For continuous output: prints the JSON document on one line, if JSON is requested, and flushes stdout. Returns a negative errno on
 * failure. */
int output_print_line(Output *o);

/* ---- readable numbers and times ---- */

#define HUMAN_MAX 32U

/* Formats a size in powers of 1000: "2.0 TB". Returns NULL if `bytes` is 0, which means that the size is unknown. */
const char *capacity_format(uint64_t bytes, char buf[static HUMAN_MAX]);

/* Formats local time as briefly as ps(1): "02:39" on the day of `now`, "Nov 20" in the same year, "2024" in earlier years. Times are
 * CLOCK_REALTIME in µs. Returns NULL for 0, which means never. */
const char *time_format_short(uint64_t when, uint64_t now, char buf[static HUMAN_MAX]);

/* Formats a duration in µs, rounded down: "3 h 12 min", "4 min 10 s". */
const char *duration_format_short(uint64_t usec, char buf[static VALUE_TEXT_MAX]);

/* Formats a time by RFC 3339, in UTC and in whole seconds: "2025-11-21T02:39:11Z". Returns NULL if `when` is 0. */
const char *time_format_rfc3339(uint64_t when, char buf[static HUMAN_MAX]);
