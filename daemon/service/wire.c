/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "wire.h"

/* clang-format off */
const WireField wire_value[] = {
        WIRE_WORD(Value, type, _VALUE_TYPE_MAX),
        WIRE(Value, number, WIRE_NUMBER),
        WIRE_ARRAY(Value, name),
        {}
};

const WireField wire_reading[] = {
        WIRE(Reading, supported, WIRE_BOOL),
        WIRE(Reading, known, WIRE_BOOL),
        WIRE_PART(Reading, value, wire_value),
        WIRE(Reading, repeated, WIRE_BOOL),
        WIRE(Reading, saved_known, WIRE_BOOL),
        WIRE_PART(Reading, saved, wire_value),
        {}
};

const WireField wire_known[] = {
        WIRE(KnownNumber, known, WIRE_BOOL),
        WIRE(KnownNumber, number, WIRE_NUMBER),
        {}
};

const WireField wire_bridge[] = {
        WIRE(Bridge, queried, WIRE_BOOL),
        WIRE(Bridge, identified, WIRE_BOOL),
        WIRE(Bridge, without_sat, WIRE_BOOL),
        WIRE(Bridge, uas_blocks, WIRE_BOOL),
        WIRE(Bridge, without_registers, WIRE_BOOL),
        WIRE(Bridge, repeats_identify, WIRE_BOOL),
        WIRE(Bridge, fragile, WIRE_BOOL),
        WIRE(Bridge, cdb, WIRE_NUMBER),
        {}
};
/* clang-format on */

bool bridge_is_valid(const Bridge *b) {
        return b->cdb == 0 || b->cdb == 12 || b->cdb == 16;
}

static size_t field_size(const WireField *f) {
        switch (f->type) {
        case WIRE_BOOL:
                return sizeof(bool);
        case WIRE_ENUM:
        case WIRE_INT:
                return sizeof(int);
        case WIRE_NUMBER:
                return sizeof(int64_t);
        case WIRE_SIZE:
                return sizeof(size_t);
        case WIRE_BYTES:
        case WIRE_TEXT:
        case WIRE_STRING:
                return f->limit;
        case WIRE_STRUCT:
                return f->limit * wire_size(f->fields);
        }
        return 0;
}

size_t wire_size(const WireField *fields) {
        size_t size = 0;

        for (const WireField *f = fields; f->name; f++)
                size += field_size(f);
        return size;
}

uint8_t *wire_write(const WireField *fields, const void *object, uint8_t *at) {
        for (const WireField *f = fields; f->name; f++) {
                const char *p = (const char *) object + f->offset;

                if (f->type == WIRE_STRUCT) {
                        for (size_t i = 0; i < f->limit; i++)
                                at = wire_write(f->fields, p + i * f->stride, at);
                        continue;
                }
                if (f->type == WIRE_STRING) {
                        const char *text = *(char *const *) p ?: "";
                        size_t len = strnlen(text, f->limit - 1);

                        memcpy(at, text, len);
                        memset(at + len, 0, f->limit - len);
                } else
                        memcpy(at, p, field_size(f));
                at += field_size(f);
        }
        return at;
}

const uint8_t *wire_read(const WireField *fields, const uint8_t *at, void *object) {
        for (const WireField *f = fields; at && f->name; f++) {
                char *p = (char *) object + f->offset;
                size_t size = field_size(f);
                int number;

                switch (f->type) {
                case WIRE_STRUCT:
                        for (size_t i = 0; at && i < f->limit; i++)
                                at = wire_read(f->fields, at, p + i * f->stride);
                        continue;
                case WIRE_BOOL:
                        if (*at > 1)
                                return NULL;
                        break;
                case WIRE_ENUM:
                        memcpy(&number, at, sizeof number);
                        if (number < 0 || (size_t) number >= f->limit)
                                return NULL;
                        break;
                case WIRE_TEXT:
                case WIRE_STRING:
                        if (!memchr(at, '\0', size))
                                return NULL;
                        break;
                case WIRE_INT:
                case WIRE_NUMBER:
                case WIRE_SIZE:
                case WIRE_BYTES:
                        break;
                }
                if (f->type == WIRE_STRING)
                        *(const char **) p = *at ? (const char *) at : NULL;
                else
                        memcpy(p, at, size);
                at += size;
        }
        return at;
}

int wire_send(int fd, const WireField *fields, const void *object, int flags) {
        uint8_t message[WIRE_MESSAGE_MAX_BYTES];
        size_t size = wire_size(fields);

        assert(size <= sizeof message);
        (void) wire_write(fields, object, message);
        return send(fd, message, size, flags | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int wire_receive(int fd, const WireField *fields, void *object, int flags) {
        uint8_t message[WIRE_MESSAGE_MAX_BYTES];
        ssize_t n;

        /* With MSG_TRUNC recv() returns the full size of the datagram, so that a longer datagram is detected. */
        n = recv(fd, message, sizeof message, flags | MSG_TRUNC);
        if (n < 0)
                return -errno;
        if (n == 0)
                return 0;
        return n == (ssize_t) wire_size(fields) && wire_read(fields, message, object) ? 1 : -EBADMSG;
}

/* ---- sockets ---- */

int unix_connect(const char *path, int type) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = -EBADF;

        if (strlen(path) >= sizeof address.sun_path)
                return -ENAMETOOLONG;
        (void) strcpy(address.sun_path, path);

        fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, (const struct sockaddr *) &address, sizeof address) < 0)
                return -errno;
        return TAKE_FD(fd);
}

bool unix_peer_owns_socket(int fd) {
        struct sockaddr_un address = {};
        struct ucred peer;
        /* Leaves room for a NUL after the path. */
        socklen_t address_size = sizeof address - 1, peer_size = sizeof peer;
        struct stat st;

        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) >= 0 &&
               getsockname(fd, &address, &address_size) >= 0 && address.sun_path[0] == '/' &&
               stat(address.sun_path, &st) >= 0 && S_ISSOCK(st.st_mode) && st.st_uid == peer.uid;
}
