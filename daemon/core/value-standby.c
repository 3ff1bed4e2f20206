/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ATA's standby timer: one byte with five encodings (catalogue 3.1, -S). */

#include <stdio.h>

#include "macro.h"
#include "value-unit.h"

#define HOUR 3600U

#define TIMER_5_H_30_MIN 251U
#define TIMER_21_MIN 252U
#define TIMER_VENDOR 253U /* 8 to 12 h, as the vendor likes */
#define TIMER_RESERVED 254U
#define TIMER_21_MIN_15_S 255U

uint64_t standby_timer_to_seconds(uint8_t timer) {
        switch (timer) {
        case 0 ... 240:
                return timer * 5U;
        case 241 ... TIMER_5_H_30_MIN:
                return (timer - 240U) * HOUR / 2;
        case TIMER_21_MIN:
                return 21 * 60;
        case TIMER_VENDOR:
                return 8ULL * HOUR;
        case TIMER_RESERVED: /* vendors take it for this */
                return 21 * 60 + 10;
        default:
                return 21 * 60 + 15;
        }
}

int standby_timer_from_seconds(uint64_t seconds, uint8_t *ret) {
        uint64_t timer;

        if (seconds > 12ULL * HOUR)
                return -ERANGE;

        if (seconds <= 20 * 60)
                timer = (seconds + 4) / 5;
        else if (seconds <= 21 * 60)
                timer = TIMER_21_MIN;
        else if (seconds <= 21 * 60 + 15)
                timer = TIMER_21_MIN_15_S;
        else if (seconds < 8ULL * HOUR)
                /* What lies between 5.5 h and the vendor's own time takes the nearest that is certain. */
                timer = MIN(240 + (seconds + HOUR / 2 - 1) / (HOUR / 2), TIMER_5_H_30_MIN);
        else
                timer = TIMER_VENDOR;

        *ret = timer;
        return timer == TIMER_VENDOR || standby_timer_to_seconds(*ret) != seconds;
}

char *standby_timer_format(uint8_t timer, char buf[static VALUE_TEXT_MAX]) {
        if (timer == 0)
                (void) snprintf(buf, VALUE_TEXT_MAX, "off");
        else if (timer == TIMER_VENDOR)
                (void) snprintf(buf, VALUE_TEXT_MAX, "vendor (8 to 12 h)");
        else if (timer == TIMER_RESERVED)
                (void) snprintf(buf, VALUE_TEXT_MAX, "reserved (254)");
        else
                return duration_format((int64_t) standby_timer_to_seconds(timer) * 1000, buf);

        return buf;
}
