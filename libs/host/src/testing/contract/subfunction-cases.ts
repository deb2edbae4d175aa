// SPDX-License-Identifier: Apache-2.0
/** Contract cases of subfunctions. With igbsw of the VM lab, PFs can have 64; without an eswitch, none. */
import assert from "node:assert/strict";
import type { PciAddress } from "@switchyard/api";
import type { Host } from "../../ports/host.ts";
import type { Subfunction } from "../../ports/devices.ts";
import { assertRefused, assertRefusedBy, eventually, mac, settle, type ContractCase } from "./world.ts";

const limit = 64;
const address = mac("02:00:00:00:88:88");

/** Returns the subfunctions of the PF. */
async function subfunctionsOf(host: Host, pf: PciAddress): Promise<readonly Subfunction[]> {
  return (await host.subfunctions.list()).filter((one) => one.pf === pf);
}

/** Waits until the only subfunction of the PF passes the check, and returns it. */
async function onlyOne(host: Host, pf: PciAddress, check: (one: Subfunction) => void): Promise<Subfunction> {
  const [one] = await eventually(
    () => subfunctionsOf(host, pf),
    ([found, ...more]) => {
      assert(found !== undefined && more.length === 0);
      check(found);
    },
  );
  assert(one);
  return one;
}

export const subfunctionCases: readonly ContractCase[] = [
  {
    name: "has no subfunctions on a PF without eswitch, and none in legacy mode",
    async run({ host: { subfunctions }, pfs: [pf], absent, hasEswitch }) {
      assert.deepEqual(await subfunctions.list(), []);
      await assertRefusedBy(subfunctions.create(pf, 5), hasEswitch ? "EOPNOTSUPP" : "ENODEV");
      for (const device of hasEswitch ? [absent] : [pf, absent]) {
        await assertRefusedBy(subfunctions.create(device, 5), "ENODEV");
        await assertRefusedBy(subfunctions.readLimit(device), "ENODEV");
        await assertRefusedBy(subfunctions.setMac(device, 1, address), "ENODEV");
        await assertRefusedBy(subfunctions.setActive(device, 1, true), "ENODEV");
        await assertRefusedBy(subfunctions.remove(device, 1), "ENODEV");
      }
    },
  },
  {
    name: "creates a subfunction, gives it an address, activates it, and finds its interface; then takes all back",
    async run({ host, pfs: [pf], hasEswitch }) {
      if (!hasEswitch) return;
      const { subfunctions } = host;
      await host.devlink.setEswitchMode(pf, "switchdev");
      const portIndex = await subfunctions.create(pf, 88);
      await settle(host);
      const created = await onlyOne(host, pf, ({ representor }) => {
        assert(representor);
      });
      const { representor = "" } = created;
      assert.deepEqual(created, {
        pf,
        portIndex,
        sfNumber: 88,
        mac: "00:00:00:00:00:00",
        representor,
        state: "inactive",
        operationalState: "detached",
      });
      await subfunctions.setMac(pf, portIndex, address);
      await subfunctions.setActive(pf, portIndex, true);
      await subfunctions.setActive(pf, portIndex, true); // no change, no error
      await settle(host);
      const active = await onlyOne(host, pf, ({ netdev }) => {
        assert(netdev);
      });
      assert.deepEqual([active.state, active.operationalState, active.mac], ["active", "attached", address]);
      assert.match(active.device ?? "", /^mlx5_core\.sf\.\d+$/);
      assert(active.driver);
      const links = await host.links.listLinks();
      const link = links.find(({ name }) => name === active.netdev);
      assert.deepEqual([link?.mac, link?.parent], [address, { bus: "auxiliary", name: active.device }]);
      const device = await host.xdp.readDevice(active.netdev ?? "");
      assert.deepEqual([device.driver, device.pciAddress], [active.driver, pf]);
      assert.equal(links.find(({ name }) => name === representor)?.physPortName, `pf${pf.slice(-1)}sf88`);

      await subfunctions.setActive(pf, portIndex, false);
      await onlyOne(host, pf, (one) => {
        assert.deepEqual([one.state, one.operationalState, one.device], ["inactive", "detached", undefined]);
      });
      await subfunctions.remove(pf, portIndex);
      assert.deepEqual(await subfunctions.list(), []);
      const left = (await host.links.listLinks()).map(({ name }) => name);
      assert(!left.includes(representor) && !left.includes(active.netdev ?? ""));
      await assertRefusedBy(subfunctions.remove(pf, portIndex), "ENODEV");
    },
  },
  {
    name: "refuses a number that is in use, and a change of the address and the removal of an active subfunction",
    async run({ host: { devlink, subfunctions }, pfs: [pf, other], hasEswitch }) {
      if (!hasEswitch) return;
      await devlink.setEswitchMode(pf, "switchdev");
      await devlink.setEswitchMode(other, "switchdev");
      const portIndex = await subfunctions.create(pf, 5);
      await assertRefused(subfunctions.create(pf, 5), "EBUSY", "igbsw: the sfnum is in use");
      await subfunctions.create(other, 5); // the numbers of each PF are its own
      await subfunctions.setActive(pf, portIndex, true);
      await assertRefused(subfunctions.setMac(pf, portIndex, address), "EBUSY", "igbsw: the subfunction is active");
      await assertRefused(subfunctions.remove(pf, portIndex), "EBUSY", "igbsw: the subfunction is active");
      assert.deepEqual(
        (await subfunctions.list()).map((one) => [one.pf, one.sfNumber, one.state]),
        [
          [pf, 5, "active"],
          [other, 5, "inactive"],
        ],
      );
    },
  },
  {
    name: "does not show the interface of a subfunction while a pod has it, but its device and its driver",
    async run({ host, pfs: [pf], hasEswitch, moveLinkToPod, returnFromPods }) {
      if (!hasEswitch) return;
      await host.devlink.setEswitchMode(pf, "switchdev");
      await host.subfunctions.setActive(pf, await host.subfunctions.create(pf, 7), true);
      await settle(host);
      const before = await onlyOne(host, pf, ({ netdev }) => {
        assert(netdev);
      });
      await moveLinkToPod(before.netdev ?? "");
      const { netdev: _netdev, ...inPod } = before;
      assert.deepEqual(await subfunctionsOf(host, pf), [inPod]);
      await returnFromPods();
      await onlyOne(host, pf, ({ netdev }) => {
        assert(netdev);
      });
    },
  },
  {
    name: "creates as many subfunctions as the PF can have, and not one more",
    async run({ host: { devlink, subfunctions }, pfs: [pf], hasEswitch }) {
      if (!hasEswitch) return;
      await devlink.setEswitchMode(pf, "switchdev");
      assert.equal(await subfunctions.readLimit(pf), limit);
      const portIndexes: number[] = [];
      for (let n = 0; n < limit; n++) portIndexes.push(await subfunctions.create(pf, n));
      await assertRefused(subfunctions.create(pf, limit), "ENOSPC", "igbsw: the PF has all its subfunctions");
      const present = await subfunctions.list();
      assert.deepEqual(
        present.map((one) => one.sfNumber),
        portIndexes.map((_, n) => n),
      );
      assert.deepEqual(
        present.map((one) => one.portIndex),
        portIndexes,
      );
      const [first = 0] = portIndexes;
      await subfunctions.remove(pf, first);
      await subfunctions.create(pf, limit);
    },
  },
  {
    name: "removes all subfunctions, also active ones, when the mode becomes legacy",
    async run({ host, pfs: [pf], hasEswitch }) {
      if (!hasEswitch) return;
      await host.devlink.setEswitchMode(pf, "switchdev");
      for (const sfNumber of [1, 2]) {
        await host.subfunctions.setActive(pf, await host.subfunctions.create(pf, sfNumber), true);
      }
      await eventually(
        () => host.subfunctions.list(),
        (all) => {
          assert.deepEqual(
            all.map(({ netdev }) => netdev === undefined),
            [false, false],
          );
        },
      );
      await host.devlink.setEswitchMode(pf, "legacy");
      assert.deepEqual(await host.subfunctions.list(), []);
      const links = await host.links.listLinks();
      assert.deepEqual(
        links.filter(({ parent }) => parent?.bus === "auxiliary"),
        [],
      );
    },
  },
];
