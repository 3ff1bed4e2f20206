/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* check-root ROOT FILE: like `drivekeep check FILE`, but reads the configuration of other programs below ROOT, and checks made-up drives of
 * common kinds. Prints the complaints. Exits with 2 if there is a warning or an error. Used by tests/packages. */

#include <stdio.h>
#include <stdlib.h>

#include "config.h"
#include "conflicts.h"
#include "settings.h"

static char ata[] = "DEVTYPE=disk\0ID_BUS=ata\0ID_ATA=1\0ID_ATA_FEATURE_SET_APM=1\0ID_TYPE=disk";
static char usb[] = "DEVTYPE=disk\0ID_BUS=usb\0ID_TYPE=disk\0ID_FS_TYPE=ext4";

static DriveLink links[] = { { (char *) "/dev/disk/by-id/ata-ST2000DL003-9VT166_5YD1", LINK_OWN } };
static Drive hdd = {
        .name = (char *) "sda",
        .node = (char *) "/dev/sda",
        .model = (char *) "ST2000DL003-9VT166",
        .serial = (char *) "5YD1",
        .transport = TRANSPORT_SATA,
        .rotational = true,
        .ata = true,
        .properties = ata,
        .properties_size = sizeof ata,
        .links = links,
        .n_links = ELEMENTSOF(links),
};
static Drive ssd = {
        .name = (char *) "sdb",
        .node = (char *) "/dev/sdb",
        .model = (char *) "Samsung SSD 860 EVO 1TB",
        .serial = (char *) "S3Z8",
        .transport = TRANSPORT_SATA,
        .ata = true,
        .properties = ata,
        .properties_size = sizeof ata,
};
static Drive dock = {
        .name = (char *) "sdc",
        .node = (char *) "/dev/sdc",
        .transport = TRANSPORT_USB,
        .rotational = true,
        .properties = usb,
        .properties_size = sizeof usb,
};
static Drive nvme = {
        .name = (char *) "nvme0n1",
        .node = (char *) "/dev/nvme0n1",
        .transport = TRANSPORT_NVME,
        .properties = usb,
        .properties_size = sizeof usb,
};
static Drive *drives[] = { &hdd, &ssd, &dock, &nvme };

int main(int argc, char **argv) {
        _cleanup_(config_freep) Config *c = NULL;
        bool warned = false;

        if (argc != 3 || config_new(&c) < 0 || config_load_file(c, &all_settings, argv[2]) < 0)
                return EXIT_FAILURE;
        conflicts_check(argv[1], c, &all_settings, drives, ELEMENTSOF(drives));
        for (size_t i = 0; i < c->complaints.n_items; i++) {
                _cleanup_free_ char *line = complaint_format(&c->complaints.items[i]);

                warned = warned || c->complaints.items[i].level != COMPLAINT_NOTICE;
                printf("%s\n", line);
        }
        return warned ? 2 : EXIT_SUCCESS;
}
