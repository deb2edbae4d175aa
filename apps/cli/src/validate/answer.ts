// SPDX-License-Identifier: Apache-2.0
/**
 * The answer to one object: first the API server's, by its CRD, then the webhook's.
 * Usage: `answer(manifest, { operation: "CREATE", old: undefined, view: () => viewOf(cluster, namespace), nowMs })`.
 */
import { admit, describeRefusal, type ClusterView } from "@switchyard/admission";
import { customResources } from "@switchyard/api";
import { withDefaults, type PolicyDefaults } from "../cluster/policy-defaults.ts";
import { describeFieldProblem } from "../crd/field-problem.ts";
import { judgeByCrd, type CrdJudgement } from "../crd/judge-by-crd.ts";
import type { Operation } from "../flags.ts";
import type { Manifest } from "../input/manifest.ts";
import type { JsonObject } from "../json.ts";
import { isReviewed, reviewOf } from "./review-of.ts";

/** As it is printed. */
export interface Answer {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly operation: Operation;
  readonly allowed: boolean;
  /** HTTP status: 200; 400 and 422 from the API server, 403 from the webhook; 404 for an update of nothing. */
  readonly code: number;
  /** All that is wrong; empty where allowed. */
  readonly message: string;
  readonly warnings: readonly string[];
  /** With defaults; absent for DELETE. */
  readonly patched?: JsonObject;
}

export interface AnswerOptions {
  readonly operation: Operation;
  /** The stored object of this name, by storedForm(). Needed for UPDATE and DELETE. */
  readonly old: JsonObject | undefined;
  /** The cluster, with the object or without. */
  readonly view: ClusterView;
  /** Goes forward only. */
  readonly nowMs: () => number;
}

/** `manifest` is of one of our kinds, and has a namespace. */
export function answer(manifest: Manifest, options: AnswerOptions): Answer {
  const { operation, old, view, nowMs } = options;
  const { apiVersion, kind, namespace = "", name } = manifest;
  const about = { apiVersion, kind, namespace, name, operation };
  const refused = (code: number, message: string, patched?: JsonObject, warnings: readonly string[] = []): Answer => ({
    ...{ ...about, allowed: false, code, message, warnings },
    ...(patched && { patched }),
  });
  if (operation === "UPDATE" && old === undefined) return refused(404, notFound(manifest));

  const judgement = operation === "DELETE" ? undefined : judgeManifest(manifest, old);
  const refusal = judgement && refusalOf(manifest, judgement);
  if (refusal !== undefined) return refused(refusal.code, refusal.message, judgement?.object);

  const objects = { object: judgement?.object, oldObject: old };
  const review = isReviewed(kind) ? reviewOf(operation, kind, objects) : undefined;
  const verdict = review && admit(review, view, { nowMs });
  const warnings = verdict?.warnings ?? [];
  const patched = judgement?.object;
  if (verdict?.allowed === false) {
    const { code, message } = describeRefusal(verdict.problems);
    return refused(code, message, patched, warnings);
  }
  return { ...about, allowed: true, code: 200, message: "", warnings, ...(patched && { patched }) };
}

/** What the API server makes of it before the validating webhook. The status is another subresource's. */
export function judgeManifest(manifest: Manifest, old: JsonObject | undefined): CrdJudgement {
  const { kind } = manifest;
  const { status: _, ...object } = manifest.object;
  return judgeByCrd(object, { kind, old, mutate: (coerced) => withDefaults(coerced, old) });
}

/** The manifest as it is in the cluster already. */
export function storedForm({ kind, object: { status: _, ...object } }: Manifest, mutate: PolicyDefaults): JsonObject {
  return judgeByCrd(object, { kind, mutate }).object;
}

/** Whether kubectl gets it past the CRD. */
export function isAccepted({ malformed, unknownFields, problems }: CrdJudgement): boolean {
  return malformed === undefined && unknownFields.length === 0 && problems.length === 0;
}

interface Refusal {
  readonly code: number;
  readonly message: string;
}

/** In the API server's words. */
function refusalOf({ apiVersion, kind, name }: Manifest, judgement: CrdJudgement): Refusal | undefined {
  const { malformed, unknownFields, problems } = judgement;
  const [group = "", version = ""] = apiVersion.split("/");
  const unreadable = `${kind} in version "${version}" cannot be handled as a ${kind}`;
  if (malformed !== undefined) return { code: 400, message: `${unreadable}: ${malformed}` };
  if (unknownFields.length > 0) {
    const fields = unknownFields.map((field) => `unknown field "${field}"`).join(", ");
    return { code: 400, message: `${unreadable}: strict decoding error: ${fields}` };
  }
  const lines = problems.map(describeFieldProblem);
  if (lines.length === 0) return undefined;
  const list = lines.length === 1 ? (lines[0] ?? "") : `[${lines.join(", ")}]`;
  return { code: 422, message: `${kind}.${group} "${name}" is invalid: ${list}` };
}

function notFound({ kind, name, apiVersion }: Manifest): string {
  const plural = customResources.find((resource) => resource.kind === kind)?.plural ?? kind;
  const [group = ""] = apiVersion.split("/");
  return `${plural}.${group} "${name}" not found`;
}
