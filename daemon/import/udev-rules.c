/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads udev rules that run a command for a drive, or that write attributes of a drive (udev(7)). The conditions of the udev rule become
 * the match of the drivekeep rule. */

#include <fnmatch.h>

#include "command.h"

/* Limit on the number of earlier rules whose matches are compared with the match of a RUN=. The RUN= is assumed to cancel every rule before
 * these earlier rules. */
#define RUNS_MAX 100
#define SCSI_DISK "scsi_disk" /* the subsystem of the files that sd.c has for a disk */
#define JUMPS_MAX 64          /* limit on jumps, since the search for each label reads the rest of the file */

/* One KEY{ATTRIBUTE}OP"VALUE" of a rule; the strings are parts of the line. An item without a key ends the array. */
typedef struct Item {
        const char *key, *attribute, *value;
        char op[3];
        bool any_case; /* true for i"VALUE", which ignores case */
} Item;

/* Cuts the next item out of the line. Returns false if the rest of the line is a comment or not an item. */
static bool read_item(char **p, Item *ret) {
        char *key = *p + strspn(*p, " \t,\r"), *key_end = key + strcspn(key, "{=!+-:\" \t");
        char *attribute = key_end + (*key_end == '{'), *attribute_end = attribute, *op, *s, *to;
        size_t n;

        *p = key;
        if (*key_end == '{')
                attribute_end += strcspn(attribute, "}");
        op = attribute_end + strspn(attribute_end, "} \t");
        n = strspn(op, "=!+-:");
        s = op + n + strspn(op + n, " \tei");
        if (n == 0 || *s != '"' || *key == '#')
                return false;

        *ret = (Item){ .key = key,
                       .attribute = attribute,
                       .value = s,
                       .any_case = memchr(op + n, 'i', (size_t) (s - op) - n) };
        memcpy(ret->op, op, MIN(n, 2U));
        *key_end = *attribute_end = '\0';
        for (to = s++; *s && *s != '"'; s++) {
                s += s[0] == '\\' && s[1] == '"';
                *to++ = *s;
        }
        *p = s + (*s == '"');
        *to = '\0';
        return true;
}

static bool is_condition(const Item *i) {
        return streq(i->op, "==") || streq(i->op, "!=") || STR_IN_SET(i->key, "PROGRAM", "IMPORT", "TEST");
}

bool import_condition_fits(const char *value, const char *word) {
        _cleanup_free_ char *pattern = must_format("@(%s)", value);

        return fnmatch(pattern, word, FNM_EXTMATCH) == 0;
}

static bool value_fits(const Item *i, const char *word) {
        return import_condition_fits(i->value, word);
}

/* Returns true if every drive meets the condition when drivekeep visits the drive. `op`: the operator that is used in place of i->op. */
static bool is_met(const Item *i, const char *op) {
        bool same = streq(op, "==");

        if (streq(i->key, "ACTION"))
                return (value_fits(i, "add") || value_fits(i, "change")) == same;
        if (streq(i->key, "SUBSYSTEM"))
                return value_fits(i, "block") == same;
        if (streq(i->key, "ENV") && streq(i->attribute, "DEVTYPE"))
                return value_fits(i, "disk") == same;
        return false;
}

/* Returns the drivekeep match key for a condition; NULL: none. */
static const char *find_match(const Item *i) {
        const char *name = base_name(i->attribute);

        if (streq(i->key, "KERNEL"))
                return "node";
        /* Drives below a USB bus are USB drives. Other buses do not determine the transport. */
        if (streq(i->key, "SUBSYSTEMS") && streq(i->value, "usb"))
                return "transport";
        if (streq(i->key, "ENV") && match_key_from_string(name) == MATCH_PROPERTY && !streq(name, "DEVTYPE"))
                return name;
        if (!STR_IN_SET(i->key, "ATTR", "ATTRS"))
                return NULL;
        if (STR_IN_SET(name, "rotational", "removable", "model", "vendor"))
                return name;
        return streq(name, "idVendor") ? "ID_VENDOR_ID" : streq(name, "idProduct") ? "ID_MODEL_ID" : NULL;
}

