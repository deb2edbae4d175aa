// SPDX-License-Identifier: Apache-2.0
import { namespace, type TestCluster } from "@switchyard/test-cluster";
import { findWorkspaceRoot, runProgram } from "@switchyard/testing";
import { join } from "node:path";

/**
 * runSwitchyard runs the command line of the workspace on the cluster, and returns what it prints. The exit status of doctor is 1 if it
 * finds something, so it is no error.
 */
export async function runSwitchyard({ cluster }: TestCluster, args: readonly string[]): Promise<string> {
  const main = join(findWorkspaceRoot(), "apps/cli/src/main.ts");
  const node = ["--disable-warning=ExperimentalWarning", main, ...args, "--kubeconfig", cluster.kubeconfig];
  const { stdout, stderr } = await runProgram(process.execPath, [...node, "--namespace", namespace]);
  return stdout === "" ? stderr : stdout;
}
