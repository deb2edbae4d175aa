// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { siteVersion, writeVersions } from "./publish-site.ts";

const folder = () => mkdtempDisposable(join(tmpdir(), "switchyard-docs-"));

describe("writeVersions", () => {
  it("lists the newest version first, and leads to it", async () => {
    await using directory = await folder();
    await writeVersions(directory.path, "v0.9");
    await writeVersions(directory.path, "v0.10");
    await writeVersions(directory.path, "v0.9");
    expect(await readFile(join(directory.path, "versions.json"), "utf8")).toBe('["v0.10","v0.9"]\n');
    expect(await readFile(join(directory.path, "index.html"), "utf8")).toContain("url=v0.10/");
  });

  it("refuses a file that is no list of versions", async () => {
    await using directory = await folder();
    await writeFile(join(directory.path, "versions.json"), '{"v0.1":true}');
    await expect(writeVersions(directory.path, "v0.2")).rejects.toThrow("is not a list of versions");
  });
});

describe("siteVersion", () => {
  it("has no patch version", () => {
    expect(siteVersion("1.20.3")).toBe("v1.20");
    expect(() => siteVersion("1")).toThrow('version "1" is not like 1.2.3');
  });
});
