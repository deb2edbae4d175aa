// SPDX-License-Identifier: Apache-2.0
/**
 * Keys that no object may have, wherever users choose keys: labels, external ids. In JavaScript `__proto__` is not
 * data but what an object inherits from. Reading it from JSON is harmless; whoever copies it key by key gets something else
 * than the user wrote.
 */
import { refuse, type Finding } from "../finding.ts";

const forbidden = "__proto__";

/** `object` is JSON, nested no deeper than a stack allows. */
export function checkKeys(object: unknown, path = ""): readonly Finding[] {
  if (Array.isArray(object)) return object.flatMap((item: unknown, index) => checkKeys(item, `${path}[${index}]`));
  if (typeof object !== "object" || object === null) return [];
  return Object.entries(object).flatMap(([key, value]: [string, unknown]) => {
    const field = path === "" ? key : `${path}.${key}`;
    return key === forbidden
      ? [refuse(field, `the key "${forbidden}" is reserved: use another one`)]
      : checkKeys(value, field);
  });
}
