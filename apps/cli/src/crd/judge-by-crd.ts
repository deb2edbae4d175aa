// SPDX-License-Identifier: Apache-2.0
/**
 * What the API server makes of an object of ours, but for the validating webhook: pruned, defaulted, changed by the
 * mutating webhook, and judged by its CRD.
 * Usage: `const { object, problems } = judgeByCrd(manifest.object, { kind: "SriovNetwork" })`.
 */
import { schemas } from "@switchyard/api";
import type { JsonObject } from "../json.ts";
import { coerceObject } from "./coerce.ts";
import { isBlocking, rulesLeftOut, type FieldProblem } from "./field-problem.ts";
import { malformedMetadata, unknownMetadata } from "./metadata-shape.ts";
import { validateMetadata } from "./validate-metadata.ts";
import { validateRules } from "./validate-rules.ts";
import { validateSchema } from "./validate-schema.ts";

export interface CrdJudgement {
  /** Pruned and with its defaults. */
  readonly object: JsonObject;
  /** Why the server cannot even read it. */
  readonly malformed: string | undefined;
  /** Fields that the schema does not have. kubectl has the server refuse them; other clients lose them. */
  readonly unknownFields: readonly string[];
  /** What is refused. Rules are looked at only where the schema has nothing to say. */
  readonly problems: readonly FieldProblem[];
}

export interface CrdOptions {
  readonly kind: string;
  /** The stored object that an update replaces. */
  readonly old?: JsonObject | undefined;
  /** The mutating webhook. */
  readonly mutate?: (object: JsonObject) => JsonObject;
}

/** Throws RangeError for a kind that is none of ours. */
export function judgeByCrd(object: JsonObject, { kind, old, mutate = (same) => same }: CrdOptions): CrdJudgement {
  const schema = Object.hasOwn(schemas, kind) ? schemas[kind] : undefined;
  if (schema === undefined) throw new RangeError(`${kind} has no CRD of ours`);
  const coerced = coerceObject(object, schema);
  const mutated = mutate(coerced.value);
  const place = { path: "", old: old === undefined ? undefined : coerceObject(old, schema).value };
  const problems = [...validateMetadata(object["metadata"]), ...validateSchema(mutated, schema, place)];
  const ofRules = problems.some(isBlocking) ? [rulesLeftOut] : validateRules(mutated, schema, place);
  return {
    object: mutated,
    malformed: malformedMetadata(object["metadata"]),
    unknownFields: [...unknownMetadata(object["metadata"]), ...coerced.unknownFields],
    problems: [...problems, ...ofRules],
  };
}
