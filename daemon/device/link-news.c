/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdio.h>

#include "attribute.h"
#include "link-news.h"
#include "stack.h"

/* One attribute of sysfs is at most a page. */
#define NOTES_MAX 4096U

static LinkNews kind_of(const char *line, size_t n) {
        static const struct {
                const char *word;
                LinkNews news;
        } words[] = {
                { "BusError", LINK_LOST },
                { "Timeout", LINK_RESET },
                { "HostStateMachineError", LINK_RESET },
        };

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (memmem(line, n, words[i].word, strlen(words[i].word)))
                        return words[i].news;
        return LINK_SAME;
}

LinkNews link_news_parse(const char *text, uint64_t *since) {
        uint64_t newest = *since;
        LinkNews news = LINK_SAME;

        for (const char *line = text; *line; line += *line == '\n') {
                size_t n = strcspn(line, "\n");
                uint64_t s, ns, when;

                /* Numbers of the kernel's fit. */
                /* NOLINTNEXTLINE(cert-err34-c) */
                if (sscanf(line, "[%" SCNu64 ".%" SCNu64 "]", &s, &ns) == 2) {
                        when = s * 1000000 + ns / 1000;
                        if (when > *since) {
                                news = MAX(news, kind_of(line, n));
                                newest = MAX(newest, when);
                        }
                }
                line += n;
        }

        *since = newest;
        return news;
}

/* The directory of the port that a SCSI host is one of, and the drive's address there. Returns its length; 0: it is not libata's. */
static size_t find_port(const char *syspath, const char **ret_number, unsigned *ret_channel, unsigned *ret_id) {
        const char *host;
        size_t n = stack_scsi_host(syspath, &host), end, port;

        /* As above. */
        /* NOLINTNEXTLINE(cert-err34-c) */
        if (n == 0 || sscanf(host + n, "/target%*u:%u:%u/", ret_channel, ret_id) != 2)
                return 0;

        end = (size_t) (host - syspath) - 1;
        for (port = end; port > 0 && syspath[port - 1] != '/'; port--)
                ;
        if (strncmp(syspath + port, "ata", 3) != 0)
                return 0;
        *ret_number = syspath + port + 3;
        return end;
}

LinkNews link_news(const char *syspath, uint64_t *since) {
        char text[NOTES_MAX + 1];
        unsigned channel, id;
        const char *number;
        size_t n = find_port(syspath, &number, &channel, &id);
        int k = n ? (int) (syspath + n - number) : 0;

        if (n == 0)
                return LINK_SAME;

        /* Behind a port multiplier each drive has a link of its own (ata_tlink_add()). */
        if (attribute_read_all(text, sizeof text, "%.*s/link%.*s.%u/dev%.*s.%u.0/ata_device/dev%.*s.%u.0/ering",
                               (int) n, syspath, k, number, channel, k, number, channel, k, number, channel) < 0 &&
            attribute_read_all(text, sizeof text, "%.*s/link%.*s/dev%.*s.%u/ata_device/dev%.*s.%u/ering", (int) n,
                               syspath, k, number, k, number, id, k, number, id) < 0)
                return LINK_SAME;
        return link_news_parse(text, since);
}

bool link_is_recovering(const char *syspath) {
        const char *host;
        size_t n = stack_scsi_host(syspath, &host);
        char state[32];

        return n > 0 &&
               attribute_read(state, sizeof state, "%.*s/scsi_host/%.*s/state", (int) (host + n - syspath), syspath,
                              (int) n, host) >= 0 &&
               strstr(state, "recovery");
}
