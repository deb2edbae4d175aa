// SPDX-License-Identifier: Apache-2.0
/**
 * Contract cases of Open vSwitch. They run on the fake kernel and on a real ovsdb-server and ovs-vswitchd
 * (ovs-contract.test.ts).
 */
import assert from "node:assert/strict";
import type { Ovs, ObservedOvsBridge, OvsBridgeSettings } from "../../ports/ovs.ts";
import { assertRefused, eventually } from "./world.ts";

/** Open vSwitch, and its administrator. */
export interface OvsWorld {
  readonly ovs: Ovs;
  /** Interfaces that can be ports. */
  readonly nics: readonly [string, string];
  readonly addBridge: (name: string) => Promise<void>;
  readonly removeBridge: (name: string) => Promise<void>;
  readonly addPort: (bridge: string, name: string) => Promise<void>;
  readonly removePort: (name: string) => Promise<void>;
  readonly setOtherConfig: (bridge: string, key: string, value: string) => Promise<void>;
  /** Returns all bridges with the names of their ports. */
  readonly listBridges: () => Promise<Readonly<Record<string, readonly string[]>>>;
  readonly readOtherConfig: (bridge: string) => Promise<Readonly<Record<string, string>>>;
  readonly stop: () => Promise<void>;
  readonly start: () => Promise<void>;
  /** Of ovs-vswitchd alone. */
  readonly stopSwitch: () => Promise<void>;
  readonly startSwitch: () => Promise<void>;
}

export interface OvsCase {
  readonly name: string;
  run(world: OvsWorld): Promise<void>;
}

/** Runs the case and removes all bridges, whether it passed or failed. */
export async function runOvsCase(ovsCase: OvsCase, world: OvsWorld): Promise<void> {
  try {
    await ovsCase.run(world);
  } finally {
    for (const name of Object.keys(await world.listBridges())) await world.removeBridge(name);
  }
}

const name = "br-0000_01_00.0";
const pciAddress = "0000:01:00.0";

function wanted(nic: string, overrides: Partial<OvsBridgeSettings> = {}): OvsBridgeSettings {
  return { name, settings: {}, uplink: { name: nic, pciAddress, settings: {} }, ...overrides };
}

async function readBridge(ovs: Ovs, bridge = name): Promise<ObservedOvsBridge | undefined> {
  return (await ovs.readState())?.bridges.find((each) => each.name === bridge);
}

