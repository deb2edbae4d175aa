// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the RDMA mode of a node (sriov-operator.md B.8, F.5): the option of module ib_core, which applies when the module is
 * loaded, and the mode of the running kernel. Without a requested mode, the option is removed, and the node returns to the
 * mode that it had before (sriov-operator.md M-44, M-45).
 * Usage: `const { steps, reboots, problems } = planRdmaMode(desired, observed)`.
 */
import { defined, type SriovNetworkNodeStateSpec, type SriovNetworkNodeStateStatus } from "@switchyard/api";
import type { PlanProblem } from "./problem.ts";
import type { RebootNeeds } from "./reboot.ts";
import type { NodeStep } from "./steps/step.ts";

export interface RdmaModePlan {
  readonly steps: readonly NodeStep<"set-persistent-rdma-mode" | "set-rdma-mode">[];
  readonly reboots: RebootNeeds;
  readonly problems: readonly PlanProblem[];
}

const field = "spec.system.rdmaMode";
const modes: ReadonlySet<string> = new Set(["shared", "exclusive"]);

/**
 * No step needs a drain: the kernel changes the mode only while no other network namespace exists, so the change cannot
 * take an RDMA device from a running pod. If such namespaces exist, or if the kernel has refused the change in this boot, the
 * node reboots. A mode that is not reported is not a problem, because the kernel reads the option when it loads ib_core.
 */
export function planRdmaMode(desired: SriovNetworkNodeStateSpec, observed: SriovNetworkNodeStateStatus): RdmaModePlan {
  const wanted = desired.system?.rdmaMode;
  const { rdmaMode: mode, persistentRdmaMode: persistent, refusedRdmaMode: refused } = observed.system ?? {};
  const recorded = observed.system?.initialRdmaMode;
  const inEffect = mode ? [causeIdOf(mode)] : [];
  if (!wanted) {
    return { steps: stepsBack(observed.system), reboots: { causes: [], inEffect }, problems: [] };
  }
  if (!modes.has(wanted)) {
    const shown = JSON.stringify(wanted).slice(0, 64);
    const message = `${shown} is not supported; supported values are "shared" and "exclusive"`;
    return { steps: [], reboots: { causes: [], inEffect }, problems: [{ code: "unsupported", field, message }] };
  }
  const steps: RdmaModePlan["steps"][number][] = [];
  const differs = mode !== undefined && mode !== "" && mode !== wanted;
  const isWritten = persistent === wanted;
  // Without the option, a reboot does not change the mode.
  const isRefused = observed.system?.hasNetworkNamespaces === true || (refused === wanted && isWritten);
  const mustReboot = differs && isRefused && persistent !== "foreign";
  if (persistent !== wanted && persistent !== "foreign") {
    // The mode is the initial one only before the first change. An unknown mode is not recorded.
    const initial = persistent === undefined ? mode || undefined : recorded;
    steps.push({ kind: "set-persistent-rdma-mode", ...defined({ from: persistent, initial }), to: wanted });
  }
  if (differs && !mustReboot) steps.push({ kind: "set-rdma-mode", from: mode, to: wanted });
  const text = `RDMA mode ${wanted} takes effect at the next boot, because the kernel refuses it while pods run`;
  return {
    steps,
    reboots: { causes: mustReboot ? [{ id: causeIdOf(wanted), field, text, isPending: isWritten }] : [], inEffect },
    problems: persistent === "foreign" ? [foreignFile(wanted)] : [],
  };
}

/**
 * The mode is changed before the file is removed, because the file records the initial mode. If the kernel refuses, the file is
 * removed in the next pass, and the mode changes at the next boot. The node does not reboot for it.
 */
function stepsBack(system: SriovNetworkNodeStateStatus["system"] = {}): RdmaModePlan["steps"] {
  const { rdmaMode: mode, persistentRdmaMode: from, refusedRdmaMode: refused, initialRdmaMode: initial } = system;
  if (from === undefined || from === "foreign") return [];
  const mustReturn = initial !== undefined && mode && mode !== initial && refused !== initial;
  return [
    ...(mustReturn ? [{ kind: "set-rdma-mode", from: mode, to: initial, isReturn: true } as const] : []),
    { kind: "set-persistent-rdma-mode", from },
  ];
}

/** Returns how the mode of a node differs from the requested one, and what follows; undefined if it does not. */
export function rdmaModeDifference(
  desired: SriovNetworkNodeStateSpec,
  observed: SriovNetworkNodeStateStatus,
): string | undefined {
  const wanted = desired.system?.rdmaMode;
  const mode = observed.system?.rdmaMode;
  if (!wanted || !mode || mode === wanted) return undefined;
  if (observed.system.hasNetworkNamespaces === true) {
    return `"${wanted}" requested, but the node is in ${mode} mode, and reboots to change it, because it runs pods`;
  }
  return `"${wanted}" requested, but the node is in ${mode} mode, and reboots to change it unless it runs no pods`;
}

function causeIdOf(mode: string): string {
  return `RDMA mode ${mode}`;
}

function foreignFile(wanted: string): PlanProblem {
  const message =
    `"${wanted}" requested, but /etc/modprobe.d/sriov_network_operator_modules_config.conf has content that Switchyard ` +
    "did not write; remove the file, or the mode may be another one after a reboot";
  return { code: "foreign-file", field, message };
}
