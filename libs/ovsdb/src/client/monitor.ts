// SPDX-License-Identifier: Apache-2.0
/**
 * Monitor keeps a TableCache equal to the database over one connection after the other. It uses the newest method that the
 * server has: `monitor_cond_since` (Open vSwitch 2.12), which after a reconnection can continue where the last connection
 * ended, `monitor_cond` (2.6), or `monitor` (RFC 7047, 4.1.5).
 */
import { isOvsdbError, OvsdbError } from "../ovsdb-error.ts";
import type { Table } from "../wire/column.ts";
import type { Connection } from "./connection.ts";
import type { MissingColumn } from "./schema.ts";
import { TableCache, type UpdateFormat } from "./table-cache.ts";

/** The transaction before all others. */
const noTransaction = "00000000-0000-0000-0000-000000000000";

interface Notification {
  readonly method: string;
  readonly parameters: readonly unknown[];
}

export class Monitor {
  readonly cache: TableCache;
  readonly #id: string;
  readonly #database: string;
  readonly #tables: readonly Table[];
  /** The last transaction that the cache has, by the server's id; only monitor_cond_since tells. */
  #lastTransaction = noTransaction;
  /** Notifications that came before the cache was filled. */
  #early: Notification[] | undefined;

  /** @param id Names the monitor on its connection. */
  constructor(id: string, database: string, tables: readonly Table[]) {
    this.#id = id;
    this.#database = database;
    this.#tables = tables;
    this.cache = new TableCache(tables);
  }

  /**
   * Fills the cache and lets the server send what changes from now on. Rejects as Connection.request() does.
   * @param missing Columns that this server lacks. They keep their initial value.
   */
  async start(
    connection: Pick<Connection, "request">,
    missing: readonly MissingColumn[] = [],
    signal?: AbortSignal,
  ): Promise<void> {
    const ask = (method: string, ...more: readonly unknown[]) =>
      connection.request(method, [this.#database, this.#id, requests, ...more], signal);
    const requests = Object.fromEntries(this.#tables.map((table) => [table.name, [requestFor(table, missing)]]));
    // Updates can follow in the chunk that has the answer, and so arrive before the code that awaits the answer runs.
    const early: Notification[] = [];
    this.#early = early;
    const since = await unlessUnknown(ask("monitor_cond_since", this.#lastTransaction));
    if (since !== undefined) {
      this.#fillSince(since);
    } else {
      const conditional = await unlessUnknown(ask("monitor_cond"));
      if (conditional !== undefined) this.cache.replace(conditional, "update2");
      else this.cache.replace(await ask("monitor"), "update");
    }
    this.#early = undefined;
    for (const { method, parameters } of early) this.receive(method, parameters);
  }

  /** Takes a notification of the server: false if it is for another monitor. Throws OvsdbError `protocol`. */
  receive(method: string, parameters: readonly unknown[]): boolean {
    const format = formats.get(method);
    if (format === undefined || parameters[0] !== this.#id) return false;
    if (this.#early !== undefined) {
      this.#early.push({ method, parameters });
    } else if (method === "update3") {
      this.cache.apply(parameters[2], format);
      this.#lastTransaction = transactionId(parameters[1]);
    } else {
      this.cache.apply(parameters[1], format);
    }
    return true;
  }

  /** The result is [whether the updates begin after our last transaction, the last transaction, updates]. */
  #fillSince(result: unknown): void {
    if (!Array.isArray(result)) throw new OvsdbError("protocol", "monitor_cond_since: expected an array");
    const [found, last, updates] = result as readonly unknown[];
    if (found === true) this.cache.apply(updates, "update2");
    else this.cache.replace(updates, "update2");
    this.#lastTransaction = transactionId(last);
  }
}

const formats: ReadonlyMap<string, UpdateFormat> = new Map([
  ["update", "update"],
  ["update2", "update2"],
  ["update3", "update2"],
]);

function requestFor(table: Table, missing: readonly MissingColumn[]): { readonly columns: readonly string[] } {
  const isThere = (column: string) => !missing.some((gap) => gap.table === table.name && gap.column === column);
  return { columns: Object.keys(table.columns).filter(isThere) };
}

function transactionId(value: unknown): string {
  return typeof value === "string" ? value : noTransaction;
}

/** The result, or undefined if the server does not know the method. */
async function unlessUnknown(request: Promise<unknown>): Promise<unknown> {
  try {
    return await request;
  } catch (error) {
    if (isOvsdbError(error, "refused") && error.error === "unknown method") return undefined;
    throw error;
  }
}
