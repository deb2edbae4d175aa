// SPDX-License-Identifier: Apache-2.0
/**
 * One look at a node that is being drained: make it unschedulable, ask the pods to go that must, and say how far it is
 * (sriov-operator.md G). Pods that go wake the next look; refused evictions are tried again for as long as it takes.
 * Usage: `const { phase } = await drainer.step(node, "Drain_Required", sinceMs, signal); if (phase.kind === "complete") …`.
 */
import { drainReasons, type Node } from "@switchyard/api";
import type { ClaimedDevices } from "./claimed-devices.ts";
import type { DrainOutcome, DrainPhase } from "../drain-conditions.ts";
import type { DrainNeed } from "../drain-facts.ts";
import { createEvictions, type Evictions } from "./evictions.ts";
import type { EvictionResult } from "./evict-pod.ts";
import type { MachineConfigPools } from "../slots/machine-config-pools.ts";
import { isCordoned, type CordonOptions } from "../cordon-node.ts";
import type { NodePods } from "./node-pods.ts";
import type { PodFacts } from "./pod-facts.ts";
import { selectPods, type PodSelection } from "./select-pods.ts";
import { createEvictionConcurrencyLimit } from "./eviction-concurrency-limit.ts";

/** How a look ended. */
export interface DrainStep {
  readonly phase: Extract<DrainPhase, { kind: "pausing" | "draining" | "complete" }>;
  /** When to look again if nothing happens; Infinity where something will. */
  readonly afterMs: number;
}

export interface NodeDrainer {
  /** `sinceMs` is when the drain began, by the wall clock. Rejects with KubeError. */
  step(node: Node, needed: DrainNeed, sinceMs: number, signal: AbortSignal): Promise<DrainStep>;
  /** The node is not being drained any more. */
  leave(name: string): void;
}

export interface NodeDrainerDeps {
  readonly pods: Pick<NodePods, "follow" | "list" | "leave">;
  readonly devices: ClaimedDevices;
  readonly evict: (pod: PodFacts, signal: AbortSignal) => Promise<EvictionResult>;
  readonly close: (node: string, closing: CordonOptions, signal: AbortSignal) => Promise<void>;
  /** OpenShift only. */
  readonly machineConfigPools?: Pick<MachineConfigPools, "pause"> | undefined;
  /** Nodes of the cluster. */
  readonly nodeCount: () => number;
  /** The wall clock. */
  readonly nowMs: () => number;
  /** Monotonic. */
  readonly elapsedMs: () => number;
  /** In [0, 1). */
  readonly random: () => number;
}

/** After this time people are called, as upstream gives up after it. */
const lateAfterMs = 90_000;

/** With one hand for each node that is looked at, 24 of the 32 connections to the API server at most. */
const spareHands = 8;

/** The Machine Config Operator tells us nothing. */
const poolRecheckMs = 5_000;

export function createNodeDrainer(deps: NodeDrainerDeps): NodeDrainer {
  const { pods, devices, nowMs, elapsedMs, random } = deps;
  const evictions = new Map<string, Evictions>();
  const spare = createEvictionConcurrencyLimit(spareHands);

  async function step(node: Node, needed: DrainNeed, sinceMs: number, signal: AbortSignal): Promise<DrainStep> {
    const { name } = node.metadata;
    const pause = await deps.machineConfigPools?.pause(node, signal);
    if (typeof pause === "object") {
      return { phase: { kind: "pausing", message: pause.message }, afterMs: poolRecheckMs };
    }
    if (needed === "Reboot_Required" && deps.nodeCount() === 1) return complete(drainReasons.onlyNode, []);

    // First: what is listed from here on is joined by nobody. (The scheduler may be a moment late, hence the last look.)
    await close(node, false, signal);
    const known = pods.follow(name);
    if (known === undefined) return draining(undefined, undefined, sinceMs);
    let selection = await select(name, known, needed, signal);
    if (selection.leaving.length === 0) {
      // The cache may show a cordon that has just been taken back, an admin's or ours: here the API server is asked.
      await deps.close(name, { blockDaemonSets: false }, signal);
      devices.forget(name);
      selection = await select(name, await pods.list(name, signal), needed, signal);
      if (selection.leaving.length === 0) return complete(outcomeOf(needed), selection.staying);
    }
    return evict(node, selection, sinceMs, signal);
  }

  /** Before a reboot it does not matter who holds VFs. */
  async function select(name: string, all: readonly PodFacts[], needed: DrainNeed, signal: AbortSignal) {
    const known = needed === "Reboot_Required" ? all : await devices.resolve(name, all, signal);
    return selectPods(known, needed);
  }

  async function evict(
    node: Node,
    { leaving }: PodSelection,
    sinceMs: number,
    signal: AbortSignal,
  ): Promise<DrainStep> {
    const { name } = node.metadata;
    if (leaving.some(({ kind }) => kind === "daemon-set")) await close(node, true, signal);
    const mine = evictions.get(name) ?? createEvictions({ evict: deps.evict, spare, nowMs: elapsedMs, random });
    evictions.set(name, mine);
    return draining(leaving, await mine.attempt(leaving, signal), sinceMs);
  }

  /** Where the cache shows it, the API server need not be asked. */
  async function close(node: Node, blockDaemonSets: boolean, signal: AbortSignal): Promise<void> {
    if (!isCordoned(node, { blockDaemonSets })) await deps.close(node.metadata.name, { blockDaemonSets }, signal);
  }

  function draining(
    leaving: readonly PodFacts[] | undefined,
    round: Awaited<ReturnType<Evictions["attempt"]>> | undefined,
    sinceMs: number,
  ): DrainStep {
    const lateInMs = sinceMs + lateAfterMs - nowMs();
    const isLate = lateInMs <= 0;
    return {
      phase: { kind: "draining", leaving, refused: round?.refused ?? [], isLate },
      afterMs: Math.min(round?.nextMs ?? Infinity, isLate ? Infinity : lateInMs),
    };
  }

  return {
    step,
    leave(name) {
      evictions.delete(name);
      devices.forget(name);
      pods.leave(name);
    },
  };
}

function complete(reason: DrainOutcome, staying: readonly PodFacts[]): DrainStep {
  return { phase: { kind: "complete", reason, staying }, afterMs: Infinity };
}

function outcomeOf(needed: DrainNeed): DrainOutcome {
  return needed === "Reboot_Required" ? drainReasons.allPodsGone : drainReasons.vfPodsGone;
}
