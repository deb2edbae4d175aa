// SPDX-License-Identifier: Apache-2.0
/** Representors of subfunctions in bridges of Open vSwitch, on the fake kernel, and with a real ovsdb-server and ovs-vswitchd. */
import { describe, expect, it } from "@jest/globals";
import { createLinuxHost } from "@switchyard/host";
import { createFakeKernel, igb, mlx5, pci, type FakeKernel } from "@switchyard/host/testing";
import { startOpenVswitch } from "@switchyard/testing";
import { afxdpOn } from "../../testing/afxdp-on.ts";

const pf = pci("0000:3b:00.0");
const uplinks = { "br-0000_01_00.0": "enp1s0f0", "br-0000_01_00.1": "enp1s0f1" };
const [bridge, second] = ["br-0000_01_00.0", "br-0000_01_00.1"] as const;
const representors = ["enp59s0f0npf0sf0", "enp59s0f0npf0sf1"];

const spec = (name: string | undefined, numSfs = 2) => ({
  interfaces: [
    {
      pciAddress: pf,
      mode: "subfunction",
      poolName: "fast",
      policyName: "p",
      numSfs,
      ...(name && { bridge: name }),
    } as const,
  ],
});

async function ovsNode(managesOvs = true) {
  const kernel = createFakeKernel({ nics: [igb("0000:01:00.0"), mlx5(pf)], managesOvs });
  const { ovs } = kernel.host();
  for (const [name, uplink] of managesOvs ? Object.entries(uplinks) : []) {
    const pciAddress = name.replace("br-", "").replaceAll("_", ":");
    await ovs.setBridge({ name, settings: {}, uplink: { name: uplink, pciAddress, settings: {} } });
  }
  return { kernel, daemon: afxdpOn(kernel.host()) };
}

const mastersOn = (daemon: ReturnType<typeof afxdpOn>) =>
  daemon.shown().flatMap(({ subfunctions = [] }) => subfunctions.map(({ representor }) => representor?.master));

const portsOf = (kernel: FakeKernel) => kernel.ovs.listBridges();

describe("a policy that names a bridge of Open vSwitch", () => {
  it("makes the representors its ports, moves them to another one, and takes them away with the subfunctions", async () => {
    const { kernel, daemon } = await ovsNode();
    expect([await daemon.pass(spec(bridge)), daemon.error()]).toEqual(["settled", ""]);
    expect(mastersOn(daemon)).toEqual([bridge, bridge]);
    expect(portsOf(kernel)).toEqual({ [bridge]: ["enp1s0f0", ...representors], [second]: ["enp1s0f1"] });
    const count = kernel.writes.length;
    expect(await daemon.pass(spec(bridge))).toBe("settled");
    expect(kernel.writes.length).toBe(count);

    expect([await daemon.pass(spec(second)), daemon.error()]).toEqual(["settled", ""]);
    expect(portsOf(kernel)).toEqual({ [bridge]: ["enp1s0f0"], [second]: ["enp1s0f1", ...representors] });
    await daemon.pass(spec(second, 1));
    expect(portsOf(kernel)[second]).toEqual(["enp1s0f1", representors[0]]);
    await daemon.pass({ unselected: [pf] });
    expect(portsOf(kernel)).toEqual({ [bridge]: ["enp1s0f0"], [second]: ["enp1s0f1"] });
  });

  it("moves them from a Linux bridge, and to one", async () => {
    const { kernel, daemon } = await ovsNode();
    const linux = "br-0000_3b_00.1";
    await kernel.host().linuxBridges.createBridge(linux);
    await daemon.pass(spec(linux));
    expect(mastersOn(daemon)).toEqual([linux, linux]);
    expect([await daemon.pass(spec(bridge)), daemon.error()]).toEqual(["settled", ""]);
    expect(mastersOn(daemon)).toEqual([bridge, bridge]);
    expect([await daemon.pass(spec(linux)), daemon.error()]).toEqual(["settled", ""]);
    expect([mastersOn(daemon), portsOf(kernel)[bridge]]).toEqual([[linux, linux], ["enp1s0f0"]]);
  });

  it("connects them again after somebody removed a port, and after a reboot", async () => {
    const { kernel, daemon } = await ovsNode();
    await daemon.pass(spec(bridge));
    kernel.ovs.removePort(representors[0] ?? "");
    await daemon.pass(spec(bridge));
    expect(mastersOn(daemon)).toEqual([bridge, bridge]);
    kernel.reboot();
    const next = afxdpOn(kernel.host());
    expect([await next.pass(spec(bridge)), next.error()]).toEqual(["settled", ""]);
    expect(portsOf(kernel)[bridge]).toEqual(["enp1s0f0", ...representors]);
  });

  it("is not settled while Open vSwitch is down, says which program, and is settled afterwards", async () => {
    const { kernel, daemon } = await ovsNode();
    await daemon.pass(spec(bridge));
    kernel.ovs.stopSwitch();
    await daemon.pass(spec(bridge));
    expect(daemon.error()).toContain(
      `connect to bridge ${bridge} on ${representors[0]}: EIO (ovs-vswitchd does not run`,
    );
    kernel.ovs.startSwitch();
    kernel.ovs.stop();
    await daemon.pass(spec(bridge));
    expect(daemon.error()).toContain(
      `the node has no bridge ${bridge} of Linux, and those of Open vSwitch are unknown`,
    );
    kernel.ovs.start();
    expect([await daemon.pass(spec(bridge)), daemon.error()]).toEqual(["settled", ""]);
    kernel.ovs.stop();
    expect(await daemon.pass({ unselected: [pf] })).toBe("settled"); // the pass for SR-IOV removes the ports that are left
    expect(await kernel.host().subfunctions.list()).toEqual([]);
  });

  it("takes no bridge and no port of others", async () => {
    const { kernel, daemon } = await ovsNode();
    const users = "br-0000_3b_00.1";
    kernel.ovs.addBridge(users);
    await daemon.pass(spec(users));
    expect(daemon.error()).toContain("EPERM (the bridge was not created by Switchyard)");
    kernel.ovs.addPort(users, representors[0] ?? "");
    await daemon.pass(spec(bridge));
    expect(daemon.error()).toContain(`${representors[0]} is a port of bridge ${users}, which has to release it`);
    expect(mastersOn(daemon)).toEqual([users, bridge]);
    kernel.ovs.removePort(representors[0] ?? "");
    kernel.addLinkByHand("br0", "bridge");
    kernel.setMasterByHand(representors[0] ?? "", "br0");
    await daemon.pass(spec(bridge));
    expect(daemon.error()).toContain("EBUSY (it is a port of bridge br0, which has to release it)");
    expect(portsOf(kernel)).toEqual({ [bridge]: ["enp1s0f0", representors[1]], [second]: ["enp1s0f1"], [users]: [] });
  });

  it("says that there is no such bridge where the daemon manages none", async () => {
    const { daemon } = await ovsNode(false);
    await daemon.pass(spec(bridge));
    expect(daemon.error()).toContain(`the node has no bridge ${bridge}: a SriovNetworkNodePolicy`);
  });
});

