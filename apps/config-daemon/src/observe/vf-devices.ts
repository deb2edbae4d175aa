// SPDX-License-Identifier: Apache-2.0
/** Reads the RDMA devices and vDPA devices of VFs, and adds them to the status. */
import { defined, type InterfaceStatus } from "@switchyard/api";
import type { Host, RdmaDevice, VdpaDevice } from "@switchyard/host";

export interface VfDevices {
  /** By PCI address. */
  readonly rdma: ReadonlyMap<string, RdmaDevice>;
  /** By name. */
  readonly vdpa: ReadonlyMap<string, VdpaDevice>;
}

/** Rejects with HostError. */
export async function readVfDevices(host: Pick<Host, "rdma" | "vdpa">): Promise<VfDevices> {
  const [rdma, vdpa] = await Promise.all([host.rdma.listDevices(), host.vdpa.listDevices()]);
  return {
    rdma: new Map(rdma.flatMap((device) => (device.pciAddress === undefined ? [] : [[device.pciAddress, device]]))),
    vdpa: new Map(vdpa.map((device) => [device.name, device])),
  };
}

export function withVfDevices(pf: InterfaceStatus, { rdma, vdpa }: VfDevices): InterfaceStatus {
  if (pf.Vfs === undefined) return pf;
  const vfs = pf.Vfs.map((vf) => {
    const device = rdma.get(vf.pciAddress);
    const vdpaType = typeOf(vdpa.get(vdpaName(vf.pciAddress)), vf.pciAddress);
    // The port of an Ethernet device follows its interface, which pods have.
    const portState = pf.linkType?.toUpperCase() === "IB" ? device?.portState : undefined;
    return { ...vf, ...defined({ rdmaDevice: device?.name, portState, guid: device?.nodeGuid, vdpaType }) };
  });
  return { ...pf, Vfs: vfs };
}

/** The name of the vDPA device of a VF, which upstream uses, too. */
export function vdpaName(vf: string): string {
  return `vdpa:${vf}`;
}

/** Returns "virtio", "vhost", or "unbound" for a device without one of these drivers; undefined if the VF has no device. */
function typeOf(device: VdpaDevice | undefined, vf: string): string | undefined {
  if (device?.management.device !== vf) return undefined;
  const [, type = "unbound"] = /^(virtio|vhost)_vdpa$/.exec(device.driver ?? "") ?? [];
  return type;
}
