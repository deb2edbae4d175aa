// SPDX-License-Identifier: Apache-2.0
/**
 * Registrations of webhooks, and what becomes of a request that no webhook answers. It is refused only once a pod of ours
 * has served: what upstream registered may have nobody behind it, and while its pods become ours there may be none (M-50).
 * Usage: `const early = failsClosed(registered) ? manifest : withIgnorePolicy(manifest);`
 */
import { upstreamManager } from "@switchyard/api";
import { isRecord, type KubeObject } from "@switchyard/kube";
import type { Manifest } from "@switchyard/render";

export function isRegistration({ kind }: Pick<Manifest, "kind">): boolean {
  return kinds.includes(kind);
}

const kinds: readonly string[] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/** Whether it refuses what is not answered, because we said so: not where upstream did, or somebody lifted it in need. */
export function failsClosed(registration: KubeObject): boolean {
  const { managedFields = [] } = registration.metadata;
  const isUpstreams = managedFields.some(({ manager, operation, fieldsV1 }) => {
    return manager === upstreamManager && operation === "Update" && isRecord(fieldsV1) && "f:webhooks" in fieldsV1;
  });
  return !isUpstreams && hasFailPolicy(registration);
}

/** The same, but what is not answered is admitted. */
export function withIgnorePolicy(registration: Manifest): Manifest {
  const webhooks = webhooksOf(registration).map((webhook) => ({ ...webhook, failurePolicy: "Ignore" }));
  return { ...registration, ...{ webhooks } };
}

/** Whether it refuses what is not answered. */
export function hasFailPolicy(registration: object): boolean {
  return webhooksOf(registration).some(({ failurePolicy }) => failurePolicy === "Fail");
}

function webhooksOf(registration: object): readonly Readonly<Record<string, unknown>>[] {
  const webhooks: unknown = "webhooks" in registration ? registration.webhooks : undefined;
  return Array.isArray(webhooks) ? webhooks.filter(isRecord) : [];
}
