// SPDX-License-Identifier: Apache-2.0
/**
 * The RDMA mode of the node (sriov-operator.md B.8). It is compared and reported; nothing changes it yet.
 * Usage: `const problem = rdmaModeProblem(desired, observed)`.
 */
import type { SriovNetworkNodeStateSpec, SriovNetworkNodeStateStatus } from "@switchyard/api";
import type { PlanProblem } from "./problem.ts";

/** Why the node does not have the mode; undefined where it has, or none is asked for. An unknown mode is not a wrong one. */
export function rdmaModeProblem(
  desired: SriovNetworkNodeStateSpec,
  observed: SriovNetworkNodeStateStatus,
): PlanProblem | undefined {
  const wanted = desired.system?.rdmaMode;
  const mode = observed.system?.rdmaMode;
  if (!wanted || wanted === mode) return undefined;
  const field = "spec.system.rdmaMode";
  if (!mode) {
    const message = `${wanted} asked for, the node's mode is unknown: it has one only while its RDMA subsystem (ib_core) is loaded`;
    return { code: "unknown-rdma-mode", field, message };
  }
  const message = `${wanted} asked for, the node is in ${mode} mode, and changing the mode is not supported yet`;
  return { code: "unsupported", field, message };
}
