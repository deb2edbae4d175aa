// SPDX-License-Identifier: Apache-2.0
/**
 * checkAgainstCrd does what the API server does with an object, except for calling the validating webhook: pruning, defaults,
 * the mutating webhook, and validation by the CRD.
 */
import { schemas } from "@switchyard/api";
import type { JsonObject } from "../json.ts";
import { coerceObject } from "./coerce-object.ts";
import { isBlocking, rulesLeftOut, type FieldProblem } from "./field-problem.ts";
import { malformedMetadata, unknownMetadata } from "./malformed-metadata.ts";
import { validateMetadata } from "./validate-metadata.ts";
import { validateRules } from "./validate-rules.ts";
import { validateSchema } from "./validate-schema.ts";

export interface CrdResult {
  /** The object after pruning, with its defaults. */
  readonly object: JsonObject;
  /** Why the server cannot decode the object. */
  readonly malformed: string | undefined;
  /** Paths of fields that are not in the schema. The server refuses them for kubectl and drops them for other clients. */
  readonly unknownFields: readonly string[];
  /** Reasons for a refusal. CEL rules are checked only if the object fits the schema. */
  readonly problems: readonly FieldProblem[];
}

export interface CrdOptions {
  readonly kind: string;
  /** The stored object that is updated; undefined for a new object. */
  readonly old?: JsonObject | undefined;
  /** The mutating webhook. */
  readonly mutate?: (object: JsonObject) => JsonObject;
}

/** Throws RangeError if `kind` is not one of Switchyard's kinds. */
export function checkAgainstCrd(object: JsonObject, { kind, old, mutate = (same) => same }: CrdOptions): CrdResult {
  const schema = Object.hasOwn(schemas, kind) ? schemas[kind] : undefined;
  if (schema === undefined) throw new RangeError(`${kind} is not one of Switchyard's kinds`);
  const coerced = coerceObject(object, schema);
  const mutated = mutate(coerced.value);
  const place = { path: "", old: old === undefined ? undefined : coerceObject(old, schema).value };
  const problems = [...validateMetadata(object["metadata"]), ...validateSchema(mutated, schema, place)];
  const ruleProblems = problems.some(isBlocking) ? [rulesLeftOut] : validateRules(mutated, schema, place);
  return {
    object: mutated,
    malformed: malformedMetadata(object["metadata"]),
    unknownFields: [...unknownMetadata(object["metadata"]), ...coerced.unknownFields],
    problems: [...problems, ...ruleProblems],
  };
}
