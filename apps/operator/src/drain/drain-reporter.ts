// SPDX-License-Identifier: Apache-2.0
/**
 * Writes a node's drain conditions, and tells of what changes in them by events. To be called for one node by one at a
 * time.
 * Usage: `await reporter.report({ name, uid, facts }, { kind: "waiting", place }, signal);`
 */
import { conditionTypes, type Condition, type SriovNetworkNodeState } from "@switchyard/api";
import { equalJson, type News, type Writer } from "@switchyard/kube";
import { drainConditions, listPods, stallConditions, type DrainPhase } from "./drain-conditions.ts";
import { holding, type DrainFacts } from "./drain-facts.ts";
import type { Stall } from "./slots/held-slot.ts";
import type { PodFacts } from "./eviction/pod-facts.ts";

/** A node's state as the cache has it. */
export interface DrainSubject {
  readonly name: string;
  readonly uid: string;
  readonly drain: DrainFacts;
}

export interface DrainReporter {
  /**
   * Statuses and reasons are told at once, mere words once a second: each pod that goes, each step of the queue would else
   * be a write to each node. Answers how long to wait with what is not told yet; Infinity where all is. Rejects with
   * KubeError.
   */
  report(subject: DrainSubject, phase: DrainPhase, signal: AbortSignal): Promise<number>;
  /** Says of a node that is drained whether its daemon goes on; answers as report() does. Rejects with KubeError. */
  reportStall(subject: DrainSubject, stall: Stall | undefined, signal: AbortSignal): Promise<number>;
  /** Takes all of them away. Rejects with KubeError. */
  withdraw(subject: DrainSubject, signal: AbortSignal): Promise<void>;
  /** Since when the node is drained; undefined where it is not. */
  drainingSinceMs(subject: DrainSubject): number | undefined;
  /** Tells people about the node; never fails. */
  recordEvent(subject: DrainSubject, event: DrainEvent): void;
  /** The node is gone. */
  forget(name: string): void;
}

export type DrainEvent = Pick<News, "type" | "reason" | "note">;

export interface DrainReporterDeps {
  readonly writer: Pick<Writer<SriovNetworkNodeState>, "applyStatus">;
  readonly recordEvent: (subject: DrainSubject, event: DrainEvent) => void;
  readonly now: () => Date;
  /** Monotonic. */
  readonly elapsedMs: () => number;
}

export function createDrainReporter({ writer, recordEvent, now, elapsedMs }: DrainReporterDeps): DrainReporter {
  /** What was written last; the cache hears of it later. */
  const written = new Map<string, Written>();

  function latest({ name, uid, drain }: DrainSubject): Written {
    const last = written.get(name);
    return last?.uid === uid ? last : { uid, conditions: drain.conditions, atMs: -Infinity };
  }

  async function write(
    subject: DrainSubject,
    conditions: readonly Condition[],
    staying: readonly PodFacts[],
    signal: AbortSignal,
  ): Promise<number> {
    const { name, uid } = subject;
    const { conditions: before, atMs } = latest(subject);
    const afterMs = atMs + wordsIntervalMs - elapsedMs();
    if (afterMs > 0 && equalJson(verdictsIn(before), verdictsIn(conditions))) return afterMs;
    await writer.applyStatus({ metadata: { name, uid }, status: { conditions } }, signal);
    written.set(name, { uid, conditions, atMs: elapsedMs() });
    for (const event of eventsOf(before, conditions, staying)) recordEvent(subject, event);
    return Infinity;
  }

  return {
    recordEvent,

    report(subject, phase, signal) {
      const conditions = drainConditions(latest(subject).conditions, phase, now());
      return write(subject, conditions, phase.kind === "complete" ? phase.staying : [], signal);
    },

    async reportStall(subject, stall, signal) {
      const { conditions: before } = latest(subject);
      const conditions = stallConditions(before, stall, now());
      return conditions === before ? Infinity : write(subject, conditions, [], signal);
    },

    async withdraw({ name, uid, drain }, signal) {
      if (drain.conditions.length === 0 && !written.has(name)) return;
      await writer.applyStatus({ metadata: { name, uid }, status: { conditions: [] } }, signal);
      written.delete(name);
    },

    drainingSinceMs(subject) {
      const progressing = holding(latest(subject).conditions, conditionTypes.drainProgressing);
      return progressing && Date.parse(progressing.lastTransitionTime);
    },

    forget(name) {
      written.delete(name);
    },
  };
}

const wordsIntervalMs = 1_000;

interface Written {
  readonly uid: string;
  readonly conditions: readonly Condition[];
  /** By the monotonic clock. */
  readonly atMs: number;
}

/** All but the words. */
function verdictsIn(conditions: readonly Condition[]): readonly (readonly string[])[] {
  return conditions.map(({ type, status, reason }) => [type, status, reason]);
}

function eventsOf(
  before: readonly Condition[],
  after: readonly Condition[],
  staying: readonly PodFacts[],
): readonly DrainEvent[] {
  const begun = (type: string): Condition | undefined =>
    holding(before, type) === undefined ? holding(after, type) : undefined;
  const started = begun(conditionTypes.drainProgressing);
  const degraded = begun(conditionTypes.drainDegraded);
  const complete = begun(conditionTypes.drainComplete);
  return [
    ...(started === undefined ? [] : [normal("DrainStarted", started.message)]),
    ...(degraded === undefined ? [] : [warning(degraded.reason, degraded.message)]),
    ...(complete === undefined ? [] : [normal("DrainCompleted", complete.message)]),
    ...(complete === undefined || staying.length === 0
      ? []
      : [
          warning(
            "VfsInUse",
            `these pods may lose their VFs; restart them once the node is configured: ${listPods(staying)}`,
          ),
        ]),
  ];
}

function normal(reason: string, note: string): DrainEvent {
  return { type: "Normal", reason, note };
}

function warning(reason: string, note: string): DrainEvent {
  return { type: "Warning", reason, note };
}
