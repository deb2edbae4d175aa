// SPDX-License-Identifier: Apache-2.0
/** Contract cases of XDP and of queues, on igb. The tests of libs/netlink attach programs. */
import assert from "node:assert/strict";
import { assertRefused, assertRefusedBy, linkOf, type ContractCase } from "./world.ts";

export const xdpCases: readonly ContractCase[] = [
  {
    name: "knows that igb runs XDP programs itself and copies packets, and that the loopback interface does neither",
    async run({ host, pfs }) {
      const features = await host.xdp.listFeatures();
      for (const pf of pfs) {
        const { index } = await linkOf(host, pf);
        const expected = { index, native: true, zeroCopy: false };
        assert.deepEqual(
          features.find((each) => each.index === index),
          expected,
        );
      }
      const ofLoopback = { index: 1, native: false, zeroCopy: false };
      assert.deepEqual(
        features.find(({ index }) => index === 1),
        ofLoopback,
      );
    },
  },
  {
    name: "reads the device of an interface, and of a virtual interface nothing",
    async run({ host, pfs, addLink }) {
      for (const pf of pfs) {
        const { name } = await linkOf(host, pf);
        const { driver, pciAddress, vendor, deviceId } = await host.xdp.readDevice(name);
        assert.deepEqual([driver, pciAddress, vendor, deviceId], ["igb", pf, "8086", "10c9"]);
      }
      await addLink("br-contract", "bridge");
      assert.deepEqual(await host.xdp.readDevice("br-contract"), {});
      assert.deepEqual(await host.xdp.readDevice("lo"), {});
      await assertRefusedBy(host.xdp.readDevice("nosuch0"), "ENODEV");
    },
  },
  {
    name: "has no XDP program, and detaches none",
    async run({ host, pfs: [pf] }) {
      const { name } = await linkOf(host, pf);
      assert.deepEqual(await host.xdp.readPrograms(name), []);
      await host.xdp.detachOwnPrograms(name);
      await assertRefusedBy(host.xdp.readPrograms("nosuch0"), "ENODEV");
      await assertRefusedBy(host.xdp.detachOwnPrograms("nosuch0"), "ENODEV");
      assert.deepEqual(await host.xdp.listOwnMaps(), []);
      await host.xdp.removeOwnMap(name);
    },
  },
  {
    name: "reads and changes the number of queues, and refuses more than the driver supports",
    async run({ host, pfs: [pf] }) {
      const { name } = await linkOf(host, pf);
      const before = await host.xdp.readQueues(name);
      assert(before && before.count >= 1 && before.max >= before.count);
      await host.xdp.setQueues(name, 1);
      assert.deepEqual(await host.xdp.readQueues(name), { ...before, count: 1 });
      await host.xdp.setQueues(name, before.max);
      assert.deepEqual(await host.xdp.readQueues(name), { ...before, count: before.max });
      const tooMany = host.xdp.setQueues(name, before.max + 1);
      await assertRefused(tooMany, "EINVAL", "requested channel count exceeds maximum");
      await assertRefusedBy(host.xdp.setQueues(name, 0), "EINVAL");
      await host.xdp.setQueues(name, before.count);
      assert.equal(await host.xdp.readQueues("lo"), undefined);
      await assertRefusedBy(host.xdp.readQueues("nosuch0"), "ENODEV");
    },
  },
];

const id = "3f2b8a10-1111-4222-8333-0123456789ab";

/**
 * Contract cases of PluginLeftovers on a host where the plugins of upstream never ran. e2e/afxdp/upstream-leftovers.test.ts has the others.
 */
export const pluginLeftoverCases: readonly ContractCase[] = [
  {
    name: "has nothing of the plugins of upstream, and removes nothing",
    async run({ host: { pluginLeftovers } }) {
      assert.deepEqual(await pluginLeftovers.listDevices(), []);
      for (const pool of ["fast", "../fast"])
        assert.deepEqual(await pluginLeftovers.listFiles(pool), { mounts: [], sockets: [] });
      await pluginLeftovers.removeDevice("eth0");
      await pluginLeftovers.removeMount(`/run/afxdp_dp/fast/${id}`);
      await pluginLeftovers.removeSocket(`/tmp/afxdp_dp/afxdp_fast/${id}.sock`);
      await pluginLeftovers.removeDirectories();
      await assertRefusedBy(pluginLeftovers.removeDevice("../eth0"), "EINVAL");
      await assertRefusedBy(pluginLeftovers.removeMount("/run/afxdp_dp"), "EINVAL");
      await assertRefusedBy(pluginLeftovers.removeSocket("/tmp/afxdp_dp"), "EINVAL");
    },
  },
  {
    name: "knows that no AF_XDP socket uses an interface without one",
    async run({ host, pfs: [pf] }) {
      const { name } = await linkOf(host, pf);
      assert.deepEqual(await host.pluginLeftovers.readUse(name), { programs: [], sockets: 0 });
      await host.pluginLeftovers.detachProgram(name, 1);
      await assertRefusedBy(host.pluginLeftovers.readUse("nosuch0"), "ENODEV");
      await assertRefusedBy(host.pluginLeftovers.detachProgram("nosuch0", 1), "ENODEV");
    },
  },
];