/* Adds a condition to the match. Returns false if a match cannot express the condition. */
static bool add_condition(const Item *i, Match *m) {
        _cleanup_free_ char *values = must(strdup(i->value));
        const char *name = find_match(i);
        MatchKey key = match_key_from_string(name ?: "");
        size_t before = m->n_criteria;

        if (!streq(i->op, "==") || !name || i->any_case || strpbrk(i->value, "$%"))
                return false;
        for (char *rest = values, *value; (value = strsep(&rest, "|"));) {
                _cleanup_free_ char *pattern = must_format("%s%s", key == MATCH_NODE ? "/dev/" : "", value);

                if (!import_match_add(m, key, key == MATCH_PROPERTY ? name : NULL, pattern))
                        return false;
        }
        /* A udev rule applies only if all its conditions are met, but several patterns of one match key are alternatives. A second
         * condition for the same match key is therefore rejected. */
        return m->n_criteria > before;
}

/* Replaces by RULE_DRIVE the udev substitutions and variables that name the drive. */
static char *substitute_drive(const char *command) {
        static const char *const words[][2] = {
                { "$$DEVPATH", "/block/" RULE_DRIVE },
                { "$DEVPATH", "/block/" RULE_DRIVE },
                { "$devpath", "/block/" RULE_DRIVE },
                { "%p", "/block/" RULE_DRIVE },
                { "$$DEVNAME", "/dev/" RULE_DRIVE },
                { "$DEVNAME", "/dev/" RULE_DRIVE },
                { "$env{DEVNAME}", "/dev/" RULE_DRIVE },
                { "$devnode", "/dev/" RULE_DRIVE },
                { "%N", "/dev/" RULE_DRIVE },
                { "$kernel", RULE_DRIVE },
                { "$name", RULE_DRIVE },
                { "%k", RULE_DRIVE },
                { "%S", "/sys" },
                { "$$", "$" },
        };
        char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        while (*command) {
                size_t i = 0;

                while (i < ELEMENTSOF(words) && !starts_with(command, words[i][0]))
                        i++;
                if (i < ELEMENTSOF(words)) {
                        fputs(words[i][1], f);
                        command += strlen(words[i][0]);
                } else
                        fputc(*command++, f);
        }
        must_close(f);
        return text;
}

/* Returns true if the rule is for the SCSI disks of certain drives (class scsi_disk), and only writes attributes. Its conditions must hold
 * for a drive as well as for its SCSI disk: both have the same parents, which ATTRS and SUBSYSTEMS test. */
static bool is_for_scsi_disk(const Item *items) {
        bool found = false;

        for (const Item *i = items; i->key; i++) {
                if (streq(i->key, "SUBSYSTEM") && streq(i->op, "==") && streq(i->value, SCSI_DISK))
                        found = true;
                else if (streq(i->key, "RUN") ||
                         (is_condition(i) && !STR_IN_SET(i->key, "ACTION", "ATTRS", "SUBSYSTEMS")))
                        return false;
        }
        return found;
}

/* Reads RUN+="..." or ATTR{...}="...". The rule may be for a drive, or for a parent device in another subsystem. */
static void read_action(const Place *p, unsigned line, const Item *i, const char *subsystem) {
        _cleanup_free_ char *command = NULL, *path = NULL;
        const char *below = streq(subsystem, "scsi")                  ? "device/"
                            : streq(subsystem, SCSI_DISK) && p->match ? "device/scsi_disk/*/"
                                                                      : "";
        bool block = *below || streq(subsystem, "block");

        if (streq(i->key, "RUN") && !streq(i->attribute, "builtin")) {
                size_t before = p->import->n_rules;

                command = substitute_drive(i->value);
                commands_read(p, command, line);
                for (ImportRule *r = p->import->rules + before; r < p->import->rules + p->import->n_rules; r++)
                        r->runs = p->match && import_same_match(&r->match, p->match);
        } else if (streq(i->key, "ATTR")) {
                path = must_format("/sys/%s%s/" RULE_DRIVE "/%s%s", block ? "" : "class/", block ? "block" : subsystem,
                                   below, i->attribute);
                command_write(p, line, path, i->value);
        } else if (p->match && streq(i->key, "ENV") && streq(i->attribute, "SYSTEMD_WANTS"))
                import_not_understood(p->import, line, "the rule starts a systemd unit, whose commands are not known",
                                      i->value);
}

