/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Debian's rule, which has a script write to all drives when one is attached. */

#include "recheck.h"
#include "test-cli.h"

#define RULES "usr/lib/udev/rules.d/85-hdparm.rules"
#define UNMERGED "lib/udev/rules.d/85-hdparm.rules"
#define MASK "etc/udev/rules.d/85-hdparm.rules"

static void make(const char *path, const char *target) {
        char copy[64];

        (void) snprintf(copy, sizeof copy, "%s", path);
        for (char *p = strchr(copy, '/'); p; p = strchr(p + 1, '/')) {
                *p = '\0';
                (void) mkdir(copy, 0755);
                *p = '/';
        }
        if (target)
                ck_assert_int_eq(symlink(target, path), 0);
        else
                file_write(path, "");
}

static const struct {
        const char *rules, *mask, *target;
        bool meets;
} cases[] = {
        { NULL, NULL, NULL, false },         { NULL, MASK, "/dev/null", false },
        { RULES, NULL, NULL, true },         { UNMERGED, NULL, NULL, true }, /* as before the merge of /usr */
        { RULES, MASK, "/dev/null", false }, { RULES, MASK, NULL, false },
        { RULES, MASK, "/dev/nullx", true }, { RULES, MASK, "../../../usr/bin/env", true },
};

START_TEST(test_meets_debian) {
        if (cases[_i].rules)
                make(cases[_i].rules, NULL);
        if (cases[_i].mask)
                make(cases[_i].mask, cases[_i].target);
        ck_assert_int_eq(recheck_meets_debian("."), cases[_i].meets);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("recheck");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_loop_test(t, test_meets_debian, 0, ELEMENTSOF(cases));
        return test_main("recheck", t);
}
