// SPDX-License-Identifier: Apache-2.0
/** What the READMEs of packages say that their examples print, they print. usage-lines.test.ts checks the types of all examples. */
import { beforeAll, afterAll, describe, expect, it } from "@jest/globals";
import { startOpenVswitch, type OpenVswitch } from "@switchyard/testing";
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { posix } from "node:path";
import { readWorkspaceFile, workspacePath } from "../workspace-files.ts";

/** A block of TypeScript, and the block that follows "prints:". */
const example = /^```ts\n([^]*?)^```\n\n(?:It prints|[^\n]*, it prints):\n\n```text\n([^]*?)^```$/m;

const examples = globSync("{apps,libs}/*/README.md", { cwd: workspacePath("") })
  .toSorted()
  .flatMap((path) => {
    const [, code, output] = example.exec(readWorkspaceFile(path)) ?? [];
    return code === undefined || output === undefined ? [] : [{ path, code, output }];
  });

describe("the example of a README", () => {
  let ovs: OpenVswitch;
  beforeAll(async () => {
    ovs = await startOpenVswitch({ vswitchd: false });
  });
  afterAll(async () => ovs[Symbol.asyncDispose]());

  it("exists for each library that needs no cluster", () => {
    const without = globSync("libs/*/README.md", { cwd: workspacePath("") })
      .filter((path) => !examples.some((it) => it.path === path))
      .map((path) => posix.dirname(path).slice("libs/".length));
    expect(without.toSorted()).toEqual(["kube", "service", "test-cluster", "testing"]);
  });

  it.each(examples)("$path prints what the page says", ({ path, code, output }) => {
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module-typescript", "-"], {
      cwd: workspacePath(posix.dirname(path)),
      env: {
        ...process.env,
        NODE_OPTIONS: "--disable-warning=ExperimentalWarning",
        OVSDB: ovs.endpoint,
        FORCE_COLOR: "0", // Nx sets it, and console.log would colour values
      },
      input: code,
      encoding: "utf8",
    });
    expect({ stdout, stderr }).toEqual({ stdout: output, stderr: "" });
  });
});
