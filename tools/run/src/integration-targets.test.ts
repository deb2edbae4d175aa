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

interface Targets {
  readonly folders: readonly Folder[];
  readonly smoke: Folder["inputs"];
}

/** Runs in a process of its own, because Jest compiles only TypeScript. */
function readTargets(): Targets {
  const script = `
    import { globSync, readFileSync } from "node:fs";
    import { dirname } from "node:path";
    import { integrationInputs, testInputs } from "./tools/nx/integration-targets.js";
    const files = globSync(["{apps,libs,tools}/*/package.json", "e2e/package.json"]);
    const manifests = Object.fromEntries(files.map((file) => [dirname(file), JSON.parse(readFileSync(file))]));
    const folders = integrationInputs("e2e", process.cwd(), manifests);
    console.log(JSON.stringify({ folders, smoke: testInputs("e2e/vm/smoke.test.ts", process.cwd(), manifests) }));
  `;
  const args = ["--input-type=module", "--eval", script];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" })) as Targets;
}

describe("the test targets of e2e", () => {
  const { folders, smoke } = readTargets();

  it("cover every integration test", () => {
    const names = folders.map(({ name }) => name);
    const tests = readdirSync(join(root, "e2e/integration"), { recursive: true, encoding: "utf8" });
    const uncovered = tests.filter((path) => path.endsWith(".test.ts") && !names.includes(path.split("/")[0] ?? ""));
    expect(uncovered).toEqual([]);
  });

  it("depend on imported files, on projects that tests import or start, and on their dependencies", () => {
    const drain = folders.find(({ name }) => name === "drain");
    expect(drain?.inputs).toContain("{workspaceRoot}/e2e/integration/drain/**/*");
    expect(drain?.inputs).toContain("{workspaceRoot}/e2e/src/operator/identity-objects.ts");
    expect(drain?.inputs.at(-1)).toMatchObject({
      projects: expect.arrayContaining(["@switchyard/operator", "@switchyard/config-daemon", "@switchyard/policy"]),
    });
  });

  it("depend on files that tests name by their path", () => {
    const kube = folders.find(({ name }) => name === "kube");
    expect(kube?.inputs).toContain("{workspaceRoot}/docs/typescript.md");
    const apps = ["operator", "config-daemon", "policy", "api", "kube"].map((name) => `@switchyard/${name}`);
    const { projects } = kube?.inputs.at(-1) as { readonly projects: readonly string[] };
    expect(projects.filter((name) => apps.includes(name))).toEqual(["@switchyard/api", "@switchyard/kube"]);
  });

  it("rerun the smoke test of the VM lab after a change of the lab, of the programs in it, or of the test itself", () => {
    expect(smoke).toContain("{workspaceRoot}/e2e/vm/smoke.test.ts");
    expect(smoke).not.toContain("{workspaceRoot}/e2e/vm/ovs.test.ts");
    const programs = ["@switchyard/vm-lab", "@switchyard/config-daemon", "@switchyard/operator", "@switchyard/webhook"];
    expect(smoke.at(-1)).toMatchObject({ projects: expect.arrayContaining([...programs, "@switchyard/netlink"]) });
  });
});
