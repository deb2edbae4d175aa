// SPDX-License-Identifier: Apache-2.0
/**
 * startChartCluster starts a cluster in which Helm installs charts: without CRDs, with a controller manager, one node, and
 * the stand-in for the kubelets.
 */
import { nodes } from "@switchyard/api";
import { keepNodesReady, namespace } from "@switchyard/test-cluster";
import { findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import type { Container, Pod, Program } from "../pods/container-process.ts";
import { runPods, type ImageContent, type RunningPods } from "../pods/run-pods.ts";
import { bundleApp } from "../bundle-app.ts";
import { startUpstreamCluster, upstream, type UpstreamCluster } from "../operator/upstream-cluster.ts";
import { prepareHelm, type Helm, type HelmVersion } from "./helm.ts";

/** The programs. */
interface SwitchyardPrograms {
  /** Path of the operator's main.js. */
  readonly operator: string;
  /** Path of the socket of a node's fake kernel. Without it, config daemons are stand-ins. */
  readonly kernelSocketOf?: (node: string) => string;
  /** The webhook. Without it, its pods are stand-ins. */
  readonly webhook?: (pod: Pod) => Program;
  /** Images that cannot be pulled, by a part of their reference. */
  readonly missing?: readonly string[];
}

/** Directory of Switchyard's chart. */
export const switchyardChart = join(findWorkspaceRoot(), "charts/switchyard");

/** The cluster. Disposing it ends all processes. */
export interface ChartCluster extends AsyncDisposable {
  readonly testCluster: UpstreamCluster;
  readonly helm: Helm;
  readonly pods: RunningPods;
}

/** What differs from a cluster with one control plane node. */
export interface ChartClusterOptions {
  /** Whether config daemons run on the fake kernels of createWorker(testCluster, …). */
  readonly workers?: boolean;
  /** Images that cannot be pulled, by a part of their reference. */
  readonly missing?: readonly string[];
}

/** Starts the cluster. Rejects if the operator cannot be bundled. */
export async function startChartCluster(
  version: HelmVersion,
  { workers = false, missing = [] }: ChartClusterOptions = {},
): Promise<ChartCluster> {
  const testCluster = await startUpstreamCluster({ controllerManager: true, crds: false });
  try {
    const { cluster, transport, directory } = testCluster;
    const helm = await prepareHelm(version, { kubeconfig: cluster.kubeconfig, namespace, directory });
    const operator = await bundleApp("apps/operator", directory);
    const labels = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/control-plane": "" };
    await testCluster.as(upstream.user).create(nodes, { metadata: { name: "control-1", labels } });
    testCluster.use(await keepNodesReady(transport, ["control-1"]));
    const kernelSocketOf = (node: string) => join(directory, `${node}.sock`);
    const contentOf = switchyardImages({ operator, missing, ...(workers && { kernelSocketOf }) });
    const pods = testCluster.use(runPods({ transport, cluster, namespace, directory, contentOf }));
    return { testCluster, helm, pods, [Symbol.asyncDispose]: () => testCluster[Symbol.asyncDispose]() };
  } catch (error) {
    await testCluster[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * switchyardImages says what the containers of a test cluster do: the operator and its commands, and config daemons on fake
 * kernels, are real programs. Returns the content of an image by the name of its repository, in any registry.
 */
export function switchyardImages(programs: SwitchyardPrograms): (container: Container, pod: Pod) => ImageContent {
  const { operator, kernelSocketOf, webhook, missing = [] } = programs;
  return ({ image }, pod) => {
    const { nodeName = "" } = pod.spec;
    if (missing.some((part) => image.includes(part))) return "missing";
    const name = imageName(image);
    if (name === "switchyard-webhook" && webhook !== undefined) return webhook(pod);
    if (name === "switchyard-operator") return { command: [process.execPath, operator] };
    if (name === "switchyard-config-daemon" && kernelSocketOf !== undefined) {
      const script = join(findWorkspaceRoot(), "apps/config-daemon/src/testing/fake-node.ts");
      return { command: [process.execPath, script], variables: { KERNEL_SOCKET: kernelSocketOf(nodeName) } };
    }
    return "stand-in";
  };
}

/** The last part of an image's repository: "operator" for "mirror.example.com/a/operator:1@sha256:…". */
export function imageName(image: string): string | undefined {
  return /([^/@:]+)(?::[^/@]+)?(?:@.*)?$/.exec(image)?.[1];
}
