/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the whole service with scripts (tests/unit/scripts).
 *
 * A script has cases, and each case begins with a machine without drives. A line is a verb (see the table `verbs`; the functions describe
 * the arguments) that does something to the machine or to the service. The indented lines below it are the output of the service until
 * no event is pending: requests and orders to workers, journal records, replies on D-Bus, and requests to the tracer. A missing,
 * different or additional line fails the test. State files and timers are shown on request ("?"). Time passes only in "at", "wait" and
 * "until", and output during that time begins with the time.
 *
 * "def NAME" begins a definition that ends with "end". "do NAME ARGUMENT…" runs the definition with $1, $2, …
 * "quietly NAME ARGUMENT…" runs the definition without showing its output. A line that is indented by two spaces continues the previous line.
 *
 * "test-scripts FILE…" runs only these scripts. "test-scripts --write FILE…" replaces the output in the files by the actual output, which
 * must be reviewed afterwards. */

#include <assert.h>
#include <ctype.h>
#include <setjmp.h>

#include "simulator.h"
#include "temporary.h"
#include "suite.h"
#include "use-patterns.h"

#define SCRIPTS "tests/unit/scripts"
#define WORDS_MAX 256
#define INDENT "        "

/* ---- output ---- */

static char *output;
static size_t output_size;
static FILE *out;
static bool is_waiting; /* true during "at", "wait" and "until" */
static unsigned n_emitted;

static void format_time(int64_t usec, char *buf, size_t size) {
        int64_t s = usec / SECOND, rest = usec % SECOND;

        if (s >= 3600)
                (void) snprintf(buf, size, "%" PRIi64 ":%02" PRIi64 ":%02" PRIi64, s / 3600, s / 60 % 60, s % 60);
        else
                (void) snprintf(buf, size, "%" PRIi64 ":%02" PRIi64, s / 60, s % 60);
        if (rest > 0)
                (void) snprintf(buf + strlen(buf), size - strlen(buf), ".%03" PRIi64, rest / 1000);
}

static void simulator_emit(const char *format, ...) {
        char when[32];
        va_list ap;

        n_emitted++;
        if (!out)
                return;
        fputs(INDENT, out);
        if (is_waiting) {
                format_time(passed_usec, when, sizeof when);
                fprintf(out, "%s ", when);
        }
        va_start(ap, format);
        (void) vfprintf(out, format, ap);
        va_end(ap);
        fputc('\n', out);
}

/* ---- position ---- */

static const char *script; /* path of the current script */
static unsigned line_number;

static bool is_writing; /* option --write: the output and errors are written into the script, and not compared */
static jmp_buf next_line;

_Noreturn static void script_fail(const char *format, ...) _printf_(1, 2);
static void script_fail(const char *format, ...) {
        char why[512];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(why, sizeof why, format, ap);
        va_end(ap);
        if (is_writing) {
                simulator_emit("ERROR: %s", why);
                longjmp(next_line, 1);
        }
        ck_abort_msg("%s:%u: %s", script, line_number, why);
}

#define script_assert(is_so, ...)                 \
        do {                                      \
                if (!(is_so))                     \
                        script_fail(__VA_ARGS__); \
        } while (0)

/* Parses "20:00", "1:00:00", "20min", "3h", "15s", "250ms" or "10d". */
static int64_t parse_time(const char *text) {
        static const struct {
                const char *unit;
                int64_t usec;
        } units[] = { { "ms", 1000 },
                      { "s", SECOND },
                      { "min", 60 * SECOND },
                      { "h", 3600 * SECOND },
                      { "d", 86400 * SECOND } };
        int64_t usec = 0;
        char *end;
        double n = strtod(text, &end);

        for (size_t i = 0; i < ELEMENTSOF(units); i++)
                if (streq(end, units[i].unit))
                        return (int64_t) (n * (double) units[i].usec + 0.5);
        for (; *end == ':'; n = strtod(end + 1, &end))
                usec = (usec + (int64_t) n * SECOND) * 60;
        script_assert(*end == '\0' && end != text, "invalid time: %s", text);
        return usec + (int64_t) (n * SECOND + 0.5);
}

/* ---- words ---- */

typedef struct Words {
        char *items[WORDS_MAX];
        unsigned n;
        char *line; /* the whole text after the verb */
} Words;

static void words_split(Words *w, char *line) {
        *w = (Words){};
        for (char *word; (word = strsep(&line, " \n"));)
                if (*word) {
                        script_assert(w->n < WORDS_MAX, "too many words");
                        w->items[w->n++] = word;
                }
}

static const char *word(const Words *w, unsigned i) {
        script_assert(i < w->n, "missing argument");
        return w->items[i];
}

/* Returns the value in a word "KEY=VALUE"; NULL: the word has another key. */
static const char *word_value(const char *text, const char *key) {
        size_t n = strlen(key);

        return strncmp(text, key, n) == 0 && text[n] == '=' ? text + n + 1 : NULL;
}

static void copy(char *to, size_t size, const char *from) {
        script_assert(snprintf(to, size, "%s", from) < (int) size, "too long: %s", from);
}

/* ---- the machine ---- */

static Disk *disk_of(const char *name) {
        Disk *d = disk_find(name);

        script_assert(d, "unknown drive: %s", name);
        return d;
}

static void put(const Disk *d, const char *file, const char *text) {
        char path[PATH_MAX];

        (void) snprintf(path, sizeof path, "%s/%s", d->syspath, file);
        world_write(path, text);
}

/* Returns the first number in a file of the drive. */
static uint64_t read_number(const Disk *d, const char *file, int base) {
        char path[PATH_MAX], buf[PATH_MAX], text[64] = "";
        FILE *f;

        (void) snprintf(path, sizeof path, "%s/%s", d->syspath, file);
        f = fopen(redirect(path, buf), "re");
        script_assert(f && fgets(text, sizeof text, f), "%s has no %s", d->name, file);
        (void) fclose(f);
        return strtoull(text, NULL, base);
}

/* Stores that the wear counters were read just now, so that the service does not read them for a day. */
static void keep_wear(const Disk *disk) {
        _cleanup_(drive_freep) Drive *d = disk_drive(disk);
        _cleanup_free_ char *key = NULL;
        int64_t now = REALTIME_START + slept + passed_usec;
        char path[PATH_MAX], text[256];

        ck_assert_int_ge(guard_key(d, &key), 0);
        (void) snprintf(path, sizeof path, GUARD_DIR "/drives/%s", key);
        (void) snprintf(text, sizeof text,
                        "VERSION=1\nNAME=%s\nUSE_SETTING=another\nUSE_KEY=another\nUSE_SINCE=%" PRIi64
                        "\nWEAR_WHEN=%" PRIi64 "\nSETTINGS=0\n",
                        d->name, now, now);
        world_write(path, text);
}

/* drive sda [sas|usb|nvme|…] [flash] [removable] [unready] [model=M] [serial=S] [wwn=W] [link=/dev/x] [diskseq=N] [port=N]
 * [on=DEVICE] [absent] [unidentified] [wear-unread]: describes a drive. "unready": udev's rules have not run yet. "absent": the drive is not
 * attached yet. "unidentified": the drive did not answer IDENTIFY of udev. "wear-unread": the service has not yet read the wear counters. */
