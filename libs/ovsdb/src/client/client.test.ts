// SPDX-License-Identifier: Apache-2.0
/** The client against a real ovsdb-server. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually, startOpenVswitch, type OpenVswitch } from "@switchyard/testing";
import { bridge, databaseName, openVswitch, port } from "../vswitch/tables.ts";
import { defineTable, one, text } from "../wire/column.ts";
import {
  assertRows,
  deleteRows,
  insertRow,
  isRow,
  mutate,
  mutateRows,
  updateRows,
  whereColumn,
} from "../wire/operations.ts";
import { OvsdbClient, type ClientState, type OvsdbClientOptions } from "./client.ts";
import type { RowChange } from "./table-cache.ts";

let ovs: OpenVswitch;
beforeAll(async () => {
  ovs = await startOpenVswitch();
}, 300_000);
afterAll(async () => {
  await ovs[Symbol.asyncDispose]();
});

function createClient(options: Partial<OvsdbClientOptions> = {}): OvsdbClient {
  const monitor = [openVswitch, bridge, port];
  const backoff = { firstMs: 10, longestMs: 100 };
  return new OvsdbClient({ endpoints: [ovs.endpoint], database: databaseName, monitor, backoff, ...options });
}

/** Inserts a bridge and resolves with its UUID. */
async function addBridge(client: OvsdbClient, name: string): Promise<string> {
  const [inserted] = await client.transact([
    insertRow(bridge, { name, other_config: [["a", "1"]] }, "new"),
    mutateRows(openVswitch, [], [mutate(openVswitch, "bridges", "insert", [{ namedUuid: "new" }])]),
  ]);
  return inserted?.uuid?.[1] ?? "";
}

const bridgeNames = async (): Promise<readonly string[]> => (await ovs.vsctl("list-br")).split("\n").filter(Boolean);

