// SPDX-License-Identifier: Apache-2.0
/** Contract cases of drivers: bind, unbind, override, probe, modules. */
import assert from "node:assert/strict";
import type { PciAddress } from "@switchyard/api";
import { HostError } from "../../calls/host-error.ts";
import type { Host } from "../../ports/host.ts";
import { assertRefused, eventually, linkOf, linksOf, makeVf, readPf, readVfs, type ContractCase } from "./world.ts";

async function driverOf(host: Host, pf: PciAddress): Promise<string | undefined> {
  const [vf] = await readVfs(host, pf);
  assert(vf);
  return vf.driver;
}

export const driverCases: readonly ContractCase[] = [
  {
    name: "unbinds the driver of a VF, which removes its interface, and binds it again",
    async run({ host, pfs: [pf] }) {
      const { pciAddress: vf } = await makeVf(host, pf);
      await host.sriov.unbindDriver(vf);
      assert.equal(await driverOf(host, pf), undefined);
      assert.deepEqual(await linksOf(host, vf), []);
      await host.sriov.bindDriver(vf, "igbvf");
      assert.equal(await driverOf(host, pf), "igbvf");
      await linkOf(host, vf);
    },
  },
  {
    name: "refuses to bind or unbind a driver in the wrong state",
    async run({ host, pfs: [pf], absent }) {
      const { pciAddress: vf } = await makeVf(host, pf);
      await assertRefused(host.sriov.bindDriver(vf, "igbvf"), "EBUSY");
      await host.sriov.unbindDriver(vf);
      await assertRefused(host.sriov.unbindDriver(vf), "ENOENT");
      await assertRefused(host.sriov.bindDriver(vf, "igb"), "ENODEV");
      await assertRefused(host.sriov.bindDriver(vf, "no_such_driver"), "ENOENT");
      await assertRefused(host.sriov.unbindDriver(absent), "ENOENT");
      await assertRefused(host.sriov.bindDriver(absent, "igbvf"), "ENODEV");
      await assertRefused(host.sriov.probeDrivers(absent), "ENODEV");
      await assertRefused(host.sriov.setDriverOverride(absent, "igbvf"), "ENOENT");
      assert.equal(await driverOf(host, pf), undefined);
    },
  },
  {
    name: "lets the kernel choose a driver, also repeatedly",
    async run({ host, pfs: [pf] }) {
      const { pciAddress: vf } = await makeVf(host, pf);
      await host.sriov.unbindDriver(vf);
      await host.sriov.probeDrivers(vf);
      assert.equal(await driverOf(host, pf), "igbvf");
      await host.sriov.probeDrivers(vf);
      assert.equal(await driverOf(host, pf), "igbvf");
    },
  },
  {
    name: "binds a VF to vfio-pci only with a driver override, and back to the kernel's driver",
    async run({ host, pfs: [pf] }) {
      const { pciAddress: vf } = await makeVf(host, pf);
      await host.modules.load("vfio-pci");
      await host.sriov.unbindDriver(vf);
      await assertRefused(host.sriov.bindDriver(vf, "vfio-pci"), "ENODEV");
      await host.sriov.setDriverOverride(vf, "vfio-pci");
      await host.sriov.bindDriver(vf, "vfio-pci");
      assert.equal(await driverOf(host, pf), "vfio-pci");
      assert.deepEqual(await linksOf(host, vf), []);

      await host.sriov.unbindDriver(vf);
      await assertRefused(host.sriov.bindDriver(vf, "igbvf"), "ENODEV");
      await host.sriov.probeDrivers(vf); // uses the override
      assert.equal(await driverOf(host, pf), "vfio-pci");

      assert.equal((await host.sriov.readBinding(vf))?.driverOverride, "vfio-pci");
      await host.sriov.setDriverOverride(vf, undefined);
      assert.equal((await host.sriov.readBinding(vf))?.driverOverride, undefined);
      assert.equal(await driverOf(host, pf), "vfio-pci"); // stays bound until it is unbound
      await host.sriov.unbindDriver(vf);
      await host.sriov.probeDrivers(vf);
      assert.equal(await driverOf(host, pf), "igbvf");
      await linkOf(host, vf);
    },
  },
  {
    name: "accepts an override with an unknown driver, and then finds no driver",
    async run({ host, pfs: [pf] }) {
      const { pciAddress: vf } = await makeVf(host, pf);
      await host.sriov.setDriverOverride(vf, "no_such_driver");
      assert.equal(await driverOf(host, pf), "igbvf"); // a bound driver stays
      await host.sriov.unbindDriver(vf);
      await host.sriov.probeDrivers(vf);
      assert.equal(await driverOf(host, pf), undefined);
    },
  },
  {
    name: "drops an override when its VF is removed",
    async run({ host, pfs: [pf] }) {
      const { pciAddress: vf } = await makeVf(host, pf);
      await host.sriov.setDriverOverride(vf, "no_such_driver");
      await host.sriov.setNumVfs(pf, 0);
      await makeVf(host, pf);
      assert.equal(await driverOf(host, pf), "igbvf");
    },
  },
  {
    name: "identifies a VF until it is created or bound again",
    async run({ host, pfs: [pf], absent }) {
      const { pciAddress: vf } = await makeVf(host, pf);
      const bindings = [await host.sriov.readBinding(vf)];
      assert.deepEqual(await host.sriov.readBinding(vf), bindings[0]);
      await host.sriov.unbindDriver(vf);
      bindings.push(await host.sriov.readBinding(vf));
      await host.sriov.bindDriver(vf, "igbvf");
      bindings.push(await host.sriov.readBinding(vf));
      await host.sriov.setNumVfs(pf, 0);
      assert.equal(await host.sriov.readBinding(vf), undefined);
      await makeVf(host, pf);
      bindings.push(await host.sriov.readBinding(vf));
      assert.deepEqual(
        bindings.map((binding) => binding?.driver),
        ["igbvf", undefined, "igbvf", "igbvf"],
      );
      assert.equal(new Set(bindings.map((binding) => binding?.incarnation)).size, 4);
      assert.equal(await host.sriov.readBinding(absent), undefined);
    },
  },
  {
    name: "loads a module repeatedly, with - or _ in its name",
    async run({ host }) {
      await host.modules.load("vfio-pci");
      await host.modules.load("vfio-pci");
      await host.modules.load("vfio_pci");
    },
  },
  {
    name: "reports the output of modprobe for a module that does not exist",
    async run({ host }) {
      await assert.rejects(host.modules.load("no_such_module"), (error) => {
        assert(error instanceof HostError);
        assert.equal(error.code, "MODPROBE_FAILED");
        assert.match(error.words ?? "", /no_such_module not found/);
        return true;
      });
    },
  },
  {
    name: "creates VFs on two PFs at the same time",
    async run({ host, pfs }) {
      await Promise.all(pfs.map((pf) => host.sriov.setNumVfs(pf, 2)));
      for (const pf of pfs)
        await eventually(
          () => readPf(host, pf),
          ({ sriov }) => {
            assert.deepEqual(
              sriov?.vfs.map(({ driver }) => driver),
              ["igbvf", "igbvf"],
            );
          },
        );
    },
  },
];
