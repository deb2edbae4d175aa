// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the network card of a virtual machine (sriov-operator.md F.10). The hypervisor has passed a VF to the machine, so the
 * card is its own only VF: nothing can be created, and only its driver changes.
 * Usage: `if (isVirtualNic(pf)) return planVirtualNic(wanted, pf, field);`
 */
import { isUserSpaceDriver, type InterfaceSpec, type InterfaceStatus } from "@switchyard/api";
import type { PfPlan } from "./plan-pf.ts";
import type { PlanProblem } from "../problem.ts";
import type { PfStep } from "../steps/step.ts";
import { isKnownDeviceType } from "./vf-steps.ts";

/** Binds the card to the driver that its only VF group requests. The MTU is the hypervisor's and is not changed. */
export function planVirtualNic(wanted: InterfaceSpec, pf: InterfaceStatus, field: string): PfPlan {
  const problem = problemOf(wanted, pf, field);
  if (problem !== undefined) return { steps: [], problems: [problem] };
  const to = wanted.vfGroups?.[0]?.deviceType ?? "netdevice";
  if (to === "netdevice") return { steps: bindDefault(pf), problems: [] };
  return { steps: pf.driver === to ? [] : [bind(pf, to)], problems: [] };
}

/** Gives the card back to its kernel driver. */
export function planVirtualReset(pf: InterfaceStatus): readonly PfStep[] {
  return [...bindDefault(pf), { kind: "release-pf", pciAddress: pf.pciAddress }];
}

function bindDefault(pf: InterfaceStatus): readonly PfStep[] {
  return pf.driver !== undefined && pf.driver !== "" && !isUserSpaceDriver(pf.driver) ? [] : [bind(pf, "default")];
}

/** No pod can use a card that no policy has selected so far, so its first change of the driver disrupts nobody. */
function bind({ pciAddress, driver, owned }: InterfaceStatus, to: string): PfStep {
  const isInUse = owned === true || to === "default";
  return { kind: "bind-driver", pciAddress, vfId: 0, ...(driver && isInUse && { from: driver }), to, isPf: true };
}

function problemOf(wanted: InterfaceSpec, { pciAddress }: InterfaceStatus, field: string): PlanProblem | undefined {
  const isVf = `${pciAddress} is a VF that the hypervisor passes to this virtual machine`;
  const unsupported = (name: string, message: string): PlanProblem => ({
    code: "unsupported",
    field: `${field}.${name}`,
    pciAddress,
    message,
  });
  const { numVfs = 0, vfGroups = [], eSwitchMode = "", linkType = "" } = wanted;
  if (numVfs !== 1) {
    return {
      ...unsupported("numVfs", `must be 1, not ${numVfs}, because ${isVf}`),
      code: "too-many-vfs",
    };
  }
  if (eSwitchMode !== "" && eSwitchMode !== "legacy") {
    return unsupported("eSwitchMode", `"${eSwitchMode}" requested, but ${isVf}, without a switch`);
  }
  if (linkType !== "" && linkType.toUpperCase() !== "ETH") {
    return unsupported("linkType", `"${linkType}" requested, but ${isVf}: its link type must be eth`);
  }
  const [group, ...others] = vfGroups;
  if (group === undefined || others.length > 0 || group.vfRange !== "0-0") {
    return unsupported("vfGroups", `exactly one group with vfRange "0-0" is possible, because ${isVf}`);
  }
  if (!isKnownDeviceType(group)) {
    const type = JSON.stringify((group.deviceType ?? "").slice(0, 64));
    const message = `${type} is not supported; supported values are "netdevice" and "vfio-pci"`;
    return unsupported("vfGroups[0].deviceType", message);
  }
  if (group.vdpaType) return unsupported("vfGroups[0].vdpaType", `"${group.vdpaType}" requested, but ${isVf}`);
  return undefined;
}
