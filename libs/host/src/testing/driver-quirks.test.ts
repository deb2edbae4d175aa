// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseMacAddress, type MacAddress } from "@switchyard/api";
import { createManualClock } from "./clock.ts";
import type { DriverQuirks } from "./driver-quirks.ts";
import { createFakeKernel } from "./fake-kernel.ts";
import { i40e, ice, pci, withQuirks } from "./nic-models.ts";

const pf = pci("0000:3b:00.0");
const vf0 = pci("0000:3b:02.0");

function mac(text: string): MacAddress {
  const parsed = parseMacAddress(text);
  if (!parsed.ok) throw new Error(text);
  return parsed.value;
}

/** A card with these quirks on a machine without udev, whose drivers are loaded. */
async function boot(quirks: DriverQuirks) {
  const clock = createManualClock();
  const nics = [withQuirks(i40e(pf, { ports: 1 }), quirks)];
  const kernel = createFakeKernel({ nics, clock, udevMs: "none" });
  const host = kernel.host();
  await host.modules.load("iavf");
  const vfs = async () => (await host.sriov.readPf(pf))?.sriov?.vfs ?? [];
  return {
    clock,
    kernel,
    ...host,
    vfs,
    numVfs: async () => (await host.sriov.readPf(pf))?.sriov?.numVfs,
    drivers: async () => (await vfs()).map(({ driver }) => driver),
    interfaces: async () => (await vfs()).map(({ netdevs }) => netdevs.length),
  };
}

