// SPDX-License-Identifier: Apache-2.0
import { outputOf } from "@switchyard/testing";
import { afterAll, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setVersion } from "./set-version.ts";

const root = mkdtempSync(join(tmpdir(), "switchyard-version-"));
const read = (file: string) => readFileSync(join(root, file), "utf8");
const manifest = { name: "switchyard", version: "0.1.0", dependencies: { other: { version: "0.1.0" } } };
const lock = {
  name: "switchyard",
  version: "0.1.0",
  packages: { "": manifest, "node_modules/a": { version: "0.1.0" } },
};
const date = "2026-11-22";

beforeEach(async () => {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(join(root, "charts/switchyard"), { recursive: true });
  writeFileSync(join(root, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  writeFileSync(join(root, "package-lock.json"), `${JSON.stringify(lock, undefined, 2)}\n`);
  writeFileSync(join(root, "charts/switchyard/Chart.yaml"), 'name: switchyard\nversion: 0.1.0\nappVersion: "0.1.0"\n');
  writeFileSync(join(root, "CHANGELOG.md"), "# Changelog\n\n## Unreleased\n\n- New.\n");
  await outputOf("git", ["init", "--quiet", "--initial-branch=main"], { cwd: root });
});

afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

describe("setVersion", () => {
  it("changes the version of the product, and of nothing else", async () => {
    await setVersion(root, { version: "0.2.0-rc.1", date });
    expect(JSON.parse(read("package.json"))).toEqual({ ...manifest, version: "0.2.0-rc.1" });
    expect(JSON.parse(read("package-lock.json"))).toEqual({
      ...lock,
      version: "0.2.0-rc.1",
      packages: { ...lock.packages, "": { ...manifest, version: "0.2.0-rc.1" } },
    });
    expect(read("charts/switchyard/Chart.yaml")).toBe(
      'name: switchyard\nversion: 0.2.0-rc.1\nappVersion: "0.2.0-rc.1"\n',
    );
    expect(read("CHANGELOG.md")).toContain("## Unreleased\n\n## 0.2.0-rc.1 - 2026-11-22\n\n- New.\n");
  });

  it("refuses an older version", async () => {
    await expect(setVersion(root, { version: "0.0.9", date })).rejects.toThrow("older than 0.1.0");
  });

  it("refuses a version that was released", async () => {
    const author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    await outputOf("git", [...author, "commit", "--quiet", "--allow-empty", "-m", "x"], { cwd: root });
    await outputOf("git", ["tag", "v0.2.0"], { cwd: root });
    await expect(setVersion(root, { version: "0.2.0", date })).rejects.toThrow("the tag v0.2.0 exists");
  });

  it("writes nothing if one of the files is not as expected", async () => {
    writeFileSync(join(root, "charts/switchyard/Chart.yaml"), "name: switchyard\n");
    await expect(setVersion(root, { version: "0.2.0", date })).rejects.toThrow("Chart.yaml: no line matches");
    expect(JSON.parse(read("package.json"))).toEqual(manifest);
  });
});
