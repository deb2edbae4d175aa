// SPDX-License-Identifier: Apache-2.0
/** Contract cases of a virtio NIC with VFs, which are vDPA management devices with the driver vp-vdpa. */
import assert from "node:assert/strict";
import type { PciAddress } from "@switchyard/api";
import type { Host } from "../../ports/host.ts";
import {
  assertRefused,
  assertRefusedBy,
  eventually,
  linkOf,
  linksOf,
  mac,
  readPf,
  readVfs,
  settle,
  type ContractCase,
  type ContractWorld,
} from "./world.ts";

/** Creates both VFs, and removes them afterwards. */
async function withVfs(
  { host, virtioPf, unloadVdpa }: ContractWorld,
  act: (pf: PciAddress, vf: PciAddress) => Promise<void>,
): Promise<void> {
  assert(virtioPf, "the machine has a virtio NIC with VFs");
  await host.sriov.setNumVfs(virtioPf, 2);
  try {
    const vfs = await eventually(
      () => readVfs(host, virtioPf),
      (present) => {
        for (const vf of present) assert.deepEqual([vf.driver, vf.netdevs.length], ["virtio-pci", 1]);
        assert.equal(present.length, 2);
      },
    );
    await settle(host, virtioPf);
    const [vf] = vfs;
    assert(vf);
    await act(virtioPf, vf.pciAddress);
  } finally {
    await host.sriov.setNumVfs(virtioPf, 0);
    await unloadVdpa();
  }
}

/** Binds a VF to vp-vdpa. The driver matches no ID, so it needs an override. */
async function bindToVdpa({ sriov, modules }: Host, vf: PciAddress): Promise<void> {
  await modules.load("vp-vdpa");
  await sriov.unbindDriver(vf);
  await assertRefused(sriov.bindDriver(vf, "vp-vdpa"), "ENODEV");
  await sriov.setDriverOverride(vf, "vp-vdpa");
  await sriov.bindDriver(vf, "vp-vdpa");
  await sriov.setDriverOverride(vf, undefined);
}

export const virtioCases: readonly ContractCase[] = [
  {
    name: "finds the interfaces of a virtio NIC and of its VFs by their PCI function",
    run: (world) =>
      withVfs(world, async (pf, vf) => {
        for (const device of [pf, vf]) {
          const { name, parent } = await linkOf(world.host, device);
          assert.deepEqual(parent, { bus: "pci", name: device });
          const facts = await readPf(world.host, pf);
          const netdevs = device === pf ? facts.netdevs : facts.sriov?.vfs[0]?.netdevs;
          assert.deepEqual(netdevs, [name]);
        }
      }),
  },
  {
    name: "reports a change of the interface of a virtio NIC with its virtio device",
    run: (world) =>
      withVfs(world, async (pf) => {
        const { links, events } = world.host;
        const { name } = await linkOf(world.host, pf);
        const stop = new AbortController();
        const buses = new Set<string | undefined>();
        const watched = events.watch(stop.signal);
        const listening = (async () => {
          for await (const event of watched)
            if (event.kind === "link" && event.name === name) buses.add(event.parent?.bus);
        })();
        try {
          await links.setMtu(name, 1_400);
          await eventually(
            () => Promise.resolve([...buses]),
            (seen) => {
              assert.deepEqual(seen, ["virtio"]);
            },
          );
        } finally {
          stop.abort();
          await links.setMtu(name, 1_500);
        }
        await listening;
      }),
  },
  {
    name: "stores no settings of virtio VFs, and changes their number only by way of none",
    run: (world) =>
      withVfs(world, async (pf) => {
        const { links, sriov, devlink } = world.host;
        const { name, vfs } = await linkOf(world.host, pf);
        assert.deepEqual(vfs, []);
        await assertRefusedBy(links.setVfMac(name, 0, mac("52:54:00:11:22:33")), "EOPNOTSUPP");
        await assertRefused(sriov.setNumVfs(pf, 1), "EBUSY");
        await assertRefused(sriov.setNumVfs(pf, 3), "ERANGE");
        assert.equal(await devlink.readEswitchMode(pf), undefined);
      }),
  },
  {
    name: "makes a virtio VF a vDPA management device as long as its driver is vp-vdpa",
    run: (world) =>
      withVfs(world, async (pf, vf) => {
        const { vdpa, sriov } = world.host;
        await bindToVdpa(world.host, vf);
        assert.equal((await readVfs(world.host, pf))[0]?.driver, "vp-vdpa");
        assert.deepEqual(await linksOf(world.host, vf), []);
        const management = { bus: "pci", device: vf };
        assert.deepEqual(await vdpa.listManagementDevices(), [{ ...management, maxVirtqueues: 3 }]);
        const name = `vdpa:${vf}`;
        await assertRefusedBy(vdpa.addDevice({ name, management, maxVirtqueuePairs: 1 }), "EOPNOTSUPP");
        await vdpa.addDevice({ name, management });
        assert.deepEqual(await vdpa.listDevices(), [{ name, management }]);

        await sriov.unbindDriver(vf);
        assert.deepEqual([await vdpa.listManagementDevices(), await vdpa.listDevices()], [[], []]);
        await sriov.probeDrivers(vf);
        await linkOf(world.host, vf);
        assert.equal((await readVfs(world.host, pf))[0]?.driver, "virtio-pci");
      }),
  },
  {
    name: "removes the vDPA device of a virtio VF with the VF",
    run: (world) =>
      withVfs(world, async (pf, vf) => {
        const { vdpa, sriov } = world.host;
        await bindToVdpa(world.host, vf);
        await vdpa.addDevice({ name: "mine", management: { bus: "pci", device: vf } });
        await sriov.setNumVfs(pf, 0);
        assert.deepEqual([await vdpa.listManagementDevices(), await vdpa.listDevices()], [[], []]);
      }),
  },
];
