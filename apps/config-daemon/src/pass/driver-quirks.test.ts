// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, VfGroup } from "@switchyard/api";
import { createFakeKernel, i40e, ice, igb, mlx5, pci } from "@switchyard/host/testing";
import { daemonOn } from "../testing/daemon-on.ts";
import { drainedNode } from "../testing/drained-node.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";

const pf = pci("0000:18:00.0");

const kernelVfs = (
  numVfs: number,
  more: Partial<InterfaceSpec> = {},
): { readonly interfaces: readonly InterfaceSpec[] } => ({
  interfaces: [
    { pciAddress: pf, numVfs, vfGroups: [{ resourceName: "r", vfRange: `0-${numVfs - 1}`, mtu: 9000 }], ...more },
  ],
});

describe("a number of VFs that the driver refuses", () => {
  const refusesNumVfs = { above: 16, code: "ENOSPC", log: "Only 12 MSI-X interrupts available for SR-IOV." };
  const four: InterfaceSpec = {
    pciAddress: pf,
    numVfs: 4,
    vfGroups: [
      { resourceName: "k", vfRange: "0-1", mtu: 9000 },
      { resourceName: "u", vfRange: "2-3", deviceType: "vfio-pci" },
    ],
  };

  it.each([
    { mode: "legacy", nic: ice(pf) },
    { mode: "legacy", nic: mlx5(pf) },
    { mode: "switchdev", nic: ice(pf) },
    { mode: "switchdev", nic: mlx5(pf) },
  ])(
    "gives the former VFs back with their drivers and addresses, and then the drain: $mode $nic.ports.0.driver",
    async ({ nic, mode }) => {
      const node = drainedNode(nic, { refusesNumVfs: { ...refusesNumVfs, above: 5 } });
      const before = { interfaces: [{ ...four, eSwitchMode: mode }] };
      await node.pass(before, 2);
      expect(node.daemon.error()).toBe("");
      const shape = () =>
        node
          .vfs()
          .map(({ vfID, driver, name, mtu, representorName }) => ({ vfID, driver, name, mtu, representorName }));
      const addresses = () => node.vfs().map(({ mac }) => mac);
      const [shapeBefore, addressesBefore] = [shape(), addresses()];
      const asked = { interfaces: [{ ...four, eSwitchMode: mode, numVfs: 6 }] };
      await node.pass(asked, 3);
      expect(await node.pass(asked)).toBe("settled");
      expect(shape()).toEqual(shapeBefore);
      if (mode === "legacy") expect(addresses()).toEqual(addressesBefore);
      expect([node.request(), node.daemon.status().syncStatus]).toEqual(["Idle", "Failed"]);
      expect(node.daemon.error()).toContain(
        "spec.interfaces[0].numVfs: 6 VFs were requested, but the host has refused it, so 0000:18:00.0 keeps its 4 VFs: " +
          "set sriov_numvfs 6 on 0000:18:00.0: ENOSPC",
      );
      const writes = node.kernel.writes.length;
      await node.pass(asked);
      expect(node.kernel.writes.slice(writes)).toEqual([]);
    },
  );

  it("is tried again when another number is requested, and gives the former number after a reboot", async () => {
    const node = drainedNode(ice(pf), { refusesNumVfs });
    await node.pass(kernelVfs(4), 2);
    await node.pass(kernelVfs(64), 3);
    node.kernel.reboot();
    await node.pass(kernelVfs(64), 3);
    expect([node.vfs().length, node.request()]).toEqual([4, "Idle"]);
    await node.pass(kernelVfs(16), 3);
    expect([node.vfs().length, node.request(), node.daemon.error()]).toEqual([16, "Idle", ""]);
  });

  it("is retried if it is refused for a moment, and the former VFs exist meanwhile", async () => {
    const node = drainedNode(ice(pf));
    await node.pass(kernelVfs(4), 2);
    node.kernel.setQuirks(pf, { busyNumVfs: 1 });
    await node.pass(kernelVfs(8), 2);
    expect(node.vfs().length).toBe(4);
    await node.pass(kernelVfs(8), 2);
    expect([node.vfs().length, node.request(), node.daemon.error()]).toEqual([8, "Idle", ""]);
  });
});

