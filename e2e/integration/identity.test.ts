// SPDX-License-Identifier: Apache-2.0
/**
 * Who may do what, on a real API server: the operator deploys all of its components with the rights that it has, and what
 * runs on a node writes what is its own node's only (sriov-operator.md M-18).
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { annotations } from "@switchyard/api";
import { connect, isKubeError, isRecord, type Transport } from "@switchyard/kube";
import type { Manifest } from "@switchyard/render";
import { eventually } from "@switchyard/testing";
import { prepareCluster, type DeployedCluster } from "./deployed-cluster.ts";
import { namespace } from "./identity-objects.ts";

const coldStartMs = 10 * 60_000;
const testMs = 2 * 60_000;
const daemonAccount = "sriov-network-config-daemon";
const pluginAccount = "sriov-device-plugin";

const nodesPath = "/api/v1/nodes";
const oursPath = `/apis/sriovnetwork.openshift.io/v1/namespaces/${namespace}`;
const statesPath = `${oursPath}/sriovnetworknodestates`;

let deployed: DeployedCluster;
let writes = 0;

beforeAll(async () => {
  deployed = await prepareCluster();
}, coldStartMs);
afterAll(async () => {
  await deployed[Symbol.asyncDispose]();
});

describe("the operator", () => {
  it(
    "may apply all that it deploys, and finds it unchanged then",
    async () => {
      const { manifests } = deployed;
      expect(await applyAll()).toEqual(manifests.map((manifest) => [labelOf(manifest), "written"]));
      expect(await applyAll()).toEqual(manifests.map((manifest) => [labelOf(manifest), "unchanged"]));
    },
    testMs,
  );

  it(
    "may write no other webhook, role or secret of the cluster",
    async () => {
      const role = (name: string) => ({
        ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name } },
        rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
      });
      await expect(deployed.apply(role("other"))).rejects.toMatchObject({ code: "Forbidden" });
      await expect(deployed.apply(role("operator-webhook"))).rejects.toMatchObject({ code: "Forbidden" });
      const secrets = "/api/v1/namespaces/kube-system/secrets";
      await expect(deployed.operator.request({ method: "GET", path: secrets })).rejects.toMatchObject({
        code: "Forbidden",
      });
    },
    testMs,
  );

  it(
    "is not kept away by its webhook, which does not serve; users are",
    async () => {
      const patch = (client: Transport, name: string) =>
        client.request({
          method: "PATCH",
          path: `${oursPath}/sriovoperatorconfigs/default`,
          contentType: "application/merge-patch+json",
          body: { metadata: { labels: { [name]: "was-here" } } },
        });
      await using admin = await connect({ kubeconfig: deployed.cluster.kubeconfig });
      await eventually("the webhook is asked", async () => {
        const outcome = await patch(admin, `user-${writes++}`).catch((error: unknown) => error);
        return isKubeError(outcome, "InternalError");
      });
      await patch(deployed.operator, "operator");
    },
    testMs,
  );
});

describe("the config daemon", () => {
  it(
    "may write the status, and its request, of its own node's state",
    async () => {
      await using daemon = await deployed.clientOf(daemonAccount, "worker-1");
      await becomesEffective(daemon);
      await patchStatus(daemon, "worker-1");
      await annotate(daemon, `${statesPath}/worker-1`, { [annotations.desiredState]: "Drain_Required" });
      await annotate(daemon, `${nodesPath}/worker-1`, { [annotations.nodeState]: "Drain_Required" });
    },
    testMs,
  );

  it(
    "may write nothing of another node",
    async () => {
      await using daemon = await deployed.clientOf(daemonAccount, "worker-1");
      const onlyOwn = /on node worker-1 may write the (Node|SriovNetworkNodeState) worker-1 only, not worker-2/;
      await isRefused(patchStatus(daemon, "worker-2"), onlyOwn);
      await isRefused(annotate(daemon, `${statesPath}/worker-2`, { [annotations.desiredState]: "Idle" }), onlyOwn);
      await isRefused(annotate(daemon, `${nodesPath}/worker-2`, { [annotations.nodeState]: "Idle" }), onlyOwn);
    },
    testMs,
  );

  it.each([
    { what: "another annotation", path: `${nodesPath}/worker-1`, change: annotation("other") },
    { what: "a label", path: `${nodesPath}/worker-1`, change: { metadata: { labels: { other: "x" } } } },
    { what: "a cordon", path: `${nodesPath}/worker-1`, change: { spec: { unschedulable: true } } },
    { what: "the operator's answer", path: `${statesPath}/worker-1`, change: annotation(annotations.currentState) },
    { what: "its own orders", path: `${statesPath}/worker-1`, change: { spec: { interfaces: [] } } },
    { what: "a finalizer", path: `${statesPath}/worker-1`, change: { metadata: { finalizers: ["a.b/c"] } } },
  ])(
    "may not write $what, even of its own node",
    async ({ path, change }) => {
      await using daemon = await deployed.clientOf(daemonAccount, "worker-1");
      await isRefused(merge(daemon, path, change), /may change only the annotations? sriovnetwork\.openshift\.io/);
    },
    testMs,
  );

  it(
    "may write nothing with a token that names no node",
    async () => {
      await using daemon = await deployed.clientOf(daemonAccount);
      await isRefused(patchStatus(daemon, "worker-1"), /its token names no node/);
      const request = { [annotations.nodeState]: "Idle" };
      await isRefused(annotate(daemon, `${nodesPath}/worker-1`, request), /its token names no node/);
    },
    testMs,
  );

  it(
    "is known by the node that its pod runs on",
    async () => {
      const pod = {
        ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "daemon-x", namespace } },
        spec: {
          ...{ nodeName: "worker-2", serviceAccountName: daemonAccount },
          containers: [{ name: "daemon", image: "example.com/daemon:1" }],
        },
      };
      await deployed.create([pod]);
      await using daemon = await deployed.clientOf(daemonAccount, { pod: "daemon-x" });
      await patchStatus(daemon, "worker-2");
      await isRefused(patchStatus(daemon, "worker-1"), /worker-2 only, not worker-1/);
    },
    testMs,
  );
});

describe("the device plugin's configurer", () => {
  it(
    "may write the status of its own node's state only",
    async () => {
      await using plugin = await deployed.clientOf(pluginAccount, "worker-1");
      await patchStatus(plugin, "worker-1");
      await isRefused(patchStatus(plugin, "worker-2"), /worker-1 only, not worker-2/);
    },
    testMs,
  );
});

describe("rights", () => {
  const reads = ["get sriovnetworknodestates", "list sriovnetworknodestates", "watch sriovnetworknodestates"];
  const denied = [
    "create sriovnetworknodestates",
    "delete sriovnetworknodestates",
    "update sriovnetworknodestates",
    "patch sriovnetworknodepolicies",
    "patch sriovoperatorconfigs",
    "get secrets",
    "list pods",
    "delete pods",
    "patch daemonsets",
    "update nodes",
    "delete nodes",
    "patch nodes/status",
    "create clusterrolebindings",
  ];

  it.each([
    {
      account: daemonAccount,
      allowed: [...reads, "patch sriovnetworknodestates", "patch sriovnetworknodestates/status", "patch nodes"],
    },
    { account: pluginAccount, allowed: [...reads, "patch sriovnetworknodestates/status"] },
    { account: "operator-webhook-sa", allowed: [...reads, "list sriovnetworknodepolicies", "watch nodes"] },
    { account: "network-resources-injector-sa", allowed: ["list network-attachment-definitions"] },
    { account: "metrics-exporter-sa", allowed: ["create tokenreviews"] },
  ])(
    "of $account are what it needs, and nothing else of the cluster",
    async ({ account, allowed }) => {
      await using client = await deployed.clientOf(account);
      const asked = [...new Set([...denied, ...allowed])];
      const granted = await Promise.all(asked.map(async (right) => ((await may(client, right)) ? [right] : [])));
      expect(new Set(granted.flat())).toEqual(new Set(allowed));
    },
    testMs,
  );
});

/** Asks the API server whether the client has a right, "patch nodes/status", in the operator's namespace. */
async function may(client: Transport, right: string): Promise<boolean> {
  const [, verb = "", resource = "", subresource] = /^(\w+) ([\w-]+)(?:\/(\w+))?$/.exec(right) ?? [];
  const group = groups.find(([start]) => resource.startsWith(start))?.[1] ?? "";
  const answer = await client.request({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: { namespace, verb, group, resource, subresource } },
    },
  });
  return isRecord(answer) && isRecord(answer["status"]) && answer["status"]["allowed"] === true;
}

