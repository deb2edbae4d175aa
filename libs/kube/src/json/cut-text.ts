// SPDX-License-Identifier: Apache-2.0
/**
 * Texts of unknown length that become part of an object.
 * Usage: `cutText(error.message, 1024)`.
 */

/** `text` in at most `bytes` of UTF-8, with "…" in place of what is cut. */
export function cutText(text: string, bytes: number): string {
  // No text has more bytes than three for each UTF-16 unit; what is far too long is not encoded whole.
  if (3 * text.length <= bytes) return text;
  const encoded = Buffer.from(text.slice(0, bytes + 1));
  if (encoded.length <= bytes) return text;
  let end = bytes - 3;
  while (((encoded[end] ?? 0) & 0xc0) === 0x80) end--; // not within a character
  return `${encoded.toString("utf8", 0, end)}…`;
}
