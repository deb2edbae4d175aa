// SPDX-License-Identifier: Apache-2.0
/**
 * readReview and answerReview convert an AdmissionReview of admission.k8s.io/v1 from the API server and the answer to it.
 */
import { describeRefusal, type PatchOperation, type Problem } from "@switchyard/admission";
import { err, ok, type Result } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";

/** The used fields of AdmissionReview.request. */
export interface ReviewRequest {
  readonly uid: string;
  readonly group: string;
  readonly kind: string;
  readonly operation: Operation;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  /** Empty for a new object with metadata.generateName. */
  readonly name: string;
  readonly userName: string;
  readonly dryRun: boolean;
  /** Null for DELETE. */
  readonly object: unknown;
  /** Null for CREATE. */
  readonly oldObject: unknown;
}

export type Operation = (typeof operations)[number];

/** The answer to a review. */
export interface ReviewAnswer {
  readonly allowed: boolean;
  /** All reasons for a refusal. */
  readonly problems?: readonly Problem[];
  readonly warnings?: readonly string[];
  readonly patch?: readonly PatchOperation[];
}

const operations = ["CREATE", "UPDATE", "DELETE", "CONNECT"] as const;
const apiVersion = "admission.k8s.io/v1";

/** Reads the body of a request. The error is a message for the client. */
export function readReview(body: unknown): Result<ReviewRequest, string> {
  if (!isRecord(body)) return err("the body is not a JSON object");
  if (body["kind"] !== "AdmissionReview" || body["apiVersion"] !== apiVersion) {
    return err(`the body is not an AdmissionReview of ${apiVersion}`);
  }
  const request = body["request"];
  if (!isRecord(request)) return err("request is missing");
  const { uid, operation, kind, userInfo } = request;
  if (typeof uid !== "string" || uid === "") return err("request.uid is missing");
  const known = operations.find((one) => one === operation);
  if (known === undefined) return err(`request.operation must be one of ${operations.join(", ")}`);
  if (!isRecord(kind) || typeof kind["kind"] !== "string") return err("request.kind is missing");
  return ok({
    uid,
    operation: known,
    group: textOf(kind["group"]),
    kind: kind["kind"],
    namespace: textOf(request["namespace"]),
    name: textOf(request["name"]),
    userName: isRecord(userInfo) ? textOf(userInfo["username"]) : "",
    dryRun: request["dryRun"] === true,
    object: request["object"] ?? null,
    oldObject: request["oldObject"] ?? null,
  });
}

/** The body of the answer. A refusal lists each field in details.causes, as the API server does for its own refusals. */
export function answerReview(request: ReviewRequest, answer: ReviewAnswer) {
  const { allowed, problems = [], warnings = [], patch = [] } = answer;
  return {
    apiVersion,
    kind: "AdmissionReview",
    response: {
      uid: request.uid,
      allowed,
      ...(warnings.length > 0 && { warnings }),
      ...(patch.length > 0 && {
        patchType: "JSONPatch",
        patch: Buffer.from(JSON.stringify(patch)).toString("base64"),
      }),
      ...(!allowed && { status: refusal(request, problems) }),
    },
  };
}

/** A metav1.Status. Because of its reason and causes, kubectl prints one line per field. */
function refusal({ group, kind, name }: ReviewRequest, problems: readonly Problem[]) {
  const { code, message, shown } = describeRefusal(problems);
  const causes = shown.map((problem) => ({ reason: "FieldValueInvalid", ...problem }));
  return { status: "Failure", code, reason: "Invalid", message, details: { group, kind, name, causes } };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