describe("a daemon that is killed at any write of a change that the driver refuses", () => {
  const vfGroups: readonly VfGroup[] = [
    { resourceName: "k", vfRange: "0-1", mtu: 9000 },
    { resourceName: "u", vfRange: "2-3", deviceType: "vfio-pci" },
  ];
  const ofMode = { code: "EOPNOTSUPP", words: "ADQ is in use" };

  it.each([
    { what: "a number in legacy mode", nic: ice(pf), mode: "legacy", after: { numVfs: 6 } },
    { what: "a number in switchdev mode", nic: ice(pf), mode: "switchdev", after: { numVfs: 6 } },
    { what: "a mode without VFs", nic: ice(pf), mode: "legacy", after: { eSwitchMode: "switchdev" } },
    { what: "a mode with VFs", nic: mlx5(pf), mode: "legacy", after: { eSwitchMode: "switchdev" } },
    { what: "a mode after fewer VFs", nic: mlx5(pf), mode: "legacy", after: { eSwitchMode: "switchdev", numVfs: 2 } },
  ])("leaves the former VFs to the next daemon, which creates them again: $what", async ({ nic, mode, after }) => {
    const stateOf = (spec: InterfaceSpec) =>
      ({
        apiVersion: "sriovnetwork.openshift.io/v1",
        kind: "SriovNetworkNodeState",
        metadata: { name: "worker-1", generation: 1 },
        spec: { interfaces: [spec] },
      }) as const;
    const before = stateOf({ pciAddress: pf, numVfs: 4, eSwitchMode: mode, vfGroups });
    const [spec] = before.spec.interfaces;
    const asked = stateOf({ ...spec, ...after, vfGroups: vfGroups.slice(0, after.numVfs === 2 ? 1 : 2) });
    for (let nth = 1; ; nth++) {
      const kernel = createFakeKernel({ nics: [nic] });
      const first = daemonOn(kernel.host());
      await first.pass(before);
      expect(first.error()).toBe("");
      const vfsOf = (daemon: typeof first) =>
        daemon
          .shown()[0]
          ?.Vfs?.map(({ vfID, driver, name, representorName, adminMac }) =>
            mode === "legacy" ? [vfID, driver, name, adminMac] : [vfID, driver, name, representorName],
          );
      const vfsBefore = vfsOf(first);
      const refusesNumVfs = { above: 5, code: "ENOSPC" };
      kernel.setQuirks(pf, { refusesNumVfs, ...("eSwitchMode" in after && { refusesEswitchMode: ofMode }) });
      const killed = killedAtWrite(kernel.host(), nth, true);
      const pass = daemonOn(killed.host).pass(asked);
      const isEnded = await Promise.race([killed.death.then(() => false), pass.then(() => true)]);
      if (isEnded) break;
      const next = daemonOn(kernel.host());
      for (let count = 1; count <= 2; count++) await next.pass(asked);
      expect([nth, next.error()]).toEqual([nth, expect.stringMatching(/ENOSPC|EOPNOTSUPP/)]);
      expect([nth, vfsOf(next)]).toEqual([nth, vfsBefore]);
    }
  });
});

describe("VFs for vfio-pci that share their IOMMU group", () => {
  it("are bound and reported with the other devices of the group, because no pod can open them", async () => {
    const node = drainedNode(igb(pf), { sharesIommuGroupWith: ["0000:02:00.0 (tg3)"] });
    const vfGroups: readonly VfGroup[] = [
      { resourceName: "k", vfRange: "0-0" },
      { resourceName: "u", vfRange: "1-1", deviceType: "vfio-pci" },
    ];
    await node.pass({ interfaces: [{ pciAddress: pf, numVfs: 2, vfGroups }] }, 2);
    expect(node.vfs().map(({ driver, iommuGroupPeers }) => [driver, iommuGroupPeers])).toEqual([
      ["igbvf", undefined],
      ["vfio-pci", ["0000:02:00.0 (tg3)"]],
    ]);
    expect(node.daemon.error()).toContain(
      `spec.interfaces[0].vfGroups[1].deviceType: VF 1 of ${pf} shares its IOMMU group with 0000:02:00.0 (tg3)`,
    );
    expect(node.request()).toBe("Idle");
  });
});

describe("a driver that ignores the number of VFs while the interface is down", () => {
  it("removes the VFs of a PF that no policy selects any more", async () => {
    const node = drainedNode(igb(pf), { ignoresNumVfs: "while-down" });
    await node.pass(kernelVfs(2), 2);
    await node.kernel.host().links.setAdminUp("enp24s0f0", false);
    await node.pass({ interfaces: [], unselected: [pf] }, 3);
    expect([node.daemon.shown()[0]?.numVfs, node.daemon.error(), node.request()]).toEqual([0, "", "Idle"]);
  });

  it("gives the drain back if it ignores each number, and says what is left", async () => {
    const node = drainedNode(igb(pf));
    await node.pass(kernelVfs(2), 2);
    node.kernel.setQuirks(pf, { ignoresNumVfs: "always" });
    await node.pass(kernelVfs(4), 5);
    expect(node.request()).toBe("Idle");
    expect(node.daemon.error()).toContain("2 VFs remain: the driver ignored the request");
  });
});

