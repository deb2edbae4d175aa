// SPDX-License-Identifier: Apache-2.0
/** What must hold of the boot, devlink, RDMA, udev and the records. */
import assert from "node:assert/strict";
import type { PfRecord } from "../../ports/pf-records.ts";
import { linkOf, makeVfs, readVfs, settle, type ContractCase } from "./world.ts";

export const otherCases: readonly ContractCase[] = [
  {
    name: "names its boot, and never otherwise while it runs",
    async run({ host }) {
      const bootId = await host.boot.readBootId();
      assert.match(bootId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      assert.equal(await host.boot.readBootId(), bootId);
    },
  },
  {
    name: "knows the mode of an eswitch, and none where there is no eswitch",
    async run({ host, pfs, absent, hasEswitch }) {
      const mode = hasEswitch ? "legacy" : undefined;
      for (const pf of pfs) assert.equal(await host.devlink.readEswitchMode(pf), mode);
      assert.equal(await host.devlink.readEswitchMode(absent), undefined);
    },
  },
  {
    name: "knows the RDMA mode, and none before the RDMA subsystem is loaded, which reading does not do",
    async run({ host, unloadRdma, setRdmaMode }) {
      await unloadRdma();
      for (const nth of ["first", "second"]) assert.equal(await host.rdma.readMode(), undefined, `${nth} look`);
      await host.modules.load("ib_core");
      assert.equal(await host.rdma.readMode(), "shared");
      for (const mode of ["exclusive", "shared"] as const) {
        await setRdmaMode(mode);
        assert.equal(await host.rdma.readMode(), mode);
      }
      await unloadRdma(); // which a socket that stayed open would prevent
      assert.equal(await host.rdma.readMode(), undefined);
    },
  },
  {
    name: "leaves no name to change once udev has settled",
    async run({ host, pfs: [pf] }) {
      await host.sriov.setNumVfs(pf, 4);
      await settle(host);
      const before = await readVfs(host, pf);
      await makeVfs(host, pf, 4); // the same count: only waits for whatever was still missing
      assert.deepEqual(await readVfs(host, pf), before);
      for (const { pciAddress, netdevs } of before) assert.deepEqual(netdevs, [(await linkOf(host, pciAddress)).name]);
    },
  },
  {
    name: "gives up settling when it is told to",
    async run({ host }) {
      const signal = AbortSignal.abort(new Error("shutting down"));
      await assert.rejects(host.udev.settle({ timeoutMs: 1_000, signal }), /shutting down/);
    },
  },
  {
    name: "keeps, replaces and removes records",
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
];
