// SPDX-License-Identifier: Apache-2.0
/**
 * The rights of components on nodes, on a real API server with the operator as a process. The operator grants them
 * after the admission policies that limit them, and withdraws them if the API server refuses these policies
 * (sriov-operator.md M-18).
 */
import { afterAll, afterEach, beforeAll, expect, it } from "@jest/globals";
import { conditionTypes, type Condition } from "@switchyard/api";
import { connect, isKubeError, isRecord, type Transport } from "@switchyard/kube";
import { operatorIdentity } from "@switchyard/render";
import { eventually, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { join } from "node:path";
import { spawnKept, type KeptProcess } from "../../src/kept-process.ts";
import { crdFolder } from "../../src/crds/crd-objects.ts";
import { componentSettings, namespace } from "../../src/operator/identity-objects.ts";
import { componentImageFlags, deployedOperatorArguments } from "../../src/operator/operator-command.ts";
import { readIfThere } from "../../src/api/plain-api.ts";

const account = componentSettings.operatorServiceAccount;
const daemon = "sriov-network-config-daemon";
const admission = "/apis/admissionregistration.k8s.io/v1";
const policy = `${admission}/validatingadmissionpolicies/switchyard-own-node-state`;
const ours = `/apis/sriovnetwork.openshift.io/v1/namespaces/${namespace}`;
const config = `${ours}/sriovoperatorconfigs/default`;
const state = `${ours}/sriovnetworknodestates/worker-1`;
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const operatorRole = `${rbac}/clusterroles/${account}`;
const rights = [
  `${rbac}/namespaces/${namespace}/rolebindings/${daemon}`,
  `${rbac}/namespaces/${namespace}/rolebindings/sriov-device-plugin`,
  `${rbac}/clusterrolebindings/${daemon}`,
];

let cluster: ControlPlane;
let admin: Transport;
let operator: KeptProcess;

beforeAll(async () => {
  cluster = await startControlPlane({ auditLog: true });
  await cluster.applyCrds(crdFolder);
  admin = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test" });
  const objects = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    ...operatorIdentity(componentSettings),
    ...["worker-1", "worker-2"].map((name) => {
      const labels = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "" };
      return { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
    }),
    {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovOperatorConfig",
      metadata: { name: "default", namespace },
    },
  ];
  const list = { apiVersion: "v1", kind: "List", items: objects };
  await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(list) });
  operator = await startOperator();
}, 600_000);

afterEach(() => operator.mustBeAlive());

afterAll(async () => {
  await operator.kill();
  await admin[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
}, 60_000);

async function startOperator(): Promise<KeptProcess> {
  const args = [...(await deployedOperatorArguments(cluster)), ...componentImageFlags];
  return spawnKept(args, { log: join(cluster.dataDir, "operator.log"), name: "node-rights-operator" });
}

/** Connects with the token of a config daemon on worker-1, bound to its pod: before Kubernetes 1.31 it cannot be bound to a Node. */
async function daemonClient(): Promise<Transport> {
  const name = "daemon-on-worker-1";
  const spec = { nodeName: "worker-1", serviceAccountName: daemon, containers: [{ name: "daemon", image: "none" }] };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name, namespace }, spec };
  await cluster.kubectl(["apply", "--server-side", "-f", "-"], { input: JSON.stringify(pod) });
  const bound = ["--bound-object-kind=Pod", `--bound-object-name=${name}`];
  const token = await cluster.kubectl(["create", "token", daemon, "-n", namespace, ...bound]);
  return connect({ kubeconfig: await cluster.clientFor({ token: token.trim() }) });
}

/** Writes the status of a node state. Returns "done", or the message of the refusal. */
async function patchStatus(client: Transport, node: string): Promise<string> {
  const path = `${ours}/sriovnetworknodestates/${node}/status`;
  const contentType = "application/merge-patch+json";
  try {
    await client.request({ method: "PATCH", path, contentType, body: { status: { lastSyncError: "x" } } });
    return "done";
  } catch (error) {
    if (isKubeError(error)) return error.message;
    throw error;
  }
}

function read(path: string): Promise<unknown> {
  return readIfThere(admin, path);
}

async function areThere(paths: readonly string[]): Promise<readonly boolean[]> {
  return Promise.all(paths.map(async (path) => (await read(path)) !== undefined));
}

