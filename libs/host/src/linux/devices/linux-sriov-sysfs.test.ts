// SPDX-License-Identifier: Apache-2.0
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLinuxSriovSysfs } from "./linux-sriov-sysfs.ts";
import type { SriovSysfs } from "../../ports/sriov-sysfs.ts";
import { pci } from "../../testing/nic-models.ts";
import { layOutCapture } from "../../testing/sysfs-capture.ts";

const pf = pci("0000:01:00.0");
const vf3 = pci("0000:01:10.6");
const absent = pci("0000:02:00.0");
let root: string;
let sriov: SriovSysfs;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "sysfs-"));
  await layOutCapture(join(__dirname, "../../../testdata/igb-sysfs.txt.gz"), root);
  await writeFile(join(root, "sys/bus/pci/drivers_probe"), "");
  for (const driver of ["igbvf", "vfio-pci"])
    for (const file of ["bind", "unbind"]) await writeFile(join(root, "sys/bus/pci/drivers", driver, file), "");
  sriov = createLinuxSriovSysfs(root);
});

afterAll(() => rm(root, { recursive: true }));

function read(path: string): Promise<string> {
  return readFile(join(root, "sys/bus/pci", path), "utf8");
}

describe("a number of VFs that no kernel writes", () => {
  it.each([
    { file: "sriov_numvfs", text: "4294967296" },
    { file: "sriov_numvfs", text: "100000000" },
    { file: "sriov_numvfs", text: "-1" },
    { file: "sriov_numvfs", text: "0x10" },
    { file: "sriov_numvfs", text: "" },
    { file: "sriov_totalvfs", text: "65536" },
  ])("is an error: $file $text", async ({ file, text }) => {
    const path = join(root, "sys/bus/pci/devices", pf, file);
    const before = await readFile(path, "utf8");
    await writeFile(path, `${text}\n`);
    try {
      await expect(sriov.readPf(pf)).rejects.toMatchObject({ name: "HostError", code: "EPROTO" });
    } finally {
      await writeFile(path, before);
    }
  });
});

describe("the IOMMU group of a VF for vfio-pci", () => {
  it("has the other devices of the group with their drivers, without bridges", async () => {
    const device = join(root, "sys/bus/pci/devices", vf3);
    const group = join(root, "sys/kernel/iommu_groups/75/devices");
    await mkdir(group, { recursive: true });
    for (const link of ["driver", "iommu_group"]) await rename(join(device, link), join(root, `${link}-before`));
    try {
      await symlink("../../../bus/pci/drivers/vfio-pci", join(device, "driver"));
      await symlink(join(root, "sys/kernel/iommu_groups/75"), join(device, "iommu_group"));
      await symlink(device, join(group, vf3));
      for (const [name, type, driver] of [
        ["0000:00:01.0", "0x060400", "pcieport"],
        ["0000:02:00.0", "0x020000", "tg3"],
        ["0000:02:00.1", "0x020000", undefined],
      ] as const) {
        await mkdir(join(group, name));
        await writeFile(join(group, name, "class"), `${type}\n`);
        if (driver !== undefined) await symlink(`../../../bus/pci/drivers/${driver}`, join(group, name, "driver"));
      }
      const vf = (await sriov.readPf(pf))?.sriov?.vfs.find(({ pciAddress }) => pciAddress === vf3);
      expect(vf?.iommuGroupPeers).toEqual(["0000:02:00.0 (tg3)", "0000:02:00.1 (no driver)"]);
    } finally {
      for (const link of ["driver", "iommu_group"]) {
        await rm(join(device, link));
        await rename(join(root, `${link}-before`), join(device, link));
      }
    }
    const others = (await sriov.readPf(pf))?.sriov?.vfs ?? [];
    expect(others.every(({ iommuGroupPeers }) => iommuGroupPeers === undefined)).toBe(true);
  });
});

