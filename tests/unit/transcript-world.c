/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <systemd/sd-id128.h>
#include <time.h>
#include <wordexp.h>

#include "bus-pair.h"
#include "choice.h"
#include "config.h"
#include "inventory.h"
#include "model-drive.h"
#include "must.h"
#include "plan.h"
#include "probe.h"
#include "drive-record.h"
#include "scratch.h"
#include "settings.h"
#include "temporary.h"
#include "text.h"
#include "transcript-parts.h"
#include "transcript-world.h"
#include "unit-status.h"
#include "verb.h"
#include "visit.h"

#define CLOCK_SECONDS 1763692751 /* 2025-11-21 02:39:11 UTC */
#define CALLS "../calls"
#define RECORDS "run/drivekeep/drives"
#define RECORDS_TO_COME "../records"

typedef struct Answer {
        char *method;
        char *error; /* D-Bus error name; NULL: none */
        char *text; /* the message of `error`; or, if `runs` is true, a shell command to run before the answer; or the result */
        bool runs;
} Answer;

static struct {
        Drive *drives[16];
        size_t n_drives;
        Answer answers[8];
        size_t n_answers;
        int lock;
        bool is_served, is_silent; /* is_served: the service runs; is_silent: the service does not answer */
        bool has_terminal, has_no_udev;
        char *disk; /* disk on which all files are; NULL: not known */
        char *verdict; /* verdict on each setting that the service applies; NULL: the transcript's directives state the verdicts */
        char *fsck; /* unit of a running file system check; NULL: none */
} world;

static const char *const roots[] = { "/etc", "/run", "/usr/lib", NULL };

/* ---- the process and its host ---- */

uid_t geteuid(void) {
        return world_user;
}

int isatty(int fd) {
        return world.has_terminal && fd <= STDOUT_FILENO;
}

int gethostname(char *name, size_t size) {
        (void) snprintf(name, size, "nas");
        return 0;
}

int sd_id128_get_boot(sd_id128_t *ret) {
        return sd_id128_from_string("0123456789abcdef0123456789abcdef", ret);
}

/* The real function is a keyed hash, too. */
int sd_id128_get_machine_app_specific(sd_id128_t app, sd_id128_t *ret) {
        for (size_t i = 0; i < sizeof app.bytes; i++)
                ret->bytes[i] = app.bytes[i] * 167 + 41;
        return 0;
}

int uname(struct utsname *ret) {
        *ret = (struct utsname){ .release = "6.12.48", .machine = "x86_64" };
        return 0;
}

int clock_gettime(clockid_t clock, struct timespec *ts) {
        if (clock != CLOCK_REALTIME) {
                int r = (int) syscall(SYS_clock_gettime, clock, ts);

                ts->tv_sec += (time_t) (journal_passed() / 1000000);
                ts->tv_nsec += (long) (journal_passed() % 1000000 * 1000);
                return r;
        }
        *ts = (struct timespec){ .tv_sec = CLOCK_SECONDS, .tv_nsec = 123456000 };
        return 0;
}

/* ---- log of calls to the service and commands to drives ---- */

static _printf_(1, 2) void call_log(const char *format, ...) {
        _cleanup_free_ char *path = must_format("%s/" CALLS, world_root);
        FILE *f = fopen(path, "ae");
        va_list ap;

        va_start(ap, format);
        (void) vfprintf(f, format, ap);
        va_end(ap);
        (void) fputs(", ", f);
        (void) fclose(f);
}

/* Logs a change of ownership, which the kernel would permit only to root. */
int fchown(_unused_ int fd, uid_t owner, gid_t group) {
        call_log("chown %u:%u", owner, group);
        return 0;
}

char *world_take_calls(void) {
        _cleanup_free_ char *path = must_format("%s/" CALLS, world_root);
        FILE *f = fopen(path, "re");
        char *text = NULL;
        size_t size = 0;

        if (!f || getdelim(&text, &size, '\0', f) < 0) {
                free(text);
                text = must(strdup(""));
        }
        if (f)
                (void) fclose(f);
        (void) unlink(path);
        return text;
}

