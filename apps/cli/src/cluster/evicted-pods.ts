// SPDX-License-Identifier: Apache-2.0
/** withPods predicts which pods a plan evicts, by the selectPods() and selectHolderPods() of the operator. */
import { annotations, drainRequests, type DrainNeed } from "@switchyard/api";
import {
  createDeviceLookup,
  createRules,
  drainsByDevice,
  formatVfSet,
  hasOtherUsers,
  holdersOf,
  managedPfs,
  readAllocation,
  readSlice,
  selectHolderPods,
  selectPods,
  statusPfs,
  toDrainedPod,
  toPfAddresses,
  withClaimedVfs,
  type AllocatedDevice,
  type DrainedPod,
} from "@switchyard/policy";
import { at, textAt, type JsonObject } from "../json.ts";
import type { ClusterObjects } from "./cluster-objects.ts";
import type { PrintedNodePlan, PlannedNode, PodName } from "./plan-cluster.ts";

/** Pods by node, and what shows their devices. */
export interface PlacedPods {
  readonly byNode: ReadonlyMap<string, readonly DrainedPod[]>;
  readonly claims: readonly JsonObject[];
  readonly slices: readonly JsonObject[];
}

/** The pods of the input; undefined if it has none, which means that they are not known. */
export function podsIn(
  { pods, claims, slices }: Pick<ClusterObjects, "pods" | "claims" | "slices">,
  resourcePrefix: string,
): PlacedPods | undefined {
  if (pods.length === 0) return undefined;
  const placed = Map.groupBy(pods, (pod) => textAt(at(pod, "spec"), "nodeName") ?? "");
  const byNode = new Map([...placed].map(([node, on]) => [node, on.map((pod) => toDrainedPod(pod, resourcePrefix))]));
  return { byNode, claims, slices };
}

/** Adds the pods to the plans of nodes that disrupt pods. Without `placed`, and with external drainers, they are not known. */
export function withPods(
  planned: readonly PlannedNode[],
  cluster: Pick<ClusterObjects, "nodes" | "states" | "pools">,
  placed: PlacedPods | undefined,
): readonly PrintedNodePlan[] {
  if (placed === undefined) return planned.map(({ plan }) => plan);
  const { nodes, states } = cluster;
  const factsFor = deviceLookupOf({ ...placed, states });
  const deviceDrainOf = deviceDrains(cluster, placed);
  return planned.map((one) => {
    const { plan, spec, drain } = one;
    const state = states.get(plan.node);
    const isExternal = state?.metadata.annotations?.[annotations.useExternalDrainer] === "true";
    if (plan.impact === "none" || isExternal) return plan;
    const byDevice = deviceDrainOf(one);
    if (byDevice !== undefined) return { ...plan, ...byDevice };
    const isManaged = managedPfs(spec, toPfAddresses(statusPfs(state?.status)));
    const pods = withClaimedVfs(placed.byNode.get(plan.node) ?? [], { node: plan.node, factsFor, isManaged });
    return { ...plan, pods: podsOf(pods, plan, drain, nodes.length === 1) };
  });
}

/** Returns a function that returns the pods that leave if only VFs are drained; undefined if the node is. */
function deviceDrains(
  { nodes, states, pools }: Pick<ClusterObjects, "nodes" | "states" | "pools">,
  { byNode, slices }: PlacedPods,
): (planned: PlannedNode) => Pick<PrintedNodePlan, "pods" | "drainedVfs"> | undefined {
  const rules = createRules({ policies: [], pools });
  const published = slices.flatMap((slice) => readSlice(slice) ?? []);
  const objects = new Map(nodes.map((node) => [node.metadata.name, node]));
  return ({ plan: { node }, vfs }) => {
    const [object, status] = [objects.get(node), states.get(node)?.status];
    if (vfs === undefined || status === undefined) return undefined;
    if (object !== undefined && !drainsByDevice(object, rules)) return undefined;
    const { holders, unknown } = holdersOf(status, vfs);
    const pods = byNode.get(node) ?? [];
    const pfs = toPfAddresses(statusPfs(status)).filter(({ pf }) => vfs.has(pf));
    const hasOwnDriver = (status.publishedVfs ?? 0) > 0;
    const others = { node, pods, slices: published, pfs, hasOwnDriver };
    if (unknown !== undefined || hasOtherUsers(others)) return undefined;
    const { leaving, staying } = selectHolderPods(pods, holders);
    return {
      drainedVfs: formatVfSet(vfs),
      pods: { evicted: namesOf(leaving), disrupted: namesOf(staying) },
    };
  };
}

function podsOf(
  pods: readonly DrainedPod[],
  { impact }: PrintedNodePlan,
  drain: DrainNeed | undefined,
  isOnlyNode: boolean,
): NonNullable<PrintedNodePlan["pods"]> {
  if (drain === undefined && impact === "drain") {
    const { leaving, staying } = selectPods(pods, drainRequests.drain);
    return { evicted: [], disrupted: namesOf([...leaving, ...staying]) };
  }
  // The pods of the only node of a cluster could run nowhere else, so they restart with the node.
  if (drain === undefined || (drain === drainRequests.reboot && isOnlyNode)) return { evicted: [], disrupted: [] };
  const { leaving, staying } = selectPods(pods, drain);
  return { evicted: namesOf(leaving), disrupted: namesOf(staying) };
}

/** Sorted. */
function namesOf(pods: readonly DrainedPod[]): readonly PodName[] {
  const key = ({ namespace, name }: PodName): string => `${namespace}/${name}`;
  return pods
    .map(({ namespace, name }) => ({ namespace, name }))
    .sort((a, b) => (key(a) < key(b) ? -1 : Number(key(a) > key(b))));
}

/** The devices of ResourceClaims by "namespace/name". */
export function allocationsIn(claims: ClusterObjects["claims"]): ReadonlyMap<string, readonly AllocatedDevice[]> {
  return new Map(
    claims.map((claim) => {
      const { metadata } = claim;
      return [`${textAt(metadata, "namespace") ?? ""}/${textAt(metadata, "name") ?? ""}`, readAllocation(claim)];
    }),
  );
}

/**
 * deviceLookupOf collects what the claims and slices of a cluster say about the devices of its pods. Without claims in the input,
 * pods count as having no devices allocated by claims.
 */
export function deviceLookupOf({
  claims,
  slices,
  states,
}: Pick<ClusterObjects, "claims" | "slices" | "states">): ReturnType<typeof createDeviceLookup> {
  const allocations = allocationsIn(claims);
  return createDeviceLookup({
    slices: slices.flatMap((slice) => readSlice(slice) ?? []),
    devicesOf: (namespace, claim) => (claims.length === 0 ? [] : allocations.get(`${namespace}/${claim}`)),
    pfsOf: (node) => toPfAddresses(statusPfs(states.get(node)?.status)),
  });
}
