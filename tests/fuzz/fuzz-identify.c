/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ata-identify.h"
#include "device.h"
#include "probe.h"
#include "settings.h"

static void look(void *userdata, const Probed *s) {
        char text[VALUE_TEXT_MAX];

        if (s->reading.known)
                (void) value_format(&s->setting->range, &s->reading.value, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(drive_freep) Drive *drive = NULL;
        _cleanup_free_ char *text = malloc(size + 1);
        uint16_t id[256] = {};
        DeviceIO io = { .image = id };

        if (!text)
                return 0;
        memcpy(text, data, size);
        text[size] = '\0';

        /* Most inputs have a wrong length or checksum. If an input is not a valid image file, its bytes are used as the words of the
         * image. */
        if (identify_image_parse(text, size, id) < 0)
                memcpy(id, data, size < sizeof id ? size : sizeof id);

        (void) identify_image_problem(id);
        for (const IdentifyFact *f = identify_facts; f->key; f++) {
                char fact[IDENTIFY_FACT_MAX] = "";

                f->print(id, fact);
        }
        if (identify_image_drive(id, "fuzz", &drive) >= 0) {
                Device d;

                device_init(&d, drive, &io);
                probe(&d, 1U << BACKEND_ATA, &all_settings, look, NULL);
                device_done(&d);
        }
        return 0;
}
