// SPDX-License-Identifier: Apache-2.0
/** nearestName finds the known name that is most like a misspelt one. */

/** Undefined if no name differs by at most a third of the characters of `text`. Only 100 characters are compared. */
export function nearestName(text: string, names: Iterable<string>): string | undefined {
  let best: { name: string; edits: number } | undefined;
  for (const name of new Set(names)) {
    const edits = distance(text.slice(0, 100), name.slice(0, 100));
    if (best === undefined || edits < best.edits) best = { name, edits };
  }
  return best !== undefined && best.edits <= Math.max(2, text.length / 3) ? best.name : undefined;
}

/** Number of characters to insert, delete or replace (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: Array.from(b).length + 1 }, (_, i) => i);
  for (const [i, letter] of Array.from(a).entries()) {
    const next = [i + 1];
    for (const [j, other] of Array.from(b).entries()) {
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + Number(letter !== other)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
