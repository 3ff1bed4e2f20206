/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* SCSI commands to a real SCSI drive, and its mode pages (SPC-4, SBC-3). Every function returns 0, a STEP_…
 * error or a negative errno, with a sentence. */

#include "device.h"
#include "sg-io.h"

/* Sends it, again where a unit attention came before it. `q`: command, data and time; `name` is for sentences. STEP_REFUSED: the
 * drive answered with an error. */
int scsi_command(Device *d, SgRequest *q, const char *name);

typedef enum ModeControl {
        MODE_CURRENT = 0,
        MODE_CHANGEABLE = 1, /* ones where the drive lets bits be changed */
        MODE_SAVED = 3,      /* what it will have after its next power-on */
} ModeControl;

typedef struct ModePage {
        uint8_t bytes[254]; /* with its header of two; PS is taken out */
        size_t len;
        bool saveable; /* PS */
        bool by_six;   /* the drive knows only the commands of six bytes */
} ModePage;

/* Without block descriptors. STEP_UNSUPPORTED: the drive has no such page, or not shorter than `least` bytes. */
int mode_sense(Device *d, uint8_t page, ModeControl control, size_t least, ModePage *ret);
int mode_select(Device *d, const ModePage *page, bool save);

/* Both caches' way out: SYNCHRONIZE CACHE of the whole medium. */
int scsi_synchronize_cache(Device *d);
