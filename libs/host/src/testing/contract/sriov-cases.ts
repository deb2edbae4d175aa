// SPDX-License-Identifier: Apache-2.0
/** Contract cases of PFs and their VFs in sysfs, with the errors of igb on Linux 6.12. */
import assert from "node:assert/strict";
import { vfAddress } from "../nic-models.ts";
import {
  assertRefused,
  eventually,
  linkOf,
  linksOf,
  makeVf,
  makeVfs,
  readPf,
  readVfs,
  type ContractCase,
} from "./world.ts";

const igbVfs = { offset: 128, stride: 2 };

export const sriovCases: readonly ContractCase[] = [
  {
    name: "lists both PFs with their ids, driver, interface and limit, by ascending address",
    async run({ host, pfs }) {
      const all = await host.sriov.listPfs();
      const addresses = all.map(({ pciAddress }) => pciAddress);
      assert.deepEqual(addresses, addresses.toSorted());
      for (const pf of pfs) {
        const facts = all.find(({ pciAddress }) => pciAddress === pf);
        const { name } = await linkOf(host, pf);
        // The fake kernel has no PCIe topology unless a test asks for it.
        const { pcieRoot = "pci0000:00", numaNode: _, ...others } = facts ?? {};
        assert.match(pcieRoot, /^pci[0-9a-f]{4}:[0-9a-f]{2}$/);
        assert.deepEqual(others, {
          pciAddress: pf,
          vendor: "8086",
          deviceId: "10c9",
          driver: "igb",
          netdevs: [name],
          sriov: { totalVfs: 7, numVfs: 0, vfs: [] },
        });
        assert.deepEqual(await host.sriov.readPf(pf), facts);
      }
    },
  },
  {
    name: "creates VFs of one port at the addresses of its capability, with driver and interface",
    async run({ host, pfs }) {
      for (const pf of pfs) {
        const vfs = await makeVfs(host, pf, 4);
        for (const [vfId, { netdevs, ...vf }] of vfs.entries()) {
          const pciAddress = vfAddress(pf, igbVfs, vfId);
          assert.deepEqual(vf, { vfId, pciAddress, vendor: "8086", deviceId: "10ca", driver: "igbvf" });
          assert.deepEqual(netdevs, [(await linkOf(host, pciAddress)).name]);
        }
        assert.equal(vfs.length, 4);
      }
      for (const pf of pfs) assert.equal((await readPf(host, pf)).sriov?.numVfs, 4);
    },
  },
  {
    name: "does not list an excluded PF or its VFs",
    async run({ host, pfs: [pf, other] }) {
      await makeVfs(host, pf, 2);
      const all = await host.sriov.listPfs();
      const rest = await host.sriov.listPfs([pf]);
      assert.deepEqual(
        rest,
        all.filter(({ pciAddress }) => pciAddress !== pf),
      );
      assert(rest.some(({ pciAddress }) => pciAddress === other));
    },
  },
  {
    name: "returns no PF at the address of a VF and at an unused address",
    async run({ host, pfs: [pf], absent }) {
      const { pciAddress } = await makeVf(host, pf);
      assert.equal(await host.sriov.readPf(pciAddress), undefined);
      assert(!(await host.sriov.listPfs()).some((other) => other.pciAddress === pciAddress));
      assert.equal(await host.sriov.readPf(absent), undefined);
    },
  },
  {
    name: "refuses another number while VFs exist, and keeps the VFs",
    async run({ host, pfs: [pf] }) {
      const { pciAddress } = await makeVf(host, pf);
      const { index } = await linkOf(host, pciAddress);
      await assertRefused(host.sriov.setNumVfs(pf, 2), "EBUSY");
      assert.equal((await readVfs(host, pf)).length, 1);
      assert.equal((await linkOf(host, pciAddress)).index, index);
    },
  },
  {
    name: "accepts the same number again without effect",
    async run({ host, pfs: [pf] }) {
      await host.sriov.setNumVfs(pf, 0);
      const { pciAddress } = await makeVf(host, pf);
      const { index } = await linkOf(host, pciAddress);
      await host.sriov.setNumVfs(pf, 1);
      assert.equal((await linkOf(host, pciAddress)).index, index);
    },
  },
  {
    name: "refuses numbers above the limit, below zero and invalid numbers",
    async run({ host, pfs: [pf] }) {
      await assertRefused(host.sriov.setNumVfs(pf, 8), "ERANGE");
      await assertRefused(host.sriov.setNumVfs(pf, 65_535), "ERANGE");
      await assertRefused(host.sriov.setNumVfs(pf, 65_536), "EINVAL"); // more than 16 bits
      await assertRefused(host.sriov.setNumVfs(pf, -1), "EINVAL");
      await assertRefused(host.sriov.setNumVfs(pf, Number.NaN), "EINVAL");
      assert.equal((await readPf(host, pf)).sriov?.numVfs, 0);
    },
  },
  {
    name: "removes VFs and their interfaces with number 0, and creates them again",
    async run({ host, pfs: [pf] }) {
      const { pciAddress } = await makeVf(host, pf);
      const { index } = await linkOf(host, pciAddress);
      await host.sriov.setNumVfs(pf, 0);
      assert.deepEqual((await readPf(host, pf)).sriov, { totalVfs: 7, numVfs: 0, vfs: [] });
      assert.deepEqual(await linksOf(host, pciAddress), []);
      await makeVf(host, pf);
      assert.notEqual((await linkOf(host, pciAddress)).index, index);
    },
  },
  {
    name: "refuses with ENOENT on a function without SR-IOV",
    async run({ host, pfs: [pf], absent }) {
      const { pciAddress } = await makeVf(host, pf);
      for (const device of [absent, pciAddress]) {
        await assertRefused(host.sriov.setNumVfs(device, 1), "ENOENT");
      }
    },
  },
  {
    name: "removes the VFs when the driver of the PF is unbound, and creates none without it",
    async run({ host, pfs: [pf] }) {
      await makeVfs(host, pf, 2);
      await host.sriov.unbindDriver(pf);
      assert.deepEqual(await readPf(host, pf), {
        pciAddress: pf,
        vendor: "8086",
        deviceId: "10c9",
        netdevs: [],
        sriov: { totalVfs: 8, numVfs: 0, vfs: [] }, // limit of the capability; the limit of the driver is 7
      });
      await assertRefused(host.sriov.setNumVfs(pf, 2), "ENOENT");
      await assertRefused(host.sriov.setNumVfs(pf, 9), "ERANGE");
      await host.sriov.bindDriver(pf, "igb");
      await eventually(
        () => readPf(host, pf),
        ({ driver, netdevs }) => {
          assert.deepEqual([driver, netdevs.length], ["igb", 1]);
        },
      );
    },
  },
];
