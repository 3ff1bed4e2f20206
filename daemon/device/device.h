/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One drive, open for one visit: how it is reached (ioctl, sysfs), what was read of it so far, and the sentence about what went wrong
 * last. Every call below can block for as long as the drive does not answer: the service makes them in a worker process only, the
 * command (plan, show) in its own. */

#include "drive.h"
#include "setting.h"
#include "verdict-word.h"

struct nvme_passthru_cmd;
typedef struct SgRequest SgRequest;
typedef struct Plan Plan;
typedef struct Step Step;

/* What a function of this room returns, beside errnos, when it does not succeed: numbers beyond all errnos, so that none of a system
 * call is taken for one of them. */
typedef enum End {
        END_UNCHANGED = -5000, /* it is as good as wanted, and nothing is to be sent */
        END_REFUSED,           /* the drive or the kernel answered with an error */
        END_UNSUPPORTED,       /* there is no such thing to ask */
        END_DEFERRED,          /* not allowed now: a check, a sleeping drive */
        END_VANISHED,          /* the drive is gone */
        END_FORBIDDEN,         /* our own policy */
} End;

/* VERDICT_APPLIED for success (0 and above); VERDICT_FAILED for an errno. */
Verdict end_to_verdict(int r);

/* The outside world, as a parameter: the real one is device_io_real; tests pass scripts of expected commands. Each
 * returns 0 or a negative errno of the system call. */
typedef struct DeviceIO {
        int (*open_node)(void *userdata, const Drive *drive); /* -ENODEV: it is another one by now */
        int (*sg)(void *userdata, int fd, SgRequest *request);
        int (*nvme_admin)(void *userdata, int fd, struct nvme_passthru_cmd *cmd);
        int (*set_read_only)(void *userdata, const char *name, bool on); /* of a disk or partition, by kernel name */
        int (*is_claimed)(void *userdata, const char *name); /* 1: it is open exclusively (open(2), O_EXCL) */

        /* Asked before every command to the drive and every store into its sysfs: 0 go ahead, END_DEFERRED not now, and why
         * (a sentence). NULL: always. */
        int (*gate)(void *userdata, const Drive *drive, const char **ret_why);
        const char *mountinfo; /* what is mounted; NULL: /proc/self/mountinfo */
        /* 256 words of IDENTIFY DEVICE, in host byte order, in the place of a drive that is awake: any other command ends with
         * -ENODATA. The functions are not used then. */
        const uint16_t *image;
        void *userdata;
} DeviceIO;

extern const DeviceIO device_io_real;

typedef struct Failure {
        int error;     /* END_… or a negative errno; 0: there is none */
        char why[256]; /* a sentence's end: "the drive rejected SET FEATURES 05h (aborted command, sense Bh 00h/00h)" */
        bool remediable; /* the setting is unsupported, and `why` names a remedy */
        bool rejected;   /* by an answer that says: unknown command, or invalid value */
} Failure;

struct Device {
        const Drive *drive;
        DeviceIO io;
        int fd; /* opened at the first command */

        PowerMode power;
        bool power_reported; /* by the drive itself; false: its power mode is only likely */
        const char *busy; /* what a SCSI drive that was asked is at, and is not to be kept from: a sentence. NULL: nothing */
        bool active;      /* the drive was in use just now, by the kernel's counters */
        bool wake;        /* the drive may be woken */
        bool identify_valid;      /* read since device_refresh(), … */
        Failure identify_failure; /* … or asked for without success */
        uint16_t identify[256];   /* ATA IDENTIFY DEVICE, host byte order */
        bool identify_repeated;   /* the same as before device_refresh(), byte for byte */
        bool sct_checked;
        unsigned n_timeouts;
        bool nvme_identified;
        uint8_t nvme_identify[4096]; /* NVMe Identify Controller data */
        Bridge bridge;               /* what is known of it so far; of USB drives only */

        const Plan *plan; /* of this visit: settings that share a register see what else is wanted of it. NULL: none */

        /* Of the setting whose turn it is. */
        bool committed;       /* what is sent now belongs to what has been sent: the gate is not asked between them */
        bool allow_dangerous; /* the user says that danger is meant */
        bool save;            /* the drive is to save the value too */
        bool permanent;       /* the file wants it saved, so what the drive has saved is of interest */

        char note[192];  /* about a success that is not quite one; cleared before every setting */
        Failure failure; /* the last one */
};

void device_init(Device *d, const Drive *drive, const DeviceIO *io);
void device_done(Device *d);

/* The node of a disk or partition, by its kernel name. */
int device_node(const char *name, char **ret);

/* Is another drive or medium in its place than when it was attached, by the kernel's number for that? Kernels before 5.15 have
 * none. */
bool drive_is_exchanged(const Drive *drive);

/* Is it another disc or card? To the kernel that is an attach of its own (disk_check_events()); to the drive it is no harm, and it
 * stays where it is. */
bool drive_medium_changed(const Drive *drive);

/* Forget what was read, so that the next read asks the drive again. */
void device_refresh(Device *d);

/* The step of this visit that is to write the setting of that name; NULL: there is none, or no plan. */
const Step *device_planned(const Device *d, const char *name);

/* Asks the gate, and for a command opens the node, too: then the fd is returned. */
int device_gate(Device *d);
int device_begin(Device *d);

/* Adds the remedy in the setting's row to the failure's sentence. Returns END_UNSUPPORTED. */
int device_fail_with_remedy(Device *d, const Setting *s);

/* Record the sentence and return `error`: return device_fail(d, -EREMOTEIO, "…"). */
int device_fail(Device *d, int error, const char *format, ...) _printf_(3, 4);

/* Of an answer that is not asked for again: keeps the failure with which `r` was returned, if it is one; and returns it once more. */
void failure_keep(Failure *f, const Device *d, int r);
int device_fail_again(Device *d, const Failure *f);
