/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests which disks are members of redundant arrays. Test directories in the form of sysfs describe the disks. */

#include <stdio.h>
#include <sys/stat.h>

#include "stack.h"
#include "suite.h"

static char root[] = "/tmp/drivekeep-test-XXXXXX";
static char classdir[64], btrfsdir[64];

static void make(const char *path, const char *text) {
        char command[512];

        snprintf(command, sizeof command, "mkdir -p \"$(dirname %s/%s)\" && echo '%s' >%s/%s", root, path, text, root,
                 path);
        ck_assert_int_eq(system(command), 0);
}

/* Creates the disks sda to sdn, each with the stack of devices that its comment describes. */
static void setup(void) {
        ck_assert_ptr_nonnull(mkdtemp(root));
        snprintf(classdir, sizeof classdir, "%s/class", root);
        snprintf(btrfsdir, sizeof btrfsdir, "%s/btrfs", root);

        make("class/sda/sda1/partition", "1"); /* sda: RAID 1 of md on a partition; redundant */
        make("class/sda1/holders/md0/x", "");
        make("class/md0/md/level", "raid1");
        make("class/sdb/holders/md1/x", ""); /* sdb: RAID 0 of md, which is not redundant */
        make("class/md1/md/level", "raid0");
        make("class/sdc/holders/dm-0/x", ""); /* sdc: LVM RAID 1, with a data and a metadata image */
        make("class/sdc/holders/dm-1/x", "");
        make("class/dm-0/dm/uuid", "LVM-abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
        make("class/dm-0/dm/name", "vg-lv_rimage_0");
        make("class/dm-1/dm/uuid", "LVM-abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
        make("class/dm-1/dm/name", "vg-lv_rmeta_0");
        make("class/dm-0/size", "8192");
        make("class/dm-0/holders/dm-6/x", "");
        make("class/dm-6/size", "8192");
        make("class/dm-6/slaves/dm-0/x", "");
        make("class/dm-6/slaves/dm-1/x", "");
        make("class/dm-6/slaves/dm-7/x", "");
        make("class/dm-7/dm/uuid", "LVM-abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
        make("class/dm-7/dm/name", "vg-lv_rimage_1");
        make("class/dm-7/size", "8192");
        make("class/sdd/holders/dm-2/x", ""); /* sdd: LVM RAID 0 with metadata (raid0_meta), which is not redundant */
        make("class/sdd/holders/dm-8/x", "");
        make("class/dm-2/dm/uuid", "LVM-abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
        make("class/dm-2/dm/name", "vg-fast_rimage_0");
        make("class/dm-2/size", "8192");
        make("class/dm-2/holders/dm-9/x", "");
        make("class/dm-8/dm/uuid", "LVM-abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
        make("class/dm-8/dm/name", "vg-fast_rmeta_0");
        make("class/dm-8/size", "8192");
        make("class/dm-8/holders/dm-9/x", "");
        make("class/dm-9/size", "16384");
        make("class/dm-9/slaves/dm-2/x", "");
        make("class/dm-9/slaves/dm-8/x", "");
        make("class/dm-9/slaves/dm-10/x", "");
        make("class/dm-10/dm/uuid", "LVM-abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
        make("class/dm-10/dm/name", "vg-fast_rimage_1");
        make("class/dm-10/size", "8192");
        make("class/sdk/holders/dm-11/x", ""); /* sdk: an old LVM mirror (mimage), which is redundant */
        make("class/dm-11/dm/uuid", "LVM-abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
        make("class/dm-11/dm/name", "vg-lv_mimage_0");
        make("class/dm-11/size", "8192");
        make("class/dm-11/holders/dm-14/x", "");
        make("class/dm-14/size", "8192");
        make("class/dm-14/slaves/dm-11/x", "");
        make("class/dm-14/slaves/dm-15/x", "");
        make("class/dm-15/dm/uuid", "LVM-abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
        make("class/dm-15/dm/name", "vg-lv_mimage_1");
        make("class/dm-15/size", "8192");
        make("class/sdl/holders/dm-12/x",
             ""); /* sdl: LVM RAID 0 with checksums; its data and integrity volumes do not count as images */
        make("class/dm-12/dm/uuid", "LVM-abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
        make("class/dm-12/dm/name", "vg-lv_rimage_0_iorig");
        make("class/dm-12/size", "8192");
        make("class/dm-12/holders/dm-13/x", "");
        make("class/dm-13/size", "4096");
        make("class/dm-13/slaves/dm-12/x", "");
        make("class/sde/holders/dm-3/x", ""); /* sde: LUKS with a name like an LVM mirror; not redundant */
        make("class/dm-3/dm/uuid", "CRYPT-LUKS2-x");
        make("class/dm-3/dm/name", "my_mimage_0");
        make("class/sdf/holders/dm-4/x", ""); /* sdf: btrfs RAID 1 on LUKS */
        make("class/dm-4/dm/uuid", "CRYPT-LUKS2-y");
        make("btrfs/1111/devices/dm-4", "");
        make("btrfs/1111/devices/sdz1", "");
        make("btrfs/1111/allocation/data/raid1/total_bytes", "1");
        make("class/sdg/x", ""); /* sdg: btrfs with redundant metadata, but single data */
        make("btrfs/2222/devices/sdg", "");
        make("btrfs/2222/allocation/data/single/total_bytes", "1");
        make("btrfs/2222/allocation/metadata/raid1/total_bytes", "1");
        make("btrfs/features/x", "");
        make("class/sdm/x", ""); /* sdm: btrfs RAID 0; sdn: btrfs RAID 10 */
        make("btrfs/3333/devices/sdm", "");
        make("btrfs/3333/allocation/data/raid0/total_bytes", "1");
        make("class/sdn/x", "");
        make("btrfs/4444/devices/sdn", "");
        make("btrfs/4444/allocation/data/raid10/total_bytes", "1");
        make("class/sdh/sdh1/partition", "1"); /* sdh: ZFS, which counts as redundant; sdi: nothing is stacked */
        make("class/sdi/x", "");
        make("class/sdj/sdj2/partition", "2"); /* sdj: LUKS on RAID 6 of md, on a partition */
        make("class/sdj2/holders/md2/x", "");
        make("class/md2/md/level", "raid6");
        make("class/md2/holders/dm-5/x", "");
}

static void teardown(void) {
        char command[128];

        snprintf(command, sizeof command, "rm -r %s", root);
        ck_assert_int_eq(system(command), 0);
}

static bool is_member(const char *btrfs, const char *name) {
        return stack_is_raid_member(classdir, btrfs, name, streq(name, "sdh1") ? "zfs_member" : NULL);
}

static const struct {
        const char *name;
        int member;
} disks[] = {
        { "sda", 1 }, { "sdb", 0 }, { "sdc", 1 }, { "sdd", 0 }, { "sde", 0 },
        { "sdf", 1 }, { "sdg", 0 }, { "sdh", 1 }, { "sdi", 0 }, { "sdj", 1 },
        { "sdk", 1 }, { "sdl", 0 }, { "sdm", 0 }, { "sdn", 1 }, { "nothing", 0 },
};

START_TEST(test_member) {
        _cleanup_(names_freep) char **above = NULL;
        bool member = is_member(btrfsdir, disks[_i].name);

        ck_assert_int_eq(stack_above(classdir, disks[_i].name, &above), 0);
        for (char **n = above; n && *n; n++)
                member = member || is_member(btrfsdir, *n);
        ck_assert_msg(member == disks[_i].member, "%s", disks[_i].name);
        ck_assert(!is_member("/nonexistent", "dm-4"));
}
END_TEST

int main(void) {
        Suite *suite = suite_create("raid");
        TCase *t = tcase_create("raid");

        tcase_add_unchecked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_member, 0, ELEMENTSOF(disks));
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
