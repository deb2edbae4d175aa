// SPDX-License-Identifier: Apache-2.0
/**
 * Evicts one pod by the eviction API, which honours PodDisruptionBudgets and the pod's own grace.
 * Usage: `const result = await evictPod(pod, transport, signal); if (result.kind === "refused") retry(result.message);`
 */
import { isKubeError, objectPath, type KubeError, type Transport } from "@switchyard/kube";
import { pods, type PodFacts } from "./pod-facts.ts";

export type EvictionResult =
  /** It is terminating, or gone already. */
  | { readonly kind: "accepted" }
  /** Not now. `message` is the API server's, and names the budget that holds the pod. */
  | { readonly kind: "refused"; readonly message: string; readonly retryAfterMs: number | undefined };

/** Webhooks of evictions may hang; the others of the node wait for theirs. */
const timeoutMs = 10_000;

/** Evicts this very pod, not one that has its name meanwhile. Rejects with the signal's reason only. */
export async function evictPod(
  pod: PodFacts,
  transport: Pick<Transport, "request">,
  signal: AbortSignal,
): Promise<EvictionResult> {
  const { name, namespace, uid } = pod;
  const body = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, namespace },
    deleteOptions: { preconditions: { uid } },
  };
  try {
    const path = objectPath(pods, { name, namespace }, "eviction");
    await transport.request({ method: "POST", path, body, signal, timeoutMs });
    return { kind: "accepted" };
  } catch (error) {
    signal.throwIfAborted(); // Its reason may look like an answer.
    if (!isKubeError(error)) throw error;
    if (goneCodes.has(error.code)) return { kind: "accepted" };
    return { kind: "refused", message: wordsOf(error), retryAfterMs: error.retryAfterMs };
  }
}

/** It is not there, or another one has its name. */
const goneCodes: ReadonlySet<string> = new Set(["NotFound", "Conflict"]);

/** Of a budget: its own sentence, "The disruption budget web needs 2 healthy pods and has 2 currently". */
function wordsOf(error: KubeError): string {
  const budget = error.details?.causes?.find(({ reason }) => reason === "DisruptionBudget");
  return budget?.message ?? error.message;
}
