/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Is a file system check queued or running, on whatever drive? 1 and its unit, which the caller frees; 0; negative when
 * PID 1 cannot be asked. The service waits for those of each drive; the command does not wait, and so is more careful. */
int check_running(char **ret_unit);
