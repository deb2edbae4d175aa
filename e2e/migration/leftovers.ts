// SPDX-License-Identifier: Apache-2.0
/**
 * readNames lists the objects of a cluster in which something could be left over. expectNoLeftovers removes what Switchyard has left as
 * the guide says, and compares.
 */
import { expect } from "@jest/globals";
import { namespace } from "@switchyard/test-cluster";
import { findWorkspaceRoot } from "@switchyard/testing";
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { UpstreamCluster } from "../src/operator/upstream-cluster.ts";

/** Kinds of the objects that the charts and the operators create. Secrets of Helm's revisions are not among them. */
const kinds = [
  ...["serviceaccounts", "roles", "rolebindings", "configmaps", "services", "daemonsets", "deployments", "leases"],
  ...["networkpolicies", "poddisruptionbudgets", "jobs", "clusterroles", "clusterrolebindings"],
  ...["validatingadmissionpolicies", "validatingadmissionpolicybindings", "priorityclasses"],
  ...["validatingwebhookconfigurations", "mutatingwebhookconfigurations"],
];

/** Returns the names of the objects in the operator's namespace and of those of the cluster: "lease.coordination.k8s.io/a". */
export async function readNames(testCluster: UpstreamCluster): Promise<readonly string[]> {
  const names = await testCluster.kubectl(["get", kinds.join(), "-o", "name"]);
  return names.trim().split("\n").toSorted();
}

/** Gives the output of `switchyard migrate leftovers` to a shell. Afterwards, there are the objects of `before` again. */
export async function expectNoLeftovers(testCluster: UpstreamCluster, before: readonly string[]): Promise<void> {
  const { cluster, kubectlFile } = testCluster;
  const cli = join(findWorkspaceRoot(), "apps/cli/src/main.ts");
  const list = async (): Promise<string> => {
    const args = [cli, "migrate", "leftovers", "--kubeconfig", cluster.kubeconfig];
    return (await promisify(execFile)(process.execPath, args)).stdout;
  };
  const script = await list();
  expect(script).toContain("delete leases.coordination.k8s.io/switchyard-operator");
  const env = { ...process.env, PATH: `${dirname(kubectlFile)}:${process.env["PATH"] ?? ""}` };
  await promisify(execFile)("sh", ["-ec", script], { env });
  expect(await list()).toBe(`# nothing of Switchyard is left in namespace ${namespace}\n`);
  const after = await readNames(testCluster);
  expect(after.filter((object) => !before.includes(object))).toEqual([]);
  expect(before.filter((object) => !after.includes(object))).toEqual([]);
}
