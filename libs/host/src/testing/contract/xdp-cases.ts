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
