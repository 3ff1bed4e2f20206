/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What one file of another program asks for, on its way to drivekeep configuration: rules in the order in which drivekeep
 * is to read them (later ones win), and notes about what is not taken over. */

#include <stdio.h>

#include "match.h"
#include "must.h"
#include "setting.h"

/* One kind of fault, and the lines that have it. */
typedef struct Note {
        char *sentence;
        GROWING_ARRAY(unsigned, lines);
} Note;

typedef struct ImportWish {
        char *key;            /* drivekeep's */
        char *value;          /* as the file has it: "127", "on", "7s" */
        char *comment_reason; /* why it is written as a comment; NULL: it stands */
        bool on_battery;
        unsigned line;
} ImportWish;

/* KEY{ATTRIBUTE}=="VALUE" of a udev rule. */
typedef struct ImportCondition {
        char *key, *attribute, *value;
        bool negated; /* it is != */
} ImportCondition;

typedef struct ImportConditions {
        GROWING_ARRAY(ImportCondition, items);
} ImportConditions;

/* A GOTO of udev's: where all conditions hold, the rules up to the label are skipped. Or a RUN=, which does so to each RUN before it. */
typedef struct ImportJump {
        ImportConditions conditions;
        unsigned line, until; /* `until`: the label's line; 0: there is none, and udev ignores the GOTO */
        bool runs;            /* RUN=; `line` is 0 */
} ImportJump;

typedef struct ImportRule {
        Match match;
        char *comment_reason; /* why all of it is written as a comment; NULL: it stands */
        bool drives_unknown;  /* held, and which drives it is for the match does not say, or not all of it */
        Match except;         /* of those that the match names; no match of drivekeep's can say so */
        bool spindown_by_service;
        unsigned line;
        GROWING_ARRAY(ImportWish, wishes);
        /* Of udev's rules, where they are about the drives of the match: what the match says and what it cannot say. */
        ImportConditions conditions;
        bool never; /* no drive meets them */
        bool jumps; /* GOTOs count */
        bool runs;  /* it is of a RUN */
} ImportRule;

/* A line of smartd.conf, which asks these drives again and again. */
typedef struct ImportPoll {
        Match match, except;
        unsigned line;
        bool skips_standby; /* those in standby */
} ImportPoll;

typedef struct Import {
        char *file;
        GROWING_ARRAY(Note, notes);
        size_t n_quoted; /* of the notes those that quote what is not understood */
        GROWING_ARRAY(ImportRule, rules);
        GROWING_ARRAY(ImportJump, jumps);
        GROWING_ARRAY(ImportPoll, polls);
} Import;

/* The kinds of files that can be imported. */
typedef enum ImportKind {
        IMPORT_HDPARM_CONF,
        IMPORT_CONF_D, /* Gentoo's /etc/conf.d/hdparm */
        IMPORT_UDISKS, /* udisks2's /etc/udisks2/VENDOR-MODEL-SERIAL.conf */
        IMPORT_TLP,
        IMPORT_LAPTOP_MODE, /* laptop-mode-tools' */
        IMPORT_TUNED,
        IMPORT_SMARTD,
        IMPORT_HD_IDLE,
        IMPORT_SCRIPT, /* rc.local, hooks, one command */
        IMPORT_CRONTAB,
        IMPORT_UNIT, /* systemd's */
        IMPORT_UDEV_RULES,
        IMPORT_TMPFILES,   /* systemd's tmpfiles.d */
        IMPORT_SYSFS_CONF, /* sysfsutils' /etc/sysfs.conf */
        _IMPORT_KIND_MAX,
        _IMPORT_KIND_INVALID = -1,
} ImportKind;

ImportKind import_kind_from_string(const char *s);

/* Reads a text of any bytes, with a NUL behind it, as the kind that the caller says, or else as what its name, its place or its
 * first lines say for certain. 0; or 1 when it is not read, with why in *ret_objection. */
int import_read(const char *file, const char *text, size_t size, ImportKind kind, Import *ret,
                const char **ret_objection);

/* What such a text is that is no configuration of drivekeep, and what to do with it, as a sentence. The caller frees it; NULL: nothing
 * that is known. */
