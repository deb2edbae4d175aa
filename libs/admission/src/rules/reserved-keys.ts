// SPDX-License-Identifier: Apache-2.0
/**
 * checkReservedKeys refuses the key `__proto__` wherever users choose keys, such as in labels and external ids. In
 * JavaScript `__proto__` is not data but the object's prototype. Parsing it as JSON is harmless, but a program that copies
 * an object key by key would not get what the user wrote.
 */
import { refuse, type Finding } from "../finding.ts";

const reserved = "__proto__";

/** `object` is JSON whose nesting is limited, because the check is recursive. */
export function checkReservedKeys(object: unknown, path = ""): readonly Finding[] {
  if (Array.isArray(object))
    return object.flatMap((item: unknown, index) => checkReservedKeys(item, `${path}[${index}]`));
  if (typeof object !== "object" || object === null) return [];
  return Object.entries(object).flatMap(([key, value]: [string, unknown]) => {
    const field = path === "" ? key : `${path}.${key}`;
    return key === reserved
      ? [refuse(field, `the key "${reserved}" is reserved: use another one`)]
      : checkReservedKeys(value, field);
  });
}
