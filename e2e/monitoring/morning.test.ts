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
  const at = (text: string) => {
    expect(stdout).toContain(text);
    return stdout.indexOf(text);
  };
  const fires = at("SwitchyardNodesFailed fires");
  const cause = at("set sriov_numvfs");
  expect(at("no alert is firing")).toBeLessThan(fires);
  expect(fires).toBeLessThan(cause);
  expect(stdout.lastIndexOf("no alert is firing")).toBeGreaterThan(cause);
}, 600_000);
