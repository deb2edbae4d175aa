// SPDX-License-Identifier: Apache-2.0
/**
 * Parts of messages: short lists of names, counts, quoted values, and texts that fit into a warning.
 * Usage: `listNames(["w1", "w2", "w3", "w4"], 2)` is "w1, w2 and 2 more".
 */

/** Joins the names with commas. Names after the first `most` are only counted. */
export function listNames(names: readonly string[], most = 3): string {
  const shown = names.length <= most + 1 ? names : names.slice(0, most);
  const more = names.length - shown.length;
  return more === 0 ? shown.join(", ") : `${shown.join(", ")} and ${more} more`;
}

/** "1 node", "3 nodes". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** A user's text in quotes, on one line, cut to `most` UTF-16 units. */
export function quote(text: string, most = 64): string {
  return JSON.stringify(clip(text, most));
}

/** Replaces line breaks and control characters by blanks and cuts the text to `most` UTF-16 units: a warning is an HTTP header. */
export function clip(text: string, most: number): string {
  const line = text.replaceAll(/\p{Cc}+/gu, " ");
  return line.length <= most ? line : `${line.slice(0, most - 3)}...`;
}
