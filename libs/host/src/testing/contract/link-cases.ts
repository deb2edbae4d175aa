// SPDX-License-Identifier: Apache-2.0
/** Contract cases of network interfaces, with the texts of Linux 6.12. */
import assert from "node:assert/strict";
import { operations } from "../../calls/operations.ts";
import { HostError } from "../../calls/host-error.ts";
import { assertRefused, eventually, linkOf, mac, makeVf, readPf, type ContractCase } from "./world.ts";

export const linkCases: readonly ContractCase[] = [
  {
    name: "lists the interface of the PF with exactly the values that its driver reports",
    async run({ host, pfs, hasEswitch }) {
      for (const [port, pf] of pfs.entries()) {
        const { index, name, altNames, mac: address, permanentMac, physSwitchId, ...link } = await linkOf(host, pf);
        assert(index > 1);
        assert.match(name, /./);
        assert(Array.isArray(altNames));
        assert.match(address, /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/);
        assert.equal(permanentMac, address);
        assert.deepEqual(link, {
          mtu: 1_500,
          maxMtu: 9_216,
          adminUp: true,
          promiscuous: false,
          type: "ether",
          parent: { bus: "pci", name: pf },
          hasXdp: false,
          vfs: [],
          ...(hasEswitch && { physPortName: `p${port}` }), // EOPNOTSUPP on igb
        });
        if (hasEswitch) assert.match(physSwitchId ?? "", /^[0-9a-f]{16}$/);
        else assert.equal(physSwitchId, undefined);
      }
    },
  },
  {
    name: "lists all interfaces by ascending index, including the loopback interface",
    async run({ host }) {
      const links = await host.links.listLinks();
      const indexes = links.map(({ index }) => index);
      assert.deepEqual(
        indexes,
        indexes.toSorted((a, b) => a - b),
      );
      const loopback = links.find(({ name }) => name === "lo");
      assert.deepEqual([loopback?.index, loopback?.type, loopback?.parent, loopback?.vfs], [1, "other", undefined, []]);
    },
  },
  {
    name: "sets an MTU within the limits of the device, and refuses others with the explanation of the kernel",
    async run({ host, pfs: [pf] }) {
      const { name } = await linkOf(host, pf);
      await host.links.setMtu(name, 9_000);
      await assertRefused(host.links.setMtu(name, 9_300), "EINVAL", "mtu greater than device maximum");
      await assertRefused(host.links.setMtu(name, 60), "EINVAL", "mtu less than device minimum");
      assert.equal((await linkOf(host, pf)).mtu, 9_000);
    },
  },
  {
    name: "names the operation, its target and the answer in an error",
    async run({ host, pfs: [pf] }) {
      const { name } = await linkOf(host, pf);
      await assert.rejects(host.links.setMtu(name, 9_300), (error) => {
        assert(error instanceof HostError);
        assert.deepEqual(error.operation, operations.links.setMtu(name, 9_300));
        assert.equal(error.message, `set mtu 9300 on ${name}: EINVAL (mtu greater than device maximum)`);
        return true;
      });
    },
  },
  {
    name: "sets the MTU of a VF and of its PF",
    async run({ host, pfs: [pf] }) {
      await host.links.setMtu((await linkOf(host, pf)).name, 9_000);
      const { pciAddress: vf } = await makeVf(host, pf);
      const { name, mtu, maxMtu } = await linkOf(host, vf);
      assert.deepEqual([mtu, maxMtu], [1_500, 9_216]);
      await host.links.setMtu(name, 9_000);
      assert.equal((await linkOf(host, vf)).mtu, 9_000);
      assert.equal((await linkOf(host, pf)).mtu, 9_000); // the reset by the new VF kept it
    },
  },
  {
    name: "sets interfaces down and up",
    async run({ host, pfs: [pf] }) {
      const { pciAddress: vf } = await makeVf(host, pf);
      const { name } = await linkOf(host, pf);
      const vfName = (await linkOf(host, vf)).name;
      await host.links.setAdminUp(vfName, true);
      assert.equal((await linkOf(host, vf)).adminUp, true);
      await host.links.setAdminUp(name, false);
      assert.equal((await linkOf(host, pf)).adminUp, false);
      assert.equal((await linkOf(host, vf)).adminUp, true); // does not depend on the PF
      await host.links.setAdminUp(name, true);
      await host.links.setAdminUp(name, true);
      assert.equal((await linkOf(host, pf)).adminUp, true);
    },
  },
  {
    name: "reads the speed while the link is up, and no speed while it is down",
    async run({ host, pfs: [pf] }) {
      const { name } = await linkOf(host, pf);
      await eventually(
        () => host.links.readSpeedMbps(name),
        (speed) => {
          assert.equal(speed, 1_000);
        },
      );
      await host.links.setAdminUp(name, false);
      assert.equal(await host.links.readSpeedMbps(name), undefined);
    },
  },
  {
    name: "has no carrier for a while after a change of the number of VFs or of the MTU",
    async run({ host, pfs: [pf] }) {
      const { name } = await linkOf(host, pf);
      const untilCarrier = () =>
        eventually(
          () => host.links.readSpeedMbps(name),
          (speed) => {
            assert.equal(speed, 1_000);
          },
        );
      // On a busy machine the carrier can be back before it is read, so each change is made up to five times.
      const changes = [
        (isOdd: boolean) => host.sriov.setNumVfs(pf, isOdd ? 1 : 0),
        (isOdd: boolean) => host.links.setMtu(name, isOdd ? 9_000 : 1_500),
      ];
      for (const change of changes) {
        let wasLost = false;
        for (let count = 1; count <= 5 && !wasLost; count++) {
          await untilCarrier();
          await change(count % 2 === 1);
          wasLost = (await host.links.readSpeedMbps(name)) === undefined;
        }
        assert.ok(wasLost, "the carrier was never lost");
      }
      await host.links.setMtu(name, 9_000);
      await untilCarrier();
      await host.links.setMtu(name, 9_000); // no change, no reset
      assert.equal(await host.links.readSpeedMbps(name), 1_000);
    },
  },
  {
    name: "refuses with ENODEV for an interface that does not exist",
    async run({ host }) {
      await assertRefused(host.links.setMtu("nosuch0", 1_500), "ENODEV");
      await assertRefused(host.links.setAdminUp("nosuch0", true), "ENODEV");
      await assertRefused(host.links.setVfMac("nosuch0", 0, mac("02:00:00:00:00:01")), "ENODEV");
    },
  },
  {
    name: "shows new and alternative names in all lists",
    async run({ host, pfs: [pf], renameLink, addAltName }) {
      const { name } = await linkOf(host, pf);
      await renameLink(name, "uplink0");
      await addAltName("uplink0", "nic-for-storage");
      const link = await linkOf(host, pf);
      assert.equal(link.name, "uplink0");
      assert(link.altNames.includes("nic-for-storage"));
      assert.deepEqual((await readPf(host, pf)).netdevs, ["uplink0"]);
      await renameLink("uplink0", name);
    },
  },
];
