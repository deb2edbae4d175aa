// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProgramVersion } from "../ports/boot.ts";
import { createLinuxBootProgram } from "./boot/linux-boot.ts";

let root = "";
let home = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "boot-program-"));
  home = join(root, "var/lib/sriov");
  await writeFile(join(root, "node"), "runtime");
});
afterEach(() => rm(root, { recursive: true }));

function version(id: string): ProgramVersion {
  return {
    id,
    files: [
      { from: join(root, "node"), to: "node", executable: true },
      { text: `// ${id}\n`, to: "chunks/a.js" },
    ],
  };
}

describe("createLinuxBootProgram", () => {
  it("installs a version, which is executable and readable through the link", async () => {
    const program = createLinuxBootProgram(root);
    expect(await program.readVersion()).toBeUndefined();
    await program.install(version("1"));
    expect(await program.readVersion()).toBe("1");
    expect(await readdir(home)).toEqual(["switchyard", "switchyard-1"]);
    expect(await readFile(join(home, "switchyard/chunks/a.js"), "utf8")).toBe("// 1\n");
    expect((await stat(join(home, "switchyard/node"))).mode & 0o777).toBe(0o755);
  });

  it("replaces a version, and removes the old one and what a killed installer left", async () => {
    const program = createLinuxBootProgram(root);
    await program.install(version("1"));
    await mkdir(join(home, ".switchyard-0"));
    await writeFile(join(home, "sriov-network-config-daemon"), "another program");
    await symlink("switchyard-0", join(home, ".switchyard-link"));
    await program.install(version("2"));
    expect((await readdir(home)).sort()).toEqual(["sriov-network-config-daemon", "switchyard", "switchyard-2"]);
    expect(await readlink(join(home, "switchyard"))).toBe("switchyard-2");
  });

  it("does not copy a version again that is in use", async () => {
    const program = createLinuxBootProgram(root);
    await program.install(version("1"));
    const before = await stat(join(home, "switchyard-1"));
    await rm(join(root, "node"));
    await program.install(version("1"));
    expect((await stat(join(home, "switchyard-1"))).ino).toBe(before.ino);
  });

  it("keeps the version in use if the new one cannot be copied", async () => {
    const program = createLinuxBootProgram(root);
    await program.install(version("1"));
    const broken = { id: "2", files: [{ from: join(root, "missing"), to: "node" }] };
    await expect(program.install(broken)).rejects.toMatchObject({
      code: "ENOENT",
      message: "install version 2 on /var/lib/sriov: ENOENT",
    });
    expect(await program.readVersion()).toBe("1");
    expect((await readdir(home)).sort()).toEqual(["switchyard", "switchyard-1"]);
  });

  it("finds no version if the link leads nowhere, and installs one", async () => {
    await mkdir(home, { recursive: true });
    await symlink("switchyard-1", join(home, "switchyard"));
    const program = createLinuxBootProgram(root);
    expect(await program.readVersion()).toBeUndefined();
    await program.install(version("1"));
    expect(await program.readVersion()).toBe("1");
  });

  it("does not replace a directory that it did not create", async () => {
    await mkdir(join(home, "switchyard"), { recursive: true });
    await expect(createLinuxBootProgram(root).install(version("1"))).rejects.toMatchObject({ code: "EISDIR" });
  });

  it("removes all versions, but not the files of others", async () => {
    const program = createLinuxBootProgram(root);
    await program.removeAll();
    await program.install(version("1"));
    await writeFile(join(home, "pci.ids"), "");
    await program.removeAll();
    expect(await readdir(home)).toEqual(["pci.ids"]);
    await rm(join(home, "pci.ids"));
    await program.removeAll();
    expect(await readdir(join(root, "var/lib"))).toEqual([]);
  });

  it.each([{ id: "../x" }, { id: "" }, { id: "1", to: "../x" }, { id: "1", to: "/x" }, { id: "1", to: "a//b" }])(
    "refuses names that leave its directory: $id $to",
    async ({ id, to = "a" }) => {
      const install = createLinuxBootProgram(root).install({ id, files: [{ text: "", to }] });
      await expect(install).rejects.toMatchObject({ code: "EINVAL" });
    },
  );
});
