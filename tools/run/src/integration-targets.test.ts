// SPDX-License-Identifier: Apache-2.0
/** tools/nx/integration-targets.js gives each folder of e2e/integration a target that depends on what its tests use. */
import { describe, expect, it } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../../..");

interface Folder {
  readonly name: string;
  /** Paths, and last the projects. */
  readonly inputs: readonly (string | { readonly projects: readonly string[] })[];
}

/** Runs in a process of its own, because Jest compiles only TypeScript. */
function foldersOf(): readonly Folder[] {
  const script = `
    import { readFileSync } from "node:fs";
    import { integrationInputs } from "./tools/nx/integration-targets.js";
    const roots = ["apps/operator", "apps/config-daemon", "libs/kube", "libs/api", "libs/policy"];
    const manifests = Object.fromEntries(roots.map((root) => [root, JSON.parse(readFileSync(root + "/package.json"))]));
    console.log(JSON.stringify(integrationInputs("e2e", process.cwd(), manifests)));
  `;
  const args = ["--input-type=module", "--eval", script];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" })) as readonly Folder[];
}

describe("the test targets of e2e", () => {
  const folders = foldersOf();

  it("cover every integration test", () => {
    const names = folders.map(({ name }) => name);
    const tests = readdirSync(join(root, "e2e/integration"), { recursive: true, encoding: "utf8" });
    const uncovered = tests.filter((path) => path.endsWith(".test.ts") && !names.includes(path.split("/")[0] ?? ""));
    expect(uncovered).toEqual([]);
  });

  it("depend on imported files, on projects that tests import or start, and on their dependencies", () => {
    const drain = folders.find(({ name }) => name === "drain");
    expect(drain?.inputs).toContain("{workspaceRoot}/e2e/integration/drain/**/*");
    expect(drain?.inputs).toContain("{workspaceRoot}/e2e/src/identity-objects.ts");
    expect(drain?.inputs.at(-1)).toMatchObject({
      projects: expect.arrayContaining(["@switchyard/operator", "@switchyard/config-daemon", "@switchyard/policy"]),
    });
  });

  it("depend on files that tests name by their path", () => {
    const kube = folders.find(({ name }) => name === "kube");
    expect(kube?.inputs).toContain("{workspaceRoot}/docs/typescript.md");
    expect(kube?.inputs.at(-1)).toEqual({ input: "default", projects: ["@switchyard/api", "@switchyard/kube"] });
  });
});
