// SPDX-License-Identifier: Apache-2.0
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { functionOfVirtio } from "./system/read-pci-functions.ts";

let root: string;

/** Lays out a virtio device as sysfs does (6.12). */
async function put(name: string, parent: string, driver?: string): Promise<void> {
  const device = join("devices/pci0000:00", parent, name);
  await mkdir(join(root, "sys", device), { recursive: true });
  await mkdir(join(root, "sys/bus/virtio/devices"), { recursive: true });
  await symlink(`../../../${device}`, join(root, "sys/bus/virtio/devices", name));
  if (driver !== undefined) await symlink(`../../../bus/pci/drivers/${driver}`, join(root, "sys", device, "../driver"));
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "virtio-"));
  await put("virtio4", "0000:02:00.0", "virtio-pci");
  await put("virtio5", "0000:02:00.1", "vp-vdpa");
  await put("virtio6", "0000:02:00.2");
  await put("virtio7", "virtio-mmio.0", "virtio-pci");
});
afterAll(() => rm(root, { recursive: true }));

describe("functionOfVirtio", () => {
  it.each([
    { what: "of a virtio NIC", name: "virtio4", pciFunction: "0000:02:00.0" },
    { what: "of a vDPA device", name: "virtio5", pciFunction: undefined },
    { what: "of a function without a driver", name: "virtio6", pciFunction: undefined },
    { what: "that is on no PCI function", name: "virtio7", pciFunction: undefined },
    { what: "that was removed", name: "virtio8", pciFunction: undefined },
    { what: "whose name leads elsewhere", name: "../../pci/devices/0000:02:00.0", pciFunction: undefined },
  ])("returns the function of a virtio device, if it is its interface: one $what", ({ name, pciFunction }) => {
    expect(functionOfVirtio(root, name)).toBe(pciFunction);
  });
});
