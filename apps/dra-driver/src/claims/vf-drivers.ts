// SPDX-License-Identifier: Apache-2.0
/** Binds the drivers that claims ask for, and those that the policies of VFs say. All functions reject with HostError. */
import { isUserSpaceDriver } from "@switchyard/api";
import { bindDefault, bindTo, type Host } from "@switchyard/host";
import type { NodeVf } from "./find-vf.ts";

export type DriverHost = Pick<Host, "sriov" | "modules">;

const vfio = "vfio-pci";

/** Gives the VF the driver that a claim asks for: "vfio-pci" or "default". Without one, it gives the driver of the policy. */
export async function bindForClaim(host: DriverHost, vf: NodeVf, driver: string | undefined): Promise<void> {
  if (driver === undefined) await bindAsPolicySays(host, vf);
  else if (driver === vfio) await bindVfio(host, vf);
  else await bindKernelDriver(host, vf);
}

/** Changes nothing if the VF has the driver. A VF with a vDPA device is left to the config daemon. */
export async function bindAsPolicySays(host: DriverHost, vf: NodeVf): Promise<void> {
  const { deviceType = "netdevice", vdpaType } = vf.group;
  if (deviceType === vfio) await bindVfio(host, vf);
  else if (!vdpaType) await bindKernelDriver(host, vf);
}

async function bindVfio({ sriov, modules }: DriverHost, { pf, address }: NodeVf): Promise<void> {
  if ((await sriov.readBinding(address))?.driver === vfio) return;
  await modules.load(vfio);
  await bindTo({ sriov, pf, device: address }, vfio);
}

async function bindKernelDriver({ sriov }: DriverHost, { pf, address }: NodeVf): Promise<void> {
  const { driver } = (await sriov.readBinding(address)) ?? {};
  if (driver !== undefined && !isUserSpaceDriver(driver)) return;
  await bindDefault({ sriov, pf, device: address });
}
