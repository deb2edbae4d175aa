// SPDX-License-Identifier: Apache-2.0
/**
 * Kinds of flag values: text, yesOrNo, oneOf, integer, durationMs and listenAddress. Each parses a text to its value.
 * Usage: `durationMs.parse("1m30s")`, which is 90000.
 */

/** Parses and describes the values of one type. */
export interface FlagKind<Value> {
  /** Name of the value in --help: "FILE". */
  readonly placeholder: string;
  /** Description of valid values; follows "expected" in messages: "a whole number from 0 to 9". */
  readonly expected: string;
  /** Value of a flag that is given without one. If absent, the flag needs a value. */
  readonly alone?: string;
  /** Returns the value, or undefined if the text is not valid. */
  readonly parse: (text: string) => Value | undefined;
}

/** Address of a server. An empty host means all addresses of the machine, port 0 any free port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Any text that is not empty. */
export function text(placeholder: string): FlagKind<string> {
  return {
    placeholder,
    expected: "a text that is not empty",
    parse: (value) => (value === "" ? undefined : value),
  };
}

const booleans = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

/** True or false; true for a flag without a value. Upstream's environment variables also use "1", "0" and any case. */
export const yesOrNo: FlagKind<boolean> = {
  placeholder: "true|false",
  expected: "true or false",
  alone: "true",
  parse: (value) => booleans.get(value.toLowerCase()),
};

/** One of `words`. */
export function oneOf<const Word extends string>(...words: readonly Word[]): FlagKind<Word> {
  return {
    placeholder: words.join("|"),
    expected: `one of ${words.join(", ")}`,
    parse: (value) => words.find((word) => word === value),
  };
}

/** A whole number between two bounds, both included. */
export function integer(bounds: { readonly minimum: number; readonly maximum: number }): FlagKind<number> {
  return {
    placeholder: "NUMBER",
    expected: `a whole number from ${bounds.minimum} to ${bounds.maximum}`,
    parse: (value) => {
      const number = /^-?\d{1,15}$/.test(value) ? Number(value) : undefined;
      return number !== undefined && number >= bounds.minimum && number <= bounds.maximum ? number : undefined;
    },
  };
}

const unitMs = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** A duration in milliseconds, written as in Kubernetes: "500ms", "30s", "1h30m" or "0". */
export const durationMs: FlagKind<number> = {
  placeholder: "DURATION",
  expected: "a duration such as 500ms, 30s or 1h30m",
  parse: (value) => {
    if (value === "0") return 0;
    const [whole, hours = "0", minutes = "0", seconds = "0", milliseconds = "0"] =
      /^(?=\d)(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?(?:(\d{1,9})ms)?$/.exec(value) ?? [];
    if (whole === undefined) return undefined;
    return (
      Number(hours) * unitMs.h +
      Number(minutes) * unitMs.m +
      Number(seconds) * unitMs.s +
      Number(milliseconds) * unitMs.ms
    );
  },
};

/** "HOST:PORT", ":PORT" for all addresses of the machine, "[::1]:PORT" for IPv6, or "0" for off. */
export const listenAddress: FlagKind<ListenAddress | "off"> = {
  placeholder: "HOST:PORT",
  expected: "host:port, or 0 to disable",
  parse: (value) => {
    if (value === "0") return "off";
    const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(value) ?? [];
    if (digits === undefined || Number(digits) > 65_535) return undefined;
    return { host: bracketed ?? plain ?? "", port: Number(digits) };
  },
};
