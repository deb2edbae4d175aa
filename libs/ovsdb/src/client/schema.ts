// SPDX-License-Identifier: Apache-2.0
/**
 * The server's schema, compared with the tables that a program uses, so that a column of another type is an error at the
 * start and not a wrong value later.
 */
import { OvsdbError } from "../ovsdb-error.ts";
import type { Column, Table } from "../wire/column.ts";

/** A column that the server does not have, as old releases lack some. */
export interface MissingColumn {
  readonly table: string;
  readonly column: string;
}

/**
 * The columns of `tables` that the server lacks. Throws OvsdbError `schema` if it lacks a table, or if a column has
 * another type there.
 * @param schema The result of "get_schema" (RFC 7047, 3.2).
 */
export function checkSchema(schema: unknown, tables: readonly Table[]): readonly MissingColumn[] {
  const missing: MissingColumn[] = [];
  for (const table of tables) {
    const columns = member(member(member(schema, "tables"), table.name), "columns");
    if (columns === undefined) throw new OvsdbError("schema", `the database has no table ${table.name}`);
    for (const [name, column] of Object.entries(table.columns)) {
      const type = member(member(columns, name), "type");
      if (type === undefined) missing.push({ table: table.name, column: name });
      else checkType(`${table.name}.${name}`, column, type);
    }
  }
  return missing;
}

function checkType(where: string, column: Column<unknown, never>, type: unknown): void {
  const key = atomType(typeof type === "string" ? type : member(type, "key"));
  const value = atomType(member(type, "value"));
  const min = member(type, "min") ?? 1;
  const max = member(type, "max") ?? 1;
  const kind = value !== undefined ? "map" : max !== 1 ? "set" : min === 0 ? "optional" : "one";
  const isSame = kind === column.kind && key === column.keyType && value === column.valueType;
  if (isSame) return;
  const [here, there] = [describe(column.kind, column.keyType, column.valueType), describe(kind, key, value)];
  throw new OvsdbError("schema", `column ${where} is ${there} in the database, expected ${here}`);
}

/** A base type is a name, or an object with the name in `type`. */
function atomType(base: unknown): string | undefined {
  const name = typeof base === "string" ? base : member(base, "type");
  return typeof name === "string" ? name : undefined;
}

function describe(kind: string, key = "?", value?: string): string {
  return value === undefined ? `${kind} ${key}` : `${kind} ${key} to ${value}`;
}

function member(object: unknown, name: string): unknown {
  if (typeof object !== "object" || object === null || !Object.hasOwn(object, name)) return undefined;
  return (object as Readonly<Record<string, unknown>>)[name];
}