static void do_drive(const Words *w) {
        Disk *d = disk_find(word(w, 0));
        unsigned port = d ? d->number : n_disks;
        const char *on = NULL;
        char path[PATH_MAX], target[PATH_MAX], text[64];
        bool is_new = !d, wear_is_read = true;

        if (is_new)
                d = disks + n_disks++;
        *d = (Disk){ .number = (unsigned) (d - disks) };
        copy(d->name, sizeof d->name, word(w, 0));
        copy(d->transport, sizeof d->transport, "sata");
        copy(d->model, sizeof d->model, "M");
        copy(d->serial, sizeof d->serial, d->name);
        for (unsigned i = 1; i < w->n; i++) {
                const char *value;

                if ((value = word_value(w->items[i], "model")))
                        copy(d->model, sizeof d->model, value);
                else if ((value = word_value(w->items[i], "serial")))
                        copy(d->serial, sizeof d->serial, value);
                else if ((value = word_value(w->items[i], "wwn")))
                        copy(d->wwn, sizeof d->wwn, value);
                else if ((value = word_value(w->items[i], "link")))
                        copy(d->links[d->n_links++], sizeof d->links[0], value);
                else if ((value = word_value(w->items[i], "diskseq")))
                        d->diskseq = strtoull(value, NULL, 10);
                else if ((value = word_value(w->items[i], "port")))
                        port = strtoul(value, NULL, 10);
                else if (streq(w->items[i], "flash"))
                        d->flash = true;
                else if (streq(w->items[i], "removable"))
                        d->removable = true;
                else if (streq(w->items[i], "unready"))
                        d->unready = true;
                else if (word_value(w->items[i], "on"))
                        on = word_value(w->items[i], "on");
                else if (streq(w->items[i], "absent"))
                        d->absent = true;
                else if (streq(w->items[i], "unidentified"))
                        d->unidentified = true;
                else if (streq(w->items[i], "wear-unread"))
                        wear_is_read = false;
                else
                        copy(d->transport, sizeof d->transport, w->items[i]);
        }
        if (on)
                (void) snprintf(d->syspath, sizeof d->syspath, "/sys/devices/pci0/%s/block/%s", on, d->name);
        else if (streq(d->transport, "nvme"))
                (void) snprintf(d->syspath, sizeof d->syspath, "/sys/devices/pci0/nvme/nvme%u/%s", port, d->name);
        else if (streq(d->transport, "usb"))
                (void) snprintf(d->syspath, sizeof d->syspath,
                                "/sys/devices/pci0/usb1/1-%u/host%u/target%u:0:0/%u:0:0:0/block/%s", port, port, port,
                                port, d->name);
        else if (streq(d->transport, "sata"))
                (void) snprintf(d->syspath, sizeof d->syspath,
                                "/sys/devices/pci0/ata%u/host%u/target%u:0:0/%u:0:0:0/block/%s", port + 1, port, port,
                                port, d->name);
        else
                (void) snprintf(d->syspath, sizeof d->syspath,
                                "/sys/devices/pci0/host%u/target%u:0:1/%u:0:1:3/block/%s", port, port, port, d->name);
        if (!is_new)
                return;
        (void) snprintf(text, sizeof text, "8:%u\n", 16 * d->number);
        put(d, "dev", text);
        put(d, "stat", "1 0 8 0 0 0 0 0 0 0 0\n");
        put(d, "queue/iostats", "1\n");
        put(d, "inflight", "0 0\n");
        (void) snprintf(path, sizeof path, "%s/device", d->syspath);
        world_link(path, streq(d->transport, "nvme") ? ".." : "../..");
        put(d, "device/iorequest_cnt", "0x1\n");
        put(d, "device/state", streq(d->transport, "nvme") ? "live\n" : "running\n");
        (void) snprintf(path, sizeof path, "/sys/class/block/%s", d->name);
        (void) snprintf(target, sizeof target, "../..%s", d->syspath + strlen("/sys"));
        world_link(path, target);
        if (wear_is_read)
                keep_wear(d);
}

/* array md0 sda sdb: md0 is stored on sda and sdb */
static void do_array(const Words *w) {
        char path[PATH_MAX], text[32];

        (void) snprintf(path, sizeof path, "/sys/class/block/%s/dev", word(w, 0));
        (void) snprintf(text, sizeof text, "9:%lu\n",
                        strtoul(word(w, 0) + strcspn(word(w, 0), "0123456789"), NULL, 10));
        world_write(path, text);
        for (unsigned i = 1; i < w->n; i++) {
                (void) snprintf(path, sizeof path, "/sys/class/block/%s/slaves/%s/x", w->items[0], w->items[i]);
                world_write(path, "");
                (void) snprintf(path, sizeof path, "/sys/class/block/%s/holders/%s/x", w->items[i], w->items[0]);
                world_write(path, "");
        }
}

static void do_files(const Words *w) {
        const char *rules = strchr(w->line, '{');
        _cleanup_free_ char *text = NULL;
        size_t n = rules ? (size_t) (rules - w->line) : strlen(w->line);

        ck_assert_int_ge(asprintf(&text, "%.*s\ndrives = ( %s );\n", (int) n, w->line, rules ?: ""), 0);
        world_write("/etc/drivekeep/drivekeep.conf", text);
}

static TemporaryValues *temporary_of(const char *name, char path[static PATH_MAX]);

/* Gets the path for the first word: "/sys/…"; "sda/stat": a file below the drive; "sda/.temporary": the file with the drive's
 * temporary values. */
static void file_of(const Words *w, char ret[static PATH_MAX]) {
        const char *file = word(w, 0), *slash = strchr(file, '/');
        char name[32];

        script_assert(slash, "invalid path: %s", file);
        (void) snprintf(name, sizeof name, "%.*s", (int) (slash - file), file);
        if (streq(slash, "/.temporary")) {
                TemporaryValues *t = temporary_of(name, ret);

                script_assert(t, "%s has no temporary values", name);
                (void) temporary_free(t);
                return;
        }
        (void) snprintf(ret, PATH_MAX, "%s%s", slash == file ? "" : disk_of(name)->syspath, slash);
}

/* put FILE TEXT…: writes a file; "\n" in the text is a line feed */
static void do_put(const Words *w) {
        char path[PATH_MAX], text[4096];
        size_t n = 0;

        file_of(w, path);
        for (const char *c = w->line + strlen(w->items[0]); *c; c++)
                if (n > 0 || *c != ' ') {
                        bool feed = c[0] == '\\' && c[1] == 'n';

                        text[n++] = feed ? '\n' : *c;
                        c += feed;
                }
        if (n > 0)
                text[n++] = '\n';
        text[n] = '\0';
        world_write(path, text);
}

/* link FILE TARGET: creates a symbolic link */
static void do_link(const Words *w) {
        char path[PATH_MAX];

        file_of(w, path);
        world_link(path, word(w, 1));
}

static void do_remove(const Words *w) {
        char path[PATH_MAX];

        file_of(w, path);
        world_remove(path);
}

/* reword FILE OLD NEW: replaces a text in a file; "~" is a space */
static void do_reword(const Words *w) {
        char path[PATH_MAX], buf[PATH_MAX], *found;
        _cleanup_free_ char *text = NULL, *changed = NULL;
        size_t size;

        file_of(w, path);
        for (unsigned i = 1; i < w->n; i++)
                for (char *tilde; (tilde = strchr(w->items[i], '~'));)
                        *tilde = ' ';
        script_assert(record_file_read(AT_FDCWD, redirect(path, buf), RECORD_MAX_BYTES, &text, &size) >= 0, "no %s",
                      path);
        found = strstr(text, word(w, 1));
        script_assert(found, "%s does not have %s", path, w->items[1]);
        ck_assert_int_ge(asprintf(&changed, "%.*s%s%s", (int) (found - text), text, word(w, 2),
                                  found + strlen(w->items[1])),
                         0);
        world_write(path, changed);
}

/* spoil FILE: reading the file fails from now on; spoil FILE once: the next open fails with ENOMEM */
static void do_spoil(const Words *w) {
        char path[PATH_MAX], buf[PATH_MAX];
        struct stat st;

        file_of(w, path);
        if (w->n > 1) {
                copy(lacking, sizeof lacking, path);
                return;
        }
        if (lstat(redirect(path, buf), &st) >= 0)
                world_remove(path);
        world_link(path, base_name(path));
}

static void count_uses(const Disk *d, uint64_t more) {
        char text[64];

        if (more == 0)
                return;
        (void) snprintf(text, sizeof text, "%" PRIu64 " 0 8 0 0 0 0 0 0 0 0\n", read_number(d, "stat", 10) + more);
        put(d, "stat", text);
}

