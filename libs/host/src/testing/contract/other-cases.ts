// SPDX-License-Identifier: Apache-2.0
/** Contract cases of the boot, devlink, udev and records. */
import assert from "node:assert/strict";
import type { AfxdpRecord, PfRecord } from "../../ports/records.ts";
import { assertRefused, assertRefusedBy, linkOf, makeVfs, readVfs, settle, type ContractCase } from "./world.ts";

export const otherCases: readonly ContractCase[] = [
  {
    name: "returns a boot id, which does not change",
    async run({ host }) {
      const bootId = await host.boot.readBootId();
      assert.match(bootId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      assert.equal(await host.boot.readBootId(), bootId);
    },
  },
  {
    name: "reads the mode of an eswitch, and no mode without an eswitch",
    async run({ host, pfs, absent, hasEswitch }) {
      const mode = hasEswitch ? "legacy" : undefined;
      for (const pf of pfs) assert.equal(await host.devlink.readEswitchMode(pf), mode);
      assert.equal(await host.devlink.readEswitchMode(absent), undefined);
    },
  },
  {
    name: "reads the arguments of the kernel, the vendor of its CPUs and its IOMMU",
    async run({ host: { kernelArguments } }) {
      const running = await kernelArguments.readRunning();
      assert(running.length > 0 && running.every((argument) => /^\S+$/.test(argument)), running.join(" "));
      const { cpuVendor, iommu } = await kernelArguments.readMachine();
      assert.deepEqual([["intel", "amd", "other"].includes(cpuVendor), iommu], [true, true]);
      const change = { add: ["a=$(b)"], remove: [] };
      await assertRefused(kernelArguments.setNext(change), "EINVAL");
    },
  },
  {
    name: "changes no name after udev has settled",
    async run({ host, pfs: [pf] }) {
      await host.sriov.setNumVfs(pf, 4);
      await settle(host);
      const before = await readVfs(host, pf);
      await makeVfs(host, pf, 4); // the same number: it only waits
      assert.deepEqual(await readVfs(host, pf), before);
      for (const { pciAddress, netdevs } of before) assert.deepEqual(netdevs, [(await linkOf(host, pciAddress)).name]);
    },
  },
  {
    name: "changes no name of a PF and its VFs after udev has settled for this PF",
    async run({ host, pfs: [pf] }) {
      await host.sriov.setNumVfs(pf, 4);
      await settle(host, pf);
      const before = await readVfs(host, pf);
      assert.deepEqual(
        before.map(({ driver, netdevs }) => [driver, netdevs.length]),
        Array.from({ length: 4 }, () => ["igbvf", 1]),
      );
      await settle(host);
      assert.deepEqual(await readVfs(host, pf), before);
    },
  },
  {
    name: "stops waiting for udev when the signal aborts",
    async run({ host }) {
      const signal = AbortSignal.abort(new Error("shutting down"));
      await assert.rejects(host.udev.settle({ timeoutMs: 1_000, signal }), /shutting down/);
    },
  },
  {
    name: "reads the lockdown mode, and reports that the program for firmware settings is not installed",
    async run({ host, pfs: [pf] }) {
      assert.equal(await host.firmware.readLockdown(), "none");
      await assertRefused(host.firmware.readSettings(pf), "ENOENT", "mstconfig is not installed");
      await assertRefused(host.firmware.setValues(pf, { NUM_OF_VFS: 8 }), "ENOENT", "mstconfig is not installed");
      await assertRefused(host.firmware.readPrivilege(pf), "ENOENT", "mstprivhost is not installed");
      await assertRefused(host.firmware.resetCard(pf), "ENOENT", "mstfwreset is not installed");
    },
  },
  {
    name: "finds no config drive, and leaves no-IOMMU mode off on a machine with an IOMMU",
    async run({ host }) {
      assert.equal(await host.configDrive.readText("openstack/latest/meta_data.json"), undefined);
      await host.modules.enableNoIommu();
    },
  },
  {
    name: "saves, replaces and removes records",
    async run({ host, pfs: [pf, other] }) {
      const record: PfRecord = {
        spec: {
          pciAddress: pf,
          numVfs: 4,
          vfGroups: [{ resourceName: "nic", vfRange: "0-3", deviceType: "vfio-pci" }],
        },
        initial: { mtu: 1_500 },
      };
      const later: PfRecord = { spec: { pciAddress: other, numVfs: 2 } };
      await host.records.save(pf, record);
      await host.records.save(other, { spec: { pciAddress: other, numVfs: 1 } });
      await host.records.save(other, later);
      assert.deepEqual(
        await host.records.list(),
        new Map<string, PfRecord>([
          [pf, record],
          [other, later],
        ]),
      );
      for (const each of [pf, other, pf]) await host.records.remove(each);
      assert.deepEqual(await host.records.list(), new Map());
    },
  },
  {
    name: "saves, replaces and removes records of AF_XDP devices, and refuses what is no device",
    async run({ host: { afxdpRecords }, pfs: [pf] }) {
      const record: AfxdpRecord = {
        spec: { pciAddress: pf, mode: "subfunction", poolName: "fast", numSfs: 2 },
        initial: { eSwitchMode: "legacy" },
        subfunctions: [1000],
      };
      const later: AfxdpRecord = { ...record, subfunctions: [1000, 1001] };
      await afxdpRecords.save(pf, record);
      await afxdpRecords.save(pf, later);
      assert.deepEqual(await afxdpRecords.list(), new Map([[pf, later]]));
      for (const _ of ["first", "second"]) await afxdpRecords.remove(pf);
      assert.deepEqual(await afxdpRecords.list(), new Map());
      await assertRefusedBy(afxdpRecords.save("../pci", record), "EINVAL");
    },
  },
];

/** Contract cases of the program that systemd starts while the host boots. */
export const bootProgramCases: readonly ContractCase[] = [
  {
    name: "installs, replaces and removes the program for the boot",
    async run({ host: { bootProgram } }) {
      await bootProgram.removeAll();
      assert.equal(await bootProgram.readVersion(), undefined);
      for (const id of ["1", "2", "2"]) {
        await bootProgram.install({ id, files: [{ to: "lib/main.js", text: id }] });
        assert.equal(await bootProgram.readVersion(), id);
      }
      await assertRefused(bootProgram.install({ id: "../3", files: [] }), "EINVAL");
      assert.equal(await bootProgram.readVersion(), "2");
      await bootProgram.removeAll();
      assert.equal(await bootProgram.readVersion(), undefined);
    },
  },
];
