// SPDX-License-Identifier: Apache-2.0
/**
 * These functions read and change the failurePolicy of webhook registrations. Requests that no webhook answers are
 * refused only after a pod of this operator has served. Upstream's registration may have no server behind it, and while
 * upstream's pods are replaced, none may run (sriov-operator.md M-50).
 */
import { upstreamManager } from "@switchyard/api";
import { isRecord, type KubeObject } from "@switchyard/kube";
import type { Manifest } from "@switchyard/render";

export function isRegistration({ kind }: Pick<Manifest, "kind">): boolean {
  return kinds.includes(kind);
}

const kinds: readonly string[] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/**
 * Reports whether this operator set failurePolicy Fail: not upstream's, and not if a user set Ignore in an emergency.
 */
export function failsClosed(registration: KubeObject): boolean {
  const { managedFields = [] } = registration.metadata;
  const isUpstreams = managedFields.some(({ manager, operation, fieldsV1 }) => {
    return manager === upstreamManager && operation === "Update" && isRecord(fieldsV1) && "f:webhooks" in fieldsV1;
  });
  return !isUpstreams && hasFailPolicy(registration);
}

/** Returns the registration with failurePolicy Ignore, so that unanswered requests are admitted. */
export function withIgnorePolicy(registration: Manifest): Manifest {
  const webhooks = webhooksOf(registration).map((webhook) => ({ ...webhook, failurePolicy: "Ignore" }));
  return { ...registration, ...{ webhooks } };
}

/** Reports whether a webhook has failurePolicy Fail, so that unanswered requests are refused. */
export function hasFailPolicy(registration: object): boolean {
  return failingWebhooks(registration).length > 0;
}

/** The indexes of the webhooks with failurePolicy Fail. */
export function failingWebhooks(registration: object): readonly number[] {
  return webhooksOf(registration).flatMap(({ failurePolicy }, index) => (failurePolicy === "Fail" ? [index] : []));
}

function webhooksOf(registration: object): readonly Readonly<Record<string, unknown>>[] {
  const webhooks: unknown = "webhooks" in registration ? registration.webhooks : undefined;
  return Array.isArray(webhooks) ? webhooks.filter(isRecord) : [];
}