/* ---- drives: the file in place of the node contains the answers ---- */

int inventory_read(Inventory *ret) {
        if (world.has_no_udev)
                return -EMFILE;
        *ret = (Inventory){ .drives = world.drives, .n_drives = world.n_drives };
        return 0;
}

void inventory_done(_unused_ Inventory *i) {
}

/* Only the drives of the world have been identified by udev. */
int inventory_readiness(const char *name, Readiness *ret) {
        *ret = (Readiness){};
        for (size_t i = 0; i < world.n_drives; i++)
                ret->initialized = ret->initialized || streq(world.drives[i]->name, name);
        return 0;
}

/* Parses the state of a drive: "apm=254 lookahead=on write_cache=off". */
static ModelDrive drive_holding(const char *text) {
        ModelDrive m = MODEL_DRIVE_COLD;
        const char *apm = strstr(text, "apm=");

        m.lookahead = strstr(text, "lookahead=on");
        m.cache = !strstr(text, "write_cache=off");
        if (apm)
                m.apm = starts_with(apm, "apm=off") ? -1 : atoi(apm + strlen("apm="));
        return m;
}

static const char *image_add(const char *path, const char *text) {
        ModelDrive m = drive_holding(text);
        Image image = image_make(m.cache, m.lookahead, m.apm, -1);
        FILE *f = fopen(path, "we");

        (void) fwrite(&image, sizeof image, 1, f);
        return fclose(f) == 0 ? NULL : "the file cannot be written";
}

/* Performs ATA PASS-THROUGH (16) or (12). */
WRAPPED(int, sg_io_real, _unused_ void *userdata, int fd, SgRequest *q) {
        char link[32], path[PATH_MAX] = "", text[256] = "";
        ModelDrive drive, *m = &drive;
        bool is_short = q->cdb[0] == 0xA1;
        int r;

        (void) snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        (void) readlink(link, path, sizeof path - 1);
        (void) pread(fd, text, sizeof text - 1, 0);
        if (is_short)
                q->cdb[14] = q->cdb[9];
        call_log("%s is sent %02Xh%s", base_name(path), q->cdb[14], is_short ? " by ATA PASS-THROUGH (12)" : "");
        if (strstr(text, "dead"))
                return -EIO;
        drive = drive_holding(text);
        r = model_sg(&m, fd, q);
        if (q->cdb[14] == 0xE5 && strstr(text, "standby"))
                q->sense[13] = 0;
        if (q->cdb[14] == 0xE5 && strstr(text, "unclear")) {
                q->status = STATUS_GOOD;
                q->sense_len = 0;
        }
        return r;
}

static void node_read(const Drive *d, char *ret, size_t size) {
        _cleanup_free_ char *node = must_format("%s/dev/%s", world_root, d->name);
        FILE *f = d->name ? fopen(node, "re") : NULL;

        ret[f ? fread(ret, 1, size - 1, f) : 0] = '\0';
        if (f)
                (void) fclose(f);
}

/* The simulated drive has no saved values. This structure adds a saved value: "saves-apm=254". */
typedef struct Saving {
        const char *apm;
        ProbeFn each;
        void *userdata;
} Saving;

static void probed_save(void *userdata, const Probed *probed) {
        const Saving *s = userdata;
        Probed x = *probed;

        if (s->apm && streq(x.setting->name, "apm")) {
                x.reading.saved_known = true;
                x.reading.saved = (Value){ .type = VALUE_INT, .number = atoi(s->apm + strlen("saves-apm=")) };
        }
        s->each(s->userdata, &x);
}

WRAPPED(void, probe, Device *d, unsigned backends, const SettingTable *t, ProbeFn each, void *userdata) {
        Saving s = { .each = each, .userdata = userdata };
        char text[256];

        node_read(d->drive, text, sizeof text);
        s.apm = strstr(text, "saves-apm=");
        __real_probe(d, backends, t, probed_save, &s);
}

