// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostFiles } from "../../ports/host-files.ts";
import { HostError } from "../../calls/host-error.ts";
import { pci } from "../../testing/nic-models.ts";
import { createLinuxPfRecords } from "../records/linux-records.ts";
import { namingSetting } from "./host-paths.ts";
import { createLinuxHostFiles } from "./linux-host-files.ts";
import { fileCases, type FileWorld } from "../../testing/contract/file-cases.ts";

let root: string;
let files: HostFiles;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "files-"));
  files = createLinuxHostFiles(root);
});

afterEach(() => rm(root, { recursive: true }));

describe("createLinuxHostFiles", () => {
  it.each(fileCases)("keeps the contract: $name", async ({ run }) => {
    const world: FileWorld = {
      host: { files },
      async writeFile(path: string, text: string) {
        await mkdir(join(root, path, ".."), { recursive: true });
        await writeFile(join(root, path), text);
      },
      linkFile: (path: string, target: string) => symlink(target, join(root, path)),
    };
    await run(world);
  });

  it("places the state and udev rules elsewhere on a host with a read-only /etc, and all other files as usual", async () => {
    const placed = createLinuxHostFiles(root, "/var/lib/sriov-operator");
    await placed.writeText("/etc/sriov-operator/reboot.json", "{}");
    await placed.writeText("/etc/udev/rules.d/20-x.rules", "#");
    await placed.writeText("/etc/modprobe.d/x.conf", "#");
    expect(await readFile(join(root, "var/lib/sriov-operator/reboot.json"), "utf8")).toBe("{}");
    expect(await readFile(join(root, "run/udev/rules.d/20-x.rules"), "utf8")).toBe("#");
    expect(await readFile(join(root, "etc/modprobe.d/x.conf"), "utf8")).toBe("#");
    expect(await placed.listNames("/etc/udev/rules.d")).toEqual(["20-x.rules"]);
    expect(await placed.readText("/etc/sriov-operator/reboot.json")).toBe("{}");
    await placed.remove("/etc/sriov-operator/reboot.json");
    expect(await placed.readKind("/etc/sriov-operator/reboot.json")).toBeUndefined();
    const records = createLinuxPfRecords(root, {
      onUnreadable: () => undefined,
      stateDirectory: "/var/lib/sriov-operator",
    });
    const pf = pci("0000:01:00.0");
    await records.save(pf, { spec: { pciAddress: pf } });
    expect([...(await records.list()).keys()]).toEqual([pf]);
    expect(await readFile(join(root, "var/lib/sriov-operator/pci", pf), "utf8")).toContain(pf);
  });

  it.each(["var/lib/x", "/var/../etc/x", "/var/lib/x/", "/var//lib", ""])("has no state directory %j", (directory) => {
    expect(() => createLinuxHostFiles(root, directory)).toThrow(TypeError);
  });

  it("names the path and the setting if the file system is read-only", () => {
    const at = { action: "save record", target: "0000:01:00.0" };
    const path = "/etc/sriov-operator/pci/0000:01:00.0";
    const advice = "set --state-directory (STATE_DIRECTORY) to a directory of the host that can be written";
    expect(namingSetting(new HostError(at, "EROFS", { words: path }), path)).toMatchObject({
      message: `save record on 0000:01:00.0: EROFS (${path}; ${advice})`,
    });
    const full = new HostError(at, "ENOSPC", { words: path });
    expect(namingSetting(full, path)).toBe(full);
  });

  it("does not block on a FIFO", async () => {
    execFileSync("mkfifo", [join(root, "fifo")]);
    expect([await files.readText("/fifo"), await files.readKind("/fifo")]).toEqual([undefined, "other"]);
  });

  it("removes nothing outside of its root through a link", async () => {
    const outside = await mkdtemp(join(tmpdir(), "outside-"));
    await writeFile(join(outside, "precious"), "x");
    await symlink(join(outside, "precious"), join(root, "link"));
    await files.remove("/link");
    expect(await readFile(join(outside, "precious"), "utf8")).toBe("x");
    await rm(outside, { recursive: true });
  });

  it("names the operation, its target and the answer in an error", async () => {
    await mkdir(join(root, "directory"));
    await expect(files.remove("/directory")).rejects.toMatchObject({
      name: "HostError",
      code: "EISDIR",
      message: "remove on /directory: EISDIR",
    });
  });
});