export const ovsCases: readonly OvsCase[] = [
  {
    name: "creates a bridge with its uplink and reads it",
    async run({ ovs, nics: [nic], listBridges }) {
      const settings = { otherConfig: { a: "1" }, externalIDs: { owner: "me" }, failMode: "secure" } as const;
      const uplink = { name: nic, pciAddress, settings: { otherConfig: { x: "y" }, mtuRequest: 1400 } };
      await ovs.setBridge({ name, settings, uplink });
      assert.deepEqual(await readBridge(ovs), {
        name,
        isOwned: true,
        settings,
        ports: [{ name: nic, type: "", isMissing: false, uplink: { pciAddress, settings: uplink.settings } }],
      });
      assert.deepEqual(await listBridges(), { [name]: [nic] });
      await ovs.setBridge({ name, settings, uplink }); // changes nothing
      assert.deepEqual(await listBridges(), { [name]: [nic] });
    },
  },
  {
    name: "changes a bridge in place, keeps ports and entries of others, and removes entries that are no longer wanted",
    async run({ ovs, nics: [nic, representor], addPort, setOtherConfig, listBridges, readOtherConfig }) {
      await ovs.setBridge(wanted(nic, { settings: { otherConfig: { a: "1", b: "2" } } }));
      await addPort(name, representor);
      await setOtherConfig(name, "theirs", "3");
      await ovs.setBridge(wanted(nic, { settings: { otherConfig: { b: "4" }, failMode: "standalone" } }));
      assert.deepEqual(await readOtherConfig(name), { b: "4", theirs: "3" });
      assert.deepEqual(await listBridges(), { [name]: [nic, representor].sort() });
      assert.deepEqual((await readBridge(ovs))?.settings, { otherConfig: { b: "4" }, failMode: "standalone" });
    },
  },
  {
    name: "shows that another program changed an entry that Switchyard set",
    async run({ ovs, nics: [nic], setOtherConfig }) {
      await ovs.setBridge(wanted(nic, { settings: { otherConfig: { a: "1" } } }));
      await setOtherConfig(name, "a", "2");
      const settings = await eventually(
        async () => (await readBridge(ovs))?.settings,
        (now) => {
          assert.deepEqual(now, { otherConfig: { a: "2" } });
        },
      );
      assert.ok(settings);
    },
  },
  {
    name: "takes an entry that somebody else set with the same key, and removes it when it is no longer wanted",
    async run({ ovs, nics: [nic], setOtherConfig, readOtherConfig }) {
      await ovs.setBridge(wanted(nic));
      await setOtherConfig(name, "a", "2");
      await ovs.setBridge(wanted(nic, { settings: { otherConfig: { a: "1" } } }));
      assert.deepEqual(await readOtherConfig(name), { a: "1" });
      await ovs.setBridge(wanted(nic));
      assert.deepEqual(await readOtherConfig(name), {});
    },
  },
  {
    name: "refuses a bridge and an uplink of somebody else, and changes nothing",
    async run({ ovs, nics: [nic, other], addBridge, addPort, listBridges }) {
      await addBridge(name);
      await assertRefused(
        ovs.setBridge(wanted(nic)),
        "EEXIST",
        "a bridge of this name exists, which Switchyard did not create",
      );
      await assertRefused(ovs.removeBridge(name), "EPERM", "the bridge was not created by Switchyard");
      await addPort(name, other);
      await assertRefused(ovs.removePorts(name, [other]), "EPERM", "the bridge was not created by Switchyard");
      const words = `${other} is a port of bridge ${name}, which has to release it`;
      await assertRefused(ovs.setBridge(wanted(other, { name: "br-0000_01_00.1" })), "EBUSY", words);
      assert.deepEqual(await listBridges(), { [name]: [other] });
      assert.deepEqual(await readBridge(ovs), {
        name,
        isOwned: false,
        settings: {},
        ports: [{ name: other, type: "", isMissing: false }],
      });
    },
  },
  {
    name: "moves an uplink between its own bridges, and replaces the uplink after a rename",
    async run({ ovs, nics: [nic, renamed], listBridges }) {
      await ovs.setBridge(wanted(nic, { name: "br-0000_01_00.1" }));
      await ovs.setBridge(wanted(nic));
      assert.deepEqual(await listBridges(), { [name]: [nic], "br-0000_01_00.1": [] });
      await ovs.setBridge(wanted(renamed));
      assert.deepEqual(await listBridges(), { [name]: [renamed], "br-0000_01_00.1": [] });
    },
  },
  {
    name: "says that ovs-vswitchd does not run while the database answers, and that it runs again",
    async run({ ovs, nics: [nic], stopSwitch, startSwitch }) {
      await ovs.setBridge(wanted(nic));
      assert.equal((await ovs.readState())?.switchError, undefined);
      await stopSwitch();
      const readError = async () => (await ovs.readState())?.switchError;
      await eventually(readError, (error) => {
        assert.match(error ?? "", /^ovs-vswitchd does not run: /);
      });
      assert.deepEqual((await readBridge(ovs))?.ports[0]?.isMissing, false);
      await startSwitch();
      await eventually(readError, (error) => {
        assert.equal(error, undefined);
      });
    },
  },
  {
    name: "removes its own bridge, and no other",
    async run({ ovs, nics: [nic, other], addBridge, addPort, listBridges }) {
      await addBridge("br-user");
      await addPort("br-user", other);
      await ovs.setBridge(wanted(nic));
      await ovs.removeBridge(name);
      await ovs.removeBridge(name); // it is gone
      assert.deepEqual(await listBridges(), { "br-user": [other] });
    },
  },
  {
    name: "adds a port to its own bridge, moves it to another one, and refuses bridges and ports of others",
    async run({ ovs, nics: [nic, other], addBridge, addPort, listBridges }) {
      const second = "br-0000_01_00.1";
      await assertRefused(ovs.addPort(name, other), "ENODEV", "no bridge of Open vSwitch has this name");
      await ovs.setBridge(wanted(nic));
      await ovs.addPort(name, other);
      await ovs.addPort(name, other); // changes nothing
      assert.deepEqual(
        (await readBridge(ovs))?.ports.find((port) => port.name === other),
        {
          name: other,
          type: "",
          isMissing: false,
        },
      );
      await ovs.setBridge(wanted(nic, { name: second }));
      await ovs.addPort(second, other);
      assert.deepEqual(await listBridges(), { [name]: [], [second]: [nic, other].sort() });
      await ovs.setBridge(wanted(nic, { name: second })); // keeps the port
      await ovs.removePorts(second, [other]);
      await addBridge("br-user");
      await addPort("br-user", other);
      const words = `${other} is a port of bridge br-user, which has to release it`;
      await assertRefused(ovs.addPort(name, other), "EBUSY", words);
      await assertRefused(ovs.addPort("br-user", nic), "EPERM", "the bridge was not created by Switchyard");
      assert.deepEqual(await listBridges(), { [name]: [], [second]: [nic], "br-user": [other] });
    },
  },
  {
    name: "removes ports from its own bridge",
    async run({ ovs, nics: [nic, other], addPort, listBridges }) {
      await ovs.setBridge(wanted(nic));
      await addPort(name, other);
      await ovs.removePorts(name, [other, "absent"]);
      assert.deepEqual(await listBridges(), { [name]: [nic] });
      await ovs.removePorts("br-absent", [other]);
    },
  },
  {
    name: "reports an uplink that ovs-vswitchd cannot use, in its words",
    async run({ ovs, nics: [nic] }) {
      const uplink = { name: nic, pciAddress, settings: { type: "no-such-type" } };
      await assert.rejects(ovs.setBridge({ name, settings: {}, uplink }), { name: "HostError", code: "EIO" });
      const [port] = (await readBridge(ovs))?.ports ?? [];
      assert.equal(port?.isMissing, true);
      assert.match(port.error ?? "", new RegExp(nic));
      await ovs.setBridge(wanted(nic));
      assert.equal((await readBridge(ovs))?.ports[0]?.error, undefined);
    },
  },
  {
    name: "adopts a bridge and the entries that it is told, and changes nothing else",
    async run({ ovs, nics: [nic], addBridge, addPort, setOtherConfig, readOtherConfig }) {
      await addBridge(name);
      await addPort(name, nic);
      await setOtherConfig(name, "a", "1");
      await setOtherConfig(name, "theirs", "2");
      await ovs.adoptBridge(wanted(nic, { settings: { otherConfig: { a: "1" } } }));
      assert.deepEqual(await readBridge(ovs), {
        name,
        isOwned: true,
        settings: { otherConfig: { a: "1" } },
        ports: [{ name: nic, type: "", isMissing: false, uplink: { pciAddress, settings: {} } }],
      });
      await ovs.setBridge(wanted(nic));
      assert.deepEqual(await readOtherConfig(name), { theirs: "2" });
      await ovs.adoptBridge(wanted(nic, { name: "br-absent" }));
      assert.equal(await readBridge(ovs, "br-absent"), undefined);
    },
  },
  {
    name: "configures hardware offload and shows its own mark",
    async run({ ovs }) {
      await ovs.setHardwareOffload("boot/1");
      assert.deepEqual((await ovs.readState())?.hardwareOffload, { isOn: true, mark: "boot/1" });
    },
  },
  {
    name: "reports changes of its own bridges",
    async run({ ovs, nics: [nic, other], addPort }) {
      await ovs.setBridge(wanted(nic));
      const stop = new AbortController();
      const events = ovs.watch(stop.signal)[Symbol.asyncIterator]();
      const next = events.next();
      await addPort(name, other);
      assert.deepEqual(await next, { done: false, value: { kind: "changed" } });
      stop.abort();
    },
  },
  {
    name: "says that there is no connection, reports that it returned, and finds the bridges again",
    async run({ ovs, nics: [nic], stop, start }) {
      await ovs.setBridge(wanted(nic));
      await stop();
      await eventually(
        () =>
          ovs.readState().then(
            () => undefined,
            (error: unknown) => error,
          ),
        (error) => {
          assert.equal((error as { readonly code?: unknown } | undefined)?.code, "ENOTCONN");
        },
      );
      await assert.rejects(ovs.removeBridge(name), { name: "HostError", code: "ENOTCONN" });
      const end = new AbortController();
      const events = ovs.watch(end.signal)[Symbol.asyncIterator]();
      const next = events.next();
      await start();
      assert.deepEqual(await next, { done: false, value: { kind: "changed" } });
      await eventually(
        () => readBridge(ovs).catch(() => undefined),
        (bridge) => {
          assert.equal(bridge?.isOwned, true);
        },
      );
      end.abort();
    },
  },
];
