// SPDX-License-Identifier: Apache-2.0
/**
 * Switchyard takes over the components that upstream's operator deployed. It replaces objects in place, removes
 * leftovers, leaves the objects of others alone, and blocks no request while a registered webhook does not serve
 * (sriov-operator.md M-50). Then upstream takes over again, Switchyard once more, and finally the SriovOperatorConfig
 * is deleted while no operator runs.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  labels as labelKeys,
  nodes,
  operatorConfigName,
  sriovNetworkNodePolicies,
  sriovOperatorConfigs,
  type Condition,
  type ResourceType,
} from "@switchyard/api";
import { keepNodesReady, namespace } from "@switchyard/test-cluster";
import {
  apiVersionOf,
  collectionPath,
  connect,
  isKubeError,
  isRecord,
  objectPath,
  type KubeObject,
  type Transport,
} from "@switchyard/kube";
import { componentKinds } from "@switchyard/render";
import { eventually, findWorkspaceRoot, isWrite } from "@switchyard/testing";
import { join } from "node:path";
import { disposeOf } from "../src/dispose-of.ts";
import { monitoringCrds } from "../src/operator/identity-objects.ts";
import { simulatePods, type ComponentPods } from "../src/pods/component-pods.ts";
import {
  installOperator,
  operatorAccount,
  operatorUser,
  upstreamEnvironment,
  type DeployedOperator,
} from "./deployed-operator.ts";
import {
  chartPieces,
  helm,
  leaveComponents,
  operatorPieces,
  ownedBy,
  registrationPieces,
  writeAsUpstream,
  type LeftComponents,
  type Stored,
} from "./upstream-components.ts";
import { leaveNetwork, upstreamNetworks } from "./upstream-networks.ts";
import { startUpstreamCluster, upstream, type UpstreamCluster } from "../src/operator/upstream-cluster.ts";

const { DaemonSet, ClusterRole, ClusterRoleBinding, ValidatingAdmissionPolicy } = componentKinds;
const { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } = componentKinds;

let testCluster: UpstreamCluster;
let pods: ComponentPods;
let heartbeats: AsyncDisposable;
let left: LeftComponents;
let caBundle: string;
let operator: DeployedOperator;
/**
 * A client of the user that the webhooks exempt. In this cluster no webhook ever answers, because no Service has an
 * endpoint.
 */
let exempt: Transport;

beforeAll(async () => {
  testCluster = await startUpstreamCluster({ controllerManager: true });
  await testCluster.kubectl(["create", "-f", "-"], { apiVersion: "v1", kind: "List", items: monitoringCrds });
  exempt = await connect({
    kubeconfig: await testCluster.cluster.clientFor({ user: operatorUser, groups: ["system:masters"] }),
  });
  for (const [name, role] of [
    ["control-1", "control-plane"],
    ["worker-1", "worker"],
  ] as const) {
    const labels = { "kubernetes.io/os": "linux", [`node-role.kubernetes.io/${role}`]: "" };
    const offers = role === "worker" ? { [labelKeys.devicePlugin]: "Enabled" } : {};
    await testCluster.as(upstream.user).create(nodes, { metadata: { name, labels: { ...labels, ...offers } } });
  }
  heartbeats = await keepNodesReady(testCluster.transport, ["control-1", "worker-1"]);
  const authority = ["get", "configmap", "kube-root-ca.crt", "-o", "jsonpath={.data.ca\\.crt}"];
  caBundle = Buffer.from(await testCluster.kubectl(authority)).toString("base64");
  pods = simulatePods(testCluster.transport, namespace);
  pods.run(true);
  left = await leaveComponents(testCluster);
  await testCluster
    .as("kubectl-label")
    .patch(DaemonSet, "sriov-device-plugin", { metadata: { labels: { mine: "kept" } } });
  for (const { type, stored } of left.pieces) {
    if (type === DaemonSet) await eventually(`${stored.metadata.name} runs`, () => isRolledOut(stored.metadata.name));
  }
  await testCluster.cluster.applyCrds(join(findWorkspaceRoot(), "libs/testing/testdata/multus"));
  await testCluster.cluster.kubectl(["create", "namespace", "tenant"]);
  for (const network of upstreamNetworks) await leaveNetwork(testCluster, network);
  operator = await installOperator(testCluster, upstreamEnvironment(caBundle));
  await register();
}, 120_000);

