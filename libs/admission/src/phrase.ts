// SPDX-License-Identifier: Apache-2.0
/**
 * Words for people: lists of names that stay short, and texts that fit a warning.
 * Usage: `listNames(["w1", "w2", "w3", "w4"], 2)` is "w1, w2 and 2 more".
 */

/** The names with commas between them, all after the first `most` as a number. */
export function listNames(names: readonly string[], most = 3): string {
  const shown = names.length <= most + 1 ? names : names.slice(0, most);
  const more = names.length - shown.length;
  return more === 0 ? shown.join(", ") : `${shown.join(", ")} and ${more} more`;
}

/** "1 node", "3 nodes". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** The user's own text in quotes, on one line and no longer than `most`. */
export function quote(text: string, most = 64): string {
  return JSON.stringify(clip(text, most));
}

/** The text on one line and cut to `most` UTF-16 units: a warning is an HTTP header, which has no line breaks. */
export function clip(text: string, most: number): string {
  const line = text.replaceAll(/\p{Cc}+/gu, " ");
  return line.length <= most ? line : `${line.slice(0, most - 3)}...`;
}
