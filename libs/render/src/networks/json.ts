// SPDX-License-Identifier: Apache-2.0
/**
 * Json represents JSON values without loss: objects keep the order of their members, and numbers keep all their digits.
 */

/** Any JSON value. */
export type Json = null | boolean | string | number | JsonNumber | JsonObject | readonly Json[];

/** A number as text. JavaScript numbers would round "18446744073709551615". */
export interface JsonNumber {
  readonly kind: "number";
  readonly digits: string;
}

/** An object. It is not a JavaScript object, because those move members with numeric names to the front. */
export interface JsonObject {
  readonly kind: "object";
  readonly members: ReadonlyMap<string, Json>;
}

/** Returns an object with the given members in their order, without those that are undefined. */
export function jsonObject(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  const given = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return { kind: "object", members: new Map(given) };
}

/** Returns an object with the members of `first`, followed by those of `more`. */
export function joinObjects(first: JsonObject, more: JsonObject): JsonObject {
  return { kind: "object", members: new Map([...first.members, ...more.members]) };
}

/** Formats the value without blanks. The result is never longer than the text from which the value was parsed. */
export function compactJson(value: Json): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (!("kind" in value)) return `[${value.map(compactJson).join(",")}]`;
  if (value.kind === "number") return value.digits;
  const members = [...value.members].map(([name, member]) => `${JSON.stringify(name)}:${compactJson(member)}`);
  return `{${members.join(",")}}`;
}

/** Formats the value with an indent of four blanks, as upstream's operator does. */
export function formatJson(value: Json, indent = ""): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (!("kind" in value)) {
    return block(
      "[",
      value.map((item) => formatJson(item, `${indent}    `)),
      indent,
    ).concat("]");
  }
  if (value.kind === "number") return value.digits;
  const members = [...value.members].map(([name, member]) => {
    return `${JSON.stringify(name)}: ${formatJson(member, `${indent}    `)}`;
  });
  return block("{", members, indent).concat("}");
}

/**
 * Returns how much longer formatJson's text is than compactJson's. It grows with the depth: 256 KiB can become 45 MB.
 */
export function layoutLength(value: Json, depth = 0): number {
  if (value === null || typeof value !== "object") return 0;
  if ("kind" in value && value.kind === "number") return 0;
  const isObject = "kind" in value;
  const items = isObject ? [...value.members.values()] : value;
  if (items.length === 0) return 0;
  const line = 1 + 4 * (depth + 1); // the line break before each item and its indent
  const own = items.length * (isObject ? line + 1 : line) + 1 + 4 * depth;
  return items.reduce<number>((sum, item) => sum + layoutLength(item, depth + 1), own);
}

function block(open: string, items: readonly string[], indent: string): string {
  if (items.length === 0) return open;
  return `${open}\n${items.map((item) => `${indent}    ${item}`).join(",\n")}\n${indent}`;
}