describe("withQuirks", () => {
  it("creates fewer VFs than requested, which the kernel only logs", async () => {
    const { sriov, numVfs, kernel } = await boot({ createsAtMost: 3 });
    await sriov.setNumVfs(pf, 5);
    expect([await numVfs(), kernel.log]).toEqual([3, ["i40e 0000:3b:00.0: 5 VFs requested; only 3 enabled"]]);
  });

  it("ignores each number of VFs while the interface is down", async () => {
    const { sriov, links, numVfs } = await boot({ ignoresNumVfs: "while-down" });
    await sriov.setNumVfs(pf, 2);
    await links.setAdminUp("eth0", false);
    await sriov.setNumVfs(pf, 0);
    expect(await numVfs()).toBe(2);
    await links.setAdminUp("eth0", true);
    await sriov.setNumVfs(pf, 0);
    expect(await numVfs()).toBe(0);
  });

  it("refuses a number of VFs, and logs why", async () => {
    const log = "Limited to 4 VFs due to device resource constraints";
    const { sriov, numVfs, kernel } = await boot({ refusesNumVfs: { above: 4, code: "EPERM", log } });
    await expect(sriov.setNumVfs(pf, 5)).rejects.toMatchObject({ code: "EPERM" });
    expect([await numVfs(), kernel.log]).toEqual([0, [`i40e 0000:3b:00.0: ${log}`]]);
    await sriov.setNumVfs(pf, 4);
    expect(await numVfs()).toBe(4);
  });

  it("refuses MAC addresses, MTUs, the link and vfio-pci at each attempt", async () => {
    const code = "EINVAL";
    const { sriov, links, drivers, modules } = await boot({
      refusesVfMacs: { code },
      refusesMtu: { of: "vfs", code },
      refusesVfio: { code },
    });
    await links.setMtu("eth0", 9000);
    await sriov.setNumVfs(pf, 1);
    const [vf = ""] = (await links.listLinks()).flatMap(({ name, parent }) => (parent?.name === vf0 ? [name] : []));
    for (const _attempt of [1, 2]) {
      await expect(links.setVfMac("eth0", 0, mac("02:00:00:00:00:01"))).rejects.toMatchObject({ code });
      await expect(links.setMtu(vf, 9000)).rejects.toMatchObject({ code });
    }
    await modules.load("vfio-pci");
    await sriov.unbindDriver(vf0);
    await sriov.setDriverOverride(vf0, "vfio-pci");
    await expect(sriov.bindDriver(vf0, "vfio-pci")).rejects.toMatchObject({ code });
    expect(await drivers()).toEqual([undefined]);

    const down = await boot({ refusesMtu: { of: "pf", code }, refusesLinkUp: { code: "EIO" } });
    await expect(down.links.setMtu("eth0", 9000)).rejects.toMatchObject({ code });
    await down.links.setAdminUp("eth0", false);
    await expect(down.links.setAdminUp("eth0", true)).rejects.toMatchObject({ code: "EIO" });
  });

  it("refuses the first requests for a moment", async () => {
    const { sriov, links } = await boot({ busyNumVfs: 1, busyVfMacs: 2 });
    await expect(sriov.setNumVfs(pf, 1)).rejects.toMatchObject({ code: "EAGAIN" });
    await sriov.setNumVfs(pf, 1);
    const set = () => links.setVfMac("eth0", 0, mac("02:00:00:00:00:01"));
    await expect(set()).rejects.toMatchObject({ code: "EAGAIN" });
    await expect(set()).rejects.toMatchObject({ code: "EAGAIN" });
    await set();
  });

  it("lets VFs appear one by one after the write", async () => {
    const { sriov, clock, vfs, numVfs } = await boot({ vfIntervalMs: 100 });
    await sriov.setNumVfs(pf, 3);
    const seen = [[await numVfs(), (await vfs()).length]];
    for (let nth = 1; nth <= 4; nth++) {
      await clock.advance(100);
      seen.push([await numVfs(), (await vfs()).length]);
    }
    expect(seen).toEqual([[3, 0], [3, 1], [3, 2], [3, 3], [3, 3]]); // prettier-ignore
    await sriov.setNumVfs(pf, 0);
    await sriov.setNumVfs(pf, 2);
    await clock.advance(50);
    await sriov.setNumVfs(pf, 0);
    await clock.advance(1_000);
    expect((await vfs()).length).toBe(0);
  });

  it("probes VFs only with an override while sriov_drivers_autoprobe is 0", async () => {
    const { sriov, drivers } = await boot({ autoprobe: false });
    await sriov.setNumVfs(pf, 1);
    await sriov.probeDrivers(vf0);
    await expect(sriov.bindDriver(vf0, "iavf")).rejects.toMatchObject({ code: "ENODEV" });
    expect(await drivers()).toEqual([undefined]);
    await sriov.setDriverOverride(vf0, "iavf");
    await sriov.probeDrivers(vf0);
    expect(await drivers()).toEqual(["iavf"]);
  });

  it("binds new VFs to vfio-pci, also when the kernel chooses again", async () => {
    const { sriov, drivers } = await boot({ isVfioFirst: true });
    await sriov.setNumVfs(pf, 1);
    await sriov.unbindDriver(vf0);
    await sriov.probeDrivers(vf0);
    expect(await drivers()).toEqual(["vfio-pci"]);
    await sriov.unbindDriver(vf0);
    await sriov.setDriverOverride(vf0, "iavf");
    await sriov.probeDrivers(vf0);
    expect(await drivers()).toEqual(["iavf"]);
  });

  it("has VFs that their kernel driver does not support, and vfio-pci does", async () => {
    const { sriov, modules, drivers } = await boot({ failsToProbe: [0] });
    await modules.load("vfio-pci");
    await sriov.setNumVfs(pf, 2);
    expect(await drivers()).toEqual([undefined, "iavf"]);
    await expect(sriov.bindDriver(vf0, "iavf")).rejects.toMatchObject({ code: "ENODEV" });
    await sriov.setDriverOverride(vf0, "vfio-pci");
    await sriov.bindDriver(vf0, "vfio-pci");
  });

  it("creates interfaces late, only after a second bind, or never", async () => {
    const quirks = { interfaceAfterMs: 100, hasInterfaceAfterSecondBind: [1], neverHasInterface: [2] };
    const { sriov, clock, interfaces, vfs, drivers } = await boot(quirks);
    await sriov.setNumVfs(pf, 3);
    expect([await drivers(), await interfaces()]).toEqual([["iavf", "iavf", "iavf"], [0, 0, 0]]); // prettier-ignore
    await clock.advance(100);
    expect(await interfaces()).toEqual([1, 0, 0]);
    for (const { pciAddress } of await vfs()) {
      await sriov.unbindDriver(pciAddress);
      await sriov.probeDrivers(pciAddress);
    }
    await clock.advance(100);
    expect(await interfaces()).toEqual([1, 1, 0]);
  });

  it("has no addresses of VFs, or only assigned ones", async () => {
    const without = await boot({ hasNoVfMacs: true });
    await without.sriov.setNumVfs(pf, 1);
    await expect(without.links.setVfMac("eth0", 0, mac("02:00:00:00:00:01"))).rejects.toMatchObject({
      code: "EOPNOTSUPP",
    });
    expect((await without.links.listLinks()).find(({ name }) => name === "eth0")?.vfs).toEqual([]);

    const zero = await boot({ hasZeroVfMac: true });
    await zero.sriov.setNumVfs(pf, 1);
    const macs = async () =>
      (await zero.links.listLinks()).flatMap(({ parent, mac }) => (parent?.name === vf0 ? mac : []));
    expect(await macs()).toEqual(["00:00:00:00:00:00"]);
    await zero.links.setVfMac("eth0", 0, mac("02:00:00:00:00:01"));
    await zero.sriov.unbindDriver(vf0);
    await zero.sriov.probeDrivers(vf0);
    expect(await macs()).toEqual(["02:00:00:00:00:01"]);
  });

  it("resets a VF whose address is set, so that its interface is absent for a moment", async () => {
    const { sriov, links, clock, interfaces } = await boot({ vfResetMs: 50 });
    await sriov.setNumVfs(pf, 1);
    await links.setVfMac("eth0", 0, mac("02:00:00:00:00:01"));
    expect(await interfaces()).toEqual([0]);
    await clock.advance(50);
    expect(await interfaces()).toEqual([1]);
    expect((await links.listLinks()).find(({ parent }) => parent?.name === vf0)?.mac).toBe("02:00:00:00:00:01");
  });

  it("never changes the mode of its eswitch", async () => {
    const port = pci("0000:18:00.0");
    const refusesEswitchMode = { code: "EOPNOTSUPP", words: "ADQ is in use" };
    const kernel = createFakeKernel({ nics: [withQuirks(ice(port), { refusesEswitchMode })] });
    await expect(kernel.host().devlink.setEswitchMode(port, "switchdev")).rejects.toThrow(
      "set eswitch mode switchdev on 0000:18:00.0: EOPNOTSUPP (ADQ is in use)",
    );
  });

  it("keeps quirks that were changed over a reboot", async () => {
    const { kernel, sriov, numVfs } = await boot({ createsAtMost: 1 });
    kernel.setQuirks(pf, { createsAtMost: 2 });
    kernel.reboot();
    await sriov.setNumVfs(pf, 3);
    expect(await numVfs()).toBe(2);
  });
});
