/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <stdio.h>

#include "commands.h"
#include "hdparm-conf.h"
#include "hdparm-keyword.h"
#include "reader.h"
#include "udev-rules.h"
#include "udisks.h"
#include "unit-file.h"
#include "utf8.h"
#include "words.h"

/* clang-format off */
static const char *const kind_table[_IMPORT_KIND_MAX] = {
        [IMPORT_HDPARM_CONF] = "hdparm.conf",
        [IMPORT_UDISKS]      = "udisks2",
        [IMPORT_SCRIPT]      = "script",
        [IMPORT_CRONTAB]     = "crontab",
        [IMPORT_UNIT]        = "unit",
        [IMPORT_UDEV_RULES]  = "udev-rules",
};
/* clang-format on */

const char *import_kind_to_string(ImportKind k) {
        return k >= 0 && k < _IMPORT_KIND_MAX ? kind_table[k] : NULL;
}

ImportKind import_kind_from_string(const char *s) {
        for (ImportKind k = 0; k < _IMPORT_KIND_MAX; k++)
                if (streq(kind_table[k], s))
                        return k;

        return _IMPORT_KIND_INVALID;
}

static ImportKind detect_by_name(const char *file) {
        if (ends_with(file, "hdparm.conf"))
                return IMPORT_HDPARM_CONF;
        if (ends_with(file, ".rules"))
                return IMPORT_UDEV_RULES;
        if (ends_with(file, ".service") || ends_with(file, ".timer"))
                return IMPORT_UNIT;
        if (ends_with(file, ".sh") || ends_with(file, "rc.local"))
                return IMPORT_SCRIPT;
        if (ends_with(file, "crontab") || strstr(file, "/cron.d/") || strstr(file, "/crontabs/"))
                return IMPORT_CRONTAB;

        return _IMPORT_KIND_INVALID;
}

/* Five fields of times, or @reboot and its like. */
static bool is_cron_line(const char *s) {
        size_t n = 0;

        if (*s == '@')
                return true;
        for (; n < 5; n++) {
                size_t length = strspn(s, "0123456789*,-/");

                if (length == 0 || !isblank((unsigned char) s[length]))
                        break;
                s += length;
                s += strspn(s, " \t");
        }
        return n == 5;
}

static bool is_hdparm_conf(const Words *words) {
        const Keyword *k = keyword_find(words->items[0]);

        if (strchr("{=", words->items[0][0]))
                return false;

        for (size_t i = 0; i < words->n_items; i++)
                if (streq(words->items[i], "{") && i == 1)
                        return true;
        if (k)
                return k->form == KEYWORD_FLAG ? words->n_items == 1
                                               : words->n_items > 1 && streq(words->items[1], "=");

        return (words->n_items == 1 && (words->items[0][0] == '/' || streq(words->items[0], "}"))) ||
               (words->n_items > 1 && ends_with(words->items[0], "_args") && streq(words->items[1], "="));
}

/* What one line says of its file; _IMPORT_KIND_INVALID: nothing. */
static int detect_line(const char *line, ImportKind *ret) {
        static const char *const sections[] = { "[Unit]", "[Service]", "[Timer]", "[Install]" };
        _cleanup_(words_done) Words words = {};
        int r;

        *ret = _IMPORT_KIND_INVALID;
        if (strncmp(line, "[ATA]", 5) == 0)
                *ret = IMPORT_UDISKS;
        for (size_t i = 0; i < ELEMENTSOF(sections); i++)
                if (strncmp(line, sections[i], strlen(sections[i])) == 0)
                        *ret = IMPORT_UNIT;
        if (strstr(line, "==\"") || strstr(line, "RUN+="))
                *ret = IMPORT_UDEV_RULES;
        if (is_cron_line(line))
                *ret = IMPORT_CRONTAB;
        if (*ret != _IMPORT_KIND_INVALID)
                return 0;

        r = words_split_conf(line, &words);
        if (r < 0)
                return r;
        if (words.n_items > 0 && is_hdparm_conf(&words))
                *ret = IMPORT_HDPARM_CONF;
        return 0;
}

