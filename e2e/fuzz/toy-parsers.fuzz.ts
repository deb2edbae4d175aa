// SPDX-License-Identifier: Apache-2.0
/** Readers with mistakes that a fuzz run must find. */
import { catchDocumented, fuzzSecret, refuseSecret, type FuzzTarget } from "@switchyard/testing/fuzz";

/** In no dictionary, because these are numbers. One byte after the other is found only by what each reaches. */
const magic = [0x9d, 0x03, 0xb4, 0x71];

function readMagic(input: Buffer): void {
  let length = 0;
  if (input[0] === magic[0]) length++;
  else return;
  if (input[1] === magic[1]) length++;
  else return;
  if (input[2] === magic[2]) length++;
  else return;
  if (input[3] === magic[3]) length++;
  else return;
  throw new RangeError(`the reader fails after ${length} bytes`);
}

/** Takes quadratic time, because it copies the list for each paragraph. */
function readSlowly(text: string): number {
  let paragraphs: readonly string[] = [];
  for (const paragraph of text.split("\n\n")) paragraphs = [...paragraphs, paragraph];
  return paragraphs.length;
}

class ToyError extends Error {
  override readonly name = "ToyError";
}

function readAndQuote(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ToyError("the text is not JSON", { cause }); // the cause quotes the text
  }
}

export const targets: readonly FuzzTarget[] = [
  { name: "toy-magic", seeds: ["a"], run: readMagic },
  { name: "toy-slow", seeds: ["a\n\nb"], run: (input) => void readSlowly(input.toString("latin1")) },
  {
    name: "toy-quote",
    seeds: [JSON.stringify({ token: fuzzSecret })],
    run(input) {
      const read = catchDocumented(
        () => readAndQuote(input.toString("utf8")),
        (error) => error instanceof ToyError,
      );
      if ("error" in read) refuseSecret(read.error);
    },
  },
  {
    name: "toy-deep",
    seeds: ['{"a":{"b":1}}'],
    run(input) {
      const read = catchDocumented(
        () => JSON.parse(input.toString("utf8")) as unknown,
        (error) => error instanceof SyntaxError,
      );
      JSON.stringify(read);
    },
  },
  {
    name: "toy-hang",
    seeds: ["ab"],
    run(input) {
      for (let at = 0; at < input.length; at++) if (input[at] === 0xff) at--;
    },
  },
  {
    name: "toy-memory",
    seeds: ["ab"],
    run(input) {
      const kept: number[][] = [];
      if (input.includes(0xff)) for (;;) kept.push(Array.from({ length: 100_000 }, (_, nth) => nth + kept.length));
    },
  },
  {
    name: "toy-prototype",
    seeds: ['{"a":{"b":1}}'],
    run(input) {
      const read = catchDocumented(
        () => JSON.parse(input.toString("utf8")) as Record<string, Record<string, unknown>> | null,
        (error) => error instanceof SyntaxError,
      );
      if (!("value" in read) || typeof read.value !== "object") return;
      const merged: Record<string, Record<string, unknown>> = {};
      for (const [key, value] of Object.entries(read.value ?? {})) {
        for (const [name, one] of Object.entries(Object(value) as object)) (merged[key] ??= {})[name] = one as unknown;
      }
    },
  },
];
