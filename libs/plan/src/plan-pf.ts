// SPDX-License-Identifier: Apache-2.0
/**
 * What one PF of the spec still needs (sriov-operator.md F.4, F.6; proposal "externally managed PF").
 */
import type { InterfaceSpec, InterfaceStatus, VfGroup } from "@switchyard/api";
import { parseVfRange, type VfRange } from "@switchyard/policy";
import type { PlanProblem } from "./problem.ts";
import type { PfStep } from "./step.ts";
import { vfLimitProblem } from "./vf-limit.ts";
import { isKnownDeviceType, stepsForExistingVfs, stepsForNewVfs } from "./vf-steps.ts";

/** Steps of one PF in the order they must run, and what of the spec is left out. */
export interface PfPlan {
  readonly steps: readonly PfStep[];
  readonly problems: readonly PlanProblem[];
}

/** Plans for `pf` as found; `field` is where `wanted` stands, "spec.interfaces[0]". */
export function planPf(wanted: InterfaceSpec, pf: InterfaceStatus, field: string): PfPlan {
  const refused = refusal(wanted, pf, field);
  if (refused !== undefined) return { steps: [], problems: [refused] };

  const mtuProblem = checkMtu(wanted, pf, field);
  const counts = wanted.externallyManaged === true ? [] : countSteps(wanted, pf);
  const groups = groupPlans(wanted, pf, field, mtuProblem !== undefined);
  return {
    steps: [
      ...(mtuProblem === undefined ? mtuSteps(wanted, pf) : []),
      // Before the VFs are made: igbvf finds no PF to talk to while its link is down (seen on 6.12).
      ...linkSteps(wanted, pf),
      ...counts,
      ...groups.steps,
    ],
    problems: [...(mtuProblem === undefined ? [] : [mtuProblem]), ...groups.problems],
  };
}

/** A reason to leave the whole PF as it is: what it is asked for makes no sense on it. */
function refusal(wanted: InterfaceSpec, pf: InterfaceStatus, field: string): PlanProblem | undefined {
  const { pciAddress } = pf;
  const numVfs = wanted.numVfs ?? 0;
  const existing = pf.numVfs ?? 0;
  const wantedMode = wanted.eSwitchMode || "legacy";
  const mode = pf.eSwitchMode || "legacy";
  const external = wanted.externallyManaged === true;

  if (wantedMode !== mode) {
    return external
      ? {
          code: "external-mismatch",
          field: `${field}.eSwitchMode`,
          pciAddress,
          message: `${wantedMode} asked for, ${pciAddress} is externally managed and in ${mode} mode`,
        }
      : {
          code: "unsupported",
          field: `${field}.eSwitchMode`,
          pciAddress,
          message: `${wantedMode} asked for, ${pciAddress} is in ${mode} mode, and changing the mode is not supported yet`,
        };
  }
  if (wanted.linkType && pf.linkType && wanted.linkType.toUpperCase() !== pf.linkType.toUpperCase()) {
    return {
      code: "unsupported",
      field: `${field}.linkType`,
      pciAddress,
      message: `${wanted.linkType} asked for, ${pciAddress} is ${pf.linkType}, and changing it is not supported yet`,
    };
  }
  if (external && numVfs > existing) {
    return {
      code: "external-mismatch",
      field: `${field}.numVfs`,
      pciAddress,
      message: `${numVfs} VFs asked for, ${pciAddress} is externally managed and has ${existing}`,
    };
  }
  // An externally managed PF has all of these VFs already.
  const limit = external ? undefined : vfLimitProblem(numVfs, pf);
  if (limit !== undefined) return { ...limit, field: `${field}.numVfs`, pciAddress };
  return undefined;
}