/* A line that tells, before a command in any other. */
static int detect(const char *file, const char *text, ImportKind *ret) {
        static const char *const tools[] = { "hdparm ", "smartctl ", "sdparm ", "nvme ", "blockdev " };
        bool command = false, empty = true;
        int r = 0;

        *ret = detect_by_name(file);
        if (*ret == _IMPORT_KIND_INVALID && strncmp(text, "#!", 2) == 0)
                *ret = IMPORT_SCRIPT;

        while (*text && *ret == _IMPORT_KIND_INVALID) {
                size_t n = strcspn(text, "\n");
                _cleanup_free_ char *line = strndup(text, n);
                const char *s;

                if (!line)
                        return -ENOMEM;
                text += n + (text[n] == '\n');
                s = line + strspn(line, " \t\r\v\f");
                if (*s == '\0' || conf_is_comment(s))
                        continue;
                empty = false;

                r = detect_line(s, ret);
                if (r < 0)
                        return r;
                for (size_t i = 0; i < ELEMENTSOF(tools); i++)
                        command = command || strstr(s, tools[i]);
        }

        if (*ret == _IMPORT_KIND_INVALID)
                *ret = command ? IMPORT_SCRIPT : empty ? IMPORT_HDPARM_CONF : _IMPORT_KIND_INVALID;
        return 0;
}

ImportKind import_kind_detect(const char *file, const char *text, size_t size) {
        ImportKind kind;

        return detect(file, text, &kind) < 0 ? _IMPORT_KIND_INVALID : kind;
}

/* Comments may be in any encoding, as in drivekeep's own files. */
static bool is_utf8_outside_comments(const char *text, size_t size) {
        bool comment = false, begins = true;

        for (size_t i = 0, n; i < size; i += n) {
                n = utf8_length(text + i, size - i);
                if (begins && conf_is_comment(text + i))
                        comment = true;
                if (n == 0 && !comment)
                        return false;
                n = MAX(n, 1U);
                if (text[i] == '\n') {
                        comment = false;
                        begins = true;
                } else if (!isspace((unsigned char) text[i]))
                        begins = false;
        }

        return true;
}

static const char *text_objection(const char *text, size_t size) {
        if (size >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
                return "the file is UTF-16; save it as UTF-8";
        if (memchr(text, '\0', size))
                return "there is a NUL byte in it: this is no text file";
        if (!is_utf8_outside_comments(text, size))
                return "this is not UTF-8 text; save the file in that encoding";

        return NULL;
}

static int read_kind(const char *file, const char *text, size_t size, ImportKind kind, const Links *links,
                     Import *ret) {
        switch (kind) {
        case IMPORT_HDPARM_CONF:
                return hdparm_conf_read(text, size, links, ret);
        case IMPORT_UDISKS:
                return udisks_read(file, text, size, ret);
        case IMPORT_SCRIPT:
                return commands_read(text, size, 1, ret);
        case IMPORT_CRONTAB:
                return crontab_read(text, size, ret);
        case IMPORT_UNIT:
                return unit_file_read(text, size, ret);
        case IMPORT_UDEV_RULES:
                return udev_rules_read(text, size, ret);
        case _IMPORT_KIND_MAX:
        case _IMPORT_KIND_INVALID:
                break;
        }

        return 0;
}

int import_read(const char *file, const char *text, size_t size, ImportKind kind, const Links *links, Import *ret,
                const char **ret_objection) {
        _cleanup_(import_done) Import import = {};
        int r = 0;

        *ret_objection = text_objection(text, size);
        if (*ret_objection)
                return 1;

        if (kind == _IMPORT_KIND_INVALID)
                r = detect(file, text, &kind);
        if (r < 0)
                return r;
        if (kind == _IMPORT_KIND_INVALID) {
                *ret_objection =
                                "nothing in it is an hdparm.conf, a udisks2 drive file or a command that sets something "
                                "of a drive; --format says which of these it is";
                return 1;
        }

        import.file = strdup(file);
        if (!import.file)
                return -ENOMEM;
        r = read_kind(file, text, size, kind, links, &import);
        if (r < 0)
                return r;

        *ret = import;
        import = (Import){};
        return 0;
}
