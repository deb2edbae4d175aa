// SPDX-License-Identifier: Apache-2.0
/** Contract cases of the interfaces of VFs: their addresses, and pods that use them. */
import assert from "node:assert/strict";
import {
  assertRefused,
  eventually,
  linkOf,
  linksOf,
  mac,
  makeVf,
  readVfs,
  settle,
  type ContractCase,
} from "./world.ts";

export const vfLinkCases: readonly ContractCase[] = [
  {
    name: "shows the address of a VF, and no VLAN, in the interface of its PF",
    async run({ host, pfs: [pf] }) {
      const { pciAddress: vf } = await makeVf(host, pf);
      const own = (await linkOf(host, vf)).mac;
      await eventually(
        () => linkOf(host, pf),
        ({ vfs }) => {
          assert.deepEqual(vfs, [{ vfId: 0, mac: own, vlan: 0 }]);
        },
      );
    },
  },
  {
    name: "assigns an address that the VF has after the next bind of its driver, until the VF is removed",
    async run({ host, pfs: [pf] }) {
      const assigned = mac("02:00:00:00:00:2a");
      const { pciAddress: vf } = await makeVf(host, pf);
      const pfName = (await linkOf(host, pf)).name;
      const own = (await linkOf(host, vf)).mac;
      await host.links.setVfMac(pfName, 0, assigned);
      assert.equal((await linkOf(host, pf)).vfs[0]?.mac, assigned);
      assert.equal((await linkOf(host, vf)).mac, own);
      for (let bind = 0; bind < 2; bind++) {
        await host.sriov.unbindDriver(vf);
        await host.sriov.bindDriver(vf, "igbvf");
        await settle(host);
        assert.equal((await linkOf(host, vf)).mac, assigned);
      }
      await host.sriov.setNumVfs(pf, 0);
      await makeVf(host, pf);
      assert.notEqual((await linkOf(host, vf)).mac, assigned);
    },
  },
  {
    name: "does not apply an assigned address if the driver binds while the interface of the PF is down",
    async run({ host, pfs: [pf] }) {
      const assigned = mac("02:00:00:00:00:2a");
      const { pciAddress: vf } = await makeVf(host, pf);
      const { name } = await linkOf(host, pf);
      await host.links.setVfMac(name, 0, assigned);
      const rebind = async () => {
        await host.sriov.unbindDriver(vf);
        await host.sriov.bindDriver(vf, "igbvf");
        await settle(host);
        return (await linkOf(host, vf)).mac;
      };
      await host.links.setAdminUp(name, false);
      assert.notEqual(await rebind(), assigned);
      assert.equal((await linkOf(host, pf)).vfs[0]?.mac, assigned);
      await host.links.setAdminUp(name, true);
      assert.equal(await rebind(), assigned);
    },
  },
  {
    name: "keeps the present address of a VF after a rebind if it was assigned",
    async run({ host, pfs: [pf] }) {
      const { pciAddress: vf } = await makeVf(host, pf);
      const own = (await linkOf(host, vf)).mac;
      await host.links.setVfMac((await linkOf(host, pf)).name, 0, mac(own));
      await host.sriov.unbindDriver(vf);
      await host.sriov.bindDriver(vf, "igbvf");
      await settle(host);
      assert.equal((await linkOf(host, vf)).mac, own);
    },
  },
  {
    name: "refuses addresses of VFs that do not exist, and multicast addresses",
    async run({ host, pfs: [pf] }) {
      const { name } = await linkOf(host, pf);
      const unicast = mac("02:00:00:00:00:01");
      await assertRefused(host.links.setVfMac(name, 0, unicast), "EINVAL");
      const { pciAddress: vf } = await makeVf(host, pf);
      await assertRefused(host.links.setVfMac(name, 1, unicast), "EINVAL");
      await assertRefused(host.links.setVfMac(name, 0, mac("01:00:5e:00:00:01")), "EINVAL");
      await assertRefused(host.links.setVfMac((await linkOf(host, vf)).name, 0, unicast), "EOPNOTSUPP");
    },
  },
  {
    name: "hides the interface of a VF while a pod has it",
    async run({ host, pfs: [pf], moveToPod, returnFromPods }) {
      const { pciAddress: vf } = await makeVf(host, pf);
      await moveToPod(vf, (await linkOf(host, vf)).name);
      assert.deepEqual(await linksOf(host, vf), []);
      assert.deepEqual(
        (await readVfs(host, pf)).map(({ driver, netdevs }) => [driver, netdevs]),
        [["igbvf", []]],
      );
      await returnFromPods();
      const { name } = await linkOf(host, vf);
      assert.deepEqual(
        (await readVfs(host, pf)).map(({ netdevs }) => netdevs),
        [[name]],
      );
    },
  },
  {
    name: "removes the interface of a VF from a pod when the number of VFs becomes 0",
    async run({ host, pfs: [pf], moveToPod, returnFromPods }) {
      const { pciAddress: vf } = await makeVf(host, pf);
      await moveToPod(vf, (await linkOf(host, vf)).name);
      await host.sriov.setNumVfs(pf, 0);
      await returnFromPods();
      assert.deepEqual(await linksOf(host, vf), []);
      await makeVf(host, pf);
      assert.equal((await linksOf(host, vf)).length, 1);
    },
  },
];
