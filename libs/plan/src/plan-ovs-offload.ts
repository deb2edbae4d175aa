// SPDX-License-Identifier: Apache-2.0
/**
 * Plans hardware offload in Open vSwitch, which PFs in switchdev mode need. Upstream edits the unit of ovs-vswitchd instead
 * (sriov-operator.md F.7).
 * Usage: `const { steps, reasons } = planOvsOffload(desired, observed)`.
 */
import type { SriovNetworkNodeStateSpec, SriovNetworkNodeStateStatus } from "@switchyard/api";
import type { Reason } from "./impact.ts";
import type { NodeStep } from "./steps/step.ts";

export interface OvsOffloadPlan {
  readonly steps: readonly NodeStep[];
  readonly reasons: readonly Reason[];
}

/** Hardware offload is never switched off: other programs may use it, too. */
export function planOvsOffload(
  desired: SriovNetworkNodeStateSpec,
  { openVSwitch, interfaces = [] }: SriovNetworkNodeStateStatus,
): OvsOffloadPlan {
  const pfs = desired.interfaces ?? [];
  const first = pfs.findIndex(
    ({ eSwitchMode, externallyManaged }) => eSwitchMode === "switchdev" && !externallyManaged,
  );
  if (first === -1 || openVSwitch === undefined || openVSwitch.error) return { steps: [], reasons: [] };
  const steps: NodeStep[] = [];
  if (openVSwitch.hardwareOffload !== true) steps.push({ kind: "set-ovs-offload" });
  if (steps.length > 0 || openVSwitch.restartNeeded === true) steps.push({ kind: "restart-ovs" });
  // Only pods with VFs can be attached to a bridge that Switchyard manages.
  const isInUse = interfaces.some(({ numVfs = 0, eSwitchMode }) => numVfs > 0 && eSwitchMode === "switchdev");
  const reason: Reason = {
    field: `spec.interfaces[${first}].eSwitchMode`,
    text: "restarting ovs-vswitchd for hardware offload interrupts its bridges",
  };
  return { steps, reasons: steps.length > 0 && isInUse ? [reason] : [] };
}
