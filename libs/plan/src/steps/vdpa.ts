// SPDX-License-Identifier: Apache-2.0
/** Steps that add and remove vDPA devices of VFs. */
import type { InterfaceStatus } from "@switchyard/api";
import { changesNoVf, vfOf, type PfStepKind } from "./step-kind.ts";

/** The driver of a vDPA device: virtio_vdpa makes it a virtio interface of the host, and vhost_vdpa a character device. */
export type VdpaType = "virtio" | "vhost";

/** Creates the vDPA device of a VF, unless it exists, and binds it to a driver of the vDPA bus. */
interface AddVdpaDevice {
  readonly kind: "add-vdpa-device";
  /** Address of the PF. */
  readonly pciAddress: string;
  readonly vfId: number;
  /** Present type; absent if there is no device, or if it has no driver. */
  readonly from?: VdpaType;
  readonly to: VdpaType;
}

const addVdpaDevice: PfStepKind<AddVdpaDevice> = {
  describe: (step) =>
    step.from === undefined
      ? `add ${step.to} vDPA device to ${vfOf(step)}`
      : `change vDPA device of ${vfOf(step)} from ${step.from} to ${step.to}`,
  disruption({ vfId, from, to }, { Vfs: vfs = [] }) {
    if (from !== undefined) {
      return { cause: "vfGroups", text: `VF ${vfId} changes its vDPA device from ${from} to ${to}` };
    }
    // A VF whose interface is visible on the host belongs to no pod, and a virtio VF that is bound for its device has no interface.
    const inPod = vfs.some(({ vfID, name, driver }) => vfID === vfId && !name && driver && driver !== vpVdpa);
    return inPod ? { cause: "vfGroups", text: `VF ${vfId} gets a vDPA device, and a pod may use the VF` } : undefined;
  },
  isNeededBy: () => false,
  changedVfs: changesNoVf,
};

/** The kernel module and driver of a type. */
export function vdpaDriver(type: VdpaType): string {
  return `${type}_vdpa`;
}

/** Removes the vDPA device of a VF. */
interface RemoveVdpaDevice {
  readonly kind: "remove-vdpa-device";
  readonly pciAddress: string;
  readonly vfId: number;
}

const removeVdpaDevice: PfStepKind<RemoveVdpaDevice> = {
  describe: (step) => `remove vDPA device of ${vfOf(step)}`,
  disruption: ({ vfId }) => ({ cause: "vfGroups", text: `VF ${vfId} loses its vDPA device` }),
  isNeededBy: (step, other) => other.vfId === step.vfId || other.kind === "set-num-vfs",
  changedVfs: changesNoVf,
};

/**
 * What is different on virtio NICs with SR-IOV, which DPUs and hypervisors offer. Their driver has no eswitch, stores no MAC addresses
 * of VFs (drivers/virtio/virtio_pci_common.c and drivers/net/virtio_net.c, 6.12), and supports no vDPA: a VF with a vDPA device needs
 * another driver.
 * PCI vendor ID of virtio devices, whoever makes them.
 */
export const virtioVendor = "1af4";

/** The driver with which a virtio function is a vDPA management device instead of a network interface. */
export const vpVdpa = "vp-vdpa";

export function isVirtio({ vendor }: Pick<InterfaceStatus, "vendor">): boolean {
  return vendor === virtioVendor;
}

/** The kinds of this subject by their names. */
export const vdpaSteps = {
  "add-vdpa-device": addVdpaDevice,
  "remove-vdpa-device": removeVdpaDevice,
};