/* "io sda [N]": sda executes N reads. "commands sda [N]": sda gets N commands from programs. */
static void do_io(const Words *w) {
        count_uses(disk_of(word(w, 0)), w->n > 1 ? strtoull(w->items[1], NULL, 10) : 1);
}

static void do_commands(const Words *w) {
        const Disk *d = disk_of(word(w, 0));
        char text[64];
        uint64_t n = read_number(d, "device/iorequest_cnt", 16);

        n += w->n > 1 ? strtoull(w->items[1], NULL, 10) : 1;
        (void) snprintf(text, sizeof text, "0x%" PRIx64 "\n", n);
        put(d, "device/iorequest_cnt", text);
}

/* ---- time ---- */

static void pass_until(int64_t usec) {
        script_assert(usec >= passed_usec, "time in the past");
        is_waiting = true;
        world_pass_until(usec);
        is_waiting = false;
}

static void do_at(const Words *w) {
        pass_until(parse_time(word(w, 0)));
}

static void do_wait(const Words *w) {
        pass_until(passed_usec + parse_time(word(w, 0)));
}

/* until: time passes until there is output, for two days at most */
static void do_until(_unused_ const Words *w) {
        int64_t limit = passed_usec + 2 * 86400 * SECOND;
        unsigned before = n_emitted;

        is_waiting = true;
        for (int64_t due; n_emitted == before && (due = world_due()) <= limit;) {
                passed_usec = MAX(passed_usec, due);
                world_run();
        }
        is_waiting = false;
}

/* ---- the service ---- */

static void do_start(_unused_ const Words *w) {
        int r = world_start();

        if (r < 0) {
                simulator_emit("no start: %s", strerrorname_np(-r));
                world_stop();
        }
}

/* kill: the service ends as by a crash */
static void do_kill(_unused_ const Words *w) {
        world_stop();
}

static void do_signal(const Words *w) {
        ck_assert_int_eq(raise(streq(word(w, 0), "HUP") ? SIGHUP : streq(w->items[0], "INT") ? SIGINT : SIGTERM), 0);
}

/* Increases the number of the kernel's last event by `more`. Returns the new number. */
static uint64_t count_uevents(unsigned more) {
        static const char path[] = "/sys/kernel/uevent_seqnum";
        char buf[PATH_MAX], text[32] = "";
        uint64_t n;
        FILE *f = fopen(redirect(path, buf), "re");

        script_assert(f && fgets(text, sizeof text, f), "cannot read the number of events");
        (void) fclose(f);
        n = strtoull(text, NULL, 10) + more;
        (void) snprintf(text, sizeof text, "%" PRIu64 "\n", n);
        world_write(path, text);
        return n;
}

static VisitReason reason_of(const char *name) {
        VisitReason r = 0;

        while (r < _VISIT_REASON_MAX && !streq(visit_reason_to_string(r), name))
                r++;
        script_assert(r < _VISIT_REASON_MAX, "unknown reason: %s", name);
        return r;
}

/* udev sda: the drive is attached or changed.
 * udev sda failed: udev killed the process that ran its rules, so the event has no identity and no links.
 * udev sda gone: the drive is removed.
 * udev sda1 changed|gone: a device that is stored on a drive is changed or removed.
 * udev sda attached: udev's rules have run.
 * udev sda reset|parameters|controller|revalidation [early|above]: an event of the drive's SCSI device; with "above", an event of the SCSI
 *   host. With "early", the event has the number of an earlier event.
 * udev power: the power supply has changed.
 * udev lost: events were lost. */
static void do_udev(const Words *w) {
        const char *name = word(w, 0), *what = w->n > 1 ? w->items[1] : "";
        Disk *d = disk_find(name);
        char path[PATH_MAX];

        if (streq(name, "power"))
                udev_events->power(udev_userdata);
        else if (streq(name, "lost"))
                udev_events->lost(udev_userdata);
        else if (streq(what, "changed") || (streq(what, "gone") && !d))
                manager_stack_changed(udev_manager, name, streq(what, "gone"));
        else if (streq(what, "attached"))
                debian_rule_attached(&udev_rule, name);
        else if (streq(what, "gone")) {
                d->absent = true;
                manager_unplugged(udev_manager, name);
        } else if (streq(what, "failed")) {
                Disk nobody = *disk_of(name);

                *nobody.serial = *nobody.wwn = '\0';
                nobody.n_links = 0;
                nobody.unidentified = nobody.failed = true;
                manager_plugged(udev_manager, (struct udev_device *) &nobody);
        } else if (*what) {
                bool early = w->n > 2 && streq(w->items[2], "early");
                uint64_t number = count_uevents(!early);

                if (w->n > 2 && streq(w->items[2], "above")) {
                        /* The event is about the SCSI host of the drive. */
                        (void) snprintf(path, sizeof path, "%s", disk_of(name)->syspath);
                        *strstr(path, "/target") = '\0';
                } else
                        (void) snprintf(path, sizeof path, "%s", disk_of(name)->syspath);
                /* The event is about the SCSI device of the drive. */
                if (ends_with(path, name))
                        path[strlen(path) - strlen(name) - 1] = '\0';
                if (ends_with(path, "/block"))
                        path[strlen(path) - strlen("/block")] = '\0';
                manager_disturbed(udev_manager, path, reason_of(what), number);
        } else {
                disk_of(name)->absent = false;
                manager_plugged(udev_manager, (struct udev_device *) disk_of(name));
        }
}

/* machine prepares: logind announces a suspend.
 * machine awake: no suspend followed.
 * machine awake again: the machine has resumed from a suspend.
 * machine sleeps TIME: the machine is suspended for this time.
 * machine boots: the machine starts as after a power cut. */
static void do_machine(const Words *w) {
        const char *what = word(w, 0);

        if (streq(what, "boots")) {
                world_stop();
                world_remove(STATE_DIR);
                world_write(STATE_DIR "/.changed", "");
                boot++;
        } else if (streq(what, "prepares"))
                logind_events->preparing(logind_userdata);
        else if (streq(what, "awake"))
                logind_events->awake(logind_userdata, w->n > 1 && streq(w->items[1], "again"));
        else {
                slept += parse_time(word(w, 1));
                if (service)
                        logind_events->awake(logind_userdata, true);
        }
}

/* "check UNIT DEVICE|root": PID 1 queues a file system check. "check UNIT over": the check ends. */
static void do_check(const Words *w) {
        unsigned i = 0;

        while (i < n_checks && !streq(checks[i].name, word(w, 0)))
                i++;
        if (streq(word(w, 1), "over")) {
                script_assert(i < n_checks, "unknown check: %s", w->items[0]);
                checks[i] = checks[--n_checks];
        } else {
                copy(checks[n_checks].name, sizeof checks[0].name, w->items[0]);
                copy(checks[n_checks].sysname, sizeof checks[0].sysname, w->items[1]);
                n_checks++;
        }
        if (service)
                pid1_news(pid1_userdata);
}

/* "pid1 silent|answers|fails|no-memory": reaction of PID 1 to later queries. "pid1 lacks UNIT": the device unit is not active yet. */
static void do_pid1(const Words *w) {
        pid1_lacks[0] = '\0';
        if (streq(word(w, 0), "lacks"))
                copy(pid1_lacks, sizeof pid1_lacks, word(w, 1));
        pid1_silent = streq(word(w, 0), "silent");
        pid1_error = streq(w->items[0], "fails") ? -EIO : streq(w->items[0], "no-memory") ? -ENOMEM : 0;
        if (service)
                pid1_news(pid1_userdata);
}

/* kernel RECORD: writes a record to the kernel log. A record with "…" at the end is padded to the maximum length. */
static void do_kernel(const Words *w) {
        char record[8192];
        size_t n = strlen(w->line);
        bool longest = ends_with(w->line, "…");

        if (longest)
                n -= strlen("…");
        script_assert(n < sizeof record, "too long");
        (void) memset(record, 'x', sizeof record);
        (void) memcpy(record, w->line, n);
        n = longest ? sizeof record : n;
        ck_assert_int_eq(send(kmsg[1], record, n, MSG_DONTWAIT), (ssize_t) n);
}

