/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A Visit as one message: the drive, the work, the wishes and what is known of their settings, for a worker that shares no memory with
 * the manager. The worker trusts none of it: each field has its table in visit-request.c, paths are such as the inventory makes, and a
 * value must be one that its row allows. */

#include "record.h"
#include "visit.h"

/* Which file of the program runs, as "0.1.0 (build 40f1c-18a2…)". A message has the fields of one build:
 * while a package is upgraded, the service and its workers may be two. */
const char *build_identity(void);
#define BUILD_MAX 64U

/* A socket takes about 200 KiB at once. */
#define VISIT_REQUEST_MAX_BYTES (160U * 1024U)

/* The caller frees *ret. -E2BIG: too many wishes for one message. */
int visit_request_new(const Visit *v, void **ret, size_t *ret_size);

typedef struct VisitRequest {
        Visit visit; /* points to the following */
        Drive drive;
        Bridge bridge;
        Wishes wishes;
        Wish items[RECORD_MAX_SETTINGS];
        Memory memories[RECORD_MAX_SETTINGS];
} VisitRequest;

/* The visit that is asked for, with `settings` for its table. Texts stay in the request, which must outlive *ret. -EPROTONOSUPPORT: the
 * request is of another build; -EBADMSG: no build makes such a request. */
int visit_request_parse(const void *request, size_t size, const SettingTable *settings, VisitRequest *ret);
