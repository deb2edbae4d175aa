// SPDX-License-Identifier: Apache-2.0
/**
 * TableCache holds the rows of monitored tables and tells its subscribers what changes.
 * Usage: `for (const row of cache.rows(bridge).values()) console.log(row.name)`
 */
import { OvsdbError } from "../ovsdb-error.ts";
import type { Column, Row, Table } from "../wire/column.ts";
import type { WireRow } from "../wire/notation.ts";
import { decodeRow } from "../wire/operations.ts";

/** A row before and after a change: only `after` if it was inserted, only `before` if it was deleted. */
export interface RowChange {
  readonly table: Table;
  readonly uuid: string;
  readonly before?: AnyRow;
  readonly after?: AnyRow;
}

/** A row of a table that is not known at compile time. */
export type AnyRow = Readonly<Record<string, unknown>> & { readonly _uuid: string };

/** Receives the changes of one update, which is one transaction on the server. */
export type ChangeListener = (changes: readonly RowChange[]) => void;

/** `update` has whole rows (RFC 7047, 4.1.6); `update2` has differences (ovsdb-server.7). */
export type UpdateFormat = "update" | "update2";

export class TableCache {
  readonly #tables: ReadonlyMap<string, { readonly table: Table; readonly rows: Map<string, AnyRow> }>;
  readonly #listeners = new Set<ChangeListener>();

  constructor(tables: readonly Table[]) {
    this.#tables = new Map(tables.map((table) => [table.name, { table, rows: new Map<string, AnyRow>() }]));
  }

  /** The rows of a table by UUID, as of now: the map changes with the database. */
  rows<T extends Table>(table: T): ReadonlyMap<string, Row<T>> {
    const found = this.#tables.get(table.name);
    if (found?.table !== table) throw new TypeError(`table ${table.name} is not monitored`);
    return found.rows as unknown as ReadonlyMap<string, Row<T>>;
  }

  /** Calls `listener` after each change; returns a function that ends this. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Applies an update of the server. Throws OvsdbError `protocol`; the cache must then be filled again. */
  apply(updates: unknown, format: UpdateFormat): void {
    this.#publish([...this.#changes(updates, format)]);
  }

  /** Replaces the whole content. Subscribers receive the differences alone. */
  replace(updates: unknown, format: UpdateFormat): void {
    const fresh = new TableCache([...this.#tables.values()].map(({ table }) => table));
    fresh.apply(updates, format);
    const changes: RowChange[] = [];
    for (const [name, { table, rows }] of this.#tables) {
      const now = fresh.#tables.get(name)?.rows ?? new Map<string, AnyRow>();
      for (const [uuid, before] of rows) if (!now.has(uuid)) changes.push({ table, uuid, before });
      for (const [uuid, after] of now) {
        const before = rows.get(uuid);
        if (before === undefined) changes.push({ table, uuid, after });
        else if (!isSame(table, before, after)) changes.push({ table, uuid, before, after });
      }
    }
    this.#publish(changes);
  }

  *#changes(updates: unknown, format: UpdateFormat): Generator<RowChange> {
    for (const [name, byUuid] of entries(updates, "updates")) {
      const known = this.#tables.get(name);
      if (known === undefined) throw new OvsdbError("protocol", `the server sent rows of table ${name}`);
      for (const [uuid, update] of entries(byUuid, `updates of ${name}`)) {
        const { table, rows } = known;
        const before = rows.get(uuid);
        const after = format === "update" ? wholeRow(table, uuid, update) : changedRow(table, uuid, update, before);
        if (after !== undefined) yield before === undefined ? { table, uuid, after } : { table, uuid, before, after };
        else if (before !== undefined) yield { table, uuid, before };
      }
    }
  }

  #publish(changes: readonly RowChange[]): void {
    for (const { table, uuid, after } of changes) {
      const rows = this.#tables.get(table.name)?.rows;
      if (after === undefined) rows?.delete(uuid);
      else rows?.set(uuid, after);
    }
    if (changes.length > 0) for (const listener of [...this.#listeners]) listener(changes);
  }
}

/** `{ new }`, `{ old, new }` or, of a deleted row, `{ old }`. `new` has all monitored columns. */
function wholeRow(table: Table, uuid: string, update: unknown): AnyRow | undefined {
  const row = member(update, "new");
  return row === undefined ? undefined : decodeRow(table, uuid, row);
}

/** `{ initial }` and `{ insert }` lack columns with their initial value; `{ modify }` has differences; or `{ delete }`. */
function changedRow(table: Table, uuid: string, update: unknown, before: AnyRow | undefined): AnyRow | undefined {
  const whole = member(update, "initial") ?? member(update, "insert");
  if (whole !== undefined) return decodeRow(table, uuid, whole);
  const differences = member(update, "modify");
  if (differences === undefined) {
    if (typeof update === "object" && update !== null && "delete" in update) return undefined;
    throw new OvsdbError(
      "protocol",
      `an update of table ${table.name} has no member initial, insert, modify or delete`,
    );
  }
  if (before === undefined)
    throw new OvsdbError("protocol", `the server modified a row of ${table.name} that it never sent`);
  const after: Record<string, unknown> = { ...before };
  for (const [name, difference] of Object.entries(differences)) {
    // The server chooses the name: "constructor" is no column.
    if (!Object.hasOwn(table.columns, name)) continue;
    const column = table.columns[name] as Column<unknown> | undefined;
    if (column !== undefined) after[name] = column.applyDifference(before[name], difference);
  }
  return { ...after, _uuid: uuid };
}

function isSame(table: Table, a: AnyRow, b: AnyRow): boolean {
  return Object.entries(table.columns).every(([name, column]) => (column as Column<unknown>).equals(a[name], b[name]));
}

function entries(object: unknown, what: string): [string, unknown][] {
  if (typeof object === "object" && object !== null && !Array.isArray(object)) return Object.entries(object);
  throw new OvsdbError("protocol", `the server's ${what} are not an object`);
}

function member(update: unknown, name: string): WireRow | undefined {
  if (typeof update !== "object" || update === null || !Object.hasOwn(update, name)) return undefined;
  const value = (update as Readonly<Record<string, unknown>>)[name];
  return typeof value === "object" && value !== null ? (value as WireRow) : undefined;
}
