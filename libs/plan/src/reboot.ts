// SPDX-License-Identifier: Apache-2.0
/**
 * Decides whether the node reboots, at most once for each cause. A rule whose change needs a reboot returns a
 * RebootCause in every plan until the change is in effect. The daemon records the causes before it reboots
 * (status.system.reboot). A cause that exists after the reboot is a problem and never another reboot.
 * Usage: `const { reboot, forget, reasons, problems } = planReboot(needs, observed.system?.reboot)`.
 */
import type { RebootStatus } from "@switchyard/api";
import type { Reason } from "./impact.ts";
import type { PlanProblem } from "./problem.ts";
import type { NodeStep } from "./steps/step.ts";

/** Why the node must reboot. */
export interface RebootCause {
  /**
   * Identifies the change: "kernel argument intel_iommu=on". A cause with another id reboots the node again, so the id contains
   * the requested value and no value that can differ from pass to pass.
   */
  readonly id: string;
  /** Field of the NodeState that causes it, and the PF to which the field belongs. */
  readonly field: string;
  readonly pciAddress?: string;
  /** A sentence for a person: "vfio-pci needs the kernel argument intel_iommu=on". */
  readonly text: string;
  /** Whether the change is made and waits for the reboot. Otherwise a step of the same plan makes it. */
  readonly isPending: boolean;
}

/** What a planning rule knows about reboots. */
export interface RebootNeeds {
  readonly causes: readonly RebootCause[];
  /**
   * Ids of changes that are observed to be in effect. Only they are removed from the record of the last reboot. The
   * absence of a cause is no evidence: something that cannot be read now could appear again and reboot the node again.
   */
  readonly inEffect: readonly string[];
}

export function mergeRebootNeeds(all: readonly RebootNeeds[]): RebootNeeds {
  return { causes: all.flatMap(({ causes }) => causes), inEffect: all.flatMap(({ inEffect }) => inEffect) };
}

export const noRebootNeeds: RebootNeeds = { causes: [], inEffect: [] };

export interface RebootPlan {
  readonly forget: readonly NodeStep<"forget-reboots">[];
  /** Empty if the node does not reboot. It runs after all other steps. */
  readonly reboot: readonly NodeStep<"reboot">[];
  /** Why the node reboots; empty if it does not. */
  readonly reasons: readonly Reason[];
  readonly problems: readonly PlanProblem[];
}

/** File of the daemon's record, which an administrator removes to allow another reboot. */
export const rebootFile = "/etc/sriov-operator/reboot.json";

export function planReboot({ causes, inEffect }: RebootNeeds, last: RebootStatus | undefined): RebootPlan {
  const tried = new Set(last?.done === true ? last.causes : []);
  const needed = causes.filter(({ id }) => !tried.has(id));
  const gone = [...tried].filter((id) => inEffect.includes(id));
  const ids = [...new Set(needed.map(({ id }) => id))];
  const isPending = needed.some((cause) => cause.isPending);
  return {
    forget: gone.length === 0 ? [] : [{ kind: "forget-reboots", causes: gone }],
    reboot: ids.length === 0 ? [] : [{ kind: "reboot", causes: ids, isPending }],
    reasons: needed.map(({ id: _id, isPending: _isPending, ...reason }) => reason),
    problems: causes.filter(({ id }) => tried.has(id)).map(withoutEffect),
  };
}

function withoutEffect({ id, field, pciAddress, text }: RebootCause): PlanProblem {
  const message =
    `${text}, but ${id} is not in effect after a reboot; ` +
    `correct the configuration of the node, and remove ${rebootFile} to let the node reboot again`;
  return { code: "reboot-without-effect", field, ...(pciAddress !== undefined && { pciAddress }), message };
}
