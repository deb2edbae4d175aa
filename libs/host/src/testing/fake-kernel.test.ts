// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseMacAddress, type MacAddress } from "@switchyard/api";
import type { KernelEvent } from "../ports/kernel.ts";
import { createManualClock } from "./clock.ts";
import { createFakeKernel, type FakeKernel } from "./fake-kernel.ts";
import { blueField, i40e, igb, mlx5, pci, plainNic } from "./nic-models.ts";

const pf = pci("0000:01:00.0");
const vf0 = pci("0000:01:10.0");

function mac(text: string): MacAddress {
  const parsed = parseMacAddress(text);
  if (!parsed.ok) throw new Error(text);
  return parsed.value;
}

async function settle(kernel: FakeKernel): Promise<void> {
  await kernel.host().udev.settle({ timeoutMs: 5_000, signal: new AbortController().signal });
}

describe("createFakeKernel", () => {
  it("boots with the PFs of its NICs: bound to drivers, named and up", async () => {
    const host = createFakeKernel({
      nics: [mlx5("0000:3b:00.0"), igb("0000:01:00.0"), plainNic("0000:00:02.0")],
    }).host();
    const pfs = await host.sriov.listPfs();
    expect(pfs.map(({ pciAddress, driver, netdevs, sriov }) => [pciAddress, driver, netdevs, sriov?.totalVfs])).toEqual(
      [
        ["0000:00:02.0", "virtio-pci", ["enp0s2"], undefined],
        ["0000:01:00.0", "igb", ["enp1s0f0"], 7],
        ["0000:01:00.1", "igb", ["enp1s0f1"], 7],
        ["0000:3b:00.0", "mlx5_core", ["enp59s0f0np0"], 16],
        ["0000:3b:00.1", "mlx5_core", ["enp59s0f1np1"], 16],
      ],
    );
    expect((await host.links.listLinks()).map(({ name, adminUp }) => [name, adminUp])).toContainEqual([
      "enp1s0f0",
      true,
    ]);
  });

  it("gives VFs their driver and name when udev handles them", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
    const { sriov } = kernel.host();
    await sriov.setNumVfs(pf, 2);
    expect((await sriov.readPf(pf))?.sriov?.vfs.map(({ driver }) => driver)).toEqual([undefined, undefined]);
    await settle(kernel);
    expect((await sriov.readPf(pf))?.sriov?.vfs).toEqual([
      { vfId: 0, pciAddress: vf0, vendor: "8086", deviceId: "10ca", driver: "igbvf", netdevs: ["enp1s0f0v0"] },
      {
        vfId: 1,
        pciAddress: "0000:01:10.2",
        vendor: "8086",
        deviceId: "10ca",
        driver: "igbvf",
        netdevs: ["enp1s0f0v1"],
      },
    ]);
  });

  it("gives each VF of all ports its own address", async () => {
    const kernel = createFakeKernel({ nics: [i40e("0000:3b:00.0", { ports: 4 })] });
    const { sriov } = kernel.host();
    for (const { pciAddress } of await sriov.listPfs()) await sriov.setNumVfs(pciAddress, 32);
    const vfs = (await sriov.listPfs()).flatMap(({ sriov }) => sriov?.vfs ?? []);
    expect(new Set(vfs.map(({ pciAddress }) => pciAddress)).size).toBe(128);
  });

  it("uses the given clock for the delays of the kernel", async () => {
    const clock = createManualClock();
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")], clock, setNumVfsMs: 1_000, udevMs: "none" });
    const { sriov, links } = kernel.host();
    const written = sriov.setNumVfs(pf, 4);
    const read = sriov.readPf(pf); // waits for the lock that the writer holds
    await clock.advance(1_000);
    await written;
    expect((await read)?.sriov?.numVfs).toBe(4);
    expect(await links.readSpeedMbps("eth0")).toBeUndefined();
    await clock.advance(1_500);
    expect(await links.readSpeedMbps("eth0")).toBe(1_000);
    expect(kernel.writes).toEqual([
      { port: "sriov", method: "setNumVfs", args: [pf, 4], startedMs: 0, endedMs: 1_000 },
    ]);
  });

  it("creates fewer VFs if the driver has no more", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
    kernel.setQuirks(pf, { createsAtMost: 3 });
    await kernel.host().sriov.setNumVfs(pf, 5);
    expect((await kernel.host().sriov.readPf(pf))?.sriov?.numVfs).toBe(3);
  });

  it("injects faults into the selected calls", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
    const { sriov, records } = kernel.host();
    const fault = kernel.fault(
      { port: "sriov", method: "setNumVfs", target: pf, nth: 2 },
      { code: "EIO", words: "no" },
    );
    await sriov.setNumVfs(pf, 1);
    await expect(sriov.setNumVfs(pf, 0)).rejects.toThrow("set sriov_numvfs 0 on 0000:01:00.0: EIO (no)");
    await sriov.setNumVfs(pf, 0);
    expect(fault.hits).toBe(1);

    kernel.fault({ port: "records", method: "save" }, { code: "ENOSPC", late: true });
    const record = { spec: { pciAddress: pf, numVfs: 4 } };
    await expect(records.save(pf, record)).rejects.toMatchObject({ code: "ENOSPC" });
    expect(await records.list()).toEqual(new Map([[pf, record]]));
    expect(kernel.writes.map(({ code }) => code)).toEqual([undefined, "EIO", undefined, "ENOSPC"]);
  });

  it("fails a write if its PF is unplugged meanwhile", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")], setNumVfsMs: 1 });
    kernel.fault(
      { port: "sriov", method: "setNumVfs" },
      {
        act: () => {
          setImmediate(() => {
            kernel.unplug(pf);
          });
        },
      },
    );
    await expect(kernel.host().sriov.setNumVfs(pf, 2)).rejects.toMatchObject({ code: "ENODEV" });
    expect(await kernel.host().sriov.readPf(pf)).toBeUndefined();
  });

  it("can simulate a read-only sysfs", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
    const { sriov } = kernel.host();
    const fault = kernel.fault({ port: "sriov", method: "writes" }, { code: "EROFS" });
    await expect(sriov.setNumVfs(pf, 1)).rejects.toMatchObject({ code: "EROFS" });
    expect((await sriov.readPf(pf))?.sriov?.numVfs).toBe(0);
    fault.lift();
    await sriov.setNumVfs(pf, 1);
  });

  it("can refuse a watch", () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
    kernel.fault({ port: "events" }, { code: "EMFILE" });
    expect(() => kernel.host().events.watch(new AbortController().signal)).toThrow("watch on kernel events: EMFILE");
  });

  it("gives a VF another address with each bind, unless one was assigned", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
    const { sriov, links, modules } = kernel.host();
    await modules.load("igbvf");
    await sriov.setNumVfs(pf, 1);
    const macs: (string | undefined)[] = [];
    for (let bind = 0; bind < 4; bind++) {
      macs.push((await links.listLinks()).find(({ parent }) => parent?.name === vf0)?.mac);
      if (bind === 1) await links.setVfMac("enp1s0f0", 0, mac("02:00:00:00:00:01"));
      await sriov.unbindDriver(vf0);
      await sriov.bindDriver(vf0, "igbvf");
    }
    expect(macs[0]).not.toBe(macs[1]);
    expect(macs.slice(2)).toEqual(["02:00:00:00:00:01", "02:00:00:00:00:01"]);
  });

  it("does not bind vfio-pci without an IOMMU", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")], iommu: false });
    const { sriov, modules } = kernel.host();
    await modules.load("vfio-pci");
    await sriov.setNumVfs(pf, 1);
    await sriov.setDriverOverride(vf0, "vfio-pci");
    await expect(sriov.bindDriver(vf0, "vfio-pci")).rejects.toMatchObject({ code: "EINVAL" });
  });

  it("lets drivers fail on a broken function, which only bind reports", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
    const { sriov } = kernel.host();
    kernel.failProbe(vf0, "EIO");
    await sriov.setNumVfs(pf, 2);
    await settle(kernel);
    await sriov.probeDrivers(vf0);
    expect((await sriov.readPf(pf))?.sriov?.vfs.map(({ driver }) => driver)).toEqual([undefined, "igbvf"]);
    await expect(sriov.bindDriver(vf0, "igbvf")).rejects.toMatchObject({ code: "EIO" });
    kernel.failProbe(vf0, undefined);
    await sriov.bindDriver(vf0, "igbvf");
  });

  it("allows an administrator to plug, unplug, unbind and change everything", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
    const { sriov, links, modules } = kernel.host();
    kernel.plug(mlx5("0000:3b:00.0", { ports: 1 }));
    await settle(kernel);
    const plugged = (await links.listLinks()).find(({ name }) => name === "enp59s0np0");
    expect(plugged).toMatchObject({ adminUp: false, physPortName: "p0" });
    await modules.load("mlx5_core");

    await kernel.setNumVfsByHand(pf, 2);
    await settle(kernel);
    kernel.setVfByHand(pf, 1, { vlan: 100, qos: 0, protocol: "802.1Q" });
    kernel.unbindByHand(vf0);
    const link = (await links.listLinks()).find(({ name }) => name === "enp1s0f0");
    expect(link?.vfs.map(({ vlan }) => vlan)).toEqual([0, 100]);
    expect((await sriov.readPf(pf))?.sriov?.vfs[0]).not.toHaveProperty("driver");
    expect(kernel.countResets(pf)).toBe(1);
    expect(kernel.writes.map(({ method }) => method)).toEqual(["load"]); // actions of an administrator are not recorded

    kernel.unplug(pf);
    expect((await sriov.listPfs()).map(({ pciAddress }) => pciAddress)).toEqual(["0000:01:00.1", "0000:3b:00.0"]);
    expect((await links.listLinks()).map(({ name }) => name)).toEqual(["lo", "enp1s0f1", "enp59s0np0"]);
  });

  it("shows the address of a VF of a mlx5 PF only if it was assigned", async () => {
    const kernel = createFakeKernel({ nics: [mlx5("0000:3b:00.0")] });
    const { sriov, links, devlink } = kernel.host();
    const port = pci("0000:3b:00.0");
    await sriov.setNumVfs(port, 1);
    const pfLink = async () => (await links.listLinks()).find(({ name }) => name === "enp59s0f0np0");
    expect((await pfLink())?.vfs).toMatchObject([{ vfId: 0, mac: "00:00:00:00:00:00" }]);
    await links.setVfMac("enp59s0f0np0", 0, mac("02:00:00:00:00:01"));
    expect((await pfLink())?.vfs).toMatchObject([{ vfId: 0, mac: "02:00:00:00:00:01" }]);
    expect(await devlink.readEswitchMode(port)).toBe("legacy");
    expect(kernel.countResets(port)).toBe(0);
  });

  it("sends each watcher all changes, and the loss of events", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")], udevMs: "none" });
    const { signal } = new AbortController();
    const events = kernel.host().events.watch(signal);
    await kernel.host().modules.load("igbvf");
    await kernel.host().sriov.setNumVfs(pf, 1);
    expect(await take(events, 6)).toEqual([
      { kind: "link", name: "eth0", parent: { bus: "pci", name: pf } }, // it loses its carrier
      { kind: "pci", action: "add", pciAddress: vf0 },
      { kind: "pci", action: "change", pciAddress: vf0 },
      { kind: "link", name: "eth2", parent: { bus: "pci", name: vf0 } },
      { kind: "pci", action: "bind", pciAddress: vf0 },
      { kind: "pci", action: "change", pciAddress: pf },
    ]);

    const others = kernel.host().events.watch(signal);
    kernel.renameLink("eth2", "vf");
    kernel.overrunEvents();
    expect(await take(others, 1)).toEqual([{ kind: "overrun" }]);
  });

  it("names VF 0 of a BlueField by a udev rule that is the same on all hosts", async () => {
    const kernel = createFakeKernel({ nics: [blueField("0000:3b:00.0"), mlx5("0000:5e:00.0")] });
    const rules = [
      'TEST!="device/physfn/virtfn0/net/%k", GOTO="end"',
      'ATTR{device/physfn/device}!="0xa2d6|0xa2dc", GOTO="end"',
      'ACTION=="add", ATTR{device/physfn/uevent}=="*PCI_SLOT_NAME=*.0*", NAME="management0"',
      'LABEL="end"',
    ];
    kernel.writeFile("/etc/udev/rules.d/70-vf0.rules", rules.join("\n"));
    kernel.reboot();
    for (const address of ["0000:3b:00.0", "0000:3b:00.1", "0000:5e:00.0"]) {
      await kernel.host().sriov.setNumVfs(pci(address), 2);
    }
    await settle(kernel);
    const names = (await kernel.host().links.listLinks()).map(({ name }) => name);
    expect(names.filter((name) => /v\d$|^management/.test(name)).sort()).toEqual([
      ...["enp59s0f0v1", "enp59s0f1v0", "enp59s0f1v1", "enp94s0f0v0", "enp94s0f0v1", "management0"],
    ]);
  });
});

async function take(events: AsyncIterable<KernelEvent>, count: number): Promise<readonly KernelEvent[]> {
  const taken: KernelEvent[] = [];
  for await (const event of events) if (taken.push(event) === count) break;
  return taken;
}
