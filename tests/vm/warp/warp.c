// SPDX-License-Identifier: GPL-2.0
/*
 * warp - a clock that runs faster than time
 *
 * A clocksource that claims to tick `factor` times slower than it does.  While it is
 * chosen (echo warp > /sys/devices/system/clocksource/clocksource0/current_clocksource)
 * all the kernel's clocks, and the timers on them, run that much faster: an hour passes
 * in two minutes.  Timers fire late by as much as the machine idles, which is seconds.
 * Nothing but modprobe loads this module.
 *
 * Written for Linux 6.1 on x86.
 */
#include <linux/clocksource.h>
#include <linux/delay.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/timekeeping.h>
#include <asm/tsc.h>

static unsigned int factor = 30;
module_param(factor, uint, 0444);

static u64 warp_read(struct clocksource *cs)
{
	return rdtsc_ordered();
}

static struct clocksource warp = {
	.name = "warp",
	.rating = 1, /* never chosen by the kernel */
	.read = warp_read,
	.mask = CLOCKSOURCE_MASK(64),
	.flags = CLOCK_SOURCE_IS_CONTINUOUS | CLOCK_SOURCE_VALID_FOR_HRES,
	.owner = THIS_MODULE,
};

/* The kernel's own tsc_khz is far off on an emulator that was busy while the kernel booted. */
static u64 measure_khz(void)
{
	u64 ticks = rdtsc_ordered(), ns = ktime_get_ns();

	msleep(500);
	ticks = rdtsc_ordered() - ticks;
	ns = ktime_get_ns() - ns;
	return div64_u64(ticks * USEC_PER_SEC, ns);
}

static int __init warp_init(void)
{
	u64 khz = measure_khz();

	if (!factor || khz < factor)
		return -EINVAL;
	return clocksource_register_khz(&warp, khz / factor);
}
module_init(warp_init);

static void __exit warp_exit(void)
{
	clocksource_unregister(&warp);
}
module_exit(warp_exit);

MODULE_DESCRIPTION("A clock that runs faster than time, for tests");
MODULE_LICENSE("GPL");