/* ---- conditions and jumps, for udev_applies(), which knows the drives ---- */

/* Returns true if a drive may meet the condition at an event "add" or "change". */
static bool may_be_met(const Item *i) {
        bool add = value_fits(i, "add"), change = value_fits(i, "change");

        if (streq(i->key, "ACTION"))
                return streq(i->op, "==") ? add || change : !add || !change;
        return !is_met(i, streq(i->op, "==") ? "!=" : "==");
}

static bool must_be_met(const Item *i) {
        bool add = value_fits(i, "add"), change = value_fits(i, "change");

        if (streq(i->key, "ACTION"))
                return streq(i->op, "==") ? add && change : !add && !change;
        return is_met(i, i->op);
}

static void copy_condition(ImportConditions *to, const char *key, const Item *i) {
        must_grow(to, items);
        to->items[to->n_items++] = (ImportCondition){
                .key = must(strdup(key)),
                .attribute = must(strdup(i->attribute)),
                .value = must(strdup(i->value)),
                .negated = streq(i->op, "!="),
        };
}

/* Copies the rule's conditions to `to`. `parent`: the rule is for a parent of the drive, such as a SCSI host. */
static void add_conditions(ImportConditions *to, const Item *items, bool parent) {
        for (const Item *i = items; i->key; i++) {
                bool named = parent && STR_IN_SET(i->key, "ATTR", "KERNEL", "DRIVER");
                _cleanup_free_ char *key = must_format("%s%s", i->key, named ? "S" : "");

                if (is_condition(i) && !must_be_met(i) && (!parent || !STR_IN_SET(i->key, "SUBSYSTEM", "ENV", "TEST")))
                        copy_condition(to, key, i);
        }
}

/* Returns true if a drive may match both `a` and `b`. */
static bool may_share(const Match *a, const Match *b) {
        for (const Criterion *x = a->criteria; x < a->criteria + a->n_criteria; x++)
                for (const Criterion *y = b->criteria; y < b->criteria + b->n_criteria; y++) {
                        bool shared = x->key != y->key || !streq_ptr(x->property, y->property);

                        for (size_t i = 0; i < x->n_patterns * y->n_patterns && !shared; i++) {
                                const char *other = y->patterns[i % y->n_patterns];

                                shared = strpbrk(other, "*?[") ||
                                         fnmatch(x->patterns[i / y->n_patterns], other, 0) == 0;
                        }
                        if (!shared)
                                return false;
                }
        return true;
}

/* Comments out the earlier commands that a RUN= may cancel: RUN= empties the list of programs that udev runs for a drive (udev(7)). `own`:
 * index of the first rule that comes from the line of the RUN=. */
static void clear_runs(Import *import, size_t own, const Match *match, unsigned line) {
        for (ImportRule *r = import->rules; r < import->rules + import->n_rules; r++)
                if (r->runs && !r->never &&
                    (r + RUNS_MAX < import->rules + import->n_rules ? !r->comment_reason
                                                                    : may_share(match, &r->match))) {
                        r->never = r >= import->rules + own;
                        import_comment_out(r, "RUN= in line %u may cancel this command", line);
                }
}

static void add_jump(Import *import, const Item *items, ImportJump jump) {
        if (import->n_jumps >= (jump.runs ? JUMPS_MAX / 2 : JUMPS_MAX))
                return;
        must_grow(import, jumps);
        add_conditions(&jump.conditions, items, false);
        import->jumps[import->n_jumps++] = jump;
}

/* Returns the line of a label further down; 0: there is no such label, and udev ignores the GOTO. */
static unsigned find_label(Lines l, const char *label) {
        _cleanup_free_ char *line = NULL;
        Item i;

        while (joined_lines_next(&l, LINES_SYSTEMD, &line))
                for (char *p = line; read_item(&p, &i);)
                        if (streq(i.key, "LABEL") && streq(i.value, label))
                                return l.line;
        return 0;
}

/* Returns the line of a GOTO that may skip this line; 0: there is no such GOTO. A GOTO whose label is not in the text may skip any later
 * line. A full list (JUMPS_MAX) may lack jumps: each GOTO in the list is then assumed to skip any later line. */
