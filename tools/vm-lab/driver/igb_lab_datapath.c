// SPDX-License-Identifier: GPL-2.0
/*
 * The datapath of the lookalike's eswitch, as that of a switchdev NIC without
 * rules: what a VF or subfunction sends arrives at its representor, and what
 * its representor is sent arrives there. igb would send the packets of a VF to
 * the other VFs and to the wire. What comes from the wire with the address of
 * a VF still reaches the VF directly.
 */
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include "igb_lab.h"

/* A representor, and the interface of its VF or subfunction while it has one. */
struct igb_lab_wire {
	struct list_head list;
	struct rcu_head rcu;
	struct pci_dev *pf; /* of a VF */
	int vf;
	struct net_device *representor;
	struct net_device __rcu *netdev;
	/* Those of igbvf, and the same with another ndo_start_xmit. */
	const struct net_device_ops *own_ops;
	struct net_device_ops ops;
};

/* RTNL protects it; readers use RCU. */
static LIST_HEAD(igb_lab_wires);

void igb_lab_wire_send(struct net_device *from, struct sk_buff *skb)
{
	struct net_device *to = NULL;
	struct igb_lab_wire *wire;

	from->stats.tx_packets++;
	from->stats.tx_bytes += skb->len;
	rcu_read_lock();
	list_for_each_entry_rcu(wire, &igb_lab_wires, list) {
		if (wire->representor == from)
			to = rcu_dereference(wire->netdev);
		else if (rcu_access_pointer(wire->netdev) == from)
			to = wire->representor;
	}
	if (to) {
		to->stats.rx_packets++;
		dev_forward_skb(to, skb);
	} else {
		dev_kfree_skb_any(skb);
	}
	rcu_read_unlock();
}

static netdev_tx_t igb_lab_vf_xmit(struct sk_buff *skb,
				   struct net_device *netdev)
{
	igb_lab_wire_send(netdev, skb);
	return NETDEV_TX_OK;
}

/* Connects the interface of the wire's VF; does nothing for another one. */
static void igb_lab_wire_connect(struct igb_lab_wire *wire,
				 struct net_device *netdev)
{
	struct device *parent = netdev->dev.parent;
	struct pci_dev *pdev;

	if (!parent || !dev_is_pci(parent) || rtnl_dereference(wire->netdev))
		return;
	pdev = to_pci_dev(parent);
	if (!pdev->is_virtfn || pci_physfn(pdev) != wire->pf ||
	    pci_iov_vf_id(pdev) != wire->vf)
		return;
	wire->own_ops = netdev->netdev_ops;
	wire->ops = *netdev->netdev_ops;
	wire->ops.ndo_start_xmit = igb_lab_vf_xmit;
	rcu_assign_pointer(wire->netdev, netdev);
	smp_store_release(&netdev->netdev_ops, &wire->ops);
}

static void igb_lab_wire_disconnect(struct igb_lab_wire *wire)
{
	struct net_device *netdev = rtnl_dereference(wire->netdev);

	if (!netdev)
		return;
	if (wire->pf)
		WRITE_ONCE(netdev->netdev_ops, wire->own_ops);
	RCU_INIT_POINTER(wire->netdev, NULL);
}

struct igb_lab_wire *igb_lab_sf_wire_create(struct net_device *netdev,
					    struct net_device *representor)
{
	struct igb_lab_wire *wire = kzalloc(sizeof(*wire), GFP_KERNEL);

	if (!wire)
		return NULL;
	wire->representor = representor;
	rcu_assign_pointer(wire->netdev, netdev);
	rtnl_lock();
	list_add_tail_rcu(&wire->list, &igb_lab_wires);
	rtnl_unlock();
	return wire;
}

struct igb_lab_wire *igb_lab_vf_wire_create(struct pci_dev *pf, int vf,
					    struct net_device *representor)
{
	struct igb_lab_wire *wire = kzalloc(sizeof(*wire), GFP_KERNEL);
	struct net_device *netdev;
	struct net *net;

	if (!wire)
		return NULL;
	wire->pf = pf;
	wire->vf = vf;
	wire->representor = representor;
	rtnl_lock();
	list_add_tail_rcu(&wire->list, &igb_lab_wires);
	down_read(&net_rwsem);
	for_each_net(net)
		for_each_netdev(net, netdev)
			igb_lab_wire_connect(wire, netdev);
	up_read(&net_rwsem);
	rtnl_unlock();
	return wire;
}

void igb_lab_wire_destroy(struct igb_lab_wire *wire)
{
	if (!wire)
		return;
	rtnl_lock();
	igb_lab_wire_disconnect(wire);
	list_del_rcu(&wire->list);
	rtnl_unlock();
	kfree_rcu(wire, rcu);
}

/*
 * An interface that moves to another network namespace is unregistered, too.
 * That of a subfunction is the lookalike's own and stays connected.
 */
static int igb_lab_netdev_event(struct notifier_block *block,
				unsigned long event, void *data)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(data);
	struct igb_lab_wire *wire;

	list_for_each_entry(wire, &igb_lab_wires, list) {
		if (event == NETDEV_REGISTER)
			igb_lab_wire_connect(wire, netdev);
		else if (event == NETDEV_UNREGISTER && wire->pf &&
			 rtnl_dereference(wire->netdev) == netdev)
			igb_lab_wire_disconnect(wire);
	}
	return NOTIFY_DONE;
}

static struct notifier_block igb_lab_netdev_notifier = {
	.notifier_call = igb_lab_netdev_event,
};

int igb_lab_datapath_init(void)
{
	return register_netdevice_notifier(&igb_lab_netdev_notifier);
}

void igb_lab_datapath_exit(void)
{
	unregister_netdevice_notifier(&igb_lab_netdev_notifier);
}
