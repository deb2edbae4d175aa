// SPDX-License-Identifier: Apache-2.0
/** `npm run demo -- --ovn-offload`: OVN moves to the SmartNICs of three hosts, and back. The demo fails if a step does. */
import { expect, it } from "@jest/globals";
import { findWorkspaceRoot, runProgram } from "@switchyard/testing";
import { join } from "node:path";

it("moves OVN to the SmartNICs and back, and restores what was there before", async () => {
  const demo = join(findWorkspaceRoot(), "tools/demo/src/main.ts");
  const { stdout, stderr } = await runProgram(process.execPath, [demo, "--ovn-offload"]);
  expect([stderr, stdout]).toEqual(["", expect.stringContaining("the demo took ")]); // its last line
}, 900_000);
