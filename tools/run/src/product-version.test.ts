// SPDX-License-Identifier: Apache-2.0
/** The version of the product stands in package.json at the root. Everything else that has it, has the same. */
import { describe, expect, it } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(__dirname, "../../..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const versionIn = (file: string): unknown => (JSON.parse(read(file)) as { readonly version?: unknown }).version;
const version = versionIn("package.json");
const apps = readdirSync(join(root, "apps")).filter((app) => existsSync(join(root, "apps", app, "src/main.ts")));

describe("the version of the product", () => {
  it.each(globSync(["{apps,libs,tools}/*/package.json", "e2e/package.json"], { cwd: root }))("is in %s", (file) => {
    expect(versionIn(file)).toBe(version);
  });

  it("is in package-lock.json, for the root and each package of the workspace", () => {
    const { packages } = JSON.parse(read("package-lock.json")) as {
      readonly packages: Readonly<Record<string, { readonly version?: string }>>;
    };
    const own = Object.entries(packages).filter(([path]) => !path.startsWith("node_modules/"));
    const others = own.filter(([, entry]) => entry.version !== version).map(([path]) => path);
    expect([own.length > 10, others]).toEqual([true, []]);
  });

  it.each(["version", "appVersion"])("is the %s of the chart", (field) => {
    expect(new RegExp(`^${field}: "?([^"\\n]+)"?$`, "m").exec(read("charts/switchyard/Chart.yaml"))?.[1]).toBe(version);
  });

  it.each(apps)("is what %s prints with --version", (app) => {
    const main = join(root, "apps", app, "src/main.ts");
    const args = ["--disable-warning=ExperimentalWarning", main, app === "cli" ? "version" : "--version"];
    expect(execFileSync(process.execPath, args, { encoding: "utf8" }).trim().split(" ").at(-1)).toBe(version);
  });

  // tools/generate checks the generated files, among them the annotation of the CRDs.
});