WRAPPED(int, visit_run, const Visit *v, Plan *ret) {
        char text[256];

        ck_assert(v->dry);
        node_read(v->drive, text, sizeof text);
        if (v->work & WORK_PERMANENT)
                call_log("%s: saved values are read, too", v->drive->name);
        return strstr(text, "broken") ? -EIO : __real_visit_run(v, ret);
}

WRAPPED(int, stack_name, _unused_ dev_t device, char **ret) {
        if (!world.disk)
                return -ENODEV;
        *ret = must(strdup(world.disk));
        return 0;
}

static const char *drive_add(char *const *words, size_t n) {
        _cleanup_free_ char *description = must_format("node=/dev/%s", words[0]),
                            *node = must_format("dev/%s", words[0]);
        uint64_t size = 0, diskseq = 0;
        bool ata = false;
        Drive *d;

        for (size_t i = 1; i < n; i++)
                if (starts_with(words[i], "size="))
                        size = strtoull(words[i] + strlen("size="), NULL, 10);
                else if (starts_with(words[i], "diskseq="))
                        diskseq = strtoull(words[i] + strlen("diskseq="), NULL, 10);
                else if (streq(words[i], "ata"))
                        ata = true;
                else {
                        _cleanup_free_ char *fact = NULL, *before = description;

                        must_work(text_unescape(words[i], &fact));
                        description = must_format("%s,%s", before, fact);
                }
        if (world.n_drives == ELEMENTSOF(world.drives) || drive_describe(description, &d) != EXIT_WANTED)
                return "invalid description of a drive";
        d->name = must(strdup(words[0]));
        d->syspath = must_format("/sys/block/%s", words[0]);
        d->rotational_unknown = d->removable_unknown = false;
        d->size = size;
        d->diskseq = diskseq;
        d->ata = ata;
        make_parents(node);
        (void) close(open(node, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        world.drives[world.n_drives++] = d;
        return NULL;
}

static void drives_drop(void) {
        while (world.n_drives > 0)
                (void) drive_free(world.drives[--world.n_drives]);
}

/* ---- the service and PID 1 ---- */

WRAPPED(int, systemd_find_fsck, char **ret_unit) {
        if (world.fsck)
                *ret_unit = must(strdup(world.fsck));
        return world.fsck != NULL;
}

/* Joins the strings in the arguments of a call, separated by blanks. Returns "" if there are none. The caller frees the text. */
static char *arguments_join(sd_bus_message *m) {
        char *text, type;
        const char *s;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));
        int yes;

        while (sd_bus_message_at_end(m, true) == 0) {
                if (sd_bus_message_peek_type(m, &type, NULL) <= 0)
                        (void) sd_bus_message_exit_container(m);
                else if (type == 'a')
                        (void) sd_bus_message_enter_container(m, 'a', "s");
                else if (type == 's' && sd_bus_message_read_basic(m, 's', &s) > 0)
                        fprintf(f, " %s", *s ? s : "''");
                else if (type == 'b' && sd_bus_message_read_basic(m, 'b', &yes) > 0)
                        fputs(yes ? " yes" : " no", f);
        }
        must_close(f);
        return text;
}

static int names_reply(sd_bus_message *m, const char *names) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_free_ char *copy = must(strdup(names));
        char *rest = NULL;

        must_work(sd_bus_message_new_method_return(m, &reply));
        must_work(sd_bus_message_open_container(reply, 'a', "s"));
        for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
                must_work(sd_bus_message_append_basic(reply, 's', name));
        must_work(sd_bus_message_close_container(reply));
        return sd_bus_send(NULL, reply, NULL) < 0 ? -EIO : 1;
}

/* ---- temporary values ---- */

static const Drive *drive_of(const char *name) {
        size_t n = 0;

        while (!streq(world.drives[n]->name, name))
                n++;
        return world.drives[n];
}