describe("reading a captured igb", () => {
  const ids = { vendor: "8086", deviceId: "10ca" };
  const bound = { ...ids, driver: "igbvf" };

  it("lists the PFs with all fields of the port", async () => {
    expect(await sriov.listPfs()).toEqual([
      {
        pciAddress: pf,
        vendor: "8086",
        deviceId: "10c9",
        driver: "igb",
        netdevs: ["enp1s0f0"],
        pcieRoot: "pci0000:00",
        sriov: {
          totalVfs: 7,
          numVfs: 4,
          vfs: [
            { vfId: 0, pciAddress: "0000:01:10.0", ...bound, netdevs: ["enp1s0f0v0"] },
            { vfId: 1, pciAddress: "0000:01:10.2", ...bound, netdevs: ["enp1s0f0v1"] },
            { vfId: 2, pciAddress: "0000:01:10.4", ...bound, netdevs: ["enp1s0f0v2"] },
            { vfId: 3, pciAddress: vf3, ...ids, driver: "vfio-pci", netdevs: [] },
          ],
        },
      },
      {
        pciAddress: "0000:01:00.1",
        vendor: "8086",
        deviceId: "10c9",
        driver: "igb",
        netdevs: ["enp1s0f1"],
        pcieRoot: "pci0000:00",
        sriov: {
          totalVfs: 7,
          numVfs: 2,
          vfs: [
            { vfId: 0, pciAddress: "0000:01:10.1", ...bound, netdevs: ["enp1s0f1v0"] },
            { vfId: 1, pciAddress: "0000:01:10.3", ...bound, netdevs: ["enp1s0f1v1"] },
          ],
        },
      },
    ]);
  });

  it("returns no PF for a VF, for an unused address, and for another kind of device", async () => {
    expect(await sriov.readPf(vf3)).toBeUndefined();
    expect(await sriov.readPf(absent)).toBeUndefined();
    expect(await sriov.readPf(pci("0000:00:1f.2"))).toBeUndefined(); // the SATA controller
  });
});

describe("reading a virtio NIC", () => {
  it("finds interfaces below the virtio device, and none of a VF with a vDPA device", async () => {
    const tree = await mkdtemp(join(tmpdir(), "sysfs-"));
    const device = (address: string) => join(tree, "sys/bus/pci/devices", address);
    const put = async (address: string, driver: string, netdev: string) => {
      await mkdir(join(device(address), netdev), { recursive: true });
      const files = { class: "0x020000", vendor: "0x1af4", device: "0x1041" };
      for (const [name, text] of Object.entries(files)) await writeFile(join(device(address), name), `${text}\n`);
      await symlink(`../../../bus/pci/drivers/${driver}`, join(device(address), "driver"));
    };
    await put("0000:02:00.0", "virtio-pci", "virtio4/net/enp2s0");
    await put("0000:02:00.1", "vp-vdpa", "virtio5/net/enp2s0v0"); // the interface of the vDPA device
    await put("0000:02:00.2", "virtio-pci", "virtio6/net/enp2s0v1");
    for (const [name, text] of [
      ["sriov_totalvfs", "2"],
      ["sriov_numvfs", "2"],
    ] as const) {
      await writeFile(join(device("0000:02:00.0"), name), text);
    }
    for (const vf of [0, 1]) await symlink(`../0000:02:00.${vf + 1}`, join(device("0000:02:00.0"), `virtfn${vf}`));
    const facts = await createLinuxSriovSysfs(tree).readPf(pci("0000:02:00.0"));
    expect(facts?.netdevs).toEqual(["enp2s0"]);
    expect(facts?.sriov?.vfs.map(({ driver, netdevs }) => ({ driver, netdevs }))).toEqual([
      { driver: "vp-vdpa", netdevs: [] },
      { driver: "virtio-pci", netdevs: ["enp2s0v1"] },
    ]);
    await rm(tree, { recursive: true });
  });
});

describe("reading while devices change", () => {
  it("lists VFs by ascending number, and leaves out removed VFs", async () => {
    const tree = await mkdtemp(join(tmpdir(), "sysfs-"));
    const device = (address: string) => join(tree, "sys/bus/pci/devices", address);
    const attributes = {
      class: "0x020000",
      vendor: "0x8086",
      device: "0x1592",
      sriov_totalvfs: "128",
      sriov_numvfs: "12",
    };
    await mkdir(device(pf), { recursive: true });
    for (const [name, text] of Object.entries(attributes)) await writeFile(join(device(pf), name), `${text}\n`);
    for (let vfId = 0; vfId < 12; vfId++) {
      const address = `0000:01:11.${vfId % 8}`;
      await symlink(`../${vfId < 8 ? address : address.replace("11", "12")}`, join(device(pf), `virtfn${vfId}`));
    }
    for (const vf of ["0000:01:11.1", "0000:01:11.2", "0000:01:12.2"]) {
      await mkdir(device(vf));
      await writeFile(join(device(vf), "device"), "0x1889\n");
    }
    const read = await createLinuxSriovSysfs(tree).readPf(pf);
    expect(read?.driver).toBeUndefined();
    expect(read?.sriov?.vfs.map(({ vfId, deviceId, driver }) => [vfId, deviceId, driver])).toEqual([
      [1, "1889", undefined],
      [2, "1889", undefined],
      [10, "1889", undefined],
    ]);
    await rm(tree, { recursive: true });
  });

  it("rejects if the root has no PCI bus", async () => {
    await expect(createLinuxSriovSysfs(join(root, "nowhere")).listPfs()).rejects.toMatchObject({
      name: "HostError",
      code: "ENOENT",
      operation: { action: "list", target: "PCI functions" },
    });
  });
});

