// SPDX-License-Identifier: Apache-2.0
/**
 * One checker for all accidents. Afterwards the cluster is as the users want it, and what objects say is true of the kernels. Meanwhile
 * no pod has lost its VF without a drain of its node, and the operator has neither written nor logged without end.
 */
import { annotations, eventReasons, operatorConfigName } from "@switchyard/api";
import { collectionPath, isRecord, type KubeObject, type ResourceType } from "@switchyard/kube";
import type { ClusterUsage, FaultCluster } from "../faults/fault-cluster.ts";
import { has, ofKind, statusOf } from "../faults/scenarios/scenario.ts";

export const events: ResourceType = {
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
};

export const workers = ["worker-1", "worker-2", "worker-3"];

/** The worker whose daemon is a process of its own, which can be stopped by a signal. */
export const ownProcess = "worker-2";

/** What the users want of each node now. */
export interface Wish {
  numVfs: number;
}

export interface World {
  readonly cluster: FaultCluster;
  readonly wish: Wish;
}

export interface Accident {
  readonly name: string;
  readonly act: (world: World) => Promise<void>;
  /** VFs change, because the users change the policy: then the node was drained before. */
  readonly mayChangeVfs?: true;
  /** The operator lacks rights at some time, which it logs. */
  readonly mayBeRefused?: true;
  /** The operator has more to write than for three nodes: so many writes per minute. */
  readonly mostWrites?: number;
  /** Operator and daemons have more to log than for three nodes with few VFs: so many lines per minute. */
  readonly mostLogLines?: number;
  /** Time until the cluster must be as wanted; two minutes by default. */
  readonly withinMs?: number;
}

/** Most writes and log lines per minute, for three nodes. A healthy change takes about 40 writes. */
const mostPerMinute = { writes: 300, logLines: 300 };

/** What the operator may use more after all accidents than before the first. */
const mostGrowth = { rssMiB: 60, descriptors: 20 };

const defaultWithinMs = 120_000;

/** The longest time for which operator and daemons delay work. */
const restMs = 2_000;

/** Returns what is wrong, one sentence each. Rejects if the cluster does not become as wanted. */
export async function checkAccident({ cluster, wish }: World, accident: Accident): Promise<readonly string[]> {
  const { injector, observer, users } = cluster;
  injector.begin([]);
  observer.takeHistory();
  users.nodes.takeVfChanges();
  const before = await cluster.measure();
  const knownErrors = (await cluster.readErrors()).length;
  const [startMs, startedAt] = [performance.now(), Date.now()];
  await accident.act({ cluster, wish });
  await untilAsWanted({ cluster, wish }, accident.withinMs ?? defaultWithinMs);
  const minutes = Math.max(1, (performance.now() - startMs) / 60_000);
  const after = await cluster.measure();
  const perMinute = {
    writes: Math.round(injector.writes.length / minutes),
    logLines: Math.round((after.logLines - before.logLines) / minutes),
  };
  const most = {
    writes: accident.mostWrites ?? mostPerMinute.writes,
    logLines: accident.mostLogLines ?? mostPerMinute.logLines,
  };
  const changes = users.nodes.takeVfChanges();
  const history = observer.takeHistory();
  const drained = await drainedNodes(cluster, startedAt);
  const undrained = changes.filter((change) => {
    const node = change.slice(0, change.indexOf(":"));
    const facts = [...history].find(
      ([label]) => label.startsWith("SriovNetworkNodeState ") && label.endsWith(`/${node}`),
    );
    return facts?.[1].includes("drain: DrainComplete") !== true && !drained.has(node);
  });
  return [
    ...(accident.mayChangeVfs === true ? undrained : changes).map((change) => `a pod lost its VF: ${change}`),
    ...(Object.keys(mostPerMinute) as (keyof typeof mostPerMinute)[])
      .filter((what) => perMinute[what] > most[what])
      .map((what) => `${perMinute[what]} ${what} per minute`),
    ...(await falseReports({ cluster, wish })),
    ...(accident.mayBeRefused === true ? [] : await cluster.readErrors())
      .slice(knownErrors)
      .map((line) => `the operator logged an error: ${line}`),
  ];
}

/** Nodes whose drain has an event since then: the observer misses a short drain while the API server starts again. */
async function drainedNodes({ transport }: FaultCluster, since: number): Promise<ReadonlySet<string>> {
  const list = await transport.request({ method: "GET", path: collectionPath(events) });
  const items = isRecord(list) && Array.isArray(list["items"]) ? (list["items"] as readonly DrainEvent[]) : [];
  const recent = items.filter(({ reason, eventTime, series }) => {
    const lastTime = series?.lastObservedTime ?? eventTime ?? "";
    return reason === eventReasons.drainCompleted && Date.parse(lastTime) >= since;
  });
  return new Set(recent.map(({ regarding }) => regarding.name));
}

