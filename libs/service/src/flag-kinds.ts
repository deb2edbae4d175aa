// SPDX-License-Identifier: Apache-2.0
/**
 * Kinds of values that a flag or an environment variable can hold: how each is written, and what it is then.
 * Usage: `durationMs.parse("1m30s")` is 90000; `oneOf("daemon", "systemd").parse("foo")` is undefined.
 */

/** A way to write values of one type. */
export interface FlagKind<Value> {
  /** Stands for the value in --help: "FILE". */
  readonly placeholder: string;
  /** What is expected, as it follows "is not": "a whole number from 0 to 9". */
  readonly expected: string;
  /** What the flag means when it stands alone, without a value. Absent: it cannot. */
  readonly alone?: string;
  /** The value, or undefined if the text is none. */
  readonly parse: (text: string) => Value | undefined;
}

/** Where a server listens. An empty host is every address of the machine, port 0 any free port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Any text but the empty one. `placeholder` says what the text is: "FILE". */
export function text(placeholder: string): FlagKind<string> {
  return {
    placeholder,
    expected: "a text of at least one character",
    parse: (value) => (value === "" ? undefined : value),
  };
}

const booleans = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

/** True or false; true when the flag stands alone. "1", "0" and any case are known too, as upstream's environment has them. */
export const yesOrNo: FlagKind<boolean> = {
  placeholder: "true|false",
  expected: "true or false",
  alone: "true",
  parse: (value) => booleans.get(value.toLowerCase()),
};

/** One of a few words. */
export function oneOf<const Word extends string>(...words: readonly Word[]): FlagKind<Word> {
  return {
    placeholder: words.join("|"),
    expected: `one of ${words.join(", ")}`,
    parse: (value) => words.find((word) => word === value),
  };
}

/** A whole number, both bounds included. */
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

/** A length of time in milliseconds, written as Kubernetes does: "500ms", "30s", "1h30m", and "0". */
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

/** "HOST:PORT", ":PORT" for every address, "[::1]:PORT" for IPv6; "0" is off. */
export const listenAddress: FlagKind<ListenAddress | "off"> = {
  placeholder: "HOST:PORT",
  expected: "host:port, or 0 for off",
  parse: (value) => {
    if (value === "0") return "off";
    const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(value) ?? [];
    if (digits === undefined || Number(digits) > 65_535) return undefined;
    return { host: bracketed ?? plain ?? "", port: Number(digits) };
  },
};