/* kmsg closed|pipe|MAJOR:MINOR|endless: the service has this standard input in place of the kernel log.
 * kmsg overwritten|interrupted: the next read of the kernel log fails with EPIPE or EINTR. */
static void do_kmsg(const Words *w) {
        const char *what = word(w, 0);
        unsigned major, minor;

        kmsg_state.closed = kmsg_state.closed || streq(what, "closed");
        if (streq(what, "pipe"))
                kmsg_state.type = S_IFIFO;
        if (sscanf(what, "%u:%u", &major, &minor) == 2)
                kmsg_state.number = makedev(major, minor);
        kmsg_state.seek_error = streq(what, "endless") ? ESPIPE : 0;
        kmsg_state.read_error = streq(what, "overwritten") ? EPIPE : streq(what, "interrupted") ? EINTR : 0;
}

/* timers work|fail: starting a timer works or fails from now on */
static void do_timers(const Words *w) {
        timer_error = streq(word(w, 0), "fail") ? -ENOMEM : 0;
}

/* broker works|fails|closed [DRIVE]: the result of all later requests for a worker, or only of those for DRIVE. */
static void do_broker(const Words *w) {
        copy(broker_fails_for, sizeof broker_fails_for, w->n > 1 ? w->items[1] : "");
        broker_error = streq(word(w, 0), "works") ? 0 : streq(w->items[0], "closed") ? -ESHUTDOWN : -EAGAIN;
}

/* full DIRECTORY: writes to the directory fail; full nothing: all writes succeed again */
static void do_full(const Words *w) {
        static char path[PATH_MAX];

        copy(path, sizeof path, word(w, 0));
        full = *path == '/' ? path : NULL;
}

/* memory N: the service's Nth allocation of memory after this line fails */
static void do_memory(const Words *w) {
        no_memory_at = strtoul(word(w, 0), NULL, 10);
}

/* storage stuck|works: fsync() blocks until "storage works" */
static void do_storage(const Words *w) {
        if (streq(word(w, 0), "stuck"))
                world_write(STORAGE_STUCK, "");
        else
                storage_go_on();
}

static void do_inventory(const Words *w) {
        inventory_fails = streq(word(w, 0), "fails");
}

/* ---- the tracer ---- */

static void number_of(const char *name, WatchDevice *ret) {
        *ret = (WatchDevice){ 8, 16 * disk_of(name)->number };
}

/* Parses a command: "identify", "smart", "flush", or bytes. */
static unsigned parse_command(const char *text, uint8_t *cdb) {
        static const struct {
                const char *name, *bytes;
        } names[] = {
                { "identify", "85 08 00 00 00 00 00 00 00 00 00 00 00 00 ec 00" },
                { "smart", "85 08 00 00 d0 00 00 00 00 00 00 00 00 00 b0 00" },
                { "flush", "35 00 00 00 00 00 00 00 00 00" },
        };
        unsigned n = 0, byte;
        int used;

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (streq(text, names[i].name))
                        text = names[i].bytes;
        for (; sscanf(text, " %2x%n", &byte, &used) == 1; text += used)
                cdb[n++] = (uint8_t) byte;
        script_assert(n > 0, "unknown command: %s", text);
        return n;
}

/* tracer sda watched: the tracer confirms the watch.
 * tracer sda read|write|… [by=du] [pid=7] [unit=U] [sent=smart] [sector=7]: the tracer reports a command.
 * tracer sda read|write|… times=4 …: the tracer reports a program that has used the active drive.
 * tracer sda counted: the tracer has reported all such programs.
 * tracer ends: the tracer process exits.
 * tracer cannot REASON: the tracer reports why it cannot trace.
 * tracer refuses|listens: the tracer's socket refuses or accepts connections. */
static void do_tracer(const Words *w) {
        TracerAnswer a = {};
        const char *what;

        if (streq(word(w, 0), "ends")) {
                tracer_close_fd(&tracer_fd);
                return;
        }
        if (streq(w->items[0], "refuses")) {
                tracer_close_fd(&tracer_listener);
                world_remove(TRACER_SOCKET);
                return;
        }
        if (streq(w->items[0], "listens")) {
                tracer_listen();
                return;
        }
        what = word(w, 1);
        script_assert(tracer_fd >= 0, "the tracer has no connection");
        if (streq(w->items[0], "cannot")) {
                while (a.tracing < _TRACING_MAX && !streq(tracing_to_string(a.tracing), what))
                        a.tracing++;
                tracer_send(&a);
                return;
        }
        number_of(w->items[0], &a.disk);
        a.counted = streq(what, "counted");
        if (!streq(what, "watched") && !a.counted) {
                a.woken = true;
                while (a.wake.kind < _WAKE_KIND_MAX && !streq(wake_kind_to_string(a.wake.kind), what))
                        a.wake.kind++;
                script_assert(a.wake.kind < _WAKE_KIND_MAX, "unknown kind of waker: %s", what);
        }
        for (unsigned i = 2; i < w->n; i++) {
                const char *value;

                if ((value = word_value(w->items[i], "by")))
                        copy(a.wake.process.comm, sizeof a.wake.process.comm, value);
                else if ((value = word_value(w->items[i], "times"))) {
                        a.counted = true;
                        a.woken = false;
                        a.times = (unsigned) strtoul(value, NULL, 10);
                } else if ((value = word_value(w->items[i], "thread")))
                        copy(a.wake.thread, sizeof a.wake.thread, value);
                else if ((value = word_value(w->items[i], "unit")))
                        copy(a.wake.process.unit, sizeof a.wake.process.unit, value);
                else if ((value = word_value(w->items[i], "pid")))
                        a.wake.process.pid = (pid_t) strtol(value, NULL, 10);
                else if ((value = word_value(w->items[i], "sent")))
                        a.wake.cdb_len = parse_command(value, a.wake.cdb);
                else if ((value = word_value(w->items[i], "sector"))) {
                        a.wake.has_sector = true;
                        a.wake.sector = strtoull(value, NULL, 10);
                } else
                        script_assert(false, "unknown argument: %s", w->items[i]);
        }
        tracer_send(&a);
}

/* ---- workers ---- */

static size_t wish_of(const Worker *w, const char *name) {
        for (size_t i = 0; i < w->parsed->visit.wishes->n_items; i++)
                if (streq(w->parsed->visit.wishes->items[i].name, name))
                        return i;
        return SIZE_MAX;
}

static Verdict verdict_of(const char *name) {
        Verdict v = 0;

        while (v < _VERDICT_MAX && !streq(verdict_to_string(v), name))
                v++;
        return v;
}

