// SPDX-License-Identifier: Apache-2.0
/** Bridges of a real ovs-vswitchd, with a dummy datapath. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startOpenVswitch, type OpenVswitch } from "@switchyard/testing";
import { OvsdbClient } from "../client/client.ts";
import { insertRow, mutate, mutateRows } from "../wire/operations.ts";
import { configure, interfaceProblem } from "./configure.ts";
import { bridge, databaseName, iface, openVswitch, port } from "./tables.ts";

let ovs: OpenVswitch;
let client: OvsdbClient;
beforeAll(async () => {
  ovs = await startOpenVswitch({ vswitchd: true, strict: true });
  client = new OvsdbClient({
    endpoints: [ovs.endpoint],
    database: databaseName,
    monitor: [openVswitch, bridge, port, iface],
  });
  await client.untilConnected();
}, 300_000);
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await ovs[Symbol.asyncDispose]();
});

/** A bridge with one port; resolves with what is wrong with the port. */
async function addBridge(name: string, interfaceType: string): Promise<string | undefined> {
  const uplink = `${name}-up`;
  await configure(
    client,
    [
      insertRow(iface, { name: uplink, type: interfaceType }, "interface"),
      insertRow(port, { name: uplink, interfaces: [{ namedUuid: "interface" }] }, "port"),
      insertRow(bridge, { name, datapath_type: "dummy", ports: [{ namedUuid: "port" }] }, "bridge"),
      mutateRows(openVswitch, [], [mutate(openVswitch, "bridges", "insert", [{ namedUuid: "bridge" }])]),
    ],
    AbortSignal.timeout(60_000),
  );
  const row = [...client.cache.rows(iface).values()].find((candidate) => candidate.name === uplink);
  return row === undefined ? "no such interface" : interfaceProblem(row);
}

describe("configure", () => {
  it("returns when ovs-vswitchd has added the interface", async () => {
    expect(await addBridge("good", "dummy")).toBeUndefined();
    expect(await ovs.vsctl("get", "Interface", "good-up", "ofport")).toBe("1\n");
  });

  it("shows why an interface does not work", async () => {
    expect(await addBridge("bad", "system")).toMatch(/bad-up|could not/);
    expect(await ovs.vsctl("get", "Interface", "bad-up", "ofport")).toMatch(/-1|\[\]/);
  });

  it("says that ovs-vswitchd has not applied what is stored", async () => {
    await ovs.stopVswitchd();
    await expect(configure(client, [], AbortSignal.timeout(200))).rejects.toMatchObject({
      code: "aborted",
      message: expect.stringContaining("is stored, but ovs-vswitchd has not applied it"),
    });
    await ovs.startVswitchd();
    await configure(client, [], AbortSignal.timeout(60_000));
  });
});
