// SPDX-License-Identifier: Apache-2.0
/**
 * NodeDrainer takes one step of a node's drain at a time: it cordons the node, evicts the pods that must leave, and
 * returns the progress (sriov-operator.md G). The next step follows when a pod leaves. Refused evictions are retried
 * without limit.
 *
 * If only single VFs change, and the daemon reports which pods have them, only these pods are evicted, and the node is not
 * cordoned. Once the node is cordoned, its drain stays one of the node.
 */
import { defined, drainReasons, drainRequests, type DrainNeed, type Node } from "@switchyard/api";
import {
  selectHolderPods,
  selectPods,
  type DrainedPod,
  type FoundHolders,
  type PodSelection,
} from "@switchyard/policy";
import { hasDrainMarks, isCordoned, type CordonOptions } from "../cordon-node.ts";
import type { CachedDeviceDrain } from "../../facts/cached-device-drain.ts";
import type { DrainOutcome, DrainPhase } from "../drain-conditions.ts";
import type { MachineConfigPools } from "../slots/machine-config-pools.ts";
import type { ClaimedDevices } from "./claimed-devices.ts";
import { createEvictionConcurrencyLimit, createEvictions, type EvictionRound, type Evictions } from "./evictions.ts";
import type { EvictionResult } from "./evict-pod.ts";
import type { NodePods } from "./node-pods.ts";

/** Result of a step. */
export interface DrainStep {
  readonly phase: Extract<DrainPhase, { kind: "pausing" | "draining" | "complete" }>;
  /** Time until the next step if no event triggers it earlier; Infinity if only an event can. */
  readonly afterMs: number;
}

/** A drain that has begun. */
export interface BegunDrain {
  readonly needed: DrainNeed;
  /** When it began, by the wall clock. */
  readonly sinceMs: number;
  /** The VFs whose pods must leave; undefined if all pods that use VFs must leave. */
  readonly devices: CachedDeviceDrain | undefined;
}

export interface NodeDrainer {
  /** Rejects with KubeError. */
  step(node: Node, drain: BegunDrain, signal: AbortSignal): Promise<DrainStep>;
  /** Ends the drain of the node and stops watching its pods. */
  leave(name: string): void;
}

