// SPDX-License-Identifier: GPL-2.0
/*
 * TEST ONLY. Gives each PF of QEMU's igb what a switchdev NIC has, so that user
 * space meets the same kernel interfaces on the real PCI device: a devlink
 * instance with an eswitch, representors of VFs that come and go with its mode,
 * subfunction ports. A lookalike: nothing is refused that a ConnectX would
 * refuse for reasons of its firmware. Module parameters make it refuse a mode
 * or omit a representor.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <net/devlink.h>
#include "igb_lab.h"

/* Numbers of devlink ports: VFs count from 1. */
#define IGB_LAB_UPLINK_INDEX 0xffff
#define IGB_LAB_FIRST_SF_INDEX 0x8000
/* The first sfnum for those who ask for none. */
#define IGB_LAB_FIRST_SFNUM 1000
/* Subfunctions of a PF. */
#define IGB_LAB_MAX_SFS 64

#define IGB_VF_DEVICE_ID 0x10ca

/* What sysfs and lspci say of the PFs and VFs, where not 0. */
static uint lab_vendor;
static uint lab_device;
static uint lab_vf_device;
module_param(lab_vendor, uint, 0444);
module_param(lab_device, uint, 0444);
module_param(lab_vf_device, uint, 0444);

/* The errno with which a change of the mode is refused, where not 0. */
static uint lab_refuse_mode;
module_param(lab_refuse_mode, uint, 0644);

/* The VF for which no representor is created, where not negative. */
static int lab_missing_representor = -1;
module_param(lab_missing_representor, int, 0644);

/*
 * The number of the first PF's port. mlx5 and ice number PFs by port, so it
 * differs from the PCI function in virtual machines and on split cards.
 */
static uint lab_first_port;
module_param(lab_first_port, uint, 0444);

/* The number of VFs above which fewer are created, without an error, as bnxt_en does, where not 0. */
static uint lab_max_vfs;
module_param(lab_max_vfs, uint, 0644);

/* The number of VFs above which a request is refused, as ice does, where not 0, and the errno. */
static uint lab_refuse_above;
module_param(lab_refuse_above, uint, 0644);
static uint lab_refuse_errno = ENOSPC;
module_param(lab_refuse_errno, uint, 0644);

/* The priv of a PF's devlink instance. Its lock covers all of it. */
struct igb_lab {
	struct pci_dev *pdev;
	struct devlink_port uplink;
	struct netdev_phys_item_id switch_id;
	struct list_head ports;
	u32 next_sf;
	u16 port_number;
	u16 mode;
	u8 inline_mode;
	enum devlink_eswitch_encap_mode encap_mode;
	bool smfs;
};

/* A VF's or subfunction's port, with its representor. */
struct igb_lab_port {
	struct devlink_port dl_port;
	struct list_head list;
	struct igb_lab *lab;
	struct net_device *representor;
	struct igb_lab_wire *wire; /* of a VF */
	u8 hw_addr[ETH_ALEN];
	bool is_sf;
	u32 sfnum;
	struct igb_lab_sf *sf; /* while active */
};

static struct igb_lab_port *to_igb_lab_port(struct devlink_port *dl_port)
{
	return container_of(dl_port, struct igb_lab_port, dl_port);
}

/* Functions of ports. */

static int igb_lab_hw_addr_get(struct devlink_port *dl_port, u8 *hw_addr,
			       int *hw_addr_len, struct netlink_ext_ack *extack)
{
	ether_addr_copy(hw_addr, to_igb_lab_port(dl_port)->hw_addr);
	*hw_addr_len = ETH_ALEN;
	return 0;
}

static int igb_lab_hw_addr_set(struct devlink_port *dl_port, const u8 *hw_addr,
			       int hw_addr_len, struct netlink_ext_ack *extack)
{
	struct igb_lab_port *port = to_igb_lab_port(dl_port);

	if (port->sf) {
		NL_SET_ERR_MSG_MOD(extack, "the subfunction is active");
		return -EBUSY;
	}
	ether_addr_copy(port->hw_addr, hw_addr);
	return 0;
}

static int igb_lab_state_get(struct devlink_port *dl_port,
			     enum devlink_port_fn_state *state,
			     enum devlink_port_fn_opstate *opstate,
			     struct netlink_ext_ack *extack)
{
	if (to_igb_lab_port(dl_port)->sf) {
		*state = DEVLINK_PORT_FN_STATE_ACTIVE;
		*opstate = DEVLINK_PORT_FN_OPSTATE_ATTACHED;
	} else {
		*state = DEVLINK_PORT_FN_STATE_INACTIVE;
		*opstate = DEVLINK_PORT_FN_OPSTATE_DETACHED;
	}
	return 0;
}

