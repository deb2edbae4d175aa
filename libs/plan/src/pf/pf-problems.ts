// SPDX-License-Identifier: Apache-2.0
/**
 * Problems of one PF that the plan reports and no step can solve. The PF cannot have the eswitch mode or the number of VFs, VFs or
 * representors are missing, or an externally managed PF differs from its spec.
 */
import { isUserSpaceDriver, type InterfaceSpec, type InterfaceStatus } from "@switchyard/api";
import { smartNicModelOf } from "@switchyard/policy";
import { parseEswitchMode } from "./plan-eswitch.ts";
import { isVirtualNic } from "./virtual-nic.ts";
import { quote, type PlanProblem } from "../problem.ts";

/** Returns why the PF cannot have the mode. The whole PF is then left unchanged. */
export function modeProblem(
  { eSwitchMode, cardMode }: InterfaceSpec,
  pf: InterfaceStatus,
): Pick<PlanProblem, "code" | "message"> | undefined {
  const { pciAddress } = pf;
  const wanted = parseEswitchMode(eSwitchMode);
  if (wanted === undefined) {
    const message = `${quote(eSwitchMode)} is not supported; supported values are "legacy" and "switchdev"`;
    return { code: "unsupported", message };
  }
  if (wanted === "switchdev" && pf.totalvfs === undefined) {
    return { code: "no-sriov", message: `"${wanted}" requested, but ${pciAddress} has no SR-IOV capability` };
  }
  if (wanted === "switchdev" && cardMode !== undefined) {
    const message = `"${wanted}" requested, but the card's own system has the eswitch of ${pciAddress} in mode ${cardMode}`;
    return { code: "unsupported", message };
  }
  if (wanted === "switchdev" && pf.hasESwitch === false) {
    const owner = smartNicModelOf(pf) === undefined ? "" : "; the card's own system has it";
    const message = `"${wanted}" requested, but driver ${pf.driver ?? ""} offers no eswitch for ${pciAddress}${owner}`;
    return { code: "unsupported", message };
  }
  return undefined;
}

/**
 * Returns why the PF can have no VFs: it has no driver, or one that passes it to user space. The kernel would answer ENOENT
 * (drivers/pci/iov.c, 6.12). A status without the ids of the card says nothing about its driver.
 */
export function driverProblem(
  { numVfs = 0 }: InterfaceSpec,
  pf: InterfaceStatus,
  field: string,
): PlanProblem | undefined {
  const { pciAddress, driver, totalvfs, vendor, deviceID, name, mtu } = pf;
  if (numVfs === 0 || totalvfs === undefined || isVirtualNic(pf)) return undefined;
  const isWithout = !driver && vendor !== undefined && deviceID !== undefined && !name && mtu === undefined;
  if (!isWithout && !(driver && isUserSpaceDriver(driver))) return undefined;
  const vfs = numVfs === 1 ? "1 VF" : `${numVfs} VFs`;
  const message = isWithout
    ? `${pciAddress} has no driver, so ${vfs} cannot be created; load its driver, and see the kernel log if the driver has failed on it`
    : `${pciAddress} is bound to ${driver}, so ${vfs} cannot be created; bind it to its network driver, or leave it out of the policy`;
  return { code: "no-driver", field: `${field}.numVfs`, pciAddress, message };
}

/**
 * Reports VFs that the driver has enabled and that do not exist (yet): on s390x they appear one by one, some minutes later. A status
 * without a list of VFs says nothing about them.
 */
export function missingVfs(pf: InterfaceStatus, field: string): readonly PlanProblem[] {
  const { pciAddress, numVfs = 0, Vfs: vfs } = pf;
  if (vfs === undefined || vfs.length >= numVfs) return [];
  const message =
    numVfs === 1
      ? `${pciAddress} has 1 VF, which has not appeared yet`
      : `${pciAddress} has ${numVfs} VFs, of which ${vfs.length} have appeared; the others may follow`;
  return [{ code: "missing-vfs", field: `${field}.numVfs`, pciAddress, message }];
}

/** Reports VFs without a representor, which have no connection: a pod that uses one would not notice why. */
export function missingRepresentors(wanted: InterfaceSpec, pf: InterfaceStatus, field: string): readonly PlanProblem[] {
  if (wanted.externallyManaged === true || pf.eSwitchMode !== "switchdev") return [];
  const { pciAddress, Vfs: vfs = [] } = pf;
  const missing = vfs.filter(({ representorName }) => !representorName).map(({ vfID }) => vfID);
  if (missing.length === 0) return [];
  const message =
    missing.length === 1
      ? `VF ${missing.join()} of ${pciAddress} has no representor`
      : `VFs ${missing.join(", ")} of ${pciAddress} have no representor`;
  return [{ code: "missing-representor", field: `${field}.eSwitchMode`, pciAddress, message }];
}

