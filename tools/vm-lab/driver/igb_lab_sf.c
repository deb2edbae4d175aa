// SPDX-License-Identifier: GPL-2.0
/*
 * Subfunctions: an auxiliary device mlx5_core.sf.N with an sfnum attribute, as
 * user space knows it from ConnectX, and a driver that gives it a devlink
 * instance and an interface.
 */
#include <linux/auxiliary_bus.h>
#include <linux/etherdevice.h>
#include <linux/idr.h>
#include <net/devlink.h>
#include "igb_lab.h"

/* mlx5 counts from 2 on a card with two ports. */
#define IGB_LAB_FIRST_SF 2

struct igb_lab_sf {
	struct auxiliary_device adev;
	u32 sfnum;
	u8 mac[ETH_ALEN];
	struct devlink_port *port; /* on the PF */
	struct net_device *representor;
};

/* What the driver has for a subfunction. */
struct igb_lab_sf_priv {
	struct devlink_port port;
	struct net_device *netdev;
	struct net_device *representor;
	struct igb_lab_wire *wire;
	u8 mac[ETH_ALEN];
};

static DEFINE_IDA(igb_lab_sf_ida);

static struct igb_lab_sf *to_igb_lab_sf(struct device *dev)
{
	return container_of(to_auxiliary_dev(dev), struct igb_lab_sf, adev);
}

static ssize_t sfnum_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	return sysfs_emit(buf, "%u\n", to_igb_lab_sf(dev)->sfnum);
}
static DEVICE_ATTR_RO(sfnum);

static struct attribute *igb_lab_sf_attrs[] = {
	&dev_attr_sfnum.attr,
	NULL
};
ATTRIBUTE_GROUPS(igb_lab_sf);

/* As mlx5_core since Linux 6.5: no interface before enable_eth and a reload. */
static bool lab_light_sfs;
module_param(lab_light_sfs, bool, 0644);

static const struct devlink_param igb_lab_sf_params[] = {
	DEVLINK_PARAM_GENERIC(ENABLE_ETH, BIT(DEVLINK_PARAM_CMODE_DRIVERINIT),
			      NULL, NULL, NULL),
};

static void igb_lab_sf_add_netdev(struct devlink *devlink)
{
	struct igb_lab_sf_priv *priv = devlink_priv(devlink);
	union devlink_param_value value;
	int err;

	err = devl_param_driverinit_value_get(
		devlink, DEVLINK_PARAM_GENERIC_ID_ENABLE_ETH, &value);
	if (err || !value.vbool || priv->netdev)
		return;
	priv->netdev = igb_lab_netdev_create(devlink_to_dev(devlink),
					     &priv->port, priv->mac);
	if (priv->netdev && priv->representor)
		priv->wire = igb_lab_sf_wire_create(priv->netdev,
						    priv->representor);
}

static void igb_lab_sf_del_netdev(struct igb_lab_sf_priv *priv)
{
	igb_lab_wire_destroy(priv->wire);
	priv->wire = NULL;
	igb_lab_netdev_destroy(priv->netdev);
	priv->netdev = NULL;
}

static int igb_lab_sf_reload_down(struct devlink *devlink, bool netns_change,
				  enum devlink_reload_action action,
				  enum devlink_reload_limit limit,
				  struct netlink_ext_ack *extack)
{
	igb_lab_sf_del_netdev(devlink_priv(devlink));
	return 0;
}

static int igb_lab_sf_reload_up(struct devlink *devlink,
				enum devlink_reload_action action,
				enum devlink_reload_limit limit,
				u32 *actions_performed,
				struct netlink_ext_ack *extack)
{
	igb_lab_sf_add_netdev(devlink);
	*actions_performed = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT);
	return 0;
}

static const struct devlink_ops igb_lab_sf_devlink_ops = {
	.reload_actions = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT),
	.reload_down = igb_lab_sf_reload_down,
	.reload_up = igb_lab_sf_reload_up,
};

