/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "boot-finished.h"
#include "unit-status.h"

static int on_answer(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        uint64_t finished = 0;
        Boot *b = userdata;

        b->question = sd_bus_slot_unref(b->question);
        if (sd_bus_message_is_method_error(m, NULL) || sd_bus_message_read(m, "v", "t", &finished) < 0 || finished == 0)
                return 0;

        b->over = true;
        return 0;
}

static void boot_ask(Boot *b) {
        if (b->over || !b->bus || b->question)
                return;

        /* Failing that, whoever wants to know next has it asked again. */
        (void) sd_bus_call_method_async(b->bus, &b->question, SYSTEMD_DESTINATION, SYSTEMD_MANAGER_PATH,
                                        "org.freedesktop.DBus.Properties", "Get", on_answer, b, "ss",
                                        SYSTEMD_MANAGER_INTERFACE, "FinishTimestampMonotonic");
}

void boot_bus_connected(Boot *b, sd_bus *bus) {
        boot_bus_lost(b);
        b->bus = sd_bus_ref(bus);
        boot_ask(b);
}

void boot_bus_lost(Boot *b) {
        b->question = sd_bus_slot_unref(b->question);
        b->bus = sd_bus_unref(b->bus);
}

bool boot_is_over(Boot *b) {
        boot_ask(b);
        return b->over;
}