/* Sends a step: VERDICT [was VALUE] [now VALUE] [written|failed|lost|unsent]… [because …] */
static void worker_step(Worker *w, size_t wish, const Words *words, unsigned i) {
        const Wish *want = w->parsed->visit.wishes->items + wish;
        const Setting *row = setting_for_backends(&all_settings, want->name, drive_backends(w->parsed->visit.drive));
        WorkerMessage m = { .type = MESSAGE_STEP, .wish = wish };
        Step *s = &m.step;

        s->verdict = verdict_of(word(words, i++));
        script_assert(s->verdict < _VERDICT_MAX, "unknown verdict: %s", words->items[i - 1]);
        s->wanted = want->value;
        switch (s->verdict) {
        case VERDICT_UNCHANGED:
                s->before = (Reading){ .known = row, .value = want->value };
                break;
        case VERDICT_APPLIED:
                s->written = row;
                s->after = (Reading){ .known = row, .value = want->value };
                break;
        case VERDICT_ADJUSTED:
        case VERDICT_UNVERIFIABLE:
        case VERDICT_IGNORED:
                s->written = true;
                break;
        case VERDICT_REFUSED:
        case VERDICT_FAILED:
                s->failed = row;
                break;
        default:
                break;
        }
        for (; i < words->n; i++) {
                const char *what = words->items[i];

                if (streq(what, "because")) {
                        size_t n = 0;

                        for (i++; i < words->n; i++)
                                n += snprintf(s->reason + n, sizeof s->reason - n, "%s%s", n > 0 ? " " : "",
                                              words->items[i]);
                } else if (streq(what, "was") || streq(what, "now")) {
                        Reading *r = *what == 'w' ? &s->before : &s->after;
                        char value[VALUE_TEXT_MAX];

                        copy(value, sizeof value, word(words, ++i));
                        for (char *c = value; *c; c++)
                                *c = *c == '_' ? ' ' : *c;
                        r->known = true;
                        script_assert(row && value_parse(&row->range, value, &r->value) == 0, "invalid value: %s",
                                      value);
                } else if (streq(what, "unread")) {
                        s->before.known = s->after.known = false;
                        s->by_service = s->verdict == VERDICT_UNCHANGED;
                } else if (streq(what, "written"))
                        s->written = true;
                else if (streq(what, "unsent"))
                        s->written = s->failed = false;
                else if (streq(what, "failed"))
                        s->failed = true;
                else if (streq(what, "lost"))
                        s->lost = true;
                else
                        script_assert(false, "unknown action: %s", what);
        }
        w->reported[wish] = true;
        worker_send_message(w, &m);
}

static void number_of_key(const char *text, const char *key, KnownNumber *ret) {
        const char *value = word_value(text, key);

        if (value)
                *ret = (KnownNumber){ true, strtoll(value, NULL, 10) };
}

static size_t index_of(const Worker *w, const char *name) {
        size_t i = wish_of(w, name);

        script_assert(i != SIZE_MAX || streq(name, "others"), "the visit has no wish %s", name);
        return i;
}

static void worker_act(Worker *w, char *action) {
        Words words;
        const char *what;

        words_split(&words, action);
        what = word(&words, 0);
        if (streq(what, "all")) {
                for (size_t i = 0; i < w->parsed->visit.wishes->n_items; i++)
                        if (!w->reported[i])
                                worker_step(w, i, &words, 1);
        } else if (streq(what, "alive"))
                worker_send_message(w, &(WorkerMessage){ .type = MESSAGE_ALIVE });
        else if (streq(what, "sends"))
                worker_send_message(w, &(WorkerMessage){ .type = MESSAGE_SENDS, .wish = index_of(w, word(&words, 1)) });
        else if (streq(what, "intends"))
                worker_send_message(w,
                                    &(WorkerMessage){ .type = MESSAGE_INTENDS, .wish = index_of(w, word(&words, 1)) });
        else if (streq(what, "power")) {
                const char *power = word(&words, 1);
                WorkerMessage m = { .type = MESSAGE_POWER,
                                    .power = streq(power, "active")      ? POWER_ACTIVE
                                             : streq(power, "standby")   ? POWER_STANDBY
                                             : streq(power, "suspended") ? POWER_SUSPENDED
                                                                         : POWER_ATA_SLEEP };

                script_assert(m.power != POWER_ATA_SLEEP || streq(power, "asleep"), "unknown power mode: %s", power);
                worker_send_message(w, &m);
        } else if (streq(what, "wear")) {
                WorkerMessage m = { .type = MESSAGE_WEAR };

                for (unsigned i = 1; i < words.n; i++) {
                        number_of_key(words.items[i], "load_cycles", &m.wear.load_cycles);
                        number_of_key(words.items[i], "start_stops", &m.wear.start_stops);
                }
                worker_send_message(w, &m);
        } else if (streq(what, "bridge")) {
                WorkerMessage m = { .type = MESSAGE_BRIDGE, .bridge = { .queried = true } };

                for (unsigned i = 1; i < words.n; i++) {
                        const char *value;

                        m.bridge.fragile = m.bridge.fragile || streq(words.items[i], "fragile");
                        if ((value = word_value(words.items[i], "model")))
                                copy(m.identity.model, sizeof m.identity.model, value);
                        if ((value = word_value(words.items[i], "serial"))) {
                                copy(m.identity.serial, sizeof m.identity.serial, value);
                                m.bridge.identified = true;
                        }
                }
                worker_send_message(w, &m);
        } else if (streq(what, "ends")) {
                worker_send_message(w, &(WorkerMessage){ .type = MESSAGE_END });
                worker_close(w);
        } else if (streq(what, "dies"))
                worker_close(w);
        else
                worker_step(w, index_of(w, what), &words, 1);
}

static void worker_do(Worker *w, const char *actions) {
        _cleanup_free_ char *copied = strdup(actions);
        char *rest = copied;

        for (char *action; (action = strsep(&rest, ","));) {
                script_assert(w->fd > 0, "the worker has ended");
                worker_act(w, action);
                world_run();
        }
}

/* "worker sda: ACTION, ACTION…": the worker of sda performs the actions. "worker *: …": all workers perform the actions. */
static void do_worker(const Words *w) {
        char name[32], *actions = strchr(w->line, ':');
        unsigned n = 0;

        script_assert(actions, "worker NAME: …");
        (void) snprintf(name, sizeof name, "%.*s", (int) (actions - w->line), w->line);
        if (!streq(name, "*")) {
                script_assert(worker_find(name), "%s has no worker", name);
                worker_do(worker_find(name), actions + 1);
                return;
        }
        /* Only the workers that exist now act, not those that start meanwhile. */
        for (unsigned i = 0; i < ELEMENTSOF(workers); i++)
                n = workers[i].fd > 0 ? i + 1 : n;
        for (unsigned i = 0; i < n; i++)
                if (workers[i].fd > 0)
                        worker_do(workers + i, actions + 1);
}

/* ---- statistics of twelve weeks ---- */

/* Plays the worker of a drive that has a standby timer of five minutes. */
static void live_answer(Worker *w, double since_use) {
        VisitWork work = w->parsed->visit.work;

        if (wish_of(w, "standby") != SIZE_MAX)
                worker_do(w, "standby applied, all unchanged, ends");
        else if (work & WORK_POWER)
                worker_do(w, since_use > MINUTES(5) ? "all unchanged, power standby, ends"
                                                    : "all unchanged, power active, ends");
        else
                worker_do(w, "all unchanged, ends");
}

/* Replays the I/O in `u`. Returns true if the service read the wear counters while the drive was known to be in standby. */
static bool live(const Disk *d, const Uses *u) {
        const TracerAnswer read = { .woken = true, .disk = { 8, 16 * d->number }, .wake = { .kind = WAKE_READ } };
        int64_t begun = passed_usec;
        size_t n_counted = 0;
        bool woken = false;

        for (size_t i = 0; i < u->n_at; i++) {
                int64_t at = begun + (int64_t) (u->at[i] * SECOND);

                for (int64_t due; (due = world_due()) < at;) {
                        Worker *worker;

                        count_uses(d, i - n_counted);
                        n_counted = i;
                        passed_usec = MAX(passed_usec, due);
                        world_run();
                        worker = worker_find(d->name);
                        if (!worker)
                                continue;
                        woken = woken || (tracer_watches && (worker->parsed->visit.work & WORK_WEAR));
                        live_answer(worker, (double) (passed_usec - begun) / SECOND - (i > 0 ? u->at[i - 1] : 0));
                }
                passed_usec = at;
                if (tracer_watches) {
                        count_uses(d, i + 1 - n_counted);
                        n_counted = i + 1;
                        tracer_send(&read);
                        world_run();
                }
        }
        return woken;
}

/* Returns true if the values differ by at most 2 % or one spin-up. */
static bool is_close(double is, double want) {
        return fabs(is - want) <= MAX(want * 0.02, 1);
}

static char *state_file(const char *name);

/* lives DRIVE PATTERN: replays twelve weeks of I/O (use-patterns.h). Then checks, for each of ten timers, whether the service predicts the
 * spin-ups and the standby time that this I/O causes. */
