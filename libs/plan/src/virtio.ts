// SPDX-License-Identifier: Apache-2.0
/**
 * What is different on virtio NICs with SR-IOV, which DPUs and hypervisors offer. Their driver has no eswitch, stores no MAC addresses
 * of VFs (drivers/virtio/virtio_pci_common.c and drivers/net/virtio_net.c, 6.12), and supports no vDPA: a VF with a vDPA device needs
 * another driver.
 * Usage: `if (isVirtio(pf) && group.vdpaType) bind(vf, vpVdpa)`.
 */
import type { InterfaceStatus } from "@switchyard/api";

/** PCI vendor ID of virtio devices, whoever makes them. */
export const virtioVendor = "1af4";

/** The driver with which a virtio function is a vDPA management device instead of a network interface. */
export const vpVdpa = "vp-vdpa";

export function isVirtio({ vendor }: Pick<InterfaceStatus, "vendor">): boolean {
  return vendor === virtioVendor;
}
