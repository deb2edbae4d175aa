// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the RDMA devices that drivers have created on VFs, and adds them to the status.
 * Usage: `const devices = await readVfDevices(host); interfaces.map((pf) => withVfDevices(pf, devices))`.
 */
import type { InterfaceStatus } from "@switchyard/api";
import type { Host, RdmaDevice } from "@switchyard/host";

export interface VfDevices {
  /** By PCI address. */
  readonly rdma: ReadonlyMap<string, RdmaDevice>;
}

/** Rejects with HostError. */
export async function readVfDevices({ rdma }: Host): Promise<VfDevices> {
  const devices = await rdma.listDevices();
  return {
    rdma: new Map(devices.flatMap((device) => (device.pciAddress === undefined ? [] : [[device.pciAddress, device]]))),
  };
}

export function withVfDevices(pf: InterfaceStatus, { rdma }: VfDevices): InterfaceStatus {
  if (pf.Vfs === undefined) return pf;
  const vfs = pf.Vfs.map((vf) => {
    const device = rdma.get(vf.pciAddress);
    return { ...vf, ...(device && { rdmaDevice: device.name, guid: device.nodeGuid }) };
  });
  return { ...pf, Vfs: vfs };
}
