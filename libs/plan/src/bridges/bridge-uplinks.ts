// SPDX-License-Identifier: Apache-2.0
/**
 * The rules that software bridges of all kinds have in common: each has exactly one PF as its uplink, and a PF is the uplink
 * of one bridge.
 */
import {
  defined,
  type InterfaceSpec,
  type InterfaceStatus,
  type SriovNetworkNodeStateSpec,
  type SriovNetworkNodeStateStatus,
} from "@switchyard/api";
import type { PlanProblem } from "../problem.ts";
import type { PfStep } from "../steps/step.ts";

/** What the bridge of a PF depends on. */
export interface BridgeContext {
  readonly desired: SriovNetworkNodeStateSpec;
  readonly observed: SriovNetworkNodeStateStatus;
  /** The other steps of the PF. */
  readonly pfSteps: readonly PfStep[];
}

/** The plan for the bridge of one PF. */
export interface BridgePlan {
  /** Steps before all others of the PF, in their order. */
  readonly before: readonly PfStep[];
  /** Steps after all others of the PF. */
  readonly after: readonly PfStep[];
  readonly problems: readonly PlanProblem[];
}

interface AnyBridge<Uplink> {
  readonly uplinks?: readonly Uplink[];
}

/** Returns the only uplink; undefined for a bridge that has none or several. */
export function onlyUplinkOf<Uplink>({ uplinks = [] }: AnyBridge<Uplink>): Uplink | undefined {
  return uplinks.length === 1 ? uplinks[0] : undefined;
}

export function changesEswitchMode(steps: readonly PfStep[]): boolean {
  return steps.some(({ kind }) => kind === "set-eswitch-mode");
}

/** Reports whether the PF stays in legacy mode although its spec requests switchdev. The reason is a problem of its own. */
export function isHeldInLegacy(
  entry: InterfaceSpec | undefined,
  { eSwitchMode }: InterfaceStatus,
  steps: readonly PfStep[],
): boolean {
  return entry?.eSwitchMode === "switchdev" && eSwitchMode !== "switchdev" && !changesEswitchMode(steps);
}

/** The bridges of one kind in a spec. */
export interface BridgeKind {
  readonly kind: "ovs" | "linux";
  /** Code of the problem if the daemon manages no bridges. */
  readonly code: PlanProblem["code"];
  /** PFs that are uplinks of bridges of another kind, which take precedence. */
  readonly taken: readonly string[];
}

/** Returns the problems of bridges that belong to no PF of the node, or to a PF that another bridge has. */
export function uplinkProblems(
  { kind, code, taken: takenBefore }: BridgeKind,
  { bridges }: SriovNetworkNodeStateSpec,
  { openVSwitch, observedGeneration, interfaces = [] }: SriovNetworkNodeStateStatus,
): readonly PlanProblem[] {
  // Upstream's daemon reports neither of both, so nothing is known about the bridges of its node.
  if (openVSwitch === undefined && observedGeneration === undefined) return [];
  const wanted: readonly AnyBridge<{ readonly pciAddress: string }>[] = bridges?.[kind] ?? [];
  if (openVSwitch === undefined) {
    const message = "the config daemon does not manage software bridges: it runs without --manage-software-bridges";
    // Each of them counts for the policy that asks for it.
    return wanted.map((bridge, index) => {
      const pciAddress = onlyUplinkOf(bridge)?.pciAddress;
      return { code, field: `spec.bridges.${kind}[${index}]`, ...defined({ pciAddress }), message };
    });
  }
  const pfs = new Set(interfaces.map(({ pciAddress }) => pciAddress));
  const taken = new Set(takenBefore);
  return wanted.flatMap((bridge, index): readonly PlanProblem[] => {
    const field = `spec.bridges.${kind}[${index}].uplinks`;
    const uplink = onlyUplinkOf(bridge);
    if (uplink === undefined) {
      return [{ code: "malformed-bridge", field, message: "a bridge must have exactly one uplink" }];
    }
    const { pciAddress } = uplink;
    if (!pfs.has(pciAddress)) {
      return [{ code: "unknown-pf", field, pciAddress, message: `${pciAddress} is not a PF of this node` }];
    }
    const isTaken = taken.has(pciAddress);
    taken.add(pciAddress);
    if (!isTaken) return [];
    return [{ code: "malformed-bridge", field, pciAddress, message: `${pciAddress} is the uplink of another bridge` }];
  });
}

/**
 * Refuses PFs that carry the default route or the route to the API server as uplinks of software bridges.
 * Reports whether the host needs the network interface of the PF for itself.
 */
export function isUsed(pf: InterfaceStatus, wanted: Allowed = {}): boolean {
  return usesOf(pf, wanted).length > 0;
}

/** A bridge for which the host may lose networks. */
interface Allowed {
  readonly disconnectedNetworks?: readonly string[];
}

/** The use of a PF on which the host has an address of this network. */
export function networkText(network: string): string {
  return `network ${network}`;
}

function usesOf({ hostUse = [] }: InterfaceStatus, { disconnectedNetworks = [] }: Allowed): readonly string[] {
  const allowed = new Set(disconnectedNetworks.map(networkText));
  return hostUse.filter((use) => !allowed.has(use));
}

/** A port of a bridge has no IP connectivity of its own: the host would lose its network. */
export function usedProblem(
  pf: InterfaceStatus,
  wanted: Allowed & { readonly name: string },
  field: string,
): PlanProblem {
  const { pciAddress } = pf;
  const uses = usesOf(pf, wanted);
  const advice = uses.every((use) => use.startsWith(networkText("")))
    ? "; if the host can do without, name the networks in spec.bridge.disconnectedNetworks of the policy"
    : "";
  const message = `${pciAddress} cannot become a port of bridge ${wanted.name}, because the host uses it: ${uses.join(", ")}${advice}`;
  return { code: "used-by-host", field, pciAddress, message };
}
