// SPDX-License-Identifier: Apache-2.0
/** writeReport lets `switchyard doctor` write its page about the cluster of the demo. */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findWorkspaceRoot } from "@switchyard/testing";

export interface ReportedCluster {
  readonly kubeconfig: string;
  /** The operator's namespace. */
  readonly namespace: string;
}

/** Returns the path of the page. Rejects with what the command says if it writes none. */
export async function writeReport({ kubeconfig, namespace }: ReportedCluster): Promise<string> {
  const root = findWorkspaceRoot();
  const main = join(root, "apps/cli/src/main.ts");
  // The context is the name of the cluster on the page.
  const args = [
    "doctor",
    "--kubeconfig",
    kubeconfig,
    "--context",
    "test",
    "--namespace",
    namespace,
    "--output",
    "html",
  ];
  const page = await new Promise<string>((resolve, reject) => {
    const node = ["--disable-warning=ExperimentalWarning", main, ...args];
    execFile(process.execPath, node, { maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      // The exit code is 1 if there are findings.
      if (stdout === "") reject(new Error(`switchyard doctor wrote no page: ${stderr}`, { cause: error }));
      else resolve(stdout);
    });
  });
  const directory = join(root, "dist/demo");
  await mkdir(directory, { recursive: true });
  const file = join(directory, "report.html");
  await writeFile(file, page);
  return file;
}
