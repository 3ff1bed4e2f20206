/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The floor program of the benchmark does only the work that every contender must do. One process opens each drive in
 * turn, reads its settings, writes the settings that do not have the wanted values, and reads them back. The program
 * knows one fixed set of values. It does not wait for file system checks, and delays no other program. It is linked
 * statically. */

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <scsi/sg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define APM 127
#define TIMER 120 /* ten minutes */
#define READ_AHEAD_KB "512"

/* Sends an ATA command by ATA PASS-THROUGH (16). If `data` is not NULL, reads one sector of data from the drive. */
static bool ata(int fd, uint8_t command, uint8_t feature, uint8_t count, uint8_t *data) {
        uint8_t cdb[16] = { [0] = 0x85, [1] = data ? 4 << 1 : 3 << 1, [2] = data ? 0x0e : 0x20 };
        uint8_t sense[32] = {};
        sg_io_hdr_t io = {
                .interface_id = 'S',
                .dxfer_direction = data ? SG_DXFER_FROM_DEV : SG_DXFER_NONE,
                .cmd_len = sizeof cdb,
                .cmdp = cdb,
                .dxferp = data,
                .dxfer_len = data ? 512 : 0,
                .sbp = sense,
                .mx_sb_len = sizeof sense,
                .timeout = 15000,
        };

        cdb[4] = feature;
        cdb[6] = data ? 1 : count;
        cdb[14] = command;
        if (ioctl(fd, SG_IO, &io) < 0)
                return false;

        /* CK_COND requests sense data with a descriptor of the ATA registers; byte 13 of the descriptor is the status. */
        return io.host_status == 0 && (data || (sense[0] == 0x72 && (sense[8 + 13] & 0x21) == 0));
}

/* The three settings in the data of IDENTIFY DEVICE. */
typedef struct State {
        bool apm, cache, lookahead; /* true: the setting has the wanted value */
} State;

static bool identify(int fd, State *ret) {
        uint16_t words[256];

        if (!ata(fd, 0xec, 0, 0, (uint8_t *) words))
                return false;

        *ret = (State){
                .apm = (words[86] & 1 << 3) && (words[91] & 0xff) == APM,
                .cache = !(words[85] & 1 << 5),
                .lookahead = words[85] & 1 << 6,
        };
        return true;
}

static bool keep(const char *node) {
        State s = {};
        bool good;
        int fd;

        fd = open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
                return false;

        good = identify(fd, &s) && (s.lookahead || ata(fd, 0xef, 0xaa, 0, NULL)) &&
               (s.cache || ata(fd, 0xef, 0x82, 0, NULL)) && (s.apm || ata(fd, 0xef, 0x05, APM, NULL)) &&
               ata(fd, 0xe3, 0, TIMER, NULL) && identify(fd, &s) && s.apm && s.cache && s.lookahead;
        (void) close(fd);
        return good;
}

/* Like keep(), for a drive without ATA settings: `path` is the attribute of its read-ahead in sysfs. */
static bool keep_queue(const char *path) {
        char was[32] = {};
        bool good;
        int fd;

        fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0)
                return false;

        good = read(fd, was, sizeof was - 1) > 0 &&
               (strtoul(was, NULL, 10) == strtoul(READ_AHEAD_KB, NULL, 10) ||
                (pwrite(fd, READ_AHEAD_KB, strlen(READ_AHEAD_KB), 0) > 0 && pread(fd, was, sizeof was - 1, 0) > 0 &&
                 strtoul(was, NULL, 10) == strtoul(READ_AHEAD_KB, NULL, 10)));
        (void) close(fd);
        return good;
}

int main(int argc, char *argv[]) {
        glob_t found = {};
        bool good = true;

        for (int i = 1; i < argc; i++)
                (void) glob(argv[i], i == 1 ? 0 : GLOB_APPEND, NULL, &found);

        for (size_t i = 0; i < found.gl_pathc; i++) {
                const char *path = found.gl_pathv[i];
                bool kept = strncmp(path, "/sys/", 5) == 0 ? keep_queue(path) : keep(path);

                printf("%s: %s\n", path, kept ? "kept" : "not kept");
                good = good && kept;
        }

        return good && found.gl_pathc > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
