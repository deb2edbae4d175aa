// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the settings of the whole node: everything in the spec that does not belong to one PF.
 * A setting that takes effect only at the next boot adds a RebootCause to `reboots` (reboot.ts).
 */
import type { SriovNetworkNodeStateSpec, SriovNetworkNodeStateStatus } from "@switchyard/api";
import { isSmartNicHost } from "./bridges/plan-ovs-bridges.ts";
import type { Reason } from "./impact.ts";
import { planKernelArguments } from "./kernel-arguments.ts";
import type { PlanProblem } from "./problem.ts";
import { planRdmaMode } from "./rdma-mode.ts";
import { mergeRebootNeeds, type RebootCause, type RebootNeeds } from "./reboot.ts";
import { hasSwitchdevVfs } from "./steps/host-ovs.ts";
import type { NodeStep } from "./steps/step.ts";

export interface NodePlan {
  /** In the order in which they must run, before the steps of PFs. */
  readonly steps: readonly NodeStep[];
  /** Why the steps disrupt pods. */
  readonly reasons: readonly Reason[];
  /** Why the node must reboot. */
  readonly reboots: RebootNeeds;
  readonly problems: readonly PlanProblem[];
}

interface OvsOffloadPlan {
  readonly steps: readonly NodeStep[];
  readonly reasons: readonly Reason[];
}

export function planNode(desired: SriovNetworkNodeStateSpec, observed: SriovNetworkNodeStateStatus): NodePlan {
  const rdma = planRdmaMode(desired, observed);
  const offload = planOvsOffload(desired, observed);
  const kernel = planKernelArguments(desired, observed);
  const hostOvs = planHostOvs(desired, observed);
  return {
    steps: [...rdma.steps, ...kernel.steps, ...hostOvs.steps, ...offload.steps],
    reasons: offload.reasons,
    reboots: mergeRebootNeeds([rdma.reboots, kernel.reboots, hostOvs.reboots]),
    problems: [...rdma.problems, ...kernel.problems, ...hostOvs.problems, ...missingVhostDevices(desired, observed)],
  };
}

/** Each PF that asks for the devices has the problem, and so has its policy. */
function missingVhostDevices(
  { interfaces = [] }: SriovNetworkNodeStateSpec,
  { system: { missingVhostDevices: missing = [] } = {} }: SriovNetworkNodeStateStatus,
): readonly PlanProblem[] {
  if (missing.length === 0) return [];
  return interfaces.flatMap(({ pciAddress, vfGroups = [] }, at): readonly PlanProblem[] => {
    const group = vfGroups.findIndex(({ needVhostNet }) => needVhostNet === true);
    const field = `spec.interfaces[${at}].vfGroups[${group}].needVhostNet`;
    return group < 0 ? [] : [{ code: "missing-module", field, pciAddress, message: missing.join("; ") }];
  });
}

/**
 * Plans hardware offload in Open vSwitch, which PFs in switchdev mode need. Upstream edits the unit of ovs-vswitchd instead
 * (sriov-operator.md F.7). Hardware offload is never switched off: other programs may use it, too.
 */
function planOvsOffload(desired: SriovNetworkNodeStateSpec, observed: SriovNetworkNodeStateStatus): OvsOffloadPlan {
  const { openVSwitch } = observed;
  const pfs = desired.interfaces ?? [];
  const first = pfs.findIndex(
    ({ eSwitchMode, externallyManaged }) => eSwitchMode === "switchdev" && !externallyManaged,
  );
  if (first === -1 || openVSwitch === undefined || openVSwitch.error || isSmartNicHost(desired))
    return { steps: [], reasons: [] };
  const steps: NodeStep[] = [];
  if (openVSwitch.hardwareOffload !== true) steps.push({ kind: "set-ovs-offload" });
  if (steps.length > 0 || openVSwitch.restartNeeded === true) steps.push({ kind: "restart-ovs" });
  const reason: Reason = {
    field: `spec.interfaces[${first}].eSwitchMode`,
    text: "restarting ovs-vswitchd for hardware offload interrupts its bridges",
  };
  return { steps, reasons: steps.length > 0 && hasSwitchdevVfs(observed) ? [reason] : [] };
}

interface HostOvsPlan {
  readonly steps: readonly NodeStep<"set-host-ovs">[];
  readonly reboots: RebootNeeds;
  readonly problems: readonly PlanProblem[];
}

const field = "spec.system.openVSwitchDisabled";

const disabledId = "Open vSwitch disabled";

const enabledId = "Open vSwitch enabled";

/**
 * Plans whether Open vSwitch is disabled on the host, because OVN runs on its SmartNIC. Files of the host decide it at each boot,
 * so a change writes or removes them and reboots the node once. On OpenShift, a MachineConfig has the files, and the daemon has
 * none.
 */
function planHostOvs(desired: SriovNetworkNodeStateSpec, { system }: SriovNetworkNodeStateStatus): HostOvsPlan {
  const isDisabled = system?.openVSwitchDisabled === true;
  const files = system?.openVSwitchFiles;
  const inEffect = system === undefined ? [] : [isDisabled ? disabledId : enabledId];
  const cause = (id: string, text: string, isPending: boolean): RebootCause => ({ id, field, text, isPending });

  if (desired.system?.openVSwitchDisabled !== true) {
    const isRemoved = files === undefined || files.own === 0;
    const text = "Open vSwitch is enabled again, which takes effect at the next boot";
    return {
      steps: isRemoved ? [] : [{ kind: "set-host-ovs", to: "enabled" }],
      reboots: { causes: isDisabled ? [cause(enabledId, text, isRemoved)] : [], inEffect },
      problems: [],
    };
  }
  const foreign = files?.foreign ?? [];
  if (foreign.length > 0) {
    const message =
      `true requested, but ${foreign.join(", ")} ${foreign.length === 1 ? "has" : "have"} content that Switchyard did not ` +
      "write; remove or rename it";
    return { steps: [], reboots: { causes: [], inEffect }, problems: [{ code: "foreign-file", field, message }] };
  }
  const isWritten = files?.complete === true;
  const text = "Open vSwitch is disabled because OVN runs on the SmartNIC, which takes effect at the next boot";
  return {
    steps: isWritten ? [] : [{ kind: "set-host-ovs", to: "disabled" }],
    reboots: { causes: isDisabled ? [] : [cause(disabledId, text, isWritten)], inEffect },
    problems: [],
  };
}