static int igb_lab_sf_probe(struct auxiliary_device *adev,
			    const struct auxiliary_device_id *id)
{
	struct devlink_port_attrs attrs = {
		.flavour = DEVLINK_PORT_FLAVOUR_VIRTUAL,
	};
	union devlink_param_value has_netdev = { .vbool = !lab_light_sfs };
	struct igb_lab_sf *sf = to_igb_lab_sf(&adev->dev);
	struct igb_lab_sf_priv *priv;
	struct devlink *devlink;
	int err;

	devlink = devlink_alloc(&igb_lab_sf_devlink_ops, sizeof(*priv),
				&adev->dev);
	if (!devlink)
		return -ENOMEM;
	priv = devlink_priv(devlink);
	ether_addr_copy(priv->mac, sf->mac);
	priv->representor = sf->representor;

	devl_lock(devlink);
	err = devl_params_register(devlink, igb_lab_sf_params,
				   ARRAY_SIZE(igb_lab_sf_params));
	if (err) {
		devl_unlock(devlink);
		devlink_free(devlink);
		return err;
	}
	devl_param_driverinit_value_set(
		devlink, DEVLINK_PARAM_GENERIC_ID_ENABLE_ETH, has_netdev);
	devlink_port_attrs_set(&priv->port, &attrs);
	err = devl_port_register(devlink, &priv->port, 0);
	if (!err) {
		/* The port on the PF then names this instance. */
		err = devl_port_fn_devlink_set(sf->port, devlink);
		if (err)
			devl_port_unregister(&priv->port);
	}
	if (err)
		devl_params_unregister(devlink, igb_lab_sf_params,
				       ARRAY_SIZE(igb_lab_sf_params));
	else
		devl_register(devlink);
	devl_unlock(devlink);
	if (err) {
		devlink_free(devlink);
		return err;
	}

	igb_lab_sf_add_netdev(devlink);
	auxiliary_set_drvdata(adev, devlink);
	return 0;
}

static void igb_lab_sf_remove(struct auxiliary_device *adev)
{
	struct devlink *devlink = auxiliary_get_drvdata(adev);
	struct igb_lab_sf_priv *priv = devlink_priv(devlink);

	devl_lock(devlink);
	devl_unregister(devlink);
	igb_lab_sf_del_netdev(priv);
	devl_params_unregister(devlink, igb_lab_sf_params,
			       ARRAY_SIZE(igb_lab_sf_params));
	devl_port_unregister(&priv->port);
	devl_unlock(devlink);
	devlink_free(devlink);
}

static const struct auxiliary_device_id igb_lab_sf_ids[] = {
	{ .name = "mlx5_core.sf" },
	{}
};

static struct auxiliary_driver igb_lab_sf_driver = {
	.name = "sf",
	.probe = igb_lab_sf_probe,
	.remove = igb_lab_sf_remove,
	.id_table = igb_lab_sf_ids,
};

int igb_lab_sf_driver_register(void)
{
	return __auxiliary_driver_register(&igb_lab_sf_driver, THIS_MODULE,
					   "mlx5_core");
}

void igb_lab_sf_driver_unregister(void)
{
	auxiliary_driver_unregister(&igb_lab_sf_driver);
}

static void igb_lab_sf_release(struct device *dev)
{
	struct igb_lab_sf *sf = to_igb_lab_sf(dev);

	ida_free(&igb_lab_sf_ida, sf->adev.id);
	kfree(sf);
}

struct igb_lab_sf *igb_lab_sf_create(struct device *parent, u32 sfnum,
				     const u8 *mac, struct devlink_port *port,
				     struct net_device *representor)
{
	struct igb_lab_sf *sf = kzalloc(sizeof(*sf), GFP_KERNEL);
	int id, err;

	if (!sf)
		return ERR_PTR(-ENOMEM);
	id = ida_alloc_min(&igb_lab_sf_ida, IGB_LAB_FIRST_SF, GFP_KERNEL);
	if (id < 0) {
		kfree(sf);
		return ERR_PTR(id);
	}
	sf->sfnum = sfnum;
	sf->port = port;
	sf->representor = representor;
	ether_addr_copy(sf->mac, mac);
	sf->adev.id = id;
	sf->adev.name = "sf";
	sf->adev.dev.parent = parent;
	sf->adev.dev.release = igb_lab_sf_release;
	sf->adev.dev.groups = igb_lab_sf_groups;

	err = auxiliary_device_init(&sf->adev);
	if (err) {
		ida_free(&igb_lab_sf_ida, id);
		kfree(sf);
		return ERR_PTR(err);
	}
	/* The name that the bus puts before "sf" is this module's, else. */
	err = __auxiliary_device_add(&sf->adev, "mlx5_core");
	if (err) {
		auxiliary_device_uninit(&sf->adev);
		return ERR_PTR(err);
	}
	return sf;
}

void igb_lab_sf_destroy(struct igb_lab_sf *sf)
{
	auxiliary_device_delete(&sf->adev);
	auxiliary_device_uninit(&sf->adev);
}
