// SPDX-License-Identifier: Apache-2.0
/** Runs the steps that add and remove vDPA devices of VFs. */
import { HostError, type NewVdpaDevice, type Vdpa } from "@switchyard/host";
import { vdpaDriver, type PfStep } from "@switchyard/plan";
import { vdpaName } from "../observe/vf-devices.ts";
import type { StepContext } from "./step-context.ts";

/**
 * Creates the vDPA device of a VF (sriov-operator.md F.6). The name of the device is that of upstream, and it says to
 * whom the device belongs. Creates the device unless it exists, and binds it to the driver, whatever driver it has
 * before. It can be repeated.
 */
export async function addVdpaDevice(step: PfStep<"add-vdpa-device">, context: StepContext): Promise<void> {
  const { vdpa } = context.host;
  const vf = await context.vfAddress(step.vfId);
  const name = vdpaName(vf);
  const driver = vdpaDriver(step.to);
  await context.settleAll(); // udev loads the driver that makes the VF a management device.
  const devices = await vdpa.listDevices();
  const existing = devices.find((device) => device.name === name);
  const other = devices.find((device) => device.management.device === vf && device.name !== name);
  const refusal = (code: string, words: string) =>
    new HostError({ action: `add vDPA device ${name}`, target: vf }, code, { words });
  if (existing !== undefined && existing.management.device !== vf) {
    throw refusal("EEXIST", `the management device of ${name} is ${existing.management.device}`);
  }
  if (existing === undefined) {
    // mlx5_vdpa refuses a second device. vp_vdpa creates it, and later removes the second in place of the first (6.12).
    if (other !== undefined) throw refusal("ENOSPC", `the VF has the vDPA device ${other.name}`);
    await create(vdpa, { name, management: { bus: "pci", device: vf } });
  }
  context.forgetLinks();
  // The kernel binds any driver that is loaded. The override stays, so that no other driver binds when it is loaded later.
  await vdpa.setDriverOverride(name, driver);
  const bound = (await vdpa.listDevices()).find((device) => device.name === name)?.driver;
  if (bound === driver) return;
  if (bound !== undefined) await vdpa.unbindDriver(name);
  await vdpa.bindDriver(name, driver);
}

/** It is not an error if the device does not exist. */
export async function removeVdpaDevice(step: PfStep<"remove-vdpa-device">, context: StepContext): Promise<void> {
  const { vdpa } = context.host;
  const name = vdpaName(await context.vfAddress(step.vfId));
  context.forgetLinks();
  try {
    await vdpa.removeDevice(name);
  } catch (thrown) {
    if (!(thrown instanceof HostError && thrown.code === "ENODEV")) throw thrown;
  }
}

/** Upstream's number. More pairs than the host has CPUs are of no use. */
const mostPairs = 32;

async function create(vdpa: Vdpa, device: NewVdpaDevice): Promise<void> {
  const managers = await vdpa.listManagementDevices();
  const manager = managers.find(
    (each) => each.bus === device.management.bus && each.device === device.management.device,
  );
  if (manager === undefined) {
    const words = "the VF is not a vDPA management device; its driver may need another module, such as mlx5_vdpa";
    throw new HostError({ action: `add vDPA device ${device.name}`, target: device.management.device }, "ENODEV", {
      words,
    });
  }
  // One virtqueue of an odd number is the control queue.
  const maxVirtqueuePairs = Math.min(mostPairs, Math.floor((manager.maxVirtqueues ?? mostPairs * 2) / 2));
  try {
    await vdpa.addDevice({ ...device, maxVirtqueuePairs });
  } catch (thrown) {
    // EINVAL: more than the management device allows, which old kernels do not report.
    if (!(thrown instanceof HostError && (thrown.code === "EOPNOTSUPP" || thrown.code === "EINVAL"))) throw thrown;
    await vdpa.addDevice(device);
  }
}

/** Runs the steps of this subject, by the names of their kinds. */
export const runVdpaSteps = {
  "add-vdpa-device": addVdpaDevice,
  "remove-vdpa-device": removeVdpaDevice,
};
