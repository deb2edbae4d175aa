// SPDX-License-Identifier: Apache-2.0
/** The documentation site as `npm run release -- documentation` makes it, on top of an older version. */
import { afterAll, describe, expect, it } from "@jest/globals";
import { findWorkspaceRoot, outputOf } from "@switchyard/testing";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = findWorkspaceRoot();
const directory = mkdtempSync(join(tmpdir(), "switchyard-documentation-"));
const output = join(directory, "output");

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

function release(...flags: readonly string[]): Promise<string> {
  const main = join(root, "tools/release/src/main.ts");
  return outputOf(process.execPath, [main, "documentation", "--output", output, ...flags], { cwd: root });
}

/** Packs a site with the version v0.0. Returns the archive. */
async function olderSite(): Promise<string> {
  const site = join(directory, "older");
  mkdirSync(join(site, "v0.0"), { recursive: true });
  writeFileSync(join(site, "v0.0/index.html"), "the older version\n");
  writeFileSync(join(site, "versions.json"), '["v0.0"]\n');
  const archive = join(directory, "older.tar.gz");
  await outputOf("tar", ["-czf", archive, "-C", site, "."]);
  return archive;
}

describe("the documentation of a release", () => {
  it("has the pages of this version and of all before it", async () => {
    const printed = await release("--previous", await olderSite(), "--base", "/switchyard/");
    const [site = "", archive = ""] = printed.trim().split("\n");
    const versions = JSON.parse(readFileSync(join(site, "versions.json"), "utf8")) as readonly string[];
    expect(versions).toHaveLength(2);
    expect(versions.at(-1)).toBe("v0.0");
    const [newest = ""] = versions;
    expect(readFileSync(join(site, "v0.0/index.html"), "utf8")).toBe("the older version\n");
    expect(readFileSync(join(site, newest, "index.html"), "utf8")).toContain(`/switchyard/${newest}/`);
    const files = (await outputOf("tar", ["-tzf", archive])).split("\n");
    expect(files).toEqual(expect.arrayContaining(["./versions.json", "./v0.0/index.html", `./${newest}/index.html`]));
  }, 300_000);

  it("is not mixed with the output of an earlier run", async () => {
    await expect(release()).rejects.toThrow(/site must be empty; delete it first/);
  }, 60_000);

  it("is not made without an older version that was given", async () => {
    rmSync(output, { recursive: true });
    await expect(release("--previous", join(directory, "missing.tar.gz"))).rejects.toThrow(/missing\.tar\.gz/);
  }, 60_000);
});
