// SPDX-License-Identifier: Apache-2.0
/** `npm run demo -- --afxdp` and `-- --afxdp --vm`: nodes get AF_XDP devices, and give them back. The demo fails if a step does. */
import { expect, it } from "@jest/globals";
import { findWorkspaceRoot, runProgram } from "@switchyard/testing";
import { join } from "node:path";

const demo = join(findWorkspaceRoot(), "tools/demo/src/main.ts");
const lastLine = "the demo took ";

it("configures AF_XDP devices of two nodes, and leaves nothing behind", async () => {
  const { stdout, stderr } = await runProgram(process.execPath, [demo, "--afxdp"]);
  expect([stderr, stdout]).toEqual(["", expect.stringContaining(lastLine)]);
}, 600_000);

it("gives devices of a real kernel to a pod, which receives packets, and leaves nothing behind", async () => {
  const { stdout } = await runProgram(process.execPath, [demo, "--afxdp", "--vm"]);
  expect(stdout).toContain("afxdp/subfunctions: mlx5_core.sf.");
  expect(stdout).toMatch(/testpmd reports RX-packets: \d/);
  expect(stdout).toContain(lastLine);
}, 900_000);
