// SPDX-License-Identifier: Apache-2.0
/**
 * answer returns the answer to a change of one object: first that of the API server by the object's CRD, then that of the
 * webhook.
 */
import {
  admit,
  describeFinding,
  describeRefusal,
  isReviewedKind,
  toReview,
  type AdmitOptions,
  type ClusterView,
} from "@switchyard/admission";
import { customResources, defined, err, ok } from "@switchyard/api";
import { isOfKind } from "../cluster/kinds.ts";
import { withDefaults, type PolicyDefaults } from "../cluster/policy-defaults.ts";
import { checkAgainstCrd, type CrdResult } from "../crd/check-against-crd.ts";
import { describeFieldProblem, rulesLeftOut } from "../crd/field-problem.ts";
import type { Operation } from "../flags.ts";
import type { JsonObject, Manifest } from "../json.ts";
import { fieldHints } from "./field-hints.ts";

/** As it is printed. */
export interface Answer {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly operation: Operation;
  readonly allowed: boolean;
  /**
   * HTTP status code: 200 if allowed; 400 and 422 from the API server; 403 from the webhook; 404 for an update of an object
   * that does not exist.
   */
  readonly code: number;
  /** All problems; empty if allowed. */
  readonly message: string;
  /** The message in parts, one for each problem. Not printed as data. */
  readonly lines: readonly string[];
  /** What is probably meant by fields that the API server refuses; absent without any. */
  readonly hints?: readonly string[];
  readonly warnings: readonly string[];
  /** The object with its defaults; absent for DELETE. */
  readonly patched?: JsonObject;
}

export interface AnswerOptions {
  readonly operation: Operation;
  /** The stored object with the same name, as returned by storedForm(). Required for UPDATE and DELETE. */
  readonly old: JsonObject | undefined;
  /** The cluster. It may or may not contain the object. */
  readonly view: ClusterView;
  readonly admitOptions: AdmitOptions;
}

/** `manifest` is of one of Switchyard's kinds and has a namespace. */
export function answer(manifest: Manifest, options: AnswerOptions): Answer {
  const { operation, old, view, admitOptions } = options;
  const { apiVersion, kind, namespace = "", name } = manifest;
  const about = { apiVersion, kind, namespace, name, operation };
  const refused = (refusal: Refusal, more: Pick<Answer, "patched"> = {}, warnings: readonly string[] = []): Answer => ({
    ...about,
    allowed: false,
    ...refusal,
    warnings,
    ...more,
  });
  if (operation === "UPDATE" && old === undefined) {
    const message = notFound(manifest);
    return refused({ code: 404, message, lines: [message] });
  }

  const crdResult = operation === "DELETE" ? undefined : checkManifest(manifest, old);
  const refusal = crdResult && refusalOf(manifest, crdResult);
  const patched = crdResult?.object;
  if (refusal !== undefined) return refused(refusal, defined({ patched }));

  // An object that does not fit the schema of its kind is not reviewed: the check of its CRD reports it.
  const review = isReviewedKind(kind)
    ? toReview(kind, { operation, object: patched, oldObject: old }, (of, object) =>
        isOfKind(object, of) ? ok(object) : err(undefined),
      )
    : undefined;
  const result = review?.ok === true ? admit(review.value, view, admitOptions) : undefined;
  const warnings = result?.warnings ?? [];
  if (result?.allowed === false) {
    const { code, message } = describeRefusal(result.problems);
    const lines = result.problems.map(describeFinding);
    return refused({ code, message, lines }, defined({ patched }), warnings);
  }
  return { ...about, allowed: true, code: 200, message: "", lines: [], warnings, ...defined({ patched }) };
}

/** What the API server does with the manifest before it calls the validating webhook. It drops the status of the object. */
export function checkManifest(manifest: Manifest, old: JsonObject | undefined): CrdResult {
  const { kind } = manifest;
  const { status: _, ...object } = manifest.object;
  return checkAgainstCrd(object, { kind, old, mutate: (coerced) => withDefaults(coerced, old) });
}

/** The manifest as the cluster stores it. */
export function storedForm({ kind, object: { status: _, ...object } }: Manifest, mutate: PolicyDefaults): JsonObject {
  return checkAgainstCrd(object, { kind, mutate }).object;
}

/** Whether the API server accepts the object, apart from the webhook. kubectl makes it refuse unknown fields. */
export function isAccepted({ malformed, unknownFields, problems }: CrdResult): boolean {
  return malformed === undefined && unknownFields.length === 0 && problems.length === 0;
}

type Refusal = Pick<Answer, "code" | "message" | "lines" | "hints">;

/** The refusal in the words of the API server, with hints; undefined if it accepts the object. */
function refusalOf(manifest: Manifest, crdResult: CrdResult): Refusal | undefined {
  const { apiVersion, kind, name } = manifest;
  const { malformed, unknownFields, problems } = crdResult;
  const [group = "", version = ""] = apiVersion.split("/");
  const unreadable = `${kind} in version "${version}" cannot be handled as a ${kind}`;
  if (malformed !== undefined) return { code: 400, message: `${unreadable}: ${malformed}`, lines: [malformed] };
  const hints = fieldHints(manifest, crdResult);
  const withHints = hints.length === 0 ? {} : { hints };
  if (unknownFields.length > 0) {
    const lines = unknownFields.map((field) => `unknown field "${field}"`);
    return { code: 400, message: `${unreadable}: strict decoding error: ${lines.join(", ")}`, lines, ...withHints };
  }
  const [first, ...more] = problems.map(describeFieldProblem);
  if (first === undefined) return undefined;
  const list = more.length === 0 ? first : `[${[first, ...more].join(", ")}]`;
  const lines = problems.filter((problem) => problem !== rulesLeftOut).map(describeFieldProblem);
  return { code: 422, message: `${kind}.${group} "${name}" is invalid: ${list}`, lines, ...withHints };
}

function notFound({ kind, name, apiVersion }: Manifest): string {
  const plural = customResources.find((resource) => resource.kind === kind)?.plural ?? kind;
  const [group = ""] = apiVersion.split("/");
  return `${plural}.${group} "${name}" not found`;
}
