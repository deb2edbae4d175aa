// SPDX-License-Identifier: Apache-2.0
/**
 * Plans whether Open vSwitch is disabled on the host, because OVN runs on its SmartNIC. Files of the host decide it at each
 * boot, so a change writes or removes them and reboots the node once. On OpenShift, a MachineConfig has the files, and the
 * daemon has none.
 * Usage: `const { steps, reboots, problems } = planHostOvs(desired, observed);`
 */
import type { SriovNetworkNodeStateSpec, SriovNetworkNodeStateStatus } from "@switchyard/api";
import type { PlanProblem } from "./problem.ts";
import type { RebootCause, RebootNeeds } from "./reboot.ts";
import type { NodeStep } from "./steps/step.ts";

export interface HostOvsPlan {
  readonly steps: readonly NodeStep<"set-host-ovs">[];
  readonly reboots: RebootNeeds;
  readonly problems: readonly PlanProblem[];
}

const field = "spec.system.openVSwitchDisabled";
const disabledId = "Open vSwitch disabled";
const enabledId = "Open vSwitch enabled";

export function planHostOvs(desired: SriovNetworkNodeStateSpec, { system }: SriovNetworkNodeStateStatus): HostOvsPlan {
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