describe("a PF without a driver for its VFs", () => {
  type Prepare = (node: ReturnType<typeof drainedNode>) => void | Promise<void>;
  it.each<{ readonly what: string; readonly prepare: Prepare; readonly error: string }>([
    {
      what: "without a driver",
      prepare: (node) => {
        node.kernel.unbindByHand(pf);
      },
      error:
        "has no driver, so 2 VFs cannot be created; load its driver, and see the kernel log if the driver has failed on it",
    },
    {
      what: "bound to vfio-pci",
      prepare: async ({ kernel }) => {
        const { sriov, modules } = kernel.host();
        await modules.load("vfio-pci");
        await sriov.unbindDriver(pf);
        await sriov.setDriverOverride(pf, "vfio-pci");
        await sriov.bindDriver(pf, "vfio-pci");
      },
      error:
        "is bound to vfio-pci, so 2 VFs cannot be created; bind it to its network driver, or leave it out of the policy",
    },
  ])("is named before anything is written: $what", async ({ prepare, error }) => {
    for (const spec of [kernelVfs(2), kernelVfs(2, { eSwitchMode: "switchdev" })]) {
      const node = drainedNode(mlx5(pf));
      await prepare(node);
      const writes = node.kernel.writes.length;
      expect(await node.pass(spec)).toBe("settled");
      expect(node.daemon.error()).toBe(`spec.interfaces[0].numVfs: 0000:18:00.0 ${error}`);
      expect(node.kernel.writes.slice(writes)).toEqual([]);
    }
  });

  it("is configured when it has its driver again", async () => {
    const node = drainedNode(mlx5(pf));
    node.kernel.unbindByHand(pf);
    await node.pass(kernelVfs(2));
    await node.kernel.host().sriov.probeDrivers(pf);
    expect(await node.pass(kernelVfs(2))).toBe("settled");
    expect([node.vfs().length, node.daemon.error()]).toEqual([2, ""]);
  });
});

describe("VFs that their kernel driver does not get by itself", () => {
  it.each([
    { does: "sriov_drivers_autoprobe is 0", quirks: { autoprobe: false } },
    { does: "vfio-pci takes new VFs", quirks: { isVfioFirst: true } },
  ])("are bound by driver_override, in one pass and without a drain: $does", async ({ quirks }) => {
    const node = drainedNode(i40e(pf), quirks);
    expect(await node.pass(kernelVfs(2))).toBe("settled");
    expect(node.vfs().map(({ driver, mtu }) => [driver, mtu])).toEqual([["iavf", 9000], ["iavf", 9000]]); // prettier-ignore
    expect([node.daemon.error(), node.daemon.requests]).toEqual(["", []]);
  });

  it("fail with the cause, while all other VFs work", async () => {
    const node = drainedNode(i40e(pf), { failsToProbe: [1] });
    await node.pass(kernelVfs(3), 3);
    expect(node.vfs().map(({ driver, mtu }) => [driver, mtu])).toEqual([
      ...[["iavf", 9000], [undefined, undefined], ["iavf", 9000]], // prettier-ignore
    ]);
    expect(node.daemon.error()).toBe(
      "bind kernel driver on 0000:18:02.1: ENODEV (the kernel binds no driver: iavf is not loaded or blacklisted, does not " +
        "support the VF, or has failed on it)",
    );
    expect(node.daemon.requests).toEqual([]);
  });
});

describe("VFs that appear after the write", () => {
  it("are waited for and configured in the same pass", async () => {
    const node = drainedNode(mlx5(pf), { vfIntervalMs: 20 });
    expect(await node.pass(kernelVfs(4))).toBe("settled");
    expect([node.vfs().length, node.daemon.error()]).toEqual([4, ""]);
  });

  it("are not converged while some are missing", async () => {
    const node = drainedNode(mlx5(pf), { vfIntervalMs: 10_000 });
    await node.pass(kernelVfs(4), 2);
    expect(node.daemon.status().syncStatus).toBe("Failed");
    expect(node.daemon.error()).toContain("0000:18:00.0 has 4 VFs, of which 0 have appeared");
  });
});

