// SPDX-License-Identifier: Apache-2.0
/** The morning of `npm run demo -- --monitoring`: a real Prometheus with the chart's rules, an alert that fires, and its end. */
import { expect, it } from "@jest/globals";
import { findWorkspaceRoot, runProgram } from "@switchyard/testing";
import { join } from "node:path";

it("an alert fires for a failed node, its runbook names the cause, and it ends", async () => {
  const root = findWorkspaceRoot();
  const node = ["--disable-warning=ExperimentalWarning", join(root, "tools/demo/src/main.ts"), "--monitoring"];
  const { status, stdout, stderr } = await runProgram(process.execPath, node, { cwd: root });
  expect([status, stderr]).toEqual(["0", ""]);
  const wanted = [
    "no alert is firing",
    "SwitchyardNodesFailed fires",
    "The runbook of SwitchyardNodesFailed",
    "set sriov_numvfs 0 on 0000:3b:00.0: EIO",
    "no alert is firing",
  ];
  let rest = stdout;
  for (const text of wanted) {
    expect(rest).toContain(text);
    rest = rest.slice(rest.indexOf(text) + text.length);
  }
}, 600_000);