char *import_describe(const char *file, const char *text, size_t size);

/* The same of one line of it, by its number from 1. */
char *import_describe_line(const char *file, const char *text, unsigned line);

/* Writes drivekeep configuration. What the settings table does not take (a value out of range, a dangerous setting) becomes a
 * comment, so that what is written is always without error and safe as it is. What becomes a comment is held back
 * in `imports`, too. 0 or -EIO. */
int emit(FILE *f, Import *imports, size_t n_imports, const SettingTable *table);

/* Of that: a string in its quotes, and "apm = 128;" with what a number means, or why it is held back, as a comment behind it. */
void emit_string(FILE *f, const char *s);
void emit_wish(FILE *f, const SettingTable *table, const ImportWish *w);

void import_done(Import *i);

/* Frees the text. What is returned is fit to be shown, and the caller frees it. */
char *import_escape(char *text);

/* The sentence has no line and no full stop. A second time: the line joins those that are there. */
#define import_note(i, line, ...) import_take_note(i, line, import_escape(must_format(__VA_ARGS__)))
void import_take_note(Import *i, unsigned line, char *sentence);

/* Quotes a part of the file that may ask for something and is not taken over; `why`: "not understood", if NULL. */
void import_not_understood(Import *i, unsigned line, const char *why, const char *text);

ImportRule *import_add_rule(Import *i, unsigned line); /* is good until the next one is added */
void import_drop_rule(Import *i);                      /* the last one */

/* The last word for a key counts. Takes the value. */
#define import_want(rule, line, key, ...) import_add_wish(rule, line, key, must_format(__VA_ARGS__), false)
ImportWish *import_add_wish(ImportRule *r, unsigned line, const char *key, char *value, bool on_battery);
ImportWish *import_find_wish(const ImportRule *r, const char *key, bool on_battery);
void import_drop_wish(ImportRule *r, const char *key, bool on_battery); /* where there is one */

/* Writes a rule or a wish as a comment; the first reason stays. The second: as which drives it is for is not known. */
#define import_comment_out(rule_or_wish, ...) import_set_reason(&(rule_or_wish)->comment_reason, __VA_ARGS__)
#define import_comment_out_drives(rule, ...) ((rule)->drives_unknown = true, import_comment_out(rule, __VA_ARGS__))
#define import_set_reason(reason, ...) import_take_reason(reason, import_escape(must_format(__VA_ARGS__)))
void import_take_reason(char **reason, char *why);

/* match_add(). False: the pattern matches nothing, or has bytes that a configuration can hold only as escapes, which match other names. */
bool import_match_add(Match *m, MatchKey key, const char *property, const char *pattern);

/* The same for a rule: a pattern that it does not take holds the rule back. */
#define import_match(rule, key, ...) import_add_match(rule, key, must_format(__VA_ARGS__))
bool import_add_match(ImportRule *r, MatchKey key, char *pattern);
void import_match_copy(Match *to, const Match *from);
bool import_same_match(const Match *a, const Match *b);
/* Does "a|b*", the value of a udev rule's condition, fit? */
bool import_condition_fits(const char *value, const char *word);
/* The nodes of a match that goes by nothing else; NULL: it is another one. */
const Criterion *import_nodes(const Match *m);

/* One reader for each kind: adds the rules and notes of the text. */
void hdparm_conf_read(const char *text, Import *ret);
void conf_d_read(const char *text, Import *ret);
void udisks_read(const char *text, Import *ret); /* ret->file names the drive */
void tlp_read(const char *text, Import *ret);
void laptop_mode_read(const char *text, Import *ret);
void tuned_read(const char *text, Import *ret);
void smartd_read(const char *text, Import *ret);
void hd_idle_read(const char *text, Import *ret);
void script_file_read(const char *text, Import *ret);
void crontab_read(const char *text, Import *ret);
void unit_read(const char *text, Import *ret);
void udev_rules_read(const char *text, Import *ret);
void tmpfiles_read(const char *text, Import *ret);
void sysfs_conf_read(const char *text, Import *ret);
