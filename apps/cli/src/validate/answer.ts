// SPDX-License-Identifier: Apache-2.0
/**
 * answer returns the answer to a change of one object: first that of the API server by the object's CRD, then that of the
 * webhook.
 */
import {
  admit,
  describeRefusal,
  isReviewedKind,
  toReview,
  type AdmitOptions,
  type ClusterView,
} from "@switchyard/admission";
import { customResources, defined, err, ok, schemas } from "@switchyard/api";
import { isOfKind } from "../cluster/kinds.ts";
import { withDefaults, type PolicyDefaults } from "../cluster/policy-defaults.ts";
import { checkAgainstCrd, type CrdResult } from "../crd/check-against-crd.ts";
import { describeFieldProblem } from "../crd/field-problem.ts";
import type { Operation } from "../flags.ts";
import { isJsonObject, type JsonObject, type Manifest } from "../json.ts";

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
  const refused = (code: number, message: string, patched?: JsonObject, warnings: readonly string[] = []): Answer => ({
    ...about,
    allowed: false,
    code,
    message,
    warnings,
    ...defined({ patched }),
  });
  if (operation === "UPDATE" && old === undefined) return refused(404, notFound(manifest));

  const crdResult = operation === "DELETE" ? undefined : checkManifest(manifest, old);
  const refusal = crdResult && refusalOf(manifest, crdResult);
  if (refusal !== undefined) return refused(refusal.code, refusal.message, crdResult?.object);

  const patched = crdResult?.object;
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
    return refused(code, message, patched, warnings);
  }
  return { ...about, allowed: true, code: 200, message: "", warnings, ...defined({ patched }) };
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

interface ServerRefusal {
  readonly code: number;
  readonly message: string;
}

/** The refusal in the words of the API server; undefined if it accepts the object. */
function refusalOf(manifest: Manifest, crdResult: CrdResult): ServerRefusal | undefined {
  const { apiVersion, kind, name } = manifest;
  const { malformed, unknownFields, problems } = crdResult;
  const [group = "", version = ""] = apiVersion.split("/");
  const unreadable = `${kind} in version "${version}" cannot be handled as a ${kind}`;
  if (malformed !== undefined) return { code: 400, message: `${unreadable}: ${malformed}` };
  if (unknownFields.length > 0) {
    const fields = unknownFields.map((field) => `unknown field "${field}"`).join(", ");
    const hints = unquotedTexts(manifest).map((field) => `; ${field} is a text: ${quoteAdvice(field)}`);
    return { code: 400, message: `${unreadable}: strict decoding error: ${fields}${hints.join("")}` };
  }
  const texts = unquotedTexts(manifest);
  const lines = problems
    .map((problem) => ({ problem, text: describeFieldProblem(problem) }))
    .map(({ problem, text }) => (texts.includes(problem.field) ? `${text} (${quoteAdvice(problem.field)})` : text));
  if (lines.length === 0) return undefined;
  const list = lines.length === 1 ? (lines[0] ?? "") : `[${lines.join(", ")}]`;
  return { code: 422, message: `${kind}.${group} "${name}" is invalid: ${list}` };
}

/** Fields of the spec that are texts, such as ipam, and have an object or a list in the manifest: quotes are missing. */
function unquotedTexts({ kind, object: { spec } }: Manifest): readonly string[] {
  const properties = schemas[kind]?.properties?.["spec"]?.properties ?? {};
  if (!isJsonObject(spec)) return [];
  return Object.entries(spec).flatMap(([key, value]) => {
    const isText = Object.hasOwn(properties, key) && properties[key]?.type === "string";
    return isText && typeof value === "object" && value !== null ? [`spec.${key}`] : [];
  });
}

function quoteAdvice(field: string): string {
  const name = field.slice(field.lastIndexOf(".") + 1);
  return `write its JSON in single quotes, as in ${name}: '{"type": "host-local"}', or as a block after "${name}: |"`;
}

function notFound({ kind, name, apiVersion }: Manifest): string {
  const plural = customResources.find((resource) => resource.kind === kind)?.plural ?? kind;
  const [group = ""] = apiVersion.split("/");
  return `${plural}.${group} "${name}" not found`;
}
