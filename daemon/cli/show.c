/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep show`: what a drive supports and has at present, for every row; or what a saved IDENTIFY image tells. */

#include <err.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "ata-identify.h"
#include "choice.h"
#include "inventory.h"
#include "output.h"
#include "probe.h"
#include "request.h"
#include "settings.h"
#include "text-file.h"
#include "verb.h"

/* clang-format off */
static const Column columns[] = {
        { "name", "SETTING" },
        { "transport", "HELD BY", .spared = true },
        { "supported", "SUPPORTED" },
        { "value", "VALUE" },
        { "saved", "SAVED", .spared = true },
        { "reason", "REMARK", .wrap = true },
};
/* clang-format on */

static const char *reading_format(const Probed *s, bool known, const Value *v, char buf[static VALUE_TEXT_MAX]) {
        return known && s->reading.supported ? value_format(&s->setting->range, v, buf) : NULL;
}

static void tell_setting(void *userdata, const Probed *s) {
        char value[VALUE_TEXT_MAX], saved[VALUE_TEXT_MAX];
        Output *o = userdata;

        output_row(o);
        output_text(o, "name", s->setting->name);
        output_text(o, "transport", backend_to_string(s->setting->backend));
        output_text(o, "value", reading_format(s, s->reading.known, &s->reading.value, value));
        output_text(o, "saved", reading_format(s, s->reading.saved_known, &s->reading.saved, saved));
        output_text(o, "reason", s->reason);
        output_boolean(o, "supported", s->reading.supported || !s->reason ? s->reading.supported : -1);
        output_end(o);
}

/* Of the backends in the mask. */
static void tell_drive(Output *o, const Drive *d, unsigned backends, const DeviceIO *io) {
        char size[HUMAN_MAX];

        output_object(o, NULL);
        output_fact(o, "drive", "node", d->node);
        output_fact(o, "model", "model", d->model);
        output_fact(o, "serial", "serial", d->serial);
        output_fact(o, "firmware", "firmware", d->firmware);
        output_fact(o, "wwn", "wwn", d->wwn);
        output_number(o, "size", true, d->size);
        output_fact(o, "size", NULL, capacity_format(d->size, size));
        output_boolean(o, "rotational", d->rotational_untold ? -1 : d->rotational);
        output_fact(o, "rotates", NULL, d->rotational_untold ? NULL : d->rotational ? "yes" : "no");

        output_array(o, "settings");
        probe(d, backends, &all_settings, io, tell_setting, o);
        output_end(o);
        output_end(o);
}

/* As text_file_read(), but an image may come through a pipe and from anybody: nothing is done with it. A disk, which may wake
 * when it is opened, is none. */
static int read_image(const char *path, char **ret_text, size_t *ret_size, const char **ret_objection) {
        _cleanup_close_ int fd = -EBADF;
        struct stat st;

        if (streq(path, "-"))
                return text_descriptor_read(STDIN_FILENO, ret_text, ret_size, ret_objection);

        if (stat(path, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode)) {
                *ret_objection = "this is neither a file nor a pipe";
                return 1;
        }

        fd = open(path, O_RDONLY | O_CLOEXEC);
        return fd < 0 ? -errno : text_descriptor_read(fd, ret_text, ret_size, ret_objection);
}

static int show_identify(const Options *o) {
        _cleanup_(output_freep) Output *out = output_new(o->json, columns, ELEMENTSOF(columns));
        _cleanup_(drive_freep) Drive *d = NULL;
        _cleanup_free_ char *text = NULL;
        const char *objection = NULL;
        uint16_t id[256];
        DeviceIO io = { .image = id };
        size_t size = 0;
        int r;

        r = must_not_fail(read_image(o->identify, &text, &size, &objection));
        if (r != 0) {
                warn_escaped("%s: %s%s", o->identify, r < 0 ? "the file cannot be read: " : "",
                             r < 0 ? strerror(-r) : objection);
                return EXIT_BAD_INPUT;
        }

        objection = identify_image_parse(text, size, id) < 0
                                    ? "is no IDENTIFY DEVICE image: that is 512 bytes as the drive sends them, or 256 words of four "
                                      "hexadecimal digits, as 'hdparm --Istdout' prints them"
                                    : identify_image_objection(id);
        if (objection) {
                warn_escaped("%s %s", o->identify, objection);
                return EXIT_BAD_INPUT;
        }
        if (!identify_checksum_ok(id))
                warn_escaped("%s has a wrong checksum: what it says may not be what the drive said", o->identify);

        must_work(identify_image_drive(id, o->identify, &d));
        output_array(out, NULL);
        tell_drive(out, d, 1U << BACKEND_ATA, &io);
        output_print(out);
        return EXIT_WANTED;
}

static int show_drives(const Options *o) {
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(output_freep) Output *out = NULL;
        _cleanup_(leave_done) Leave leave = {};
        size_t n;
        int r;

        r = inventory_read(&inventory);
        if (r >= 0)
                r = drives_choose(inventory.drives, inventory.n_drives, o->names, &n);
        if (r != EXIT_WANTED)
                return r;

        r = leave_get(&leave, STATE_DIR, inventory.drives, n);
        if (r != EXIT_WANTED)
                return r;

        for (size_t i = 0; i < n; i++) {
                const Drive *d = inventory.drives[i];

                /* For people each drive has a table of its own. */
                if (i == 0 || !o->json) {
                        (void) output_free(out);
                        out = output_new(o->json, columns, ELEMENTSOF(columns));
                        output_array(out, NULL);
                }
                if (i > 0)
                        output_line(out, "%s", "");
                tell_drive(out, d, drive_backends(d), &leave.io);
                if (!o->json || i + 1 == n)
                        output_print(out);
        }
        return EXIT_WANTED;
}

static int run(const Options *o) {
        if (!o->names == !o->identify) {
                warnx("say which drive, or which image: 'drivekeep show DRIVE' or 'drivekeep show --identify FILE'");
                return EXIT_BAD_INPUT;
        }

        return o->identify ? show_identify(o) : show_drives(o);
}

const Verb verb_show = {
        .name = "show",
        .paged = true,
        .summary = "Show what a drive supports and has at present",
        .arguments = "DRIVE...\n--identify FILE",
        .help = "Shows what a drive supports and what it has at present, setting by setting. Changes nothing, wakes nothing."
                "\v" DRIVE_IS ". "
                "What the drive itself holds is asked of the drive, and needs root.",
        .options = OPTION_IDENTIFY | OPTION_JSON,
        .run = run,
};
