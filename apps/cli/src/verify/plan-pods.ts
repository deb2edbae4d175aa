// SPDX-License-Identifier: Apache-2.0
/**
 * planPods decides which pods verify a network: on each node one that answers and one that sends, as far as VFs are free. Each sender
 * sends to the pod of its own node and to that of the next node, so that every node sends and receives over the switch. A third pod,
 * of a network in another VLAN, shows whether the VLANs are separate.
 */

/** A node that offers the resource, or should. */
export interface CandidateNode {
  readonly name: string;
  /** Devices of the resource that no pod has requested. */
  readonly free: number;
  /** All devices of the resource that the kubelet offers. */
  readonly allocatable: number;
}

export type PodRole = "answers" | "sends" | "other-network";

export interface PlannedPod {
  readonly node: string;
  readonly role: PodRole;
  /** Nodes whose answering pods the pod sends to. */
  readonly targets: readonly string[];
}

export interface PodPlan {
  readonly pods: readonly PlannedPod[];
  /** Nodes without a pod, with the reason. */
  readonly leftOut: readonly LeftOutNode[];
}

export interface LeftOutNode {
  readonly node: string;
  /** Whether the node should have VFs and has none; otherwise all of its VFs are in use. */
  readonly isProblem: boolean;
  readonly text: string;
}

/** `resource` is for the texts. Nodes are in the order in which they send to each other. */
export function planPods(
  nodes: readonly CandidateNode[],
  { resource, hasOtherNetwork }: { readonly resource: string; readonly hasOtherNetwork: boolean },
): PodPlan {
  const usable = nodes.filter(({ free }) => free > 0);
  const roles = rolesOf(usable);
  const answering = usable.filter(({ name }) => roles.get(name)?.has("answers")).map(({ name }) => name);
  const pods = usable.flatMap(({ name, free }): readonly PlannedPod[] => {
    const own = roles.get(name) ?? new Set();
    return [
      ...(own.has("answers") ? [{ node: name, role: "answers", targets: [] } as const] : []),
      ...(own.has("sends") ? [{ node: name, role: "sends", targets: targetsOf(name, answering) } as const] : []),
      ...(hasOtherNetwork && free > 2 ? [{ node: name, role: "other-network", targets: [] } as const] : []),
    ];
  });
  const leftOut = nodes
    .filter(({ free }) => free <= 0)
    .map(({ name, allocatable }): LeftOutNode => {
      if (allocatable === 0) {
        const text = `the kubelet of node ${name} offers no device of the resource ${resource}`;
        return { node: name, isProblem: true, text };
      }
      const text = `pods have requested all ${allocatable} devices of the resource ${resource} on node ${name}`;
      return { node: name, isProblem: false, text };
    });
  return { pods, leftOut };
}

/** A node with one free VF has one pod; such nodes send and answer in turns. */
function rolesOf(nodes: readonly CandidateNode[]): ReadonlyMap<string, ReadonlySet<PodRole>> {
  let singles = 0;
  const isOnlyOne = nodes.length === 1;
  return new Map(
    nodes.map(({ name, free }): readonly [string, ReadonlySet<PodRole>] => {
      if (free > 1) return [name, new Set(["answers", "sends"])];
      return [name, new Set([isOnlyOne || singles++ % 2 === 0 ? "answers" : "sends"])];
    }),
  );
}

/** The node itself, and the next answering node in a ring. */
function targetsOf(node: string, answering: readonly string[]): readonly string[] {
  const own = answering.filter((name) => name === node);
  const after = answering.filter((name) => name > node);
  const next = [...after, ...answering].find((name) => name !== node);
  return [...own, ...(next === undefined ? [] : [next])];
}

/**
 * Splits the nodes into groups that are verified one after the other, so that a large cluster does not get thousands of pods at once.
 * Each group begins with the last node of the one before, so that all nodes stay connected.
 */
export function groupsOf<Item>(nodes: readonly Item[], size: number): readonly (readonly Item[])[] {
  if (nodes.length <= size) return nodes.length === 0 ? [] : [nodes];
  return [nodes.slice(0, size), ...groupsOf(nodes.slice(size - 1), size)];
}
