// SPDX-License-Identifier: Apache-2.0
/**
 * rolledBackProblem says why a PF stays as it is: the node has undone a change of it, because it lost its network by it. Any step could
 * cut the node off again, so none is planned until the spec of the PF is another one.
 */
import { createHash } from "node:crypto";
import type { InterfaceStatus, RolledBackChange, SriovNetworkNodeStateSpec } from "@switchyard/api";
import type { PlanProblem } from "./problem.ts";

/** Returns the problem of a PF, or undefined if nothing was undone for its present spec. */
export function rolledBackProblem(pf: InterfaceStatus, desired: SriovNetworkNodeStateSpec): PlanProblem | undefined {
  const { pciAddress, rolledBack } = pf;
  if (rolledBack === undefined || rolledBack.specDigest !== pfSpecDigest(desired, pciAddress)) return undefined;
  const index = (desired.interfaces ?? []).findIndex((each) => each.pciAddress === pciAddress);
  const otherField = desired.unselected?.includes(pciAddress) === true ? "spec.unselected" : "spec.bridges";
  const field = index >= 0 ? `spec.interfaces[${index}]` : otherField;
  return { code: "rolled-back", field, pciAddress, message: describeRollback(rolledBack) };
}

/** Identifies what the spec asks of one PF: its entry, its bridges, and whether it is to be reset. The order of keys does not count. */
export function pfSpecDigest(
  { interfaces, unselected, bridges }: SriovNetworkNodeStateSpec,
  pciAddress: string,
): string {
  const isUplink = ({ uplinks = [] }: { readonly uplinks?: readonly { readonly pciAddress: string }[] }) =>
    uplinks.some((uplink) => uplink.pciAddress === pciAddress);
  const asked = {
    spec: interfaces?.find((each) => each.pciAddress === pciAddress),
    isUnselected: unselected?.includes(pciAddress) === true,
    bridges: [...(bridges?.ovs ?? []).filter(isUplink), ...(bridges?.linux ?? []).filter(isUplink)],
  };
  return createHash("sha256")
    .update(JSON.stringify(sorted(asked)))
    .digest("hex")
    .slice(0, 16);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}

/** Steps that a message names, because a card can have a hundred VFs. */
const maxShown = 4;

/** Returns what failed, what was undone, and until when it is not tried again. */
export function describeRollback({ changes, probe, undone, reachable, error }: RolledBackChange): string {
  return [
    `the node lost its network by this change: ${shown(changes)}`,
    `${probe} worked before it and failed after it`,
    undone.length === 0 ? "nothing had to be undone" : `undone: ${shown(undone)}`,
    ...(error === undefined ? [] : [`not undone: ${error}`]),
    reachable ? "it works again" : "it still fails, so the change may not be the cause",
    "the PF stays as it is until its spec changes, or until connectivity-guard.json is removed from the state directory of the node",
  ].join("; ");
}

function shown(texts: readonly string[]): string {
  const others = texts.length - maxShown;
  if (others <= 0) return texts.join(", ");
  return `${texts.slice(0, maxShown).join(", ")} and ${others === 1 ? "1 other step" : `${others} other steps`}`;
}
