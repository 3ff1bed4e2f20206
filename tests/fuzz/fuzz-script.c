/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        fuzz_import(IMPORT_SCRIPT, (const char *) data, size);
        return 0;
}
