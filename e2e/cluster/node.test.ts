// SPDX-License-Identifier: Apache-2.0
/** Tests the cluster that the other tests of this folder use: a node with a real kubelet runs pods from the local registry. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "@switchyard/testing";
import { nodeName, registryName, startKubeCluster, type KubeCluster } from "./kube-cluster.ts";
import { pushThirdPartyImages } from "./third-party-images.ts";

const within = { withinMs: 600_000, everyMs: 500 };
let cluster: KubeCluster;

beforeAll(async () => {
  cluster = await startKubeCluster();
}, 1_800_000);

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
}, 60_000);

describe("a guest with a kubelet", () => {
  it("runs a pod whose image is pulled by its digest, and the API server reaches the kubelet", async () => {
    const { tools } = await pushThirdPartyImages(cluster.registry, cluster.directory);
    const isReady = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}';
    await eventually(
      "the node is Ready",
      async () => (await cluster.kubectl(["get", "node", nodeName, "-o", isReady])) === "True",
      within,
    );
    await cluster.kubectl(["create", "-f", "-"], {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "tools" },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: "tools", image: `${registryName}/${tools}` }] },
    });
    await cluster.kubectl(["wait", "--for=condition=Ready", "pod/tools", "--timeout=600s"]);
    expect(await cluster.kubectl(["exec", "tools", "--", "cat", "/etc/hostname"])).toBe("tools");
  }, 1_200_000);
});
