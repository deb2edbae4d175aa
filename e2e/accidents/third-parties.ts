// SPDX-License-Identifier: Apache-2.0
/**
 * Accidents that other programs of a cluster cause, as data: admission, priorities of requests, aggregated APIs, and security standards.
 * They start and end as those of accidents.ts.
 */
import {
  configMaps,
  networkAttachmentDefinitions,
  operatorConfigName,
  pods as podType,
  sriovNetworkNodeStates,
  sriovNetworks,
  sriovOperatorConfigs,
} from "@switchyard/api";
import { listPages, objectPath, type KubeObject, type ResourceType } from "@switchyard/kube";
import { createServer, type AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { componentSettings } from "../src/operator/identity-objects.ts";
import { ofKind, place } from "../faults/scenarios/scenario.ts";
import { daemonSets, namespaces } from "../faults/types.ts";
import { changePolicy, create, createKinds, deleteKind, merge, patient } from "./acts.ts";
import { untilAsWanted, type Accident, type World } from "./checker.ts";

const { namespace, operatorServiceAccount } = componentSettings;

const clusterScoped = (group: string, kind: string, plural: string): ResourceType => ({
  ...{ group, version: "v1", kind, plural, namespaced: false },
});
const flowSchemas = clusterScoped("flowcontrol.apiserver.k8s.io", "FlowSchema", "flowschemas");
const priorityLevels = clusterScoped(flowSchemas.group, "PriorityLevelConfiguration", "prioritylevelconfigurations");
const admission = "admissionregistration.k8s.io";
const registrations = clusterScoped(admission, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations");
const policies = clusterScoped(admission, "ValidatingAdmissionPolicy", "validatingadmissionpolicies");
const bindings = clusterScoped(admission, "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings");
const mutations = clusterScoped(admission, "MutatingAdmissionPolicy", "mutatingadmissionpolicies");
const mutationBindings = clusterScoped(admission, "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings");
const apiServices = clusterScoped("apiregistration.k8s.io", "APIService", "apiservices");

/** The object of a cluster-scoped kind, with its name. */
const object = ({ group, version, kind }: ResourceType, name: string, spec: object) => ({
  ...{ apiVersion: `${group}/${version}`, kind, metadata: { name }, spec },
});

/** Creates the objects, acts, and deletes them. */
async function during(
  world: World,
  objects: readonly (readonly [ResourceType, object])[],
  act: () => Promise<unknown>,
) {
  for (const [type, body] of objects) await create(world, type, body);
  try {
    await act();
  } finally {
    for (const [type, body] of objects.toReversed())
      await world.cluster.users.delete(type, (body as KubeObject).metadata);
  }
}

const matching = (apiGroup: string, resources: readonly string[], operations: readonly string[]) => ({
  resourceRules: [{ apiGroups: [apiGroup], apiVersions: ["*"], resources, operations }],
});

/** A server that accepts connections and never answers. */
async function silentServer(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer();
  const sockets = new Set<{ destroy(): void }>();
  server.on("connection", (socket) => {
    sockets.add(socket.on("error", () => undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => {
          resolve();
        });
      }),
  };
}

async function daemonPods({ cluster }: World): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  for await (const { items } of listPages(cluster.transport, { type: podType, namespace })) found.push(...items);
  return found.filter(({ metadata }) => metadata.ownerReferences?.some(({ kind }) => kind === daemonSets.kind));
}

export const thirdParties: readonly Accident[] = [
  {
    name: "the API server has no capacity for the operator for twenty seconds, while a policy changes",
    mayChangeVfs: true,
    async act(world) {
      const limited = { nominalConcurrencyShares: 0, lendablePercent: 0, borrowingLimitPercent: 0 };
      const level = { type: "Limited", limited: { ...limited, limitResponse: { type: "Reject" } } };
      const subject = { kind: "ServiceAccount", serviceAccount: { name: operatorServiceAccount, namespace } };
      const everything = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true };
      const schema = {
        priorityLevelConfiguration: { name: "starved" },
        matchingPrecedence: 2, // 1 is that of the exempt
        rules: [
          {
            subjects: [subject],
            resourceRules: [everything],
            nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
          },
        ],
      };
      const objects = [
        [priorityLevels, object(priorityLevels, "starved", level)],
        [flowSchemas, object(flowSchemas, "starved", schema)],
      ] as const;
      await during(world, objects, async () => {
        await delay(2_000);
        await changePolicy(world);
        await delay(18_000);
      });
      if (!world.cluster.injector.writes.some(({ status }) => status === 429))
        throw new Error("the API server has refused no write of the operator");
    },
  },
  {
    name: "a webhook of others takes three seconds for each write of ours and of Nodes, while a policy changes",
    mayChangeVfs: true,
    withinMs: 300_000,
    async act(world) {
      await using server = await silentServer();
      const rules = ["sriovnetwork.openshift.io", ""].map((group) => ({
        ...{ apiGroups: [group], apiVersions: ["*"], operations: ["*"] },
        resources: group === "" ? ["nodes"] : ["*/*"],
      }));
      const webhook = {
        ...{ name: "slow.example.com", clientConfig: { url: server.url }, rules, failurePolicy: "Ignore" },
        ...{ timeoutSeconds: 3, sideEffects: "None", admissionReviewVersions: ["v1"] },
      };
      const { kind } = registrations;
      const slow = { apiVersion: `${admission}/v1`, kind, metadata: { name: "slow" }, webhooks: [webhook] };
      await during(world, [[registrations, slow]], async () => {
        await changePolicy(world);
        await delay(60_000);
      });
    },
  },
  {
    name: "a policy engine adds labels and annotations to all objects of ours, while a policy changes",
    mayChangeVfs: true,
    async act(world) {
      const expression =
        'Object{metadata: Object.metadata{labels: {"example.com/team": "network"}, annotations: {"example.com/by": "engine"}}}';
      const groups = ["sriovnetwork.openshift.io", "apps", "rbac.authorization.k8s.io"];
      const resourceRules = groups.flatMap((group) => matching(group, ["*"], ["CREATE", "UPDATE"]).resourceRules);
      const mutation = {
        matchConstraints: { resourceRules },
        mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression } }],
        ...{ reinvocationPolicy: "IfNeeded", failurePolicy: "Fail" },
      };
      const objects = [
        [mutations, object(mutations, "label", mutation)],
        [mutationBindings, object(mutationBindings, "label", { policyName: "label" })],
      ] as const;
      await during(world, objects, async () => {
        await delay(2_000);
        await changePolicy(world);
        await untilAsWanted(world, patient);
        const labelled = ofKind(world.cluster.observer.objects(), sriovNetworkNodeStates.kind);
        if (!labelled.every(({ metadata }) => metadata.labels?.["example.com/team"] === "network"))
          throw new Error("the policy engine did not act");
      });
    },
  },
  {
    name: "a policy of the cluster refuses the reports of all daemons for twenty seconds, while a policy changes",
    mayChangeVfs: true,
    async act(world) {
      const refusal = {
        matchConstraints: matching("sriovnetwork.openshift.io", ["sriovnetworknodestates/status"], ["UPDATE"]),
        validations: [{ expression: "false", message: "not today" }],
        failurePolicy: "Fail",
      };
      const objects = [
        [policies, object(policies, "refuse", refusal)],
        [bindings, object(bindings, "refuse", { policyName: "refuse", validationActions: ["Deny"] })],
      ] as const;
      await during(world, objects, async () => {
        await delay(2_000);
        await changePolicy(world);
        await delay(20_000);
      });
    },
  },
  {
    name: "an aggregated API does not answer, while the kind of the networks is replaced",
    withinMs: 240_000,
    async act(world) {
      const service = { name: "metrics-server", namespace: "kube-system" };
      const spec = {
        ...{ group: "metrics.k8s.io", version: "v1beta1", groupPriorityMinimum: 100, versionPriority: 100 },
        ...{ insecureSkipTLSVerify: true, service },
      };
      await during(world, [[apiServices, object(apiServices, "v1beta1.metrics.k8s.io", spec)]], async () => {
        await delay(3_000);
        await deleteKind(world, sriovNetworks);
        await delay(5_000);
        await createKinds(world);
        await world.cluster.users.apply(sriovNetworks, {
          metadata: place("late"),
          spec: { resourceName: "fast", networkNamespace: "default" },
        });
        const isThere = () =>
          ofKind(world.cluster.observer.objects(), networkAttachmentDefinitions.kind).some(
            ({ metadata }) => metadata.name === "late",
          );
        await world.cluster.until("the network is there", isThere, patient);
        await world.cluster.users.delete(sriovNetworks, place("late"));
      });
    },
  },
  {
    name: "the namespace enforces the restricted pod security standard, and the pods of the components are deleted",
    withinMs: 300_000,
    async act(world) {
      const enforce = (value: string | null) => {
        const labels = { "pod-security.kubernetes.io/enforce": value };
        const path = objectPath(namespaces, { name: namespace });
        return world.cluster.transport.request({ ...merge, path, body: { metadata: { labels } } });
      };
      const before = await daemonPods(world);
      if (before.length === 0) throw new Error("no component has a pod");
      await enforce("restricted");
      for (const { metadata } of before) await world.cluster.users.delete(podType, metadata);
      await delay(20_000);
      await enforce(null);
      for (let tries = 0; tries < 120 && (await daemonPods(world)).length < before.length; tries++) await delay(1_000);
      const after = await daemonPods(world);
      if (after.length < before.length) throw new Error(`${after.length} of ${before.length} pods are back`);
    },
  },
  {
    name: "a hardening tool makes the ConfigMap of the injector immutable, with other content",
    async act(world) {
      const { observer, transport } = world.cluster;
      const found = () =>
        ofKind(observer.objects(), configMaps.kind).find(({ metadata }) => metadata.name === switches);
      const config = objectPath(sriovOperatorConfigs, place(operatorConfigName));
      const configure = (enableInjector: boolean) =>
        transport.request({ ...merge, path: config, body: { spec: { enableInjector } } });
      await configure(true);
      await world.cluster.until("the ConfigMap is there", () => found() !== undefined, patient);
      const path = objectPath(configMaps, place(switches));
      await transport.request({
        ...merge,
        path,
        body: { data: { "config.json": '{"features":{}}' }, immutable: true },
      });
      const isRepaired = () => {
        const text = JSON.stringify(found());
        return found() !== undefined && text.includes("enableHugePageDownApi");
      };
      await world.cluster.until("the ConfigMap is as wanted", isRepaired, patient);
      await configure(false);
      await world.cluster.until("the ConfigMap is gone", () => found() === undefined, patient);
    },
  },
];

const switches = "nri-control-switches";