afterAll(async () => {
  await operator.stop();
  await disposeOf(heartbeats, pods, exempt, testCluster);
}, 60_000);

/** Registers the webhooks. This is the last step, because every later write of a custom resource fails. */
async function register(): Promise<void> {
  for (const { type, object } of registrationPieces(caBundle))
    await testCluster.as(upstream.operator).create(type, object);
}

/** Returns the value at this path; undefined if it does not exist. */
function at(object: unknown, ...fields: readonly (string | number)[]): unknown {
  return fields.reduce<unknown>((value, field) => {
    if (Array.isArray(value)) return value[Number(field)] as unknown;
    return isRecord(value) ? value[field] : undefined;
  }, object);
}

async function isRolledOut(daemonSet: string): Promise<boolean> {
  const object = await testCluster.read(DaemonSet, daemonSet);
  const status = readStatus(object);
  const {
    desiredNumberScheduled: desired,
    numberAvailable: available = 0,
    updatedNumberScheduled: updated = 0,
  } = status;
  return status["observedGeneration"] === object.metadata.generation && available === desired && updated === desired;
}

function readStatus(object: unknown): Readonly<Record<string, unknown>> {
  const status = at(object, "status");
  return isRecord(status) ? status : {};
}

/**
 * Waits for the condition. The Ready condition that upstream left is for the same generation, so `words` may have to
 * tell them apart.
 */
async function configIs(type: string, reason: string, words = ""): Promise<void> {
  await eventually(`SriovOperatorConfig ${type} ${reason} ${words}`, async () => {
    const list = readStatus(await testCluster.read(sriovOperatorConfigs, operatorConfigName))["conditions"];
    const conditions: readonly Condition[] = Array.isArray(list) ? list : [];
    const found = conditions.find((condition) => condition.type === type);
    if (found?.status === "True" && found.reason === reason && found.message.includes(words)) return true;
    throw new Error(JSON.stringify(conditions));
  });
}

/** Retries, because the API server notices a changed webhook configuration with a short delay. */
async function writePolicy(name: string, by: Transport): Promise<void> {
  await eventually(`policy ${name}`, async () => (await tryPolicy(name, by)) === "written");
}

/** Returns "written", or the code of the error: "InternalError" if no webhook answers. */
async function tryPolicy(name: string, by: Transport, query: { readonly dryRun?: "All" } = {}): Promise<string> {
  const body = {
    apiVersion: apiVersionOf(sriovNetworkNodePolicies),
    kind: sriovNetworkNodePolicies.kind,
    metadata: { name },
    spec: { resourceName: "fast", numVfs: 2, nodeSelector: {}, nicSelector: { pfNames: ["ens1f0"] } },
  };
  try {
    await by.request({ method: "POST", path: collectionPath(sriovNetworkNodePolicies, namespace), query, body });
    return "written";
  } catch (error) {
    if (isKubeError(error)) return error.code;
    throw error;
  }
}

/** Returns the failurePolicy of each webhook configuration for Switchyard's custom resources. */
async function failurePolicies(): Promise<readonly unknown[]> {
  const types = [MutatingWebhookConfiguration, ValidatingWebhookConfiguration];
  const found = await Promise.all(types.map((type) => testCluster.find(type, "sriov-operator-webhook-config")));
  return found.map((object) => at(object, "webhooks", 0, "failurePolicy"));
}

