// SPDX-License-Identifier: Apache-2.0
/** mutate and validate answer a review: mutate fills in defaults, validate admits or refuses the change. */
import {
  admit,
  applyDefaults,
  type AdmitOptions,
  type ReviewedChange,
  type ClusterView,
  type Problem,
  type Review,
  type ReviewedKind,
  type ReviewedKinds,
} from "@switchyard/admission";
import { afxdpApiGroup, apiGroup, err, ok, type Result } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";
import type { ReviewAnswer, ReviewRequest } from "./admission-review.ts";
import { readObject } from "./server/read-object.ts";

/** Fills in defaults. An object with a wrong shape is not changed: the checks of the API server and validate() follow. */
export function mutate(request: ReviewRequest): ReviewAnswer {
  const isPolicy = request.group === apiGroup && request.kind === "SriovNetworkNodePolicy";
  // Without a spec, the patch has no place to add to.
  if (!isPolicy || !isRecord(request.object) || !isRecord(request.object["spec"])) return { allowed: true };
  const change = readChange("SriovNetworkNodePolicy", request);
  if (!change.ok || change.value.operation === "DELETE") return { allowed: true };
  const { patch, findings } = applyDefaults(change.value);
  return { allowed: true, patch, warnings: findings.map(({ field, message }) => `${field}: ${message}`) };
}

/** Checks the rules of admission. Objects of kinds without rules are admitted. */
export function validate(request: ReviewRequest, view: ClusterView, options: AdmitOptions): ReviewAnswer {
  if (request.group !== apiGroup && request.group !== afxdpApiGroup) return { allowed: true };
  const review = readReviewOf(request);
  if (review === undefined) return { allowed: true };
  // An object that cannot be read can still be deleted.
  if (!review.ok)
    return request.operation === "DELETE" ? { allowed: true } : { allowed: false, problems: review.error };
  const { allowed, problems, warnings } = admit(review.value, view, options);
  return { allowed, problems, warnings };
}

/** Returns undefined for kinds and operations without rules. */
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
    case "AfxdpNetwork":
      return withKind("AfxdpNetwork", request);
    case "AfxdpNetworkNodePolicy":
      return withKind("AfxdpNetworkNodePolicy", request);
    case "AfxdpOperatorConfig":
      return withKind("AfxdpOperatorConfig", request);
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
): Result<ReviewedChange<ReviewedKinds[Kind]>, readonly Problem[]> {
  const { operation } = request;
  if (operation === "DELETE") {
    const oldObject = readObject(kind, request.oldObject);
    return oldObject.ok ? ok({ operation, oldObject: oldObject.value }) : oldObject;
  }
  const object = readObject(kind, request.object);
  if (!object.ok) return object;
  if (operation === "CREATE") return ok({ operation, object: object.value });
  if (operation !== "UPDATE") return err([{ field: "", message: `the operation ${operation} is not supported` }]);
  const oldObject = readObject(kind, request.oldObject);
  // If the old object cannot be read, the new one is checked like a new object: it can be repaired, but keeps no violation.
  return ok(
    oldObject.ok
      ? { operation, object: object.value, oldObject: oldObject.value }
      : { operation: "CREATE", object: object.value },
  );
}