describe("OvsdbClient", () => {
  it("has the rows of its tables, and hears of changes before the answer to its own transaction", async () => {
    await using client = createClient();
    await client.untilConnected();
    const changes: RowChange[] = [];
    client.cache.subscribe((more) => void changes.push(...more));
    const uuid = await addBridge(client, "own");
    expect(client.cache.rows(bridge).get(uuid)).toMatchObject({ name: "own", other_config: new Map([["a", "1"]]) });
    expect(changes.map(({ table }) => table.name).sort()).toEqual(["Bridge", "Open_vSwitch"]);

    await client.transact([updateRows(bridge, [isRow(uuid)], { fail_mode: "secure", other_config: new Map() })]);
    expect(client.cache.rows(bridge).get(uuid)).toMatchObject({ fail_mode: "secure", other_config: new Map() });
    await client.transact([mutateRows(openVswitch, [], [mutate(openVswitch, "bridges", "delete", [uuid])])]);
    expect(client.cache.rows(bridge).has(uuid)).toBe(false);
    expect(changes.at(-1)?.after === undefined || changes.at(-2)?.after === undefined).toBe(true);
  });

  it("hears of the changes of others", async () => {
    await using client = createClient();
    await client.untilConnected();
    await ovs.vsctl("add-br", "others");
    const isThere = () => [...client.cache.rows(bridge).values()].some(({ name }) => name === "others");
    await eventually("the bridge is in the cache", isThere);
    await ovs.vsctl("del-br", "others");
    await eventually("the bridge is not in the cache", () => !isThere());
  });

  it("names the operations that fail, and changes nothing", async () => {
    await using client = createClient();
    await client.untilConnected();
    const before = await bridgeNames();
    const wrong = client.transact([
      insertRow(bridge, { name: "half" }, "half"),
      mutateRows(openVswitch, [], [mutate(openVswitch, "bridges", "insert", [{ namedUuid: "half" }])]),
      updateRows(bridge, [], { fail_mode: "sometimes" }),
    ]);
    await expect(wrong).rejects.toMatchObject({
      code: "transaction",
      failures: [{ index: 2, error: "constraint violation" }],
      message: expect.stringContaining("update Bridge: constraint violation"),
    });
    expect(await bridgeNames()).toEqual(before);
  });

  it("names the commit if it fails: the operations alone were right", async () => {
    await using client = createClient();
    await client.untilConnected();
    const uuid = await addBridge(client, "referred");
    await expect(client.transact([deleteRows(bridge, [isRow(uuid)])])).rejects.toMatchObject({
      code: "transaction",
      failures: [{ index: 1, error: "referential integrity violation" }],
      message: expect.stringMatching(/^commit: referential integrity violation/),
    });
    await ovs.vsctl("del-br", "referred");
  });

  it("fails a transaction whose assumption does not hold any more", async () => {
    await using client = createClient();
    await client.untilConnected();
    await addBridge(client, "assumed");
    const where = [whereColumn(bridge, "name", "==", "assumed")];
    const ifFailMode = (fail_mode: string | undefined) => [
      assertRows(bridge, where, [{ fail_mode }]),
      updateRows(bridge, where, { fail_mode: "standalone" }),
    ];
    await expect(client.transact(ifFailMode("secure"))).rejects.toMatchObject({ failures: [{ error: "timed out" }] });
    await client.transact(ifFailMode(undefined));
    await ovs.vsctl("del-br", "assumed");
  });

  it("connects again, keeps its content meanwhile, and then shows what has changed", async () => {
    const states: ClientState[] = [];
    await using client = createClient({ onState: (state) => void states.push(state) });
    await client.untilConnected();
    await addBridge(client, "stays");
    await addBridge(client, "goes");
    const changes: RowChange[] = [];
    client.cache.subscribe((more) => void changes.push(...more));
    await ovs.stopServer();
    await eventually("the client knows", () => !client.state.isConnected);
    expect([...client.cache.rows(bridge).values()].map(({ name }) => name).sort()).toEqual(["goes", "stays"]);
    await expect(client.transact([])).rejects.toMatchObject({ code: "disconnected" });
    await expect(client.untilConnected(AbortSignal.timeout(50))).rejects.toMatchObject({
      code: "aborted",
      message: expect.stringContaining(`cannot connect to ${ovs.endpoint}`),
    });

    await ovs.startServer();
    await ovs.vsctl("del-br", "goes"); // possibly before the client is back
    await client.untilConnected();
    const names = () => [...client.cache.rows(bridge).values()].map(({ name }) => name);
    await eventually("the cache follows", () => names().join() === "stays");
    const removed = changes.filter(({ table, after }) => table === bridge && after === undefined);
    expect(removed.map(({ before }) => before?.["name"])).toEqual(["goes"]);
    expect(changes.some(({ before, after }) => (after ?? before)?.["name"] === "stays")).toBe(false);
    expect(states.filter(({ isConnected }) => isConnected)).toHaveLength(2);
    await ovs.vsctl("del-br", "stays");
  });

  it("gives up a server that does not answer probes, and comes back when it answers", async () => {
    await using client = createClient({ probeIntervalMs: 100, connectTimeoutMs: 500 });
    await client.untilConnected();
    await ovs.signalServer("STOP");
    try {
      await eventually("the client knows", () => !client.state.isConnected, { withinMs: 60_000 });
      expect(client.state).toMatchObject({ error: { message: expect.stringContaining("did not answer a probe") } });
    } finally {
      await ovs.signalServer("CONT");
    }
    await client.untilConnected();
  });

  it("tries its endpoints in turn", async () => {
    await using client = createClient({ endpoints: ["unix:/nowhere/db.sock", ovs.endpoint] });
    await client.untilConnected();
    expect(client.state).toEqual({ isConnected: true, endpoint: ovs.endpoint });
  });

  it.each([
    { what: "a database", options: { database: "Nothing" }, error: "unknown database" },
    { what: "a table", options: { monitor: [defineTable("Nothing", {})] }, error: "the database has no table Nothing" },
    {
      what: "a column of this type",
      options: { monitor: [defineTable("Bridge", { ports: one(text) })] },
      error: "column Bridge.ports is set uuid in the database, expected one string",
    },
  ])("says that the server lacks $what, and keeps trying", async ({ options, error }) => {
    await using client = createClient(options);
    await eventually("two attempts", () => !client.state.isConnected && client.state.error !== undefined);
    expect(client.state).toMatchObject({ isConnected: false, error: { message: expect.stringContaining(error) } });
  });

  it("leaves a column that the server lacks at its initial value", async () => {
    const newer = defineTable("Bridge", { name: one(text), invented_later: one(text) });
    await using client = createClient({ monitor: [newer] });
    await client.untilConnected();
    await ovs.vsctl("add-br", "older");
    const find = () => [...client.cache.rows(newer).values()].find(({ name }) => name === "older");
    await eventually("the bridge is in the cache", () => find() !== undefined);
    expect(find()?.invented_later).toBe("");
    await ovs.vsctl("del-br", "older");
  });

  it("ends at once while it connects, waits, or is connected", async () => {
    for (const endpoint of ["unix:/nowhere/db.sock", ovs.endpoint]) {
      const client = createClient({ endpoints: [endpoint], backoff: { firstMs: 60_000, longestMs: 60_000 } });
      await client[Symbol.asyncDispose]();
      await expect(client.untilConnected()).rejects.toMatchObject({ code: "closed" });
    }
  });
});