export type VfLimitProblem = Pick<PlanProblem, "message"> & { readonly code: "no-sriov" | "too-many-vfs" };

/**
 * Checks a number of VFs against the limit of a PF, which its driver reports as sriov_totalvfs. On Mellanox cards the limit is a
 * firmware setting, which Switchyard raises (plan-firmware.ts). The plan and the admission webhook both use this function, so
 * they report the same message. Returns why the PF cannot have `numVfs` VFs, or undefined if it can.
 */
export function vfLimitProblem(numVfs: number, pf: InterfaceStatus): VfLimitProblem | undefined {
  const { pciAddress, totalvfs } = pf;
  if (numVfs <= mostVfs(pf)) return undefined;
  const advice = inFirmware(numVfs, pf);
  const vfs = numVfs === 1 ? "1 VF" : `${numVfs} VFs`;
  return totalvfs === undefined
    ? { code: "no-sriov", message: `${vfs} requested, but ${pciAddress} has no SR-IOV capability${advice}` }
    : { code: "too-many-vfs", message: `${vfs} requested, but ${pciAddress} supports at most ${totalvfs}${advice}` };
}

/** The largest NUM_OF_VFS that upstream sets, too (sriov-operator.md E.3). */
const mostFirmwareVfs = 128;

export function isMellanox({ vendor }: Pick<InterfaceStatus, "vendor">): boolean {
  return vendor === "15b3";
}

/** Returns the largest number of VFs that the PF can have, with a firmware setting that Switchyard can change. */
export function mostVfs(pf: Pick<InterfaceStatus, "vendor" | "totalvfs" | "firmware">): number {
  const raised = isMellanox(pf) && pf.firmware?.unavailable === undefined ? mostFirmwareVfs : 0;
  return Math.max(pf.totalvfs ?? 0, raised);
}

function inFirmware(numVfs: number, pf: InterfaceStatus): string {
  if (!isMellanox(pf)) return "";
  if (numVfs > mostFirmwareVfs) return `, and its firmware is set to at most ${mostFirmwareVfs}`;
  return `, and its firmware settings cannot be changed: ${pf.firmware?.unavailable ?? ""}`;
}

/**
 * Compares an externally managed PF with its spec (upstream's proposal "externally managed PF"). Another tool creates its VFs
 * and sets its eswitch mode, link type, MTU and link state. Switchyard never changes these, so the PF must already have what
 * the spec requests.
 * Returns the differences because of which the VFs of the PF cannot be used, either; empty if there are none.
 */
export function externalMismatches(wanted: InterfaceSpec, pf: InterfaceStatus, field: string): readonly PlanProblem[] {
  const { pciAddress, linkType = "" } = pf;
  const problems: PlanProblem[] = [];
  const report = (name: string, message: string): void => {
    problems.push({ code: "external-mismatch", field: `${field}.${name}`, pciAddress, message });
  };
  const [wantedMode, mode] = [wanted.eSwitchMode || "legacy", pf.eSwitchMode || "legacy"];
  if (wantedMode !== mode)
    report("eSwitchMode", `"${wantedMode}" requested, but ${pciAddress} is externally managed and in ${mode} mode`);
  if (wanted.linkType && linkType && wanted.linkType.toUpperCase() !== linkType.toUpperCase())
    report(
      "linkType",
      `"${wanted.linkType}" requested, but ${pciAddress} is externally managed and has link type ${linkType}`,
    );
  const [numVfs, existing] = [wanted.numVfs ?? 0, pf.numVfs ?? 0];
  if (numVfs > existing)
    report("numVfs", `${numVfs} VFs requested, but ${pciAddress} is externally managed and has ${existing}`);
  return problems;
}

/** Returns the problem of an MTU that is larger than that of the PF. The VFs are configured without it. */
export function externalMtuMismatch(
  wanted: InterfaceSpec,
  pf: InterfaceStatus,
  field: string,
): PlanProblem | undefined {
  const mtu = wanted.mtu ?? 0;
  if (pf.mtu === undefined || mtu <= pf.mtu) return undefined;
  const { pciAddress } = pf;
  const message = `MTU ${mtu} requested, but ${pciAddress} is externally managed and has MTU ${pf.mtu}`;
  return { code: "external-mismatch", field: `${field}.mtu`, pciAddress, message };
}