/* Reads the temporary values of a drive. Never returns NULL. The caller frees the result. */
static TemporaryValues *temporary_of(const Drive *d) {
        TemporaryValues *t = NULL;

        must_work(temporary_read(STATE_DIR, d, &all_settings, &t));
        return t ?: must(calloc(1, sizeof *t));
}

static void temporary_write(const Drive *d, TemporaryValues *t) {
        _cleanup_free_ char *name = NULL, *path = NULL, *text = NULL;
        FILE *f;

        free(t->drive);
        t->drive = must_format("%s (model %s, serial %s)", d->name, strna(d->model), strna(d->serial));
        must_work(temporary_name(d, &name));
        path = must_format(STATE_DIR "/%s", name);
        must_work(temporary_serialize(t, &text));
        if (t->n_items == 0) {
                (void) unlink(path);
                return;
        }
        f = must(fopen(path, "we"));
        (void) fputs(text, f);
        (void) fclose(f);
}

static void drive_try(sd_bus_message *m) {
        _cleanup_(temporary_freep) TemporaryValues *t = NULL;
        TemporaryValue v = { .until_boot = true };
        const char *name, *value, *before;
        int allow_dangerous, wake;
        char **words = NULL;
        const Drive *d;

        must_work(sd_bus_message_rewind(m, true));
        must_work(sd_bus_message_read(m, "s", &name));
        must_work(sd_bus_message_read_strv(m, &words));
        must_work(sd_bus_message_read(m, "bb", &allow_dangerous, &wake));
        v.allow_dangerous = allow_dangerous;
        v.wake = wake;
        d = drive_of(name);
        t = temporary_of(d);
        for (char **w = words; *w; w += 3) {
                const TemporaryValue *old = temporary_find(t, w[0], true);

                value = w[1];
                before = old ? old->before_text : *w[2] ? w[2] : NULL;
                v.setting = setting_find(&all_settings, w[0]);
                v.before_text = (char *) before;
                must_work(value_parse(&v.setting->range, value, &v.value));
                must_work(before ? value_parse(&v.setting->range, before, &v.before) : 0);
                v.accepted = old && old->accepted;
                must_work(temporary_set(t, &v));
        }
        temporary_write(d, t);
        for (char **w = words; *w; w++)
                free(*w);
        free(words);
}

/* Updates the temporary values after a visit with this verdict for each setting. If the verdict is a success, the values that have ended
 * are removed. */
static void drive_return(const Drive *d, Verdict verdict) {
        _cleanup_(temporary_freep) TemporaryValues *t = temporary_of(d);

        for (size_t i = t->n_items; i > 0; i--) {
                TemporaryValue *v = t->items + i - 1;

                if (v->restoring && verdict_is_wanted(verdict))
                        temporary_drop(t, v);
                else if (verdict_is_pending(verdict) || temporary_has_no_effect(verdict, true))
                        v->unaccepted = !v->accepted;
                else
                        v->accepted = true;
        }
        temporary_write(d, t);
}

/* Applies the configuration: writes a state file in which all settings have this verdict. */
static void drive_apply(const char *name, const char *verdict) {
        _cleanup_free_ char *path = must_format(STATE_DIR "/%s", name);
        _cleanup_(temporary_freep) TemporaryValues *temporary = NULL;
        _cleanup_(config_freep) Config *c = NULL;
        _cleanup_(wishes_done) Wishes wishes = {};
        const Drive *d = drive_of(name);
        FILE *f;

        temporary = temporary_of(d);
        must_work(config_new(&c));
        must_work(config_load(c, &all_settings, roots));
        must_work(config_resolve(c, d, false, &wishes));
        must_work(temporary_overlay(temporary, &wishes));
        f = must(fopen(path, "we"));
        fprintf(f, "VERSION=1\nNAME=%s\nSETTINGS=%zu\n", name, wishes.n_items);
        for (size_t i = 0; i < wishes.n_items; i++) {
                const Wish *w = wishes.items + i;
                _cleanup_free_ char *rule = must(wish_format_rule(w));
                char value[VALUE_TEXT_MAX];

                fprintf(f, "SETTING_%zu_NAME=%s\nSETTING_%zu_VERDICT=%s\nSETTING_%zu_RULE=%s\nSETTING_%zu_WANTED=%s\n",
                        i, w->name, i, verdict, i, rule, i,
                        value_format(&setting_find(&all_settings, w->name)->range, &w->value, value));
        }
        (void) fclose(f);
        drive_return(d, verdict_from_string(verdict));
}

