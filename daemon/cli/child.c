/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <spawn.h>
#include <sys/wait.h>

#include "child.h"
#include "must.h"

int child_start_reader(char *const *words, int text, pid_t *ret) {
        posix_spawn_file_actions_t actions;
        int r;

        if (lseek(text, 0, SEEK_SET) < 0)
                return -errno;
        must_work(-posix_spawn_file_actions_init(&actions));
        must_work(-posix_spawn_file_actions_adddup2(&actions, text, STDIN_FILENO));
        r = posix_spawnp(ret, words[0], &actions, NULL, words, environ);
        (void) posix_spawn_file_actions_destroy(&actions);
        return -r;
}

int child_wait(pid_t pid) {
        int status = 0;

        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;
        return status;
}
