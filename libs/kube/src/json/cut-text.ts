// SPDX-License-Identifier: Apache-2.0
/**
 * cutText shortens texts of unknown length before they become part of an object.
 * Usage: `cutText(error.message, 1024)`.
 */

/** Returns `text` in at most `bytes` bytes of UTF-8; a text that is cut ends with "…". */
export function cutText(text: string, bytes: number): string {
  // A UTF-16 unit takes at most three bytes. Only the needed part of a long text is encoded.
  if (3 * text.length <= bytes) return text;
  const encoded = Buffer.from(text.slice(0, bytes + 1));
  if (encoded.length <= bytes) return text;
  let end = bytes - 3;
  while (((encoded[end] ?? 0) & 0xc0) === 0x80) end--; // do not cut within a character
  return `${encoded.toString("utf8", 0, end)}…`;
}
