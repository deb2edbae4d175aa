// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the steps that bring one PF to the state that its entry in spec.interfaces requests (sriov-operator.md F.4, F.6;
 * upstream's proposal "externally managed PF").
 */
import type { InterfaceSpec, InterfaceStatus, VfGroup } from "@switchyard/api";
import { formatVfRange, includesVf, parseVfRange, upToVf, type VfRange } from "@switchyard/policy";
import {
  driverProblem,
  externalMismatches,
  externalMtuMismatch,
  isMellanox,
  missingRepresentors,
  missingVfs,
  modeProblem,
  vfLimitProblem,
} from "./pf-problems.ts";
import { eswitchSteps, parseEswitchMode, unbindsVfs } from "./plan-eswitch.ts";
import { fewerVfsProblem, numVfsToHave } from "./fewer-vfs.ts";
import { missingInterfaces } from "./missing-interface.ts";
import {
  bindUngrouped,
  guidsOfExistingVfs,
  guidsOfNewVfs,
  isKnownDeviceType,
  stepsForExistingVfs,
  stepsForNewVfs,
  stepsForUnboundVfs,
} from "./vf-steps.ts";
import { sharedGroups } from "./shared-iommu-group.ts";
import { unwantedVdpa, vdpaOfExistingVfs, vdpaOfNewVfs, vdpaProblem } from "./plan-vdpa.ts";
import { quote, type PlanProblem } from "../problem.ts";
import type { PfStep } from "../steps/step.ts";

/** The steps of one PF in the order in which they must run, and the parts of the spec that cannot be applied. */
export interface PfPlan {
  readonly steps: readonly PfStep[];
  readonly problems: readonly PlanProblem[];
}

/** Compares `wanted` with `pf` as observed. `field` is the path of `wanted` in the NodeState: "spec.interfaces[0]". */
export function planPf(wanted: InterfaceSpec, pf: InterfaceStatus, field: string): PfPlan {
  const refused = refusals(wanted, pf, field);
  if (refused.length > 0) return { steps: [], problems: refused };

  const mtuProblem = checkMtu(wanted, pf, field);
  const fewer = fewerVfsProblem(wanted, pf, field);
  const numVfs = numVfsToHave(wanted, pf);
  const mode = parseEswitchMode(wanted.eSwitchMode);
  const eswitch = wanted.externallyManaged === true ? [] : eswitchSteps(pf, { numVfs, mode });
  const groups = groupPlans(wanted, pf, field, {
    vfs: vfsAfter(eswitch),
    numVfs,
    isMtuRefused: mtuProblem !== undefined,
  });
  return {
    steps: [
      ...(mtuProblem === undefined ? mtuSteps(wanted, pf) : []),
      // Before VFs are created: igbvf cannot talk to its PF while the link of the PF is down (seen on 6.12).
      ...linkSteps(wanted, pf),
      ...eswitch,
      ...groups.steps,
    ],
    problems: [
      ...(fewer === undefined ? [] : [fewer]),
      ...(mtuProblem === undefined ? [] : [mtuProblem]),
      ...groups.problems,
      ...(eswitch.length === 0 ? [...missingVfs(pf, field), ...missingRepresentors(wanted, pf, field)] : []),
    ],
  };
}

/** Returns the problems that leave the whole PF unchanged; empty if there are none. */
export function refusals(wanted: InterfaceSpec, pf: InterfaceStatus, field: string): readonly PlanProblem[] {
  const { pciAddress } = pf;
  if (wanted.externallyManaged === true) return externalMismatches(wanted, pf, field);
  const driver = driverProblem(wanted, pf, field);
  if (driver !== undefined) return [driver];
  const mode = modeProblem(wanted, pf);
  if (mode !== undefined) return [{ ...mode, field: `${field}.eSwitchMode`, pciAddress }];
  const linkType = linkTypeProblem(wanted, pf, field);
  if (linkType !== undefined) return [linkType];
  const limit = vfLimitProblem(wanted.numVfs ?? 0, pf);
  return limit === undefined ? [] : [{ ...limit, field: `${field}.numVfs`, pciAddress }];
}

/** The firmware of a Mellanox card decides its link type, and plan-firmware.ts plans it. */
function linkTypeProblem(wanted: InterfaceSpec, pf: InterfaceStatus, field: string): PlanProblem | undefined {
  const { pciAddress } = pf;
  if (!wanted.linkType || !pf.linkType || wanted.linkType.toUpperCase() === pf.linkType.toUpperCase()) return undefined;
  if (isMellanox(pf)) return undefined;
  const message = `"${wanted.linkType}" requested, but ${pciAddress} is ${pf.linkType}, and its link type cannot be changed`;
  return { code: "unsupported", field: `${field}.linkType`, pciAddress, message };
}

function checkMtu(wanted: InterfaceSpec, pf: InterfaceStatus, field: string): PlanProblem | undefined {
  const { pciAddress } = pf;
  const mtu = wanted.mtu ?? 0;
  if (wanted.externallyManaged === true) return externalMtuMismatch(wanted, pf, field);
  if (pf.maxMtu !== undefined && mtu > pf.maxMtu) {
    const message = `MTU ${mtu} requested, but ${pciAddress} supports at most ${pf.maxMtu}`;
    return { code: "mtu-too-large", field: `${field}.mtu`, pciAddress, message };
  }
  return undefined;
}

