// SPDX-License-Identifier: Apache-2.0
/** progressOf returns how far one node is with the spec that a policy or pool requires. Pure. */
import type { SriovNetworkNodeStateSpec } from "@switchyard/api";
import { equalJson } from "@switchyard/kube";
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
 * PFs. One that was not ready does not become ready.
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
  return state.syncStatus === "Failed" && state.hasSeenSpec
    ? { kind: "failed", message: state.lastSyncError }
    : { kind: "configuring" };
}
