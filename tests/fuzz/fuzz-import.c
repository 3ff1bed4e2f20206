/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "import.h"

/* The first byte of the input selects the kind of file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        if (size > 0)
                fuzz_import(data[0] % _IMPORT_KIND_MAX, (const char *) data + 1, size - 1);
        return 0;
}