/** Of resources by how they begin; the others are core. */
const groups = [
  ["sriov", "sriovnetwork.openshift.io"],
  ["network-attachment", "k8s.cni.cncf.io"],
  ["daemonsets", "apps"],
  ["clusterrole", "rbac.authorization.k8s.io"],
  ["tokenreviews", "authentication.k8s.io"],
] as const;

function annotation(name: string) {
  return { metadata: { annotations: { [name]: "x" } } };
}

/** One after the other, as an object may need the one before. */
async function applyAll(): Promise<readonly (readonly [string, string])[]> {
  const results: (readonly [string, string])[] = [];
  for (const manifest of deployed.manifests) results.push([labelOf(manifest), await deployed.apply(manifest)]);
  return results;
}

function labelOf({ kind, metadata }: Manifest): string {
  return `${kind}/${metadata.name}`;
}

/** The API server looks for new admission policies and roles now and then only. */
async function becomesEffective(daemon: Transport): Promise<void> {
  await eventually("policies in force", async () => {
    const outcome = await patchStatus(daemon, "worker-2").catch((error: unknown) => error);
    return isKubeError(outcome, "Forbidden") && outcome.message.includes("only, not");
  });
}

async function patchStatus(client: Transport, node: string): Promise<unknown> {
  const status = { syncStatus: "Succeeded", lastSyncError: `write ${writes++}` };
  return merge(client, `${statesPath}/${node}/status`, { status });
}

async function annotate(client: Transport, path: string, changes: Readonly<Record<string, string>>): Promise<unknown> {
  return merge(client, path, { metadata: { annotations: changes } });
}

async function merge(client: Transport, path: string, body: object): Promise<unknown> {
  return client.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
}

async function isRefused(request: Promise<unknown>, because: RegExp): Promise<void> {
  await expect(request).rejects.toMatchObject({
    code: "Forbidden",
    message: expect.stringMatching(because),
  });
}
