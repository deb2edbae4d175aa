// SPDX-License-Identifier: Apache-2.0
/**
 * Accidents of what is around Switchyard, as data: the API server and its kinds, and other programs that write the same objects. Also
 * those of the operator's process and clock. They start and end as those of accidents.ts.
 */
import {
  customResources,
  nodes as nodeType,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  operatorConfigName,
} from "@switchyard/api";
import { isRecord, objectPath, type KubeObject, type ResourceType } from "@switchyard/kube";
import { setTimeout as delay } from "node:timers/promises";
import { ofKind, place, statusOf } from "../faults/scenarios/scenario.ts";
import { daemonSets, leases } from "../faults/types.ts";
import {
  applyPolicy,
  backedUp,
  changePolicy,
  create,
  createKinds,
  deleteKind,
  deleteStates,
  merge,
  patchState,
  patient,
} from "./acts.ts";
import { ownProcess, workers, type Accident } from "./checker.ts";
import { shiftClock } from "./shifted-clock.ts";

const quotas: ResourceType = {
  group: "",
  version: "v1",
  kind: "ResourceQuota",
  plural: "resourcequotas",
  namespaced: true,
};
const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const registrations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

/** How long processes are stopped by a signal. */
const stoppedMs = Number(process.env["SWITCHYARD_STOP_SECONDS"] ?? 600) * 1_000;

/** `clockDirectory` is that of programWithShiftedClock. */
export const surroundings = (clockDirectory: string): readonly Accident[] => [
  {
    name: "the operator is stopped for ten minutes, while a policy changes",
    mayChangeVfs: true,
    async act(world) {
      await world.cluster.signalOperator("SIGSTOP");
      await changePolicy(world);
      await delay(stoppedMs);
      await world.cluster.signalOperator("SIGCONT");
    },
  },
  {
    name: `a daemon is stopped for ten minutes, while a policy changes, and is named on the policy`,
    mayChangeVfs: true,
    async act(world) {
      const { users, observer } = world.cluster;
      users.nodes.signal(ownProcess, "STOP");
      await changePolicy(world);
      await delay(stoppedMs);
      const policy = ofKind(observer.objects(), sriovNetworkNodePolicies.kind)[0];
      const said = JSON.stringify(statusOf(policy)["conditions"]);
      users.nodes.signal(ownProcess, "CONT");
      if (!said.includes(ownProcess)) throw new Error(`the policy does not name ${ownProcess}: ${said}`);
    },
  },
  {
    name: "the CustomResourceDefinition of the policies is replaced while the clock of the operator is an hour ahead, and then behind",
    withinMs: 300_000,
    async act(world) {
      for (const hours of [1, -1]) {
        await shiftClock(clockDirectory, hours * 3_600_000);
        await deleteKind(world, sriovNetworkNodePolicies);
        await delay(3_000);
        await createKinds(world);
        await delay(5_000);
        await applyPolicy(world);
      }
      await shiftClock(clockDirectory, 0);
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
];
