// SPDX-License-Identifier: Apache-2.0
/** Contract cases of the RDMA subsystem. */
import assert from "node:assert/strict";
import { parseGuid } from "@switchyard/api";
import { assertRefused, linkOf, makeVf, type ContractCase } from "./world.ts";

export const rdmaCases: readonly ContractCase[] = [
  {
    name: "reads the RDMA mode, and no mode while the RDMA subsystem is not loaded, without loading it",
    async run({ host, unloadRdma, setRdmaMode }) {
      await unloadRdma();
      for (const nth of ["first", "second"]) assert.equal(await host.rdma.readMode(), undefined, `${nth} read`);
      await host.modules.load("ib_core");
      assert.equal(await host.rdma.readMode(), "shared");
      for (const mode of ["exclusive", "shared"] as const) {
        await setRdmaMode(mode);
        assert.equal(await host.rdma.readMode(), mode);
      }
      await unloadRdma(); // fails if a socket stayed open
      assert.equal(await host.rdma.readMode(), undefined);
    },
  },
  {
    name: "changes the RDMA mode, and refuses it while another network namespace exists and without ib_core",
    async run({ host, pfs: [pf], unloadRdma, moveToPod, returnFromPods }) {
      await unloadRdma();
      await assertRefused(host.rdma.setMode("exclusive"), "EPROTONOSUPPORT");
      assert.equal(await host.rdma.readMode(), undefined, "does not load ib_core");
      await host.modules.load("ib_core");
      for (const mode of ["exclusive", "exclusive", "shared"] as const) {
        await host.rdma.setMode(mode);
        assert.equal(await host.rdma.readMode(), mode);
      }
      const { pciAddress } = await makeVf(host, pf);
      await moveToPod(pciAddress, (await linkOf(host, pciAddress)).name);
      await assertRefused(host.rdma.setMode("exclusive"), "EBUSY");
      await host.rdma.setMode("shared"); // no change
      assert.equal(await host.rdma.readMode(), "shared");
      await returnFromPods();
      await unloadRdma(); // fails if a socket stayed open
    },
  },
  {
    name: "lists RDMA devices by name, and none without the RDMA subsystem",
    async run({ host, pfs: [pf, other], addRdmaDevice, unloadRdma }) {
      await unloadRdma();
      assert.deepEqual(await host.rdma.listDevices(), []);
      await addRdmaDevice("rxe_b", (await linkOf(host, pf)).name);
      await addRdmaDevice("rxe_a", (await linkOf(host, other)).name);
      const devices = await host.rdma.listDevices();
      assert.deepEqual(
        devices.map(({ name }) => name),
        ["rxe_a", "rxe_b"],
      );
      // A software device has no PCI function.
      for (const { pciAddress, nodeGuid } of devices) {
        assert.equal(pciAddress, undefined);
        assert.match(nodeGuid, /^[0-9a-f]{4}(:[0-9a-f]{4}){3}$/);
      }
      await unloadRdma();
    },
  },
  {
    name: "refuses a GUID for a VF of a PF that is not InfiniBand, and for an interface that does not exist",
    async run({ host, pfs: [pf] }) {
      await makeVf(host, pf);
      const guid = parseGuid("02:00:00:00:00:00:00:01");
      assert(guid.ok);
      await assertRefused(host.rdma.setVfGuid((await linkOf(host, pf)).name, 0, guid.value), "EOPNOTSUPP");
      await assertRefused(host.rdma.setVfGuid("nowhere0", 0, guid.value), "ENODEV");
    },
  },
];
