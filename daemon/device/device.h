/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One drive, open for one visit: the doors to it (ioctl, sysfs), what was read of it so far, and the sentence about
 * what went wrong last. Used in a worker process only: every call below can block for as long as a drive pleases. */

#include "drive.h"
#include "setting.h"

struct nvme_passthru_cmd;
typedef struct SgRequest SgRequest;

/* The outside world, as a parameter: the real one is device_io_real; tests pass scripts of expected commands. Each
 * returns 0 or a negative errno of the system call. */
typedef struct DeviceIO {
        int (*open_node)(void *userdata, const Drive *drive); /* -ENODEV: it is another one by now */
        int (*sg)(void *userdata, int fd, SgRequest *request);
        int (*nvme_admin)(void *userdata, int fd, struct nvme_passthru_cmd *cmd);

        /* Asked before every command to the drive and every store into its sysfs: 0 go ahead, -EAGAIN not now, and why
         * (a sentence). NULL: always. */
        int (*gate)(void *userdata, const char **ret_why);
        void *userdata;
} DeviceIO;

extern const DeviceIO device_io_real;

typedef enum PowerMode {
        POWER_UNKNOWN, /* not asked yet, or no usable answer */
        POWER_AWAKE,
        POWER_STANDBY,   /* spun down: nothing that would wake it is sent */
        POWER_SUSPENDED, /* put to sleep by the kernel (runtime PM): any command at all would wake it */
} PowerMode;

typedef enum IdentifyState {
        IDENTIFY_NONE,
        IDENTIFY_VALID,
        IDENTIFY_FAILED,
} IdentifyState;

struct Device {
        const Drive *drive;
        DeviceIO io;
        int fd; /* opened at the first command */

        PowerMode power;
        IdentifyState identify_state;
        int identify_error;
        uint16_t identify[256]; /* ATA IDENTIFY DEVICE, host byte order */
        bool sct_checked;
        unsigned n_timeouts;

        char note[128];  /* about a success that is not quite one; cleared before every setting */
        char error[256]; /* a sentence's end: "the drive aborted EFh/05h (status 51h, error 04h)" */
};

void device_init(Device *d, const Drive *drive, const DeviceIO *io);
void device_done(Device *d);

/* The backends this drive can have, as a mask of 1 << Backend; from its identity alone. */
unsigned drive_backends(const Drive *drive);

/* Forget what was read, so that the next read asks the drive again. */
void device_refresh(Device *d);

int device_gate(Device *d);
int device_open(Device *d); /* the fd, or a negative errno */

/* Record the sentence and return `error`: return device_fail(d, -EREMOTEIO, "…"). */
int device_fail(Device *d, int error, const char *format, ...) _printf_(3, 4);
