// SPDX-License-Identifier: Apache-2.0
/**
 * The rights of each component on a real API server. The operator deploys all components with its own rights, and a
 * component on a node writes only the objects of that node (sriov-operator.md M-18).
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { annotations } from "@switchyard/api";
import { certificateFlags, issueWebhookCertificate, writeWebhookCertificate } from "@switchyard/test-cluster";
import { connect, isKubeError, isRecord, type Transport } from "@switchyard/kube";
import type { Manifest } from "@switchyard/render";
import { createFakeKernel, igb, serveFakeKernel } from "@switchyard/host/testing";
import { eventually, findFreePorts } from "@switchyard/testing";
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { prepareCluster, type DeployedCluster } from "./deployed-cluster.ts";
import { namespace } from "../../src/operator/identity-objects.ts";
import { startRendered, type RenderedProcess } from "./rendered-process.ts";

const coldStartMs = 10 * 60_000;
const testMs = 2 * 60_000;
const daemonAccount = "sriov-network-config-daemon";
const pluginAccount = "sriov-device-plugin";

const nodesPath = "/api/v1/nodes";
const oursPath = `/apis/sriovnetwork.openshift.io/v1/namespaces/${namespace}`;
const statesPath = `${oursPath}/sriovnetworknodestates`;
const afxdpPath = `/apis/afxdpnetwork.hns.dev/v1alpha1/namespaces/${namespace}/afxdpnetworknodestates`;

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
    "can apply all objects that it deploys, and writes nothing the second time",
    async () => {
      const { manifests } = deployed;
      expect(await applyAll()).toEqual(manifests.map((manifest) => [labelOf(manifest), "written"]));
      expect(await applyAll()).toEqual(manifests.map((manifest) => [labelOf(manifest), "unchanged"]));
    },
    testMs,
  );

  it(
    "cannot write other roles or broader rules, or read Secrets of other namespaces",
    async () => {
      const role = (name: string) => ({
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRole",
        metadata: { name },
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
    "is not blocked by its own webhook if that does not serve; users are",
    async () => {
      const patch = (client: Transport, name: string) =>
        client.request({
          method: "PATCH",
          path: `${oursPath}/sriovoperatorconfigs/default`,
          contentType: "application/merge-patch+json",
          body: { metadata: { labels: { [name]: "was-here" } } },
        });
      await using admin = await connect({ kubeconfig: deployed.cluster.kubeconfig });
      await eventually("the API server calls the webhook", async () => {
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
    "can write the status and the drain request of its own node",
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
    "cannot write objects of another node",
    async () => {
      await using daemon = await deployed.clientOf(daemonAccount, "worker-1");
      const onlyOwn = /on node worker-1 may only write the (Node|SriovNetworkNodeState) worker-1, not worker-2/;
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
    { what: "its own spec", path: `${statesPath}/worker-1`, change: { spec: { interfaces: [] } } },
    { what: "the answer for AF_XDP", path: `${afxdpPath}/worker-1`, change: annotation(annotations.currentState) },
    { what: "its spec for AF_XDP", path: `${afxdpPath}/worker-1`, change: { spec: { interfaces: [] } } },
    { what: "a finalizer", path: `${statesPath}/worker-1`, change: { metadata: { finalizers: ["a.b/c"] } } },
  ])(
    "cannot write $what, even of its own node",
    async ({ path, change }) => {
      await using daemon = await deployed.clientOf(daemonAccount, "worker-1");
      await isRefused(merge(daemon, path, change), /may only change the annotations? sriovnetwork\.openshift\.io/);
    },
    testMs,
  );

  it(
    "cannot write with a token that names no node",
    async () => {
      await using daemon = await deployed.clientOf(daemonAccount);
      await isRefused(patchStatus(daemon, "worker-1"), /its token contains no node name/);
      const request = { [annotations.nodeState]: "Idle" };
      await isRefused(annotate(daemon, `${nodesPath}/worker-1`, request), /its token contains no node name/);
    },
    testMs,
  );

  it(
    "is limited to the node of its pod if its token is bound to the pod",
    async () => {
      const pod = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "daemon-x", namespace },
        spec: {
          nodeName: "worker-2",
          serviceAccountName: daemonAccount,
          containers: [{ name: "daemon", image: "example.com/daemon:1" }],
        },
      };
      await deployed.create([pod]);
      await using daemon = await deployed.clientOf(daemonAccount, { pod: "daemon-x" });
      await patchStatus(daemon, "worker-2");
      await isRefused(patchStatus(daemon, "worker-1"), / worker-2, not worker-1/);
    },
    testMs,
  );
});

describe("the device plugin's init container", () => {
  it(
    "can write only the status of its own node's state",
    async () => {
      await using plugin = await deployed.clientOf(pluginAccount, "worker-1");
      await patchStatus(plugin, "worker-1");
      await isRefused(patchStatus(plugin, "worker-2"), /worker-1, not worker-2/);
    },
    testMs,
  );
});

describe("the components for AF_XDP on a node", () => {
  it.each([daemonAccount, "afxdp-device-plugin", "afxdp-plugins"])(
    "can write the status of the AfxdpNetworkNodeState of their own node only: %s",
    async (account) => {
      await using client = await deployed.clientOf(account, "worker-1");
      const change = { status: { syncStatus: "Succeeded" } };
      const onlyOwn = "only write the AfxdpNetworkNodeState worker-1, not worker-2";
      await eventually("the policy is in effect", async () => {
        const refusal = await merge(client, `${afxdpPath}/worker-2/status`, change).catch((error: unknown) => error);
        return isKubeError(refusal) && refusal.message.includes(onlyOwn);
      });
      await merge(client, `${afxdpPath}/worker-1/status`, change);
      const request = annotate(client, `${afxdpPath}/worker-1`, { [annotations.desiredState]: "Drain_Required" });
      // The daemon requests drains.
      await (account === daemonAccount ? request : isRefused(request, /cannot patch resource/));
    },
    testMs,
  );
});

describe("with the environment and token of its pod,", () => {
  it(
    "the webhook has the rights for all that it reads",
    async () => {
      const [port = 0, healthPort = 0] = await findFreePorts(2);
      const health = `127.0.0.1:${healthPort}`;
      const addresses = { LISTEN_ADDRESS: `127.0.0.1:${port}`, HEALTH_ADDRESS: health, METRICS_ADDRESS: health };
      await using _webhook = await startWebhook(addresses);
      await eventually(
        "the webhook is ready",
        async () => (await fetch(`http://${health}/readyz`).catch(() => undefined))?.ok,
      );
      await review(port);
      expect(await readFile(webhookLog(), "utf8")).not.toContain("Forbidden");
    },
    testMs,
  );

  it(
    "the webhook follows logLevel of the SriovOperatorConfig: 2 logs each review, 1 does not log allowed ones",
    async () => {
      const [port = 0] = await findFreePorts(1);
      const addresses = { LISTEN_ADDRESS: `127.0.0.1:${port}`, HEALTH_ADDRESS: "0", METRICS_ADDRESS: "0" };
      await using _webhook = await startWebhook(addresses);
      const reviewed = async () => (await readFile(webhookLog(), "utf8")).split('"change reviewed"').length;
      for (const logLevel of [2, 1, 2]) {
        await merge(deployed.operator, `${oursPath}/sriovoperatorconfigs/default`, { spec: { logLevel } });
        await eventually(`reviews at logLevel ${logLevel}`, async () => {
          const before = await reviewed();
          await review(port);
          return (await reviewed()) > before === (logLevel === 2);
        });
      }
    },
    testMs,
  );

  it(
    "the device plugin's init container writes its file and its condition",
    async () => {
      await using admin = await connect({ kubeconfig: deployed.cluster.kubeconfig });
      await merge(admin, `${statesPath}/worker-2/status`, { status: { interfaces: [] } });
      const file = join(deployed.cluster.dataDir, "pcidp/config.json");
      await using configurer = await startRendered(deployed, "sriov-device-plugin/wait-for-config", {
        program: "apps/device-plugin-config/src/main.ts",
        node: "worker-2",
        env: { CONFIG_FILE: file, BLOCK_UNTIL_CONFIGURED: "false" },
      });
      expect(await configurer.exited).toBe(0);
      expect(await readFile(file, "utf8")).toContain("resourceList");
      const state = await admin.request({ method: "GET", path: `${statesPath}/worker-2` });
      expect(state).toMatchObject({ status: { conditions: [{ type: "DevicePluginConfigured" }] } });
    },
    testMs,
  );

  it(
    "the config daemon creates VFs, reports them and records an event",
    async () => {
      const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
      const socket = join(deployed.cluster.dataDir, "kernel.sock");
      await using _kernel = await serveFakeKernel(kernel, socket);
      await using _daemon = await startRendered(deployed, `${daemonAccount}/${daemonAccount}`, {
        program: "apps/config-daemon/src/testing/fake-node.ts",
        node: "worker-3",
        env: { KERNEL_SOCKET: socket, HEALTH_ADDRESS: "0" },
      });
      await using admin = await connect({ kubeconfig: deployed.cluster.kubeconfig });
      const found = await eventually("VFs in the status", async () => {
        const state = await admin.request({ method: "GET", path: `${statesPath}/worker-3` });
        const status = isRecord(state) && isRecord(state["status"]) ? state["status"] : {};
        return status["syncStatus"] === "Succeeded" ? status : undefined;
      });
      expect(found).toMatchObject({ interfaces: [{ pciAddress: "0000:01:00.0", numVfs: 2 }, { numVfs: 0 }] });
      await eventually("an event", async () => {
        const events = await deployed.cluster.kubectl(["get", "events", "-n", namespace, "-o", "name"]);
        return events.includes("worker-3");
      });
    },
    testMs,
  );
});

describe("the SriovOperatorConfig default", () => {
  it.each([daemonAccount, pluginAccount])(
    "can be read by %s, and no other SriovOperatorConfig",
    async (account) => {
      await using client = await deployed.clientOf(account, "worker-1");
      const configs = `${oursPath}/sriovoperatorconfigs`;
      const list = (query: Readonly<Record<string, string>>) => client.request({ method: "GET", path: configs, query });
      expect(await list({ fieldSelector: "metadata.name=default" })).toMatchObject({
        items: [{ metadata: { name: "default" } }],
      });
      await expect(list({})).rejects.toMatchObject({ code: "Forbidden" });
      await expect(client.request({ method: "GET", path: `${configs}/other` })).rejects.toMatchObject({
        code: "Forbidden",
      });
    },
    testMs,
  );
});

/** Starts the webhook with its certificate in files, as its pods mount it. */
async function startWebhook(env: Readonly<Record<string, string>>): Promise<RenderedProcess> {
  const testCluster = { directory: deployed.cluster.dataDir };
  await writeWebhookCertificate(testCluster, await issueWebhookCertificate());
  return startRendered(deployed, "operator-webhook/webhook-server", {
    program: "apps/webhook/src/main.ts",
    node: "worker-1",
    args: certificateFlags(testCluster),
    env: { ...env, SHUTDOWN_DELAY: "0s" },
  });
}

