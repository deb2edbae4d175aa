// SPDX-License-Identifier: Apache-2.0
/**
 * Refuses PFs that carry the default route or the route to the API server as uplinks of software bridges.
 * Usage: `if (isUsed(pf)) problems.push(usedProblem(pf, "br-0000_3b_00.0", "spec.bridges.ovs[0]"));`
 */
import type { InterfaceStatus } from "@switchyard/api";
import type { PlanProblem } from "./problem.ts";

/** Reports whether the host needs the network interface of the PF for itself. */
export function isUsed({ hostUse = [] }: InterfaceStatus): boolean {
  return hostUse.length > 0;
}

/** A port of a bridge has no IP connectivity of its own: the host would lose its network. */
export function usedProblem({ pciAddress, hostUse = [] }: InterfaceStatus, bridge: string, field: string): PlanProblem {
  const message = `${pciAddress} cannot become a port of bridge ${bridge}, because the host uses it: ${hostUse.join(", ")}`;
  return { code: "used-by-host", field, pciAddress, message };
}
