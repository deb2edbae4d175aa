// SPDX-License-Identifier: Apache-2.0
/**
 * createMutator changes inputs of a fuzz run: bits, bytes, numbers, words of a dictionary, pieces that are repeated, removed, moved or
 * taken from another input, and values of JSON and YAML.
 */
import type { Random } from "./random.ts";

export interface MutatorOptions {
  readonly random: Random;
  readonly words: readonly string[];
  /** Longer results are cut. */
  readonly maxBytes: number;
}

/** Returns a changed copy. `other` is another input of the corpus, for pieces. */
export type Mutator = (input: Buffer, other: Buffer) => Buffer;

const numbers = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff];

/** Values at which readers of texts go wrong. */
const values = [
  ...[
    "null",
    "true",
    "-1",
    "0",
    "1e400",
    "9007199254740993",
    "4294967296",
    '""',
    "[]",
    "{}",
    '"__proto__"',
    '"constructor"',
  ],
  ...[
    '{"__proto__":{"a":1}}',
    "[[[[[[[[]]]]]]]]",
    '"\\ud800"',
    '"\\u0000"',
    "\u2028",
    "\u0085",
    "\ufeff",
    "0x10",
    "0o10",
  ],
  ...[" ", "\n", "\r\n", "\t", "\0", ":", ": ", "- ", "#", "&a ", "*a", "!!str ", "|\n", ">-\n", "---\n", "<<: ", "? "],
];

const opening = '[{("<';
const closing = ']})">';

type Change = (input: Buffer, other: Buffer) => Buffer;

/** Returns the bytes from an opening bracket or quote near a random place to the one that closes it, or undefined. */
function valueIn(input: Buffer, random: Random): readonly [number, number] | undefined {
  const from = random.below(input.length);
  for (let start = from; start < Math.min(input.length, from + 64); start++) {
    const kind = opening.indexOf(String.fromCharCode(input[start] ?? 0));
    if (kind < 0) continue;
    let depth = 0;
    for (let end = start + 1; end < input.length; end++) {
      const byte = String.fromCharCode(input[end] ?? 0);
      if (byte === closing[kind]) {
        if (depth === 0) return [start, end + 1];
        depth--;
      } else if (byte === opening[kind]) depth++;
    }
    return undefined;
  }
  return undefined;
}

/** Puts a value of JSON or YAML into so many lists or maps. Returns the input if there is no value near the place. */
export function nestValue(input: Buffer, levels: number, random: Random): Buffer {
  const [start, end] = valueIn(input, random) ?? [0, 0];
  if (end === 0) return input;
  const [open, close] = random.pick([
    ["[", "]"],
    ['{"a":', "}"],
  ] as const);
  return Buffer.concat([
    input.subarray(0, start),
    Buffer.from(open.repeat(levels)),
    input.subarray(start, end),
    Buffer.from(close.repeat(levels)),
    input.subarray(end),
  ]);
}

export function createMutator({ random, words, maxBytes }: MutatorOptions): Mutator {
  const dictionary = [...values, ...words].map((word) => Buffer.from(word));

  /** A place, and the place where a piece from it ends. Pieces are short more often than long. */
  function pieceOf(input: Buffer): readonly [number, number] {
    const start = random.below(input.length);
    const limit = random.oneIn(3) ? input.length : 16;
    return [start, Math.min(input.length, start + 1 + random.below(limit))];
  }

  /** Replaces input[start, end). */
  function replace(input: Buffer, [start, end]: readonly [number, number], ...parts: readonly Buffer[]): Buffer {
    return Buffer.concat([input.subarray(0, start), ...parts, input.subarray(end)]);
  }

  function insertAnywhere(input: Buffer, part: Buffer): Buffer {
    const at = random.below(input.length + 1);
    return replace(input, [at, at], part);
  }

  const changes: readonly Change[] = [
    function flipBit(input) {
      const copy = Buffer.from(input);
      const at = random.below(copy.length);
      copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
      return copy;
    },
    function setByte(input) {
      const copy = Buffer.from(input);
      copy[random.below(copy.length)] = random.below(256);
      return copy;
    },
    function addToByte(input) {
      const copy = Buffer.from(input);
      const at = random.below(copy.length);
      copy[at] = ((copy[at] ?? 0) + random.below(35) - 17) & 0xff;
      return copy;
    },
    function setNumber(input) {
      const width = random.pick([2, 4]);
      if (input.length < width) return input;
      const copy = Buffer.from(input);
      const at = random.below(copy.length - width + 1);
      const number = random.oneIn(2) ? random.pick(numbers) : random.below(copy.length + 8);
      const value = width === 2 ? number & 0xffff : number;
      if (random.oneIn(2)) copy.writeUIntLE(value, at, width);
      else copy.writeUIntBE(value, at, width);
      return copy;
    },
    function setDigits(input) {
      const digits = [...input.toString("latin1").matchAll(/\d+/g)];
      if (digits.length === 0) return input;
      const found = random.pick(digits);
      const number = random.pick([
        "0",
        "-1",
        "1.5",
        "65536",
        "2147483648",
        "99999999999999999999",
        `${random.below(300)}`,
      ]);
      return replace(input, [found.index, found.index + found[0].length], Buffer.from(number));
    },
    (input) => replace(input, pieceOf(input)),
    (input) => insertAnywhere(input, input.subarray(...pieceOf(input))),
    (input) => insertAnywhere(input, random.pick(dictionary)),
    (input) => replace(input, pieceOf(input), random.pick(dictionary)),
    (input, other) => insertAnywhere(input, other.subarray(...pieceOf(other))),
    (input, other) => replace(input, pieceOf(input), other.subarray(...pieceOf(other))),
    function splice(input, other) {
      return Buffer.concat([
        input.subarray(0, random.below(input.length + 1)),
        other.subarray(random.below(other.length)),
      ]);
    },
    function repeat(input) {
      const [start, end] = pieceOf(input);
      const times = 1 + random.below(random.oneIn(4) ? Math.ceil(maxBytes / (end - start)) : 8);
      const pieces = Array.from({ length: times }, () => input.subarray(start, end));
      return replace(input, [start, start], Buffer.concat(pieces));
    },
    function replaceValue(input, other) {
      const place = valueIn(input, random);
      if (place === undefined) return input;
      const value = random.oneIn(2) ? undefined : valueIn(other, random);
      return replace(input, place, value === undefined ? random.pick(dictionary) : other.subarray(...value));
    },
    (input) => nestValue(input, 1 + random.below(random.oneIn(4) ? 400 : 3), random),
  ];

  return (input, other) => {
    let changed = input;
    const count = random.oneIn(2) ? 1 : 1 << random.below(4);
    for (let nth = 0; nth < count; nth++) {
      if (changed.length === 0) changed = insertAnywhere(changed, random.pick(dictionary));
      changed = random.pick(changes)(changed, other.length === 0 ? changed : other);
      if (changed.length > maxBytes) changed = changed.subarray(0, maxBytes);
    }
    return changed;
  };
}
