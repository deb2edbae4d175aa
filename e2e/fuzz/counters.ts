// SPDX-License-Identifier: Apache-2.0
/**
 * createCounters puts the coverage counters of istanbul into one array, so that a fuzz run can read and reset those of a program after
 * each input.
 */

/** The counters of one source: statements, functions, and the arms of branches (istanbul-lib-coverage, FileCoverageData). */
export interface FileCounters {
  s: ArrayLike<number> | Readonly<Record<string, number>>;
  f: ArrayLike<number> | Readonly<Record<string, number>>;
  readonly b: Record<string, ArrayLike<number>>;
}

export interface Counters {
  readonly length: number;
  reset(): void;
  /** Adds what was executed since reset() to what was seen. Returns how many counters have a value of a new order of magnitude. */
  note(): number;
  /** What was executed since reset(): the counter and the order of magnitude of its value in one number. */
  features(): readonly number[];
  /** Number of counters that were ever above 0. */
  countSeen(): number;
}

/** Orders of magnitude, as in AFL: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, from 128. */
function magnitude(count: number): number {
  if (count < 4) return count;
  if (count < 8) return 4;
  if (count < 16) return 5;
  if (count < 32) return 6;
  return count < 128 ? 7 : 8;
}

/** `coverage` is the global object of istanbul, path to counters, which are replaced. */
export function createCounters(coverage: Readonly<Record<string, FileCounters>>): Counters {
  const files = Object.values(coverage);
  const sizeOf = (values: object): number => Object.keys(values).length;
  const total = files.reduce(
    (sum, { s, f, b }) => sum + sizeOf(s) + sizeOf(f) + Object.values(b).reduce((arms, { length }) => arms + length, 0),
    0,
  );
  const all = new Uint32Array(total);
  let used = 0;
  const take = (length: number): Uint32Array => all.subarray(used, (used += length));
  for (const file of files) {
    file.s = take(sizeOf(file.s));
    file.f = take(sizeOf(file.f));
    for (const [branch, arms] of Object.entries(file.b)) file.b[branch] = take(arms.length);
  }
  /** Bit n: the counter had a value of the order of magnitude n. */
  const seen = new Uint16Array(total);

  return {
    length: total,
    reset: () => void all.fill(0),
    note() {
      let fresh = 0;
      for (let at = 0; at < total; at++) {
        const count = all[at] ?? 0;
        if (count === 0) continue;
        const bit = 1 << magnitude(count);
        const before = seen[at] ?? 0;
        if ((before & bit) !== 0) continue;
        seen[at] = before | bit;
        fresh++;
      }
      return fresh;
    },
    features() {
      const found: number[] = [];
      for (let at = 0; at < total; at++) if (all[at] !== 0) found.push(at * 16 + magnitude(all[at] ?? 0));
      return found;
    },
    countSeen: () => seen.reduce((count, bits) => (bits === 0 ? count : count + 1), 0),
  };
}
