/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Messages between the service, its workers and the tracer. A table lists the fields of a structure that are
 * transmitted, and the valid values of each field, since no process trusts the other process. Fields that are not in a
 * table are not transmitted. Both ends are the same build of the program, so numbers are transmitted as they are in
 * memory. */

#include <stddef.h>

#include "plan.h"

typedef enum WireType {
        WIRE_BOOL,
        WIRE_ENUM,   /* an enum; from 0 to below `limit` */
        WIRE_INT,    /* int or unsigned; any value */
        WIRE_NUMBER, /* a 64-bit number; any value */
        WIRE_SIZE,   /* size_t; any value */
        WIRE_BYTES,  /* uint8_t[`limit`]; any value */
        WIRE_TEXT,   /* char[`limit`], NUL-terminated */
        WIRE_STRING, /* char *; occupies `limit` bytes in the message, and longer text is cut. After reading, the pointer points into the
                      * message, or is NULL for an empty text */
        WIRE_STRUCT, /* a structure with the fields `fields`, or an array of `limit` such structures of `stride` bytes each */
} WireType;

/* A row of a table: one member of a transmitted structure. The table ends with {}. */
typedef struct WireField {
        const char *name; /* name of the member; not transmitted */
        WireType type;
        size_t offset, limit;
        const struct WireField *fields;
        size_t stride;
} WireField;

/* Rows of a table. WIRE: a member of the structure `s` without a limit. WIRE_WORD: an enum or a number from 0 to below
 * `max`. WIRE_OCTETS: an array of bytes. WIRE_ARRAY: an array of characters. WIRE_POINTER: a char *. WIRE_PART: a
 * structure. WIRE_PARTS: an array of structures. */
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

/* Returns the size of these fields in a message. */
size_t wire_size(const WireField *fields);

/* Writes the fields without checks, and returns the end of the written bytes. */
uint8_t *wire_write(const WireField *fields, const void *object, uint8_t *at);

/* Reads the fields into a zeroed structure, and returns the end of the read bytes. Returns NULL if a value is not valid. */
const uint8_t *wire_read(const WireField *fields, const uint8_t *at, void *object);

/* Sends a structure without a WIRE_STRING as one datagram; `flags`: as for send(2). */
#define WIRE_MESSAGE_MAX_BYTES 2048U
int wire_send(int fd, const WireField *fields, const void *object, int flags);

/* Receives a datagram of wire_send() into a zeroed structure; `flags`: as for recv(2). Returns 1 after success, 0 if the other end is
 * closed, and -EBADMSG if the datagram has another size or an invalid value. */
int wire_receive(int fd, const WireField *fields, void *object, int flags);

/* Returns true if b->cdb is valid: it must be 0, or the length of an ATA PASS-THROUGH command. */
bool bridge_is_valid(const Bridge *b);

extern const WireField wire_value[], wire_reading[], wire_known[], wire_bridge[];

/* ---- sockets ---- */

/* Sockets with a path, through which the service connects to the broker, the tracer and the journal. Broker and tracer verify that the peer
 * is the service. */

/* Connects to a socket of this type, and returns a descriptor. The connection may make systemd start the listening
 * process. */
int unix_connect(const char *path, int type);

/* Returns true if the user at the other end owns the listening socket's file (SocketUser= of the unit). Needs no lookup of user names. The
 * file must be in a directory in which no other user can replace the file. */
bool unix_peer_owns_socket(int fd);
