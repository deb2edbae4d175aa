// SPDX-License-Identifier: Apache-2.0
/**
 * Accidents of what is around Switchyard, as data: the API server and its kinds, and other programs that write the same objects. Also
 * those of the operator's process and clock, and of many nodes that fail at once. They start and end as those of accidents.ts.
 */
import {
  customResources,
  nodes as nodeType,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  operatorConfigName,
} from "@switchyard/api";
import { collectionPath, isRecord, objectPath, type KubeObject, type ResourceType } from "@switchyard/kube";
import { setTimeout as delay } from "node:timers/promises";
import { componentSettings } from "../src/operator/identity-objects.ts";
import { ofKind, place, statusOf } from "../faults/scenarios/scenario.ts";
import { daemonSets, leases } from "../faults/types.ts";
import {
  applyPolicy,
  backedUp,
  createKinds,
  deleteKind,
  deleteStates,
  isThereAlready,
  patchState,
  patient,
} from "./accidents.ts";
import { workers, type Accident, type World } from "./checker.ts";
import { shiftClock } from "./shifted-clock.ts";

const { namespace } = componentSettings;
const events: ResourceType = {
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
};
const quotas: ResourceType = {
  group: "",
  version: "v1",
  kind: "ResourceQuota",
  plural: "resourcequotas",
  namespaced: true,
};
const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const registrations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const merge = { method: "PATCH", contentType: "application/merge-patch+json" } as const;

const failingNodes = 200;

async function changePolicy(world: World): Promise<void> {
  world.wish.numVfs = 9 - world.wish.numVfs; // 4 or 5
  await applyPolicy(world);
}

async function create({ cluster }: World, type: ResourceType, body: object): Promise<void> {
  const path = collectionPath(type, type.namespaced ? namespace : undefined);
  await cluster.transport.request({ method: "POST", path, body }).catch(isThereAlready);
}

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

