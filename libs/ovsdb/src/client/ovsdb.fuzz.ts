// SPDX-License-Identifier: Apache-2.0
/** Whatever answers on an OVSDB socket: a session from the schema to a transaction, with the bytes of the input as the server's. */
import { catchDocumented, requireEqual, type FuzzTarget } from "@switchyard/testing/fuzz";
import { Duplex } from "node:stream";
import type { Socket } from "node:net";
import { isOvsdbError } from "../ovsdb-error.ts";
import { bridge, iface, openVswitch, port } from "../vswitch/tables.ts";
import type { Table } from "../wire/column.ts";
import { JsonStream } from "../wire/json-stream.ts";
import { Connection } from "./connection.ts";
import { Monitor } from "./monitor.ts";
import { checkSchema } from "./schema.ts";
import { transact } from "./transact.ts";

const tables = [openVswitch, bridge, port, iface];

/** A socket whose other end sends nothing by itself. */
class SilentSocket extends Duplex {
  override _read(): void {
    // Data are pushed.
  }

  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }

  setNoDelay(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }
}

/** Requests follow answers in microtasks. */
async function untilQuiet(): Promise<void> {
  for (let nth = 0; nth < 12; nth++) await Promise.resolve();
}

/** Each line of the input is one chunk, after which the client goes on. */
async function talk(input: Buffer): Promise<void> {
  const socket = new SilentSocket();
  const monitor = new Monitor("m", "db", tables);
  const connection = new Connection(socket as unknown as Socket, "unix:/x", {
    probeIntervalMs: 0,
    maxMessageBytes: 1024 * 1024,
    onNotification: (method, parameters) => void monitor.receive(method, parameters),
  });
  const session = (async () => {
    const missing = checkSchema(await connection.request("get_schema", ["db"]), tables);
    await monitor.start(connection, missing);
    await transact(connection, "db", [{ op: "comment", comment: "x" }]);
  })().catch((error: unknown) => {
    if (!isOvsdbError(error)) throw error;
  });
  for (const line of input.toString("latin1").split("\n")) {
    socket.emit("data", Buffer.from(line, "latin1"));
    await untilQuiet();
  }
  for (const table of tables) for (const row of monitor.cache.rows(table).values()) Object.values(row).map(String);
  await connection[Symbol.asyncDispose]();
  await session;
}

/** Messages that are whole must come out as JSON.parse reads them, however the bytes are split. */
function split(input: Buffer): void {
  const read = (chunks: readonly Buffer[]) =>
    catchDocumented(
      () => {
        const stream = new JsonStream(64 * 1024);
        return chunks.flatMap((chunk) => stream.push(chunk));
      },
      (error) => isOvsdbError(error, "protocol"),
    );
  const [whole, halves] = [
    read([input]),
    read([input.subarray(0, input.length / 2), input.subarray(input.length / 2)]),
  ];
  if (!("value" in whole) || !("value" in halves)) return;
  requireEqual("the messages of a whole and of a split stream", whole.value, halves.value);
}

/** The type of a column in a schema (RFC 7047, 3.2). */
function typeOf({ kind, keyType, valueType }: Table["columns"][string]): unknown {
  if (kind === "one") return keyType;
  if (kind === "optional") return { key: keyType, min: 0 };
  return { key: keyType, value: valueType, min: 0, max: "unlimited" };
}

function mapValues(columns: Table["columns"], map: (column: Table["columns"][string]) => unknown): object {
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, map(column)]));
}

const schema = {
  tables: Object.fromEntries(
    tables.map((table) => [table.name, { columns: mapValues(table.columns, (column) => ({ type: typeOf(column) })) }]),
  ),
};
const rows = {
  Bridge: {
    u1: { initial: { name: "br0", ports: ["uuid", "u2"], external_ids: ["map", [["a", "b"]]], fail_mode: "secure" } },
  },
  Port: { u2: { initial: { name: "p", interfaces: ["set", [["uuid", "u3"]]], tag: 7, trunks: ["set", [1, 2]] } } },
  Interface: { u3: { initial: { name: "p", type: "system", mtu: 1500, ofport: ["set", []] } } },
};
const change = {
  Bridge: {
    u1: {
      modify: {
        external_ids: [
          "map",
          [
            ["a", "b"],
            ["c", "d"],
          ],
        ],
        ports: ["set", []],
      },
    },
    u4: { delete: null },
  },
};
const session = (...messages: readonly unknown[]): string =>
  [{ id: 0, result: schema, error: null }, ...messages].map((message) => JSON.stringify(message)).join("\n");
const monitored = { id: 1, result: [false, "t1", rows], error: null };

export const targets: readonly FuzzTarget[] = [
  {
    name: "ovsdb-session",
    seeds: [
      session(
        monitored,
        { id: null, method: "update3", params: ["m", "t2", change] },
        { id: 2, result: [{}], error: null },
      ),
      session(monitored, { id: 2, result: [{ error: "timed out", details: "x" }, null], error: null }),
      session(
        { id: 1, error: "unknown method", result: null },
        { id: 2, result: rows, error: null },
        { id: null, method: "update2", params: ["m", change] },
      ),
      session(
        { id: 1, error: "unknown method", result: null },
        { id: 2, error: "unknown method", result: null },
        { id: 3, result: { Bridge: { u1: { new: { name: "br0" } } } }, error: null },
        {
          id: null,
          method: "update",
          params: ["m", { Bridge: { u1: { old: { name: "br0" }, new: { name: "br1" } } } }],
        },
      ),
      '{"id":"e","method":"echo","params":[1]}\n{"id":9,"method":"x","params":[]}',
    ],
    run: talk,
  },
  { name: "ovsdb-stream", seeds: ['{"a":"}\\""} {"b":[{}]}', '{"\\u00e4":1}{'], run: split },
];
