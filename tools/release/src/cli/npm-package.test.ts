// SPDX-License-Identifier: Apache-2.0
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { findWorkspaceRoot, outputOf } from "@switchyard/testing";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readVersion } from "../version/product-version.ts";
import { packCli } from "./npm-package.ts";

const root = findWorkspaceRoot();
const directory = mkdtempSync(join(tmpdir(), "switchyard-cli-"));
const project = join(directory, "project");
const installed = join(project, "node_modules/switchyard");
/** Nothing can be downloaded: npm is offline, and its cache is empty. */
const offline = { npm_config_offline: "true", npm_config_cache: join(directory, "cache") };

function npx(...args: readonly string[]): Promise<string> {
  return outputOf("npx", ["--no-install", "switchyard", ...args], { cwd: project, env: offline });
}

beforeAll(async () => {
  const archive = await packCli(root, directory);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "private": true }\n');
  await outputOf("npm", ["install", "--no-audit", "--no-fund", archive], { cwd: project, env: offline });
}, 300_000);

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe("the archive for npm", () => {
  it("is one program with its licences, without dependencies", () => {
    expect(readdirSync(installed).sort()).toEqual(
      ["LICENSE", "README.md", "THIRD_PARTY_LICENSES", "package.json", "switchyard.mjs"].sort(),
    );
    expect(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["switchyard"]);
    expect(JSON.parse(readFileSync(join(installed, "package.json"), "utf8"))).not.toHaveProperty("dependencies");
  });

  it("is private, because the name belongs to another project in the registry", () => {
    expect(JSON.parse(readFileSync(join(installed, "package.json"), "utf8"))).toMatchObject({ private: true });
  });

  it("has the licence of each package in the bundle", () => {
    const licences = readFileSync(join(installed, "THIRD_PARTY_LICENSES"), "utf8");
    for (const name of ["yaml", "@kubernetes/client-node", "undici", "@marcbachmann/cel-js"]) {
      expect(licences).toMatch(new RegExp(`^${name} \\d+\\.`, "m"));
    }
  });

  it("has the version of the product", async () => {
    expect(await npx("version")).toBe(`switchyard ${await readVersion(root)}\n`);
  }, 60_000);

  it("validates manifests, offline", async () => {
    const example = join(root, "libs/api/examples/sriovnetworknodepolicies.yaml");
    expect(await npx("validate", "-f", example)).toContain("1 allowed, 0 rejected");
    const bad = join(directory, "bad.yaml");
    writeFileSync(bad, readFileSync(example, "utf8").replace(/numVfs: \d+/, "numVfs: -1"));
    await expect(npx("validate", "-f", bad)).rejects.toThrow("spec.numVfs");
  }, 60_000);
});
