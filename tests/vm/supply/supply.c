// SPDX-License-Identifier: GPL-2.0
/*
 * supply - a mains supply and a battery that a test can switch
 *
 * /sys/module/supply/parameters/online is 1 if there is mains power, and .../discharging
 * is 1 if the battery feeds the machine.  Each write, even of the same value, sends a
 * "change" event of that supply.  Only modprobe loads this module.
 *
 * Written for Linux 6.1.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/power_supply.h>

struct supply {
	struct power_supply_desc desc;
	bool on; /* value of the module parameter: "online" or "discharging" */
	struct power_supply *registered; /* NULL: not registered; protected by the parameters' lock */
};

static enum power_supply_property supply_ac_properties[] = {
	POWER_SUPPLY_PROP_ONLINE,
};

static enum power_supply_property supply_battery_properties[] = {
	POWER_SUPPLY_PROP_STATUS,
	POWER_SUPPLY_PROP_PRESENT,
	POWER_SUPPLY_PROP_SCOPE,
};

static int supply_get_property(struct power_supply *psy, enum power_supply_property property,
			       union power_supply_propval *value)
{
	const struct supply *supply = power_supply_get_drvdata(psy);

	switch (property) {
	case POWER_SUPPLY_PROP_ONLINE:
		value->intval = supply->on;
		return 0;
	case POWER_SUPPLY_PROP_STATUS:
		value->intval = supply->on ? POWER_SUPPLY_STATUS_DISCHARGING :
					     POWER_SUPPLY_STATUS_CHARGING;
		return 0;
	case POWER_SUPPLY_PROP_PRESENT:
		value->intval = 1;
		return 0;
	case POWER_SUPPLY_PROP_SCOPE:
		value->intval = POWER_SUPPLY_SCOPE_SYSTEM;
		return 0;
	default:
		return -EINVAL;
	}
}

static struct supply supply_ac = {
	.desc = {
		.name = "test_ac",
		.type = POWER_SUPPLY_TYPE_MAINS,
		.properties = supply_ac_properties,
		.num_properties = ARRAY_SIZE(supply_ac_properties),
		.get_property = supply_get_property,
	},
	.on = true,
};

static struct supply supply_battery = {
	.desc = {
		.name = "test_battery",
		.type = POWER_SUPPLY_TYPE_BATTERY,
		.properties = supply_battery_properties,
		.num_properties = ARRAY_SIZE(supply_battery_properties),
		.get_property = supply_get_property,
	},
};

/* The kernel also calls this function for modprobe's arguments, before the supply is registered. */
static int supply_switch(const char *text, const struct kernel_param *param)
{
	struct supply *supply = container_of(param->arg, struct supply, on);
	int r;

	r = param_set_bool(text, param);
	if (r < 0)
		return r;
	if (supply->registered)
		power_supply_changed(supply->registered);
	return 0;
}

static int supply_show(char *text, const struct kernel_param *param)
{
	return sysfs_emit(text, "%d\n", *(bool *)param->arg);
}

static const struct kernel_param_ops supply_switch_ops = {
	.set = supply_switch,
	.get = supply_show,
};

module_param_cb(online, &supply_switch_ops, &supply_ac.on, 0644);
MODULE_PARM_DESC(online, "mains power is there (0 or 1)");
module_param_cb(discharging, &supply_switch_ops, &supply_battery.on, 0644);
MODULE_PARM_DESC(discharging, "the battery is being discharged (0 or 1)");

static int supply_register(struct supply *supply)
{
	struct power_supply_config config = { .drv_data = supply };
	struct power_supply *psy;

	psy = power_supply_register(NULL, &supply->desc, &config);
	if (IS_ERR(psy))
		return PTR_ERR(psy);

	kernel_param_lock(THIS_MODULE);
	supply->registered = psy;
	kernel_param_unlock(THIS_MODULE);
	return 0;
}

/* The parameters' files still exist after this function.  A write to them then finds no supply, and sends no event. */
static void supply_unregister(struct supply *supply)
{
	struct power_supply *psy = supply->registered;

	kernel_param_lock(THIS_MODULE);
	supply->registered = NULL;
	kernel_param_unlock(THIS_MODULE);
	power_supply_unregister(psy);
}

static int __init supply_init(void)
{
	int r;

	r = supply_register(&supply_ac);
	if (r < 0)
		return r;

	r = supply_register(&supply_battery);
	if (r < 0)
		supply_unregister(&supply_ac);
	return r;
}
module_init(supply_init);

static void __exit supply_exit(void)
{
	supply_unregister(&supply_battery);
	supply_unregister(&supply_ac);
}
module_exit(supply_exit);

MODULE_DESCRIPTION("A mains supply and a battery that a test can switch");
MODULE_LICENSE("GPL");
