// SPDX-License-Identifier: GPL-2.0
/*
 * warp - a clock that runs faster than real time, and a clock that a test can set forward
 *
 * The clocksource "warp" claims a frequency that is `factor` times lower than its true
 * frequency.  While it is selected
 * (echo warp > /sys/devices/system/clocksource/clocksource0/current_clocksource), all clocks
 * and timers of the kernel run `factor` times faster: by default an hour passes in two
 * minutes.  While the machine is idle, timers fire late by up to some seconds.
 * Only modprobe loads this module.
 *
 * The clocksource "leap" ticks at its normal rate.  While it is selected, a write of a
 * number to /sys/module/warp/parameters/leap moves all clocks forward by that number of
 * seconds, and all timers that are due in that time expire at once.
 *
 * Written for Linux 6.1 on x86, and tried with 6.12.
 */
#include <linux/clocksource.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <linux/version.h>
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

/* Seconds.  The kernel must read a clocksource at short enough intervals, and a longer leap would exceed them. */
#define LEAP_MAX 300

static u64 khz, ahead;
static DEFINE_PER_CPU(struct hrtimer, due);

static u64 leap_read(struct clocksource *cs)
{
	return rdtsc_ordered() + READ_ONCE(ahead);
}

static struct clocksource leap = {
	.name = "leap",
	.rating = 1,
	.read = leap_read,
	.mask = CLOCKSOURCE_MASK(64),
	.flags = CLOCK_SOURCE_IS_CONTINUOUS | CLOCK_SOURCE_VALID_FOR_HRES,
	.owner = THIS_MODULE,
};

static enum hrtimer_restart ran_out(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

/* Each processor's next timer interrupt is still set as if there were no leap.  A timer that is already due makes the interrupt
 * come at once. */
static void interrupt_now(void *unused)
{
	hrtimer_start(this_cpu_ptr(&due), 0, HRTIMER_MODE_ABS_PINNED_HARD);
}

static int leap_set(const char *text, const struct kernel_param *param)
{
	unsigned int seconds;
	int r = kstrtouint(text, 0, &seconds);

	if (r)
		return r;
	/* khz is 0 until the module is initialized, so arguments of modprobe cannot request a leap. */
	if (!khz || seconds > LEAP_MAX)
		return -EINVAL;
	WRITE_ONCE(ahead, ahead + seconds * khz * MSEC_PER_SEC);
	on_each_cpu(interrupt_now, NULL, 1);
	return 0;
}

static const struct kernel_param_ops leap_ops = { .set = leap_set };
module_param_cb(leap, &leap_ops, NULL, 0200);

static int __init warp_init(void)
{
	int r, cpu;

	if (!factor || tsc_khz < factor)
		return -EINVAL;
	for_each_possible_cpu(cpu) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
		hrtimer_setup(per_cpu_ptr(&due, cpu), ran_out, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
#else
		hrtimer_init(per_cpu_ptr(&due, cpu), CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
		per_cpu_ptr(&due, cpu)->function = ran_out;
#endif
	}
	r = clocksource_register_khz(&leap, tsc_khz);
	if (r)
		return r;
	r = clocksource_register_khz(&warp, tsc_khz / factor);
	if (r)
		clocksource_unregister(&leap);
	else
		khz = tsc_khz;
	return r;
}
module_init(warp_init);

static void __exit warp_exit(void)
{
	clocksource_unregister(&warp);
	clocksource_unregister(&leap);
}
module_exit(warp_exit);

MODULE_DESCRIPTION("A clock that runs faster than time and one that leaps, for tests");
MODULE_LICENSE("GPL");
