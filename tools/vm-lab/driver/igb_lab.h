/* SPDX-License-Identifier: GPL-2.0 */
/* The switchdev lookalike on top of igb. igb_lab.c says what for. */
#ifndef _IGB_LAB_H_
#define _IGB_LAB_H_

#include <linux/types.h>

struct device;
struct devlink_port;
struct igb_lab_sf;
struct igb_lab_wire;
struct net_device;
struct pci_dev;
struct sk_buff;

/* igb_lab.c: what igb_main.patch calls. */
int igb_lab_init(void);
void igb_lab_exit(void);
/* Before register_netdev(pf). */
int igb_lab_attach(struct pci_dev *pdev, struct net_device *pf);
/* After unregister_netdev(pf), before free_netdev(pf). */
void igb_lab_detach(struct net_device *pf);
/* The number of VFs to create for this request, or the errno of a refusal. */
int igb_lab_granted_vfs(struct pci_dev *pdev, int num_vfs);
/* After the number of VFs has changed. */
void igb_lab_vfs_changed(struct pci_dev *pdev, struct net_device *pf);

/* igb_lab_netdev.c: interfaces, and offload that accepts everything. */
int igb_lab_setup_block(struct net_device *netdev, void *type_data);
struct net_device *igb_lab_netdev_create(struct device *parent,
					 struct devlink_port *port,
					 const u8 *mac);
void igb_lab_netdev_destroy(struct net_device *netdev);

/* igb_lab_datapath.c: what connects VFs and subfunctions with representors. */
int igb_lab_datapath_init(void);
void igb_lab_datapath_exit(void);
/* Both return NULL if there is no memory. */
struct igb_lab_wire *igb_lab_vf_wire_create(struct pci_dev *pf, int vf,
					    struct net_device *representor);
struct igb_lab_wire *igb_lab_sf_wire_create(struct net_device *netdev,
					    struct net_device *representor);
/* Before the representor and the subfunction's interface are destroyed. */
void igb_lab_wire_destroy(struct igb_lab_wire *wire);
/* Takes the packet. What is sent by an interface without a wire is dropped. */
void igb_lab_wire_send(struct net_device *from, struct sk_buff *skb);

/* igb_lab_sf.c: the subfunction that an active SF port has. */
int igb_lab_sf_driver_register(void);
void igb_lab_sf_driver_unregister(void);
struct igb_lab_sf *igb_lab_sf_create(struct device *parent, u32 sfnum,
				     const u8 *mac, struct devlink_port *port,
				     struct net_device *representor);
void igb_lab_sf_destroy(struct igb_lab_sf *sf);

#endif