/* Ends temporary values, and applies the configuration. `arguments`: the name of a drive, and the name of a setting or '' for all
 * settings. */
static void drive_undo(const char *arguments, const char *verdict) {
        _cleanup_(temporary_freep) TemporaryValues *t = NULL;
        char name[32], setting[64];
        const Drive *d;

        ck_assert_int_eq(sscanf(arguments, " %31s %63s", name, setting), 2);
        d = drive_of(name);
        t = temporary_of(d);
        for (size_t i = t->n_items; i > 0; i--) {
                TemporaryValue *v = t->items + i - 1;

                if (!streq(setting, "''") && !streq(setting, v->name))
                        continue;
                if (v->unaccepted || !v->before_text)
                        temporary_drop(t, v);
                else
                        v->restoring = true;
        }
        temporary_write(d, t);
        drive_apply(name, verdict);
}

/* Replies with `words`, which are four words for each setting. "-" is an empty word, and "~" is a blank. */
static int rewrite_reply(sd_bus_message *m, const char *words) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_free_ char *text = must(strdup(words));
        char *rest = text, *word[4];
        size_t n = 0;

        must_work(sd_bus_message_new_method_return(m, &reply));
        must_work(sd_bus_message_open_container(reply, 'a', "(ssss)"));
        while (*words && (word[n] = strsep(&rest, " "))) {
                for (char *tilde; (tilde = strchr(word[n], '~')); *tilde = ' ')
                        ;
                word[n] += streq(word[n], "-");
                n = (n + 1) % 4;
                if (n == 0)
                        must_work(sd_bus_message_append(reply, "(ssss)", word[0], word[1], word[2], word[3]));
        }
        must_work(sd_bus_message_close_container(reply));
        return sd_bus_send(NULL, reply, NULL);
}

/* Answers a call of a client. If no directive of the transcript sets an answer, the call succeeds. */
static int on_call(sd_bus_message *m, _unused_ void *userdata, sd_bus_error *error) {
        const char *method = sd_bus_message_get_member(m), *result = NULL;
        _cleanup_free_ char *arguments = arguments_join(m);

        if (!streq_ptr(sd_bus_message_get_interface(m), "org.drivekeep1.Manager") ||
            !streq_ptr(sd_bus_message_get_path(m), "/org/drivekeep1"))
                return 0;
        call_log("%s%s", method, arguments);
        for (const Answer *a = world.answers; a < world.answers + world.n_answers; a++) {
                if (!streq(a->method, method))
                        continue;
                if (a->error)
                        return sd_bus_error_set(error, a->error, a->text);
                if (!a->runs)
                        result = a->text;
                else if (system(a->text) != 0)
                        return sd_bus_error_set(error, SD_BUS_ERROR_FAILED, "not now");
        }
        if (world.verdict && starts_with(method, "Apply"))
                drive_apply(arguments + 1, world.verdict);
        if (streq(method, "Try"))
                drive_try(m);
        if (streq(method, "Undo"))
                drive_undo(arguments, world.verdict);
        if (!STR_IN_SET(method, "Settle", "GetReadPermission") && access(RECORDS_TO_COME, F_OK) == 0)
                (void) system("mv " RECORDS_TO_COME "/* " RECORDS);
        if (streq(method, "Release"))
                return sd_bus_reply_method_return(m, "u", result ? atoi(result) : 1);
        if (streq(method, "Rewrite"))
                return rewrite_reply(m, result ?: "");
        if (STR_IN_SET(method, "Apply", "ApplyPermanent", "Read", "SpinDown", "Undo"))
                return names_reply(m, result ?: arguments);
        return sd_bus_reply_method_return(m, "");
}

