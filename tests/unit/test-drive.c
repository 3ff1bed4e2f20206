/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fnmatch.h>
#include <stdio.h>

#include "facts.h"
#include "setting.h"
#include "suite.h"

/* clang-format off */
static const struct {
        const char *syspath, *proc_name;
        Transport transport;
} paths[] = {
        { "/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda", "ahci", TRANSPORT_SATA },
        { "/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda", "sata_nv", TRANSPORT_SATA },
        { "/sys/devices/pci0000:00/0000:00:01.1/ata1/host0/target0:0:0/0:0:0:0/block/sda", "ata_piix", TRANSPORT_PATA },
        { "/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdb", "uas", TRANSPORT_USB },
        { "/sys/devices/platform/soc/1c1a000.usb/usb1/1-1/1-1:1.0/host0/target0:0:0/0:0:0:0/block/sda", "usb-storage", TRANSPORT_USB },
        { "/sys/devices/pci0000:00/0000:02:00.0/host0/port-0:0/end_device-0:0/target0:0:0/0:0:0:0/block/sda", "mpt3sas", TRANSPORT_SAS },
        { "/sys/devices/pci0000:00/0000:00:05.0/virtio2/host2/target2:0:0/2:0:0:0/block/sda", "virtio_scsi", TRANSPORT_SCSI },
        { "/sys/devices/pci0000:00/0000:00:04.0/virtio1/block/vda", NULL, TRANSPORT_VIRTIO },
        { "/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1", NULL, TRANSPORT_NVME },
        { "/sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1", NULL, TRANSPORT_NVME },
        { "/sys/devices/platform/soc/mmc_host/mmc0/mmc0:0001/block/mmcblk0", NULL, TRANSPORT_MMC },
        { "/sys/devices/virtual/block/md0", NULL, TRANSPORT_VIRTUAL },
        { "/sys/devices/virtual/block/dm-3", NULL, TRANSPORT_VIRTUAL },
        { "/sys/devices/platform/floppy.0/block/fd0", NULL, TRANSPORT_UNKNOWN },
        { "/sys/devices/platform/usb3phy/block/fd0", NULL, TRANSPORT_UNKNOWN }, /* "usb3phy" is no USB bus */
};
/* clang-format on */

static Drive *make(const char *syspath, const Fact *facts) {
        const DriveLookup lookup = { fact, (void *) facts };
        Drive *d;

        ck_assert_int_eq(drive_new("sda", "/dev/sda", syspath, &lookup, &d), 0);
        return d;
}

START_TEST(test_transport) {
        const Fact facts[] = { { "scsi_host/proc_name", paths[_i].proc_name }, {} };
        _cleanup_(drive_freep) Drive *d = make(paths[_i].syspath, facts);

        ck_assert_msg(d->transport == paths[_i].transport, "%s", paths[_i].syspath);
}
END_TEST

static const char ata_path[] = "/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda";

/* clang-format off */
static const Fact sata[] = {
        { "ID_MODEL", "WDC_WD40EFRX-68N32N0" }, { "ID_SERIAL_SHORT", "WD-WCC7K0000001" }, { "ID_WWN", "0x50014ee2b0000001" },
        { "ID_REVISION", "82.00A82" }, { "device/model", "WDC WD40EFRX-68N" }, { "device/vendor", "ATA     " },
        { "queue/rotational", "1" }, { "removable", "0" }, { "size", "7814037168" }, { "diskseq", "9" },
        { "scsi_host/proc_name", "ahci" }, {},
};
/* clang-format on */

START_TEST(test_identity) {
        _cleanup_(drive_freep) Drive *d = make(ata_path, sata);

        ck_assert_str_eq(d->model, "WDC_WD40EFRX-68N32N0");
        ck_assert_str_eq(d->serial, "WD-WCC7K0000001");
        ck_assert_str_eq(d->wwn, "0x50014ee2b0000001");
        ck_assert_str_eq(d->firmware, "82.00A82");
        ck_assert_str_eq(d->vendor, "ATA");
        ck_assert_int_eq(d->transport, TRANSPORT_SATA);
        ck_assert(d->ata && d->rotational && !d->removable);
        ck_assert_uint_eq(d->size, 7814037168ULL * 512);
        ck_assert_uint_eq(d->diskseq, 9);
        ck_assert_str_eq(identity_kind_to_string(drive_identity_kind(d)), "wwn");
        ck_assert_uint_eq(d->n_links, 1);
        ck_assert_str_eq(d->links[0].path, "/dev/sda");
}
END_TEST