static void do_lives(const Words *w) {
        static const unsigned timers[] = { 10, 15, 20, 30, 45, 60, 90, 120, 180, 240 };
        const Disk *d = disk_of(word(w, 0));
        _cleanup_(drive_record_freep) DriveRecord *record = NULL;
        _cleanup_free_ char *text = NULL;
        FILE *shown = out;
        unsigned n = 0;
        bool woken;
        Uses u;

        script_assert(uses_make(&u, source, word(w, 1)), "unknown pattern: %s", w->items[1]);
        out = NULL;
        woken = live(d, &u);
        out = shown;
        if (woken)
                simulator_emit("wear counters were read in standby");

        text = state_file(d->name);
        ck_assert(text && drive_record_parse(text, strlen(text), &record) >= 0);
        for (size_t i = 0; i < ELEMENTSOF(timers); i++) {
                double asleep, days = drive_use_days(&record->use);
                unsigned spin_ups = uses_spin_ups(&u, MINUTES(timers[i]), &asleep);
                UsePrediction p;

                if (!drive_use_predict(&record->use, timers[i], &p))
                        simulator_emit("%u min: not known", timers[i]);
                else if (!is_close(p.spin_ups_per_day * days, spin_ups) ||
                         !is_close(p.hours_standby_per_day * days, asleep / 3600))
                        simulator_emit("%u min: %.1f spin-ups, %.1f h asleep predicted, not %u, %.1f h", timers[i],
                                       p.spin_ups_per_day * days, p.hours_standby_per_day * days, spin_ups,
                                       asleep / 3600);
                else
                        n++;
        }
        simulator_emit("%u of %zu timers predicted", n, ELEMENTSOF(timers));
        free(u.at);
}

/* ---- D-Bus ---- */

typedef struct Client {
        char name[16];
        sd_bus *bus;
} Client;

static Client clients[4];

static Client *client_of(const char *name) {
        struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = BUS_PRIVATE_SOCKET };
        Client *c = clients;
        int fd;

        while (c < clients + ELEMENTSOF(clients) && (!c->bus || !streq(c->name, name)))
                c++;
        if (c < clients + ELEMENTSOF(clients))
                return c;
        for (c = clients; c < clients + ELEMENTSOF(clients) && c->bus;)
                c++;
        script_assert(c < clients + ELEMENTSOF(clients), "too many clients");
        copy(c->name, sizeof c->name, name);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(connect(fd, (const struct sockaddr *) &address, sizeof address), 0);
        ck_assert(sd_bus_new(&c->bus) >= 0 && sd_bus_set_fd(c->bus, fd, fd) >= 0 && sd_bus_start(c->bus) >= 0 &&
                  sd_bus_attach_event(c->bus, event, SD_EVENT_PRIORITY_NORMAL) >= 0);
        world_run();
        return c;
}

static void client_close(Client *c) {
        c->bus = sd_bus_close_unref(c->bus);
}

static int on_answer(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error) {
        const char *method = userdata;
        const char *signature = sd_bus_message_get_signature(m, true), *text;
        char line[EMIT_MAX] = "";
        uint32_t n;

        if (sd_bus_message_is_method_error(m, NULL)) {
                const sd_bus_error *e = sd_bus_message_get_error(m);

                simulator_emit("answer to %s: error %s: %s", method, strrchr(e->name, '.') + 1, e->message);
                return 0;
        }
        if (streq(signature, "as")) {
                ck_assert_int_ge(sd_bus_message_enter_container(m, 'a', "s"), 0);
                while (sd_bus_message_read(m, "s", &text) > 0)
                        (void) append(line, sizeof line, " %s", text);
        } else if (streq(signature, "u")) {
                ck_assert_int_ge(sd_bus_message_read(m, "u", &n), 0);
                (void) append(line, sizeof line, " %u", n);
        } else if (streq(signature, "a(sss)")) {
                const char *state, *identity;

                ck_assert_int_ge(sd_bus_message_enter_container(m, 'a', "(sss)"), 0);
                while (sd_bus_message_read(m, "(sss)", &text, &state, &identity) > 0)
                        (void) append(line, sizeof line, " %s=%s/%s", text, state, identity);
        } else if (streq(signature, "a(ssss)")) {
                const char *verdict, *now, *reason;

                ck_assert_int_ge(sd_bus_message_enter_container(m, 'a', "(ssss)"), 0);
                while (sd_bus_message_read(m, "(ssss)", &text, &verdict, &now, &reason) > 0)
                        (void) append(line, sizeof line, " %s=%s/%s/%s", text, verdict, now, reason);
                (void) append(line, sizeof line, "%s", *line ? "" : " nothing");
        }
        simulator_emit("answer to %s:%s", method, *line ? line : " done");
        return 0;
}

/* call [CLIENT:]METHOD ARGUMENT…: calls a D-Bus method. "-" is an empty argument.
 * The arguments of the method Try are DRIVE SETTING VALUE BEFORE… [dangerous], those of Rewrite are DRIVE SETTING VALUE… */
static void do_call(const Words *w) {
        static char *const methods[] = { (char *) "Apply",
                                         (char *) "ApplyPermanent",
                                         (char *) "SpinDown",
                                         (char *) "Read",
                                         (char *) "SetTemporary",
                                         (char *) "EndTemporary",
                                         (char *) "GetReadPermission",
                                         (char *) "Release",
                                         (char *) "Reload",
                                         (char *) "Settle",
                                         (char *) "ReloadAndVisit",
                                         (char *) "ListDrives",
                                         (char *) "Try",
                                         (char *) "Undo",
                                         (char *) "Rewrite" };
        size_t n_lists = 4, i_method = 0;
        const char *method = word(w, 0), *colon = strchr(method, ':');
        sd_bus_message *m = NULL;
        char name[16] = "root";
        Client *c;

        if (colon) {
                (void) snprintf(name, sizeof name, "%.*s", (int) (colon - method), method);
                method = colon + 1;
        }
        /* "~" is a space in an argument. */
        for (unsigned i = 1; i < w->n; i++)
                for (char *tilde; (tilde = strchr(w->items[i], '~'));)
                        *tilde = ' ';
        c = client_of(name);
        ck_assert_int_ge(sd_bus_message_new_method_call(c->bus, &m, NULL, "/org/drivekeep1", "org.drivekeep1.Manager",
                                                        method),
                         0);
        while (i_method < ELEMENTSOF(methods) && !streq(methods[i_method], method))
                i_method++;
        script_assert(i_method < ELEMENTSOF(methods), "unknown method: %s", method);
        if (i_method < n_lists) {
                ck_assert_int_ge(sd_bus_message_open_container(m, 'a', "s"), 0);
                for (unsigned i = 1; i < w->n; i++)
                        ck_assert_int_ge(sd_bus_message_append(m, "s", w->items[i]), 0);
                ck_assert_int_ge(sd_bus_message_close_container(m), 0);
        } else if (STR_IN_SET(method, "Try", "Rewrite")) {
                bool dangerous = streq(word(w, w->n - 1), "dangerous");

                ck_assert_int_ge(sd_bus_message_append(m, "s", word(w, 1)), 0);
                ck_assert_int_ge(sd_bus_message_open_container(m, 'a', "s"), 0);
                for (unsigned i = 2; i < w->n - dangerous; i++)
                        ck_assert_int_ge(sd_bus_message_append(m, "s", streq(w->items[i], "-") ? "" : w->items[i]), 0);
                ck_assert_int_ge(sd_bus_message_close_container(m), 0);
                if (streq(method, "Try"))
                        ck_assert_int_ge(sd_bus_message_append(m, "bb", (int) dangerous, 0), 0);
        } else
                for (unsigned i = 1; i < w->n; i++)
                        ck_assert_int_ge(sd_bus_message_append(m, "s", streq(w->items[i], "-") ? "" : w->items[i]), 0);
        ck_assert_int_ge(sd_bus_call_async(c->bus, NULL, m, on_answer, methods[i_method], UINT64_MAX), 0);
        (void) sd_bus_message_unref(m);
}

static void do_hangup(const Words *w) {
        client_close(client_of(word(w, 0)));
}

