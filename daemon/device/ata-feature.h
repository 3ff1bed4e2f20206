/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What most of a drive's features are: two subcommands of SET FEATURES, and places in IDENTIFY DEVICE that say whether
 * there is such a thing and what it is set to. A row needs no function of its own then. */

#include "ata.h"

/* `lost_by` of what Software Settings Preservation covers, by drives' manuals. */
#define LOST_WITHOUT_SSP "power; link reset, unless software_settings_preservation is on"

typedef struct IdentifyBit {
        uint8_t word, bit;
} IdentifyBit;

/* A row's detail. */
typedef struct AtaFeature {
        IdentifyBit supported, enabled;
        uint8_t level;               /* IDENTIFY word whose low byte is the level, for settings that have one … */
        bool level_high;             /* … or whose high byte */
        uint8_t on, off;             /* SET FEATURES subcommands; the level goes into COUNT … */
        uint8_t on_count, off_count; /* … or this */
} AtaFeature;

/* Where the drive says that it has no such feature: the value that stands there, "off", is what it has. */
void ata_reading_absent(const Device *d, Reading *r);

/* For readings of IDENTIFY: what a bridge may give from its memory is not what the drive has. */
void ata_reading_judge(const Device *d, Reading *r);

/* The level of a feature that is enabled. Drives have one at the number that stands for "off", such as acoustic management at
 * 0: that is not disabled, and equal to nothing that a file can want. */
void ata_reading_level(Reading *r, const Setting *s, uint32_t level);

int ata_feature_read(Device *d, const Setting *s, Reading *ret);
int ata_feature_write(Device *d, const Setting *s, const Value *v);

/* What rows need that have no functions of their own; the arguments are the members of their AtaFeature. */
#define ATA_FEATURE(...)                                                                                              \
        .backend = BACKEND_ATA, .read = ata_feature_read, .write = ata_feature_write, .detail = &(const AtaFeature) { \
                __VA_ARGS__                                                                                           \
        }