START_TEST(test_identity_sources) {
        static const Fact bare[] = { { "device/model", "  QEMU HARDDISK   \n" },
                                     { "device/rev", "2.5+" },
                                     { "device/serial", "" },
                                     {} };
        static const Fact piix[] = { { "scsi_host/proc_name", "ata_piix" }, { "ID_ATA_SATA", "1" }, {} };
        static const Fact named[] = { { "ID_MODEL", "M" }, { "ID_SERIAL_SHORT", "S" }, {} };
        static const Fact old[] = { { "scsi_host/proc_name", "ata_piix" }, { "ID_ATA_SATA", "0" }, {} };
        static const Fact scsi[] = { { "device/vendor", "SEAGATE" }, {} },
                          behind[] = { { "device/vendor", "ATA" }, {} };
        static const char scsi_path[] = "/sys/devices/pci0000:00/virtio2/host2/target2:0:0/2:0:0:0/block/sda";
        _cleanup_(drive_freep) Drive *d = make(ata_path, bare), *e = make(ata_path, piix), *f = make(ata_path, named),
                                     *g = make(ata_path, old), *h = make(scsi_path, scsi), *i = make(scsi_path, behind);

        ck_assert_int_eq(g->transport, TRANSPORT_PATA);
        ck_assert(!h->ata && i->ata);

        ck_assert_str_eq(d->model, "QEMU HARDDISK");
        ck_assert_str_eq(d->firmware, "2.5+");
        ck_assert_ptr_null(d->serial);
        ck_assert_str_eq(identity_kind_to_string(drive_identity_kind(d)), "path");
        ck_assert_int_eq(e->transport, TRANSPORT_SATA);
        ck_assert_str_eq(identity_kind_to_string(drive_identity_kind(f)), "serial");
}
END_TEST

/* On a SATA port, a disk is an ATA drive (`ata`). An optical drive on a SATA port does not count as an ATA drive. */
START_TEST(test_optical) {
        static const Fact dvd[] = { { "ID_MODEL", "HL-DT-ST_DVDRAM_GH24NSD1" },
                                    { "device/type", "5" },
                                    { "size", "2097151" },
                                    { "queue/rotational", "1" },
                                    { "removable", "1" },
                                    { "scsi_host/proc_name", "ahci" },
                                    {} };
        static const Fact disk[] = { { "device/type", "0" }, { "scsi_host/proc_name", "ahci" }, {} };
        _cleanup_(drive_freep) Drive *d = make(ata_path, dvd), *e = make(ata_path, disk);

        ck_assert(d->optical && d->removable && !d->ata && !d->rotational);
        ck_assert_int_eq(d->transport, TRANSPORT_SATA);
        ck_assert_uint_eq(d->size, 0);
        ck_assert(!e->optical && e->ata);
}
END_TEST

START_TEST(test_same) {
        static const Fact other_seq[] = { { "ID_WWN", "0x50014ee2b0000001" }, { "diskseq", "10" }, {} };
        static const Fact first[] = { { "ID_WWN", "0x50014ee2b0000001" }, { "diskseq", "9" }, {} };
        static const Fact poor[] = { { "diskseq", "9" }, {} };
        static const Fact old_kernel[] = { { "ID_WWN", "0x50014ee2b0000001" }, {} };
        static const Fact other_drive[] = { { "ID_WWN", "0x50014ee2b0000002" }, {} };
        _cleanup_(drive_freep) Drive *a = make(ata_path, first), *b = make(ata_path, first),
                                     *c = make(ata_path, other_seq), *d = make(ata_path, other_drive),
                                     *e = make(ata_path, old_kernel), *f = make(ata_path, old_kernel),
                                     *g = make(ata_path, poor);

        ck_assert(drive_same(a, b));
        ck_assert(!drive_same(a, c)); /* attached again: another diskseq */
        ck_assert(drive_same(a, g));  /* same diskseq; udev has no WWN for g */
        ck_assert(drive_same(e, f));
        ck_assert(!drive_same(e, d)); /* no diskseq; another WWN */
        ck_assert(!drive_same(a, d));
}
END_TEST

/* A WWN, model or serial number of only zeros or blanks does not identify a drive. `kind` is the kind of identity that
 * the test expects. */
static const struct {
        const char *key, *wwn, *kind;
} nobodies[] = {
        { "ID_WWN", "0x50014ee2b0000001", "wwn" },
        { "ID_WWN", "0x0", "path" },
        { "ID_WWN_WITH_EXTENSION", "0x0000000000000000", "path" },
        { "device/wwid", "naa.0000000000000000", "path" },
        { "device/wwid", "t10.ATA                                                                 ", "path" },
        { "device/wwid", "t10.ATA     QEMU HARDDISK                           QM00001             ", "wwn" },
        { "wwid", "eui.0000000000000000", "path" },
        { "wwid", "eui.0000000000000001", "wwn" },
};

