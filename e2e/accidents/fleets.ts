// SPDX-License-Identifier: Apache-2.0
/**
 * Accidents of size, as data: many nodes that fail at once, and nodes with as many VFs as cards have. They start and end as those of
 * accidents.ts.
 */
import { nodes as nodeType, sriovNetworkNodePolicies, sriovNetworkNodeStates } from "@switchyard/api";
import { mlx5, type FakeNic } from "@switchyard/host/testing";
import { collectionPath, isRecord, objectPath } from "@switchyard/kube";
import { setTimeout as delay } from "node:timers/promises";
import { componentSettings } from "../src/operator/identity-objects.ts";
import { ofKind, place, statusOf } from "../faults/scenarios/scenario.ts";
import { create, merge, patient } from "./acts.ts";
import { events, ownProcess, type Accident, type World } from "./checker.ts";

const { namespace } = componentSettings;
const failingNodes = Number(process.env["SWITCHYARD_FAILING_NODES"] ?? 1_000);

/** Runs `work` with 20 indexes at a time. */
async function forEachNode(work: (index: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < failingNodes; from += 20)
    await Promise.all(Array.from({ length: 20 }, (_, at) => work(from + at)));
}

const failing = (index: number) => `failing-${index}`;

/** Reports failures of all failing nodes, as their daemons would, with a text of their own in each round. */
async function reportFailures({ cluster }: World, round: number): Promise<void> {
  const { interfaces } = statusOf(
    ofKind(cluster.observer.objects(), sriovNetworkNodeStates.kind).find(
      ({ metadata }) => metadata.name === "worker-1",
    ),
  );
  await forEachNode(async (index) => {
    const lastSyncError = `set MTU of 0000:3b:00.0: EIO (attempt ${round} of ${failing(index)})`;
    const status = { syncStatus: "Failed", lastSyncError, interfaces };
    const path = objectPath(sriovNetworkNodeStates, place(failing(index)), "status");
    await cluster.transport.request({ ...merge, path, body: { status } });
  });
}

/** Throws an error if the fleet's failures have become many objects or a long text. */
async function checkReports({ cluster }: World): Promise<void> {
  const list = await cluster.transport.request({ method: "GET", path: collectionPath(events, namespace) });
  const count = isRecord(list) && Array.isArray(list["items"]) ? list["items"].length : Infinity;
  const policy = ofKind(cluster.observer.objects(), sriovNetworkNodePolicies.kind)[0];
  const bytes = JSON.stringify(statusOf(policy)).length;
  if (count > mostEvents || bytes > mostStatusBytes)
    throw new Error(`${failingNodes} failing nodes made ${count} events and a policy status of ${bytes} bytes`);
}

const mostEvents = 150;
const mostStatusBytes = 10_000;

const mostVfs = 256;

const [first, second] = mlx5("0000:86:00.0").ports;

/** A card with two PFs that can have 256 VFs each. */
export const largestCard: FakeNic = {
  ports: [first, second].flatMap((port, nth) =>
    port?.sriov === undefined
      ? []
      : [{ ...port, sriov: { ...port.sriov, totalVfs: mostVfs, offset: 2 + nth * mostVfs } }],
  ),
};

/** Memory in MiB that the chart requests for a config daemon. */
const requestedMiB = 100;

export const fleets: readonly Accident[] = [
  {
    name: `a policy asks for 2 x ${mostVfs} VFs of each node, and is deleted`,
    mayChangeVfs: true,
    mostLogLines: 2 * 3 * 2 * mostVfs, // a daemon logs about one line for each VF
    withinMs: 600_000,
    async act({ cluster }) {
      const { users, observer } = cluster;
      const metadata = place("most");
      const nicSelector = { rootDevices: ["0000:86:00.0", "0000:86:00.1"] };
      const spec = { nodeSelector: { "node-role.kubernetes.io/worker": "" }, nicSelector, resourceName: "most" };
      await users.apply(sriovNetworkNodePolicies, { metadata, spec: { ...spec, numVfs: mostVfs } });
      const areThere = () =>
        ofKind(observer.objects(), sriovNetworkNodeStates.kind).every((state) => {
          const { interfaces, syncStatus } = statusOf(state);
          const pfs = Array.isArray(interfaces) ? interfaces.filter(isRecord) : [];
          return syncStatus === "Succeeded" && pfs.filter(({ numVfs }) => numVfs === mostVfs).length === 2;
        });
      await cluster.until("all VFs are there", areThere, 5 * patient);
      const { peakMiB } = await users.nodes.usage(ownProcess);
      await users.delete(sriovNetworkNodePolicies, metadata);
      if (peakMiB > requestedMiB)
        throw new Error(`the daemon used ${peakMiB} MiB, and the chart requests ${requestedMiB}`);
      process.stderr.write(`a daemon with 2 x ${mostVfs} VFs used ${peakMiB} MiB at most\n`);
    },
  },
  {
    name: `${failingNodes} nodes fail, with another text in each of three rounds, and leave the cluster`,
    mostWrites: 8 * failingNodes + 300, // states, labels and annotations of Nodes, and what follows the reports
    withinMs: 600_000,
    async act(world) {
      const { users, observer } = world.cluster;
      const labels = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "" };
      await forEachNode((index) =>
        create(world, nodeType, { apiVersion: "v1", kind: "Node", metadata: { name: failing(index), labels } }),
      );
      const areThere = () => ofKind(observer.objects(), sriovNetworkNodeStates.kind).length >= failingNodes;
      await world.cluster.until("all node states are there", areThere, patient);
      for (const round of [1, 2, 3]) {
        await reportFailures(world, round);
        await delay(6_000);
      }
      await checkReports(world);
      await forEachNode((index) => users.delete(nodeType, { name: failing(index) }));
      await delay(3_000);
      await forEachNode((index) => users.delete(sriovNetworkNodeStates, place(failing(index))));
    },
  },
];
