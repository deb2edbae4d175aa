// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { createLinuxConfigDrive, IsoError, readIsoFile } from "./linux-config-drive.ts";

const image = gunzipSync(readFileSync(new URL("../testdata/config-drive.iso.gz", import.meta.url)));
const path = "openstack/2018-08-27/meta_data.json";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "config-drive-"));
  await mkdir(join(root, "dev/disk/by-label"), { recursive: true });
});

afterEach(() => rm(root, { recursive: true }));

describe("createLinuxConfigDrive", () => {
  it("reads files of an image as OpenStack makes it", async () => {
    await writeFile(join(root, "dev/disk/by-label/config-2"), image);
    const drive = createLinuxConfigDrive(root);
    expect(JSON.parse((await drive.readText(path)) ?? "")).toMatchObject({ name: "worker-1" });
    expect(await drive.readText("openstack/2018-08-27/network_data.json")).toContain("fa:16:3e:00:00:01");
    for (const absent of [
      "openstack/none.json",
      "none/meta_data.json",
      "openstack",
      `${path}/x`,
      "../etc/passwd",
      "",
    ]) {
      expect([absent, await drive.readText(absent)]).toEqual([absent, undefined]);
    }
  });

  it("finds nothing on a machine without a config drive", async () => {
    expect(await createLinuxConfigDrive(root).readText(path)).toBeUndefined();
  });

  it("refuses another file system", async () => {
    await writeFile(join(root, "dev/disk/by-label/config-2"), Buffer.alloc(64_000));
    await expect(createLinuxConfigDrive(root).readText(path)).rejects.toMatchObject({
      code: "EBADMSG",
      message: `read ${path} on the config drive: EBADMSG (no ISO 9660 file system)`,
    });
  });

  it("reads a damaged image without hanging, and fails with IsoError only", async () => {
    const damage = fc.array(fc.tuple(fc.integer({ min: 32_768, max: 80_000 }), fc.nat(255)), { maxLength: 40 });
    const holds = fc.asyncProperty(damage, fc.nat(image.length), async (changes, length) => {
      const damaged = Buffer.from(image.subarray(0, length));
      for (const [offset, value] of changes) if (offset < length) damaged[offset] = value;
      try {
        await readIsoFile((offset, count) => Promise.resolve(damaged.subarray(offset, offset + count)), path);
      } catch (error) {
        expect(error).toBeInstanceOf(IsoError);
      }
    });
    await fc.assert(holds);
  });
});
