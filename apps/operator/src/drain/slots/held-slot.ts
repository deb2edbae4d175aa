// SPDX-License-Identifier: Apache-2.0
/**
 * Nodes that hold a slot of their pool, and whether what holds it goes on. From DrainComplete on it is the node's daemon that
 * must act: one that has died, or hangs, keeps all other nodes of the pool waiting. The slot is not taken from it: the node's
 * pods are gone, and its VFs may be half configured. Pure.
 * Usage: `const slot = heldSlot(states.get("worker-1"), Date.now()); if (slot?.stall !== undefined) tell(slot.stall);`
 */
import { annotations, conditionTypes, daemonManager, upstreamDaemonManager, type Condition } from "@switchyard/api";
import type { KubeObject } from "@switchyard/kube";
import { ownsAnnotation } from "../../node-states/owned-annotations.ts";
import { answerOf, holding, type DrainFacts } from "../drain-facts.ts";

/** What a SriovNetworkNodeState says of its node's slot. */
export interface SlotFacts {
  /** RFC 3339: since when the answer is what it is, as far as that is known. */
  readonly since?: string;
  /** RFC 3339: when the daemon last wrote a status that was another one. */
  readonly reportedAt?: string;
  /** What the daemon last said of its work: its reason and message. */
  readonly said?: string;
  /** The daemon said that something failed. */
  readonly isDegraded: boolean;
}

/** A slot that is held. */
export interface HeldSlot {
  readonly node: string;
  readonly state: "Draining" | "DrainComplete";
  /** RFC 3339; undefined where it is not known. */
  readonly since: string | undefined;
  readonly sinceMs: number | undefined;
  /** Undefined while the daemon goes on, or is not waited for. */
  readonly stall: Stall | undefined;
  /** When it will be a stall unless something happens; Infinity where that is not a matter of time. */
  readonly stallsInMs: number;
}

export interface Stall {
  /** A sentence that stays the same for as long as the daemon says nothing else. */
  readonly message: string;
}

/** A node's state, as far as slots go. */
export interface SlotSubject {
  readonly name: string;
  readonly drain: DrainFacts;
  readonly slot?: SlotFacts;
}

/** A daemon needs seconds for its steps. */
const stalledAfterMs = 5 * 60_000;

/** Large servers are minutes in their firmware before they boot. */
const rebootStalledAfterMs = 20 * 60_000;

/** Undefined while the node holds none. */
export function toSlotFacts(
  { metadata, status }: KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } },
  drain: DrainFacts,
): SlotFacts | undefined {
  const answer = answerOf(drain);
  if (answer === "Idle") return undefined;
  const { managedFields = [] } = metadata;
  const answered = managedFields.find((entry) => ownsAnnotation(entry, annotations.currentState));
  const reported = managedFields.filter(({ manager = "", subresource }) => {
    return subresource === "status" && daemons.has(manager);
  });
  const conditions = status?.conditions ?? [];
  const degraded = holding(conditions, conditionTypes.degraded);
  const said = degraded ?? holding(conditions, conditionTypes.progressing);
  const since = transitionTo(answer, drain) ?? answered?.time;
  const reportedAt = reported
    .flatMap(({ time }) => time ?? [])
    .sort()
    .at(-1);
  return {
    ...(since === undefined ? {} : { since }),
    ...(reportedAt === undefined ? {} : { reportedAt }),
    ...(said === undefined ? {} : { said: clip(`${said.reason}: ${said.message}`) }),
    isDegraded: degraded !== undefined,
  };
}

/** Undefined for a node that holds no slot. */
export function heldSlot(subject: SlotSubject | undefined, nowMs: number): HeldSlot | undefined {
  if (subject?.slot === undefined) return undefined;
  const { name, drain, slot } = subject;
  const state = answerOf(drain);
  if (state === "Idle") return undefined;
  const sinceMs = parseTime(slot.since);
  const held = { node: name, state, since: sinceMs === undefined ? undefined : slot.since, sinceMs };
  if (state === "Draining" || sinceMs === undefined) return { ...held, stall: undefined, stallsInMs: Infinity };
  // Of a daemon that fails, more reports are no progress.
  const progressMs = slot.isDegraded ? sinceMs : Math.max(sinceMs, parseTime(slot.reportedAt) ?? 0);
  const limitMs = drain.desired === "Reboot_Required" ? rebootStalledAfterMs : stalledAfterMs;
  const stallsInMs = progressMs + limitMs - nowMs;
  if (stallsInMs > 0) return { ...held, stall: undefined, stallsInMs };
  return { ...held, stall: { message: describeStall(name, slot) }, stallsInMs: Infinity };
}

/** The longest-held first; those of which nobody knows the time come last. */
export function byAge(a: HeldSlot, b: HeldSlot): number {
  const [left = Infinity, right = Infinity] = [a.sinceMs, b.sinceMs];
  return left === right ? (a.node < b.node ? -1 : 1) : left - right;
}

/** Of those that have stalled, the longest-held one, and how many more there are; undefined where none has. */
export function describeStalls(slots: readonly HeldSlot[]): string | undefined {
  const [first, ...others] = slots.toSorted(byAge).flatMap(({ stall }) => stall ?? []);
  if (first === undefined) return undefined;
  const more = others.length === 0 ? "" : `; ${others.length} more ${others.length === 1 ? "node" : "nodes"}`;
  return `${first.message}${more}`;
}

const daemons: ReadonlySet<string> = new Set([daemonManager, upstreamDaemonManager]);

/** A condition's message may have 32 KiB; this much is read. */
const longestWords = 300;

function describeStall(node: string, { since = "", reportedAt, said, isDegraded }: SlotFacts): string {
  const held = `node ${node} has been drained since ${since} and keeps its slot`;
  if (isDegraded) return `${held}: its config daemon reports ${said ?? ""}`;
  const last = said === undefined ? "" : ` (${said})`;
  if (reportedAt === undefined || reportedAt <= since)
    return `${held}: its config daemon has reported nothing since then${last}`;
  return `${held}: its config daemon has reported nothing since ${reportedAt}${last}`;
}

function transitionTo(answer: "Draining" | "DrainComplete", { conditions }: DrainFacts): string | undefined {
  const type = answer === "Draining" ? conditionTypes.drainProgressing : conditionTypes.drainComplete;
  return holding(conditions, type)?.lastTransitionTime;
}

function parseTime(text: string | undefined): number | undefined {
  const timeMs = Date.parse(text ?? "");
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

function clip(text: string): string {
  return text.length <= longestWords ? text : `${text.slice(0, longestWords - 1)}…`;
}
