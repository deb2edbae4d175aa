// SPDX-License-Identifier: Apache-2.0
/** evictPod evicts one pod by the eviction API, which respects PodDisruptionBudgets and the pod's grace period. */
import { pods } from "@switchyard/api";
import { isKubeError, objectPath, type KubeError, type Transport } from "@switchyard/kube";
import type { DrainedPod } from "@switchyard/policy";

export type EvictionResult =
  /** The pod is terminating or gone. */
  | { readonly kind: "accepted" }
  /**
   * The pod cannot be evicted now. `message` is the API server's, and names the PodDisruptionBudget if there is one.
   */
  | { readonly kind: "refused"; readonly message: string; readonly retryAfterMs: number | undefined };

/** A webhook that reviews evictions may hang, and the evictions of the node's other pods wait meanwhile. */
const timeoutMs = 10_000;

/** Evicts the pod with this uid, not a newer one of the same name. Rejects only with the signal's reason. */
export async function evictPod(
  pod: DrainedPod,
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
    signal.throwIfAborted(); // an abort reason can be a KubeError, too
    if (!isKubeError(error)) throw error;
    if (goneCodes.has(error.code)) return { kind: "accepted" };
    return { kind: "refused", message: describeRefusal(error), retryAfterMs: error.retryAfterMs };
  }
}

/** The pod does not exist, or the name belongs to another pod. */
const goneCodes: ReadonlySet<string> = new Set(["NotFound", "Conflict"]);

/** For a PodDisruptionBudget: "The disruption budget web needs 2 healthy pods and has 2 currently". */
function describeRefusal(error: KubeError): string {
  const budget = error.details?.causes?.find(({ reason }) => reason === "DisruptionBudget");
  return budget?.message ?? error.message;
}