function webhookLog(): string {
  return join(deployed.cluster.dataDir, "webhook-server.log");
}

/** Sends the review of a valid network to the webhook, as the API server does. */
async function review(port: number): Promise<void> {
  const group = "sriovnetwork.openshift.io";
  const metadata = { name: "blue", namespace };
  const object = { apiVersion: `${group}/v1`, kind: "OVSNetwork", metadata, spec: { resourceName: "nics" } };
  const about = {
    uid: "1",
    kind: { group, version: "v1", kind: "OVSNetwork" },
    operation: "CREATE",
    resource: { group, version: "v1", resource: "ovsnetworks" },
    namespace,
    name: "blue",
    userInfo: { username: "test" },
    object,
  };
  const body = JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: about });
  const headers = { "content-type": "application/json" };
  const to = { host: "127.0.0.1", port, path: "/validating-custom-resource", rejectUnauthorized: false };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ ...to, method: "POST", headers }, resolve)
      .on("error", reject)
      .end(body);
  });
  expect(await json(response)).toMatchObject({ response: { allowed: true } });
}

function annotation(name: string) {
  return { metadata: { annotations: { [name]: "x" } } };
}

/** Applies the objects one after the other, because an object can depend on an earlier one. */
async function applyAll(): Promise<readonly (readonly [string, string])[]> {
  const results: (readonly [string, string])[] = [];
  for (const manifest of deployed.manifests) results.push([labelOf(manifest), await deployed.apply(manifest)]);
  return results;
}

function labelOf({ kind, metadata }: Manifest): string {
  return `${kind}/${metadata.name}`;
}

/** Waits until the API server applies new admission policies and roles, which takes a while. */
async function becomesEffective(daemon: Transport): Promise<void> {
  await eventually("policies in force", async () => {
    const outcome = await patchStatus(daemon, "worker-2").catch((error: unknown) => error);
    return isKubeError(outcome, "Forbidden") && outcome.message.includes("may only write");
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