START_TEST(test_no_identity) {
        const Fact facts[] = { { nobodies[_i].key, nobodies[_i].wwn },
                               { "ID_MODEL", "" },
                               { "ID_SERIAL_SHORT", "" },
                               {} };
        _cleanup_(drive_freep) Drive *d = make(ata_path, facts);

        ck_assert_str_eq(identity_kind_to_string(drive_identity_kind(d)), nobodies[_i].kind);
        ck_assert_ptr_null(d->serial);
}
END_TEST

/* Kernels before 5.15 have no diskseq, so drives are compared by the most reliable identity that they have. */
START_TEST(test_same_without_diskseq) {
        static const Fact wwn[] = { { "ID_WWN", "0x50014ee2b0000001" }, {} }, none[] = { {} },
                          first[] = { { "ID_MODEL", "M" }, { "ID_SERIAL_SHORT", "S" }, {} },
                          serial[] = { { "ID_MODEL", "M" }, { "ID_SERIAL_SHORT", "T" }, {} },
                          model[] = { { "ID_MODEL", "N" }, { "ID_SERIAL_SHORT", "S" }, {} },
                          numbered[] = { { "ID_MODEL", "M" }, { "ID_SERIAL_SHORT", "S" }, { "diskseq", "3" }, {} };
        static const char other_path[] =
                        "/sys/devices/pci0000:00/0000:00:1f.2/ata2/host1/target1:0:0/1:0:0:0/block/sda";
        const struct {
                const char *x_path, *y_path;
                const Fact *x, *y;
                bool same;
        } pairs[] = {
                { ata_path, other_path, first, first, true }, /* the same drive, moved to another port */
                { ata_path, ata_path, first, serial, false },
                { ata_path, ata_path, first, model, false },
                { ata_path, ata_path, first, wwn, false },
                { ata_path, ata_path, first, numbered, false },
                { ata_path, ata_path, none, none, true },
                { ata_path, other_path, none, none, false },
                { ata_path, other_path, numbered, numbered, false },
        };

        for (size_t i = 0; i < ELEMENTSOF(pairs); i++) {
                _cleanup_(drive_freep) Drive *x = make(pairs[i].x_path, pairs[i].x),
                                             *y = make(pairs[i].y_path, pairs[i].y);

                ck_assert_msg(drive_same(x, y) == pairs[i].same, "pair %zu", i);
        }
}
END_TEST

/* udev's properties of a USB disk may describe the bridge. After drive_reveal(), the drive has its own identity, which
 * the bridge hides from udev. */
START_TEST(test_behind_bridge) {
        static const char usb_path[] = "/sys/devices/pci0000:00/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sda";
        static const Fact plain[] = { { "ID_MODEL", "Dock" }, { "ID_SERIAL_SHORT", "D1" }, {} }, nameless[] = { {} },
                          asked[] = { { "ID_MODEL", "Dock" }, { "ID_ATA", "1" }, {} },
                          both[] = { { "ID_MODEL", "N" },
                                     { "ID_ATA", "1" },
                                     { "ID_USB_MODEL", "Dock" },
                                     { "ID_USB_SERIAL_SHORT", "D1" },
                                     {} },
                          bridge_alone[] = { { "ID_MODEL", "Dock" },
                                             { "ID_USB_MODEL", "Dock" },
                                             { "ID_USB_SERIAL_SHORT", "D1" },
                                             {} },
                          not_asked[] = { { "ID_MODEL", "Dock" }, { "ID_ATA", "0" }, {} },
                          stick[] = { { "removable", "1" }, {} }, optical[] = { { "device/type", "5" }, {} };
        static const DriveIdentity inside = { .model = "M", .serial = "S", .firmware = "F" }, mute = { .model = "M" };
        const struct {
                const char *path;
                const Fact *facts;
                const DriveIdentity *inside;
                bool behind_bridge;
                const char *model, *dock_model; /* expected after drive_reveal(); dock_model: the model of the bridge */
        } cases[] = {
                { usb_path, plain, &inside, true, "M", "Dock" },
                { usb_path, not_asked, &inside, true, "M", "Dock" },
                { usb_path, plain, &mute, true, "Dock", NULL },    /* identity without a serial number: ignored */
                { usb_path, asked, &inside, false, "Dock", NULL }, /* ID_ATA is set: udev has probed the drive itself */
                { usb_path, both, &inside, false, "N", "Dock" }, /* udev has properties of both the drive and the bridge */
                { usb_path, bridge_alone, &inside, true, "M", "Dock" },
                { ata_path, both, &inside, false, "N", NULL },
                { usb_path, nameless, &inside, true, "M", "" },
                { usb_path, stick, &inside, false, NULL, NULL },
                { usb_path, optical, &inside, false, NULL, NULL },
                { ata_path, plain, &inside, false, "Dock", NULL },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(drive_freep) Drive *d = make(cases[i].path, cases[i].facts);

                ck_assert_msg(drive_is_behind_bridge(d) == cases[i].behind_bridge, "case %zu", i);
                ck_assert_int_eq(drive_reveal(d, cases[i].inside), 0);
                ck_assert_int_eq(drive_reveal(d, cases[i].inside), 0);
                ck_assert_msg(streq_ptr(d->model, cases[i].model), "case %zu: %s", i, strna(d->model));
                ck_assert_msg(streq_ptr(d->dock_model, cases[i].dock_model), "case %zu: %s", i, strna(d->dock_model));
        }
}
END_TEST