/** The operator's writes of role bindings and admission policies, in order. */
async function operatorsWrites(): Promise<readonly string[]> {
  const events = await cluster.auditEvents();
  return events
    .filter(({ user }) => user.username === `system:serviceaccount:${namespace}:${account}`)
    .filter(({ verb, responseStatus }) => ["patch", "delete"].includes(verb) && (responseStatus?.code ?? 0) < 300)
    .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource ?? ""}/${objectRef?.name ?? ""}`)
    .filter((write) => /rolebindings\/sriov-|validatingadmissionpolic/.test(write));
}

async function isDegraded(words: string): Promise<void> {
  await eventually(`Degraded, because ${words}`, async () => {
    const found = await read(config);
    const status = isRecord(found) && isRecord(found["status"]) ? found["status"] : {};
    const conditions: readonly Condition[] = Array.isArray(status["conditions"]) ? status["conditions"] : [];
    const degraded = conditions.find(({ type }) => type === conditionTypes.degraded);
    return degraded?.status === "True" && degraded.message.includes(words);
  });
}

it("the rights of nodes are granted after the policies and their bindings, and only for the daemon's own node", async () => {
  await eventually("rights", async () => (await areThere(rights)).every(Boolean));
  await eventually("the state", async () => (await read(state)) !== undefined);
  const writes = await operatorsWrites();
  const lastPolicy = writes.findLastIndex((write) => write.includes("validatingadmissionpolic"));
  const firstRight = writes.findIndex((write) => write.includes("rolebindings/sriov-"));
  expect(writes.slice(0, lastPolicy + 1)).toHaveLength(8);
  expect(firstRight).toBeGreaterThan(lastPolicy);

  await using client = await daemonClient();
  await eventually("policies in force", async () => (await patchStatus(client, "worker-2")).includes("may only write"));
  expect(await patchStatus(client, "worker-1")).toBe("done");
});

it("the rights of nodes stay while the operator repairs a deleted or weakened policy within seconds", async () => {
  await using client = await daemonClient();
  const withinMs = 10_000;
  for (const change of ["delete", "weaken"]) {
    const before = JSON.stringify(specOf(await read(policy)));
    if (change === "delete") await admin.request({ method: "DELETE", path: policy });
    else {
      const body = [{ op: "replace", path: "/spec/validations", value: [{ expression: "true" }] }];
      await admin.request({ method: "PATCH", path: policy, body, contentType: "application/json-patch+json" });
    }
    await eventually("the repair", async () => JSON.stringify(specOf(await read(policy))) === before, { withinMs });
    await eventually("in force", async () => (await patchStatus(client, "worker-2")).includes("may only write"), {
      withinMs,
    });
  }
  expect((await operatorsWrites()).filter((write) => write.startsWith("delete"))).toEqual([]);
});

it("the rights of nodes are withdrawn while a policy is refused, with the reason on the config, and are granted again with the policy", async () => {
  await operator.kill();
  const { path, rules, without } = await rulesWithoutPolicies();
  await admin.request({ method: "PATCH", path, body: { rules: without }, contentType: "application/merge-patch+json" });
  await admin.request({ method: "DELETE", path: policy });
  operator = await startOperator();
  await isDegraded("ValidatingAdmissionPolicy switchyard-own-node-state: Forbidden");
  await isDegraded(`RoleBinding ${daemon}: not granted, because the admission policies`);
  expect(await areThere(rights)).toEqual([false, false, false]);
  await using client = await daemonClient();
  await eventually("no rights", async () => (await patchStatus(client, "worker-1")).includes("cannot patch resource"));

  await admin.request({ method: "PATCH", path, body: { rules }, contentType: "application/merge-patch+json" });
  await eventually("rights", async () => (await areThere(rights)).every(Boolean));
  await eventually(
    "the daemon can write its own node state",
    async () => (await patchStatus(client, "worker-1")) === "done",
  );
});

function specOf(object: unknown): unknown {
  return isRecord(object) ? object["spec"] : undefined;
}

/** The rules of the operator's ClusterRole, as they are and without the right to write admission policies. */
async function rulesWithoutPolicies() {
  const role = await read(operatorRole);
  const rules: readonly unknown[] = isRecord(role) && Array.isArray(role["rules"]) ? role["rules"] : [];
  const without = rules.map((rule) => {
    const isOfPolicies = isRecord(rule) && JSON.stringify(rule["resources"]) === '["validatingadmissionpolicies"]';
    return isOfPolicies ? { ...rule, verbs: ["get", "list", "watch", "delete"] } : rule;
  });
  expect(without).not.toEqual(rules);
  return { path: operatorRole, rules, without };
}
