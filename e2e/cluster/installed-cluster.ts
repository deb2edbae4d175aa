// SPDX-License-Identifier: Apache-2.0
/**
 * installedCluster starts a cluster with one real node, and installs the chart with what SR-IOV needs: operator, config daemon, device
 * plugin and the CNI plugin sriov.
 */
import { findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import { prepareHelm } from "../src/helm/helm.ts";
import { registryName, startKubeCluster, type KubeCluster } from "./kube-cluster.ts";
import { imageValues, pushOwnImages } from "./own-images.ts";
import { startRegistry } from "./registry.ts";
import { pushThirdPartyImages } from "./third-party-images.ts";
import type { Timings } from "./timings.ts";
import { namespace } from "./vf-pods.ts";

/** Disposing ends the cluster. */
export interface InstalledCluster extends AsyncDisposable {
  readonly cluster: KubeCluster;
  /** Image with sleep as its entry point, and ping. */
  readonly tools: string;
}

/** Resolves when the SriovOperatorConfig is there. Its components may not be ready yet. */
export async function installedCluster(timings: Timings): Promise<InstalledCluster> {
  await using stack = new AsyncDisposableStack();
  const registry = stack.use(await startRegistry());
  const apps = ["operator", "config-daemon", "device-plugin-config"] as const;
  const [cluster, own, thirdParty] = await Promise.all([
    timings.during("start of control plane and guest", async () => stack.use(await startKubeCluster(registry))),
    timings.during("build and push of images", () => pushOwnImages(registry, apps)),
    pushThirdPartyImages(registry),
  ]);
  const { controlPlane, directory } = cluster;
  const helm = await prepareHelm("helm4", { kubeconfig: controlPlane.kubeconfig, namespace, directory });
  await timings.during("node Ready", () => cluster.nodeIsReady());
  await timings.during("installation", async () => {
    const values = { images: imageValues(own, thirdParty), hooks: { activeDeadlineSeconds: 900 } };
    const chart = join(findWorkspaceRoot(), "charts/switchyard");
    await helm.run(["install", "switchyard", chart, "--create-namespace", "--wait", "--timeout", "15m"], values);
    const metadata = { name: "default", namespace };
    const config = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovOperatorConfig", metadata, spec: {} };
    await cluster.kubectl(["apply", "-f", "-"], config);
  });
  const owned = stack.move();
  return {
    cluster,
    tools: `${registryName}/${thirdParty.tools}`,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
