// SPDX-License-Identifier: Apache-2.0
/**
 * Plans how a node reaches the spec of its SriovNetworkNodeState: the steps, the pods that they disrupt, and the parts of
 * the spec that cannot be applied. It is a pure function. The daemon calls it before and after it acts, the webhook before
 * a policy is stored, and the CLI without a cluster.
 * Usage: `const { steps, impact } = plan(state.spec ?? {}, state.status ?? {}, ownedInStatus(state.status ?? {}));`
 */
import type {
  InterfaceSpec,
  InterfaceStatus,
  SriovNetworkNodeStateSpec,
  SriovNetworkNodeStateStatus,
} from "@switchyard/api";
import {
  reasonsToDrain,
  fieldsOfBridge,
  fieldsOfInterface,
  fieldsOfUnselected,
  type FieldOf,
  type Impact,
  type Reason,
} from "./impact.ts";
import { planReset, type OwnedPf, type OwnedPfs } from "./pf/owned-pf.ts";
import { planCardMode } from "./firmware/plan-card-mode.ts";
import { planFirmware } from "./firmware/plan-firmware.ts";
import { planNode } from "./plan-node.ts";
import { linuxBridgeProblems, planLinuxBridge } from "./bridges/plan-linux-bridges.ts";
import { ovsProblems, planOvsBridge } from "./bridges/plan-ovs-bridges.ts";
import { planPf, type PfPlan } from "./pf/plan-pf.ts";
import { withVdpaRemovals } from "./pf/plan-vdpa.ts";
import type { PlanProblem } from "./problem.ts";
import { rolledBackProblem } from "./rolled-back.ts";
import { withoutRefusedOfNode, withoutRefusedOfPf } from "./refused-change.ts";
import { mergeRebootNeeds, planReboot } from "./reboot.ts";
import { vdpaDriver } from "./steps/vdpa.ts";
import { planVirtualNic, planVirtualReset } from "./pf/plan-virtual.ts";
import { isVirtualNic } from "./pf/virtual-nic.ts";
import type { EnableNoIommu, LoadModule } from "./steps/kernel.ts";
import type { PfStep, Step } from "./steps/step.ts";

export interface Plan {
  /**
   * In the order in which they must run: steps of the node first, and a reboot last. Steps of different PFs do not depend on
   * each other. Before a reboot, steps whose effect it would undo are left out.
   */
  readonly steps: readonly Step[];
  readonly impact: Impact;
  /** Why the impact is not "none": one sentence for each cause. */
  readonly reasons: readonly Reason[];
  /** Parts of the spec that cannot be applied. The steps apply all other parts. */
  readonly problems: readonly PlanProblem[];
  /**
   * PCI addresses of PFs with work that `steps` does not contain yet, because it follows a reset of the card or a reboot. Absent
   * if there are none.
   */
  readonly waiting?: readonly string[];
}

/** Reports whether the node matches its spec: the plan has no steps and no problems. */
export function isConverged(plan: Pick<Plan, "problems"> & { readonly steps: readonly unknown[] }): boolean {
  return plan.steps.length === 0 && plan.problems.length === 0;
}

/**
 * Compares `desired` with `observed`. A PF that is not in desired.interfaces is reset only if it is `owned` and
 * desired.unselected names it. Absence from desired.interfaces is not enough: the writer of the spec may not know the PF.
 */
