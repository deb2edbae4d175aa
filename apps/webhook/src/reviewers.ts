// SPDX-License-Identifier: Apache-2.0
/**
 * The two things that are done with a review: fill in defaults (mutate), and say yes or no (validate).
 * Usage: `answerReview(request, validate(request, view(), { nowMs }))`.
 */
import {
  admit,
  applyDefaults,
  type AdmitOptions,
  type Change,
  type ClusterView,
  type Problem,
  type Review,
  type ReviewedKind,
  type ReviewedKinds,
} from "@switchyard/admission";
import { apiGroup, err, ok, type Result } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";
import type { ReviewAnswer, ReviewRequest } from "./admission-review.ts";
import { readShape } from "./shapes.ts";

/** Fills in defaults. What has the wrong shape is left as it is: the API server's own checks come next, then validate(). */
export function mutate(request: ReviewRequest): ReviewAnswer {
  const isPolicy = request.group === apiGroup && request.kind === "SriovNetworkNodePolicy";
  // No path leads into a spec that is not there.
  if (!isPolicy || !isRecord(request.object) || !isRecord(request.object["spec"])) return { allowed: true };
  const change = readChange("SriovNetworkNodePolicy", request);
  if (!change.ok || change.value.operation === "DELETE") return { allowed: true };
  const { patch, findings } = applyDefaults(change.value);
  return { allowed: true, patch, warnings: findings.map(({ field, message }) => `${field}: ${message}`) };
}

/** Judges. Of kinds without rules everything is admitted. */
export function validate(request: ReviewRequest, view: ClusterView, options: AdmitOptions): ReviewAnswer {
  if (request.group !== apiGroup) return { allowed: true };
  const review = readReviewOf(request);
  if (review === undefined) return { allowed: true };
  // What cannot be read can be deleted all the same.
  if (!review.ok)
    return request.operation === "DELETE" ? { allowed: true } : { allowed: false, problems: review.error };
  const { allowed, problems, warnings } = admit(review.value, view, options);
  return { allowed, problems, warnings };
}

/** Undefined for what has no rules. */
function readReviewOf(request: ReviewRequest): Result<Review, readonly Problem[]> | undefined {
  if (request.operation === "CONNECT") return undefined;
  switch (request.kind) {
    case "SriovNetworkNodePolicy":
      return withKind("SriovNetworkNodePolicy", request);
    case "SriovNetworkPoolConfig":
      return withKind("SriovNetworkPoolConfig", request);
    case "SriovOperatorConfig":
      return withKind("SriovOperatorConfig", request);
    case "SriovNetwork":
      return withKind("SriovNetwork", request);
    case "SriovIBNetwork":
      return withKind("SriovIBNetwork", request);
    case "OVSNetwork":
      return withKind("OVSNetwork", request);
    case "BridgeNetwork":
      return withKind("BridgeNetwork", request);
    default:
      return undefined;
  }
}

function withKind<Kind extends ReviewedKind>(kind: Kind, request: ReviewRequest) {
  const change = readChange(kind, request);
  return change.ok ? ok({ ...change.value, kind }) : change;
}

function readChange<Kind extends ReviewedKind>(
  kind: Kind,
  request: ReviewRequest,
): Result<Change<ReviewedKinds[Kind]>, readonly Problem[]> {
  const { operation } = request;
  if (operation === "DELETE") {
    const oldObject = readShape(kind, request.oldObject);
    return oldObject.ok ? ok({ operation, oldObject: oldObject.value }) : oldObject;
  }
  const object = readShape(kind, request.object);
  if (!object.ok) return object;
  if (operation === "CREATE") return ok({ operation, object: object.value });
  if (operation !== "UPDATE") return err([{ field: "", message: `${operation} is not reviewed` }]);
  const oldObject = readShape(kind, request.oldObject);
  // An old object that cannot be read forgives nothing, and keeps nothing from being repaired.
  return ok(
    oldObject.ok
      ? { operation, object: object.value, oldObject: oldObject.value }
      : { operation: "CREATE", object: object.value },
  );
}