/* ---- state files ---- */

static char *state_file(const char *name) {
        char path[PATH_MAX], buf[PATH_MAX];
        size_t size;
        char *text;

        (void) snprintf(path, sizeof path, STATE_DIR "/%s", name);
        return record_file_read(AT_FDCWD, redirect(path, buf), RECORD_MAX_BYTES, &text, &size) < 0 ? NULL : text;
}

/* Returns the value of a line "KEY=…"; NULL: no such line. */
static char *state_value(const char *text, const char *key) {
        size_t n = strlen(key);

        for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
                if (strncmp(line, key, n) == 0 && line[n] == '=')
                        return strndup(line + n + 1, strcspn(line + n + 1, "\n"));
        return NULL;
}

/* Finds the lines about a setting. *ret gets their prefix, such as "SETTING_0_". Returns false if there are none. */
static bool find_setting(const char *text, const char *name, char *ret, size_t size) {
        for (unsigned i = 0; i < RECORD_MAX_SETTINGS; i++) {
                _cleanup_free_ char *value = NULL;

                (void) snprintf(ret, size, "SETTING_%u_NAME", i);
                value = state_value(text, ret);
                if (!value)
                        return false;
                if (streq(value, name)) {
                        ret[strlen(ret) - strlen("NAME")] = '\0';
                        return true;
                }
        }
        return false;
}

/* Reads the file with the temporary values of a drive; NULL: no such file. */
static TemporaryValues *temporary_of(const char *name, char path[static PATH_MAX]) {
        char buf[PATH_MAX];
        DIR *d = opendir(redirect(STATE_DIR, buf));
        TemporaryValues *t = NULL;

        for (struct dirent *e; !t && (e = readdir(d));) {
                if (!starts_with(e->d_name, TEMPORARY_PREFIX))
                        continue;
                (void) snprintf(path, PATH_MAX, STATE_DIR "/%s", e->d_name);
                (void) temporary_read_file(redirect(STATE_DIR, buf), e->d_name, &all_settings, &t);
                if (t && (!starts_with(t->drive, name) || t->drive[strlen(name)] != ' '))
                        t = temporary_free(t);
        }
        (void) closedir(d);
        return t;
}

/* Formats temporary values: a client's value as "SETTING=BEFORE", a value until the next boot as "try SETTING=VALUE<BEFORE". */
static void format_temporary(const char *name, char *line, size_t size) {
        char path[PATH_MAX];
        _cleanup_(temporary_freep) TemporaryValues *t = temporary_of(name, path);
        size_t n = strlen(line);

        for (size_t i = 0; t && i < t->n_items; i++) {
                const TemporaryValue *v = t->items + i;

                if (strlen(line) > n)
                        (void) append(line, size, ";");
                if (!v->until_boot)
                        (void) append(line, size, "%s=%s", v->name, v->before_text);
                else
                        (void) append(line, size, "try %s=%s<%s%s%s%s%s", v->name, v->text, v->before_text ?: "?",
                                      v->allow_dangerous ? " dangerous" : "", v->restoring ? " restoring" : "",
                                      v->accepted ? " accepted" : "", v->unaccepted ? " unaccepted" : "");
        }
        if (strlen(line) == n)
                (void) append(line, size, "none");
}

static void format_value(const char *key, const char *value, char *buf, size_t size) {
        int64_t usec = strtoll(value ?: "0", NULL, 10);

        if (value && (ends_with(key, "WHEN") || streq(key, "USE_SINCE")))
                format_time(usec - REALTIME_START - slept, buf, size);
        else if (value && ends_with(key, "QUIET_SINCE"))
                format_time(usec - MONOTONIC_START, buf, size);
        else if (value && streq(key, "POWER_SEEN"))
                format_time(usec - REALTIME_START - slept, buf, size);
        else
                (void) snprintf(buf, size, "%s", value ?: "none");
}

/* ? NAME KEY…: shows fields of the state file NAME. "apm.verdict" is a field of a setting; "temporary": the temporary values.
 * ? next: the time of the next timer.
 * ? status: the text of the service in `systemctl status`.
 * ? file PATH: the first line of a file.
 * ? memory: the number of calls of memory_trim().
 * ? kmsg: whether the service has read the kernel log completely. */
static void do_query(const Words *w) {
        const char *what = word(w, 0);
        _cleanup_free_ char *text = NULL;
        char line[EMIT_MAX] = "";

        if (streq(what, "next")) {
                int64_t due = world_due();
                char when[32];

                format_time(due, when, sizeof when);
                simulator_emit("next %s", due == INT64_MAX ? "never" : when);
                return;
        }
        if (streq(what, "status")) {
                simulator_emit("%s", notified);
                return;
        }
        if (streq(what, "memory")) {
                simulator_emit("memory returned: %u", n_trims);
                return;
        }
        if (streq(what, "kmsg")) {
                simulator_emit("kmsg %s", recv(kmsg[0], NULL, 0, MSG_PEEK | MSG_DONTWAIT) < 0 ? "read" : "unread");
                return;
        }
        if (streq(what, "file")) {
                char buf[PATH_MAX], head[128] = "";
                FILE *f = fopen(redirect(word(w, 1), buf), "re");

                if (f && fgets(head, sizeof head, f))
                        head[strcspn(head, "\n")] = '\0';
                simulator_emit("%s: %s", w->items[1], f ? head : "none");
                if (f)
                        (void) fclose(f);
                return;
        }
        text = state_file(what);
        if (!text) {
                simulator_emit("%s: no state file", what);
                return;
        }
        for (unsigned i = 1; i < w->n; i++) {
                char key[128], value[512] = "";
                const char *dot = strchr(w->items[i], '.');
                _cleanup_free_ char *raw = NULL;
                bool known = true;

                key[0] = '\0';
                if (dot) {
                        char name[64];

                        (void) snprintf(name, sizeof name, "%.*s", (int) (dot - w->items[i]), w->items[i]);
                        known = find_setting(text, name, key, sizeof key);
                }
                (void) append(key, sizeof key, "%s", dot ? dot + 1 : w->items[i]);
                for (char *c = key; *c; c++)
                        *c = (char) toupper((unsigned char) *c);
                raw = known ? state_value(text, key) : NULL;
                if (streq(key, "TEMPORARY"))
                        format_temporary(what, value, sizeof value);
                else
                        format_value(key, raw, value, sizeof value);
                (void) append(line, sizeof line, "%s%s=%s", i > 1 ? ", " : "", w->items[i], value);
        }
        simulator_emit("%s", line);
}

/* ---- scripts ---- */

static const struct {
        const char *name;
        void (*fn)(const Words *w);
} verbs[] = {
        /* the machine */
        { "drive", do_drive },
        { "array", do_array },
        { "files", do_files },
        { "put", do_put },
        { "link", do_link },
        { "remove", do_remove },
        { "spoil", do_spoil },
        { "reword", do_reword },
        { "full", do_full },
        { "storage", do_storage },
        { "memory", do_memory },
        { "io", do_io },
        { "commands", do_commands },
        { "at", do_at },
        { "wait", do_wait },
        { "until", do_until },
        { "lives", do_lives },
        /* the service */
        { "start", do_start },
        { "kill", do_kill },
        { "signal", do_signal },
        /* the environment of the service */
        { "udev", do_udev },
        { "inventory", do_inventory },
        { "machine", do_machine },
        { "check", do_check },
        { "pid1", do_pid1 },
        { "kernel", do_kernel },
        { "kmsg", do_kmsg },
        { "timers", do_timers },
        { "broker", do_broker },
        { "worker", do_worker },
        { "tracer", do_tracer },
        { "call", do_call },
        { "hangup", do_hangup },
        { "?", do_query },
};

