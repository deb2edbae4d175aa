// SPDX-License-Identifier: Apache-2.0
/**
 * Splits and checks D-Bus type signatures (D-Bus specification, "Type System").
 * Usage: `splitSignature("sa{sv}")` is `["s", "a{sv}"]`.
 */

/** Throws Error if the text is not a sequence of complete types. */
export function splitSignature(signature: string): readonly string[] {
  const types: string[] = [];
  for (let at = 0; at < signature.length; at += types.at(-1)?.length ?? 1) types.push(firstType(signature, at, 0));
  return types;
}

/** The specification allows 32 nested arrays and 32 nested structures. */
const maxDepth = 64;

/** Returns the complete type that starts at `at`. */
function firstType(signature: string, at: number, depth: number): string {
  const code = signature.charAt(at);
  if (depth > maxDepth) throw new Error(`signature "${signature}" is nested too deeply`);
  if (code !== "" && "ybnqiuxtdsogvh".includes(code)) return code;
  if (code === "a") return `a${firstType(signature, at + 1, depth + 1)}`;
  const close = code === "(" ? ")" : code === "{" ? "}" : undefined;
  if (close === undefined) throw new Error(`signature "${signature}" has no complete type at ${at}`);
  let end = at + 1;
  while (signature.charAt(end) !== close) end += firstType(signature, end, depth + 1).length;
  if (end === at + 1) throw new Error(`signature "${signature}" has an empty structure`);
  return signature.slice(at, end + 1);
}

/** Returns the alignment in bytes of a type: 8 for structures. */
export function alignmentOf(type: string): number {
  const code = type.charAt(0);
  if ("ygv".includes(code)) return 1;
  if ("nq".includes(code)) return 2;
  return "xtd({".includes(code) ? 8 : 4;
}
