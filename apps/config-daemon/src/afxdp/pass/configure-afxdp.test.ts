// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseMacAddress, type AfxdpInterfaceSpec, type MacAddress } from "@switchyard/api";
import {
  createFakeKernel,
  ice,
  igb,
  mlx5,
  pci,
  type FakeKernel,
  type FakeNic,
  wrapPorts,
} from "@switchyard/host/testing";
import { afxdpOn } from "../../testing/afxdp-on.ts";
import { killedAtWrite } from "../../testing/killed-at-write.ts";

const pf = pci("0000:3b:00.0");
const other = pci("0000:01:00.0");
const makeKernel = (): FakeKernel => createFakeKernel({ nics: [igb("0000:01:00.0"), mlx5("0000:3b:00.0")] });
function mac(text: string): MacAddress {
  const parsed = parseMacAddress(text);
  if (!parsed.ok) throw new Error(`${text} is no MAC address`);
  return parsed.value;
}

const sfs = (numSfs: number, more: Partial<AfxdpInterfaceSpec> = {}): AfxdpInterfaceSpec => ({
  pciAddress: pf,
  mode: "subfunction",
  poolName: "fast",
  policyName: "p",
  numSfs,
  ...more,
});

/** What the kernel and the records have. */
async function stateOf(kernel: FakeKernel) {
  const host = kernel.host();
  const links = await host.links.listLinks();
  const subfunctions = (await host.subfunctions.list()).map(({ sfNumber, state, netdev }) => {
    return { sfNumber, state, mtu: links.find(({ name }) => name === netdev)?.mtu };
  });
  const [mode, records] = [await host.devlink.readEswitchMode(pf), await host.afxdpRecords.list()];
  return { subfunctions, mode, records: [...records.keys()] };
}

/** A card of the model in slot 3b with another permanent address. */
function sameModel(): FakeNic {
  const { ports } = mlx5("0000:3b:00.0", { ports: 1 });
  return { ports: ports.map((port) => ({ ...port, mac: mac("52:54:00:99:99:99") })) };
}

const active = (sfNumber: number, mtu = 1500) => ({ sfNumber, state: "active", mtu });

