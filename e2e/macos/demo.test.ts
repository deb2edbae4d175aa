// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run demo` where nothing of Linux is left that macOS lacks (tools/run/src/testing/like-macos.mjs), with a temporary directory as
 * long as that of a user of macOS. The programs of the control plane are those of this machine. A Mac itself is only in check.yml.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { ensureBinaries, findWorkspaceRoot, runProgram, type ProgramEnd } from "@switchyard/testing";

/** The length of /var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T, the temporary directory of a user of macOS. */
const temporaryLength = 49;

let directory = "";
beforeAll(async () => {
  directory = await mkdtemp("/tmp/macos-");
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function demo(...args: readonly string[]): Promise<ProgramEnd> {
  const root = findWorkspaceRoot();
  const temporary = `${directory}/`.padEnd(temporaryLength, "t");
  await mkdir(temporary, { recursive: true });
  const preload = `--import ${join(root, "tools/run/src/testing/like-macos.mjs")}`;
  const env = { TMPDIR: temporary, NODE_OPTIONS: preload, KUBEBUILDER_ASSETS: await ensureBinaries() };
  return runProgram(process.execPath, [join(root, "tools/demo/src/main.ts"), ...args], { cwd: root, env });
}

describe("the demo on a Mac", () => {
  it.each([[], ["--afxdp"]])("runs to its end: %s", async (...args) => {
    const { status, stdout, stderr } = await demo(...args);
    expect({ status, stderr, end: stdout.slice(-2_000) }).toMatchObject({ status: "0", stderr: "" });
    expect(stdout).toMatch(/the demo took [\d.]+ s\n$/);
  });
});
