// SPDX-License-Identifier: Apache-2.0
/**
 * What the API server makes of an object of ours, but for the validating webhook: pruned, defaulted, changed by the
 * mutating webhook, and judged by its CRD.
 * Usage: `const { object, problems } = judgeByCrd(manifest.object, { kind: "SriovNetwork" })`.
 */
import { schemas, type StructuralSchema } from "@switchyard/api";
import { isJsonObject, type JsonObject } from "../json.ts";
import { coerceObject } from "./coerce.ts";
import { rulesLeftOut, type FieldProblem } from "./field-problem.ts";
import { validateMetadata } from "./validate-metadata.ts";
import { validateRules } from "./validate-rules.ts";
import { validateSchema } from "./validate-schema.ts";

export interface CrdJudgement {
  /** Pruned and with its defaults. */
  readonly object: JsonObject;
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
  return {
    object: mutated,
    unknownFields: coerced.unknownFields,
    problems: [...validateMetadata(object["metadata"]), ...problemsOf(mutated, schema, old)],
  };
}

function problemsOf(
  object: JsonObject,
  schema: StructuralSchema,
  old: JsonObject | undefined,
): readonly FieldProblem[] {
  const place = { path: "", old: isJsonObject(old) ? coerceObject(old, schema).value : undefined };
  const ofSchema = validateSchema(object, schema, place);
  return ofSchema.length > 0 ? [...ofSchema, rulesLeftOut] : validateRules(object, schema, place);
}