describe("MAC addresses of VFs", () => {
  it("are set although the driver refuses them for a moment and resets the VF", async () => {
    const node = drainedNode(i40e(pf), { busyVfMacs: 2, vfResetMs: 30 });
    expect(await node.pass(kernelVfs(2))).toBe("settled");
    expect(node.vfs().map(({ mac, adminMac, mtu }) => [mac === adminMac, mtu])).toEqual([[true, 9000], [true, 9000]]); // prettier-ignore
  });

  it.each([false, true])("are assigned again after a kill at any write, also with RDMA: %j", async (isRdma) => {
    const vfGroups = [{ resourceName: "r", vfRange: "0-1", isRdma }];
    const state = {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovNetworkNodeState",
      metadata: { name: "worker-1", generation: 1 },
      spec: { interfaces: [{ pciAddress: pf, numVfs: 2, vfGroups }] },
    } as const;
    for (let nth = 1; ; nth++) {
      const kernel = createFakeKernel({ nics: [i40e(pf)] });
      const killed = killedAtWrite(kernel.host(), nth, true);
      const pass = daemonOn(killed.host).pass(state);
      const isEnded = await Promise.race([killed.death.then(() => false), pass.then(() => true)]);
      if (isEnded) break;
      const next = daemonOn(kernel.host());
      await next.pass(state);
      const macs = () => next.shown()[0]?.Vfs?.map(({ mac }) => mac);
      const before = macs();
      // The address of a VF without an assigned one changes with each start of its driver.
      const { sriov } = kernel.host();
      for (const { pciAddress } of next.shown()[0]?.Vfs ?? []) {
        await sriov.unbindDriver(pci(pciAddress));
        await sriov.probeDrivers(pci(pciAddress));
      }
      await next.pass(state);
      expect([nth, macs()]).toEqual([nth, before]);
    }
  });

  it("are assigned in the next pass if the driver has refused them all the time", async () => {
    const node = drainedNode(i40e(pf), { busyVfMacs: 10 });
    expect(await node.pass(kernelVfs(2))).toBe("retry");
    expect(await node.pass(kernelVfs(2))).toBe("settled");
    const sets = node.kernel.writes.filter(({ method }) => method === "setVfMac");
    expect([sets.length, node.daemon.requests]).toEqual([12, []]);
    expect(node.vfs().map(({ mac, adminMac }) => mac === adminMac)).toEqual([true, true]);
    const writes = node.kernel.writes.length;
    expect(await node.pass(kernelVfs(2))).toBe("settled");
    expect(node.kernel.writes.length).toBe(writes);
  });

  it.each([
    { card: "that shows only assigned addresses", nic: mlx5(pf), mode: "legacy" },
    { card: "that shows the addresses of VFs", nic: i40e(pf), mode: "legacy" },
    { card: "in switchdev mode", nic: mlx5(pf), mode: "switchdev" },
  ])(
    "of VFs for user space are kept, so that their pods have the same address at each start: a card $card",
    async ({ nic, mode }) => {
      const node = drainedNode(nic);
      const vfGroups = [{ resourceName: "u", vfRange: "0-1", deviceType: "vfio-pci" as const }];
      const spec = { interfaces: [{ pciAddress: pf, numVfs: 2, eSwitchMode: mode, vfGroups }] };
      expect(await node.pass(spec)).toBe("settled");
      const assigned = () => node.vfs().map(({ adminMac, driver }) => [adminMac, driver]);
      const before = assigned();
      expect(before.map(([, driver]) => driver)).toEqual(["vfio-pci", "vfio-pci"]);
      for (const [mac] of before) expect(mac).toMatch(/^(?!00:00:00:00:00:00)([0-9a-f]{2}:?){6}$/);
      // A machine that starts loads the kernel's driver.
      const { sriov } = node.kernel.host();
      for (const { pciAddress } of node.vfs()) {
        await sriov.unbindDriver(pci(pciAddress));
        await sriov.probeDrivers(pci(pciAddress));
      }
      const links = await node.kernel.host().links.listLinks();
      const macs = node.vfs().map(({ pciAddress }) => links.find(({ parent }) => parent?.name === pciAddress)?.mac);
      expect(macs).toEqual(before.map(([mac]) => mac));
    },
  );

  it("are generated and kept for VFs that have none", async () => {
    const node = drainedNode(i40e(pf), { hasZeroVfMac: true });
    await node.pass(kernelVfs(2));
    expect(node.daemon.error()).toBe("");
    const macs = () => node.vfs().map(({ mac }) => mac);
    const before = macs();
    for (const mac of before) expect(mac).toMatch(/^.[26ae](:[0-9a-f]{2}){5}$/);
    expect(new Set(before).size).toBe(2);
    node.kernel.reboot();
    await node.pass(kernelVfs(2));
    expect(macs()).toEqual(before);
  });

  it("stay as they are if the driver cannot store them", async () => {
    const node = drainedNode(i40e(pf), { hasNoVfMacs: true });
    expect(await node.pass(kernelVfs(2))).toBe("settled");
    expect([node.daemon.error(), node.vfs()[0]?.mtu]).toEqual(["", 9000]);
  });
});
