// SPDX-License-Identifier: Apache-2.0
/**
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
