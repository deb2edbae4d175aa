// SPDX-License-Identifier: Apache-2.0
/** What must hold of VFs' interfaces: their addresses, and the pods that have them. */
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
    name: "shows a VF's own address at its PF, and no VLAN",
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
    name: "assigns an address that a VF has from its driver's next bind on, until it vanishes",
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
    name: "gives an assigned address to no VF whose driver binds while the PF's interface is down",
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
    name: "makes the address that a VF has the assigned one, so that it survives a rebind",
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
    name: "refuses addresses for VFs that there are not, and of many",
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
    name: "does not show a VF's interface that a pod has, and shows it again when it is back",
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
    name: "takes a VF's interface from a pod with count 0",
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