interface DrainEvent {
  readonly reason: string;
  readonly eventTime?: string;
  readonly series?: { readonly lastObservedTime: string };
  readonly regarding: { readonly name: string };
}

/** Waits until the cluster is as wanted and at rest. The error says what is missing. */
export async function untilAsWanted({ cluster, wish }: World, withinMs: number): Promise<void> {
  const { injector, observer } = cluster;
  const isAtRest = () => performance.now() - Math.max(injector.lastRequestAtMs, observer.changedAtMs) > restMs;
  try {
    await cluster.until("as wanted", () => missing(observer.objects(), wish).length === 0 && isAtRest(), withinMs);
  } catch (error) {
    const texts = missing(observer.objects(), wish);
    throw new Error([...texts, await cluster.readLog()].join("\n"), { cause: error });
  }
}

/** Returns what differs from a healthy cluster, by the objects. */
export function missing(objects: readonly KubeObject[], { numVfs }: Wish): readonly string[] {
  const states = ofKind(objects, "SriovNetworkNodeState");
  const texts: string[] = [];
  for (const name of workers) {
    const state = states.find(({ metadata }) => metadata.name === name);
    const node = ofKind(objects, "Node").find(({ metadata }) => metadata.name === name);
    const { observedGeneration, syncStatus } = statusOf(state);
    if (state === undefined) texts.push(`${name} has no node state`);
    else if (observedGeneration !== state.metadata.generation) texts.push(`${name} has not observed its spec`);
    else if (syncStatus !== "Succeeded") texts.push(`${name} is ${String(syncStatus)}`);
    if (vfsIn(specOf(state)) !== numVfs) texts.push(`the spec of ${name} has ${vfsIn(specOf(state))} VFs`);
    if (vfsIn(statusOf(state)) !== numVfs) texts.push(`the status of ${name} has ${vfsIn(statusOf(state))} VFs`);
    for (const key of [annotations.desiredState, annotations.currentState]) {
      const value = state?.metadata.annotations?.[key] ?? "Idle";
      if (value !== "Idle") texts.push(`${key} of ${name} is ${value}`);
    }
    const request = node?.metadata.annotations?.[annotations.nodeState] ?? "Idle";
    if (request !== "Idle") texts.push(`Node ${name} requests ${request}`);
    if (node === undefined) texts.push(`Node ${name} does not exist`);
    else if (specOf(node)["unschedulable"] === true) texts.push(`Node ${name} is cordoned`);
  }
  if (!has(objects, "SriovNetworkNodePolicy fast", "Ready")) texts.push("policy fast is not Ready");
  for (const { kind, metadata } of objects) {
    const isNetwork = kind.endsWith("Network");
    if (isNetwork && !has(objects, `${kind} ${metadata.name}`, "Ready"))
      texts.push(`${kind} ${metadata.name} is not Ready`);
  }
  for (const state of ofKind(objects, "AfxdpNetworkNodeState")) {
    const { observedGeneration, syncStatus } = statusOf(state);
    if (observedGeneration !== state.metadata.generation || syncStatus !== "Succeeded")
      texts.push(`AF_XDP of ${state.metadata.name} is ${String(syncStatus)}`);
  }
  const config = `SriovOperatorConfig ${operatorConfigName}`;
  for (const type of ["ResetHeld", "Degraded", "ReconcileFailed"]) {
    const found = has(objects, config, type);
    if (found) texts.push(`${type} of ${config} is True`);
  }
  return texts;
}

/** Returns what the objects say and the kernels do not. */
async function falseReports({ cluster, wish }: World): Promise<readonly string[]> {
  const counts = await cluster.users.nodes.countVfs();
  return workers.flatMap((name) => {
    const count = counts.get(name);
    return count === wish.numVfs ? [] : [`${name} is reported with ${wish.numVfs} VFs and has ${count ?? "none"}`];
  });
}

/** Returns what the operator uses more than before all accidents. */
export function growth(before: ClusterUsage, after: ClusterUsage): readonly string[] {
  return (Object.keys(mostGrowth) as (keyof typeof mostGrowth)[])
    .filter((what) => after[what] - before[what] > mostGrowth[what])
    .map((what) => `${what}: ${before[what]} before, ${after[what]} after`);
}

function specOf(object: KubeObject | undefined): Readonly<Record<string, unknown>> {
  return object !== undefined && "spec" in object && isRecord(object.spec) ? object.spec : {};
}

/** The number of VFs of all PFs in a spec or status. */
function vfsIn(part: Readonly<Record<string, unknown>>): number {
  const pfs = Array.isArray(part["interfaces"]) ? part["interfaces"].filter(isRecord) : [];
  return pfs.reduce((sum, pf) => sum + (typeof pf["numVfs"] === "number" ? pf["numVfs"] : 0), 0);
}
