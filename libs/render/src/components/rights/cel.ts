// SPDX-License-Identifier: Apache-2.0
/**
 * Parts of CEL expressions for admission policies.
 * Usage: `celLiteral({ mode: 420 })` is `{"mode": dyn(420)}`.
 */

/** Returns a JSON value as a literal. The elements of a list or map are dyn, because CEL accepts no mixed types otherwise. */
export function celLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((inner: unknown) => `dyn(${celLiteral(inner)})`).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}: dyn(${celLiteral(inner)})`)
    .join(", ")}}`;
}

/** Compares two maps by their expressions. Entries whose `key` meets the condition `isMutable` may differ. */
export function sameEntriesExcept(isMutable: string, { before, after }: Readonly<Record<"before" | "after", string>>) {
  return (
    `${before}.all(key, ${isMutable} || key in ${after}) && ${after}.all(key, ` +
    `${isMutable} || (key in ${before} && ${before}[key] == ${after}[key]))`
  );
}

/** Compares fields of an object with those before the change; absent fields equal absent fields. */
export function sameFields(...fields: readonly string[]): string {
  return fields.map((field) => `object.${field} == oldObject.${field}`).join(" && ");
}
