// SPDX-License-Identifier: Apache-2.0
/**
 * ovn-offload in a cluster without MachineConfigPools: an entry selects nodes, and the config daemons disable Open vSwitch. The
 * hosts are simulated; the API server, the operator and the service are real.
 */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { labels } from "@switchyard/api";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { fieldAt } from "../src/api/plain-api.ts";
import { settledWithinMs, startOffloadCluster, type OffloadCluster } from "./offload-cluster.ts";
import { listPublished, snapshotOffload } from "./offload-objects.ts";
import { startOffloadService } from "./offload-service.ts";
import { simulateHosts, type SimulatedHost } from "./simulated-hosts.ts";

const hosts = new Map<string, SimulatedHost>();
const nodePath = (name: string) => `/api/v1/nodes/${name}`;
let place: OffloadCluster;
let before: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  place = await startOffloadCluster({ isOpenshift: false });
  place.testCluster.use(simulateHosts({ transport: place.testCluster.transport, hosts }));
  await place.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "ovn-kubernetes" } });
  for (const name of ["host-1", "host-2"]) {
    hosts.set(name, { cards: ["a2dc"], mode: "embedded-cpu", isOffloaded: false });
    await place.addNode(name);
    await place.api.patch(nodePath(name), { metadata: { labels: { card: "bluefield" } } });
  }
  await startOffloadService(place.testCluster);
  before = await eventually("all kinds are served", () => snapshotOffload(place.testCluster, { isOpenshift: false }));
}, 600_000);

afterAll(async () => {
  await disposeOf(place);
}, 120_000);

it("makes the selected nodes hosts, with the files of the config daemon and the labels of OVN-Kubernetes", async () => {
  await place.select({ nodeSelector: { card: "bluefield" } });
  await place.untilOverall("True Ready");
  for (const name of hosts.keys()) {
    expect(fieldAt(await place.api.read(nodePath(name)), "metadata", "labels")).toMatchObject({
      [labels.ovnOffloadPool]: "card-bluefield",
      [labels.ovnOffloadFiles]: "daemon",
      "k8s.ovn.org/dpu-host": "",
    });
  }
  expect(await listPublished(place.testCluster, "ovn-kubernetes")).toEqual(["host-1", "host-2"]);
  const network = "/apis/k8s.cni.cncf.io/v1/namespaces/default/network-attachment-definitions/default";
  expect(fieldAt(await place.api.read(network), "metadata", "annotations")).toEqual({
    "k8s.v1.cni.cncf.io/resourceName": "openshift.io/bluefield3",
  });
});

it("names a node that cannot be configured, and the others stay hosts", async () => {
  hosts.set("host-3", { cards: ["a2dc"], mode: "nic", isOffloaded: false });
  await place.addNode("host-3");
  await place.api.patch(nodePath("host-3"), { metadata: { labels: { card: "bluefield" } } });
  await place.untilOverall("Progressing", "host-3", "is in mode nic");
  expect(fieldAt(await place.api.read(nodePath("host-3")), "metadata", "labels")).not.toHaveProperty([
    labels.ovnOffloadFiles,
  ]);
  expect(await listPublished(place.testCluster, "ovn-kubernetes")).toEqual(["host-1", "host-2"]);
  hosts.delete("host-3");
  await place.api.remove(nodePath("host-3"));
  await place.untilOverall("True Ready");
});

it("restores everything when nothing is selected", async () => {
  await place.select();
  await eventually("nothing is left", async () => (await place.overall()) === "", { withinMs: settledWithinMs });
  expect(await snapshotOffload(place.testCluster, { isOpenshift: false })).toEqual(before);
});
