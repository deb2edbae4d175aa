// SPDX-License-Identifier: Apache-2.0
/** Contract cases of vDPA, with the simulator vdpa_sim_net. */
import assert from "node:assert/strict";
import type { Host } from "../../ports/host.ts";
import { assertRefused, assertRefusedBy, eventually, type ContractCase, type ContractWorld } from "./world.ts";

const management = { device: "vdpasim_net" };
const name = "vdpa:0000:01:10.0";

async function driverOf(host: Host): Promise<string | undefined> {
  return (await host.vdpa.listDevices()).find((device) => device.name === name)?.driver;
}

/** Runs `act` with the simulator, and unloads everything afterwards. */
async function withSimulator(world: ContractWorld, act: (host: Host) => Promise<void>): Promise<void> {
  await world.unloadVdpa();
  await world.loadVdpaSimulator();
  try {
    await act(world.host);
  } finally {
    await world.unloadVdpa();
  }
}

export const vdpaCases: readonly ContractCase[] = [
  {
    name: "lists no vDPA devices and creates none while vDPA is not loaded, without loading it",
    async run({ host: { vdpa }, unloadVdpa }) {
      await unloadVdpa();
      for (const nth of ["first", "second"]) {
        assert.deepEqual([await vdpa.listManagementDevices(), await vdpa.listDevices()], [[], []], `${nth} read`);
        await assertRefused(vdpa.addDevice({ name, management }), "ENODEV", "vDPA is not loaded");
        await assertRefused(vdpa.removeDevice(name), "ENODEV", "vDPA is not loaded");
      }
    },
  },
  {
    name: "creates, lists and removes a vDPA device",
    run: (world) =>
      withSimulator(world, async ({ vdpa }) => {
        const managers = await vdpa.listManagementDevices();
        assert.deepEqual(managers, [{ ...management, maxVirtqueues: 3 }]);
        assert.deepEqual(await vdpa.listDevices(), []);
        await vdpa.addDevice({ name, management });
        assert.deepEqual(await vdpa.listDevices(), [{ name, management }]);
        await assertRefusedBy(vdpa.addDevice({ name, management }), "EEXIST");
        await vdpa.removeDevice(name);
        assert.deepEqual(await vdpa.listDevices(), []);
        await assertRefusedBy(vdpa.removeDevice(name), "ENODEV");
      }),
  },
  {
    name: "refuses a number of virtqueues that the management device does not support, and unknown management devices",
    run: (world) =>
      withSimulator(world, async ({ vdpa }) => {
        await assertRefusedBy(vdpa.addDevice({ name, management, maxVirtqueuePairs: 1 }), "EOPNOTSUPP");
        for (const unknown of [{ device: "nothing" }, { bus: "pci", device: "0000:01:00.0" }]) {
          await assertRefusedBy(vdpa.addDevice({ name, management: unknown }), "ENODEV");
        }
        assert.deepEqual(await vdpa.listDevices(), []);
      }),
  },
  {
    name: "binds the first loaded driver to a new vDPA device, and another driver by hand",
    run: (world) =>
      withSimulator(world, async (host) => {
        const { vdpa, modules } = host;
        await vdpa.addDevice({ name, management });
        await assertRefused(vdpa.unbindDriver(name), "ENOENT");
        await assertRefused(vdpa.bindDriver(name, "vhost_vdpa"), "ENOENT");
        await modules.load("vhost_vdpa");
        assert.equal(await driverOf(host), "vhost_vdpa");
        await modules.load("virtio_vdpa");
        assert.equal(await driverOf(host), "vhost_vdpa");

        await vdpa.setDriverOverride(name, "virtio_vdpa");
        assert.equal(await driverOf(host), "vhost_vdpa");
        await vdpa.unbindDriver(name);
        assert.equal(await driverOf(host), undefined);
        await assertRefused(vdpa.bindDriver(name, "vhost_vdpa"), "ENODEV");
        await vdpa.bindDriver(name, "virtio_vdpa");
        assert.equal(await driverOf(host), "virtio_vdpa");
        await assertRefused(vdpa.bindDriver(name, "virtio_vdpa"), "EBUSY");
        await vdpa.setDriverOverride(name, undefined);
        await vdpa.unbindDriver(name);
        await vdpa.bindDriver(name, "vhost_vdpa");
        assert.equal(await driverOf(host), "vhost_vdpa");
        await vdpa.removeDevice(name);
        await eventually(
          () => vdpa.listDevices(),
          (devices) => {
            assert.deepEqual(devices, []);
          },
        );
        for (const act of [() => vdpa.unbindDriver(name), () => vdpa.setDriverOverride(name, "vhost_vdpa")]) {
          await assertRefused(act(), "ENOENT");
        }
        await assertRefused(vdpa.bindDriver(name, "vhost_vdpa"), "ENODEV");
      }),
  },
  {
    name: "refuses names that are no names of vDPA devices or drivers",
    async run({ host: { vdpa } }) {
      for (const wrong of ["", ".", "../x", "a/b", "a\n", "x".repeat(65)]) {
        await assertRefused(vdpa.addDevice({ name: wrong, management }), "EINVAL");
        await assertRefused(vdpa.removeDevice(wrong), "EINVAL");
        await assertRefused(vdpa.setDriverOverride(wrong, undefined), "EINVAL");
        await assertRefused(vdpa.bindDriver(wrong, "vhost_vdpa"), "EINVAL");
        await assertRefused(vdpa.unbindDriver(wrong), "EINVAL");
      }
      await assertRefused(vdpa.bindDriver(name, "../vhost_vdpa"), "EINVAL");
    },
  },
];
