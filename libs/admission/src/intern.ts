// SPDX-License-Identifier: Apache-2.0
/**
 * One copy of equal values. The nodes of a fleet are much alike, so 1,000 of them come down to a few statuses, and what
 * was reckoned for one of them holds for all that share it.
 * Usage: `const intern = createInterner<InterfaceStatus>(); intern({ … }) === intern({ … })`.
 */
import { createHash } from "node:crypto";

/** Gives back the first value that was equal to this one, as JSON with keys in the same order. Values must not change. */
export type Interner<Value extends object> = (value: Value) => Value;

/** Forgets what nobody else holds. */
export function createInterner<Value extends object>(): Interner<Value> {
  const known = new Map<string, WeakRef<Value>>();
  const forget = new FinalizationRegistry<string>((key) => {
    if (known.get(key)?.deref() === undefined) known.delete(key);
  });
  return (value) => {
    const text = JSON.stringify(value);
    // Large values by digest: their text would take more memory than they do.
    const key = text.length <= 64 ? text : createHash("sha256").update(text).digest("base64");
    const first = known.get(key)?.deref();
    if (first !== undefined) return first;
    known.set(key, new WeakRef(value));
    forget.register(value, key);
    return value;
  };
}
