// SPDX-License-Identifier: Apache-2.0
/**
 * How far one node is with what a policy or a pool asks of it. Pure.
 * Usage: `progressOf(state, mergeResult.spec, { pciAddresses: match.pciAddresses, wasReady })`.
 */
import type { SriovNetworkNodeStateSpec } from "@switchyard/api";
import { equalJson } from "@switchyard/kube";
import type { NodeStateFacts } from "./node-state-facts.ts";

/** One node's answer. */
export type Progress =
  | { readonly kind: "ready" }
  | { readonly kind: "configuring" }
  /** It needs a person; `message` is the node's own. */
  | { readonly kind: "failed"; readonly message: string };

export interface ProgressOptions {
  /** The PFs that are looked at; all where absent. */
  readonly pciAddresses?: readonly string[];
  /** Whether who asks has been ready, with what it asks now. */
  readonly wasReady: boolean;
}

/**
 * Judged from the node's observation, not from its word: work left is what plan() finds there. A node whose state does not
 * have `spec` yet is still being told. What was ready stays so while the daemon has yet to look, as most changes of a spec
 * are about other PFs; what was not becomes so only by an observation that is as new as the spec.
 */
export function progressOf(
  state: NodeStateFacts | undefined,
  spec: SriovNetworkNodeStateSpec,
  { pciAddresses, wasReady }: ProgressOptions,
): Progress {
  if (state === undefined || state.interfaces.length === 0 || !equalJson(state.spec, spec)) {
    return { kind: "configuring" };
  }
  const asked = pciAddresses && new Set(pciAddresses);
  const mine = state.unfinished.filter(
    ({ pciAddress }) => asked === undefined || (pciAddress !== undefined && asked.has(pciAddress)),
  );
  const problem = mine.find((work) => work.problem !== undefined)?.problem;
  if (problem !== undefined) return { kind: "failed", message: problem };
  if (mine.length === 0) return { kind: state.hasSeenSpec || wasReady ? "ready" : "configuring" };
  return state.syncStatus === "Failed" && state.hasSeenSpec
    ? { kind: "failed", message: state.lastSyncError }
    : { kind: "configuring" };
}