/* Replaces the C library's function, so that no socket of this machine is used. */
int connect(int fd, __CONST_SOCKADDR_ARG address, _unused_ socklen_t size) {
        bool is_service = streq(address.__sockaddr_un__->sun_path, STATE_DIR "/.private");
        int service;

        if (!world.is_served || world.is_silent || !is_service) {
                errno = world.is_served ? ECONNREFUSED : ENOENT;
                return -1;
        }
        (void) bus_play(on_call, NULL, &service);
        return dup2(service, fd) < 0 ? -1 : close(service);
}

static const char *answer_add(char *const *words, size_t n, bool is_error, bool runs) {
        Answer *a = world.answers + world.n_answers;
        size_t size;
        FILE *f;

        if (world.n_answers == ELEMENTSOF(world.answers) || n == 0 || (is_error && n < 2))
                return "a method and its reply are missing";
        *a = (Answer){ .method = must(strdup(words[0])), .runs = runs };
        if (is_error)
                a->error = must_format("%s%s", strchr(words[1], '.') ? "" : "org.freedesktop.DBus.Error.", words[1]);
        f = must(open_memstream(&a->text, &size));
        for (size_t i = 1 + is_error; i < n; i++) {
                _cleanup_free_ char *word = NULL;

                must_work(text_unescape(words[i], &word));
                fprintf(f, "%s%s", ftell(f) > 0 ? " " : "", word);
        }
        must_close(f);
        world.n_answers++;
        return NULL;
}

static void answers_drop(void) {
        while (world.n_answers > 0) {
                Answer *a = world.answers + --world.n_answers;

                free(a->method);
                free(a->error);
                free(a->text);
        }
}

/* ---- the whole ---- */

void world_make(void) {
        world = (typeof(world)){ .lock = -EBADF };
        world_user = 0;
        scratch_make();
        ck_assert(mkdir("root", 0755) == 0 && chdir("root") == 0);
        ck_assert_ptr_nonnull(getcwd(world_root, sizeof world_root));
}

void world_remove(void) {
        while (waitpid(-1, NULL, 0) > 0)
                ;
        closep(&world.lock);
        drives_drop();
        journal_reset(false);
        answers_drop();
        free(TAKE_PTR(world.fsck));
        free(TAKE_PTR(world.verdict));
        free(TAKE_PTR(world.disk));
        (void) chdir("/");
        scratch_remove();
        world_root[0] = '\0';
}

void world_enter(void) {
        /* The child that answers in place of the service must not keep the lock. */
        closep(&world.lock);
        (void) setenv("TZ", "UTC", true);
        (void) setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent", true);
        (void) setenv("PATH", "bin:/usr/bin:/bin", true);
        (void) unsetenv("TERM");
        (void) unsetenv("COLUMNS");
        program_invocation_short_name = (char *) "drivekeep";
}

static const char *file_add(const char *path, const char *text) {
        FILE *f;

        path += *path == '/';
        make_parents(path);
        f = fopen(path, "we");
        if (!f)
                return "the file cannot be written";
        (void) fputs(text, f);
        return fclose(f) == 0 ? NULL : "the file cannot be written";
}

/* Writes the configuration in force to the state directory, as the service does after reading it. Returns an error, or NULL. */
static const char *configuration_read(void) {
        _cleanup_(config_freep) Config *c = NULL;
        _cleanup_free_ char *text = NULL;
        FILE *f;

        must_work(config_new(&c));
        must_work(config_load(c, &all_settings, roots));
        must_work(config_format_in_force(c, &text));
        f = fopen(STATE_DIR "/" CONFIG_IN_FORCE_FILE, "we");
        if (!f)
                return "no service runs that could read the file";
        (void) fputs(text, f);
        (void) fclose(f);
        return NULL;
}

