// SPDX-License-Identifier: GPL-2.0
/*
 * The interfaces of the lookalike: representors of VFs and subfunctions, and
 * the subfunctions' own. Rules of tc flower and matchall are accepted as if a
 * switch had taken them.
 */
#include <linux/ethtool.h>
#include <linux/etherdevice.h>
#include <net/devlink.h>
#include <net/flow_offload.h>
#include <net/pkt_cls.h>
#include "igb_lab.h"

#define IGB_LAB_MAX_MTU 9216

static LIST_HEAD(igb_lab_block_cb_list);

static int igb_lab_block_cb(enum tc_setup_type type, void *type_data,
			    void *cb_priv)
{
	switch (type) {
	case TC_SETUP_CLSFLOWER:
	case TC_SETUP_CLSMATCHALL:
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

int igb_lab_setup_block(struct net_device *netdev, void *type_data)
{
	return flow_block_cb_setup_simple(type_data, &igb_lab_block_cb_list,
					  igb_lab_block_cb, netdev, netdev,
					  true);
}

static int igb_lab_setup_tc(struct net_device *netdev, enum tc_setup_type type,
			    void *type_data)
{
	if (type != TC_SETUP_BLOCK)
		return -EOPNOTSUPP;
	return igb_lab_setup_block(netdev, type_data);
}

static int igb_lab_open(struct net_device *netdev)
{
	netif_carrier_on(netdev);
	return 0;
}

static netdev_tx_t igb_lab_start_xmit(struct sk_buff *skb,
				      struct net_device *netdev)
{
	igb_lab_wire_send(netdev, skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops igb_lab_netdev_ops = {
	.ndo_open = igb_lab_open,
	.ndo_start_xmit = igb_lab_start_xmit,
	.ndo_setup_tc = igb_lab_setup_tc,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

static void igb_lab_get_drvinfo(struct net_device *netdev,
				struct ethtool_drvinfo *info)
{
	strscpy(info->driver, "igb_rep", sizeof(info->driver));
	if (netdev->dev.parent)
		strscpy(info->bus_info, dev_name(netdev->dev.parent),
			sizeof(info->bus_info));
}

static const struct ethtool_ops igb_lab_ethtool_ops = {
	.get_drvinfo = igb_lab_get_drvinfo,
	.get_link = ethtool_op_get_link,
};

struct net_device *igb_lab_netdev_create(struct device *parent,
					 struct devlink_port *port,
					 const u8 *mac)
{
	struct net_device *netdev = alloc_etherdev(0);

	if (!netdev)
		return NULL;
	netdev->netdev_ops = &igb_lab_netdev_ops;
	netdev->ethtool_ops = &igb_lab_ethtool_ops;
	netdev->max_mtu = IGB_LAB_MAX_MTU;
	netdev->hw_features |= NETIF_F_HW_TC;
	netdev->features |= NETIF_F_HW_TC;
	/* udev replaces a random address, and only such a one. */
	if (mac && is_valid_ether_addr(mac))
		eth_hw_addr_set(netdev, mac);
	else
		eth_hw_addr_random(netdev);
	SET_NETDEV_DEV(netdev, parent);
	SET_NETDEV_DEVLINK_PORT(netdev, port);
	if (register_netdev(netdev)) {
		free_netdev(netdev);
		return NULL;
	}
	return netdev;
}

void igb_lab_netdev_destroy(struct net_device *netdev)
{
	if (!netdev)
		return;
	unregister_netdev(netdev);
	free_netdev(netdev);
}
