/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <linux/nvme_ioctl.h>

#include "attribute.h"
#include "kernel-view.h"
#include "nvme.h"
#include "sysfs.h"

enum {
        NVME_TIMEOUT_MS = 15000,

        NVME_LOG_SELF_TEST = 0x06,
        NVME_NSID_ALL = -1,

        /* Status code type and status code, as in Linux include/linux/nvme.h. */
        NVME_STATUS_INVALID_OPCODE = 0x001,
        NVME_STATUS_INVALID_FIELD = 0x002,
        NVME_STATUS_INTERNAL_ERROR = 0x006,
        NVME_STATUS_SEQUENCE_ERROR = 0x00C,
        NVME_STATUS_NOT_SAVEABLE = 0x10D,
        NVME_STATUS_NOT_CHANGEABLE = 0x10E,
        NVME_STATUS_NOT_OF_NAMESPACE = 0x10F,
};

int nvme_check_live(Device *d, bool alone) {
        _cleanup_(globfree) glob_t found;
        char state[32] = "";
        int r;

        r = attribute_glob(&found, "%s/device/{,nvme*/}state", d->drive->syspath);
        if (r >= 0 && alone && found.gl_pathc > 1)
                return device_fail(
                                d, END_FORBIDDEN,
                                "the drive has %zu controllers (multipath), and the kernel chooses which of them receives a command",
                                found.gl_pathc);
        for (size_t i = 0; r >= 0 && i < found.gl_pathc; i++)
                if (attribute_read(state, sizeof state, "%s", found.gl_pathv[i]) >= 0 && health_parse(state) > 0)
                        return 0;

        if (r < 0 || !*state) /* no state attribute found: the controller counts as live */
                return r;
        if (streq(state, "dead"))
                return device_fail(d, -EIO, "the kernel has given up the drive's NVMe controller (state dead)");
        if (health_parse(state) < 0)
                return device_fail(d, END_VANISHED, "the drive's NVMe controller is being removed (state %s)", state);
        return device_fail(d, END_DEFERRED,
                           "the drive's NVMe controller accepts no commands now (state %s); deferred until it is live",
                           state);
}

/* Returns the status code's name in the NVMe base specification, followed by ", ". Returns an empty string for other
 * codes. */
static const char *status_name(unsigned status) {
        switch (status) {
        case NVME_STATUS_INVALID_OPCODE:
                return "invalid command opcode, ";
        case NVME_STATUS_INVALID_FIELD:
                return "invalid field in command, ";
        case NVME_STATUS_INTERNAL_ERROR:
                return "internal error, ";
        case NVME_STATUS_SEQUENCE_ERROR:
                return "command sequence error, ";
        case NVME_STATUS_NOT_SAVEABLE:
                return "feature not saveable, ";
        case NVME_STATUS_NOT_CHANGEABLE:
                return "feature not changeable, ";
        case NVME_STATUS_NOT_OF_NAMESPACE:
                return "feature not namespace specific, ";
        default:
                return "";
        }
}

int nvme_admin(Device *d, const char *what, bool whole, struct nvme_passthru_cmd *cmd) {
        int64_t nsid = 0;
        int fd, r, status;

        r = nvme_check_live(d, whole && cmd->opcode == NVME_ADMIN_SET_FEATURES);
        if (r >= 0 && !whole)
                r = sysfs_number(d, "nsid", &nsid);
        if (r < 0)
                return r;
        fd = device_begin(d);
        if (fd < 0)
                return fd;

        if (!whole)
                cmd->nsid = (uint32_t) nsid;
        cmd->timeout_ms = NVME_TIMEOUT_MS;
        r = d->io.nvme_admin(d->io.userdata, fd, cmd);
        if (d->observer)
                d->observer->nvme_admin(d->observer->userdata, cmd, r);
        if (r == -ENODEV || r == -ENXIO)
                return device_fail(d, END_VANISHED, "the drive is gone (%s)", what);
        if (r < 0)
                return device_fail(d, r, "%s could not be sent: %s", what, strerror(-r));

        status = r & 0x7FF;
        if (status == NVME_STATUS_INVALID_FIELD && cmd->opcode == NVME_ADMIN_GET_FEATURES)
                return device_fail(d, END_UNSUPPORTED, "the controller does not support %s (status 002h)", what);
        if (r > 0) {
                r = device_fail(d, END_REFUSED, "the controller rejected %s (%sstatus %03Xh)", what,
                                status_name((unsigned) status), (unsigned) status);
                d->failure.rejected = status == NVME_STATUS_INVALID_OPCODE || status == NVME_STATUS_INVALID_FIELD;
        }
        return r;
}

int nvme_identify(Device *d) {
        struct nvme_passthru_cmd cmd = {
                .opcode = NVME_ADMIN_IDENTIFY,
                .addr = (uintptr_t) d->nvme_identify,
                .data_len = sizeof d->nvme_identify,
                .cdw10 = 1, /* CNS 01h: controller */
        };
        int r;

        if (d->nvme_identified)
                return 0;

        r = nvme_admin(d, "Identify Controller", true, &cmd);
        d->nvme_identified = r >= 0;
        return r;
}

uint16_t nvme_identify_word(const Device *d, unsigned at) {
        assert(d->nvme_identified);

        return (uint16_t) (d->nvme_identify[at] | d->nvme_identify[at + 1] << 8);
}

int nvme_is_testing(Device *d, bool *ret) {
        uint8_t page[4] = {}; /* start of the log page; the length of a read must be a multiple of 4 bytes */
        struct nvme_passthru_cmd cmd = {
                .opcode = NVME_ADMIN_GET_LOG_PAGE,
                .nsid = (uint32_t) NVME_NSID_ALL,
                .addr = (uintptr_t) page,
                .data_len = sizeof page,
                .cdw10 = NVME_LOG_SELF_TEST | (sizeof page / 4 - 1) << 16,
        };
        int r;

        r = nvme_identify(d);
        if (r < 0)
                return r;
        if (!(nvme_identify_word(d, NVME_ID_OACS) & 1 << 4))
                return device_fail(d, END_UNSUPPORTED, "the drive has no self-test");
        r = nvme_admin(d, "the self-test log", true, &cmd);
        if (r >= 0)
                *ret = page[0] & 0x0F;
        return r;
}
