/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One drive during one visit: its node and sysfs files, the data read so far, and the reason of the last failure. Each function below may
 * block until the drive answers. The service therefore calls these functions only in a worker process; 'drivekeep plan' and 'drivekeep
 * show' call them in their own process. */

#include "drive.h"
#include "setting.h"
#include "verdict-word.h"

struct nvme_passthru_cmd;
typedef struct SgRequest SgRequest;
typedef struct Plan Plan;
typedef struct Step Step;

/* Special results of the functions in device/. These functions also return negative errnos, so the numbers are outside the range of
 * errnos. */
typedef enum End {
        END_UNCHANGED = -5000, /* the drive's value is equivalent to the wanted value, and no command is needed */
        END_REFUSED,           /* the drive or the kernel answered with an error */
        END_UNSUPPORTED,       /* the drive or the kernel does not have this setting or command */
        END_DEFERRED,          /* not permitted now (a file system check runs, or the drive is in standby) */
        END_VANISHED,          /* the drive is gone */
        END_FORBIDDEN,         /* forbidden by drivekeep's own policy */
} End;

/* Returns VERDICT_APPLIED for success (0 and above), and VERDICT_FAILED for an errno. */
Verdict end_to_verdict(int r);

/* The system calls that reach a drive. The programs use device_io_real; tests use scripts of expected commands. Each function returns 0 or
 * the negative errno of the system call. */
typedef struct DeviceIO {
        int (*open_node)(void *userdata, const Drive *drive); /* -ENODEV: the node belongs to another drive by now */
        int (*sg)(void *userdata, int fd, SgRequest *request);
        int (*nvme_admin)(void *userdata, int fd, struct nvme_passthru_cmd *cmd);
        int (*set_read_only)(void *userdata, const char *name, bool on); /* name: kernel name of a disk or partition */
        int (*is_claimed)(void *userdata, const char *name); /* 1: the device is open exclusively (open(2), O_EXCL) */

        /* Called before each command to the drive and each store into its sysfs files. Returns 0 if the command is permitted, or
         * END_DEFERRED with the cause in *ret_why if it is not permitted now. If `gate` is NULL, everything is permitted. */
        int (*gate)(void *userdata, const Drive *drive, const char **ret_why);
        const char *mountinfo; /* path of the table of mounts; NULL: /proc/self/mountinfo */
        /* 256 words of IDENTIFY DEVICE in host byte order, used instead of a drive; NULL: use the drive. With an image, the drive counts as
         * active, commands other than IDENTIFY fail with -ENODATA, and the functions above are not called. */
        const uint16_t *image;
        void *userdata;
} DeviceIO;

extern const DeviceIO device_io_real;

/* Called after each command to the drive, and after each read of an attribute below the drive's directory in sysfs, with its path relative
 * to this directory. `drivekeep report` prints the commands and the attributes. */
typedef struct Observer {
        void (*sg)(void *userdata, const SgRequest *request, int r);                    /* r: result of DeviceIO.sg */
        void (*nvme_admin)(void *userdata, const struct nvme_passthru_cmd *cmd, int r); /* r: of DeviceIO.nvme_admin */
        void (*attribute)(void *userdata, const char *path, const char *text);
        void *userdata;
} Observer;

typedef struct Failure {
        int error; /* END_… or a negative errno; 0: no failure */
        char why[256]; /* cause, without a final period: "the drive rejected SET FEATURES 05h (aborted command, sense Bh 00h/00h)" */
        bool remediable; /* the setting is unsupported, and `why` names a remedy */
        bool rejected;   /* the command was rejected as unknown, or its value as invalid */
} Failure;

struct Device {
        const Drive *drive;
        DeviceIO io;
        const Observer *observer; /* NULL: none */
        int fd;                   /* descriptor of the node, opened at the first command */

        PowerMode power;
        bool power_reported; /* the drive itself reported the power mode; false: the power mode is an assumption */
        const char *busy; /* sentence about an operation that the SCSI drive must finish undisturbed; NULL: no such operation */
        bool active;              /* the kernel's counters show recent I/O */
        bool medium_read;         /* keep_active_write() has read a sector of the medium */
        bool wake;                /* the visit may spin the drive up */
        bool identify_valid;      /* `identify` was read since device_refresh() */
        Failure identify_failure; /* failure of IDENTIFY since device_refresh(); error 0: none */
        uint16_t identify[256];   /* ATA IDENTIFY DEVICE, host byte order */
        bool identify_repeated;   /* `identify` equals the data before device_refresh(), byte for byte */
        bool sct_checked;
        unsigned n_timeouts;
        bool nvme_identified;
        uint8_t nvme_identify[4096]; /* NVMe Identify Controller data */
        Bridge bridge;               /* what the answers so far show about a USB bridge */

        const Plan *plan; /* plan of this visit, for settings that share a register. NULL: none */

        /* State of the current setting. */
        bool committed;       /* the next commands complete an earlier command, and are sent without calling the gate */
        bool allow_dangerous; /* the user permits dangerous settings */
        bool save;            /* the drive must also save the value */
        bool permanent;       /* a rule requests a saved value, so the saved value must be read */

        char note[192];  /* remark on a setting that was applied with limitations; cleared before each setting */
        Failure failure; /* last failure */
};

void device_init(Device *d, const Drive *drive, const DeviceIO *io);
void device_done(Device *d);

/* Formats the node of a disk or partition from its kernel name. */
int device_node(const char *name, char **ret);

/* Returns true if the kernel's disk sequence number has changed since the attach, so that the device is another drive or has another
 * medium. Returns false in kernels before 5.15, which have no such number. */
bool drive_was_replaced(const Drive *drive);

/* Returns true if a removable drive has another medium. The kernel handles a new medium like an attach (disk_check_events()), but the
 * drive itself remains attached. */
bool drive_medium_changed(const Drive *drive);

/* Discards the data read so far, so that the next read queries the drive. */
void device_refresh(Device *d);

/* Returns the step of this visit that will write the named setting; NULL: no such step, or no plan. */
const Step *device_planned(const Device *d, const char *name);

/* device_gate() asks the gate for permission to send commands. device_begin() also opens the node, and returns its descriptor. */
int device_gate(Device *d);
int device_begin(Device *d);

/* Appends the setting's remedy to the reason of the failure. Returns END_UNSUPPORTED. */
int device_fail_with_remedy(Device *d, const Setting *s);

/* Stores the reason and returns `error`. Callers write: return device_fail(d, -EREMOTEIO, "…"). */
int device_fail(Device *d, int error, const char *format, ...) _printf_(3, 4);

/* A query is sent only once, but its failure may concern several settings. failure_keep() stores the failure if `r` is negative, and
 * device_fail_again() reports the stored failure for another setting. */
void failure_keep(Failure *f, const Device *d, int r);
int device_fail_again(Device *d, const Failure *f);