/** `clockDirectory` is that of programWithShiftedClock. */
export const surroundings = (clockDirectory: string): readonly Accident[] => [
  {
    name: "the operator is stopped for longer than its lease, while a policy changes",
    mayChangeVfs: true,
    async act(world) {
      await world.cluster.signalOperator("SIGSTOP");
      await changePolicy(world);
      await delay(45_000);
      await world.cluster.signalOperator("SIGCONT");
    },
  },
  {
    name: "the API server is down for a minute, and a policy changes after it",
    mayBeRefused: true, // an API server that starts does not know all roles for a moment
    mayChangeVfs: true,
    async act(world) {
      const { controlPlane } = world.cluster;
      await controlPlane.killApiServer();
      await delay(60_000);
      await controlPlane.startApiServer();
      await changePolicy(world);
    },
  },
  {
    name: "a quota refuses all node states, which somebody has deleted",
    async act(world) {
      const { transport, users } = world.cluster;
      const hard = { [`count/${sriovNetworkNodeStates.plural}.${sriovNetworkNodeStates.group}`]: "0" };
      const metadata = place("none");
      await create(world, quotas, { apiVersion: "v1", kind: quotas.kind, metadata, spec: { hard } });
      await transport.request({
        ...merge,
        path: objectPath(quotas, metadata, "status"),
        body: { status: { hard, used: hard } },
      });
      await deleteStates(world, workers);
      await delay(10_000);
      await users.delete(quotas, metadata);
    },
  },
  {
    name: "a GitOps tool deletes the DaemonSet of the config daemons five times",
    async act({ cluster }) {
      const { users, observer } = cluster;
      const name = "sriov-network-config-daemon";
      const isThere = () => ofKind(observer.objects(), daemonSets.kind).some(({ metadata }) => metadata.name === name);
      for (let times = 0; times < 5; times++) {
        await cluster.until("the DaemonSet is there", isThere, patient);
        await users.delete(daemonSets, place(name));
        await delay(2_000);
      }
      await cluster.until("the DaemonSet is back", isThere, patient);
    },
  },
  {
    name: "a GitOps tool labels all DaemonSets",
    async act({ cluster: { observer, transport } }) {
      for (const { metadata } of ofKind(observer.objects(), daemonSets.kind)) {
        const labels = { "app.kubernetes.io/instance": "apps", "argocd.argoproj.io/instance": "apps" };
        await transport.request({ ...merge, path: objectPath(daemonSets, metadata), body: { metadata: { labels } } });
      }
    },
  },
  {
    name: "a policy engine that does not answer refuses all writes for twenty seconds",
    mayChangeVfs: true,
    async act(world) {
      const { transport } = world.cluster;
      await changePolicy(world);
      const rule = { apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"], scope: "*" };
      const webhook = {
        name: "engine.example.com",
        clientConfig: { url: "https://127.0.0.1:9/validate" },
        rules: [rule],
        failurePolicy: "Fail",
        timeoutSeconds: 1,
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      };
      const body = {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "ValidatingWebhookConfiguration",
        metadata: { name: "engine" },
        webhooks: [webhook],
      };
      await transport.request({ method: "POST", path: registrations, body });
      await delay(20_000);
      await transport.request({ method: "DELETE", path: `${registrations}/engine` });
    },
  },
  {
    name: "the node states get a storage version whose conversion webhook does not answer, while a policy changes",
    mayChangeVfs: true,
    async act(world) {
      const { transport } = world.cluster;
      const path = `${crds}/${sriovNetworkNodeStates.plural}.${sriovNetworkNodeStates.group}`;
      const found = await transport.request({ method: "GET", path });
      const spec = isRecord(found) && isRecord(found["spec"]) ? found["spec"] : {};
      const [v1] = Array.isArray(spec["versions"]) ? spec["versions"].filter(isRecord) : [];
      const webhook = {
        clientConfig: { url: "https://127.0.0.1:9/convert" },
        conversionReviewVersions: ["v1"],
      };
      const later = { ...v1, name: "v2", storage: true };
      const both = [{ ...v1, storage: false }, later];
      await transport.request({
        ...merge,
        path,
        body: { spec: { versions: both, conversion: { strategy: "Webhook", webhook } } },
      });
      await changePolicy(world);
      await delay(15_000);
      const repaired = {
        versions: [v1, { ...later, storage: false }],
        conversion: { strategy: "None", webhook: null },
      };
      await transport.request({ ...merge, path, body: { spec: repaired } });
      await transport.request({ ...merge, path: `${path}/status`, body: { status: { storedVersions: ["v1"] } } });
      await transport.request({ ...merge, path, body: { spec: { versions: [v1] } } });
    },
  },
  {
    name: "the CustomResourceDefinitions of all other kinds, those of AF_XDP too, are deleted and created again",
    withinMs: 240_000,
    async act(world) {
      const kept: readonly ResourceType[] = [sriovNetworkNodePolicies, sriovNetworkNodeStates, sriovOperatorConfigs];
      for (const type of customResources) if (!kept.includes(type)) await deleteKind(world, type);
      await delay(5_000);
      await createKinds(world);
    },
  },
  { name: "somebody removes the spec of a node state", act: (world) => patchState(world, "worker-2", { spec: null }) },
  {
    name: "a Node is away for twenty seconds",
    async act(world) {
      const { users, observer } = world.cluster;
      const node = ofKind(observer.objects(), "Node").find(({ metadata }) => metadata.name === "worker-3");
      await users.delete(nodeType, { name: "worker-3" });
      await delay(20_000);
      const metadata = { name: "worker-3", labels: node?.metadata.labels };
      await create(world, nodeType, { apiVersion: "v1", kind: "Node", metadata });
    },
  },
  {
    name: "somebody deletes the lease of the operator three times, while a policy changes",
    mayChangeVfs: true,
    async act(world) {
      await changePolicy(world);
      for (let times = 0; times < 3; times++) {
        await world.cluster.users.delete(leases, place("switchyard-operator"));
        await delay(3_000);
      }
    },
  },
  {
    name: "the clock of the operator is an hour ahead, then an hour behind, then right, while policies change",
    mayChangeVfs: true,
    async act(world) {
      for (const hours of [1, -1, 0]) {
        await shiftClock(clockDirectory, hours * 3_600_000);
        await delay(5_000);
        await changePolicy(world);
      }
    },
  },
  {
    name: "the clock of the operator is 400 days ahead for half a minute",
    async act() {
      await shiftClock(clockDirectory, 400 * 86_400_000);
      await delay(30_000);
      await shiftClock(clockDirectory, 0);
    },
  },
  {
    name: "all objects are restored from a backup with their status, the policies last",
    async act(world) {
      const { users, observer, transport } = world.cluster;
      const kinds = [sriovOperatorConfigs, sriovNetworkNodeStates];
      const backup = kinds.map((type): readonly KubeObject[] => ofKind(observer.objects(), type.kind));
      await users.delete(sriovOperatorConfigs, place(operatorConfigName));
      await users.delete(sriovNetworkNodePolicies, place("fast"));
      const areGone = () => ofKind(observer.objects(), sriovNetworkNodeStates.kind).length === 0;
      await world.cluster.until("the node states are collected", areGone, patient);
      for (const [index, type] of kinds.entries()) {
        for (const object of backup[index] ?? []) {
          await create(world, type, backedUp(object));
          const path = objectPath(type, object.metadata, "status");
          await transport.request({ ...merge, path, body: { status: statusOf(object) } });
        }
      }
      await delay(3_000);
      await applyPolicy(world);
    },
  },
  {
    name: `${failingNodes} nodes fail, with another text in each of three rounds, and leave the cluster`,
    mostWrites: 8 * failingNodes, // states, labels and annotations of Nodes, and what follows the reports
    withinMs: 300_000,
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
