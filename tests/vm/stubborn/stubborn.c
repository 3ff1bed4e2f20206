// SPDX-License-Identifier: GPL-2.0
/*
 * stubborn - a device that prevents the machine from suspending
 *
 * Its suspend fails in the late phase, after all other devices have been suspended.  Only
 * modprobe loads this module.
 *
 * Written for Linux 6.1.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/pm.h>

static int stubborn_suspend_late(struct device *dev)
{
	return -EBUSY;
}

static const struct dev_pm_ops stubborn_pm = {
	.suspend_late = stubborn_suspend_late,
};

static struct platform_driver stubborn_driver = {
	.driver = {
		.name = "stubborn",
		.pm = &stubborn_pm,
	},
};

static struct platform_device *stubborn_device;

static int __init stubborn_init(void)
{
	int r;

	r = platform_driver_register(&stubborn_driver);
	if (r)
		return r;

	stubborn_device = platform_device_register_simple("stubborn", PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(stubborn_device)) {
		platform_driver_unregister(&stubborn_driver);
		return PTR_ERR(stubborn_device);
	}
	return 0;
}

static void __exit stubborn_exit(void)
{
	platform_device_unregister(stubborn_device);
	platform_driver_unregister(&stubborn_driver);
}

module_init(stubborn_init);
module_exit(stubborn_exit);

MODULE_DESCRIPTION("a device that does not let the machine sleep");
MODULE_LICENSE("GPL");
