/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Is the machine in rescue or emergency mode? 1 yes, 0 no, negative when PID 1 cannot be asked. Blocks for an answer, so
 * it is for the process that systemd runs before the service (ExecCondition=). */
int rescue_mode(void);
