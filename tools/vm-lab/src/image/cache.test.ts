// SPDX-License-Identifier: Apache-2.0
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { cacheDirectory, contentKey, listParts, populate, withBuildLock } from "./cache.ts";
import { extraModulesKey } from "./extra-modules.ts";
import { imageKey } from "./image.ts";
import { findQemuWithVirtioVfs } from "./newer-qemu.ts";

let cache = "";
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), "cache-"));
});
afterEach(() => rm(cache, { recursive: true, force: true }));

const image = (version: string) => ({ part: "image" as const, key: "abc", version });

describe("populate", () => {
  it("creates a part that is found by its key and readable by other users", async () => {
    const part = await populate(cache, image("6.12.9+deb12-amd64"), (directory) =>
      writeFile(join(directory, "vmlinux"), ""),
    );
    expect(await listParts(cache, "image", "abc")).toEqual([part]);
    expect(await readdir(part.directory)).toEqual(["vmlinux"]);
    expect((await stat(part.directory)).mode & 0o777).toBe(0o755);
    expect(await listParts(cache, "image", "other")).toEqual([]);
    expect(await listParts(cache, "modules", "abc")).toEqual([]);
  });

  it("leaves no files of a failed build", async () => {
    const failing = populate(cache, image("6.12.9"), async (directory) => {
      await writeFile(join(directory, "half"), "");
      throw new Error("no space");
    });
    await expect(failing).rejects.toThrow("no space");
    expect(await readdir(cache)).toEqual([]);
  });
});

describe("listParts", () => {
  it("sorts kernel versions numerically, newest first", async () => {
    for (const version of ["6.12.9", "6.12.117", "6.12.20"]) await populate(cache, image(version), async () => {});
    const parts = await listParts(cache, "image", "abc");
    expect(parts.map(({ version }) => version)).toEqual(["6.12.117", "6.12.20", "6.12.9"]);
  });

  it("returns an empty list if there is no cache yet", async () => {
    expect(await listParts(join(cache, "absent"), "image", "abc")).toEqual([]);
  });
});

describe("withBuildLock", () => {
  it("removes the files of a killed build", async () => {
    await mkdir(join(cache, ".building-killed/tree"), { recursive: true });
    const seen = await withBuildLock(
      cache,
      () => undefined,
      () => readdir(cache),
    );
    expect(seen).toEqual(["lock"]);
  });
});

describe("contentKey", () => {
  it("depends on the content and the names of files and on the words only", async () => {
    const root = join(cache, "room");
    await mkdir(join(root, "image/sub"), { recursive: true });
    await writeFile(join(root, "image/a.sh"), "one");
    await writeFile(join(root, "image/sub/b.sh"), "two");
    await writeFile(join(root, "other.ts"), "three");
    const key = () => contentKey(root, ["image"], ["24.1.0"]);
    const first = await key();

    await writeFile(join(root, "other.ts"), "changed");
    expect(await key()).toBe(first);
    expect(await contentKey(root, ["image"], ["24.2.0"])).not.toBe(first);
    expect(await contentKey(root, ["image", "other.ts"], ["24.1.0"])).not.toBe(first);
    await writeFile(join(root, "image/sub/b.sh"), "changed");
    expect(await key()).not.toBe(first);
  });
});

describe("cacheDirectory", () => {
  it("honours XDG_CACHE_HOME", () => {
    expect(cacheDirectory({ XDG_CACHE_HOME: "/var/cache" })).toBe("/var/cache/switchyard/vm-lab");
    expect(cacheDirectory({ XDG_CACHE_HOME: "" })).toMatch(/\/\.cache\/switchyard\/vm-lab$/);
  });
});

describe("the keys of the parts", () => {
  it("are made of files that exist", async () => {
    for (const key of [await imageKey(), await extraModulesKey()]) expect(key).toMatch(/^[0-9a-f]{12}$/);
    expect(await findQemuWithVirtioVfs(cache)).toBeUndefined();
  });
});