static void igb_lab_deactivate(struct igb_lab_port *port)
{
	if (port->sf)
		igb_lab_sf_destroy(port->sf);
	port->sf = NULL;
}

static int igb_lab_state_set(struct devlink_port *dl_port,
			     enum devlink_port_fn_state state,
			     struct netlink_ext_ack *extack)
{
	struct igb_lab_port *port = to_igb_lab_port(dl_port);
	struct igb_lab_sf *sf;

	if (state == DEVLINK_PORT_FN_STATE_INACTIVE) {
		igb_lab_deactivate(port);
		return 0;
	}
	if (port->sf)
		return 0;
	sf = igb_lab_sf_create(&port->lab->pdev->dev, port->sfnum,
			       port->hw_addr, dl_port, port->representor);
	if (IS_ERR(sf))
		return PTR_ERR(sf);
	port->sf = sf;
	return 0;
}

/* Ports. */

static void igb_lab_port_destroy(struct igb_lab_port *port)
{
	igb_lab_deactivate(port);
	igb_lab_wire_destroy(port->wire);
	igb_lab_netdev_destroy(port->representor);
	devl_port_unregister(&port->dl_port);
	list_del(&port->list);
	kfree(port);
}

static int igb_lab_port_del(struct devlink *devlink,
			    struct devlink_port *dl_port,
			    struct netlink_ext_ack *extack)
{
	struct igb_lab_port *port = to_igb_lab_port(dl_port);

	if (port->sf) {
		NL_SET_ERR_MSG_MOD(extack, "the subfunction is active");
		return -EBUSY;
	}
	igb_lab_port_destroy(port);
	return 0;
}

static const struct devlink_port_ops igb_lab_vf_port_ops = {
	.port_fn_hw_addr_get = igb_lab_hw_addr_get,
	.port_fn_hw_addr_set = igb_lab_hw_addr_set,
};

static const struct devlink_port_ops igb_lab_sf_port_ops = {
	.port_del = igb_lab_port_del,
	.port_fn_hw_addr_get = igb_lab_hw_addr_get,
	.port_fn_hw_addr_set = igb_lab_hw_addr_set,
	.port_fn_state_get = igb_lab_state_get,
	.port_fn_state_set = igb_lab_state_set,
};

/* Takes a port whose is_sf is set; frees it on failure. */
static int igb_lab_port_register(struct igb_lab *lab, struct igb_lab_port *port,
				 struct devlink_port_attrs *attrs, u32 index)
{
	int err;

	attrs->switch_id = lab->switch_id;
	devlink_port_attrs_set(&port->dl_port, attrs);
	err = devl_port_register_with_ops(priv_to_devlink(lab), &port->dl_port,
					  index,
					  port->is_sf ? &igb_lab_sf_port_ops :
							&igb_lab_vf_port_ops);
	if (err) {
		kfree(port);
		return err;
	}
	port->lab = lab;
	list_add_tail(&port->list, &lab->ports);
	port->representor = igb_lab_netdev_create(&lab->pdev->dev,
						  &port->dl_port, NULL);
	return 0;
}

static int igb_lab_vf_port_add(struct igb_lab *lab, u32 vf)
{
	struct devlink_port_attrs attrs = {
		.flavour = DEVLINK_PORT_FLAVOUR_PCI_VF,
		.pci_vf.pf = lab->port_number,
		.pci_vf.vf = vf,
	};
	struct igb_lab_port *port = kzalloc(sizeof(*port), GFP_KERNEL);
	int err;

	if (!port)
		return -ENOMEM;
	err = igb_lab_port_register(lab, port, &attrs, vf + 1);
	if (err)
		return err;
	if (vf == lab_missing_representor) {
		igb_lab_netdev_destroy(port->representor);
		port->representor = NULL;
	}
	if (port->representor)
		port->wire = igb_lab_vf_wire_create(lab->pdev, vf,
						    port->representor);
	return 0;
}

/* Reports whether the PF can have this subfunction, as ice and mlx5 do. */
static int igb_lab_sf_check(struct igb_lab *lab,
			    const struct devlink_port_new_attrs *wanted,
			    struct netlink_ext_ack *extack)
{
	struct igb_lab_port *port;
	u32 sfs = 0;