export function plan(desired: SriovNetworkNodeStateSpec, observed: SriovNetworkNodeStateStatus, owned: OwnedPfs): Plan {
  const wanted = new Map((desired.interfaces ?? []).map((spec, index) => [spec.pciAddress, { spec, index }]));
  const unselected = new Set(desired.unselected);
  const found = observed.interfaces ?? [];
  const node = planNode(desired, observed);
  const cardMode = planCardMode(desired, observed);
  const firmware = planFirmware(desired, observed, cardMode.pending);
  const steps: PfStep[] = [];
  const { forget, ...planned } = planReboot(
    mergeRebootNeeds([node.reboots, firmware.reboots]),
    observed.system?.reboot,
  );
  const ofNode = [...node.steps, ...cardMode.steps, ...firmware.steps, ...forget];
  const isRebootPlanned = planned.reboot.length > 0;
  const refusal = withoutRefusedOfNode(
    observed,
    [...ofNode, ...planned.reboot],
    isRebootPlanned ? planned.reasons : node.reasons,
  );
  const isRefused = refusal?.isRefused ?? (() => false);
  const reboot = planned.reboot.filter((step) => !isRefused(step));
  const reasons: Reason[] = [...(refusal === undefined ? node.reasons : []), ...firmware.reasons];
  const problems: PlanProblem[] = [
    ...unknownPfs(desired.interfaces ?? [], found),
    ...node.problems,
    ...cardMode.problems,
    ...firmware.problems,
    ...ovsProblems(desired, observed),
    ...linuxBridgeProblems(desired, observed),
    ...(refusal === undefined ? [] : [refusal.problem]),
  ];

  for (const pf of found) {
    const entry = wanted.get(pf.pciAddress);
    const rolledBack = rolledBackProblem(pf, desired);
    if (rolledBack !== undefined) {
      problems.push(rolledBack);
      continue;
    }
    const toReset = unselected.has(pf.pciAddress) ? owned.get(pf.pciAddress) : undefined;
    const own = ownPlan(pf, entry, toReset);
    problems.push(...own.problems);
    if (entry !== undefined && firmware.held.has(pf.pciAddress)) continue;
    const linux = planLinuxBridge(pf, { desired, observed, pfSteps: own.steps });
    problems.push(...linux.problems);
    if (linux.isBlocking) continue;
    const ovs = planOvsBridge(pf, { desired, observed, pfSteps: own.steps });
    const whole = [...linux.before, ...ovs.before, ...own.steps, ...ovs.after, ...linux.after];
    const { steps: possible, problem: pfRefusal } = withoutRefusedOfPf(pf, whole, own.fieldOf);
    const ofPf = withVdpaRemovals(pf, possible);
    steps.push(...ofPf);
    problems.push(...ovs.problems, ...(pfRefusal === undefined ? [] : [pfRefusal]));
    reasons.push(...reasonsToDrain(ofPf, pf, own.fieldOf));
  }
  const isRebooting = reboot.length > 0;
  const pfSteps = isRebooting ? [] : steps;
  // After a reboot, no card has to be reset.
  const nodeSteps = ofNode.filter((step) => !isRefused(step) && !(isRebooting && step.kind === "reset-firmware"));
  const drainOrNone = reasons.length > 0 ? "drain" : "none";
  const postponed = isRebooting ? [...steps.map(({ pciAddress }) => pciAddress), ...withVfs(desired, found)] : [];
  const waiting = [...new Set([...firmware.held, ...postponed])];
  return {
    steps: [...nodeSteps, ...noIommuFor(found, pfSteps), ...modulesFor(pfSteps), ...pfSteps, ...reboot],
    impact: isRebooting ? "reboot" : drainOrNone,
    reasons: isRebooting ? planned.reasons : reasons,
    problems: [...problems, ...planned.problems],
    ...(waiting.length > 0 && { waiting }),
  };
}

/** PFs whose VFs a reboot removes, and which get them again afterwards. */
function withVfs(desired: SriovNetworkNodeStateSpec, found: readonly InterfaceStatus[]): readonly string[] {
  const existing = new Set(found.flatMap(({ pciAddress, numVfs = 0 }) => (numVfs > 0 ? [pciAddress] : [])));
  return (desired.interfaces ?? []).flatMap(({ pciAddress, numVfs = 0, externallyManaged }) =>
    numVfs > 0 && externallyManaged !== true && existing.has(pciAddress) ? [pciAddress] : [],
  );
}

/** Returns the steps of a PF without those of its bridge. */
function ownPlan(
  pf: InterfaceStatus,
  entry: { readonly spec: InterfaceSpec; readonly index: number } | undefined,
  toReset: OwnedPf | undefined,
): PfPlan & { readonly fieldOf: FieldOf } {
  if (entry !== undefined) {
    const field = `spec.interfaces[${entry.index}]`;
    const pfPlan = isVirtualNic(pf) ? planVirtualNic(entry.spec, pf, field) : planPf(entry.spec, pf, field);
    return { ...pfPlan, fieldOf: fieldsOfInterface(entry.index) };
  }
  if (toReset !== undefined) {
    const steps = isVirtualNic(pf) ? planVirtualReset(pf) : planReset(pf, toReset);
    return { steps, problems: [], fieldOf: fieldsOfUnselected };
  }
  return { steps: [], problems: [], fieldOf: fieldsOfBridge };
}

/** A virtual machine often has no IOMMU. */
function noIommuFor(found: readonly InterfaceStatus[], steps: readonly PfStep[]): readonly EnableNoIommu[] {
  const virtual = new Set(found.filter(isVirtualNic).map(({ pciAddress }) => pciAddress));
  const isNeeded = steps.some(
    (step) => step.kind === "bind-driver" && step.to === "vfio-pci" && virtual.has(step.pciAddress),
  );
  return isNeeded ? [{ kind: "enable-no-iommu" }] : [];
}

/** The kernel loads its own drivers, but nothing loads the modules of user-space drivers and of vDPA devices. */
function modulesFor(steps: readonly PfStep[]): readonly LoadModule[] {
  const modules = new Set<string>();
  for (const step of steps) {
    if (step.kind === "bind-driver" && step.to !== "default") modules.add(step.to);
    if (step.kind === "add-vdpa-device") modules.add(vdpaDriver(step.to));
  }
  return [...modules].sort().map((module) => ({ kind: "load-module", module }));
}

function unknownPfs(wanted: readonly InterfaceSpec[], found: readonly InterfaceStatus[]): readonly PlanProblem[] {
  const known = new Set(found.map((pf) => pf.pciAddress));
  return wanted.flatMap((spec, index): readonly PlanProblem[] =>
    known.has(spec.pciAddress)
      ? []
      : [
          {
            code: "unknown-pf",
            field: `spec.interfaces[${index}].pciAddress`,
            pciAddress: spec.pciAddress,
            message: `${spec.pciAddress}${spec.name ? ` (${spec.name})` : ""} is not a PF of this node`,
          },
        ],
  );
}
