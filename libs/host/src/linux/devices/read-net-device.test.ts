// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readNetDevice } from "./read-net-device.ts";

const pci = "sys/devices/pci0000:00/0000:00:03.0";
let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "net-device-"));
  await mkdir(join(root, pci), { recursive: true });
  const files = { vendor: "0x1af4", device: "0x1041", numa_node: "1" };
  for (const [file, text] of Object.entries(files)) await writeFile(join(root, pci, file), `${text}\n`);
});
afterEach(() => rm(root, { recursive: true }));

/** Adds an interface whose device is below the PCI function. */
async function addInterface(name: string, device: string | undefined, driver?: string): Promise<void> {
  const netdev = join(root, "sys/class/net", name);
  await mkdir(netdev, { recursive: true });
  if (device === undefined) return;
  await mkdir(join(root, device), { recursive: true });
  if (driver !== undefined) await symlink(`/sys/bus/x/drivers/${driver}`, join(root, device, "driver"));
  await symlink(`../../../../${device}`, join(netdev, "device"));
}

describe("readNetDevice", () => {
  it.each([
    { does: "a PCI function", device: pci, driver: "igb" },
    { does: "a virtio device", device: `${pci}/virtio1`, driver: "virtio_net" },
    { does: "a subfunction", device: `${pci}/mlx5_core.sf.2`, driver: "mlx5_core.sf" },
  ])("reads $does", async ({ device, driver }) => {
    await addInterface("eth0", device, driver);
    expect(readNetDevice(root, "eth0")).toEqual({
      driver,
      pciAddress: "0000:00:03.0",
      vendor: "1af4",
      deviceId: "1041",
      numaNode: 1,
    });
  });

  it("has nothing of a virtual interface, and less of a device without driver, NUMA node or PCI function", async () => {
    await addInterface("veth0", undefined);
    expect(readNetDevice(root, "veth0")).toEqual({});
    await writeFile(join(root, pci, "numa_node"), "-1\n");
    await addInterface("eth0", pci);
    const expected = { pciAddress: "0000:00:03.0", vendor: "1af4", deviceId: "1041" };
    expect(readNetDevice(root, "eth0")).toEqual(expected);
    await addInterface("vmbus0", "sys/devices/vmbus/one", "hv_netvsc");
    expect(readNetDevice(root, "vmbus0")).toEqual({ driver: "hv_netvsc" });
  });

  it("finds no interface of another name, and accepts no path", () => {
    for (const name of ["eth9", "", ".", "..", "../net", "a\0b"]) expect(readNetDevice(root, name)).toBeUndefined();
  });
});
