// SPDX-License-Identifier: Apache-2.0
/**
 * startMigration creates a cluster in which upstream's chart is installed by Helm and has configured nodes, and plays its
 * kubelets. Switchyard's operator, hooks and config daemons are real processes that start when their pods do.
 * Usage: `await using migration = await startMigration("helm4"); await migration.helm.run(["upgrade", release, chart]);`
 */
import { nodes, sriovOperatorConfigs } from "@switchyard/api";
import { namespace } from "@switchyard/test-cluster";
import { eventually, findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import { bundleApp } from "../src/bundle-app.ts";
import { prepareHelm, type Helm, type HelmVersion, type Values } from "../src/helm/helm.ts";
import { upstreamChart } from "../src/helm/upstream-chart.ts";
import { keepNodesReady } from "../src/node-heartbeats.ts";
import { fieldAt } from "../src/plain-api.ts";
import { switchyardImages } from "../src/pods/image-contents.ts";
import { runPods, type RunningPods } from "../src/pods/run-pods.ts";
import { startUpstreamCluster, upstream, type UpstreamCluster } from "../src/upstream-cluster.ts";
import { daemonSets, operatorPieces, ownedBy, writeAsUpstream } from "./upstream-components.ts";
import { populate, upstreamNodes, type UpstreamNode, type UpstreamWorld } from "./upstream-nodes.ts";

/** Name of the release. Upstream's chart names its objects "sriov-sriov-network-operator". */
export const release = "sriov";

/** Directory of Switchyard's chart. */
export const switchyardChart = join(findWorkspaceRoot(), "charts/switchyard");

/** What a user of upstream's chart set. */
const userValues: Values = {
  operator: { resourcePrefix: "example.com" },
  sriovOperatorConfig: { deploy: true, logLevel: 1 },
  images: { sriovDevicePlugin: "mirror.example.com/sriov-network-device-plugin:v3.9.0" },
};

export interface Migration extends AsyncDisposable {
  readonly testCluster: UpstreamCluster;
  readonly helm: Helm;
  readonly pods: RunningPods;
  readonly world: UpstreamWorld;
  /** The nodes whose configuration must not change. */
  readonly nodes: readonly UpstreamNode[];
}

/** Starts the cluster. It is as upstream 1.6 leaves it while it runs. */
export async function startMigration(version: HelmVersion): Promise<Migration> {
  const testCluster = await startUpstreamCluster({ controllerManager: true, crds: false });
  try {
    const { cluster, transport, directory } = testCluster;
    const helm = await prepareHelm(version, { kubeconfig: cluster.kubeconfig, namespace, directory });
    const operator = await bundleApp("apps/operator", directory);
    const pods = runPods({
      ...{ transport, cluster, namespace, directory },
      contentOf: switchyardImages({ operator, kernelSocketOf: (node) => join(directory, `${node}.sock`) }),
    });
    testCluster.use(pods);
    const labels = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/control-plane": "" };
    await testCluster.as(upstream.user).create(nodes, { metadata: { name: "control-1", labels } });
    await helm.run(["install", release, await upstreamChart("1.6.0"), "--wait", "--timeout", "60s"], userValues);
    const world = testCluster.use(await populate(testCluster, upstreamNodes));
    testCluster.use(await keepNodesReady(transport, ["control-1", ...world.workers.keys()]));
    const config = await testCluster.read(sriovOperatorConfigs, "default");
    const names = ["sriov-network-config-daemon", "sriov-device-plugin"];
    for (const piece of operatorPieces().filter(({ object }) => names.includes(object.metadata.name))) {
      await writeAsUpstream(testCluster, ownedBy(config, piece));
    }
    for (const name of names) {
      await eventually(`upstream's ${name} runs on each node`, async () => {
        return fieldAt(await testCluster.read(daemonSets, name), "status", "numberAvailable") === world.workers.size;
      });
    }
    return {
      ...{ testCluster, helm, pods, world, nodes: upstreamNodes },
      [Symbol.asyncDispose]: () => testCluster[Symbol.asyncDispose](),
    };
  } catch (error) {
    await testCluster[Symbol.asyncDispose]();
    throw error;
  }
}