START_TEST(test_links_and_properties) {
        _cleanup_(drive_freep) Drive *d = make(ata_path, sata);

        ck_assert_int_eq(drive_add_link(d, "/dev/disk/by-id/wwn-0x50014ee2b0000001", LINK_OWN), 0);
        ck_assert_int_eq(drive_add_link(d, "/dev/sda1", LINK_PARTITION), 0);
        ck_assert_int_eq(drive_add_link(d, "/dev/sda1", LINK_PARTITION), 0);
        ck_assert_uint_eq(d->n_links, 3);

        ck_assert_int_eq(drive_add_property(d, "ID_BUS", "ata"), 0);
        ck_assert_int_eq(drive_add_property(d, "ID_PATH", "pci-0000:00:1f.2-ata-1"), 0);
        ck_assert_str_eq(drive_property(d, "ID_PATH"), "pci-0000:00:1f.2-ata-1");
        ck_assert_ptr_null(drive_property(d, "ID"));
        ck_assert_int_eq(transport_from_string("sas"), TRANSPORT_SAS);
        ck_assert_int_eq(transport_from_string("SATA "), _TRANSPORT_INVALID);
        ck_assert_ptr_null(transport_to_string(_TRANSPORT_INVALID));
        ck_assert_ptr_null(transport_to_string(_TRANSPORT_MAX));
}
END_TEST

START_TEST(test_shared_controller) {
        static const char n1[] = "/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1",
                          n2[] = "/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n2",
                          other[] = "/sys/devices/pci0000:00/0000:02:00.0/nvme/nvme01/nvme01n1";
        static const Fact none[] = { {} };
        _cleanup_(drive_freep) Drive *a = make(n1, none), *b = make(n2, none), *c = make(other, none),
                                     *d = make(ata_path, none), *e = make(ata_path, none);

        ck_assert(drive_shares_controller(a, b) && drive_shares_controller(b, a));
        ck_assert(!drive_shares_controller(a, c) && !drive_shares_controller(c, a));
        ck_assert(!drive_shares_controller(d, e));
        ck_assert(!drive_shares_controller(a, d) && !drive_shares_controller(d, a));

        /* A partition of a namespace is not another namespace of its controller. */
        free(b->syspath);
        b->syspath = strdup("/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1/nvme0n1p1");
        ck_assert(!drive_shares_controller(a, b));
        free(b->syspath);
        b->syspath = strdup("/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme01/nvme01n1");
        ck_assert(!drive_shares_controller(a, b));
        free(a->syspath);
        a->syspath = strdup("nvme0n1");
        ck_assert(!drive_shares_controller(a, b));
}
END_TEST

START_TEST(test_name_order) {
        static const char *const order[] = { "dm-2", "dm-10", "md0", "mmcblk0", "nvme0n1", "nvme2n1", "nvme10n1",
                                             "sda",  "sdb",   "sdz", "sdaa",    "sdab",    "vda" };

        for (size_t i = 1; i < ELEMENTSOF(order); i++) {
                ck_assert_msg(drive_name_compare(order[i - 1], order[i]) < 0, "%s before %s", order[i - 1], order[i]);
                ck_assert_msg(drive_name_compare(order[i], order[i - 1]) > 0, "%s after %s", order[i], order[i - 1]);
        }
}
END_TEST

