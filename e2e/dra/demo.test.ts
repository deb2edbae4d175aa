// SPDX-License-Identifier: Apache-2.0
/** `npm run demo -- --dra`: its scenes, in order. The demo fails if a step or one of its checks does. */
import { expect, it } from "@jest/globals";
import { findWorkspaceRoot, runProgram } from "@switchyard/testing";
import { join } from "node:path";

it("shows a claim, unchanged pods, a node that moves under them, a failing link, and why a pod waits", async () => {
  const root = findWorkspaceRoot();
  const node = ["--disable-warning=ExperimentalWarning", join(root, "tools/demo/src/main.ts"), "--dra"];
  const { status, stdout, stderr } = await runProgram(process.execPath, node, { cwd: root });
  expect([status, stderr]).toEqual(["0", ""]);
  const wanted = [
    "the VF is prepared with the driver that the claim asks for: vfio-pci",
    "Pods that know nothing of claims",
    "worker-1 moves to ResourceClaims under its pods",
    "switchyard.io/unhealthy=no-carrier NoSchedule",
    "ClaimSelectorMatchesNothing",
    "at once, at",
    "VFs that were given to two pods: 0",
  ];
  let rest = stdout;
  for (const text of wanted) {
    expect(rest).toContain(text);
    rest = rest.slice(rest.indexOf(text) + text.length);
  }
}, 600_000);
