/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which build of the program this is. The manager and its workers send each other structures as they are, so both have to be
 * of one build: while a package is exchanged they may not be. */

#define BUILD_MAX 64U

/* "0.1.0 (build 5f0e…)", from the linker's build ID; shorter than BUILD_MAX. */
const char *build_identity(void);
