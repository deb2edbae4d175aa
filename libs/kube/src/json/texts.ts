// SPDX-License-Identifier: Apache-2.0
/**
 * Texts that are compared, cut or stored: JSON in one form, limited messages, and times in microseconds.
 * canonicalJson renders equal JSON values as equal texts: members are sorted, and undefined members are left out.
 * Usage: `canonicalJson({ b: 1, a: undefined })`, which is '{"b":1}'.
 */
import { isRecord } from "../kube-object.ts";

export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value ?? null);
  const members = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`);
  return `{${members.join(",")}}`;
}

/**
 * cutText shortens texts of unknown length before they become part of an object.
 * Returns `text` in at most `bytes` bytes of UTF-8; a text that is cut ends with "…".
 */
export function cutText(text: string, bytes: number): string {
  // A UTF-16 unit takes at most three bytes. Only the needed part of a long text is encoded.
  if (3 * text.length <= bytes) return text;
  const encoded = Buffer.from(text.slice(0, bytes + 1));
  if (encoded.length <= bytes) return text;
  let end = bytes - 3;
  while (((encoded[end] ?? 0) & 0xc0) === 0x80) end--; // do not cut within a character
  return `${encoded.toString("utf8", 0, end)}…`;
}

/** Returns the value with all its texts cut to at most `bytes` bytes; the value itself if none is longer. Names of members stay. */
export function cutTexts<Value>(value: Value, bytes: number): Value;
export function cutTexts(value: unknown, bytes: number): unknown {
  if (typeof value === "string") return cutText(value, bytes);
  if (Array.isArray(value)) {
    const before: readonly unknown[] = value;
    const items = before.map((item) => cutTexts(item, bytes));
    return items.some((item, at) => item !== before[at]) ? items : before;
  }
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, cutTexts(member, bytes)] as const);
  return members.some(([name, member]) => member !== value[name]) ? Object.fromEntries(members) : value;
}

/**
 * microTime renders times with microseconds (metav1.MicroTime) for Leases and Events.
 * Returns `date` in RFC 3339, with the last three digits of `micros` after its milliseconds.
 */
export function microTime(date: Date, micros = 0): string {
  return date.toISOString().replace("Z", `${`${micros % 1000}`.padStart(3, "0")}Z`);
}
