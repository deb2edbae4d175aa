// SPDX-License-Identifier: Apache-2.0
/**
 * clusterStatus sums up a cluster: what runs, which nodes are not as they should be and why, what has become of policies and
 * networks, and how many VFs are in use. It repeats what the cluster says; `switchyard doctor` looks for causes.
 */
import { annotations, defined, drainAnswers, drainRequests, type ObjectStatus } from "@switchyard/api";
import type { Diagnosis } from "../diagnosis/diagnose.ts";
import { countChains } from "../diagnosis/finding-chains.ts";
import { listVfs, type VfRow } from "../diagnosis/list-vfs.ts";
import type { ClusterName, Snapshot } from "../diagnosis/snapshot.ts";
import { at, labelOf, listAt, textAt } from "../json.ts";

export interface ClusterStatus {
  /** The cluster that was read; absent for files. */
  readonly cluster?: ClusterName;
  /** Namespace of the operator. */
  readonly namespace: string;
  /** Deployments and DaemonSets in the operator's namespace, by name. */
  readonly components: readonly ComponentStatus[];
  /** Number of nodes by state; nodes without one have not reported. */
  readonly nodes: {
    readonly configured: number;
    readonly changing: number;
    readonly failed: number;
    readonly silent: number;
  };
  /** Nodes that are not configured, by name. */
  readonly unfinishedNodes: readonly UnfinishedNode[];
  readonly policies: readonly PolicySummary[];
  readonly networks: { readonly ready: number; readonly notReady: readonly NotReady[] };
  /** VFs by resource, by name. */
  readonly resources: readonly ResourceUse[];
  /** Number of causes that a diagnosis found, as `switchyard doctor` counts them. */
  readonly findings: { readonly errors: number; readonly warnings: number };
}

interface ComponentStatus {
  readonly kind: "Deployment" | "DaemonSet";
  readonly name: string;
  readonly ready: number;
  readonly wanted: number;
}

interface UnfinishedNode {
  readonly name: string;
  readonly state: "changing" | "failed" | "silent";
  /** What the node or its drain says; empty if nothing is known. */
  readonly reason: string;
}

interface PolicySummary {
  /** "SriovNetworkNodePolicy/ns/name". */
  readonly policy: string;
  /** Name of the resource, or of the pool for AF_XDP. */
  readonly resource: string;
  readonly matchedNodes: number;
  readonly readyNodes: number;
  /** Status of the condition Ready. */
  readonly ready: "True" | "False" | "Unknown";
  /** Message of the condition Ready unless it is True. */
  readonly message: string;
}

/** An object whose condition Ready is not True. */
interface NotReady {
  /** "SriovNetwork/ns/name". */
  readonly object: string;
  readonly message: string;
}

interface ResourceUse {
  /** Without prefix. */
  readonly resource: string;
  readonly vfs: number;
  /** VFs in known pods. */
  readonly inPods: number;
  /** VFs that may be in a pod. */
  readonly perhapsInPods: number;
  /** Number of nodes with such VFs. */
  readonly nodes: number;
}

/** `diagnosis` is that of the same snapshot. */
export function clusterStatus(snapshot: Snapshot, diagnosis: Diagnosis): ClusterStatus {
  const states = nodeStates(snapshot);
  const count = (state: NodeStanding["state"]) => states.filter((one) => one.state === state).length;
  const { error: errors, warning: warnings } = countChains(diagnosis.findings);
  return {
    ...defined({ cluster: snapshot.source }),
    namespace: snapshot.namespace,
    components: components(snapshot),
    nodes: {
      configured: count("configured"),
      changing: count("changing"),
      failed: count("failed"),
      silent: count("silent"),
    },
    unfinishedNodes: states.flatMap(({ name, state, reason }) =>
      state === "configured" ? [] : [{ name, state, reason }],
    ),
    policies: policies(snapshot),
    networks: networks(snapshot),
    resources: resources(listVfs(snapshot)),
    findings: { errors, warnings },
  };
}

function components({ objectsOf, namespace }: Snapshot): readonly ComponentStatus[] {
  const counts = {
    Deployment: { ready: ["status", "readyReplicas"], wanted: ["spec", "replicas"], unset: 1 },
    DaemonSet: { ready: ["status", "numberReady"], wanted: ["status", "desiredNumberScheduled"], unset: 0 },
  } as const;
  return (["Deployment", "DaemonSet"] as const).flatMap((kind) => {
    const { ready, wanted, unset } = counts[kind];
    return objectsOf(kind)
      .filter((object) => object.namespace === namespace)
      .map(({ name, object }) => ({
        kind,
        name,
        ready: numberAt(object, ready) ?? 0,
        wanted: numberAt(object, wanted) ?? unset,
      }))
      .toSorted(byName);
  });
}