describe("readBinding", () => {
  const address = pci("0000:03:10.0");
  const device = () => join(root, "sys/bus/pci/devices", address);
  const readBinding = () => sriov.readBinding(address);

  async function create(driver?: string): Promise<void> {
    await mkdir(device(), { recursive: true });
    if (driver !== undefined) await symlink(`../../../../bus/pci/drivers/${driver}`, join(device(), "driver"));
  }

  // A temporary file system reuses inode numbers, and sysfs does not. Therefore the old file is kept while the new one is created.
  async function replace(path: string, createNew: () => Promise<void>): Promise<void> {
    await rename(path, join(root, "kept"));
    await createNew();
    await rm(join(root, "kept"), { recursive: true });
  }

  afterEach(() => rm(device(), { recursive: true, force: true }));

  it("returns undefined for a function that does not exist", async () => {
    expect(await readBinding()).toBeUndefined();
  });

  it("returns the driver, if one is bound", async () => {
    await create();
    expect((await readBinding())?.driver).toBeUndefined();
    await symlink("../../../../bus/pci/drivers/igbvf", join(device(), "driver"));
    expect((await readBinding())?.driver).toBe("igbvf");
  });

  it.each([
    ["(null)\n", undefined],
    ["\n", undefined],
    ["vfio-pci\n", "vfio-pci"],
  ])("returns the driver override: %j", async (text, driverOverride) => {
    await create();
    await writeFile(join(device(), "driver_override"), text);
    expect((await readBinding())?.driverOverride).toBe(driverOverride);
  });

  it("returns another incarnation for a function that was created or bound again", async () => {
    await create("igbvf");
    const first = await readBinding();
    expect(await readBinding()).toEqual(first);
    await replace(device(), () => create("igbvf"));
    const second = await readBinding();
    expect(second?.driver).toBe("igbvf");
    expect(second?.incarnation).not.toBe(first?.incarnation);
    await replace(join(device(), "driver"), () => symlink("../drivers/igbvf", join(device(), "driver")));
    expect((await readBinding())?.incarnation).not.toBe(second?.incarnation);
  });
});

describe("writing", () => {
  it("writes the texts that the kernel expects to its files", async () => {
    await sriov.setNumVfs(pf, 0);
    await sriov.setDriverOverride(vf3, "igbvf");
    await sriov.bindDriver(vf3, "igbvf");
    await sriov.unbindDriver(vf3);
    await sriov.probeDrivers(vf3);
    expect(await read(`devices/${pf}/sriov_numvfs`)).toMatch(/^0/);
    expect(await read(`devices/${vf3}/driver_override`)).toMatch(/^igbvf/);
    expect(await read("drivers/igbvf/bind")).toBe(vf3);
    expect(await read("drivers/vfio-pci/unbind")).toBe(vf3); // the target of its link `driver`
    expect(await read("drivers_probe")).toBe(vf3);
    await sriov.setDriverOverride(vf3, undefined);
    expect(await read(`devices/${vf3}/driver_override`)).toMatch(/^\n/);
  });

  it.each(["../../../devices", "a b", "\n", "", "x".repeat(1_000_000)])(
    "writes nothing for an invalid driver name, case %#",
    async (driver) => {
      const before = await read(`devices/${vf3}/driver_override`);
      for (const refused of [sriov.bindDriver(vf3, driver), sriov.setDriverOverride(vf3, driver)]) {
        await expect(refused).rejects.toMatchObject({ name: "HostError", code: "EINVAL" });
      }
      expect(await read(`devices/${vf3}/driver_override`)).toBe(before);
    },
  );

  it("creates no files, and rejects with ENOENT", async () => {
    const before = await readdir(join(root, "sys/bus/pci/devices"));
    await expect(sriov.setNumVfs(absent, 4)).rejects.toMatchObject({
      message: "set sriov_numvfs 4 on 0000:02:00.0: ENOENT",
    });
    await expect(sriov.setNumVfs(vf3, 4)).rejects.toMatchObject({ code: "ENOENT" });
    await expect(sriov.bindDriver(vf3, "uio_pci_generic")).rejects.toMatchObject({ code: "ENOENT" });
    expect(await readdir(join(root, "sys/bus/pci/devices"))).toEqual(before);
  });
});