function checkMtu(wanted: InterfaceSpec, pf: InterfaceStatus, field: string): PlanProblem | undefined {
  const { pciAddress } = pf;
  const mtu = wanted.mtu ?? 0;
  if (wanted.externallyManaged === true && pf.mtu !== undefined && mtu > pf.mtu) {
    const message = `${mtu} asked for, ${pciAddress} is externally managed and has ${pf.mtu}`;
    return { code: "external-mismatch", field: `${field}.mtu`, pciAddress, message };
  }
  if (pf.maxMtu !== undefined && mtu > pf.maxMtu) {
    const message = `${mtu} asked for, ${pciAddress} takes at most ${pf.maxMtu}`;
    return { code: "mtu-too-large", field: `${field}.mtu`, pciAddress, message };
  }
  return undefined;
}

/** The PF's MTU is raised only: lowering it could cut off what else uses the port. */
function mtuSteps(wanted: InterfaceSpec, pf: InterfaceStatus): readonly PfStep[] {
  const to = wanted.mtu ?? 0;
  if (wanted.externallyManaged === true || pf.mtu === undefined || to <= pf.mtu) return [];
  return [{ kind: "set-pf-mtu", pciAddress: pf.pciAddress, from: pf.mtu, to }];
}

function linkSteps(wanted: InterfaceSpec, pf: InterfaceStatus): readonly PfStep[] {
  if (wanted.externallyManaged === true || pf.linkAdminState !== "down") return [];
  return [{ kind: "set-link-up", pciAddress: pf.pciAddress }];
}

function countSteps(wanted: InterfaceSpec, pf: InterfaceStatus): readonly PfStep[] {
  const from = pf.numVfs ?? 0;
  const to = wanted.numVfs ?? 0;
  return from === to ? [] : [{ kind: "set-num-vfs", pciAddress: pf.pciAddress, from, to }];
}

function groupPlans(wanted: InterfaceSpec, pf: InterfaceStatus, field: string, mtuRefused: boolean): PfPlan {
  const steps: PfStep[] = [];
  const problems: PlanProblem[] = [];
  const areNew = wanted.externallyManaged !== true && (wanted.numVfs ?? 0) !== (pf.numVfs ?? 0);
  for (const [index, given] of (wanted.vfGroups ?? []).entries()) {
    const range = checkGroup(given, wanted, pf, `${field}.vfGroups[${index}]`);
    if ("code" in range) {
      problems.push(range);
      continue;
    }
    const group = mtuRefused ? { ...given, mtu: 0 } : given;
    steps.push(...(areNew ? stepsForNewVfs(pf, group, range) : stepsForExistingVfs(pf, group, range)));
  }
  return { steps, problems };
}

function checkGroup(group: VfGroup, wanted: InterfaceSpec, pf: InterfaceStatus, field: string): VfRange | PlanProblem {
  const { pciAddress } = pf;
  if (!isKnownDeviceType(group)) {
    const message = `${quote(group.deviceType)} asked for, and only netdevice and vfio-pci are supported`;
    return { code: "unsupported", field: `${field}.deviceType`, pciAddress, message };
  }
  if (group.vdpaType) {
    const message = `${group.vdpaType} asked for, and vDPA devices are not supported yet`;
    return { code: "unsupported", field: `${field}.vdpaType`, pciAddress, message };
  }
  const range = parseVfRange(group.vfRange ?? "");
  if (!range.ok) {
    const message = `"${group.vfRange ?? ""}" is no range of VFs; "0-3" would be`;
    return { code: "malformed-range", field: `${field}.vfRange`, pciAddress, message };
  }
  const numVfs = wanted.numVfs ?? 0;
  if (range.value.last >= numVfs) {
    const message = `${range.value.first}-${range.value.last} is beyond the ${numVfs} VFs of ${pciAddress}`;
    return { code: "range-beyond-vfs", field: `${field}.vfRange`, pciAddress, message };
  }
  return range.value;
}

/** Text that nobody has checked: one line of it, not too long. */
function quote(text: string | undefined): string {
  return JSON.stringify((text ?? "").slice(0, 64));
}
