// SPDX-License-Identifier: Apache-2.0
/**
 * compareSchemas compares the kinds that the API server serves with those of this release. It is a chunk of its own, because
 * the schemas are large.
 * Usage: `const { compareSchemas } = await import("./compare-schemas.ts"); compareSchemas(openApiDocument);`
 */
import { apiGroup, schemas, sriovResources } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";
import { missingFields } from "./schema-fields.ts";

/** Fields in a message; the others are counted. */
const maxFields = 3;

/** Takes the OpenAPI v3 document of the API group. Returns a sentence for each kind that is missing or lacks fields. */
export function compareSchemas(document: unknown): readonly string[] {
  const components = isRecord(document) && isRecord(document["components"]) ? document["components"] : {};
  const served = Object.values(isRecord(components["schemas"]) ? components["schemas"] : {});
  return sriovResources.flatMap(({ kind, plural }) => {
    const name = `CustomResourceDefinition ${plural}.${apiGroup}`;
    const present = served.find((schema) => isOfKind(schema, kind));
    if (present === undefined) return [`${name} is not installed`];
    const missing = missingFields({ wanted: schemas[kind], present });
    if (missing.length === 0) return [];
    const more = missing.length > maxFields ? ` and ${missing.length - maxFields} more fields` : "";
    return [`${name} lacks ${missing.slice(0, maxFields).join(", ")}${more}`];
  });
}

function isOfKind(schema: unknown, kind: string): boolean {
  const kinds: unknown = isRecord(schema) ? schema["x-kubernetes-group-version-kind"] : undefined;
  return Array.isArray(kinds) && kinds.some((it) => isRecord(it) && it["group"] === apiGroup && it["kind"] === kind);
}
