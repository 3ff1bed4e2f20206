/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/epoll.h>
#include <sys/socket.h>

#include "bus-server.h"

int bus_new_at(int *fd, bool server, sd_bus **ret) {
        _cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
        sd_id128_t id;
        int r;

        r = sd_id128_randomize(&id);
        if (r >= 0)
                r = sd_bus_new(&bus);
        if (r >= 0 && server)
                r = sd_bus_set_server(bus, true, id);
        if (r >= 0)
                r = sd_bus_set_fd(bus, *fd, *fd);
        if (r < 0)
                return r;

        /* From here on the connection owns the descriptor. */
        (void) TAKE_FD(*fd);
        *ret = TAKE_PTR(bus);
        return 0;
}

static BusPeer *peer_free(BusPeer *p) {
        /* Also while it is being dispatched: sd-bus keeps it until that is over. */
        (void) sd_bus_close_unref(p->bus);
        free(p);
        return NULL;
}
DEFINE_CLEANUP(BusPeer *, peer_free);

static int on_gone(sd_bus_message *m _unused_, void *userdata, sd_bus_error *error _unused_) {
        _cleanup_(peer_freep) BusPeer *peer = userdata;
        BusServer *s = peer->server;
        BusPeer **p = &s->peers;

        while (*p != peer)
                p = &(*p)->next;
        *p = peer->next;
        s->events->gone(s->userdata, peer->bus);
        return 0;
}

static int peer_start(BusPeer *p, int *fd) {
        BusServer *s = p->server;
        int r;

        r = bus_new_at(fd, true, &p->bus);
        if (r >= 0)
                r = s->events->connected(s->userdata, p->bus);
        if (r >= 0)
                r = sd_bus_match_signal(p->bus, NULL, "org.freedesktop.DBus.Local", NULL, "org.freedesktop.DBus.Local",
                                        "Disconnected", on_gone, p);
        if (r >= 0)
                r = sd_bus_start(p->bus);
        if (r >= 0)
                r = sd_bus_attach_event(p->bus, s->event, SD_EVENT_PRIORITY_NORMAL);
        return r;
}

static int on_listen(sd_event_source *source _unused_, int listen_fd, uint32_t revents _unused_, void *userdata) {
        _cleanup_close_ int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        _cleanup_(peer_freep) BusPeer *p = NULL;
        BusServer *s = userdata;

        if (fd < 0)
                return 0;

        p = calloc(1, sizeof *p);
        if (!p)
                return 0;
        p->server = s;
        if (peer_start(p, &fd) < 0)
                return 0;

        p->next = s->peers;
        s->peers = TAKE_PTR(p);
        return 0;
}

int bus_server_start(BusServer *s, int fd) {
        return sd_event_add_io(s->event, &s->listen, fd, EPOLLIN, on_listen, s);
}

void bus_server_stop(BusServer *s) {
        s->listen = sd_event_source_disable_unref(s->listen);
        while (s->peers) {
                BusPeer *p = s->peers;

                s->peers = p->next;
                (void) peer_free(p);
        }
}
