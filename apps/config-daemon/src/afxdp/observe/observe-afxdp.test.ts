// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createFakeKernel, igb, mlx5, pci, type FakeKernel } from "@switchyard/host/testing";
import { afxdpOn } from "../../testing/afxdp-on.ts";
import { observeAfxdp } from "./observe-afxdp.ts";

const [first, second] = [pci("0000:01:00.0"), pci("0000:01:00.1")];
const nameOf = async (kernel: FakeKernel, pf = first) => (await kernel.host().sriov.readPf(pf))?.netdevs[0] ?? "";
const observe = (kernel: FakeKernel) => observeAfxdp(kernel.host(), { spec: {} });

describe("observeAfxdp", () => {
  it("says what the host uses a device for: routes over a VLAN, bonds, VFs", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0"), mlx5("0000:3b:00.0", { ports: 1 })] });
    kernel.addLinkByHand("vlan5", "vlan", await nameOf(kernel, first));
    kernel.addRouteByHand("default", "vlan5");
    kernel.addLinkByHand("bond0", "bond");
    kernel.setMasterByHand(await nameOf(kernel, second), "bond0");
    await kernel.setNumVfsByHand(pci("0000:3b:00.0"), 2);
    expect((await observe(kernel)).map(({ pciAddress, usedBy }) => [pciAddress, usedBy])).toEqual([
      [first, ["default route", "vlan vlan5"]],
      [second, ["port of bond bond0"]],
      ["0000:3b:00.0", ["VFs"]],
    ]);
  });

  it("says which interfaces of the host are above a device, at any depth, but not that veth ends are above each other", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
    kernel.addLinkByHand("storage.100", "vlan", await nameOf(kernel, first));
    kernel.addLinkByHand("storage.100.7", "vlan", "storage.100");
    kernel.addLinkByHand("br0", "bridge");
    kernel.setMasterByHand("storage.100.7", "br0");
    kernel.addLinkByHand("ipvl0", "ipvlan", await nameOf(kernel, second));
    kernel.addLinkByHand("macvlan0", "macvlan", await nameOf(kernel, second));
    kernel.addLinkByHand("veth11", "veth");
    kernel.addLinkByHand("veth10", "veth", "veth11");
    expect((await observe(kernel)).map(({ pciAddress, usedBy }) => [pciAddress, usedBy])).toEqual([
      [first, ["vlan storage.100", "vlan storage.100.7"]],
      [second, ["ipvlan ipvl0", "macvlan macvlan0"]],
      [undefined, undefined],
    ]);
  });

  it("says that the program of another program runs on a device, which is left alone, and not on a device of ours", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0", { ports: 1 })] });
    const name = await nameOf(kernel);
    kernel.attachXdpProgram(name, { id: 7, name: "xsk_def_prog", mode: "native", isOwn: false });
    const daemon = afxdpOn(kernel.host());
    const spec = {
      interfaces: [{ pciAddress: first, mode: "primary", poolName: "fast", mtu: 3000, queues: 1 }],
    } as const;
    await daemon.pass(spec);
    const use = "XDP program 7 (xsk_def_prog) of another program";
    expect(daemon.shown()[0]?.usedBy).toEqual([use]);
    expect(daemon.error()).toContain(`${first} is not changed: the host uses it: ${use}`);
    expect(kernel.writes).toEqual([]);
    kernel.detachXdpProgram(name, 7);
    expect([await daemon.pass(spec), daemon.error()]).toEqual(["settled", ""]);
    // A pod that had the device can leave one, which is no use by the host.
    kernel.attachXdpProgram(name, { id: 8, name: "xsk_def_prog", mode: "native", isOwn: false });
    await daemon.pass(spec);
    expect(daemon.shown()[0]).toMatchObject({ owned: true, xdp: { program: { id: 8, owned: false } } });
    expect(daemon.shown()[0]?.usedBy).toBeUndefined();
  });

  it("lists a veth pair of the host, but not the interfaces of containers, bridges and VLANs", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0", { ports: 1 })] });
    kernel.addLinkByHand("veth-of-pod", "veth");
    kernel.addLinkByHand("br0", "bridge");
    kernel.addLinkByHand("vlan5", "vlan", await nameOf(kernel));
    kernel.addLinkByHand("veth10", "veth", "veth-of-pod");
    expect(await observe(kernel)).toMatchObject([
      { pciAddress: first },
      { name: "veth10", mtu: 1500, xdp: { native: true, zeroCopy: false }, linkAdminState: "up" },
    ]);
  });

  it("keeps a device without PCI address while it is in a pod, and its record can be released", async () => {
    const kernel = createFakeKernel({ nics: [] });
    kernel.addLinkByHand("veth11", "veth");
    kernel.addLinkByHand("veth10", "veth", "veth11");
    const daemon = afxdpOn(kernel.host());
    const spec = { interfaces: [{ name: "veth10", mode: "primary", poolName: "fast" }] } as const;
    expect([await daemon.pass(spec), daemon.error()]).toEqual(["settled", ""]);
    const back = kernel.moveLinkToPod("veth10");
    expect([await daemon.pass(spec), daemon.error()]).toEqual(["settled", ""]);
    // With what policies select it by; its settings are those that the pod wants.
    const mac = expect.stringMatching(/^02:/);
    expect(daemon.shown()).toEqual([{ name: "veth10", mac, owned: true, initialMtu: 1500 }]);
    back();
    await daemon.pass({ unselected: ["veth10"] });
    expect((await kernel.host().afxdpRecords.list()).size).toBe(0);
  });

  it("keeps MTU and queues of a subfunction in a pod as they were on the host", async () => {
    const kernel = createFakeKernel({ nics: [mlx5("0000:3b:00.0", { ports: 1 })] });
    const daemon = afxdpOn(kernel.host());
    const one = { pciAddress: "0000:3b:00.0", mode: "subfunction", poolName: "fast", numSfs: 1, mtu: 9000 } as const;
    await daemon.pass({ interfaces: [one] });
    const before = daemon.shown()[0]?.subfunctions?.[0];
    kernel.moveLinkToPod(before?.name ?? "");
    await daemon.pass({ interfaces: [one] });
    const { name: _name, xdp: _xdp, ...rest } = before ?? { sfNumber: -1 };
    expect(daemon.shown()[0]?.subfunctions).toEqual([rest]);
  });
});
