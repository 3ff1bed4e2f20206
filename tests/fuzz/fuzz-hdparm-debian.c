/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "hdparm-debian.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const DebianDrive drive = { .node = "/dev/sda", .apm = true };
        _cleanup_(debian_answer_done) DebianAnswer answer = {};

        (void) debian_options((const char *) data, size, &drive, &answer);
        return 0;
}
