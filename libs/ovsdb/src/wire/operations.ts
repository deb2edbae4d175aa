// SPDX-License-Identifier: Apache-2.0
/**
 * Operations of a transaction, typed by the tables they work on.
 * Usage: `updateRows(bridge, [isRow(uuid)], { other_config: new Map([["hwaddr", "02:00:00:00:00:01"]]) })`
 */
import type { Column, Row, RowValues, Table } from "./column.ts";
import type {
  Comparison,
  Mutator,
  WireCondition,
  WireMutation,
  WireOperation,
  WireRow,
  WireValue,
} from "./notation.ts";

type ColumnName<T extends Table> = keyof T["columns"] & string;
type Written<T extends Table, K extends ColumnName<T>> = NonNullable<RowValues<T>[K]>;

/** The row with this UUID. */
export function isRow(uuid: string): WireCondition {
  return ["_uuid", "==", ["uuid", uuid]];
}

/** Rows whose column compares so with `value`. */
export function whereColumn<T extends Table, K extends ColumnName<T>>(
  table: T,
  column: K,
  comparison: Comparison,
  value: Written<T, K>,
): WireCondition {
  return [column, comparison, encode(table, column, value)];
}

/** `name` is for references from other operations of the transaction: `{ namedUuid: name }`. Letters, digits and "_". */
export function insertRow<T extends Table>(table: T, row: RowValues<T>, name?: string): WireOperation {
  return {
    op: "insert",
    table: table.name,
    row: encodeRow(table, row),
    ...(name !== undefined && { "uuid-name": name }),
  };
}

/** Replaces the values of the columns in `row`. No condition means all rows. */
export function updateRows<T extends Table>(
  table: T,
  where: readonly WireCondition[],
  row: RowValues<T>,
): WireOperation {
  return { op: "update", table: table.name, where, row: encodeRow(table, row) };
}

/** No condition means all rows. */
export function deleteRows(table: Table, where: readonly WireCondition[]): WireOperation {
  return { op: "delete", table: table.name, where };
}

/** Changes parts of columns: adds to numbers, inserts into sets and maps, deletes from them. No condition means all rows. */
export function mutateRows(
  table: Table,
  where: readonly WireCondition[],
  mutations: readonly WireMutation[],
): WireOperation {
  return { op: "mutate", table: table.name, where, mutations };
}

/** A mutation for mutateRows. `insert` into a map keeps the value of a key that is already there: delete the key first. */
export function mutate<T extends Table, K extends ColumnName<T>>(
  table: T,
  column: K,
  mutator: Mutator,
  value: Written<T, K>,
): WireMutation {
  return [column, mutator, encode(table, column, value)];
}

/** Deletes keys from a map, whatever their values are. */
export function deleteKeys<T extends Table>(_table: T, column: ColumnName<T>, keys: readonly string[]): WireMutation {
  return [column, "delete", ["set", keys]];
}

/** Reads rows within the transaction. */
export function selectRows<T extends Table>(
  table: T,
  where: readonly WireCondition[],
  columns: readonly (ColumnName<T> | "_uuid")[],
): WireOperation {
  return { op: "select", table: table.name, where, columns };
}

/** Fails the transaction with "timed out" unless the rows are now as in `rows`: an optimistic check. */
export function assertRows<T extends Table>(
  table: T,
  where: readonly WireCondition[],
  rows: readonly RowValues<T>[],
): WireOperation {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const encoded = rows.map((row) => encodeRow(table, row));
  return { op: "wait", timeout: 0, table: table.name, where, columns, until: "==", rows: encoded };
}

/** A comment, which the server writes into its log of changes. */
export function comment(text: string): WireOperation {
  return { op: "comment", comment: text };
}

/** The values of a wire row; a column that it lacks has its initial value. Throws OvsdbError `protocol`. */
export function decodeRow<T extends Table>(table: T, uuid: string, wire: WireRow): Row<T> {
  const row: Record<string, unknown> = { _uuid: uuid };
  for (const [name, column] of Object.entries(table.columns)) {
    const value = Object.hasOwn(wire, name) ? wire[name] : undefined;
    row[name] = value === undefined ? column.initial : column.decode(value);
  }
  return row as Row<T>;
}

function encodeRow<T extends Table>(table: T, row: RowValues<T>): WireRow {
  const wire: Record<string, WireValue> = {};
  for (const [name, value] of Object.entries(row)) wire[name] = encode(table, name, value);
  return wire;
}

function encode(table: Table, name: string, value: unknown): WireValue {
  const column = table.columns[name] as Column<unknown> | undefined;
  if (column === undefined) throw new TypeError(`table ${table.name} has no column "${name}"`);
  return column.encode(value);
}
