/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep edit`: opens an editor on a copy of a configuration file. If the copy has no errors, the copy replaces the file. */

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "draft.h"
#include "output.h"
#include "reload.h"
#include "request.h"
#include "safe-file.h"

/* Each variable may contain a program and its arguments, as for git(1). */
static const char editor[] = "e=${SYSTEMD_EDITOR:-${EDITOR:-$VISUAL}}\n"
                             "for f in editor nano vim vi; do\n"
                             "        [ -n \"$e\" ] || ! command -v $f >/dev/null || e=$f\n"
                             "done\n"
                             "[ -n \"$e\" ] || { echo 'no editor found; set EDITOR' >&2; exit 1; }\n"
                             "eval \"$e\" '\"$1\"'\n";

typedef struct Edit {
        const Options *options;
        char *path;      /* path of the file in the configuration root */
        char *target;    /* `path` without symbolic links */
        char *draft;     /* path of the copy that the user edits, beside `target`; config_load() ignores the copy */
        char *directory; /* directory of target and draft */
        char *old, *new; /* contents of `target` (old) and of `draft` (new) */
        size_t old_size, new_size;
        struct stat st; /* status of the target, if it exists */
        bool exists;    /* target exists */
} Edit;

static void edit_done(Edit *e) {
        free(e->path);
        free(e->target);
        free(e->draft);
        free(e->directory);
        free(e->old);
        free(e->new);
}

/* Runs the editor, and returns true if the editor succeeded. Meanwhile this process ignores SIGINT and SIGQUIT, which are meant for the
 * editor. */
static bool run_editor(const char *path) {
        char *argv[] = { (char *) "sh", (char *) "-c", (char *) editor, (char *) "drivekeep", (char *) path, NULL };
        void (*interrupt)(int) = signal(SIGINT, SIG_IGN), (*quit)(int) = signal(SIGQUIT, SIG_IGN);
        posix_spawnattr_t attributes;
        int status = 0, r;
        sigset_t set;
        pid_t pid;

        (void) sigemptyset(&set);
        (void) sigaddset(&set, SIGINT);
        (void) sigaddset(&set, SIGQUIT);
        must_work(-posix_spawnattr_init(&attributes));
        (void) posix_spawnattr_setsigdefault(&attributes, &set);
        (void) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
        r = posix_spawnp(&pid, argv[0], NULL, &attributes, argv, environ);
        (void) posix_spawnattr_destroy(&attributes);
        if (r == 0)
                (void) TEMP_FAILURE_RETRY(waitpid(pid, &status, 0));
        (void) signal(SIGINT, interrupt);
        (void) signal(SIGQUIT, quit);
        return r == 0 && status == 0;
}

static int complain_file(const char *path, const char *what, int r, const char *objection) {
        warn_escaped("%s cannot be %s: %s", path, what, r < 0 ? strerror(-r) : objection);
        return EXIT_BAD_INPUT;
}

/* Finds the paths of the drop-in `name`, or of drivekeep.conf if `name` is NULL, and reads the file. */
static int edit_begin(Edit *e, const char *name) {
        const char *objection = NULL;
        _cleanup_free_ char *above = NULL;
        int r;

        e->path = name && !streq(name, "drivekeep.conf")
                                  ? draft_path(e->options, name)
                                  : must_format("%s/drivekeep/drivekeep.conf", e->options->roots[0]);
        if (!e->path)
                return EXIT_BAD_INPUT;
        r = path_is_safe(e->path);
        if (r <= 0)
                return complain_file(e->path, "edited", r, DRAFT_UNSAFE);

        e->target = realpath(e->path, NULL) ?: must(strdup(e->path));
        e->draft = must_format("%s.draft", e->target);
        e->directory = must_directory(e->target);

        e->exists = stat(e->target, &e->st) >= 0;
        if (e->exists) {
                r = must_not_fail(text_file_read(e->target, &e->old, &e->old_size, &objection));
                if (r == 0 && !S_ISREG(e->st.st_mode)) {
                        objection = "it is masked by a link to /dev/null; remove the link first";
                        r = 1;
                }
                return r == 0 ? EXIT_WANTED : complain_file(e->path, "edited", r, objection);
        }

        e->st.st_mode = 0644;
        e->old = must(strdup(""));
        above = must_directory(e->directory);
        (void) mkdir(above, 0755);
        (void) mkdir(e->directory, 0755);
        return EXIT_WANTED;
}

static int draft_read(Edit *e) {
        char *text = NULL;
        int r;

        r = must_not_fail(record_file_read(AT_FDCWD, e->draft, TEXT_FILE_MAX, &text, &e->new_size));
        if (r < 0)
                return complain_file(
                                e->draft, "read", r == -EBADMSG ? 1 : r,
                                "it is not a regular file, belongs to another user, or is larger than 1 MiB; remove it");

        free(e->new);
        e->new = must(text);
        return EXIT_WANTED;
}

/* Creates the draft as a copy of the file, or reads the draft that an earlier edit has left. */
static int draft_begin(Edit *e) {
        int fd = open(e->draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), r = 0;
        ssize_t n;

        if (fd < 0 && errno == EEXIST) {
                r = draft_read(e);
                if (r == EXIT_WANTED)
                        warn_escaped("continuing the draft of an earlier edit: %s", e->draft);
                return r;
        }
        if (fd < 0)
                return complain_file(e->draft, "written", -errno, NULL);
        n = write(fd, e->old, e->old_size);
        if (n != (ssize_t) e->old_size)
                r = n < 0 ? -errno : -ENOSPC;
        if (close(fd) < 0 && r == 0)
                r = -errno;
        if (r == 0)
                return EXIT_WANTED;

        (void) unlink(e->draft);
        return complain_file(e->draft, "written", r, NULL);
}

/* Asks the user what to do with a draft that has errors. Returns 'e' (edit), 'd' (discard) or 'k' (keep). Without a terminal the draft
 * is kept. */
static int edit_prompt(void) {
        _cleanup_free_ char *line = NULL;
        size_t size = 0;

        while (isatty(STDIN_FILENO)) {
                fputs("(e)dit again, (d)iscard the changes, (k)eep them as a draft? ", stderr);
                if (getline(&line, &size, stdin) <= 0)
                        break;
                if (strchr("edk", line[0]) && line[1] == '\n')
                        return line[0];
        }
        return 'k';
}

/* Replaces the file by the text in memory, which was checked. The draft on disk is not used, because the editor may still change it. The
 * file keeps its owner and mode. */
static int install(const Edit *e, int dir_fd) {
        int r = must_not_fail(file_replace_like(dir_fd, base_name(e->target), e->new, &e->st));

        if (r < 0)
                return complain_file(e->path, "written", r, NULL);
        (void) unlink(e->draft);
        (void) fsync(dir_fd);
        return EXIT_WANTED;
}

static int reload_service(const Options *o, const char *path) {
        _cleanup_(records_done) Records before = {};
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        _cleanup_close_ int records = open(o->state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int r;

        if (records < 0 || !record_directory_is_locked(records)) {
                printf("%s was saved. It takes effect when drivekeep.service starts.\n", path);
                return EXIT_WANTED;
        }
        r = request_open(&bus);
        r = r < 0 ? (int) request_explain(r, &SD_BUS_ERROR_NULL) : reload_request(o, bus, &before);
        if (r != EXIT_WANTED) {
                warn_escaped("%s was saved, but drivekeep.service has not read it", path);
                return r;
        }
        printf("%s was saved, and drivekeep.service has read it\n", path);
        return reload_report(o, &before);
}

static const char *unchanged(const Edit *e) {
        return e->exists ? "is not changed" : "was not created";
}

static int edit(Edit *e, int dir_fd) {
        int answer, status;

        do {
                _cleanup_(config_freep) Config *c = NULL;
                bool done = run_editor(e->draft);

                status = draft_read(e);
                if (status != EXIT_WANTED)
                        return status;
                if (e->new_size == e->old_size && memcmp(e->new, e->old, e->old_size) == 0) {
                        (void) unlink(e->draft);
                        if (done)
                                printf("%s %s\n", e->path, unchanged(e));
                        else
                                warn_escaped("the editor failed; %s %s", e->path, unchanged(e));
                        return done ? EXIT_WANTED : EXIT_BAD_INPUT;
                }
                if (!done) {
                        answer = 'k';
                        break;
                }

                (void) draft_check(e->options->roots, &(ConfigDraft){ e->path, e->new, e->new_size }, NULL, &c);
                /* Errors in other files do not prevent the edit of this file. */
                if (!complaints_have_error(&c->complaints, e->path)) {
                        status = install(e, dir_fd);
                        return status == EXIT_WANTED ? reload_service(e->options, e->path) : status;
                }
                answer = edit_prompt();
        } while (answer == 'e');

        if (answer == 'd' && unlink(e->draft) >= 0)
                warn_escaped("%s %s", e->path, unchanged(e));
        else
                warn_escaped("%s %s; the draft is %s, and 'drivekeep edit' opens it again", e->path, unchanged(e),
                             e->draft);
        return EXIT_BAD_INPUT;
}

static int edit_run(const Options *o) {
        _cleanup_(edit_done) Edit e = { .options = o };
        _cleanup_close_ int lock = -EBADF;
        int status;

        if (geteuid() != 0) {
                warnx("only root may change the configuration");
                return EXIT_BAD_INPUT;
        }
        if (o->names && o->names[1]) {
                warnx("name at most one file");
                return EXIT_BAD_INPUT;
        }

        /* Lets the service, which runs as another user, read new files. */
        (void) umask(0022);
        status = edit_begin(&e, o->names ? o->names[0] : NULL);
        if (status != EXIT_WANTED)
                return status;

        lock = open(e.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (lock < 0)
                return complain_file(e.path, "edited", -errno, NULL);
        if (flock(lock, LOCK_EX | LOCK_NB) < 0) {
                warn_escaped("another 'drivekeep edit' is editing a file in %s", e.directory);
                return EXIT_BAD_INPUT;
        }
        status = draft_begin(&e);
        return status == EXIT_WANTED ? edit(&e, lock) : status;
}

const Verb verb_edit = {
        .name = "edit",
        .changes = true,
        .summary = "Edit the configuration, check it, and reload",
        .arguments = "[NAME.conf]",
        .help = "Open a copy of /etc/drivekeep/drivekeep.conf, or of the drop-in NAME.conf, in an editor. If the copy has no errors, "
                "replace the file and make drivekeep.service read it. On a terminal, or with --wait, wait for the drives whose wanted "
                "settings changed, and show the results."
                "\vThe editor is $SYSTEMD_EDITOR, $EDITOR or $VISUAL. Needs root.",
        .options = OPTION_WAIT | OPTION_STATE_DIR,
        .run = edit_run,
};
