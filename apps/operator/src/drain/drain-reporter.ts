// SPDX-License-Identifier: Apache-2.0
/**
 * DrainReporter writes the drain conditions of node states and records an event when a condition becomes
 * True. Calls for the same node must not overlap.
 */
import {
  conditionTypes,
  eventReasons,
  type AfxdpNetworkNodeState,
  type Condition,
  type EventReason,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { equalJson, recordedMs, type EventToRecord, type Writer } from "@switchyard/kube";
import { drainConditions, listPods, stallConditions, type DrainPhase } from "./drain-conditions.ts";
import { holding } from "../facts/cached-drain.ts";
import type { DrainCarrier } from "./drain-carriers.ts";
import type { Stall } from "../facts/held-slot.ts";
import type { DrainedPod } from "@switchyard/policy";

/** A node state as the cache shows it. */
export type DrainSubject = Pick<DrainCarrier, "type" | "name" | "uid" | "drain">;

/** Writes conditions to objects of one kind. */
export type StatusWriter =
  Pick<Writer<SriovNetworkNodeState>, "applyStatus"> | Pick<Writer<AfxdpNetworkNodeState>, "applyStatus">;

export interface DrainReporter {
  /**
   * Writes the conditions of `phase`. A changed status or reason is written at once. A change of the message only is
   * written at most once a second, because each pod that leaves and each step of the queue changes messages. Returns
   * the time in ms after which to call again for a change that is not written yet, or Infinity. Rejects with KubeError.
   */
  report(subject: DrainSubject, phase: DrainPhase, signal: AbortSignal): Promise<number>;
  /**
   * Writes whether the daemon of a drained node makes progress. Returns the same as report(). Rejects with KubeError.
   */
  reportStall(subject: DrainSubject, stall: Stall | undefined, signal: AbortSignal): Promise<number>;
  /** Removes the drain conditions. Rejects with KubeError. */
  withdraw(subject: DrainSubject, signal: AbortSignal): Promise<void>;
  /** Returns since when the node is being drained; undefined if it is not. */
  drainingSinceMs(subject: DrainSubject): number | undefined;
  /** Records an event about the node. Never fails. */
  recordEvent(subject: DrainSubject, event: DrainEvent): void;
  /** Drops what is remembered of a node that is gone. */
  forget(name: string): void;
}

export type DrainEvent = Pick<EventToRecord, "type" | "reason" | "note">;

export interface DrainReporterDeps {
  readonly writerOf: (type: DrainCarrier["type"]) => StatusWriter;
  readonly recordEvent: (subject: DrainSubject, event: DrainEvent) => void;
  readonly now: () => Date;
  /** A monotonic clock. */
  readonly elapsedMs: () => number;
}

export function createDrainReporter({ writerOf, recordEvent, now, elapsedMs }: DrainReporterDeps): DrainReporter {
  /** The last write for each node, which the cache shows later. */
  const written = new Map<string, Written>();

  function latest({ name, uid, drain }: DrainSubject): Written {
    const last = written.get(name);
    return last?.uid === uid ? last : { uid, conditions: drain.conditions, atMs: -Infinity };
  }

  async function write(
    subject: DrainSubject,
    conditions: readonly Condition[],
    staying: readonly DrainedPod[],
    signal: AbortSignal,
  ): Promise<number> {
    const { type, name, uid } = subject;
    const { conditions: before, atMs } = latest(subject);
    const afterMs = atMs + messageIntervalMs - elapsedMs();
    if (afterMs > 0 && equalJson(withoutMessages(before), withoutMessages(conditions))) return afterMs;
    await writerOf(type).applyStatus({ metadata: { name, uid }, status: { conditions } }, signal);
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

    async withdraw({ type, name, uid, drain }, signal) {
      if (drain.conditions.length === 0 && !written.has(name)) return;
      await writerOf(type).applyStatus({ metadata: { name, uid }, status: { conditions: [] } }, signal);
      written.delete(name);
    },

    drainingSinceMs(subject) {
      const progressing = holding(latest(subject).conditions, conditionTypes.drainProgressing);
      return progressing && recordedMs(progressing.lastTransitionTime, now().getTime());
    },

    forget(name) {
      written.delete(name);
    },
  };
}

const messageIntervalMs = 1_000;

interface Written {
  readonly uid: string;
  readonly conditions: readonly Condition[];
  /** Time of the write by the monotonic clock. */
  readonly atMs: number;
}

/** The conditions without their messages. */
function withoutMessages(conditions: readonly Condition[]): readonly (readonly string[])[] {
  return conditions.map(({ type, status, reason }) => [type, status, reason]);
}

function eventsOf(
  before: readonly Condition[],
  after: readonly Condition[],
  staying: readonly DrainedPod[],
): readonly DrainEvent[] {
  const begun = (type: string): Condition | undefined =>
    holding(before, type) === undefined ? holding(after, type) : undefined;
  const started = begun(conditionTypes.drainProgressing);
  const degraded = begun(conditionTypes.drainDegraded);
  const complete = begun(conditionTypes.drainComplete);
  return [
    ...(started === undefined ? [] : [normal(eventReasons.drainStarted, started.message)]),
    ...(degraded === undefined ? [] : [warning(degraded.reason, degraded.message)]),
    ...(complete === undefined ? [] : [normal(eventReasons.drainCompleted, complete.message)]),
    ...(complete === undefined || staying.length === 0
      ? []
      : [
          warning(
            eventReasons.vfsInUse,
            `these pods may lose their VFs; restart them once the node is configured: ${listPods(staying)}`,
          ),
        ]),
  ];
}

function normal(reason: EventReason, note: string): DrainEvent {
  return { type: "Normal", reason, note };
}

function warning(reason: string, note: string): DrainEvent {
  return { type: "Warning", reason, note };
}
