/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Warns on stderr when the configuration files below these roots are not in force: the service lists those in force in `state_dir`. Does
 * nothing when the service does not run, or this user cannot read the files. */
void in_force_tell(const char *state_dir, const char *const *roots);
