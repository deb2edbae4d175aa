// SPDX-License-Identifier: Apache-2.0
/**
 * A pool of two hosts is selected and deselected: the service, the operator, the webhook and the config daemons (on fake kernels)
 * work together on a real API server.
 */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { labels, sriovNetworkNodePolicies } from "@switchyard/api";
import { hostPool, hostRole } from "@switchyard/demo/openshift-objects";
import { startSmartNicHost, type SmartNicHost } from "@switchyard/demo/smart-nic-host";
import { collectionPath } from "@switchyard/kube";
import { namespace, registerWebhooks, startWebhook } from "@switchyard/test-cluster";
import { eventually, findFreePorts } from "@switchyard/testing";
import { setTimeout as sleep } from "node:timers/promises";
import { disposeOf } from "../src/dispose-of.ts";
import { fieldAt } from "../src/api/plain-api.ts";
import { settledWithinMs, startOffloadCluster, type OffloadCluster } from "./offload-cluster.ts";
import { listPublished, snapshotOffload } from "./offload-objects.ts";
import { startOffloadService, type OffloadService } from "./offload-service.ts";

const hostNames = ["host-1", "host-2"];
const hosts = new Map<string, SmartNicHost>();
const nodePath = (name: string) => `/api/v1/nodes/${name}`;

let place: OffloadCluster;
let service: OffloadService;
/** Reboots with which the nodes joined the pool. */
let rebootsBefore = 0;
let before: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  place = await startOffloadCluster({ onReboot: (node, config) => hosts.get(node)?.reboot(config) });
  const { testCluster, api } = place;
  await place.create({
    apiVersion: "v1",
    kind: "ConfigMap",
    data: { "dpu-host-mode-label": "example.com/host=yes" },
    metadata: { name: "hardware-offload-config", namespace: "openshift-network-operator" },
  });
  for (const name of hostNames) {
    hosts.set(name, await startSmartNicHost(testCluster, name));
    await api.patch(nodePath(name), { metadata: { labels: { mine: "x" } }, spec: { taints: null } });
  }
  const [port = 0] = await findFreePorts(1);
  await registerWebhooks(testCluster, port);
  startWebhook(testCluster, "webhook", port, ["--cluster-type", "openshift"]);
  service = await startOffloadService(testCluster);
  await eventually("the webhook answers", () => place.select().then(() => true), { withinMs: 120_000 });
  for (const name of hostNames) await place.untilConfigured(name, hostPool);
  rebootsBefore = place.reboots.length;
  before = await snapshotOffload(testCluster);
}, 600_000);

afterAll(async () => {
  await disposeOf(place);
}, 120_000);

it("makes the nodes of a selected pool hosts, with one reboot each", async () => {
  await place.select({ nodeSelector: { [hostRole]: "" }, taint: "NoSchedule" });
  await place.untilOverall("True Ready");
  expect(place.reboots.slice(rebootsBefore)).toEqual(hostNames);
  expect(await listPublished(place.testCluster)).toEqual(hostNames);
  for (const name of hostNames) {
    const node = await place.api.read(nodePath(name));
    expect(fieldAt(node, "metadata", "labels")).toMatchObject({
      [labels.ovnOffloadPool]: hostPool,
      "example.com/host": "yes",
      mine: "x",
    });
    expect(fieldAt(node, "metadata", "labels", "network.operator.openshift.io/dpu-host")).toBeUndefined();
    expect(fieldAt(node, "spec", "taints")).toMatchObject([{ key: "switchyard.io/ovn-offload", effect: "NoSchedule" }]);
  }
  const placement = fieldAt(
    await place.api.read("/apis/operator.openshift.io/v1/dnses/default"),
    "spec",
    "nodePlacement",
  );
  expect(placement).toEqual({
    nodeSelector: { "node-role.kubernetes.io/worker": "", "switchyard.io/dns-eligible": "" },
  });
});

it("writes nothing while nothing changes", async () => {
  const count = service.writes.length;
  await sleep(35_000); // longer than the interval of its checks
  expect(service.writes.slice(count)).toEqual([]);
});

it("writes the MachineConfig once, after VFs and DNS", () => {
  expect(service.writes.filter((write) => write.includes("/machineconfigs/"))).toHaveLength(1);
  // A ConfigMap is created with a POST to its collection.
  const ports = "POST /api/v1/namespaces/openshift-ovn-kubernetes/configmaps";
  const first = ["/sriovnetworknodepolicies/", "/dnses/", "/machineconfigs/", ports].map((text) => {
    return service.writes.findIndex((write) => write.includes(text));
  });
  expect(first).toEqual(first.toSorted((a, b) => a - b));
  expect(first[0]).toBeGreaterThanOrEqual(0);
});

it("leaves VF 0 to OVN-Kubernetes: a user's policy that claims it is refused", async () => {
  const path = collectionPath(sriovNetworkNodePolicies, namespace);
  const spec = {
    nodeSelector: { [hostRole]: "" },
    nicSelector: { pfNames: ["enp59s0f0np0#0-3"] },
    numVfs: 16,
    resourceName: "mine",
  };
  const policy = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkNodePolicy", spec };
  await expect(place.api.create(path, { ...policy, metadata: { name: "mine", namespace } })).rejects.toThrow(
    "VF 0 is reserved for the management port",
  );
});

it("restores everything when the pool is no longer selected, and removes the first label last", async () => {
  const from = service.writes.length;
  await place.select();
  await eventually("nothing is left", async () => (await place.overall()) === "", { withinMs: settledWithinMs });
  expect(place.reboots.slice(rebootsBefore)).toEqual([...hostNames, ...hostNames]);
  expect(await snapshotOffload(place.testCluster)).toEqual(before);
  const writes = service.writes.slice(from);
  // With the rights of its service account.
  expect(service.refused.filter((write) => write.startsWith("403"))).toEqual([]);
  const lastOfOthers = writes.findLastIndex((write) => !/\/(nodes|events|status)\b/.test(write));
  const lastLabels = hostNames.map((name) => writes.findLastIndex((write) => write.includes(`/nodes/${name}`)));
  expect(Math.min(...lastLabels)).toBeGreaterThan(lastOfOthers);
});
