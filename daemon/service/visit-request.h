/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A Visit as one message: what the manager knows of the drive and wants of it, for a worker that shares no memory with
 * it. The worker believes none of it: lengths and counts are bounded, names and paths are such as the inventory makes, and a
 * value must be one that its row allows. */

#include "visit.h"

/* Which file of the program runs, as "0.1.0 (build 40f1c-18a2…)". The service and its workers send each other structures as they are,
 * so both have to be one build: while a package is exchanged they may not be. */
const char *build_identity(void);
#define BUILD_MAX 64U

/* A socket takes about 200 KiB at once. */
#define VISIT_REQUEST_MAX_BYTES (160U * 1024U)

/* The caller frees *ret. -E2BIG: too many wishes for one message. */
int visit_request_new(const Visit *v, void **ret, size_t *ret_size);

/* The visit that is asked for, with `settings` for its table. It points into the request, which is to be aligned as malloc() does, and
 * is changed. -EPROTONOSUPPORT: another build of the program asks; -EBADMSG: none asks so. */
int visit_request_parse(void *request, size_t size, const SettingTable *settings, Visit *ret);