	if (wanted->pfnum != lab->port_number) {
		NL_SET_ERR_MSG_MOD(extack, "this PF has another pfnum");
		return -EINVAL;
	}
	list_for_each_entry(port, &lab->ports, list) {
		if (!port->is_sf)
			continue;
		sfs++;
		if (wanted->sfnum_valid && port->sfnum == wanted->sfnum) {
			NL_SET_ERR_MSG_MOD(extack, "the sfnum is in use");
			return -EBUSY;
		}
	}
	if (sfs >= IGB_LAB_MAX_SFS) {
		NL_SET_ERR_MSG_MOD(extack, "the PF has all its subfunctions");
		return -ENOSPC;
	}
	return 0;
}

static int igb_lab_port_new(struct devlink *devlink,
			    const struct devlink_port_new_attrs *wanted,
			    struct netlink_ext_ack *extack,
			    struct devlink_port **dl_port)
{
	struct igb_lab *lab = devlink_priv(devlink);
	struct devlink_port_attrs attrs = {
		.flavour = DEVLINK_PORT_FLAVOUR_PCI_SF,
		.pci_sf.pf = lab->port_number,
	};
	struct igb_lab_port *port;
	int err;

	if (wanted->flavour != DEVLINK_PORT_FLAVOUR_PCI_SF) {
		NL_SET_ERR_MSG_MOD(extack, "only SF ports can be added");
		return -EOPNOTSUPP;
	}
	if (lab->mode != DEVLINK_ESWITCH_MODE_SWITCHDEV) {
		NL_SET_ERR_MSG_MOD(extack, "SF ports need switchdev mode");
		return -EOPNOTSUPP;
	}
	err = igb_lab_sf_check(lab, wanted, extack);
	if (err)
		return err;
	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return -ENOMEM;
	port->is_sf = true;
	port->sfnum = wanted->sfnum_valid ? wanted->sfnum :
					    IGB_LAB_FIRST_SFNUM + lab->next_sf;
	attrs.pci_sf.sf = port->sfnum;
	err = igb_lab_port_register(lab, port, &attrs,
				    IGB_LAB_FIRST_SF_INDEX + lab->next_sf++);
	if (err)
		return err;
	*dl_port = &port->dl_port;
	return 0;
}

/* Brings the ports in line with the mode and the number of VFs. */
static void igb_lab_sync_ports(struct igb_lab *lab)
{
	bool legacy = lab->mode == DEVLINK_ESWITCH_MODE_LEGACY;
	u32 wanted = legacy ? 0 : pci_num_vf(lab->pdev);
	struct igb_lab_port *port, *next;
	u32 vf_ports = 0;

	list_for_each_entry_safe(port, next, &lab->ports, list) {
		if (port->is_sf ? legacy : vf_ports >= wanted)
			igb_lab_port_destroy(port);
		else if (!port->is_sf)
			vf_ports++;
	}
	for (; vf_ports < wanted; vf_ports++)
		if (igb_lab_vf_port_add(lab, vf_ports))
			break;
}

/* The eswitch. */

static int igb_lab_mode_get(struct devlink *devlink, u16 *mode)
{
	struct igb_lab *lab = devlink_priv(devlink);

	*mode = lab->mode;
	return 0;
}

static int igb_lab_mode_set(struct devlink *devlink, u16 mode,
			    struct netlink_ext_ack *extack)
{
	struct igb_lab *lab = devlink_priv(devlink);

	if (lab_refuse_mode) {
		NL_SET_ERR_MSG_MOD(extack, "the lab refuses to change the mode");
		return -lab_refuse_mode;
	}
	lab->mode = mode;
	igb_lab_sync_ports(lab);
	return 0;
}

static int igb_lab_inline_mode_get(struct devlink *devlink, u8 *inline_mode)
{
	struct igb_lab *lab = devlink_priv(devlink);

	*inline_mode = lab->inline_mode;
	return 0;
}

static int igb_lab_inline_mode_set(struct devlink *devlink, u8 inline_mode,
				   struct netlink_ext_ack *extack)
{
	struct igb_lab *lab = devlink_priv(devlink);

	lab->inline_mode = inline_mode;
	return 0;
}

static int igb_lab_encap_mode_get(struct devlink *devlink,
				  enum devlink_eswitch_encap_mode *encap_mode)
{
	struct igb_lab *lab = devlink_priv(devlink);

