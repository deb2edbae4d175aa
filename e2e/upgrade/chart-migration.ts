// SPDX-License-Identifier: Apache-2.0
/**
 * startMigration creates a cluster in which upstream's chart is installed by Helm and has configured nodes, and plays its
 * kubelets. Switchyard's operator, hooks and config daemons are real processes that start when their pods do.
 */
import { sriovOperatorConfigs } from "@switchyard/api";
import { eventually } from "@switchyard/testing";
import { startChartCluster, type ChartCluster } from "../src/helm/chart-cluster.ts";
import { upstreamChart, type HelmVersion, type Values } from "../src/helm/helm.ts";
import type { UpstreamCluster } from "../src/operator/upstream-cluster.ts";
import { keepNodesReady } from "@switchyard/test-cluster";
import { fieldAt } from "../src/api/plain-api.ts";
import { daemonSets, operatorPieces, ownedBy, writeAsUpstream } from "./upstream-components.ts";
import { populate, upstreamNodes, type UpstreamNode, type UpstreamWorld } from "./upstream-nodes.ts";

/** Name of the release. Upstream's chart names its objects "sriov-sriov-network-operator". */
export const release = "sriov";

/** What a user of upstream's chart set. */
const userValues: Values = {
  operator: { resourcePrefix: "example.com" },
  sriovOperatorConfig: { deploy: true, logLevel: 1 },
  images: { sriovDevicePlugin: "mirror.example.com/sriov-network-device-plugin:v3.9.0" },
};

export interface Migration extends ChartCluster {
  readonly world: UpstreamWorld;
  /** The nodes whose configuration must not change. */
  readonly nodes: readonly UpstreamNode[];
  /** Writes the DaemonSets as upstream's operator does, and waits until their pods run. */
  deployAsUpstream(): Promise<void>;
}

/** Starts the cluster. It is as upstream 1.6 leaves it while it runs. */
export async function startMigration(version: HelmVersion): Promise<Migration> {
  const place = await startChartCluster(version, { workers: true });
  const { testCluster, helm } = place;
  try {
    await helm.run(["install", release, await upstreamChart("1.6.0"), "--wait", "--timeout", "60s"], userValues);
    const world = testCluster.use(await populate(testCluster, upstreamNodes));
    testCluster.use(await keepNodesReady(testCluster.transport, [...world.workers.keys()]));
    const deployAsUpstream = () => deploy(testCluster, world.workers.size);
    await deployAsUpstream();
    return { ...place, world, nodes: upstreamNodes, deployAsUpstream };
  } catch (error) {
    await testCluster[Symbol.asyncDispose]();
    throw error;
  }
}

async function deploy(testCluster: UpstreamCluster, numNodes: number): Promise<void> {
  const config = await testCluster.read(sriovOperatorConfigs, "default");
  const names = ["sriov-network-config-daemon", "sriov-device-plugin"];
  for (const piece of operatorPieces().filter(({ object }) => names.includes(object.metadata.name))) {
    await writeAsUpstream(testCluster, ownedBy(config, piece));
  }
  for (const name of names) {
    await eventually(
      `upstream's ${name} runs on each node`,
      async () => {
        const found = await testCluster.read(daemonSets, name);
        const counts = ["numberAvailable", "updatedNumberScheduled"].map((count) => fieldAt(found, "status", count));
        const isSeen = fieldAt(found, "status", "observedGeneration") === found.metadata.generation;
        return isSeen && counts.every((count) => count === numNodes);
      },
      { withinMs: 60_000 },
    );
  }
}
