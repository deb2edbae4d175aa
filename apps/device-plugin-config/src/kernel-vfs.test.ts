// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readKernelVfs } from "./kernel-vfs.ts";

let root: string;
const address = "0000:01:10.0";

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "switchyard-sysfs-"));
});
afterEach(() => rm(root, { recursive: true }));

const device = () => join(root, "sys/bus/pci/devices", address);

async function make(driver?: string): Promise<void> {
  await mkdir(device(), { recursive: true });
  if (driver !== undefined) await symlink(`../../../../bus/pci/drivers/${driver}`, join(device(), "driver"));
}

async function look() {
  return (await readKernelVfs(root, [address])).get(address);
}

// Numbers of files that are gone come again here, as they do not in sysfs: nothing goes before the new one is there.
async function keep<T>(path: string, make: () => Promise<T>): Promise<T> {
  await rename(path, join(root, "kept"));
  return make();
}

describe("readKernelVfs", () => {
  it("leaves out what is not there", async () => {
    expect(await look()).toBeUndefined();
  });

  it.each(["..", "../../../../etc", "", ".", "0000:01:10.0/driver", "x".repeat(10_000)])(
    "looks nowhere else for what is no address, case %#",
    async (text) => {
      await make("igbvf");
      expect((await readKernelVfs(root, [text])).size).toBe(0);
    },
  );

  it("tells the driver, if any", async () => {
    await make();
    expect((await look())?.driver).toBeUndefined();
    await symlink("../../../../bus/pci/drivers/igbvf", join(device(), "driver"));
    expect((await look())?.driver).toBe("igbvf");
  });

  it("tells a VF that was made anew or bound anew from the one before, and only these", async () => {
    await make("igbvf");
    const first = await look();
    expect(await look()).toEqual(first);
    await keep(device(), () => make("igbvf"));
    const second = await look();
    expect(second?.driver).toBe("igbvf");
    expect(second?.incarnation).not.toBe(first?.incarnation);
    await rm(join(root, "kept"), { recursive: true });
    await keep(join(device(), "driver"), () => symlink("../drivers/igbvf", join(device(), "driver")));
    expect((await look())?.incarnation).not.toBe(second?.incarnation);
  });
});
