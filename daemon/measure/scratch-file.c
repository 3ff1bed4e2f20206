/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <sys/random.h>

#include "must.h"
#include "scratch-file.h"
#include "stop.h"

#define BLOCK (1U << 20)

/* Nothing that a file system or a drive could make smaller. */
static void fill(uint8_t *block) {
        for (size_t n = 0; n < BLOCK;) {
                ssize_t k = getrandom(block + n, BLOCK - n, 0);

                n += k > 0 ? (size_t) k : 0;
        }
}

int scratch_file_make(const char *directory, int stop_fd) {
        _cleanup_free_ char *path = must_format("%s/.drivekeep-bench.XXXXXX", directory);
        _cleanup_free_ uint8_t *block = must(malloc(BLOCK));
        _cleanup_close_ int fd = -EBADF;

        fd = open(directory, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
        if (fd < 0) {
                /* Not all file systems know that. */
                fd = mkostemp(path, O_CLOEXEC);
                if (fd < 0 || unlink(path) < 0)
                        return -errno;
        }

        for (uint64_t n = 0; n < SCRATCH_FILE_SIZE;) {
                ssize_t k;

                fill(block);
                k = write(fd, block, BLOCK);
                if (k < 0)
                        return -errno;
                if (stop_is_wanted(stop_fd))
                        return -ECANCELED;
                n += (uint64_t) k;
        }
        if (fsync(fd) < 0)
                return -errno;
        return TAKE_FD(fd);
}