export interface NodeDrainerDeps {
  readonly pods: Pick<NodePods, "follow" | "list" | "leave">;
  readonly devices: ClaimedDevices;
  readonly evict: (pod: DrainedPod, signal: AbortSignal) => Promise<EvictionResult>;
  readonly cordon: (node: string, options: CordonOptions, signal: AbortSignal) => Promise<void>;
  /** Only on OpenShift. */
  readonly machineConfigPools?: Pick<MachineConfigPools, "pause"> | undefined;
  /** Number of nodes in the cluster. */
  readonly nodeCount: () => number;
  /** The wall clock. */
  readonly nowMs: () => number;
  /** A monotonic clock. */
  readonly elapsedMs: () => number;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

/** After this time the drain is reported as late. Upstream's operator gives up after it. */
const lateAfterMs = 90_000;

/** With one eviction for each of up to 16 nodes, evictions use at most 24 of the 32 connections to the API server. */
const sharedEvictions = 8;

/** MachineConfigPools are not watched, so a step polls them. */
const poolRecheckMs = 5_000;

export function createNodeDrainer(deps: NodeDrainerDeps): NodeDrainer {
  const { pods, devices, nowMs, elapsedMs, random } = deps;
  const evictions = new Map<string, Evictions>();
  const holders = new Map<string, FoundHolders>();
  const limit = createEvictionConcurrencyLimit(sharedEvictions);

  async function step(node: Node, drain: BegunDrain, signal: AbortSignal): Promise<DrainStep> {
    const { needed, sinceMs } = drain;
    const { name } = node.metadata;
    const pause = await deps.machineConfigPools?.pause(node, signal);
    if (typeof pause === "object") {
      return { phase: { kind: "pausing", message: pause.message }, afterMs: poolRecheckMs };
    }
    if (needed === drainRequests.reboot && deps.nodeCount() === 1) return complete(drainReasons.onlyNode, []);
    if (drain.devices !== undefined && needed === drainRequests.drain && !hasDrainMarks(node)) {
      const byDevice = await stepByDevice(name, { ...drain, devices: drain.devices }, signal);
      if (byDevice !== undefined) return byDevice;
    }

    // Cordon before the pods are listed, so that no pod joins them. The scheduler may lag, hence the second list below.
    await cordon(node, false, signal);
    const known = pods.follow(name);
    if (known === undefined) return draining({ leaving: undefined }, undefined, sinceMs);
    let selection = await select(name, known, needed, signal);
    if (selection.leaving.length === 0) {
      // The cache may show a cordon that an administrator or the operator has just removed, so ask the API server.
      await deps.cordon(name, { blockDaemonSets: false }, signal);
      devices.forget(name);
      selection = await select(name, await pods.list(name, signal), needed, signal);
      if (selection.leaving.length === 0) return complete(outcomeOf(needed), selection.staying);
    }
    return evict(node, selection, sinceMs, signal);
  }

  /** Returns undefined if the drain must be one of the node. */
  async function stepByDevice(
    name: string,
    { devices: wanted, sinceMs }: BegunDrain & { readonly devices: CachedDeviceDrain },
    signal: AbortSignal,
  ): Promise<DrainStep | undefined> {
    const { pfs, unknown } = wanted;
    if (unknown !== undefined && nowMs() >= sinceMs + lateAfterMs) return undefined;
    const known = pods.follow(name);
    if (known === undefined) return draining({ leaving: undefined }, undefined, sinceMs);
    if (await devices.hasOtherUsers(name, { pods: known, pfs }, signal)) return undefined;
    const found: FoundHolders = holders.get(name) ?? new Map<string, string>();
    holders.set(name, found);
    const { leaving, staying, gone } = selectHolderPods(known, wanted.holders, found);
    if (leaving.length === 0 && gone.length === 0 && unknown === undefined) {
      devices.forget(name);
      if (await devices.hasOtherUsers(name, { pods: known, pfs }, signal)) return undefined;
      return complete(drainReasons.vfPodsGone, staying, pfs);
    }
    const round = await evictionsOf(name).attempt(leaving, signal);
    return draining({ leaving, byDevice: { pfs, gone, ...defined({ unknown }) } }, round, sinceMs);
  }

  /** Before a reboot all pods leave, so their claims need not be read. */
  async function select(name: string, all: readonly DrainedPod[], needed: DrainNeed, signal: AbortSignal) {
    const known = needed === drainRequests.reboot ? all : await devices.resolve(name, all, signal);
    return selectPods(known, needed);
  }

  async function evict(
    node: Node,
    { leaving }: PodSelection,
    sinceMs: number,
    signal: AbortSignal,
  ): Promise<DrainStep> {
    const { name } = node.metadata;
    if (leaving.some(({ kind }) => kind === "daemon-set")) await cordon(node, true, signal);
    return draining({ leaving }, await evictionsOf(name).attempt(leaving, signal), sinceMs);
  }

  function evictionsOf(name: string): Evictions {
    const mine = evictions.get(name) ?? createEvictions({ evict: deps.evict, limit, nowMs: elapsedMs, random });
    evictions.set(name, mine);
    return mine;
  }

  /** Sends nothing if the cache shows the node as cordoned. */
  async function cordon(node: Node, blockDaemonSets: boolean, signal: AbortSignal): Promise<void> {
    if (!isCordoned(node, { blockDaemonSets })) await deps.cordon(node.metadata.name, { blockDaemonSets }, signal);
  }

  function draining(
    progress: Pick<Extract<DrainPhase, { kind: "draining" }>, "leaving" | "byDevice">,
    round: EvictionRound | undefined,
    sinceMs: number,
  ): DrainStep {
    const lateInMs = sinceMs + lateAfterMs - nowMs();
    const isLate = lateInMs <= 0;
    return {
      phase: { kind: "draining", ...progress, refused: round?.refused ?? [], isLate },
      afterMs: Math.min(round?.nextMs ?? Infinity, isLate ? Infinity : lateInMs),
    };
  }

  return {
    step,
    leave(name) {
      evictions.delete(name);
      holders.delete(name);
      devices.forget(name);
      pods.leave(name);
    },
  };
}

/** `pfs` are given if only pods with their VFs left. */
function complete(reason: DrainOutcome, staying: readonly DrainedPod[], pfs?: readonly string[]): DrainStep {
  return { phase: { kind: "complete", reason, staying, ...defined({ pfs }) }, afterMs: Infinity };
}

function outcomeOf(needed: DrainNeed): DrainOutcome {
  return needed === drainRequests.reboot ? drainReasons.allPodsGone : drainReasons.vfPodsGone;
}
