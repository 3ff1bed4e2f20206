/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep show`: what a drive supports and has at present, for every row; or what a saved IDENTIFY image tells. */

#include <err.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "ata-identify.h"
#include "choice.h"
#include "inventory.h"
#include "leave.h"
#include "options.h"
#include "settings.h"
#include "show-view.h"
#include "text-file.h"
#include "verb.h"
#include "warning.h"

typedef struct ShowOptions {
        Options common; /* options_parse()'s; first */
        const char *identify;
} ShowOptions;

enum {
        OPTION_KEY_IDENTIFY = 0x500,
};

static const struct argp_option options[] = {
        { "identify", OPTION_KEY_IDENTIFY, "FILE", 0,
          "Show what this IDENTIFY DEVICE image tells: 512 bytes, or the text of 'hdparm --Istdout'; - is standard input",
          0 },
        OPTION_JSON,
        OPTION_HELP,
        {},
};

static error_t parse(int key, char *argument, struct argp_state *state) {
        ShowOptions *o = state->input;

        if (key != OPTION_KEY_IDENTIFY)
                return options_parse(key, argument, state);

        o->identify = argument;
        return 0;
}

static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "DRIVE...\n--identify FILE",
        .doc = "Shows what a drive supports and what it has at present, setting by setting. Changes nothing, wakes nothing."
               "\vDRIVE is a kernel name, a node, a link to it, a serial number or a WWN. "
               "What the drive itself holds is asked of the drive, and needs root.",
};

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

static int show_identify(const ShowOptions *o) {
        _cleanup_(drive_freep) Drive *d = NULL;
        _cleanup_free_ char *text = NULL;
        const char *objection = NULL;
        uint16_t id[256];
        DeviceIO io;
        size_t size = 0;
        int r;

        r = read_image(o->identify, &text, &size, &objection);
        if (r < 0 && r != -ENOMEM) {
                warn_escaped("%s: the file cannot be read: %s", o->identify, strerror(-r));
                return EXIT_BAD_INPUT;
        }
        if (r > 0) {
                warn_escaped("%s: %s", o->identify, objection);
                return EXIT_BAD_INPUT;
        }
        if (r >= 0)
                r = survey_image_parse(text, size, id);
        if (r == -EBADMSG) {
                warn_escaped("%s is no IDENTIFY DEVICE image: that is 512 bytes as the drive sends them, or 256 words of four hexadecimal digits, as 'hdparm --Istdout' prints them",
                             o->identify);
                return EXIT_BAD_INPUT;
        }
        if (r < 0)
                return r;
        objection = survey_image_objection(id);
        if (objection) {
                warn_escaped("%s %s", o->identify, objection);
                return EXIT_BAD_INPUT;
        }
        if (!identify_checksum_ok(id))
                warn_escaped("%s has a wrong checksum: what it says may not be what the drive said", o->identify);

        r = survey_image_drive(id, o->identify, &d);
        if (r < 0)
                return r;

        io = survey_image_io(id);
        return show_view_print((const Drive *[]){ d }, 1, 1U << BACKEND_ATA, &all_settings, &io, o->common.json);
}

static int show_drives(const ShowOptions *o) {
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_free_ const Drive **drives = NULL;
        _cleanup_(leave_done) Leave leave = {};
        _cleanup_free_ bool *chosen = NULL;
        size_t n = 0;
        int r;

        r = inventory_read(NULL, &inventory);
        if (r >= 0)
                r = drives_choose(inventory.drives, inventory.n_drives, o->common.names, &chosen);
        if (r == -EINVAL)
                return EXIT_BAD_INPUT;
        if (r < 0)
                return r;

        r = leave_get(&leave, STATE_DIR, inventory.drives, chosen, inventory.n_drives);
        if (r != EXIT_WANTED)
                return r;

        drives = calloc(MAX(inventory.n_drives, 1U), sizeof *drives);
        if (!drives)
                return -ENOMEM;
        for (size_t i = 0; i < inventory.n_drives; i++)
                if (chosen[i])
                        drives[n++] = inventory.drives[i];

        return show_view_print(drives, n, ~0U, &all_settings, &leave.io, o->common.json);
}

static int run(int argc, char *argv[]) {
        ShowOptions o = { .common.takes_names = true };

        (void) argp_parse(&argp, argc, argv, 0, NULL, &o);

        if (!o.common.names == !o.identify) {
                warnx("say which drive, or which image: 'drivekeep show DRIVE' or 'drivekeep show --identify FILE'");
                return EXIT_BAD_INPUT;
        }

        return o.identify ? show_identify(&o) : show_drives(&o);
}

const Verb verb_show = {
        .name = "show",
        .summary = "Show what a drive supports and has at present",
        .run = run,
};
