/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Says on stderr when the files of the configuration, as they are now below these roots, are not what the service has in force: it says in
 * `state_dir` what it has read. Nothing where the service does not run, or who asks cannot read the files. */
void in_force_tell(const char *state_dir, const char *const *roots);
