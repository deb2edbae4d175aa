// SPDX-License-Identifier: Apache-2.0
/**
 * offloadStatuses returns the status of each pool and of all of them, with the first thing that is missing in words.
 */
import { defined, type OvnOffloadNode } from "@switchyard/api";
import { cutText } from "@switchyard/kube";
import type { OffloadPool, OffloadProblem } from "@switchyard/policy";
import type { MachineConfigDecision } from "./decide-machine-configs.ts";
import type { WaitingPods } from "../pods/waiting-pods.ts";
import { isPrepared, type AssignedHost } from "./host.ts";

export interface StatusInput {
  readonly hosts: readonly AssignedHost[];
  readonly pools: readonly OffloadPool[];
  readonly problems: readonly OffloadProblem[];
  readonly configs: Pick<MachineConfigDecision, "waiting" | "held" | "refused">;
  /** By node: a label of others that excludes ours. */
  readonly conflicts: ReadonlyMap<string, string>;
  readonly waitingPodsOf: (node: string) => WaitingPods | undefined;
  readonly clusterProblems: readonly string[];
}

/** State of a pool, or of everything. */
export interface OffloadState {
  readonly state: "ready" | "progressing" | "degraded";
  /** The first thing that is missing; empty if nothing is. */
  readonly message: string;
}

export interface PoolStatus extends OffloadState {
  readonly pool: string;
  readonly nodeCount: number;
  readonly readyNodeCount: number;
  readonly nodes: readonly OvnOffloadNode[];
  readonly waitingPods: WaitingPods;
}

export interface OffloadStatuses {
  readonly pools: readonly PoolStatus[];
  /** Undefined if nothing is selected and nothing is left. */
  readonly overall: OffloadState | undefined;
}

/** Largest number of nodes in the status of a pool. */
const maxNodes = 500;

const maxPodNames = 5;

/** Longest text about one node. */
const maxMissingBytes = 256;

export function offloadStatuses(input: StatusInput): OffloadStatuses {
  const names = [
    ...new Set([...input.pools, ...input.hosts.map(({ pool: name }) => ({ name }))].map(({ name }) => name)),
  ];
  const byPool = Map.groupBy(input.hosts, ({ pool }) => pool);
  const pools = names.sort().map((name) => poolStatus(name, byPool.get(name) ?? [], input));
  const ofCluster = [
    ...input.clusterProblems,
    ...input.problems
      .filter(({ pool, node }) => pool === undefined && node === undefined)
      .map(({ message }) => message),
  ];
  const [problem] = ofCluster;
  if (pools.length === 0 && problem === undefined) return { pools, overall: undefined };
  const first = pools.find(({ state }) => state === "degraded") ?? pools.find(({ state }) => state === "progressing");
  if (problem !== undefined) return { pools, overall: { state: "degraded", message: problem } };
  const ready = { state: "ready", message: "" } as const;
  return { pools, overall: first ? { state: first.state, message: `pool ${first.pool}: ${first.message}` } : ready };
}

/** A write that the API server or a webhook has refused. */
export interface Refusal {
  /** "SriovNetworkNodePolicy ovn-offload-dpu-host-bluefield-2". */
  readonly object: string;
  /** The pool that waits for it; undefined if all do. */
  readonly pool: string | undefined;
  /** Their reason. */
  readonly words: string;
}

/** Returns the statuses with what was refused, which nobody else reports. */
export function withRefusals(statuses: OffloadStatuses, refusals: readonly Refusal[]): OffloadStatuses {
  const [first] = refusals;
  if (first === undefined || statuses.overall === undefined) return statuses;
  const degraded = ({ object, words }: Refusal) =>
    ({ state: "degraded", message: `${object} is refused: ${cutText(words, maxRefusalBytes)}` }) as const;
  const pools = statuses.pools.map((pool): PoolStatus => {
    const own = refusals.find((refusal) => refusal.pool === pool.pool);
    return own === undefined ? pool : { ...pool, ...degraded(own) };
  });
  const overall = degraded(first);
  const at = first.pool === undefined ? "" : `pool ${first.pool}: `;
  return { pools, overall: { ...overall, message: `${at}${overall.message}` } };
}

/** A webhook can answer with any text. */
const maxRefusalBytes = 600;

