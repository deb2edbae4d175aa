// SPDX-License-Identifier: Apache-2.0
/**
 * Columns: how the values of a column are read, written and updated. The four kinds are those of the schema (RFC 7047,
 * 3.2): one atom, an optional atom, a set and a map.
 * Usage: `const bridge = defineTable("Bridge", { name: one(text), ports: setOf(uuid), other_config: mapOf(text, text) });`
 */
import { OvsdbError } from "../ovsdb-error.ts";
import type { WireAtom, WireMap, WireSet, WireValue } from "./notation.ts";

/** The types of atoms in a schema. */
export type AtomType = "string" | "integer" | "real" | "boolean" | "uuid";

/** A reference to a row that the same transaction inserts. */
export interface NamedUuid {
  readonly namedUuid: string;
}

/** A type of atoms. `In` is what can be written where it is more than what is read. */
export interface Atom<T, In = T> {
  readonly type: AtomType;
  /** The value of a column that has not been set. */
  readonly initial: T;
  decode(wire: WireAtom): T;
  encode(value: In): WireAtom;
}

/** A kind of columns. `In` is what can be written where it is more than what is read. */
export interface Column<T, In = T> {
  readonly kind: "one" | "optional" | "set" | "map";
  readonly keyType: AtomType;
  /** With kind "map". */
  readonly valueType: AtomType | undefined;
  /** The value of a column that has not been set. */
  readonly initial: T;
  /** Throws OvsdbError `protocol` if the value does not have the column's type. */
  decode(wire: WireValue): T;
  encode(value: In): WireValue;
  /** Applies the difference that `update2` and `update3` carry (ovsdb-server.7, "update2"). */
  applyDifference(value: T, difference: WireValue): T;
  equals(a: T, b: T): boolean;
}

/** A table and those of its columns that a program uses. */
export interface Table<C extends Columns = Columns> {
  readonly name: string;
  readonly columns: C;
}

export type Columns = Readonly<Record<string, Column<unknown, never>>>;

/** A row of a table as it is read. `_uuid` is the row's UUID. */
export type Row<T extends Table> = { readonly _uuid: string } & {
  readonly [K in keyof T["columns"]]: T["columns"][K] extends Column<infer V, never> ? V : never;
};

/** Values of some columns as they are written. */
export type RowValues<T extends Table> = {
  readonly [K in keyof T["columns"]]?: T["columns"][K] extends { encode(value: infer V): WireValue } ? V : never;
};

export function defineTable<const C extends Columns>(name: string, columns: C): Table<C> {
  return { name, columns };
}

export const text: Atom<string> = atom("string", "", (wire) => typeof wire === "string");
export const boolean: Atom<boolean> = atom("boolean", false, (wire) => typeof wire === "boolean");
/** 64-bit integers on the server; beyond 2^53 they lose precision here. */
export const integer: Atom<number> = atom("integer", 0, (wire) => Number.isInteger(wire));
export const real: Atom<number> = atom("real", 0, (wire) => Number.isFinite(wire));

/** Read as text, such as "36bef046-7da7-43a5-905a-c17899216fcb"; written as text or as a NamedUuid. */
export const uuid: Atom<string, string | NamedUuid> = {
  type: "uuid",
  initial: "00000000-0000-0000-0000-000000000000",
  decode(wire) {
    if (Array.isArray(wire) && wire[0] === "uuid" && typeof wire[1] === "string") return wire[1];
    throw mismatch("a uuid", wire);
  },
  encode: (value) => (typeof value === "string" ? ["uuid", value] : ["named-uuid", value.namedUuid]),
};

/** A column with exactly one value. */
export function one<T, In>(of: Atom<T, In>): Column<T, In> {
  return {
    kind: "one",
    keyType: of.type,
    valueType: undefined,
    initial: of.initial,
    decode: (wire) => decodeAtom(of, wire),
    encode: (value) => of.encode(value),
    applyDifference: (_value, difference) => decodeAtom(of, difference),
    equals: (a, b) => a === b,
  };
}

/** A column with at most one value; undefined if it has none. */
export function optional<T, In>(of: Atom<T, In>): Column<T | undefined, In | undefined> {
  const decode = (wire: WireValue): T | undefined => {
    const elements = elementsOf(wire);
    if (elements.length > 1) throw mismatch("at most one element", wire);
    return elements[0] === undefined ? undefined : of.decode(elements[0]);
  };
  return {
    kind: "optional",
    keyType: of.type,
    valueType: undefined,
    initial: undefined,
    decode,
    encode: (value) => (value === undefined ? ["set", []] : of.encode(value)),
    applyDifference: (_value, difference) => decode(difference), // of a column for one value, it is the new value
    equals: (a, b) => a === b,
  };
}

