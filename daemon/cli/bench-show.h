/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "result.h"
#include "verb.h"

/* What `drivekeep bench` shows of a measurement. Returns as Verb.run() does. */
int bench_show(const Options *o, const Result *r);