describe("a device in a bridge of Open vSwitch", () => {
  it("is in use by the host unless its own representors are in the same bridge", async () => {
    const { kernel, daemon } = await ovsNode();
    await daemon.pass(spec(bridge));
    kernel.addLinkByHand("ovs-system", "openvswitch");
    kernel.ovs.addBridge("br-ex");
    kernel.ovs.addPort("br-ex", "enp59s0f0np0");
    for (const port of ["enp59s0f0np0", ...representors]) kernel.setMasterByHand(port, "ovs-system");
    const usedBy = () => daemon.shown().find(({ pciAddress }) => pciAddress === pf)?.usedBy;
    await daemon.pass(spec(bridge));
    expect(usedBy()).toEqual(["port of openvswitch ovs-system"]);
    for (const name of representors) {
      kernel.ovs.removePort(name);
      kernel.ovs.addPort("br-ex", name);
    }
    await daemon.pass(spec(undefined));
    expect([usedBy(), mastersOn(daemon)]).toEqual([undefined, ["br-ex", "br-ex"]]);
  });
});

it("makes representors ports in the database of a real Open vSwitch, moves them, and removes them with the subfunctions", async () => {
  await using server = await startOpenVswitch({ vswitchd: true });
  await using linux = createLinuxHost("/", { ovsdbAddress: server.endpoint, onUnreadableRecord: () => undefined });
  const kernel = createFakeKernel({ nics: [igb("0000:01:00.0"), mlx5(pf)] });
  const host = { ...kernel.host(), ovs: linux.ovs };
  for (const [name, uplink] of Object.entries(uplinks)) {
    await linux.ovs.setBridge({
      name,
      settings: {},
      uplink: { name: uplink, pciAddress: "0000:01:00.0", settings: {} },
    });
  }
  const portsIn = async (name: string) => (await server.vsctl("list-ports", name)).split("\n").filter((line) => line);
  const daemon = afxdpOn(host);
  expect([await daemon.pass(spec(bridge)), daemon.error()]).toEqual(["settled", ""]);
  expect([await portsIn(bridge), mastersOn(daemon)]).toEqual([
    ["enp1s0f0", ...representors],
    [bridge, bridge],
  ]);
  expect(await server.vsctl("get", "Port", representors[0] ?? "", "external_ids")).toContain("switchyard.io/owner");
  const count = kernel.writes.length;
  expect([await daemon.pass(spec(bridge)), kernel.writes.length]).toEqual(["settled", count]);
  expect([await daemon.pass(spec(second)), daemon.error()]).toEqual(["settled", ""]);
  expect([await portsIn(bridge), await portsIn(second)]).toEqual([["enp1s0f0"], ["enp1s0f1", ...representors]]);
  await daemon.pass({ unselected: [pf] });
  expect([await portsIn(bridge), await portsIn(second)]).toEqual([["enp1s0f0"], ["enp1s0f1"]]);
}, 120_000);
