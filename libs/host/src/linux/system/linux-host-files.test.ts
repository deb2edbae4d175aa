// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostFiles } from "../../ports/host-files.ts";
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