interface NodeStanding {
  readonly name: string;
  readonly state: "configured" | UnfinishedNode["state"];
  readonly reason: string;
}

function nodeStates({ cluster }: Snapshot): readonly NodeStanding[] {
  const all = [...cluster.states.values(), ...cluster.afxdp.states.values()];
  const byNode = Map.groupBy(all, ({ metadata }) => metadata.name);
  const order = ["failed", "changing", "silent", "configured"];
  return [...byNode]
    .map(([name, states]): NodeStanding => {
      const standings = states.map(({ metadata, status }) => ({
        name,
        ...standingOf(metadata.annotations ?? {}, status),
      }));
      const [worst] = standings.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
      return worst ?? { name, state: "silent", reason: "" };
    })
    .toSorted(byName);
}

function standingOf(
  present: Readonly<Record<string, string>>,
  status: (ObjectStatus & { readonly syncStatus?: string; readonly lastSyncError?: string }) | undefined,
): Omit<NodeStanding, "name"> {
  const { syncStatus = "", lastSyncError = "", conditions = [] } = status ?? {};
  if (syncStatus === "Failed") return { state: "failed", reason: lastSyncError };
  const drain = conditions.find(({ type, status: value }) => type === "DrainProgressing" && value === "True");
  const request = present[annotations.desiredState] ?? drainRequests.idle;
  if (request !== drainRequests.idle) {
    const isDrained = present[annotations.currentState] === drainAnswers.complete;
    return {
      state: "changing",
      reason: isDrained ? "drained, being configured" : (drain?.message ?? "waits for a drain"),
    };
  }
  if (syncStatus === "") return { state: "silent", reason: "its daemon has not reported" };
  const progress = conditions.find(({ type, status: value }) => type === "Progressing" && value === "True");
  return syncStatus === "Succeeded"
    ? { state: "configured", reason: "" }
    : { state: "changing", reason: progress?.message ?? "" };
}

function policies({ cluster, objectsOf }: Snapshot): readonly PolicySummary[] {
  const used = [
    ...cluster.policies.map(({ metadata, spec, status }) => {
      return { kind: "SriovNetworkNodePolicy", metadata, resource: spec.resourceName, status };
    }),
    ...cluster.afxdp.policies.map(({ metadata, spec, status }) => {
      return { kind: "AfxdpNetworkNodePolicy", metadata, resource: spec.poolName, status };
    }),
  ];
  return used.map(({ kind, metadata: { namespace = "", name }, resource, status }) => {
    const stored = objectsOf(kind).find((one) => one.name === name && one.namespace === namespace);
    return {
      policy: labelOf({ kind, namespace, name }),
      resource,
      matchedNodes: status?.matchedNodeCount ?? 0,
      readyNodes: status?.readyNodeCount ?? 0,
      ...readiness(stored?.object),
    };
  });
}

function networks({ cluster, objectsOf }: Snapshot): ClusterStatus["networks"] {
  const judged = cluster.networks.map(({ kind, metadata: { namespace = "", name } }) => {
    const stored = objectsOf(kind).find((one) => one.name === name && one.namespace === namespace);
    return { object: labelOf({ kind, namespace, name }), ...readiness(stored?.object) };
  });
  const notReady = judged.filter(({ ready }) => ready !== "True");
  return {
    ready: judged.length - notReady.length,
    notReady: notReady.map(({ object, message }) => ({ object, message })),
  };
}

/** What the condition Ready says. The API server has checked its type, files may have anything. */
function readiness(object: unknown): Pick<PolicySummary, "ready" | "message"> {
  const ready = listAt(object, "status", "conditions").find((condition) => textAt(condition, "type") === "Ready");
  const status = textAt(ready, "status");
  if (status === "True") return { ready: "True", message: "" };
  const message = textAt(ready, "message") ?? "the operator has not written its status";
  return { ready: status === "False" ? "False" : "Unknown", message };
}

function resources(rows: readonly VfRow[]): readonly ResourceUse[] {
  const named = rows.filter(({ resource = "" }) => resource !== "");
  return [...Map.groupBy(named, ({ resource = "" }) => resource)]
    .map(([resource, vfs]) => ({
      resource,
      vfs: vfs.length,
      inPods: vfs.filter(({ pod }) => pod !== undefined).length,
      perhapsInPods: vfs.filter(({ possiblePods }) => possiblePods !== undefined).length,
      nodes: new Set(vfs.map(({ node }) => node)).size,
    }))
    .toSorted((a, b) => (a.resource < b.resource ? -1 : 1));
}

function numberAt(object: unknown, path: readonly string[]): number | undefined {
  const value = at(object, ...path);
  return typeof value === "number" ? value : undefined;
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : Number(a.name > b.name);
}
