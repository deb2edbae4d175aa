// SPDX-License-Identifier: Apache-2.0
/**
 * nodeIdentityState reports whether the admission policies are in force that limit each node to its own objects.
 * Processes on nodes get their permissions only then, because with RBAC alone the token of one node could change the
 * objects of all nodes. If the API server refuses a policy or does not serve the kind, the permissions are removed
 * (sriov-operator.md M-18).
 */
import { isKubeError } from "@switchyard/kube";
import type { RenderedComponent } from "@switchyard/render";
import type { ComponentObjects, SyncFailure } from "./component-objects.ts";

/**
 * "enforced": the policies and their bindings are applied, and the cache shows them. "awaited": the cache does not show
 * them yet, or the API server was too busy to accept one. "refused": the API server does not accept one.
 */
export type NodeIdentityState = "enforced" | "awaited" | "refused";

/** `failures` are those of the current pass, which applies the policies before the permissions. */
export function nodeIdentityState(
  objects: Pick<ComponentObjects, "itemOf" | "seen">,
  components: readonly RenderedComponent[],
  failures: readonly SyncFailure[],
): NodeIdentityState {
  const policies = components.find(({ name }) => name === "node-identity")?.objects ?? [];
  const failed = failures.filter(({ kind, name }) =>
    policies.some((policy) => policy.kind === kind && policy.metadata.name === name),
  );
  if (policies.length === 0 || failed.some(({ error }) => isRefusal(error))) return "refused";
  const isSeen = policies.every((policy) => objects.seen(objects.itemOf(policy))?.isTerminating === false);
  return isSeen && failed.length === 0 ? "enforced" : "awaited";
}

/**
 * Reports whether the same request would fail again. Permissions are not removed because the API server is briefly
 * busy.
 */
function isRefusal(error: unknown): boolean {
  if (!isKubeError(error)) return false;
  const { code, status = 0 } = error;
  return code === "NotFound" || (status >= 400 && status < 500 && !transient.includes(status));
}

/** Unauthorized, Request Timeout, Conflict, Too Many Requests. */
const transient: readonly number[] = [401, 408, 409, 429];

/** Why permissions are not granted. */
export const withheld =
  "not granted, because the admission policies that limit it to its own node are not in force; " +
  "they need Kubernetes 1.30 or later";

/** Why permissions are not granted yet. */
export const rightsAwaited =
  "node components get their permissions once the admission policies that limit them are in force";
