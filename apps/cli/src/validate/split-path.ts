// SPDX-License-Identifier: Apache-2.0
/** splitPath finds the schema of a field, as far as the field exists. */
import type { StructuralSchema } from "@switchyard/api";

export interface SplitPath {
  /** The deepest schema on the path. */
  readonly schema: StructuralSchema;
  /** Its path, such as "spec.trunk[0]". */
  readonly path: string;
  /** What follows and does not exist in the schema, such as "node-role.kubernetes.io/worker"; empty if the whole path exists. */
  readonly name: string;
}

/** `path` is one of the API server, such as "spec.trunk[0].id". Keys of maps can contain dots. */
export function splitPath(root: StructuralSchema, path: string): SplitPath {
  let [schema, end] = [root, 0];
  while (end < path.length) {
    const step = stepFrom(schema, path.slice(end));
    if (step === undefined) break;
    schema = step.schema;
    end += step.length;
  }
  const rest = path.slice(end);
  return { schema, path: path.slice(0, end), name: rest.startsWith(".") ? rest.slice(1) : rest };
}

function stepFrom(
  { items, properties = {}, additionalProperties }: StructuralSchema,
  rest: string,
): { readonly schema: StructuralSchema; readonly length: number } | undefined {
  const [index] = /^\[\d+\]/.exec(rest) ?? [];
  if (index !== undefined) return items && { schema: items, length: index.length };
  const [, key = ""] = /^\.?([^.[]+)/.exec(rest) ?? [];
  const dot = rest.startsWith(".") ? 1 : 0;
  if (Object.hasOwn(properties, key) && properties[key] !== undefined) {
    return { schema: properties[key], length: dot + key.length };
  }
  // A key of a map can have dots, and its value in our kinds is a text or a number: the rest is the key.
  return additionalProperties && { schema: additionalProperties, length: rest.length };
}