/* Writes a state file from `fields`, and from the lines of `text`: one setting per line, with its name and fields. */
static const char *record_add(const char *directory, const char *name, char *const *fields, size_t n,
                              const char *text) {
        _cleanup_free_ char *path = must_format("%s/%s", directory, name), *copy = must(strdup(text));
        char *rest = NULL;
        size_t n_settings = 0;
        FILE *f;

        make_parents(path);
        f = must(fopen(path, "we"));
        fprintf(f, "VERSION=1\nNAME=%s\n", name);
        for (size_t i = 0; i < n; i++)
                fprintf(f, "%s\n", fields[i]);
        for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                wordexp_t words;

                ck_assert_int_eq(wordexp(line, &words, WRDE_NOCMD | WRDE_UNDEF), 0);
                fprintf(f, "SETTING_%zu_NAME=%s\n", n_settings, words.we_wordv[0]);
                for (size_t i = 1; i < words.we_wordc; i++)
                        fprintf(f, "SETTING_%zu_%s\n", n_settings, words.we_wordv[i]);
                wordfree(&words);
                n_settings++;
        }
        fprintf(f, "SETTINGS=%zu\n", n_settings);
        return fclose(f) == 0 ? NULL : "the file cannot be written";
}

static const char *service_set(const char *how) {
        /* For "ends", a child keeps the lock for a short time, like a service that has not quite exited. */
        if (streq_ptr(how, "ends") && fork() == 0) {
                (void) usleep(200 * 1000);
                _exit(EXIT_SUCCESS);
        }
        closep(&world.lock);
        world.is_served = false;
        if (STR_IN_SET(how ?: "", "ends", "stopped"))
                return NULL;
        make_parents(RECORDS "/");
        world.lock = record_directory_lock(RECORDS);
        world.is_served = true;
        world.is_silent = streq_ptr(how, "silent");
        if (streq_ptr(how, "reads"))
                return configuration_read();
        return !how || world.is_silent ? NULL
                                       : "use service, service reads, service silent, service ends or service stopped";
}

const char *world_change(char *const *words, size_t n, const char *text) {
        const char *what = words[0], *second = n > 1 ? words[1] : NULL;

        if (streq(what, "file") && n == 2)
                return file_add(second, text);
        if (streq(what, "image") && n == 3)
                return image_add(second, words[2]);
        if (streq(what, "record") && n > 1)
                return record_add(RECORDS, second, words + 2, n - 2, text);
        if (streq(what, "becomes") && n > 1)
                return record_add(RECORDS_TO_COME, second, words + 2, n - 2, text);
        if (streq(what, "drive") && n > 1)
                return drive_add(words + 1, n - 1);
        if (streq(what, "no") && streq_ptr(second, "drives"))
                drives_drop();
        else if (streq(what, "no") && streq_ptr(second, "udev"))
                world.has_no_udev = true;
        else if (streq(what, "no") && streq_ptr(second, "journal"))
                journal_reset(true);
        else if (streq(what, "service"))
                return service_set(second);
        else if (STR_IN_SET(what, "answer", "refuse", "on"))
                return answer_add(words + 1, n - 1, streq(what, "refuse"), streq(what, "on"));
        else if (STR_IN_SET(what, "journal", "later"))
                return journal_add(words + 1, n - 1, streq(what, "later"));
        else if (streq(what, "user") && second)
                world_user = (uid_t) atoi(second);
        else if (streq(what, "terminal"))
                world.has_terminal = true;
        else if (streq(what, "stdin"))
                return file_add("../stdin", text);
        else if (streq(what, "applies") && second) {
                free(world.verdict);
                world.verdict = must(strdup(second));
        } else if (streq(what, "files") && streq_ptr(second, "on") && n == 3)
                world.disk = must(strdup(words[2]));
        else if (streq(what, "fsck") && second)
                world.fsck = must(strdup(second));
        else
                return "unknown directive";
        return NULL;
}
