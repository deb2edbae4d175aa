// SPDX-License-Identifier: Apache-2.0
/**
 * readInterfaces converts TypeScript interfaces with their JSDoc to structural schemas. The type of each field must
 * have a name: the generator drops the JSDoc of anonymous types such as `{ readonly a: string }`.
 * Usage: `const schemaOf = readInterfaces("libs/api/src/index.ts", "tsconfig.json"); schemaOf("OVSNetwork");`
 */
import type { StructuralSchema } from "@switchyard/api";
import { createGenerator } from "ts-json-schema-generator";
import { extraTags, toObjectSchema } from "./structural.ts";

/**
 * Compiles the source, which takes a few seconds. The returned function is fast, and throws a GenerateError if a CRD
 * cannot express the interface.
 */
export function readInterfaces(source: string, tsconfig: string): (kind: string) => StructuralSchema {
  const generator = createGenerator({
    path: source,
    tsconfig,
    jsDoc: "extended",
    extraTags,
    // Inline all types, because a structural schema cannot have $ref.
    expose: "none",
    topRef: false,
    // Do not write `additionalProperties: false`: the API server prunes unknown fields.
    additionalProperties: true,
    // Keep the order of the source.
    sortProps: false,
    skipTypeCheck: true, // `npm run typecheck` checks types
  });
  return (kind) => toObjectSchema(kind, generator.createSchema(kind));
}
