// SPDX-License-Identifier: Apache-2.0
/** `npm run demo -- --afxdp`: nodes get AF_XDP devices, and give them back. The demo fails if a step does. */
import { expect, it } from "@jest/globals";
import { findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import { runProgram } from "../src/run-program.ts";

it("configures AF_XDP devices of two nodes, and leaves nothing behind", async () => {
  const demo = join(findWorkspaceRoot(), "tools/demo/src/main.ts");
  const { stdout, stderr } = await runProgram(process.execPath, [demo, "--afxdp"]);
  expect([stderr, stdout]).toEqual(["", expect.stringContaining("the demo took ")]); // its last line
}, 600_000);
