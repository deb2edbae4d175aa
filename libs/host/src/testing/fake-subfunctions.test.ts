// SPDX-License-Identifier: Apache-2.0
/** What tests can make the fake kernel do with subfunctions and XDP programs. Its rules are in the contract cases. */
import { describe, expect, it } from "@jest/globals";
import { mac } from "./contract/world.ts";
import { createFakeKernel } from "./fake-kernel.ts";
import { ice, mlx5, pci } from "./nic-models.ts";

const pf = pci("0000:3b:00.0");

async function kernelWithSubfunction(nic = mlx5(pf)) {
  const kernel = createFakeKernel({ nics: [nic], udevMs: "none" });
  const { devlink, subfunctions } = kernel.host();
  await devlink.setEswitchMode(pf, "switchdev");
  const portIndex = await subfunctions.create(pf, 5);
  return { kernel, portIndex, ...kernel.host() };
}

describe("the fake kernel", () => {
  it("removes subfunctions and their interfaces with the NIC, and when the driver of the PF is unbound", async () => {
    for (const end of ["unplug", "unbindByHand"] as const) {
      const { kernel, portIndex, subfunctions, links } = await kernelWithSubfunction();
      await subfunctions.setActive(pf, portIndex, true);
      const [{ netdev = "", representor = "" } = {}] = await subfunctions.list();
      kernel[end](pf);
      await expect(subfunctions.list()).resolves.toEqual([]);
      const names = (await links.listLinks()).map(({ name }) => name);
      expect(names).not.toContain(netdev);
      expect(names).not.toContain(representor);
    }
  });

  it("can have subfunctions whose driver fails, so that they have a device but no interface", async () => {
    const { kernel, portIndex, subfunctions } = await kernelWithSubfunction(ice(pf));
    kernel.failSubfunctionProbe(pf);
    await subfunctions.setActive(pf, portIndex, true);
    const [found] = await subfunctions.list();
    expect(found).toMatchObject({ state: "active", device: "ice.sf.2" });
    expect(found).not.toHaveProperty("netdev");
    expect(found).not.toHaveProperty("driver");
    await subfunctions.setActive(pf, portIndex, false);
    await expect(subfunctions.list()).resolves.toMatchObject([{ state: "inactive", operationalState: "detached" }]);
    await subfunctions.remove(pf, portIndex);
    await expect(subfunctions.list()).resolves.toEqual([]);
  });

  it("can have a driver that chooses the addresses of subfunctions", async () => {
    const [port] = mlx5(pf, { ports: 1 }).ports;
    const nic = { ports: port === undefined ? [] : [{ ...port, choosesSubfunctionMacs: true }] };
    const { portIndex, subfunctions } = await kernelWithSubfunction(nic);
    const [address] = (await subfunctions.list()).map(({ mac }) => mac);
    expect(address).toBeUndefined();
    const refused = subfunctions.setMac(pf, portIndex, mac("02:00:00:00:00:01"));
    await expect(refused).rejects.toMatchObject({ code: "EOPNOTSUPP" });
  });

  it("detaches the XDP program of Switchyard, and no other", async () => {
    const kernel = createFakeKernel({ nics: [mlx5(pf)], udevMs: "none" });
    const { xdp } = kernel.host();
    const foreign = { id: 7, name: "xdp_dispatcher", mode: "native", isOwn: false } as const;
    kernel.attachXdpProgram("eth0", foreign);
    kernel.attachXdpProgram("eth1", { ...foreign, name: "switchyard_xsk", isOwn: true });
    for (const name of ["eth0", "eth1"]) await xdp.detachOwnPrograms(name);
    await expect(xdp.readPrograms("eth0")).resolves.toEqual([foreign]);
    await expect(xdp.readPrograms("eth1")).resolves.toEqual([]);
  });
});
