// SPDX-License-Identifier: Apache-2.0
/**
 * An interner keeps one copy of equal values. The nodes of a fleet are much alike: 1,000 nodes have only a few different
 * statuses, and a result that was computed for one of them holds for all nodes that share it.
 * Usage: `const intern = createInterner<InterfaceStatus>(); intern({ pciAddress }) === intern({ pciAddress })`.
 */
import { createHash } from "node:crypto";

/** Returns the first value whose JSON was equal, with the keys in the same order. Values must not change. */
export type Interner<Value extends object> = (value: Value) => Value;

/** Returns an interner with weak references: a value that nothing else holds is forgotten. */
export function createInterner<Value extends object>(): Interner<Value> {
  const known = new Map<string, WeakRef<Value>>();
  const forget = new FinalizationRegistry<string>((key) => {
    if (known.get(key)?.deref() === undefined) known.delete(key);
  });
  return (value) => {
    const text = JSON.stringify(value);
    // The text of a large value would take more memory than the value itself, so its digest is the key.
    const key = text.length <= 64 ? text : createHash("sha256").update(text).digest("base64");
    const first = known.get(key)?.deref();
    if (first !== undefined) return first;
    known.set(key, new WeakRef(value));
    forget.register(value, key);
    return value;
  };
}