/** A column with any number of different values. */
export function setOf<T, In>(of: Atom<T, In>): Column<ReadonlySet<T>, Iterable<In>> {
  const decode = (wire: WireValue): ReadonlySet<T> => new Set(elementsOf(wire).map((element) => of.decode(element)));
  return {
    kind: "set",
    keyType: of.type,
    valueType: undefined,
    initial: new Set<T>(),
    decode,
    encode: (values) => ["set", Array.from(values, (value) => of.encode(value))],
    applyDifference(set, difference) {
      const result = new Set(set);
      for (const value of decode(difference)) if (!result.delete(value)) result.add(value);
      return result;
    },
    equals: (a, b) => a.size === b.size && [...a].every((value) => b.has(value)),
  };
}

/** A column with values by key. */
export function mapOf<K, V, InK, InV>(
  keys: Atom<K, InK>,
  values: Atom<V, InV>,
): Column<ReadonlyMap<K, V>, Iterable<readonly [InK, InV]>> {
  const decode = (wire: WireValue): ReadonlyMap<K, V> =>
    new Map(pairsOf(wire).map(([key, value]) => [keys.decode(key), values.decode(value)] as const));
  return {
    kind: "map",
    keyType: keys.type,
    valueType: values.type,
    initial: new Map<K, V>(),
    decode,
    encode: (entries) => [
      "map",
      Array.from(entries, ([key, value]) => [keys.encode(key), values.encode(value)] as const),
    ],
    applyDifference(map, difference) {
      // A pair that the map has is removed; another value of a key replaces the value; a new key is added.
      const result = new Map(map);
      for (const [key, value] of decode(difference)) {
        if (map.has(key) && map.get(key) === value) result.delete(key);
        else result.set(key, value);
      }
      return result;
    },
    equals: (a, b) => a.size === b.size && [...a].every(([key, value]) => b.has(key) && b.get(key) === value),
  };
}

function atom<T extends string | number | boolean>(
  type: AtomType,
  initial: T,
  is: (wire: WireAtom) => boolean,
): Atom<T> {
  const isT = (wire: WireAtom): wire is T => is(wire);
  return {
    type,
    initial,
    decode(wire) {
      if (isT(wire)) return wire;
      throw mismatch(`a ${type}`, wire);
    },
    encode: (value) => value,
  };
}

function decodeAtom<T, In>(of: Atom<T, In>, wire: WireValue): T {
  const [element, ...more] = elementsOf(wire);
  if (element === undefined || more.length > 0) throw mismatch(`one ${of.type}`, wire);
  return of.decode(element);
}

/** The elements of a set. The server sends a set of one element as the bare element. */
function elementsOf(wire: WireValue): readonly WireAtom[] {
  if (isSet(wire)) return wire[1];
  if (isAtom(wire)) return [wire];
  throw mismatch("a set", wire);
}

function pairsOf(wire: WireValue): WireMap[1] {
  if (isMap(wire)) return wire[1];
  if (isSet(wire) && wire[1].length === 0) return [];
  throw mismatch("a map", wire);
}

const isTagged = (wire: unknown, tag: string): wire is [string, unknown] => Array.isArray(wire) && wire[0] === tag;

function isSet(wire: WireValue): wire is WireSet {
  return isTagged(wire, "set") && Array.isArray(wire[1]) && wire[1].every(isAtom);
}

function isMap(wire: WireValue): wire is WireMap {
  if (!isTagged(wire, "map") || !Array.isArray(wire[1])) return false;
  return wire[1].every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isAtom));
}

function isAtom(wire: unknown): wire is WireAtom {
  if (typeof wire === "string" || typeof wire === "number" || typeof wire === "boolean") return true;
  return (isTagged(wire, "uuid") || isTagged(wire, "named-uuid")) && typeof wire[1] === "string";
}

/** The message names the kind of the value and does not quote it: the server chooses its size and content. */
function mismatch(expected: string, wire: unknown): OvsdbError {
  const kind = Array.isArray(wire)
    ? `a list of ${wire.length}`
    : wire === null
      ? "null"
      : `a value of type ${typeof wire}`;
  return new OvsdbError("protocol", `the server sent ${kind} where ${expected} was expected`);
}
