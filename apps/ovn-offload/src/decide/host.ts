// SPDX-License-Identifier: Apache-2.0
/**
 * AssignedHost is a node that is, becomes or was the host of a SmartNIC, and where it is going. The state machine of a host is in
 * host-labels.ts: each label is a step, and docs/guide/ovn-offload.md has the picture.
 */
import type { OvnHardwareOffload } from "@switchyard/api";
import { hasLabels, labelsOf, type OffloadPool, type OffloadSelection } from "@switchyard/policy";
import type { HostState } from "./host-state.ts";
import type { UnknownEntries } from "./observed.ts";

/**
 * enter: an entry selects the node. leave: no entry selects it any more. stay: something is wrong or unknown about it, so
 * it keeps what it has.
 */
export type Direction = "enter" | "leave" | "stay";

export interface AssignedHost extends HostState {
  readonly direction: Direction;
  /** The pool that it enters, else the pool in its label. */
  readonly pool: string;
  /** Why it cannot become a host, or stays as it is. */
  readonly problem?: string;
}

/** What is known of the MachineConfigPools, besides those that are selected. */
export interface KnownPools {
  /** Hosts were configured by a kind that is not served now. */
  readonly isKindMissing: boolean;
  /** Names of all pools; undefined in a cluster without MachineConfigPools. */
  readonly names: ReadonlySet<string> | undefined;
  /** Labels that entries select. */
  readonly entries: readonly Pick<OvnHardwareOffload, "nodeSelector">[];
}

/** Returns the nodes that are selected or marked. */
export function assignHosts(
  facts: readonly HostState[],
  { pools, problems }: OffloadSelection,
  known: KnownPools,
): readonly AssignedHost[] {
  const poolOf = new Map(pools.flatMap((pool) => pool.nodes.map((node): [string, OffloadPool] => [node, pool])));
  const ofNode = new Map(
    problems.flatMap(({ node, message }) => (node === undefined ? [] : [[node, message] as const])),
  );
  const ofPool = new Map(
    problems.flatMap(({ code, pool, node, severity, message }) => {
      const concernsHosts = severity === "error" || code === "unreadable-pool";
      return pool === undefined || node !== undefined || !concernsHosts ? [] : [[pool, message] as const];
    }),
  );
  return facts.flatMap((one): readonly AssignedHost[] => {
    const { name, marker } = one;
    const selected = poolOf.get(name);
    const pool = selected?.name ?? marker;
    if (pool === undefined) return [];
    const problem =
      ofNode.get(name) ?? (selected === undefined ? (ofPool.get(pool) ?? lostPool(one, known)) : undefined);
    if (known.isKindMissing)
      return marker === undefined ? [] : [{ ...one, direction: "stay", pool: marker, problem: kindMissing }];
    // A card that is not reported at the moment is no reason to leave.
    if (problem !== undefined) {
      const isStranded = marker === undefined && one.isApplied === true;
      const text = isStranded ? `${problem}; it has no Open vSwitch any more: move it out of the pool` : problem;
      return [{ ...one, direction: "stay", pool: marker ?? pool, problem: text }];
    }
    return [{ ...one, direction: selected === undefined ? "leave" : "enter", pool }];
  });
}

/** Says that the pool of a marked host is gone. Its absence is no wish while the node has the labels that an entry selects. */
function lostPool({ marker, node }: HostState, { names, entries }: KnownPools): string | undefined {
  if (marker === undefined || names?.has(marker) !== false) return undefined;
  const isWanted = entries.some(({ nodeSelector }) => {
    return Object.keys(nodeSelector).length > 0 && hasLabels(labelsOf(node), nodeSelector);
  });
  if (!isWanted) return undefined;
  return (
    `MachineConfigPool ${marker} does not exist, so the host stays as it is: create the pool again to keep the host, or remove ` +
    "the entry from spec.ovnHardwareOffload to return Open vSwitch to the host"
  );
}

/** Returns the marked nodes, which stay as they are while it is not known what is selected. */
export function keptHosts(facts: readonly HostState[], entries: UnknownEntries): readonly AssignedHost[] {
  const problem = unknownEntries[entries];
  return facts.flatMap((one): readonly AssignedHost[] => {
    return one.marker === undefined ? [] : [{ ...one, direction: "stay", pool: one.marker, problem }];
  });
}

/** Reports whether nothing of ovn-offload is left on the node, except its first label and its VFs. */
export function isClean({ isApplied, isLabelled, isPublished, isTainted }: HostState): boolean {
  return isApplied === false && !isLabelled && !isPublished && !isTainted;
}

/** Reports whether the host still needs what is shared by all hosts. */
export function needsShared(host: AssignedHost): boolean {
  if (host.direction === "leave") return !isClean(host);
  return host.marker !== undefined || canBeMarked(host);
}

/** Reports whether the node can get the first label: exactly one SmartNIC is known. */
export function canBeMarked({ direction, cards }: AssignedHost): boolean {
  return direction === "enter" && cards?.length === 1;
}

/** Reports whether Open vSwitch can be disabled on the host. */
export function isPrepared(host: AssignedHost): boolean {
  const { marker, pool, vfsExist, vfProblem, modeProblem, isNetworkKnown, isApplied } = host;
  const isCardReady = vfsExist && vfProblem === undefined && modeProblem === undefined;
  return marker === pool && isCardReady && (isNetworkKnown || isApplied === true);
}

const unknownEntries: Readonly<Record<UnknownEntries, string>> = {
  missing:
    "SriovOperatorConfig default does not exist, so the host stays as it is: create it with spec.ovnHardwareOffload " +
    "to keep the host, or without it to return Open vSwitch to the host",
  deleting:
    "SriovOperatorConfig default is being deleted, so the host stays as it is: create it again with " +
    "spec.ovnHardwareOffload to keep the host, or without it to return Open vSwitch to the host",
};

const kindMissing =
  "the kind MachineConfigPool is not served by the API server, but this cluster has machine configs; nothing is changed";
