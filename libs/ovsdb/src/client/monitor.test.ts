// SPDX-License-Identifier: Apache-2.0
/** Monitors against a real ovsdb-server: whatever happens to the rows, the cache has what the database has. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startOpenVswitch, type OpenVswitch } from "@switchyard/testing";
import fc from "fast-check";
import { OvsdbError } from "../ovsdb-error.ts";
import { bridge, databaseName, iface, openVswitch, port } from "../vswitch/tables.ts";
import type { Table } from "../wire/column.ts";
import {
  decodeRow,
  deleteKeys,
  insertRow,
  mutate,
  mutateRows,
  selectRows,
  updateRows,
  whereColumn,
} from "../wire/operations.ts";
import type { WireOperation } from "../wire/notation.ts";
import { connect, type Connection } from "./connection.ts";
import { Monitor } from "./monitor.ts";
import { transact } from "./transact.ts";

const tables: readonly Table[] = [openVswitch, bridge, port, iface];

let ovs: OpenVswitch;
beforeAll(async () => {
  ovs = await startOpenVswitch();
}, 300_000);
afterAll(async () => {
  await ovs[Symbol.asyncDispose]();
});

const names = ["one", "two", "three"];
const name = fc.constantFrom(...names);
const values = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("1", "2", ""));
const numbers = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 4 });

/** Transactions on bridges and ports; those that make no sense are refused or change nothing. */
const operations: fc.Arbitrary<readonly WireOperation[]> = fc.oneof(
  fc
    .tuple(name, values)
    .map(([which, config]) => [
      insertRow(iface, { name: which, type: "internal" }, "interface"),
      insertRow(port, { name: which, interfaces: [{ namedUuid: "interface" }] }, "port"),
      insertRow(
        bridge,
        { name: which, ports: [{ namedUuid: "port" }], other_config: Object.entries(config) },
        "bridge",
      ),
      mutateRows(openVswitch, [], [mutate(openVswitch, "bridges", "insert", [{ namedUuid: "bridge" }])]),
    ]),
  fc
    .tuple(name, values)
    .map(([which, config]) => [
      updateRows(bridge, [whereColumn(bridge, "name", "==", which)], { other_config: Object.entries(config) }),
    ]),
  fc
    .tuple(name, fc.option(fc.constantFrom("secure", "standalone"), { nil: undefined }))
    .map(([which, fail_mode]) => [updateRows(bridge, [whereColumn(bridge, "name", "==", which)], { fail_mode })]),
  fc
    .tuple(name, numbers, fc.option(fc.nat(4000), { nil: undefined }))
    .map(([which, trunks, tag]) => [
      updateRows(port, [whereColumn(port, "name", "==", which)], { trunks: new Set(trunks), tag }),
    ]),
  fc
    .tuple(name, values)
    .map(([which, config]) => [
      mutateRows(
        bridge,
        [whereColumn(bridge, "name", "==", which)],
        [
          deleteKeys(bridge, "other_config", Object.keys(config)),
          mutate(bridge, "other_config", "insert", Object.entries(config)),
        ],
      ),
    ]),
  fc.constant([updateRows(openVswitch, [], { bridges: [] })]),
);

/** All rows as the database has them, by table. */
async function stored(connection: Connection): Promise<unknown> {
  const selects = tables.map((table) => selectRows(table, [], ["_uuid", ...Object.keys(table.columns)] as never));
  const results = await transact(connection, databaseName, selects);
  return tables.map((table, index) =>
    Object.fromEntries(
      (results[index]?.rows ?? []).map((row) => {
        const [, uuid] = row["_uuid"] as unknown as ["uuid", string];
        return [uuid, decodeRow(table, uuid, row)];
      }),
    ),
  );
}

describe.each([
  { newest: "monitor_cond_since", lacking: [] },
  { newest: "monitor_cond", lacking: ["monitor_cond_since"] },
  { newest: "monitor", lacking: ["monitor_cond_since", "monitor_cond"] },
])("Monitor on a server whose newest method is $newest", ({ lacking }) => {
  it("has what the database has after each transaction", async () => {
    await using client = await connect(ovs.endpoint);
    const monitor = new Monitor("m", databaseName, tables);
    await using watching = await connect(ovs.endpoint, {
      onNotification: (method, parameters) => void monitor.receive(method, parameters),
    });
    const asked: string[] = [];
    await monitor.start({
      async request(method, parameters) {
        if (lacking.includes(method))
          throw new OvsdbError("refused", `${method}: unknown method`, { error: "unknown method" });
        asked.push(method);
        return watching.request(method, parameters);
      },
    });
    expect(asked).toHaveLength(1);
    await fc.assert(
      fc.asyncProperty(operations, async (transaction) => {
        await transact(client, databaseName, transaction).catch((error: unknown) => {
          if (!(error instanceof OvsdbError) || error.code !== "transaction") throw error;
        });
        // The answer on this connection comes after the updates of all transactions before.
        await transact(watching, databaseName, []);
        const cached = tables.map((table) => Object.fromEntries(monitor.cache.rows(table)));
        expect(cached).toEqual(await stored(client));
      }),
      { numRuns: 150 },
    );
  }, 120_000);
});
