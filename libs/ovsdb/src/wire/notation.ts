// SPDX-License-Identifier: Apache-2.0
/**
 * The JSON notation of OVSDB (RFC 7047, 5.1): values, rows, operations and updates as they are on the wire. Use the
 * columns of column.ts to convert values.
 * Usage: `const value: WireValue = ["set", [["uuid", "36bef046-7da7-43a5-905a-c17899216fcb"]]];`
 */

/** A value without structure. A UUID is `["uuid", text]`, or `["named-uuid", name]` within a transaction. */
export type WireAtom = string | number | boolean | readonly ["uuid" | "named-uuid", string];

export type WireSet = readonly ["set", readonly WireAtom[]];

export type WireMap = readonly ["map", readonly (readonly [WireAtom, WireAtom])[]];

/** The server sends a set of one element as the bare element. */
export type WireValue = WireAtom | WireSet | WireMap;

/** Values by column. */
export type WireRow = Readonly<Record<string, WireValue>>;

export type WireCondition = readonly [column: string, comparison: Comparison, value: WireValue];

/** `<` and the like are for numbers. `includes` and `excludes` compare sets and maps element by element. */
export type Comparison = "<" | "<=" | "==" | "!=" | ">=" | ">" | "includes" | "excludes";

export type WireMutation = readonly [column: string, mutator: Mutator, value: WireValue];

/** `insert` and `delete` change sets and maps; `insert` keeps the value of a key that a map has. */
export type Mutator = "+=" | "-=" | "*=" | "/=" | "%=" | "insert" | "delete";

/** One operation of a transaction (RFC 7047, 5.2). */
export type WireOperation =
  | { readonly op: "insert"; readonly table: string; readonly row: WireRow; readonly "uuid-name"?: string }
  | {
      readonly op: "select";
      readonly table: string;
      readonly where: readonly WireCondition[];
      readonly columns?: readonly string[];
    }
  | { readonly op: "update"; readonly table: string; readonly where: readonly WireCondition[]; readonly row: WireRow }
  | {
      readonly op: "mutate";
      readonly table: string;
      readonly where: readonly WireCondition[];
      readonly mutations: readonly WireMutation[];
    }
  | { readonly op: "delete"; readonly table: string; readonly where: readonly WireCondition[] }
  | {
      readonly op: "wait";
      /** Milliseconds until the operation fails with "timed out"; 0 tests once. */
      readonly timeout: number;
      readonly table: string;
      readonly where: readonly WireCondition[];
      readonly columns: readonly string[];
      readonly until: "==" | "!=";
      readonly rows: readonly WireRow[];
    }
  | { readonly op: "comment"; readonly comment: string }
  | { readonly op: "assert"; readonly lock: string };

/** The result of an operation that succeeded: `uuid` of insert, `rows` of select, `count` of update, mutate and delete. */
export interface WireResult {
  readonly uuid?: readonly ["uuid", string];
  readonly rows?: readonly WireRow[];
  readonly count?: number;
}
