// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, PciAddress } from "@switchyard/api";
import { createFakeKernel, igb, pci, type FakeKernel } from "@switchyard/host/testing";
import { defaultTiming } from "../deadlines/with-deadline.ts";
import { silentLogger } from "@switchyard/service/testing";
import { clearDriverOverrides } from "./clear-driver-overrides.ts";

const pf = pci("0000:01:00.0");
const vfGroups = [{ vfRange: "0-0", deviceType: "vfio-pci" as const }];

/** A PF with a VF that a daemon bound to vfio-pci before it was killed, with its record. */
async function killedWhileBinding(record: Partial<InterfaceSpec> = {}) {
  const kernel = createFakeKernel({ nics: [igb(pf)] });
  const { sriov, modules, records } = kernel.host();
  await records.save(pf, { spec: { pciAddress: pf, numVfs: 1, vfGroups, ...record } });
  for (const module of ["igbvf", "vfio-pci"]) await modules.load(module);
  await sriov.setNumVfs(pf, 1);
  const vf = (await sriov.readPf(pf))?.sriov?.vfs[0]?.pciAddress ?? pf;
  await sriov.unbindDriver(vf);
  await sriov.setDriverOverride(vf, "vfio-pci");
  await sriov.bindDriver(vf, "vfio-pci");
  return { kernel, vf };
}

/** Returns the driver that the kernel chooses for the VF. */
async function driverAfterProbe(kernel: FakeKernel, vf: PciAddress): Promise<string | undefined> {
  const { sriov } = kernel.host();
  await sriov.unbindDriver(vf);
  await sriov.probeDrivers(vf);
  return (await sriov.readBinding(vf))?.driver;
}

function clear(kernel: FakeKernel): Promise<void> {
  return clearDriverOverrides(kernel.host(), {
    timing: defaultTiming,
    now: () => new Date(0),
    log: silentLogger,
  });
}

describe("clearDriverOverrides", () => {
  it("lets the kernel choose the driver of a VF again, and keeps the driver that is bound", async () => {
    const { kernel, vf } = await killedWhileBinding();
    await clear(kernel);
    expect((await kernel.host().sriov.readBinding(vf))?.driver).toBe("vfio-pci");
    expect(await driverAfterProbe(kernel, vf)).toBe("igbvf");
  });

  it("leaves the VFs of externally managed PFs, and of PFs without a record", async () => {
    const external = await killedWhileBinding({ externallyManaged: true });
    await clear(external.kernel);
    expect(await driverAfterProbe(external.kernel, external.vf)).toBe("vfio-pci");

    const foreign = await killedWhileBinding();
    await foreign.kernel.host().records.remove(pf);
    await clear(foreign.kernel);
    expect(await driverAfterProbe(foreign.kernel, foreign.vf)).toBe("vfio-pci");
  });

  it("writes nothing to a VF that has no override", async () => {
    const { kernel, vf } = await killedWhileBinding();
    await kernel.host().sriov.setDriverOverride(vf, undefined);
    const before = kernel.writes.length;
    await clear(kernel);
    expect(kernel.writes.slice(before)).toEqual([]);
  });

  it("does not fail if the records cannot be read", async () => {
    const { kernel } = await killedWhileBinding();
    kernel.fault({ port: "records", method: "list" }, { code: "EIO" });
    await expect(clear(kernel)).resolves.toBeUndefined();
  });
});