function poolStatus(pool: string, hosts: readonly AssignedHost[], input: StatusInput): PoolStatus {
  const nodes = hosts.map((host) => ({ host, node: nodeStatus(host, input) }));
  const sorted = nodes.toSorted((a, b) => {
    const [first, second] = [a, b].map(({ node }) => (node.missing === undefined ? 1 : 0));
    return (first ?? 0) - (second ?? 0) || (a.node.name < b.node.name ? -1 : 1);
  });
  const refused =
    input.configs.refused.get(pool) ??
    input.problems.find((one) => one.pool === pool && one.node === undefined && one.severity === "error")?.message;
  const stopped = sorted.find(({ host }) => isStopped(host) || input.conflicts.has(host.name));
  const incomplete = sorted.filter(({ node }) => node.missing !== undefined);
  // Prepared hosts wait for the others, whose reason is the one to act on.
  const missing = incomplete.find(({ host }) => !isPrepared(host)) ?? incomplete[0];
  const waiting = input.configs.waiting.get(pool);
  const at = ({ node }: { readonly node: OvnOffloadNode }) => `node ${node.name}: ${node.missing ?? ""}`;
  const [state, message] =
    refused !== undefined
      ? (["degraded", refused] as const)
      : stopped !== undefined
        ? (["degraded", at(stopped)] as const)
        : missing !== undefined
          ? (["progressing", at(missing)] as const)
          : waiting !== undefined
            ? (["progressing", waiting] as const)
            : (["ready", ""] as const);
  return {
    pool,
    state,
    message,
    nodeCount: hosts.length,
    readyNodeCount: nodes.filter(({ node }) => node.missing === undefined).length,
    nodes: sorted.slice(0, maxNodes).map(({ node }) => node),
    waitingPods: waitingPodsOf(hosts, input),
  };
}

/** Reports whether the host does not go on by itself. */
function isStopped(host: AssignedHost): boolean {
  const { direction, problem, cardMode, modeProblem, vfProblem, vfsExist, syncError, isLabelled } = host;
  if (problem !== undefined) return true;
  if (direction !== "enter") return false;
  // On the way in, a card changes its mode. One that has another mode later has lost it.
  const hasLostMode = isLabelled && modeProblem !== undefined && cardMode !== undefined;
  return hasLostMode || vfProblem !== undefined || (!vfsExist && syncError !== "");
}

function waitingPodsOf(hosts: readonly AssignedHost[], input: StatusInput): WaitingPods {
  const all = hosts.flatMap((host) => input.waitingPodsOf(host.name) ?? []);
  const names = all.flatMap((pods) => pods.names);
  return { count: all.reduce((sum, { count }) => sum + count, 0), names: names.toSorted().slice(0, maxPodNames) };
}

function nodeStatus(host: AssignedHost, input: StatusInput): OvnOffloadNode {
  const missing = firstMissing(host, input);
  return {
    name: host.name,
    ...defined({ cardMode: host.cardMode }),
    vfsReady: host.vfsExist && (host.isApplied !== true || host.isNamed),
    machineConfigApplied: host.isApplied === true,
    managementPortPublished: host.isPublished,
    labelled: host.isLabelled,
    ...(host.direction === "leave" && { leaving: true }),
    ...(missing !== undefined && { missing: cutText(missing, maxMissingBytes) }),
  };
}

const networkUnknown =
  "the config daemon has not reported whether the host's network needs Open vSwitch: update the config daemon on the node";

/** In the order of the steps. */
function firstMissing(host: AssignedHost, { configs, conflicts, pools }: StatusInput): string | undefined {
  const { direction, problem, cards, marker, pool } = host;
  if (problem !== undefined) return problem;
  const waiting = configs.waiting.get(pool) ?? configs.held.get(pool);
  if (direction === "leave") {
    if (host.isApplied === undefined) return "it is not known whether the host still runs without Open vSwitch";
    if (host.isApplied) return waiting ?? "the host must boot with Open vSwitch again";
    return "labels, policies and settings are being restored";
  }
  if (cards === undefined) return "the config daemon has not reported the node's PFs yet";
  if (marker !== pool) return "the node gets the label of its pool";
  if (host.modeProblem !== undefined) return host.modeProblem;
  if (host.vfProblem !== undefined) return host.vfProblem;
  if (!host.vfsExist) {
    const missing = "the VFs of the SmartNIC do not all exist yet";
    return host.syncError === "" ? missing : `${missing}: ${host.syncError}`;
  }
  if (!host.isNetworkKnown && host.isApplied !== true) return networkUnknown;
  if (host.isApplied === undefined) return "it is not known which MachineConfig the node runs";
  if (!host.isApplied) return waiting ?? configs.refused.get(pool) ?? "the host must boot with Open vSwitch disabled";
  if (!host.isNamed) return "VF 0 does not have its permanent name yet";
  if (!host.isPublished) return "the management port is being published";
  const conflict = conflicts.get(host.name);
  if (conflict !== undefined) return `label ${conflict} excludes the label of a host: remove it`;
  if (!isPrepared(host) || !host.isLabelled) return "the label for OVN-Kubernetes is being set";
  const { taint } = pools.find(({ name }) => name === pool) ?? {};
  return taint === undefined || host.isTainted ? undefined : "the taint is being set";
}
