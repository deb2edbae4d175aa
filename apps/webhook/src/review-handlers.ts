// SPDX-License-Identifier: Apache-2.0
/** mutate and validate answer a review: mutate fills in defaults, validate admits or refuses the change. */
import {
  admit,
  applyDefaults,
  isReviewedKind,
  toReview,
  type AdmitOptions,
  type ClusterView,
  type Problem,
  type Review,
} from "@switchyard/admission";
import { afxdpApiGroup, apiGroup, type Result } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";
import type { ReviewAnswer, ReviewRequest } from "./admission-review.ts";
import type { AdmittedDeletions } from "./server/admitted-deletions.ts";
import { readObject } from "./server/read-object.ts";

/** Fills in defaults. An object with a wrong shape is not changed: the checks of the API server and validate() follow. */
export function mutate(request: ReviewRequest): ReviewAnswer {
  const isPolicy = request.group === apiGroup && request.kind === "SriovNetworkNodePolicy";
  // Without a spec, the patch has no place to add to.
  if (!isPolicy || !isRecord(request.object) || !isRecord(request.object["spec"])) return { allowed: true };
  if (request.operation === "CONNECT") return { allowed: true };
  const change = toReview("SriovNetworkNodePolicy", { ...request, operation: request.operation }, readObject);
  if (!change.ok || change.value.operation === "DELETE") return { allowed: true };
  const { patch, findings } = applyDefaults(change.value);
  return { allowed: true, patch, warnings: findings.map(({ field, message }) => `${field}: ${message}`) };
}

export interface ValidateOptions extends AdmitOptions {
  /** The deletions that were admitted before. */
  readonly deletions?: AdmittedDeletions | undefined;
}

/** Checks the rules of admission. Objects of kinds without rules are admitted. */
export function validate(request: ReviewRequest, view: ClusterView, options: ValidateOptions): ReviewAnswer {
  if (request.group !== apiGroup && request.group !== afxdpApiGroup) return { allowed: true };
  const review = readReviewOf(request);
  if (review === undefined) return { allowed: true };
  // An object that cannot be read can still be deleted.
  if (!review.ok)
    return request.operation === "DELETE" ? { allowed: true } : { allowed: false, problems: review.error };
  const { value } = review;
  if (value.kind !== "SriovNetworkNodePolicy" || value.operation !== "DELETE") {
    const { allowed, problems, warnings } = admit(value, view, options);
    return { allowed, problems, warnings };
  }
  const { allowed, problems, warnings } = admit(value, options.deletions?.applyTo(view) ?? view, options);
  const { name, namespace, uid } = value.oldObject.metadata;
  if (allowed && !request.dryRun && namespace === view.namespace) options.deletions?.record(name, uid);
  return { allowed, problems, warnings };
}

/** Returns undefined for kinds and operations without rules. */
function readReviewOf(request: ReviewRequest): Result<Review, readonly Problem[]> | undefined {
  const { kind, operation } = request;
  if (operation === "CONNECT" || !isReviewedKind(kind)) return undefined;
  return toReview(kind, { ...request, operation }, readObject);
}
