// SPDX-License-Identifier: Apache-2.0
/**
 * Interfaces with their JSDoc, read from TypeScript sources and turned into structural schemas. A field's type must have
 * a name: of `{ readonly a: string }` written in place the generator drops the JSDoc.
 * Usage: `const schemaOf = readInterfaces("libs/api/src/index.ts", "libs/api/tsconfig.json"); schemaOf("SriovNetworkNodePolicy")`.
 */
import type { StructuralSchema } from "@switchyard/api";
import { createGenerator } from "ts-json-schema-generator";
import { extraTags, toObjectSchema } from "./structural.ts";

/** Takes seconds: it compiles. What it returns is quick, and throws GenerateError for what no CRD can say. */
export function readInterfaces(source: string, tsconfig: string): (kind: string) => StructuralSchema {
  const generator = createGenerator({
    path: source,
    tsconfig,
    jsDoc: "extended",
    extraTags,
    // Everything inline: a structural schema has no $ref.
    expose: "none",
    topRef: false,
    // No `additionalProperties: false` beside properties: the API server prunes what it does not know.
    additionalProperties: true,
    // Fields stay in the order of the source.
    sortProps: false,
    skipTypeCheck: true, // `npm run typecheck` does that
  });
  return (kind) => toObjectSchema(kind, generator.createSchema(kind));
}
