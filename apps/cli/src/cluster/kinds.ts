// SPDX-License-Identifier: Apache-2.0
/**
 * isOfKind is the only way to give data of unknown shape the type of a kind: it checks them against the schema of the
 * kind.
 */
import { customResources, schemas, type Kinds } from "@switchyard/api";
import { validateSchema } from "../crd/validate-schema.ts";
import { isJsonObject, textAt } from "../json.ts";

export type Kind = keyof Kinds;

/** Whether `kind` with the apiVersion `version` is one of Switchyard's kinds. */
export function isSwitchyardKind(kind: string, version: string): boolean {
  return customResources.some((type) => type.kind === kind && `${type.group}/${type.version}` === version);
}

/** Whether the object fits the schema of the kind. CEL rules and defaults are not considered. */
export function isOfKind<K extends Kind>(object: unknown, kind: K): object is Kinds[K] {
  const schema = schemas[kind];
  return (
    schema !== undefined &&
    isJsonObject(object) &&
    object["kind"] === kind &&
    textAt(object["metadata"], "name") !== undefined &&
    validateSchema(object, schema, { path: "" }).length === 0
  );
}
