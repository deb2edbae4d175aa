// SPDX-License-Identifier: Apache-2.0
/**
 * heldSlot returns the drain slot that a node holds, and whether its drain has stalled. After DrainComplete it is the
 * node's config daemon that must act. A daemon that has died or hangs keeps all other nodes of the pool waiting. Its
 * slot is not given to another node, because the node's pods are gone and its VFs may be half configured. Pure.
 */
import {
  annotations,
  conditionTypes,
  daemonManager,
  defined,
  drainAnswers,
  drainRequests,
  upstreamDaemonManager,
  type Condition,
  type DrainAnswer,
} from "@switchyard/api";
import { ownsAnnotation, recordedMs, type KubeObject } from "@switchyard/kube";
import { answerOf, holding, type CachedDrain } from "./cached-drain.ts";

/** The fields of a SriovNetworkNodeState that concern the slot of its node. */
export interface CachedSlot {
  /** When the answer last changed, in RFC 3339. Absent if unknown. */
  readonly since?: string;
  /** When the daemon last changed the status, in RFC 3339. */
  readonly reportedAt?: string;
  /** Reason and message of the condition with which the daemon last reported its work. */
  readonly lastReport?: string;
  /** Whether the daemon reports a failure. */
  readonly isDegraded: boolean;
}

export interface HeldSlot {
  readonly node: string;
  readonly state: HoldingAnswer;
  /** Since when the node is in this state, in RFC 3339; undefined if unknown. */
  readonly since: string | undefined;
  readonly sinceMs: number | undefined;
  /** Undefined while the daemon makes progress, or while pods are evicted. */
  readonly stall: Stall | undefined;
  /**
   * Time in ms after which the drain counts as stalled unless the daemon reports; Infinity if it cannot stall by time
   * alone.
   */
  readonly stallsInMs: number;
}

/** The answers with which a node holds a slot. */
type HoldingAnswer = Exclude<DrainAnswer, typeof drainAnswers.idle>;

export interface Stall {
  /** A sentence that changes only when the daemon reports something else. */
  readonly message: string;
}

export interface SlotSubject {
  readonly name: string;
  readonly drain: CachedDrain;
  readonly slot?: CachedSlot;
}

/** A daemon usually needs seconds for its steps. */
const stalledAfterMs = 5 * 60_000;

/** The firmware of large servers needs minutes before it boots the kernel. */
const rebootStalledAfterMs = 20 * 60_000;

/** Returns undefined if the node holds no slot. */
export function toCachedSlot(
  { metadata, status }: KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } },
  drain: CachedDrain,
): CachedSlot | undefined {
  const answer = answerOf(drain);
  if (answer === drainAnswers.idle) return undefined;
  const { managedFields = [] } = metadata;
  const answered = managedFields.find((entry) => ownsAnnotation(entry, annotations.currentState));
  const reported = managedFields.filter(({ manager = "", subresource }) => {
    return subresource === "status" && daemons.has(manager);
  });
  const conditions = status?.conditions ?? [];
  const degraded = holding(conditions, conditionTypes.degraded);
  const report = degraded ?? holding(conditions, conditionTypes.progressing);
  const since = transitionTo(answer, drain) ?? answered?.time;
  const reportedAt = reported
    .flatMap(({ time }) => time ?? [])
    .sort()
    .at(-1);
  return {
    ...defined({ since, reportedAt, lastReport: report && cutReport(`${report.reason}: ${report.message}`) }),
    isDegraded: degraded !== undefined,
  };
}

export function heldSlot(subject: SlotSubject | undefined, nowMs: number): HeldSlot | undefined {
  if (subject?.slot === undefined) return undefined;
  const { name, drain, slot } = subject;
  const state = answerOf(drain);
  if (state === drainAnswers.idle) return undefined;
  const sinceMs = recordedMs(slot.since, nowMs);
  const held = { node: name, state, since: sinceMs === undefined ? undefined : slot.since, sinceMs };
  if (state === drainAnswers.draining || sinceMs === undefined)
    return { ...held, stall: undefined, stallsInMs: Infinity };
  // Further reports of a failing daemon are not progress.
  const progressMs = slot.isDegraded ? sinceMs : Math.max(sinceMs, recordedMs(slot.reportedAt, nowMs) ?? 0);
  const limitMs = drain.desired === drainRequests.reboot ? rebootStalledAfterMs : stalledAfterMs;
  const stallsInMs = progressMs + limitMs - nowMs;
  if (stallsInMs > 0) return { ...held, stall: undefined, stallsInMs };
  return { ...held, stall: { message: describeStall(name, slot) }, stallsInMs: Infinity };
}

/** Compares by age: the longest-held slot comes first, slots of unknown age come last. */
export function byAge(a: HeldSlot, b: HeldSlot): number {
  const [left = Infinity, right = Infinity] = [a.sinceMs, b.sinceMs];
  return left === right ? (a.node < b.node ? -1 : 1) : left - right;
}

/** Describes the stalled slot that is held longest, and the number of the others; undefined if none has stalled. */
export function describeStalls(slots: readonly HeldSlot[]): string | undefined {
  const [first, ...others] = slots.toSorted(byAge).flatMap(({ stall }) => stall ?? []);
  if (first === undefined) return undefined;
  if (others.length === 0) return first.message;
  return others.length === 1 ? `${first.message}; 1 more node` : `${first.message}; ${others.length} more nodes`;
}

const daemons: ReadonlySet<string> = new Set([daemonManager, upstreamDaemonManager]);

/** Most characters of the daemon's report that are quoted; a condition's message can have 32 KiB. */
const longestReport = 300;

function describeStall(node: string, { since = "", reportedAt, lastReport, isDegraded }: CachedSlot): string {
  const held = `node ${node} has been drained since ${since} and keeps its slot`;
  if (isDegraded) return `${held}: its config daemon reports ${lastReport ?? ""}`;
  const last = lastReport === undefined ? "" : ` (${lastReport})`;
  if (reportedAt === undefined || reportedAt <= since) {
    return `${held}: its config daemon has reported nothing since then${last}`;
  }
  return `${held}: its config daemon has reported nothing since ${reportedAt}${last}`;
}

function transitionTo(answer: HoldingAnswer, { conditions }: CachedDrain): string | undefined {
  const type = answer === drainAnswers.draining ? conditionTypes.drainProgressing : conditionTypes.drainComplete;
  return holding(conditions, type)?.lastTransitionTime;
}

function cutReport(text: string): string {
  return text.length <= longestReport ? text : `${text.slice(0, longestReport - 1)}…`;
}