static unsigned find_jump(const Import *import, unsigned line) {
        for (const ImportJump *j = import->jumps; j < import->jumps + import->n_jumps; j++)
                if (!j->runs && (j->until == 0 || j->until > line || import->n_jumps == JUMPS_MAX))
                        return j->line;

        return 0;
}

/* ---- the rules ---- */

/* Reads one udev rule. `rest`: the lines after the rule. */
static void read_rule(char *text, const Lines *rest, Import *import) {
        _cleanup_(match_done) Match match = {};
        _cleanup_free_ char *reason = NULL;
        Place place = { .import = import, .match = &match };
        const char *subsystem = "block", *label = NULL;
        unsigned line = rest->line, by = find_jump(import, line);
        size_t first = import->n_rules;
        bool never = false, unmet = false, disk;
        Item items[64] = {};

        for (size_t i = 0; i + 1 < ELEMENTSOF(items) && read_item(&text, &items[i]); i++)
                ;
        if (by > 0)
                import_set_reason(&reason, "the GOTO in line %u may skip this rule", by);
        else if (*text)
                import_set_reason(&reason, "the rule is not understood from \"%.20s\" on", text);

        disk = is_for_scsi_disk(items);
        if (disk)
                subsystem = SCSI_DISK;
        for (const Item *i = items; i->key; i++) {
                if (disk && streq(i->key, "SUBSYSTEM"))
                        continue;
                label = streq(i->key, "GOTO") ? i->value : label;
                /* `unmet`: no drive meets the conditions at the events "add" and "change". `never`: no drive meets them when drivekeep
                 * visits the drive. */
                unmet = unmet || (is_condition(i) && !may_be_met(i));
                never = never || (is_condition(i) && is_met(i, streq(i->op, "==") ? "!=" : "=="));
                if (streq(i->key, "SUBSYSTEM") && !is_met(i, i->op)) {
                        place.match = NULL;
                        subsystem = i->value;
                }
                if (is_condition(i) && !is_met(i, i->op) && !add_condition(i, &match))
                        import_set_reason(&reason, "drivekeep has no match for %.30s%s%.40s%s%s%s\"%.60s\"%s", i->key,
                                          *i->attribute ? "{" : "", i->attribute, *i->attribute ? "}" : "", i->op,
                                          i->any_case ? "i" : "", i->value,
                                          value_fits(i, "power_supply") ? ": see on_battery" : "");
                else if (streq(i->key, "RUN") && !strstr(i->value, "sh ") && strpbrk(i->value, "|&<>*?"))
                        import_set_reason(&reason, "udev does not interpret the shell operators in this line");
        }
        if (match.n_criteria == 0)
                import_set_reason(&reason, "the rule applies to every new drive: name the drives in match");

        for (const Item *i = items; i->key; i++) {
                if (streq(i->key, "RUN") && STR_IN_SET(i->op, "=", ":=") && place.match && !unmet) {
                        clear_runs(import, first, &match, line);
                        add_jump(import, items, (ImportJump){ .until = line, .runs = true });
                }
                if (!is_condition(i) && (!never || !streq(i->key, "ENV")))
                        read_action(&place, line, i, subsystem);
        }
        for (ImportRule *r = import->rules + first; r < import->rules + import->n_rules; r++) {
                bool parent = disk || (!place.match && STR_IN_SET(subsystem, "scsi", "scsi_host", "nvme"));

                /* The rule's conditions do not limit a command that names another drive. */
                r->jumps = place.match && import_same_match(&r->match, &match);
                r->never = r->never || (r->jumps && unmet);
                if (r->jumps || parent)
                        add_conditions(&r->conditions, items, parent);
                if (reason)
                        import_comment_out_drives(r, "%s", reason);
        }

        if (label && !never && import->n_jumps < JUMPS_MAX)
                add_jump(import, items, (ImportJump){ .line = line, .until = find_label(*rest, label) });
}

/* For `drivekeep import`, rules that a GOTO may skip are commented out. `drivekeep check` knows the drives, and finds out which drives meet
 * the conditions of a GOTO, and which rules the GOTO skips. */
void udev_rules_read(const char *text, Import *ret) {
        _cleanup_free_ char *line = NULL;
        Lines l = { .next = text };

        while (joined_lines_next(&l, LINES_SYSTEMD, &line))
                read_rule(line, &l, ret);
}