/** The MTU of a PF is only raised: a lower MTU could interrupt other users of the port. */
function mtuSteps(wanted: InterfaceSpec, pf: InterfaceStatus): readonly PfStep[] {
  const to = wanted.mtu ?? 0;
  if (wanted.externallyManaged === true || pf.mtu === undefined || to <= pf.mtu) return [];
  return [{ kind: "set-pf-mtu", pciAddress: pf.pciAddress, from: pf.mtu, to }];
}

function linkSteps(wanted: InterfaceSpec, pf: InterfaceStatus): readonly PfStep[] {
  if (wanted.externallyManaged === true || pf.linkAdminState !== "down") return [];
  return [{ kind: "set-link-up", pciAddress: pf.pciAddress }];
}

/** The state of the VFs when the steps of their groups run. */
type VfsAfter = "unchanged" | "new" | "unbound";

interface GroupContext {
  readonly vfs: VfsAfter;
  /** Number of VFs that the PF should have. */
  readonly numVfs: number;
  readonly isMtuRefused: boolean;
}

function vfsAfter(eswitch: readonly PfStep[]): VfsAfter {
  if (eswitch.length === 0) return "unchanged";
  return unbindsVfs(eswitch) ? "unbound" : "new";
}

function groupPlans(
  wanted: InterfaceSpec,
  pf: InterfaceStatus,
  field: string,
  { vfs, numVfs, isMtuRefused }: GroupContext,
): PfPlan {
  const steps: PfStep[] = [];
  const problems: PlanProblem[] = [];
  const ranges: VfRange[] = [];
  for (const [index, given] of (wanted.vfGroups ?? []).entries()) {
    const checked = checkGroup(given, wanted, pf, `${field}.vfGroups[${index}]`);
    if ("code" in checked) {
      problems.push(checked);
      continue;
    }
    const range = wanted.externallyManaged === true ? checked : upToVf(checked, numVfs - 1);
    if (range === undefined) continue; // none of its VFs exists
    ranges.push(range);
    if (vfs === "unchanged") {
      steps.push(...unwantedVdpa(pf, given, range));
      problems.push(...sharedGroups(pf, given, { range, field: `${field}.vfGroups[${index}]` }));
      problems.push(...missingInterfaces(pf, given, { range, field: `${field}.vfGroups[${index}]` }));
    }
    steps.push(...(vfs === "new" ? guidsOfNewVfs(pf, given, range) : guidsOfExistingVfs(pf, range)));
    steps.push(...stepsOf[vfs](pf, isMtuRefused ? { ...given, mtu: 0 } : given, range));
    steps.push(...(vfs === "unchanged" ? vdpaOfExistingVfs(pf, given, range) : vdpaOfNewVfs(pf, given, range)));
  }
  const isUngrouped = (vfId: number) => !ranges.some((range) => includesVf(range, vfId));
  const unbound = unboundVfs(wanted, pf, { vfs, numVfs }).filter(isUngrouped);
  return { steps: [...steps, ...unbound.map((vfId) => bindUngrouped(pf, vfId))], problems };
}

const stepsOf = { unchanged: stepsForExistingVfs, new: stepsForNewVfs, unbound: stepsForUnboundVfs };

/** VFs without a driver: a change of the eswitch mode unbinds all of them, also when the daemon was killed after it. */
function unboundVfs(
  wanted: InterfaceSpec,
  pf: InterfaceStatus,
  { vfs, numVfs }: Pick<GroupContext, "vfs" | "numVfs">,
): readonly number[] {
  if (vfs === "unbound") return Array.from({ length: numVfs }, (_, vfId) => vfId);
  if (vfs === "new" || wanted.externallyManaged === true || pf.eSwitchMode !== "switchdev") return [];
  return (pf.Vfs ?? []).filter(({ driver }) => !driver).map(({ vfID }) => vfID);
}

function checkGroup(group: VfGroup, wanted: InterfaceSpec, pf: InterfaceStatus, field: string): VfRange | PlanProblem {
  const { pciAddress } = pf;
  if (!isKnownDeviceType(group)) {
    const message = `${quote(group.deviceType)} is not supported; supported values are "netdevice" and "vfio-pci"`;
    return { code: "unsupported", field: `${field}.deviceType`, pciAddress, message };
  }
  const vdpa = vdpaProblem(group, wanted, pf);
  if (vdpa !== undefined) return { code: "unsupported", field: `${field}.vdpaType`, pciAddress, message: vdpa };
  const range = parseVfRange(group.vfRange ?? "");
  if (!range.ok) {
    const message = `"${group.vfRange ?? ""}" is not a range of VFs; a valid range is "0-3"`;
    return { code: "malformed-range", field: `${field}.vfRange`, pciAddress, message };
  }
  const numVfs = wanted.numVfs ?? 0;
  if (range.value.last >= numVfs) {
    const message = `"${formatVfRange(range.value)}" is outside the ${numVfs} VFs of ${pciAddress}`;
    return { code: "range-beyond-vfs", field: `${field}.vfRange`, pciAddress, message };
  }
  return range.value;
}
