/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Messages between the service, its workers and the tracer. A table lists the fields of a structure that cross, and says for each which
 * values are valid: no process trusts another. A field that no table lists does not cross. Both ends are one build of the program, so that
 * numbers cross as they are in memory. */

#include <stddef.h>

#include "plan.h"

typedef enum WireType {
        WIRE_BOOL,
        WIRE_ENUM,   /* 0 to below `limit` */
        WIRE_INT,    /* int or unsigned; any */
        WIRE_NUMBER, /* of 64 bits; any */
        WIRE_SIZE,   /* size_t; any */
        WIRE_BYTES,  /* uint8_t[`limit`]; any */
        WIRE_TEXT,   /* char[`limit`], which ends in it */
        WIRE_STRING, /* char *; in the message there are `limit` bytes, and a longer text is cut. After reading it points into the
                      * message; NULL: it is empty */
        WIRE_STRUCT, /* `fields` of its own; an array of `limit`, `stride` bytes each */
} WireType;

/* A table ends with {}. */
typedef struct WireField {
        const char *name; /* of the member; it does not cross */
        WireType type;
        size_t offset, limit;
        const struct WireField *fields;
        size_t stride;
} WireField;

/* Rows of a table: for a member of the structure `s` that needs no limit; an enum or a number from 0 to below `max`; arrays of bytes, of
 * characters and of structures; a char *; and a structure. */
#define WIRE(s, member, type) \
        { #member, type, offsetof(s, member) }
#define WIRE_WORD(s, member, max) \
        { #member, WIRE_ENUM, offsetof(s, member), max }
#define WIRE_OCTETS(s, member) \
        { #member, WIRE_BYTES, offsetof(s, member), sizeof((s *) NULL)->member }
#define WIRE_ARRAY(s, member) \
        { #member, WIRE_TEXT, offsetof(s, member), sizeof((s *) NULL)->member }
#define WIRE_POINTER(s, member, size) \
        { #member, WIRE_STRING, offsetof(s, member), size }
#define WIRE_PART(s, member, table) \
        { #member, WIRE_STRUCT, offsetof(s, member), 1, table }
/* clang-format off */
#define WIRE_PARTS(s, member, table) \
        { #member, WIRE_STRUCT, offsetof(s, member), ELEMENTSOF(((s *) NULL)->member), table, sizeof *((s *) NULL)->member }
/* clang-format on */

/* The size of these fields in a message. */
size_t wire_size(const WireField *fields);

/* Writes the fields without checks, and returns the end. */
uint8_t *wire_write(const WireField *fields, const void *object, uint8_t *at);

/* Reads the fields into a zeroed structure, and returns the end. NULL: a value is not valid. */
const uint8_t *wire_read(const WireField *fields, const uint8_t *at, void *object);

/* One structure without a WIRE_STRING as one datagram; `flags`: of send(2). */
#define WIRE_MESSAGE_MAX_BYTES 2048U
int wire_send(int fd, const WireField *fields, const void *object, int flags);

/* Receives such a datagram into a zeroed structure; `flags`: of recv(2). 1: it is there; 0: the other end is closed. -EBADMSG: the datagram
 * has another size, or a value that is not valid. */
int wire_receive(int fd, const WireField *fields, void *object, int flags);

/* Is `cdb` 0 or the length of an ATA PASS-THROUGH command? */
bool bridge_is_valid(const Bridge *b);

extern const WireField wire_value[], wire_reading[], wire_known[], wire_bridge[];

/* ---- sockets ---- */

/* Sockets with a path: how the service connects to the broker, the tracer and the journal, and how the first two recognize it. */

/* Connects to a socket of this type, which may have systemd start the process behind it. Returns a descriptor. */
int unix_connect(const char *path, int type);

/* Does the listening socket's file belong to the user at the other end (SocketUser= of its unit)? Needs no lookup of names. The file must be
 * in a directory where nobody else can replace it. */
bool unix_peer_owns_socket(int fd);