	*encap_mode = lab->encap_mode;
	return 0;
}

static int igb_lab_encap_mode_set(struct devlink *devlink,
				  enum devlink_eswitch_encap_mode encap_mode,
				  struct netlink_ext_ack *extack)
{
	struct igb_lab *lab = devlink_priv(devlink);

	lab->encap_mode = encap_mode;
	return 0;
}

static int igb_lab_info_get(struct devlink *devlink,
			    struct devlink_info_req *req,
			    struct netlink_ext_ack *extack)
{
	return devlink_info_version_running_put(req, "fw.version",
						"16.35.1012");
}

static const struct devlink_ops igb_lab_devlink_ops = {
	.eswitch_mode_get = igb_lab_mode_get,
	.eswitch_mode_set = igb_lab_mode_set,
	.eswitch_inline_mode_get = igb_lab_inline_mode_get,
	.eswitch_inline_mode_set = igb_lab_inline_mode_set,
	.eswitch_encap_mode_get = igb_lab_encap_mode_get,
	.eswitch_encap_mode_set = igb_lab_encap_mode_set,
	.port_new = igb_lab_port_new,
	.info_get = igb_lab_info_get,
};

/* Parameters. As in mlx5, smfs can be changed in legacy mode only. */

enum { IGB_LAB_PARAM_FLOW_STEERING = DEVLINK_PARAM_GENERIC_ID_MAX + 1 };

static int igb_lab_steering_get(struct devlink *devlink, u32 id,
				struct devlink_param_gset_ctx *ctx)
{
	struct igb_lab *lab = devlink_priv(devlink);

	strscpy(ctx->val.vstr, lab->smfs ? "smfs" : "dmfs",
		sizeof(ctx->val.vstr));
	return 0;
}

static int igb_lab_steering_set(struct devlink *devlink, u32 id,
				struct devlink_param_gset_ctx *ctx,
				struct netlink_ext_ack *extack)
{
	struct igb_lab *lab = devlink_priv(devlink);

	lab->smfs = !strcmp(ctx->val.vstr, "smfs");
	return 0;
}

static int igb_lab_steering_validate(struct devlink *devlink, u32 id,
				     union devlink_param_value val,
				     struct netlink_ext_ack *extack)
{
	struct igb_lab *lab = devlink_priv(devlink);

	if (strcmp(val.vstr, "smfs") && strcmp(val.vstr, "dmfs")) {
		NL_SET_ERR_MSG_MOD(extack, "the mode is smfs or dmfs");
		return -EINVAL;
	}
	if (lab->mode == DEVLINK_ESWITCH_MODE_SWITCHDEV) {
		NL_SET_ERR_MSG_MOD(extack, "switchdev mode is on");
		return -EOPNOTSUPP;
	}
	return 0;
}

static const struct devlink_param igb_lab_params[] = {
	DEVLINK_PARAM_DRIVER(IGB_LAB_PARAM_FLOW_STEERING, "flow_steering_mode",
			     DEVLINK_PARAM_TYPE_STRING,
			     BIT(DEVLINK_PARAM_CMODE_RUNTIME),
			     igb_lab_steering_get, igb_lab_steering_set,
			     igb_lab_steering_validate),
};

/* Resources: the limit of subfunctions, by the name that it has in mlx5. */

enum { IGB_LAB_RESOURCE_SFS = 1 };

static u64 igb_lab_sfs_occupied(void *priv)
{
	struct igb_lab *lab = priv;
	struct igb_lab_port *port;
	u64 sfs = 0;

	list_for_each_entry(port, &lab->ports, list)
		sfs += port->is_sf;
	return sfs;
}

static int igb_lab_resources_register(struct igb_lab *lab)
{
	struct devlink *devlink = priv_to_devlink(lab);
	struct devlink_resource_size_params params;
	int err;

	devlink_resource_size_params_init(&params, IGB_LAB_MAX_SFS,
					  IGB_LAB_MAX_SFS, 1,
					  DEVLINK_RESOURCE_UNIT_ENTRY);
	err = devl_resource_register(devlink, "max_local_SFs", IGB_LAB_MAX_SFS,
				     IGB_LAB_RESOURCE_SFS,
				     DEVLINK_RESOURCE_ID_PARENT_TOP, &params);
	if (!err)
		devl_resource_occ_get_register(devlink, IGB_LAB_RESOURCE_SFS,
					       igb_lab_sfs_occupied, lab);
	return err;
}

/* The life of a PF. */