static void run_line(const char *text) {
        _cleanup_free_ char *line = strdup(text), *copied = NULL;
        Words w;
        char *end = line + strcspn(line, " \n");
        char *rest = *end ? end + 1 : end;

        *end = '\0';
        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                if (streq(verbs[i].name, line)) {
                        copied = strdup(rest);
                        words_split(&w, copied);
                        w.line = rest;
                        verbs[i].fn(&w);
                        world_run();
                        return;
                }
        script_assert(false, "unknown verb: %s", line);
}

/* The lines of a file. */
typedef struct Script {
        char *path, *text;
        GROWING_ARRAY(char *, lines);
        unsigned numbers[4096]; /* line number of each item of `lines` */
} Script;

static void script_read(Script *s, const char *path) {
        unsigned number = 1;
        size_t size;
        char *rest;

        *s = (Script){ .path = strdup(path) };
        assert(record_file_read(AT_FDCWD, path, 1U << 20, &s->text, &size) >= 0);
        rest = s->text;
        for (char *line; (line = strsep(&rest, "\n")); number++) {
                /* A line that is indented by two blanks continues the previous line. */
                if (starts_with(line, "  ") && line[2] != ' ') {
                        line[-1] = '\n';
                        continue;
                }
                assert(GREW(s, lines) && s->n_lines < ELEMENTSOF(s->numbers));
                s->numbers[s->n_lines] = number;
                s->lines[s->n_lines++] = line;
        }
        /* Drops the empty text after the last line feed. */
        s->n_lines--;
}

static void script_done(Script *s) {
        free(s->path);
        free(s->text);
        free(s->lines);
}

/* Returns the index of the line after "def NAME". */
static size_t find_definition(const Script *s, const char *name) {
        for (size_t i = 0; i < s->n_lines; i++)
                if (starts_with(s->lines[i], "def ") && streq(s->lines[i] + strlen("def "), name))
                        return i + 1;
        script_assert(false, "unknown definition: %s", name);
        return 0;
}

/* Replaces $1, $2, … by the arguments, in which "~" is a space. */
static char *fill_in(const char *line, const Words *w) {
        char *text = calloc(1, EMIT_MAX);

        ck_assert_ptr_nonnull(text);
        for (; *line; line++)
                if (line[0] == '$' && isdigit((unsigned char) line[1])) {
                        unsigned i = line[1] - '0';

                        for (const char *c = i < w->n ? w->items[i] : ""; *c; c++)
                                (void) append(text, EMIT_MAX, "%c", *c == '~' ? ' ' : *c);
                        line++;
                } else
                        (void) append(text, EMIT_MAX, "%c", *line);
        return text;
}

static void run_statement(const Script *s, const char *line);

static void run_definition(const Script *s, const Words *w) {
        for (size_t i = find_definition(s, word(w, 0)); i < s->n_lines && !streq(s->lines[i], "end"); i++) {
                _cleanup_free_ char *filled = fill_in(s->lines[i], w);

                if (*filled && *filled != '#')
                        run_statement(s, filled);
        }
}

/* Runs a line of a script. "do NAME ARGUMENT…" runs a definition, and "each NAME…" runs several definitions.
 * "quietly NAME ARGUMENT…" runs a definition without showing its output. */
static void run_statement(const Script *s, const char *line) {
        bool quietly = starts_with(line, "quietly "), each = starts_with(line, "each ");
        FILE *shown = out;
        Words w;

        if (quietly || each || starts_with(line, "do ")) {
                _cleanup_free_ char *copied = strdup(strchr(line, ' ') + 1);

                words_split(&w, copied);
                if (quietly)
                        out = NULL;
                if (each)
                        for (unsigned i = 0; i < w.n; i++)
                                run_definition(s, &(Words){ .items = { w.items[i] }, .n = 1 });
                else
                        run_definition(s, &w);
                out = shown;
        } else
                run_line(line);
}

static bool is_output(const char *line) {
        return starts_with(line, INDENT);
}

/* Runs the case that begins at line `i`, and returns the index of the line after the case. `write`: file that gets the case with its actual
 * output; NULL: compares the output. */
static size_t run_case(const Script *s, volatile size_t i, FILE *write) {
        FILE *volatile shown;

        script = s->path;
        is_writing = write;
        world_setup();
        if (write)
                fprintf(write, "%s\n", s->lines[i]);
        for (i++; i < s->n_lines && !starts_with(s->lines[i], "case ") && !starts_with(s->lines[i], "def ");) {
                const char *line = s->lines[i];
                char *rest, *got;

                line_number = s->numbers[i++];
                if (!*line || *line == '#') {
                        if (write)
                                fprintf(write, "%s\n", line);
                        continue;
                }
                script_assert(!is_output(line), "output without a statement");
                output = NULL;
                out = open_memstream(&output, &output_size);
                ck_assert_ptr_nonnull(out);
                shown = out;
                is_waiting = false;
                /* Ends a service that loops forever. */
                (void) alarm(300);
                if (setjmp(next_line) == 0)
                        run_statement(s, line);
                (void) fclose(shown);
                out = NULL;
                if (write)
                        fprintf(write, "%s\n%s", line, output);
                rest = output;
                while ((got = strsep(&rest, "\n")) && *got) {
                        const char *expected = i < s->n_lines ? s->lines[i] : "(the end)";

                        if (write)
                                continue;
                        line_number = s->numbers[MIN(i, s->n_lines - 1)];
                        script_assert(is_output(expected), "unexpected output: %s", got + strlen(INDENT));
                        script_assert(streq(expected, got), "not \"%s\", but \"%s\"", expected + strlen(INDENT),
                                      got + strlen(INDENT));
                        i++;
                }
                for (; i < s->n_lines && is_output(s->lines[i]); i++) {
                        line_number = s->numbers[i];
                        script_assert(write, "missing output: %s", s->lines[i] + strlen(INDENT));
                }
                free(output);
        }
        for (size_t k = 0; k < ELEMENTSOF(clients); k++)
                client_close(clients + k);
        world_teardown();
        (void) alarm(0);
        return i;
}

static void script_write(const char *path) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);
        Script s;

        ck_assert_ptr_nonnull(f);
        script_read(&s, path);
        for (size_t i = 0; i < s.n_lines;) {
                if (starts_with(s.lines[i], "case ")) {
                        i = run_case(&s, i, f);
                        continue;
                }
                fprintf(f, "%s\n", s.lines[i++]);
        }
        (void) fclose(f);
        f = fopen(path, "we");
        ck_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
        script_done(&s);
}

/* ---- all scripts ---- */

static struct {
        Script *script;
        size_t first;
} * cases;
static size_t n_cases;

START_TEST(test_case) {
        (void) run_case(cases[_i].script, cases[_i].first, NULL);
}
END_TEST

static char **written;

START_TEST(test_write) {
        script_write(written[_i]);
}
END_TEST

static void find_cases(const char *path) {
        Script *s = malloc(sizeof *s);

        assert(s);
        script_read(s, path);
        for (size_t k = 0; k < s->n_lines; k++)
                if (starts_with(s->lines[k], "case ")) {
                        cases = reallocarray(cases, n_cases + 1, sizeof *cases);
                        cases[n_cases].script = s;
                        cases[n_cases++].first = k;
                }
}

/* Finds all cases of all scripts. */
static void find_scripts(void) {
        glob_t found;

        assert(glob(SCRIPTS "/*", 0, NULL, &found) == 0);
        for (size_t i = 0; i < found.gl_pathc; i++)
                find_cases(found.gl_pathv[i]);
        globfree(&found);
}

int main(int argc, char *argv[]) {
        Suite *suite = suite_create("scripts");
        TCase *t = tcase_create("scripts");

        suite_add_tcase(suite, t);
        tcase_set_timeout(t, 600);
        if (argc > 2 && streq(argv[1], "--write")) {
                written = argv + 2;
                tcase_add_loop_test(t, test_write, 0, argc - 2);
                (void) setenv("CK_FORK", "no", true);
        } else {
                for (int i = 1; i < argc; i++)
                        find_cases(argv[i]);
                if (argc == 1)
                        find_scripts();
                tcase_add_loop_test(t, test_case, 0, (int) n_cases);
        }
        return suite_run(suite);
}
