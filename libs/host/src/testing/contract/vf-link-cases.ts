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

/** The settings of a new VF of igb. */
const newVfSettings = {
  vlan: 0,
  vlanQos: 0,
  vlanProtocol: "802.1Q",
  spoofCheck: true,
  trust: false,
  linkState: "auto",
  minTxRate: 0,
  maxTxRate: 0,
};

export const vfLinkCases: readonly ContractCase[] = [
  {
    name: "shows the address of a VF, and its settings, in the interface of its PF",
    async run({ host, pfs: [pf] }) {
      const { pciAddress: vf } = await makeVf(host, pf);
      const own = (await linkOf(host, vf)).mac;
      await eventually(
        () => linkOf(host, pf),
        ({ vfs }) => {
          assert.deepEqual(vfs, [{ vfId: 0, mac: own, ...newVfSettings }]);
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
    name: "changes settings of a VF, which stay when its driver is bound again, and end with the VF",
    async run({ host, pfs: [pf] }) {
      const { pciAddress: vf } = await makeVf(host, pf);
      const { name } = await linkOf(host, pf);
      const settings = async (): Promise<unknown> => {
        const { vfId: _vfId, mac: _mac, ...others } = (await linkOf(host, pf)).vfs[0] ?? {};
        return others;
      };
      await eventually(
        () => host.links.readSpeedMbps(name),
        (speed) => {
          assert.notEqual(speed, undefined); // igb refuses rates without a link
        },
      );
      await host.links.setVf(name, 0, { vlan: 100, qos: 3, protocol: "802.1Q" });
      await host.links.setVf(name, 0, { trust: true });
      await host.links.setVf(name, 0, { spoofCheck: false });
      await host.links.setVf(name, 0, { minTxRate: 0, maxTxRate: 100 });
      const changed = { ...newVfSettings, vlan: 100, vlanQos: 3, trust: true, spoofCheck: false, maxTxRate: 100 };
      assert.deepEqual(await settings(), changed);
      await host.sriov.unbindDriver(vf);
      await host.sriov.bindDriver(vf, "igbvf");
      assert.deepEqual(await settings(), changed);
      await host.links.setVf(name, 0, { vlan: 0, qos: 0, protocol: "802.1Q" });
      assert.deepEqual(await settings(), { ...changed, vlan: 0, vlanQos: 0 });
      await host.sriov.setNumVfs(pf, 0);
      await makeVf(host, pf);
      assert.deepEqual(await settings(), newVfSettings);
    },
  },
  {
    name: "refuses settings of VFs that do not exist, and settings that the driver does not have",
    async run({ host, pfs: [pf] }) {
      await makeVf(host, pf);
      const { name } = await linkOf(host, pf);
      await assertRefused(host.links.setVf(name, 1, { trust: true }), "EINVAL");
      await assertRefused(host.links.setVf(name, 0, { vlan: 4_096, qos: 0, protocol: "802.1Q" }), "EINVAL");
      await assertRefused(host.links.setVf(name, 0, { vlan: 5, qos: 0, protocol: "802.1ad" }), "EPROTONOSUPPORT");
      await assertRefused(host.links.setVf(name, 0, { linkState: "disable" }), "EOPNOTSUPP");
    },
  },
  {
    name: "has a new interface after its driver was bound again, without the MTU, name and mode of the former one",
    async run({ host, pfs: [pf], renameLink, setPromiscuous }) {
      const { pciAddress: vf } = await makeVf(host, pf);
      const first = await linkOf(host, vf);
      await host.links.setMtu(first.name, 2_000);
      await renameLink(first.name, "net1");
      await setPromiscuous("net1");
      const left = await linkOf(host, vf);
      assert.deepEqual([left.name, left.mtu, left.promiscuous], ["net1", 2_000, true]);
      await host.sriov.unbindDriver(vf);
      await host.sriov.bindDriver(vf, "igbvf");
      await settle(host);
      const { name, mtu, promiscuous } = await linkOf(host, vf);
      assert.deepEqual([name, mtu, promiscuous], [first.name, first.mtu, false]);
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
