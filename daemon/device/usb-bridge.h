/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* USB bridges that translate SCSI to ATA: which commands they pass, learned from their answers, and what need not be tried again.
 * That a drive is behind one is found out in core/drive.c; which drive it is: visit.c. */

#include "ata.h"

/* 0, or why no ATA command is to be sent to this drive. */
int bridge_check(Device *d);

/* The command it is known to take, or the one to try first: 16 or 12. */
unsigned bridge_cdb(const Device *d);

/* It has answered ATA PASS-THROUGH(16) with "invalid operation code". May (12) be tried? Its code is BLANK for an optical
 * drive, so only disks, by what the kernel says of their type, are sent it. */
bool bridge_may_take_12(Device *d, const Taskfile *tf);

/* The answer to a command: what it says of the bridge. `r`: what ata_result() made of it. */
void bridge_learn(Device *d, const SgRequest *q, const Registers *regs, int r);
