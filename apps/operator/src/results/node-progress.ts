// SPDX-License-Identifier: Apache-2.0
/** progressOf returns how far one node is with the spec that a policy or pool requires. Pure. */
import { conditionTypes, type SriovNetworkNodeStateSpec } from "@switchyard/api";
import { equalJson, recordedMs } from "@switchyard/kube";
import { isWaiting } from "../facts/cached-drain.ts";
import type { CachedNodeState } from "../facts/cached-node-state.ts";

export type Progress =
  | { readonly kind: "ready" }
  | { readonly kind: "configuring" }
  /** Retries do not help; `message` is the node's. */
  | { readonly kind: "failed"; readonly message: string };

export interface ProgressOptions {
  /** PFs to consider; all PFs if absent. */
  readonly pciAddresses?: readonly string[];
  /** Whether the policy or pool was ready with its current spec before. */
  readonly wasReady: boolean;
}

/**
 * The result follows from the node's observed state, not from what the daemon reports about itself: unfinished work is
 * what plan() finds. A node whose state does not contain `spec` yet is being configured. If the daemon has not observed
 * the node since the spec changed, a policy or pool that was ready stays ready: most changes of a spec concern other
 * PFs. One that was not ready does not become ready. A node whose last attempt failed has failed until an attempt succeeds.
 */
export function progressOf(
  state: CachedNodeState | undefined,
  spec: SriovNetworkNodeStateSpec,
  { pciAddresses, wasReady }: ProgressOptions,
): Progress {
  if (state === undefined || state.interfaces.length === 0 || !equalJson(state.spec, spec)) {
    return { kind: "configuring" };
  }
  const selected = pciAddresses && new Set(pciAddresses);
  const unfinished = state.unfinished.filter(
    ({ pciAddress }) => selected === undefined || (pciAddress !== undefined && selected.has(pciAddress)),
  );
  const problem = unfinished.find((work) => work.problem !== undefined)?.problem;
  if (problem !== undefined) return { kind: "failed", message: problem };
  if (unfinished.length === 0) return { kind: state.hasSeenSpec || wasReady ? "ready" : "configuring" };
  if (!state.hasSeenSpec) return { kind: "configuring" };
  if (state.syncStatus === "Failed") return { kind: "failed", message: state.lastSyncError };
  return state.failure === undefined ? { kind: "configuring" } : { kind: "failed", message: state.failure };
}

/** A daemon that has not observed a change of the spec for this long is reported. It observes one within seconds. */
const answersWithinMs = 60_000;

/** What a silent daemon has not done: "has not observed …"; or in how many milliseconds it counts as silent. */
export type Silence = { readonly message: string } | { readonly inMs: number };

/** Returns undefined if the daemon has observed the spec, or if it is not known when the spec was written. */
export function silenceOf({ hasSeenSpec, specWrittenAt }: CachedNodeState, nowMs: number): Silence | undefined {
  const writtenMs = recordedMs(specWrittenAt, nowMs);
  if (hasSeenSpec || writtenMs === undefined) return undefined;
  const inMs = writtenMs + answersWithinMs - nowMs;
  if (inMs > 0) return { inMs };
  return { message: `has not observed the node state's change of ${specWrittenAt ?? ""}` };
}

/**
 * Says what a node waits for that is not configured yet, to be read behind its name: "waits for a drain: …". Undefined if it is
 * just being configured.
 */
export function waitOf(state: CachedNodeState | undefined, nowMs: number): string | undefined {
  if (state === undefined || state.interfaces.length === 0) return "has not reported its NICs";
  const drain = state.drain.conditions.find(({ type }) => type === conditionTypes.drainProgressing);
  if (drain !== undefined && isWaiting(drain)) return `waits for a drain: ${drain.message}`;
  if (drain?.status === "True") return `is being drained: ${drain.message}`;
  const silence = silenceOf(state, nowMs);
  if (silence === undefined || !("message" in silence)) return undefined;
  return `waits for its config daemon, which ${silence.message}`;
}
