// SPDX-License-Identifier: Apache-2.0
/** Open vSwitch that is slow, broken or busy. The contract (testing/contract/ovs-cases.ts) covers one that works. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { startOpenVswitch, type OpenVswitch } from "@switchyard/testing";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { OvsBridgeSettings } from "../../ports/ovs.ts";
import { createLinuxOvs, ovsEndpoints } from "./linux-ovs.ts";

const name = "br-0000_01_00.0";
const bridge: OvsBridgeSettings = {
  name,
  settings: {},
  uplink: { name: "nic0", pciAddress: "0000:01:00.0", settings: {} },
};

describe("ovsEndpoints", () => {
  it.each([
    { address: "/run/x.sock", endpoints: ["unix:/host/run/x.sock"] },
    { address: "unix:/run/x.sock", endpoints: ["unix:/host/run/x.sock"] },
    { address: "unix:///var/run/x.sock", endpoints: ["unix:/host/run/x.sock", "unix:/host/var/run/x.sock"] },
    { address: "tcp:127.0.0.1:6640", endpoints: ["tcp:127.0.0.1:6640"] },
  ])("finds the socket of $address below the root of the host", ({ address, endpoints }) => {
    expect(ovsEndpoints("/host", address)).toEqual(endpoints);
  });
});

describe("a daemon that does not manage software bridges", () => {
  it("reads no state", async () => {
    await using ovs = createLinuxOvs({ root: "/" });
    expect(await ovs.readState()).toBeUndefined();
  });
});

describe("a host without Open vSwitch", () => {
  it("always gives the same error, which names each socket that was tried", async () => {
    await using ovs = createLinuxOvs({ root: "/nonexistent", address: "/var/run/openvswitch/db.sock" });
    const read = () => ovs.readState().catch((error: unknown) => (error as Error).message);
    const first = await read();
    expect(first).toMatch(/unix:\/nonexistent\/run\/.* ENOENT.*; .*unix:\/nonexistent\/var\/run\/.* ENOENT/);
    const later = await Promise.all(Array.from({ length: 5 }, (_, nth) => delay(nth * 100).then(read)));
    expect(new Set(later)).toEqual(new Set([first]));
  });
});

describe("a real Open vSwitch", () => {
  let server: OpenVswitch;
  beforeAll(async () => {
    server = await startOpenVswitch({ vswitchd: true });
  }, 300_000);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    await server.vsctl("--if-exists", "del-br", name);
  });

  it("that does not answer is reported, and so is an ovs-vswitchd that is down", async () => {
    await using ovs = createLinuxOvs({ root: "/", address: server.endpoint, timeoutMs: 300 });
    await ovs.readState();
    await server.signalServer("STOP");
    await expect(ovs.setBridge(bridge)).rejects.toMatchObject({ name: "HostError", code: "ETIMEDOUT" });
    await server.signalServer("CONT");
    await server.stopVswitchd();
    await expect(ovs.setBridge(bridge)).rejects.toMatchObject({
      code: "ETIMEDOUT",
      words: expect.stringContaining("ovs-vswitchd has not applied it"),
    });
    await server.startVswitchd();
    await ovs.setBridge(bridge);
    expect((await ovs.readState())?.bridges.map((each) => each.name)).toEqual([name]);
  }, 120_000);

  it("that another program changes meanwhile loses no change", async () => {
    await using ovs = createLinuxOvs({ root: "/", address: server.endpoint });
    await ovs.setBridge(bridge);
    const keys = ["a", "b", "c", "d", "e", "f"];
    const set = (key: string) => server.vsctl("set", "Bridge", name, `other_config:their-${key}=1`);
    const settings = { otherConfig: Object.fromEntries(keys.map((key) => [key, "1"])) };
    await Promise.all([...keys.map(set), ...keys.map(() => ovs.setBridge({ ...bridge, settings }))]);
    const found = await server.vsctl("get", "Bridge", name, "other_config");
    for (const key of keys) expect(found).toMatch(new RegExp(`their-${key}=.*`));
    for (const key of keys) expect(found).toMatch(new RegExp(`[{ ]${key}=`));
  }, 120_000);

  it("sends no event for bridges of others, their ports and counters", async () => {
    await using ovs = createLinuxOvs({ root: "/", address: server.endpoint });
    await ovs.setBridge(bridge);
    const stop = new AbortController();
    const events: unknown[] = [];
    const following = (async () => {
      for await (const event of ovs.watch(stop.signal)) events.push(event);
    })();
    await server.vsctl("add-br", "br-user", "--", "add-port", "br-user", "nic1"); // also increments next_cfg and cur_cfg
    await server.vsctl("del-br", "br-user");
    const before = events.length;
    await server.vsctl("del-br", name);
    await ovs.setBridge(bridge); // the events of the removal arrive before its result
    expect([before, events.length > 0]).toEqual([0, true]);
    stop.abort();
    await following;
  }, 120_000);
});

describe("a server that is not Open vSwitch", () => {
  let server: Server;
  const sockets = new Set<Socket>();
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it.each([
    { what: "half a message", text: '{"id":0,"result":{"ver' },
    { what: "garbage", text: "220 ftp.example.com ready\r\n" },
    { what: "an error", text: '{"id":0,"error":"unknown database","result":null}' },
  ])(
    "is reported with its address: $what",
    async ({ text }) => {
      server = createServer((socket) => {
        sockets.add(socket);
        socket.on("error", () => undefined);
        socket.once("data", () => socket.end(text));
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      const address = `tcp:127.0.0.1:${(server.address() as AddressInfo).port}`;
      await using ovs = createLinuxOvs({ root: "/", address });
      await expect(ovs.readState()).rejects.toMatchObject({
        code: "ENOTCONN",
        words: expect.stringContaining(address),
      });
      await expect(ovs.setBridge(bridge)).rejects.toMatchObject({ name: "HostError", code: "ENOTCONN" });
    },
    30_000,
  );
});