static void igb_lab_fake_ids(struct pci_dev *pdev, uint device)
{
	if (!lab_vendor || !device)
		return;
	pdev->vendor = lab_vendor;
	pdev->device = device;
}

int igb_lab_attach(struct pci_dev *pdev, struct net_device *pf)
{
	struct devlink_port_attrs attrs = {
		.flavour = DEVLINK_PORT_FLAVOUR_PHYSICAL,
		.phys.port_number = lab_first_port + PCI_FUNC(pdev->devfn),
	};
	struct devlink *devlink;
	struct igb_lab *lab;
	int err;

	devlink = devlink_alloc(&igb_lab_devlink_ops, sizeof(*lab), &pdev->dev);
	if (!devlink)
		return -ENOMEM;
	lab = devlink_priv(devlink);
	lab->pdev = pdev;
	lab->port_number = attrs.phys.port_number;
	lab->switch_id.id_len = 8;
	ether_addr_copy(lab->switch_id.id, pf->dev_addr);
	attrs.switch_id = lab->switch_id;
	INIT_LIST_HEAD(&lab->ports);

	devl_lock(devlink);
	devlink_port_attrs_set(&lab->uplink, &attrs);
	err = devl_port_register(devlink, &lab->uplink, IGB_LAB_UPLINK_INDEX);
	if (err)
		goto err_port;
	err = devl_params_register(devlink, igb_lab_params,
				   ARRAY_SIZE(igb_lab_params));
	if (err)
		goto err_params;
	err = igb_lab_resources_register(lab);
	if (err)
		goto err_resources;
	devl_register(devlink);
	devl_unlock(devlink);

	SET_NETDEV_DEVLINK_PORT(pf, &lab->uplink);
	pf->hw_features |= NETIF_F_HW_TC;
	igb_lab_fake_ids(pdev, lab_device);
	return 0;

err_resources:
	devl_params_unregister(devlink, igb_lab_params,
			       ARRAY_SIZE(igb_lab_params));
err_params:
	devl_port_unregister(&lab->uplink);
err_port:
	devl_unlock(devlink);
	devlink_free(devlink);
	return err;
}

static struct igb_lab *igb_lab_of(struct net_device *pf)
{
	return container_of(pf->devlink_port, struct igb_lab, uplink);
}

void igb_lab_detach(struct net_device *pf)
{
	struct igb_lab *lab = igb_lab_of(pf);
	struct devlink *devlink = priv_to_devlink(lab);

	devl_lock(devlink);
	lab->mode = DEVLINK_ESWITCH_MODE_LEGACY;
	igb_lab_sync_ports(lab);
	devl_unregister(devlink);
	devl_resource_occ_get_unregister(devlink, IGB_LAB_RESOURCE_SFS);
	devl_resources_unregister(devlink);
	devl_params_unregister(devlink, igb_lab_params,
			       ARRAY_SIZE(igb_lab_params));
	devl_port_unregister(&lab->uplink);
	devl_unlock(devlink);
	devlink_free(devlink);
}

int igb_lab_granted_vfs(struct pci_dev *pdev, int num_vfs)
{
	if (lab_refuse_above && num_vfs > lab_refuse_above) {
		pci_err(pdev, "Only %u interrupts available for VFs\n",
			lab_refuse_above);
		return -(int)lab_refuse_errno;
	}
	if (lab_max_vfs && num_vfs > lab_max_vfs)
		return lab_max_vfs;
	return num_vfs;
}

void igb_lab_vfs_changed(struct pci_dev *pdev, struct net_device *pf)
{
	struct igb_lab *lab = igb_lab_of(pf);
	struct devlink *devlink = priv_to_devlink(lab);
	struct pci_dev *vf = NULL;

	devl_lock(devlink);
	igb_lab_sync_ports(lab);
	devl_unlock(devlink);

	/* New VFs have the PF's vendor, which may be fake already. */
	while ((vf = pci_get_device(pdev->vendor, IGB_VF_DEVICE_ID, vf)))
		if (vf->is_virtfn)
			igb_lab_fake_ids(vf, lab_vf_device);
}

int igb_lab_init(void)
{
	int err = igb_lab_datapath_init();

	if (err)
		return err;
	err = igb_lab_sf_driver_register();
	if (err)
		igb_lab_datapath_exit();
	return err;
}

void igb_lab_exit(void)
{
	igb_lab_sf_driver_unregister();
	igb_lab_datapath_exit();
}
