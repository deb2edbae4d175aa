// SPDX-License-Identifier: Apache-2.0
/**
 * Rights of processes on nodes come after the admission policies that limit each to the objects of its own node: by RBAC
 * alone, a node's token would reach the objects of all nodes. Where the API server refuses a policy, or does not know the
 * kind, the rights are withdrawn (M-18).
 * Usage: `switch (nodeIdentityState(objects, components, failures)) { case "enforced": … }`.
 */
import { isKubeError } from "@switchyard/kube";
import type { RenderedComponent } from "@switchyard/render";
import type { ComponentObjects } from "./component-objects.ts";
import type { SyncFailure } from "./sync-components.ts";

/**
 * "enforced": the policies and their bindings are applied, and the API server shows them. "awaited": they are not seen yet,
 * or the API server was too busy to take one. "refused": it will not take one.
 */
export type NodeIdentityState = "enforced" | "awaited" | "refused";

/** `failures` are those of the present pass, in which the policies were applied before the rights. */
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

/** Whether the same request would fail again: rights are not withdrawn because the API server is busy for a moment. */
function isRefusal(error: unknown): boolean {
  if (!isKubeError(error)) return false;
  const { code, status = 0 } = error;
  return code === "NotFound" || (status >= 400 && status < 500 && !passing.includes(status));
}

/** Unauthorized, request timeout, conflict, too many requests. */
const passing: readonly number[] = [401, 408, 409, 429];

/** Why there are no rights. */
export const withheld =
  "not granted, because the admission policies that limit it to its own node are not in force; " +
  "they need Kubernetes 1.30 or later";

/** What is to come by itself. */
export const rightsAwaited =
  "node components get their permissions once the admission policies that limit them are in force";