/* clang-format off */
static const struct {
        const char *name;
        bool kept;
} names[] = {
        { "sda", true },       { "sdaa", true },         { "hdc", true },          { "nvme0n1", true },  { "nvme10n12", true },
        { "mmcblk0", true },   { "mmcblk0boot0", false }, { "mmcblk0boot1", false }, { "mmcblk2rpmb", false },
        { "mmcblk0gp0", false },
        { "vda", true },       { "xvda", true },         { "md0", true },          { "md_d1", true },    { "md127", true },
        { "dm-0", true },      { "sr0", true },          { "loop0", false },       { "ram0", false },    { "zram0", false },
        { "nbd0", false },     { "fd0", false },         { "zd0", false },         { "bcache0", false }, { "rbd0", false },
        { "nvme0", false },    { "cciss!c0d0", false },  { "dm", false },          { "", false },
};
/* clang-format on */

START_TEST(test_managed_names) {
        ck_assert_msg(drive_name_is_managed(names[_i].name) == names[_i].kept, "%s", names[_i].name);
}
END_TEST

static bool fits_any(const char *patterns, const char *name) {
        _cleanup_free_ char *copy = strdup(patterns);

        for (char *p = strtok(copy, "|"); p; p = strtok(NULL, "|"))
                if (fnmatch(p, name, 0) == 0)
                        return true;
        return false;
}

/* The udev rules start the service for exactly those drives that the service manages. */
START_TEST(test_rules_agree) {
        FILE *f = fopen("udev-rules/90-drivekeep.rules", "re");
        char line[512], excluded[256] = "", kept[256] = "";

        ck_assert_ptr_nonnull(f);
        while (fgets(line, sizeof line, f)) {
                (void) sscanf(line, "KERNEL==\"%255[^\"]\", GOTO=\"drivekeep_end\"", excluded);
                (void) sscanf(line, "KERNEL!=\"%255[^\"]\", GOTO=\"drivekeep_end\"", kept);
        }
        ck_assert_int_eq(fclose(f), 0);

        ck_assert(*excluded && *kept);
        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                ck_assert_msg((fits_any(kept, names[i].name) && !fits_any(excluded, names[i].name)) == names[i].kept,
                              "%s", names[i].name);
}
END_TEST

#define BIT(name) (1U << BACKEND_##name)

static const struct {
        Transport transport;
        bool ata, optical;
        unsigned backends;
} kinds[] = {
        { TRANSPORT_UNKNOWN, false, false, BIT(BLOCK) },
        { TRANSPORT_SATA, true, false, BIT(BLOCK) | BIT(SCSI) | BIT(ATA) },
        { TRANSPORT_PATA, true, false, BIT(BLOCK) | BIT(SCSI) | BIT(ATA) },
        { TRANSPORT_USB, false, false, BIT(BLOCK) | BIT(SCSI) | BIT(ATA) },
        { TRANSPORT_SAS, false, false, BIT(BLOCK) | BIT(SCSI) | BIT(SCSI_MODE) },
        { TRANSPORT_SAS, true, false, BIT(BLOCK) | BIT(SCSI) | BIT(ATA) },
        { TRANSPORT_SCSI, false, false, BIT(BLOCK) | BIT(SCSI) | BIT(SCSI_MODE) },
        { TRANSPORT_NVME, false, false, BIT(BLOCK) | BIT(NVME) },
        { TRANSPORT_MMC, false, false, BIT(BLOCK) },
        { TRANSPORT_VIRTIO, false, false, BIT(BLOCK) },
        { TRANSPORT_VIRTUAL, false, false, BIT(BLOCK) },
        { TRANSPORT_USB, false, true, BIT(OPTICAL) },
};

START_TEST(test_backends) {
        for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
                const Drive d = { .transport = kinds[i].transport, .ata = kinds[i].ata, .optical = kinds[i].optical };

                ck_assert_msg(drive_backends(&d) == kinds[i].backends, "%zu: %x", i, drive_backends(&d));
        }
}
END_TEST

int main(void) {
        Suite *suite = suite_create("drive");
        TCase *t = tcase_create("drive");

        tcase_add_loop_test(t, test_transport, 0, ELEMENTSOF(paths));
        tcase_add_test(t, test_identity);
        tcase_add_test(t, test_identity_sources);
        tcase_add_test(t, test_optical);
        tcase_add_test(t, test_same);
        tcase_add_loop_test(t, test_no_identity, 0, ELEMENTSOF(nobodies));
        tcase_add_test(t, test_same_without_diskseq);
        tcase_add_test(t, test_behind_bridge);
        tcase_add_test(t, test_links_and_properties);
        tcase_add_test(t, test_shared_controller);
        tcase_add_test(t, test_name_order);
        tcase_add_loop_test(t, test_managed_names, 0, ELEMENTSOF(names));
        tcase_add_test(t, test_rules_agree);
        tcase_add_test(t, test_backends);
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
