// SPDX-License-Identifier: Apache-2.0
/**
 * startSimulatedCluster starts the cluster of startOffloadCluster with simulated hosts in the pool of hosts, and the service in front of
 * which faults can be injected.
 */
import type { OvnHardwareOffload } from "@switchyard/api";
import { hostPool } from "@switchyard/demo/openshift-objects";
import { eventually } from "@switchyard/testing";
import { isOffloaded, settledWithinMs, startOffloadCluster, type OffloadCluster } from "./offload-cluster.ts";
import { startOffloadService, type OffloadService } from "./offload-service.ts";
import { simulateHosts, type SimulatedHost } from "./simulated-hosts.ts";

export interface SimulatedOffloadCluster extends AsyncDisposable {
  readonly place: OffloadCluster;
  readonly service: OffloadService;
  /** By node. A test changes what their config daemons report. */
  readonly hosts: ReadonlyMap<string, SimulatedHost>;
  /** Adds a host with one BlueField-2 in mode embedded-cpu to the pool. */
  addHost(name: string, more?: Partial<SimulatedHost>): Promise<SimulatedHost>;
  removeHost(name: string): Promise<void>;
  /** Selects the pool, and waits until OVN of all hosts runs on their SmartNICs. */
  wayIn(): Promise<void>;
  /** Deselects, and waits until nothing is left. */
  wayOut(): Promise<void>;
}

const entry: OvnHardwareOffload = {
  nodeSelector: { [`node-role.kubernetes.io/${hostPool}`]: "" },
  taint: "NoSchedule",
};

/** `flags` are those of the service. */
export async function startSimulatedCluster(
  names: readonly string[],
  flags: readonly string[] = [],
): Promise<SimulatedOffloadCluster> {
  const hosts = new Map<string, SimulatedHost>();
  const place = await startOffloadCluster({
    onReboot(node, config) {
      const host = hosts.get(node);
      if (host !== undefined) host.isOffloaded = isOffloaded(config);
    },
  });
  const { testCluster } = place;
  testCluster.use(simulateHosts({ transport: testCluster.transport, hosts }));

  async function addHost(name: string, more: Partial<SimulatedHost> = {}): Promise<SimulatedHost> {
    const host: SimulatedHost = { cards: ["a2d6"], mode: "embedded-cpu", isOffloaded: false, ...more };
    hosts.set(name, host);
    await place.addNode(name, hostPool);
    return host;
  }

  for (const name of names) await addHost(name);
  const service = await startOffloadService(testCluster, flags);
  return {
    place,
    service,
    hosts,
    addHost,
    async removeHost(name) {
      hosts.delete(name);
      await place.api.remove(`/api/v1/nodes/${name}`);
    },
    async wayIn() {
      await place.select(entry);
      await place.untilOverall("True Ready");
    },
    async wayOut() {
      await place.select();
      const isOver = async () => {
        const text = await place.overall();
        if (text === "") return true;
        throw new Error(text);
      };
      await eventually("nothing is left", isOver, { withinMs: settledWithinMs });
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}
