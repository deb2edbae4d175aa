// SPDX-License-Identifier: Apache-2.0
/**
 * missingFields compares two schemas of a kind: it returns the fields that one declares and the other neither declares nor
 * keeps. The API server drops such fields from objects, or rejects an apply that has them.
 */
import { apiGroup, schemas, sriovResources } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";

/** Fields in a message; the others are counted. */
const maxFields = 3;

/** Schemas are nested at most this deep; deeper ones come from nobody that means well. */
const maxDepth = 32;

/** Paths of the outermost missing fields, sorted: "status.interfaces[].Vfs[].adminMac". `metadata` is not compared. */
export function missingFields({
  wanted,
  present,
}: {
  readonly wanted: unknown;
  readonly present: unknown;
}): readonly string[] {
  const found: string[] = [];
  const collect = (at: string, want: unknown, have: unknown, depth: number): void => {
    if (!isRecord(want) || depth > maxDepth) return;
    if (!isRecord(have)) {
      found.push(at);
      return;
    }
    if (have["x-kubernetes-preserve-unknown-fields"] === true) return;
    const properties = isRecord(have["properties"]) ? have["properties"] : {};
    for (const [name, field] of Object.entries(isRecord(want["properties"]) ? want["properties"] : {})) {
      if (depth === 0 && name === "metadata") continue;
      const path = at === "" ? name : `${at}.${name}`;
      collect(
        path,
        field,
        Object.hasOwn(properties, name) ? properties[name] : have["additionalProperties"],
        depth + 1,
      );
    }
    if (want["items"] !== undefined) collect(`${at}[]`, want["items"], have["items"], depth + 1);
    if (want["additionalProperties"] !== undefined) {
      collect(`${at}.*`, want["additionalProperties"], have["additionalProperties"], depth + 1);
    }
  };
  collect("", wanted, present, 0);
  return found.toSorted();
}

/**
 * compareSchemas compares the kinds that the API server serves with those of this release. It is a chunk of its own, because
 * the schemas are large.
 * Takes the OpenAPI v3 document of the API group. Returns a sentence for each kind that is missing or lacks fields.
 */
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
