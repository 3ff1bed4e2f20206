/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "commands.h"
#include "hdparm-args.h"
#include "hdparm-keyword.h"

/* Its flags, or NULL. */
static const char *args_value(const char *s) {
        const char *equals = strchr(s, '=');
        size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz_0123456789");

        return equals == s + n && n > strlen("_args") && n < 32 && strncmp(equals - 5, "_args", 5) == 0 ? equals + 1
                                                                                                        : NULL;
}

bool hdparm_args_fits(const char *s) {
        return args_value(s);
}

static bool names(const char *s, size_t n, const char *word) {
        return strlen(word) == n && memcmp(s, word, n) == 0;
}

int hdparm_args_read(char *s, unsigned line, Import *ret) {
        char *value = strchr(s, '=') + 1;
        size_t n = (size_t) (value - s) - strlen("_args="), length = strlen(value);
        _cleanup_free_ char *command = NULL;
        const char *node = HDPARM_NODES;
        char device[64];
        int k;

        while (length > 0 && strchr("\"' \t\r", value[length - 1]))
                value[--length] = '\0';
        value += strspn(value, "\"' ");

        if (names(s, n, "pata_all"))
                node = "/dev/hd[a-z]";
        else if (names(s, n, "sata_all"))
                node = "/dev/sd[a-z]";
        else if (!names(s, n, "all")) {
                (void) snprintf(device, sizeof device, "/dev/%.*s", (int) n, s);
                node = device;
        }

        if (asprintf(&command, "hdparm %s %s", value, node) < 0) {
                command = NULL;
                return -ENOMEM;
        }
        k = commands_read(command, strlen(command), line, ret);
        return k < 0 ? k
                     : remark(&ret->remarks, "line %u: this is the form of /etc/conf.d/hdparm, which Debian never read",
                              line);
}
