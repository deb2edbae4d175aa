// SPDX-License-Identifier: Apache-2.0
/**
 * grantOffloadRights creates the service account of ovn-offload with its rights and their limits, and returns the path of a
 * kubeconfig with its token.
 * Usage: `await using service = await connect({ kubeconfig: await grantOffloadRights(testCluster) });`
 */
import { ovnOffloadIdentity, type OvnOffloadIdentitySettings } from "@switchyard/render";
import { namespace, type TestCluster } from "@switchyard/test-cluster";

/** The label that the tests' ConfigMap hardware-offload-config names. */
const hostLabel = "example.com/host";

export async function grantOffloadRights({ cluster }: TestCluster): Promise<string> {
  const serviceAccount = "ovn-offload";
  const kinds = await cluster.kubectl(["api-resources", "-o", "name"]);
  const settings: OvnOffloadIdentitySettings = {
    ...{ namespace, serviceAccount, hostLabel, ovnNamespace: "ovn-kubernetes" },
    clusterType: kinds.includes("machineconfigs.") ? "openshift" : "kubernetes",
  };
  const { reading, limits, writing } = ovnOffloadIdentity(settings);
  const list = { apiVersion: "v1", kind: "List", items: [...reading, ...limits, ...writing] };
  await cluster.kubectl(["apply", "--server-side", "-f", "-"], { input: JSON.stringify(list) });
  const token = await cluster.kubectl(["create", "token", serviceAccount, "-n", namespace, "--duration=24h"]);
  return cluster.clientFor({ token: token.trim() });
}
