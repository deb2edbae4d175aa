// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { boolean, integer, mapOf, one, optional, real, setOf, text, uuid } from "./column.ts";

const id = "36bef046-7da7-43a5-905a-c17899216fcb";

describe("columns", () => {
  it.each([
    { what: "text", column: one(text), wire: "br0", value: "br0" },
    { what: "an integer", column: one(integer), wire: -1, value: -1 },
    { what: "a boolean", column: one(boolean), wire: true, value: true },
    { what: "a uuid", column: one(uuid), wire: ["uuid", id], value: id },
    { what: "an optional value", column: optional(text), wire: "secure", value: "secure" },
    { what: "an optional value in a set", column: optional(text), wire: ["set", ["secure"]], value: "secure" },
    { what: "no optional value", column: optional(text), wire: ["set", []], value: undefined },
    { what: "a set", column: setOf(integer), wire: ["set", [1, 2]], value: new Set([1, 2]) },
    { what: "a set of one uuid, bare", column: setOf(uuid), wire: ["uuid", id], value: new Set([id]) },
    { what: "a map", column: mapOf(text, text), wire: ["map", [["a", "1"]]], value: new Map([["a", "1"]]) },
    { what: "an empty map", column: mapOf(text, text), wire: ["map", []], value: new Map() },
  ] as const)("read $what", ({ column, wire, value }) => {
    expect(column.decode(wire)).toEqual(value);
  });

  it.each([
    {
      what: "text for an integer",
      column: one(integer),
      wire: "1",
      error: "a value of type string where a integer was",
    },
    { what: "a fraction for an integer", column: one(integer), wire: 1.5, error: "where a integer was expected" },
    { what: "a number that is too large", column: one(real), wire: Infinity, error: "where a real was expected" },
    {
      what: "two values for one",
      column: one(text),
      wire: ["set", ["a", "b"]],
      error: "a list of 2 where one string was expected",
    },
    {
      what: "two optional values",
      column: optional(text),
      wire: ["set", ["a", "b"]],
      error: "at most one element was expected",
    },
    { what: "a set for a map", column: mapOf(text, text), wire: ["set", ["a"]], error: "where a map was expected" },
    { what: "a map for a set", column: setOf(text), wire: ["map", []], error: "where a set was expected" },
    { what: "a name for a uuid", column: one(uuid), wire: ["named-uuid", "row"], error: "where a uuid was expected" },
  ] as const)("refuse $what", ({ column, wire, error }) => {
    expect(() => column.decode(wire)).toThrow(error);
  });

  it("write what they read", () => {
    expect(optional(text).encode(undefined)).toEqual(["set", []]);
    expect(setOf(uuid).encode([id, { namedUuid: "row" }])).toEqual(["set", [["uuid", id], ["named-uuid", "row"]]]); // prettier-ignore
    expect(mapOf(text, integer).encode(new Map([["a", 1]]))).toEqual(["map", [["a", 1]]]);
  });

  // Seen from ovsdb-server 3.1.
  it.each([
    { kind: "a map", column: mapOf(text, text), before: new Map([["a", "1"], ["b", "2"]]), difference: ["map", [["a", "9"], ["b", "2"], ["c", "3"]]], after: new Map([["a", "9"], ["c", "3"]]) }, // prettier-ignore
    { kind: "a set", column: setOf(integer), before: new Set([10, 13]), difference: ["set", [10, 15]], after: new Set([13, 15]) }, // prettier-ignore
    { kind: "an optional value", column: optional(text), before: "secure", difference: ["set", []], after: undefined },
    { kind: "one value", column: one(text), before: "a", difference: "b", after: "b" },
  ] as const)("apply a difference to $kind", ({ column, before, difference, after }) => {
    const apply = column.applyDifference as (value: unknown, difference: unknown) => unknown;
    expect(apply(before, difference)).toEqual(after);
  });
});
