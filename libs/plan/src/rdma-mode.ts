// SPDX-License-Identifier: Apache-2.0
/**
 * Compares the RDMA mode of a node with the requested one (sriov-operator.md B.8). No step changes the mode yet.
 * Usage: `const problem = rdmaModeProblem(desired, observed)`.
 */
import type { SriovNetworkNodeStateSpec, SriovNetworkNodeStateStatus } from "@switchyard/api";
import type { PlanProblem } from "./problem.ts";

/**
 * Returns why the node does not have the requested mode, or undefined if it has it or none is requested. A mode that is
 * not reported has a code of its own, because it may be the requested one.
 */
export function rdmaModeProblem(
  desired: SriovNetworkNodeStateSpec,
  observed: SriovNetworkNodeStateStatus,
): PlanProblem | undefined {
  const wanted = desired.system?.rdmaMode;
  const mode = observed.system?.rdmaMode;
  if (!wanted || wanted === mode) return undefined;
  const field = "spec.system.rdmaMode";
  if (!mode) {
    const message =
      `"${wanted}" requested, but the RDMA mode of the node is unknown: ` +
      "the kernel reports it only while module ib_core is loaded";
    return { code: "unknown-rdma-mode", field, message };
  }
  const message = `"${wanted}" requested, but the node is in ${mode} mode, and changing the mode is not supported yet`;
  return { code: "unsupported", field, message };
}
