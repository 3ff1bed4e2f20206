/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "unix-socket.h"

int unix_connect(const char *path) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = -EBADF;

        if (strlen(path) >= sizeof address.sun_path)
                return -ENAMETOOLONG;
        (void) strcpy(address.sun_path, path);

        fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, (const struct sockaddr *) &address, sizeof address) < 0)
                return -errno;
        return TAKE_FD(fd);
}

bool unix_knows_peer(int fd) {
        struct sockaddr_un address = {};
        struct ucred peer;
        /* There is always a NUL behind the path. */
        socklen_t address_size = sizeof address - 1, peer_size = sizeof peer;
        struct stat st;

        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) >= 0 &&
               getsockname(fd, &address, &address_size) >= 0 && address.sun_path[0] == '/' &&
               stat(address.sun_path, &st) >= 0 && S_ISSOCK(st.st_mode) && st.st_uid == peer.uid;
}
