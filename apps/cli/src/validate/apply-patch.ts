// SPDX-License-Identifier: Apache-2.0
/**
 * applyPatch applies the JSON patch of the mutating webhook to an object.
 * Usage: `const patched = applyPatch(object, result.patch)`.
 */
import type { PatchOperation } from "@switchyard/admission";
import { isJsonObject, type JsonObject } from "../json.ts";

/** Supports only members of maps: the webhook adds no items to lists. */
export function applyPatch(object: JsonObject, patch: readonly PatchOperation[]): JsonObject {
  return patch.reduce((patched, { path, value }) => {
    const keys = path
      .split("/")
      .slice(1)
      .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
    return add(patched, keys, value);
  }, object);
}

function add(object: JsonObject, [key = "", ...rest]: readonly string[], value: unknown): JsonObject {
  const member = object[key];
  const next = rest.length === 0 ? value : add(isJsonObject(member) ? member : {}, rest, value);
  return Object.fromEntries([...Object.entries(object).filter(([other]) => other !== key), [key, next]]);
}
