// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cachedDirectory, cachePath } from "./user-cache.ts";

let root: string;
let before: string | undefined;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "switchyard-cache-"));
  before = process.env["XDG_CACHE_HOME"];
  process.env["XDG_CACHE_HOME"] = root;
});

afterEach(async () => {
  if (before === undefined) delete process.env["XDG_CACHE_HOME"];
  else process.env["XDG_CACHE_HOME"] = before;
  await rm(root, { recursive: true });
});

describe("cachePath", () => {
  it("is below XDG_CACHE_HOME, or below ~/.cache if that is empty or not set", () => {
    expect(cachePath("cni", { XDG_CACHE_HOME: "/var/cache" })).toBe("/var/cache/switchyard/cni");
    expect(cachePath("cni", { XDG_CACHE_HOME: "" })).toMatch(/\/\.cache\/switchyard\/cni$/);
    expect(cachePath("cni", {})).toMatch(/\/\.cache\/switchyard\/cni$/);
  });
});

describe("cachedDirectory", () => {
  const name = join("programs", "v1");
  const make = (text: string) => (draft: string) => writeFile(join(draft, "program"), text);
  const read = (directory: string) => readFile(join(directory, "program"), "utf8");

  it("makes a directory once", async () => {
    const directory = await cachedDirectory(name, make("first"));
    expect(directory).toBe(join(root, "switchyard", name));
    expect(await read(await cachedDirectory(name, make("second")))).toBe("first");
  });

  it("has nothing of a directory that could not be made, and makes it again", async () => {
    const fails = async (draft: string) => {
      await make("half")(draft);
      throw new Error("no space");
    };
    await expect(cachedDirectory(name, fails)).rejects.toThrow("no space");
    expect(await readdir(dirname(cachePath(name)))).toEqual([]);
    expect(await read(await cachedDirectory(name, make("whole")))).toBe("whole");
  });

  it("returns what another process has made meanwhile", async () => {
    const directory = await cachedDirectory(name, async (draft) => {
      await make("mine")(draft);
      await cachedDirectory(name, make("other"));
    });
    expect(await read(directory)).toBe("other");
  });
});