describe("configureAfxdp", () => {
  it("reports the devices of the host, and changes nothing without a spec", async () => {
    const kernel = makeKernel();
    const daemon = afxdpOn(kernel.host());
    expect(await daemon.pass({})).toBe("settled");
    expect(daemon.shown()).toMatchObject([
      { pciAddress: other, driver: "igb", queues: 8, maxQueues: 8, maxSfs: 0, xdp: { native: true, zeroCopy: false } },
      { pciAddress: "0000:01:00.1" },
      { pciAddress: pf, driver: "mlx5_core", eSwitchMode: "legacy", linkAdminState: "up", linkType: "ETH", numSfs: 0 },
      { pciAddress: "0000:3b:00.1" },
    ]);
    expect(kernel.writes).toEqual([]);
  });

  it("creates subfunctions, repeats nothing, and takes everything back", async () => {
    const kernel = makeKernel();
    const daemon = afxdpOn(kernel.host());
    expect([await daemon.pass({ interfaces: [sfs(2, { mtu: 9000 })] }), daemon.error()]).toEqual(["settled", ""]);
    expect(await stateOf(kernel)).toEqual({
      subfunctions: [active(0, 9000), active(1, 9000)],
      mode: "switchdev",
      records: [pf],
    });
    const shown = daemon.shown().find(({ pciAddress }) => pciAddress === pf);
    expect(shown).toMatchObject({
      owned: true,
      initialMtu: 1500,
      initialESwitchMode: "legacy",
      numSfs: 2,
      subfunctions: [0, 1].map((sfNumber) => ({ sfNumber, owned: true, poolName: "fast", mtu: 9000 })),
    });

    const count = kernel.writes.length;
    expect(await daemon.pass({ interfaces: [sfs(2, { mtu: 9000 })] })).toBe("settled");
    expect(kernel.writes.slice(count).map(({ method }) => method)).toEqual([]);

    expect(await daemon.pass({ unselected: [pf] })).toBe("settled");
    expect(await stateOf(kernel)).toEqual({ subfunctions: [], mode: "legacy", records: [] });
    expect(daemon.shown().some(({ owned }) => owned === true)).toBe(false);
  });

  it("makes representors ports of the bridge that the policy names, and of another one later, and says that a bridge is missing", async () => {
    const kernel = makeKernel();
    const host = kernel.host();
    const daemon = afxdpOn(host);
    const bridge = "br-0000_01_00.0";
    const masters = () => daemon.shown().flatMap(({ subfunctions = [] }) => subfunctions.map((sf) => sf.representor));
    await daemon.pass({ interfaces: [sfs(2, { bridge })] });
    expect(daemon.error()).toContain(
      `the node has no bridge ${bridge}: a SriovNetworkNodePolicy with spec.bridge.linux or spec.bridge.ovs`,
    );
    expect((await stateOf(kernel)).subfunctions).toEqual([active(0), active(1)]);
    for (const name of [bridge, "br-0000_01_00.1"]) await host.linuxBridges.createBridge(name);
    expect([await daemon.pass({ interfaces: [sfs(2, { bridge, mtu: 9000 })] }), daemon.error()]).toEqual([
      "settled",
      "",
    ]);
    expect(masters()).toMatchObject([0, 1].map(() => ({ master: bridge, mtu: 9000, linkAdminState: "up" })));
    const count = kernel.writes.length;
    expect(await daemon.pass({ interfaces: [sfs(2, { bridge, mtu: 9000 })] })).toBe("settled");
    expect(kernel.writes.length).toBe(count);
    const moved = { interfaces: [sfs(2, { bridge: "br-0000_01_00.1", mtu: 9000 })] };
    expect([await daemon.pass(moved), daemon.error()]).toEqual(["settled", ""]);
    expect(masters()).toMatchObject([0, 1].map(() => ({ master: "br-0000_01_00.1" })));
  });

  it("gives each subfunction an address of its own, which it keeps over its activations, reboots and a new number of them", async () => {
    const kernel = makeKernel();
    const daemon = afxdpOn(kernel.host());
    await daemon.pass({ interfaces: [sfs(2)] });
    const macs = await macsOf(kernel);
    expect(new Set(macs.map(({ link }) => link)).size).toBe(2);
    for (const { link, port } of macs) expect([link, link]).toEqual([expect.stringMatching(/^.[26ae]:/), port]);
    const { subfunctions: port } = kernel.host();
    const [first, second] = await port.list();
    await port.setActive(pf, first?.portIndex ?? 0, false);
    await port.setActive(pf, second?.portIndex ?? 0, false);
    await port.remove(pf, second?.portIndex ?? 0);
    await afxdpOn(kernel.host()).pass({ interfaces: [sfs(3)] });
    expect((await macsOf(kernel)).slice(0, 2)).toEqual(macs);
    const three = await macsOf(kernel);
    kernel.reboot();
    expect(await port.list()).toEqual([]);
    await afxdpOn(kernel.host()).pass({ interfaces: [sfs(3)] });
    expect(await macsOf(kernel)).toEqual(three);
  });

  it("records an address before it is set, and again after a change by hand", async () => {
    const kernel = makeKernel();
    const daemon = afxdpOn(kernel.host());
    await daemon.pass({ interfaces: [sfs(1)] });
    const methods = kernel.writes.map(({ port, method }) => `${port}.${method}`);
    expect(methods.indexOf("afxdpRecords.save")).toBeLessThan(methods.indexOf("subfunctions.setMac"));
    const [before] = await macsOf(kernel);
    const { subfunctions: port } = kernel.host();
    const [{ portIndex } = { portIndex: 0 }] = await port.list();
    const changeByHand = async () => {
      await port.setActive(pf, portIndex, false);
      await port.setMac(pf, portIndex, mac("02:00:00:00:99:99"));
      await port.setActive(pf, portIndex, true);
    };
    await changeByHand();
    await daemon.pass({ interfaces: [sfs(1)] });
    expect(await macsOf(kernel)).toEqual([before]);
    await changeByHand();
    const back = kernel.moveLinkToPod((await port.list())[0]?.netdev ?? "");
    expect([await daemon.pass({ interfaces: [sfs(1)] }), daemon.error()]).toEqual(["settled", ""]);
    expect((await port.list())[0]?.mac).toBe("02:00:00:00:99:99");
    back();
    await daemon.pass({ interfaces: [sfs(1)] });
    expect(await macsOf(kernel)).toEqual([before]);
  });

  it("keeps the address that a subfunction of an older release has, and replaces one of zeros", async () => {
    const kernel = makeKernel();
    const host = kernel.host();
    await host.devlink.setEswitchMode(pf, "switchdev");
    const usable = mac("02:00:00:00:77:77");
    for (const address of [usable, undefined]) {
      const index = await host.subfunctions.create(pf, address === undefined ? 1 : 0);
      if (address !== undefined) await host.subfunctions.setMac(pf, index, address);
      await host.subfunctions.setActive(pf, index, address !== undefined);
    }
    await host.afxdpRecords.save(pf, { spec: sfs(2), subfunctions: [0, 1], names: [] });
    const daemon = afxdpOn(host);
    expect([await daemon.pass({ interfaces: [sfs(2)] }), daemon.error()]).toEqual(["settled", ""]);
    const [kept, drawn] = await macsOf(kernel);
    expect([kept, drawn?.port]).toEqual([{ port: usable, link: usable }, drawn?.link]);
    expect(drawn?.link).toMatch(/^.[26ae]:/);
  });

  it("leaves the address to a driver that chooses it", async () => {
    const [port] = mlx5("0000:3b:00.0", { ports: 1 }).ports;
    const kernel = createFakeKernel({
      nics: port === undefined ? [] : [{ ports: [{ ...port, choosesSubfunctionMacs: true }] }],
    });
    const daemon = afxdpOn(kernel.host());
    expect([await daemon.pass({ interfaces: [sfs(1)] }), daemon.error()]).toEqual(["settled", ""]);
    const count = kernel.writes.length;
    expect(await daemon.pass({ interfaces: [sfs(1)] })).toBe("settled");
    expect(kernel.writes.length).toBe(count);
    expect(daemon.shown()[0]?.subfunctions?.[0]).not.toHaveProperty("assignedMac");
  });

  it("configures a primary device and restores it", async () => {
    const kernel = makeKernel();
    const daemon = afxdpOn(kernel.host());
    const spec: AfxdpInterfaceSpec = { pciAddress: other, mode: "primary", poolName: "fast", mtu: 9000, queues: 4 };
    expect([await daemon.pass({ interfaces: [spec] }), daemon.error()]).toEqual(["settled", ""]);
    expect(daemon.shown()[0]).toMatchObject({ owned: true, mtu: 9000, queues: 4, initialMtu: 1500, initialQueues: 8 });
    expect(await daemon.pass({ unselected: [other] })).toBe("settled");
    expect(daemon.shown()[0]).toMatchObject({ mtu: 1500, queues: 8 });
    expect(daemon.shown()[0]).not.toHaveProperty("owned");
  });

  it("does not touch subfunctions that others have created, nor their mode", async () => {
    const kernel = makeKernel();
    const { devlink, subfunctions } = kernel.host();
    await devlink.setEswitchMode(pf, "switchdev");
    await subfunctions.create(pf, 1);
    const daemon = afxdpOn(kernel.host());
    await daemon.pass({ interfaces: [sfs(2)] });
    const foreign = { sfNumber: 1, state: "inactive", mtu: undefined };
    expect((await stateOf(kernel)).subfunctions).toEqual([active(0), foreign, active(2)]);
    await daemon.pass({ unselected: [pf] });
    expect(await stateOf(kernel)).toEqual({ subfunctions: [foreign], mode: "switchdev", records: [] });
  });

  it("changes nothing on a device that the host uses", async () => {
    const kernel = makeKernel();
    const host = kernel.host();
    const [name = ""] = (await host.sriov.readPf(pf))?.netdevs ?? [];
    kernel.addRouteByHand("default", name);
    const daemon = afxdpOn(host);
    expect(await daemon.pass({ interfaces: [sfs(2)] })).toBe("settled");
    expect(daemon.error()).toContain("is not changed: the host uses it: default route");
    expect(await stateOf(kernel)).toEqual({ subfunctions: [], mode: "legacy", records: [] });
  });

  it("reports more subfunctions than the device has, and creates none", async () => {
    const kernel = makeKernel();
    const daemon = afxdpOn(kernel.host());
    const limit = await readLimit(kernel);
    expect(await daemon.pass({ interfaces: [sfs(limit + 1)] })).toBe("settled");
    expect(daemon.error()).toContain(`${limit + 1} subfunctions requested, but ${pf} supports at most ${limit}`);
    expect((await stateOf(kernel)).subfunctions).toEqual([]);
  });

  it.each([
    { code: "EBUSY", words: "the sfnum is in use" },
    { code: "EINVAL", words: "Incorrect pfnum supplied" },
  ])("reports a refused step in the words of the driver, and recovers: $words", async ({ code, words }) => {
    const kernel = makeKernel();
    const fault = kernel.fault({ port: "subfunctions", method: "create" }, { code, words });
    const daemon = afxdpOn(kernel.host());
    expect(await daemon.pass({ interfaces: [sfs(2)] })).toBe("retry");
    expect(daemon.error()).toContain(`${code} (${words})`);
    fault.lift();
    expect(await daemon.pass({ interfaces: [sfs(2)] })).toBe("settled");
    expect((await stateOf(kernel)).subfunctions).toEqual([active(0), active(1)]);
  });

  it("reports a subfunction on which the driver fails, and removes it with its policy", async () => {
    const kernel = makeKernel();
    kernel.failSubfunctionProbe(pf);
    const daemon = afxdpOn(kernel.host());
    for (const _ of [1, 2]) {
      expect(await daemon.pass({ interfaces: [sfs(1)] })).toBe("retry");
      expect(daemon.error()).toBe(
        `wait for network interface on subfunction 0 of ${pf}: ETIMEDOUT (its driver has created none after 0.2 s)`,
      );
    }
    expect(await daemon.pass({ unselected: [pf] })).toBe("settled");
    expect(await stateOf(kernel)).toEqual({ subfunctions: [], mode: "legacy", records: [] });
  });

  it("reports the subfunction that cannot be activated, and configures the others", async () => {
    const kernel = makeKernel();
    const fault = kernel.fault({ port: "subfunctions", method: "setActive", nth: 2 }, { code: "EIO" });
    const daemon = afxdpOn(kernel.host());
    expect(await daemon.pass({ interfaces: [sfs(3, { mtu: 9000 })] })).toBe("retry");
    expect(daemon.error()).toMatch(/^set port \d+ state active on 0000:3b:00.0: EIO$/);
    const failed = { sfNumber: 1, state: "inactive", mtu: undefined };
    expect((await stateOf(kernel)).subfunctions).toEqual([active(0, 9000), failed, active(2, 9000)]);
    fault.lift();
    expect(await daemon.pass({ interfaces: [sfs(3, { mtu: 9000 })] })).toBe("settled");
    expect((await stateOf(kernel)).subfunctions).toEqual([active(0, 9000), active(1, 9000), active(2, 9000)]);
  });

  it("waits for udev once for all subfunctions, and lists them less often than there are steps", async () => {
    const kernel = makeKernel();
    const calls: string[] = [];
    const host = wrapPorts(kernel.host(), ({ port, method }, proceed) => {
      calls.push(`${port}.${method}`);
      return proceed();
    });
    expect(await afxdpOn(host).pass({ interfaces: [sfs(16)] })).toBe("settled");
    const count = (call: string) => calls.filter((each) => each === call).length;
    expect([count("subfunctions.create"), count("subfunctions.setMac")]).toEqual([16, 16]);
    expect(count("udev.settle")).toBeLessThanOrEqual(2); // one of them after the change of the mode
    expect(count("subfunctions.list")).toBeLessThan(8);
  });

  it("reports one subfunction too many on a device whose limit is unknown, and leaves nothing behind", async () => {
    const kernel = createFakeKernel({ nics: [ice("0000:3b:00.0", { ports: 1 })] });
    const daemon = afxdpOn(kernel.host());
    expect(await daemon.pass({ interfaces: [sfs(65)] })).toBe("retry");
    expect(daemon.error()).toContain("create subfunction 64 on 0000:3b:00.0: ENOSPC");
    expect(await daemon.pass({ unselected: [pf] })).toBe("settled");
    expect(await stateOf(kernel)).toEqual({ subfunctions: [], mode: "legacy", records: [] });
    const names = (await kernel.host().links.listLinks()).map(({ parent }) => parent?.name);
    expect(names).toEqual([undefined, pf]);
  });

  it("reports a NIC that vanishes, goes on with the others, and configures it again when it returns", async () => {
    const card = mlx5("0000:3b:00.0", { ports: 1 });
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0"), card] });
    const daemon = afxdpOn(kernel.host());
    const interfaces: AfxdpInterfaceSpec[] = [sfs(1), { pciAddress: other, mode: "primary", poolName: "b", mtu: 9000 }];
    await daemon.pass({ interfaces: [sfs(1)] });
    kernel.unplug(pf);
    expect(await daemon.pass({ interfaces })).toBe("settled");
    expect(daemon.error()).toContain(`spec.interfaces[0].pciAddress: ${pf} is not a network device of this node`);
    expect(daemon.shown()[0]).toMatchObject({ pciAddress: other, mtu: 9000 });
    kernel.plug(card);
    expect([await daemon.pass({ interfaces }), daemon.error()]).toEqual(["settled", ""]);
    expect((await stateOf(kernel)).subfunctions).toEqual([active(0)]);
  });

  it.each([
    { does: "another model", card: igb("0000:3b:00.0", { ports: 1 }), recorded: "15b3:1017, 52:54:00:3b:00:00" },
    { does: "the same model with another address", card: sameModel(), recorded: "15b3:1017, 52:54:00:3b:00:00" },
  ])("does not apply the record of a card to $does in its slot", async ({ card, recorded }) => {
    const kernel = createFakeKernel({ nics: [mlx5("0000:3b:00.0", { ports: 1 })] });
    const daemon = afxdpOn(kernel.host());
    await daemon.pass({ interfaces: [sfs(2)] });
    const before = (await kernel.host().afxdpRecords.list()).get(pf);
    kernel.unplug(pf);
    kernel.plug(card);
    const { links } = kernel.host();
    const [{ name } = { name: "" }] = (await links.listLinks()).filter(({ parent }) => parent?.name === pf);
    await links.setMtu(name, 9000);
    const count = kernel.writes.length;
    for (const spec of [{ unselected: [pf] }, {}]) expect(await daemon.pass(spec)).toBe("settled");
    expect(kernel.writes.slice(count)).toEqual([]);
    const [shown] = daemon.shown();
    expect(shown).toMatchObject({ pciAddress: pf, mtu: 9000, numSfs: 0, replacedCard: recorded });
    for (const field of ["owned", "initialMtu", "recordedNames"]) expect(shown).not.toHaveProperty(field);

    const spec: AfxdpInterfaceSpec = { pciAddress: pf, mode: "primary", poolName: "fast", mtu: 1400 };
    expect([await daemon.pass({ interfaces: [spec] }), daemon.error()]).toEqual(["settled", ""]);
    expect(daemon.shown()[0]).toMatchObject({ owned: true, mtu: 1400, initialMtu: 9000, replacedCard: recorded });
    const after = (await kernel.host().afxdpRecords.list()).get(pf);
    expect([after?.card, after?.permanentMac]).not.toEqual([before?.card, before?.permanentMac]);
    expect(after).not.toHaveProperty("macs");
    await daemon.pass({ unselected: [pf] });
    expect(daemon.shown()[0]).toMatchObject({ mtu: 9000 });
    expect(daemon.shown()[0]).not.toHaveProperty("replacedCard");
  });

  it("owns a device of a record without a card, and one in a pod, whose permanent address is hidden", async () => {
    const kernel = makeKernel();
    const host = kernel.host();
    const spec: AfxdpInterfaceSpec = { pciAddress: other, mode: "primary", poolName: "fast" };
    await host.afxdpRecords.save(other, { spec, initial: { mtu: 1400 } });
    const daemon = afxdpOn(host);
    await daemon.pass({ interfaces: [spec] });
    const recorded = async () => (await host.afxdpRecords.list()).get(other);
    const card = { card: "8086:10c9", permanentMac: "52:54:00:01:00:00", initial: { mtu: 1400 } };
    expect(await recorded()).toMatchObject(card);
    kernel.moveLinkToPod(daemon.shown()[0]?.name ?? "");
    await daemon.pass({ interfaces: [spec] });
    expect(daemon.shown()[0]).toMatchObject({ owned: true, initialMtu: 1400 });
    expect(await recorded()).toMatchObject(card);
  });

  it("waits for a drain before it removes a subfunction that a pod has", async () => {
    const kernel = makeKernel();
    let isDrained = false;
    const daemon = afxdpOn(kernel.host(), { isDrained: () => isDrained });
    await daemon.pass({ interfaces: [sfs(2)] });
    for (const { netdev = "" } of await kernel.host().subfunctions.list()) kernel.moveLinkToPod(netdev);
    expect(await daemon.pass({ interfaces: [sfs(2)] })).toBe("settled");
    expect(await daemon.pass({ interfaces: [sfs(2, { mtu: 9000 })] })).toBe("waiting");
    expect(await daemon.pass({ interfaces: [sfs(1)] })).toBe("waiting");
    expect(daemon.phases.at(-1)).toMatchObject({
      kind: "waiting-for-drain",
      reasons: [{ text: `${pf}: removing subfunctions takes them away from pods` }],
    });
    expect([daemon.needs.at(-1), (await stateOf(kernel)).subfunctions.length]).toEqual([true, 2]);
    isDrained = true;
    expect(await daemon.pass({ interfaces: [sfs(1)] })).toBe("settled");
    expect([daemon.needs.at(-1), (await stateOf(kernel)).subfunctions.length]).toEqual([false, 1]);
  });

  it("gives the drain back after a disruptive step has failed three times in the same way", async () => {
    const kernel = makeKernel();
    const time = { ms: 0 };
    const daemon = afxdpOn(kernel.host(), { nowMs: () => time.ms });
    await daemon.pass({ interfaces: [sfs(2)] });
    for (const { netdev = "" } of await kernel.host().subfunctions.list()) kernel.moveLinkToPod(netdev);
    const fault = kernel.fault(
      { port: "subfunctions", method: "setActive" },
      { code: "EBUSY", words: "the function is in use" },
    );
    const one = { interfaces: [sfs(1)] };
    for (let nth = 1; nth <= 3; nth++) expect(await daemon.pass(one)).toBe("retry");
    expect(await daemon.pass(one)).toBe("settled");
    expect(daemon.needs.at(-1)).toBe(false);
    expect(daemon.phases.at(-1)).toMatchObject({ kind: "settled", problems: [{ code: "refused" }] });
    expect(daemon.error()).toMatch(
      /^spec\.interfaces\[0\]\.numSfs: .*EBUSY \(the function is in use\); this has failed 3 times in the same way, so the device stays as it is until its spec or its driver changes/,
    );
    fault.lift();
    expect(await daemon.pass(one)).toBe("settled");
    expect((await stateOf(kernel)).subfunctions).toHaveLength(2);
    time.ms += 10 * 60_000;
    expect([await daemon.pass(one), daemon.error()]).toEqual(["settled", ""]);
    expect((await stateOf(kernel)).subfunctions).toHaveLength(1);
  });

  it("counts failures after the drain, when the pods that had the device are gone", async () => {
    const kernel = makeKernel();
    const daemon = afxdpOn(kernel.host());
    await daemon.pass({ interfaces: [sfs(1)] });
    const [{ netdev = "" } = {}] = await kernel.host().subfunctions.list();
    kernel.fault({ port: "subfunctions", method: "setActive" }, { code: "EBUSY" });
    const none = { unselected: [pf] };
    for (let nth = 1; nth <= 3; nth++) await daemon.pass(none);
    expect(await stateOf(kernel)).toMatchObject({ subfunctions: [active(0)], mode: "switchdev" });
    kernel.moveLinkToPod(netdev); // the drain ended, and the next pod has the device
    expect(await daemon.pass(none)).toBe("settled");
    expect([daemon.needs.at(-1), daemon.error()]).toEqual([false, expect.stringContaining("failed 3 times")]);
  });

  it("keeps the drain while a step of it hangs", async () => {
    const kernel = makeKernel();
    const daemon = afxdpOn(kernel.host(), { stepDeadlineMs: 300 });
    await daemon.pass({ interfaces: [sfs(1)] });
    const [{ netdev = "" } = {}] = await kernel.host().subfunctions.list();
    const back = kernel.moveLinkToPod(netdev);
    const { promise: until, resolve } = Promise.withResolvers<undefined>();
    kernel.fault({ port: "subfunctions", method: "setActive", nth: 1 }, { until });
    expect(await daemon.pass({ unselected: [pf] })).toBe("retry");
    back(); // the pod has left, so the same steps disrupt nobody
    const before = daemon.needs.length;
    expect(await daemon.pass({ unselected: [pf] })).toBe("retry");
    expect(daemon.needs.slice(before)).not.toContain(false);
    resolve(undefined);
    for (let result = "retry"; result === "retry";) result = await daemon.pass({ unselected: [pf] });
    expect(daemon.needs.at(-1)).toBe(false);
  });

  it("reports a step that hangs, goes on with the other devices, and continues when it ends", async () => {
    const kernel = makeKernel();
    const { promise: until, resolve } = Promise.withResolvers<undefined>();
    const fault = kernel.fault({ port: "subfunctions", method: "create", nth: 1 }, { until });
    const daemon = afxdpOn(kernel.host(), { stepDeadlineMs: 500 });
    const interfaces: AfxdpInterfaceSpec[] = [sfs(1), { pciAddress: other, mode: "primary", poolName: "b", mtu: 9000 }];
    expect(await daemon.pass({ interfaces })).toBe("retry");
    expect(daemon.error()).toContain("create subfunction 0 on 0000:3b:00.0: no answer from the kernel");
    const mtus = (await kernel.host().links.listLinks()).map(({ mtu }) => mtu);
    expect(mtus).toContain(9000);
    resolve(undefined);
    fault.lift();
    await until;
    for (let result = "retry"; result === "retry";) result = await daemon.pass({ interfaces });
    expect([daemon.error(), (await stateOf(kernel)).subfunctions]).toEqual(["", [active(0)]]);
  });

  it("changes no PF of SR-IOV policies", async () => {
    const kernel = makeKernel();
    const daemon = afxdpOn(kernel.host(), { sriovUse: () => "SR-IOV policies select it" });
    await daemon.pass({ interfaces: [sfs(1)] });
    expect(daemon.error()).toContain("SR-IOV policies select it");
    expect(kernel.writes).toEqual([]);
  });

  it("records nothing and changes nothing if the disk is full", async () => {
    const kernel = makeKernel();
    kernel.fault({ port: "afxdpRecords", method: "save" }, { code: "ENOSPC" });
    const daemon = afxdpOn(kernel.host());
    expect(await daemon.pass({ interfaces: [sfs(1)] })).toBe("retry");
    expect(daemon.error()).toContain("ENOSPC");
    expect(await stateOf(kernel)).toEqual({ subfunctions: [], mode: "legacy", records: [] });
  });

  it.each([{ isDone: false }, { isDone: true }])(
    "converges and resets wherever it is killed (the write is done: $isDone)",
    async ({ isDone }) => {
      const spec = { interfaces: [sfs(2, { mtu: 9000, queues: 4 })] };
      for (let nth = 1; ; nth++) {
        const kernel = makeKernel();
        const survived = await runMortally(kernel, nth, { isDone, spec });
        expect(await afxdpOn(kernel.host()).pass(spec)).toBe("settled");
        expect(await stateOf(kernel)).toEqual({
          subfunctions: [active(0, 9000), active(1, 9000)],
          mode: "switchdev",
          records: [pf],
        });
        const reset = { unselected: [pf] };
        const resetSurvived = await runMortally(kernel, nth, { isDone, spec: reset });
        expect(await afxdpOn(kernel.host()).pass(reset)).toBe("settled");
        expect(await stateOf(kernel)).toEqual({ subfunctions: [], mode: "legacy", records: [] });
        if (!survived || !resetSurvived) continue;
        expect(nth).toBeGreaterThan(8);
        return;
      }
    },
  );
});

/** The addresses of the functions and of their interfaces. */
async function macsOf(kernel: FakeKernel) {
  const links = await kernel.host().links.listLinks();
  return (await kernel.host().subfunctions.list()).map(({ mac: port, netdev }) => {
    return { port, link: links.find(({ name }) => name === netdev)?.mac };
  });
}

async function readLimit(kernel: FakeKernel): Promise<number> {
  return (await kernel.host().subfunctions.readLimit(pf)) ?? 0;
}

/** Runs a pass that is killed at its nth write. Reports whether it ended before. */
async function runMortally(
  kernel: FakeKernel,
  nth: number,
  { isDone, spec }: { readonly isDone: boolean; readonly spec: Parameters<ReturnType<typeof afxdpOn>["pass"]>[0] },
): Promise<boolean> {
  const { host, death } = killedAtWrite(kernel.host(), nth, isDone);
  const ended = afxdpOn(host)
    .pass(spec)
    .then(() => true);
  return Promise.race([ended, death.then(() => false)]);
}