const idOf = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.name}`;
const versionOf = ({ metadata: { uid, resourceVersion } }: KubeObject) => ({ uid, resourceVersion });

/** Returns each object as it is now; undefined if it does not exist. */
async function findAll(all: readonly Stored[]): Promise<readonly (readonly [string, KubeObject | undefined])[]> {
  return Promise.all(
    all.map(async ({ type, stored }) => [idOf(stored), await testCluster.find(type, stored.metadata)] as const),
  );
}

/** Returns what the API server would store if the applied configuration created an object. */
async function madeAnew(type: ResourceType, applied: unknown): Promise<unknown> {
  const path = collectionPath(type, type.namespaced ? namespace : undefined);
  const body = { ...(isRecord(applied) ? applied : {}), metadata: { name: "made-anew" } };
  return testCluster.transport.request({ method: "POST", path, query: { dryRun: "All" }, body });
}

/** Returns the object without metadata, status and the addresses that the API server assigns. */
function contentOf(object: unknown): unknown {
  const { metadata: _, status: _status, ...content } = isRecord(object) ? object : {};
  const { clusterIP: _address, clusterIPs: _addresses, ...spec } = isRecord(content["spec"]) ? content["spec"] : {};
  return { ...content, spec };
}

const daemonSets = () => left.pieces.filter(({ type }) => type === DaemonSet);

/**
 * Objects of upstream that Switchyard does not need and removes. On OpenShift it needs the two roles of the exporter.
 */
const leftovers = [
  "DaemonSet sriov-cni",
  "ServiceAccount sriov-cni",
  "RoleBinding sriov-cni",
  "Role sriov-device-plugin-pod-access",
  "RoleBinding sriov-device-plugin-pod-access",
  "Role metrics-exporter-role",
  "RoleBinding metrics-exporter-rb",
];

describe("a take-over from an operator that was killed and whose webhook does not serve", () => {
  it("starts in a cluster where every write fails (sriov-operator.md M-50)", async () => {
    for (const by of [testCluster.transport, exempt]) {
      await eventually(
        "every write is refused",
        async () => (await tryPolicy("early", by, { dryRun: "All" })) === "InternalError",
      );
    }
  });

  it("sets the webhooks to Ignore before one of Switchyard's pods serves", async () => {
    pods.run(false);
    operator.start();
    await configIs("Progressing", "RollingOut", "operator-webhook: 0 of 1 pods available");
    expect(await failurePolicies()).toEqual(["Ignore", "Ignore"]);
    await writePolicy("early", testCluster.transport);
    await eventually("all finalizers are removed", async () => {
      const config = await testCluster.read(sriovOperatorConfigs, operatorConfigName);
      const networks = upstreamNetworks.map(({ type, name, within }) =>
        testCluster.read(type, { name, namespace: within }),
      );
      return [config, ...(await Promise.all(networks))].every(({ metadata }) => metadata.finalizers === undefined);
    });
  });

  it("ends with all components deployed and with webhooks that fail closed", async () => {
    pods.run(true);
    await configIs("Ready", "OperatorConfigReady");
    await eventually("all pods are replaced", async () => {
      const list = readStatus(await testCluster.read(sriovOperatorConfigs, operatorConfigName))["conditions"];
      return (
        Array.isArray(list) && list.some((one) => at(one, "type") === "Progressing" && at(one, "status") === "False")
      );
    });
    expect(await failurePolicies()).toEqual(["Fail", "Fail"]);
    await writePolicy("late", exempt);
  });

  it("does not set a webhook to Fail before one of its pods is available", async () => {
    const events = (await testCluster.audit()).filter((event) => isWrite(event) && event.responseStatus?.code === 200);
    const isOf = (name: string, resource: string, subresource?: string) =>
      events.filter(({ objectRef }) => {
        return objectRef?.name === name && objectRef.resource === resource && objectRef.subresource === subresource;
      });
    const binding = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"].flatMap((resource) =>
      isOf("sriov-operator-webhook-config", resource).filter(({ user, requestObject }) => {
        const isOurs = user.username === operatorUser;
        return isOurs && at(requestObject, "webhooks", 0, "failurePolicy") === "Fail";
      }),
    );
    expect(binding).toHaveLength(2);
    const available = isOf("operator-webhook", "daemonsets", "status").filter(({ requestObject }) => {
      const { updatedNumberScheduled, numberAvailable, observedGeneration } = readStatus(requestObject);
      return Number(observedGeneration) > 1 && updatedNumberScheduled === 1 && numberAvailable === 1;
    });
    const [first] = available;
    for (const { requestReceivedTimestamp } of binding) {
      expect(requestReceivedTimestamp > (first?.stageTimestamp ?? "~")).toBe(true);
    }
  });
});

describe("the components that upstream deployed", () => {
  it("are replaced in place: the objects keep their uid, and DaemonSets their selector", async () => {
    const stays = left.pieces.filter(({ stored }) => !leftovers.includes(idOf(stored)));
    for (const [id, now] of await findAll(stays)) {
      const before = stays.find(({ stored }) => idOf(stored) === id)?.stored;
      expect([id, now?.metadata.uid]).toEqual([id, before?.metadata.uid]);
      expect(at(now, "spec", "selector")).toEqual(at(before, "spec", "selector"));
    }
  });

  it("equal newly created ones: no field is left that only upstream set", async () => {
    const events = (await testCluster.audit()).filter(
      (event) => isWrite(event) && event.user.username === operatorUser,
    );
    const registrations = registrationPieces(caBundle).map(({ type, object }) => ({ type, metadata: object.metadata }));
    const pieces = left.pieces.map(({ type, stored: { metadata } }) => ({ type, metadata }));
    for (const { type, metadata } of [...pieces, ...registrations]) {
      const now = await testCluster.find(type, metadata);
      if (now === undefined) continue;
      const applied = events.findLast(({ verb, objectRef }) => {
        return verb === "patch" && objectRef?.resource === type.plural && objectRef.name === metadata.name;
      });
      expect([idOf(now), contentOf(now)]).toEqual([idOf(now), contentOf(await madeAnew(type, applied?.requestObject))]);
      const writers = now.metadata.managedFields?.filter(({ fieldsV1, subresource }) => {
        return (
          subresource === undefined && isRecord(fieldsV1) && Object.keys(fieldsV1).some((key) => key !== "f:metadata")
        );
      });
      const theirs = writers?.map(({ manager }) => manager).filter((manager) => manager === upstream.operator);
      expect([idOf(now), theirs]).toEqual([idOf(now), []]);
    }
  });

  it("are deleted if Switchyard does not need them, and nothing else is deleted", async () => {
    const gone = (await findAll(left.pieces)).filter(([, now]) => now === undefined).map(([id]) => id);
    expect(gone.toSorted()).toEqual(leftovers.toSorted());
    const events = await testCluster.audit();
    const deleted = events.filter(({ verb, user, responseStatus }) => {
      return verb === "delete" && user.username === operatorUser && responseStatus?.code === 200;
    });
    const expected = left.pieces.filter(({ stored }) => leftovers.includes(idOf(stored)));
    expect(deleted.map(({ objectRef }) => [objectRef?.resource, objectRef?.name].join(" ")).toSorted()).toEqual(
      expected.map(({ type, stored }) => [type.plural, stored.metadata.name].join(" ")).toSorted(),
    );
  });

  it("keep the labels of users, and the config daemon keeps only the rights that it needs", async () => {
    expect(await testCluster.read(DaemonSet, "sriov-device-plugin")).toMatchObject({
      metadata: { labels: { mine: "kept" } },
    });
    const role = await testCluster.read(ClusterRole, "sriov-network-config-daemon");
    expect(at(role, "rules")).toEqual([{ apiGroups: [""], resources: ["nodes"], verbs: ["get", "patch"] }]);
  });

  it("are the only objects that change: the objects of others stay as they were", async () => {
    for (const { type, stored } of left.untouched) {
      const now = await testCluster.find(type, stored.metadata);
      // The DaemonSet controller writes the status, which changes resourceVersion.
      const version = (object: KubeObject) => (type === DaemonSet ? object.metadata.generation : versionOf(object));
      expect([idOf(stored), now && version(now)]).toEqual([idOf(stored), version(stored)]);
    }
  });
});

describe("going back to upstream", () => {
  it("finds no cluster-scoped object of Switchyard after the operator's ClusterRole is deleted", async () => {
    await operator.stop();
    await testCluster.kubectl(["delete", "clusterrole", operatorAccount]);
    const daemon = "sriov-network-config-daemon";
    await eventually("all objects that it owns are deleted", async () => {
      const types = [ClusterRole, ClusterRoleBinding];
      const roles = await Promise.all(types.map((type) => testCluster.find(type, daemon)));
      const policy = await testCluster.find(ValidatingAdmissionPolicy, "switchyard-own-node");
      return [...roles, policy, ...(await failurePolicies())].every((object) => object === undefined);
    });
    await testCluster.kubectl(["delete", "serviceaccount,role,rolebinding", daemon]);
  });

  it("lets upstream's chart and operator create and update all components", async () => {
    const chart = testCluster.as(helm);
    for (const { type, object } of chartPieces()) await chart.create(type, object);
    for (const piece of operatorPieces()) await writeAsUpstream(testCluster, ownedBy(left.config, piece));
    const { finalizers } = left.config.metadata;
    await testCluster
      .as(upstream.operator)
      .patch(sriovOperatorConfigs, operatorConfigName, { metadata: { finalizers } });
    await register();
    for (const [id, now] of await findAll(daemonSets())) {
      const before = daemonSets().find(({ stored }) => idOf(stored) === id)?.stored;
      expect([id, at(now, "spec", "template")]).toEqual([id, at(before, "spec", "template")]);
    }
    for (const { stored } of daemonSets()) await eventually(idOf(stored), () => isRolledOut(stored.metadata.name));
  });

  it("can be followed by another take-over of the same objects", async () => {
    await operator.install();
    const before = await findAll(daemonSets());
    operator.start();
    await eventually("the webhooks fail closed and exempt the operator", async () => {
      const registered = await testCluster.find(ValidatingWebhookConfiguration, "sriov-operator-webhook-config");
      return (
        at(registered, "webhooks", 0, "matchConditions") !== undefined &&
        (await failurePolicies()).every((policy) => policy === "Fail")
      );
    });
    await eventually("the leftovers are deleted again", async () => {
      return (await findAll(left.pieces)).every(([id, now]) => leftovers.includes(id) === (now === undefined));
    });
    const staying = before.filter(([id]) => !leftovers.includes(id));
    const after = new Map(await findAll(daemonSets()));
    for (const [id, object] of staying) expect([id, after.get(id)?.metadata.uid]).toEqual([id, object?.metadata.uid]);
  });
});

describe("deleting the SriovOperatorConfig while no operator runs", () => {
  it("does not hang, and deletes the deployed components", async () => {
    await operator.stop();
    const path = objectPath(sriovOperatorConfigs, { name: operatorConfigName, namespace });
    const body = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Foreground" };
    await exempt.request({ method: "DELETE", path, body });
    const allGone = async () => {
      const config = await testCluster.find(sriovOperatorConfigs, operatorConfigName);
      const namespaced = (await findAll(left.pieces)).filter(([, now]) => now?.metadata.namespace !== undefined);
      return config === undefined && namespaced.length === 0;
    };
    // The garbage collector discovers new kinds every 30 s.
    await eventually("all components are deleted", allGone, { withinMs: 60_000 });
  }, 90_000);

  it("blocks no request after the operator is uninstalled, and keeps the objects of others", async () => {
    await testCluster.kubectl(["delete", "clusterrole", operatorAccount]);
    await eventually("no webhook is registered", async () =>
      (await failurePolicies()).every((policy) => policy === undefined),
    );
    await writePolicy("afterwards", testCluster.transport);
    const foreign = left.untouched.filter(({ stored }) => stored.metadata.ownerReferences === undefined);
    expect((await findAll(foreign)).filter(([, now]) => now === undefined)).toEqual([]);
  });
});
