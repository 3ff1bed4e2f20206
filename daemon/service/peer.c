/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "peer.h"

bool peer_owns_socket(int fd) {
        /* A path as long as may be has no NUL. */
        union {
                struct sockaddr_un un;
                char bytes[sizeof(struct sockaddr_un) + 1];
        } address = {};
        socklen_t address_size = sizeof address.un, peer_size;
        struct ucred peer;
        struct stat st;

        peer_size = sizeof peer;
        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) >= 0 &&
               getsockname(fd, &address.un, &address_size) >= 0 && address.un.sun_path[0] == '/' &&
               stat(address.un.sun_path, &st) >= 0 && S_ISSOCK(st.st_mode) && st.st_uid == peer.uid;
}
