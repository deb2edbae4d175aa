// SPDX-License-Identifier: Apache-2.0
/**
 * The certificates that the operator issues and renews for the network resources injector and the admission webhook, on
 * a real API server with a controller manager. The operators are processes with their rights in a cluster. The test
 * serves the certificate that the pods would mount, and connects with the CA bundle of the webhook configuration.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { Condition } from "@switchyard/api";
import { connect, isKubeError, type Transport } from "@switchyard/kube";
import { operatorIdentity } from "@switchyard/render";
import {
  eventually,
  isWrite,
  spawnGuarded,
  startControlPlane,
  type AuditEvent,
  type ControlPlane,
  type GuardedProcess,
} from "@switchyard/testing";
import { once } from "node:events";
import { join } from "node:path";
import { connect as connectTls, createServer } from "node:tls";
import { isDeepStrictEqual } from "node:util";
import { simulatePods, type ComponentPods } from "../../src/pods/component-pods.ts";
import { crdFolder } from "../../src/crds/crd-objects.ts";
import { componentSettings, namespace } from "../../src/operator/identity-objects.ts";
import { createPlainApi, fieldAt } from "../../src/api/plain-api.ts";
import { deployedOperatorArguments } from "../../src/operator/operator-command.ts";

const account = componentSettings.operatorServiceAccount;
const operatorUser = `system:serviceaccount:${namespace}:${account}`;
const { secretName } = componentSettings.injector;
const service = "network-resources-injector-service";
const secrets = `/api/v1/namespaces/${namespace}/secrets`;
const secret = `${secrets}/${secretName}`;
const registrations = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const registration = `${registrations}/network-resources-injector-config`;
const configs = `/apis/sriovnetwork.openshift.io/v1/namespaces/${namespace}/sriovoperatorconfigs`;
const config = `${configs}/default`;

let cluster: ControlPlane;
let admin: Transport;
/** Has the operator's user name, whose requests the webhook does not review: the webhook never answers in this test. */
let exempt: Transport;
let pods: ComponentPods;
/** Two operators that both act as the leader. With a lease this could happen for a short time only. */
let operators: readonly GuardedProcess[];

const { create, patch, remove, read } = createPlainApi(() => admin);

beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: true, auditLog: true });
  await cluster.applyCrds(crdFolder);
  admin = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test" });
  exempt = await connect({
    kubeconfig: await cluster.clientFor({ user: operatorUser, groups: ["system:masters"] }),
    userAgent: "test",
  });
  await create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const labels = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/control-plane": "" };
  await create("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "control-1", labels } });
  const identity = { apiVersion: "v1", kind: "List", items: operatorIdentity(componentSettings) };
  await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(identity) });
  pods = simulatePods(admin, namespace);
  pods.run(true);
  operators = await Promise.all([startOperator("operator-1"), startOperator("operator-2")]);
  await create(configs, {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovOperatorConfig",
    metadata: { name: "default" },
    spec: { enableInjector: true },
  });
}, 600_000);

afterAll(async () => {
  await Promise.all(operators.map((operator) => operator.kill()));
  await pods[Symbol.asyncDispose]();
  await admin[Symbol.asyncDispose]();
  await exempt[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
}, 60_000);

async function startOperator(name: string): Promise<GuardedProcess> {
  const images = [
    "NETWORK_RESOURCES_INJECTOR_IMAGE=example.com/injector:1",
    "SRIOV_NETWORK_WEBHOOK_IMAGE=example.com/webhook:1",
    "SRIOV_NETWORK_CONFIG_DAEMON_IMAGE=example.com/daemon:1",
    "SRIOV_DEVICE_PLUGIN_IMAGE=example.com/plugin:1",
    "DEVICE_PLUGIN_CONFIG_IMAGE=example.com/plugin-config:1",
  ];
  const args = await deployedOperatorArguments(cluster);
  const log = join(cluster.dataDir, `${name}.log`);
  return spawnGuarded("/usr/bin/env", [...images, process.execPath, ...args], { log });
}

/** The content of a file of the Secret that the injector's pods mount. */
async function mounted(file: string): Promise<string | undefined> {
  return decode(fieldAt(await read(secret), "data", file));
}

/** The injector's CA bundle in the webhook configuration, as PEM. */
async function announced(): Promise<string | undefined> {
  return decode(fieldAt(await read(registration), "webhooks", 0, "clientConfig", "caBundle"));
}

function decode(base64: unknown): string | undefined {
  return typeof base64 === "string" ? Buffer.from(base64, "base64").toString() : undefined;
}

/** Whether a client that trusts `ca` accepts a server with this certificate under the name `servername`. */
async function isTrusted(pair: { cert: string; key: string }, ca: string, servername: string): Promise<boolean> {
  await using server = createServer(pair, (socket) => socket.end()).listen(0, "127.0.0.1");
  server.on("tlsClientError", () => undefined); // the client reports the error
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return await new Promise((resolve) => {
    const socket = connectTls({ host: "127.0.0.1", port: port ?? 0, servername, ca }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => {
      resolve(false);
    });
  });
}

/** Waits until the mounted certificate differs from `other` and the CA bundle verifies it. Returns it with its key. */
async function whenTrusted(other = ""): Promise<{ readonly cert: string; readonly key: string }> {
  return eventually("a certificate that is trusted", async () => {
    const [cert, key, ca] = [await mounted("tls.crt"), await mounted("tls.key"), await announced()];
    if (cert === undefined || cert === other || key === undefined || ca === undefined) return undefined;
    return (await isTrusted({ cert, key }, ca, `${service}.${namespace}.svc`)) ? { cert, key } : undefined;
  });
}

async function condition(name = "InjectorCertificate"): Promise<Condition | undefined> {
  const list = fieldAt(await read(config), "status", "conditions");
  const conditions: readonly Condition[] = Array.isArray(list) ? list : [];
  return conditions.find(({ type }) => type === name);
}

/** The operators' successful writes to a resource after the first `begin` events of the audit log. */
async function writesOf(resource: string, begin: number): Promise<readonly AuditEvent[]> {
  const mark = `mark-${Math.random().toString(36).slice(2)}`;
  await read(`/api/v1/namespaces/${mark}`);
  const events = await eventually("the mark in the audit log", async () => {
    const seen = await cluster.auditEvents();
    return seen.some(({ objectRef }) => objectRef?.name === mark) ? seen : undefined;
  });
  return events
    .slice(begin)
    .filter((event) => isWrite(event) && event.user.username === operatorUser)
    .filter(({ objectRef, responseStatus }) => objectRef?.resource === resource && (responseStatus?.code ?? 0) < 300);
}

describe("the injector's certificate", () => {
  it("is created with the injector for the names of its Service, is trusted, and is owned by the config", async () => {
    const pair = await whenTrusted();
    const ca = (await announced()) ?? "";
    for (const name of [`${service}.${namespace}.svc.cluster.local`, `${service}.${namespace}`]) {
      expect([name, await isTrusted(pair, ca, name)]).toEqual([name, true]);
    }
    expect(await isTrusted(pair, ca, "operator-webhook-service")).toBe(false);

    const stored = await read(secret);
    expect(fieldAt(stored, "type")).toBe("kubernetes.io/tls");
    expect(fieldAt(stored, "metadata", "ownerReferences", 0)).toMatchObject({
      kind: "SriovOperatorConfig",
      name: "default",
    });
    const deployed = await read(`/api/v1/namespaces/${namespace}/services/${service}`);
    expect(fieldAt(stored, "metadata", "labels")).toEqual(fieldAt(deployed, "metadata", "labels"));
    const told = await eventually("the condition", () => condition());
    expect(told).toMatchObject({ status: "True", reason: "Valid" });
  });

  it("is created once if two operators race, and a certificate whose Secret is deleted stays trusted", async () => {
    const first = await whenTrusted();
    const begin = (await cluster.auditEvents()).length;
    await remove(secret);
    const second = await whenTrusted(first.cert);
    expect(second.key).not.toBe(first.key);
    const ca = await eventually("both authorities", async () => {
      const bundle = await announced();
      return bundle !== undefined && (await isTrusted(first, bundle, `${service}.${namespace}.svc`)) && bundle;
    });
    expect(await isTrusted(second, ca, `${service}.${namespace}.svc`)).toBe(true);
    expect(await writesOf("secrets", begin)).toHaveLength(1);
  });

  it("is replaced when somebody damages its key", async () => {
    const first = await whenTrusted();
    await patch(secret, { data: { "tls.key": Buffer.from("spoilt").toString("base64") } });
    await whenTrusted(first.cert);
  });

  it("stays in the CA bundle when somebody edits or deletes the webhook configuration and the operator repairs it", async () => {
    const { cert } = await whenTrusted();
    await admin.request({
      method: "PATCH",
      path: registration,
      body: [{ op: "remove", path: "/webhooks/0/clientConfig/caBundle" }],
      contentType: "application/json-patch+json",
    });
    await whenTrusted();
    await patch(registration, { metadata: { labels: { "app.kubernetes.io/managed-by": "me" } } });
    await eventually("the label", async () => {
      return fieldAt(await read(registration), "metadata", "labels", "app.kubernetes.io/managed-by") !== "me";
    });
    expect(await announced()).toBeDefined();
    await remove(registration);
    expect((await whenTrusted()).cert).toBe(cert);
  });

  it("is not written again by a restarted operator", async () => {
    await whenTrusted();
    await Promise.all(operators.map((operator) => operator.kill()));
    const begin = (await cluster.auditEvents()).length;
    operators = [await startOperator("operator-3")];
    // Once the operator has repaired this, it has handled all objects.
    await remove(registration);
    await whenTrusted();
    expect(await writesOf("secrets", begin)).toEqual([]);
    const statuses = await writesOf("sriovoperatorconfigs", begin);
    expect(statuses.filter(({ requestURI }) => requestURI.includes("switchyard-certificates"))).toEqual([]);
  });

  it("is deleted with the injector and created again with it", async () => {
    await patch(config, { spec: { enableInjector: false } });
    await eventually("no Secret", async () => (await read(secret)) === undefined);
    await eventually("no condition", async () => (await condition()) === undefined);
    await eventually("no registration", async () => (await read(registration)) === undefined);
    await patch(config, { spec: { enableInjector: true } });
    await whenTrusted();
  });

  it("is not changed if somebody else created its Secret, and the config reports that", async () => {
    await patch(config, { spec: { enableInjector: false } });
    await eventually("no Secret", async () => (await read(secret)) === undefined);
    const data = { "tls.crt": Buffer.from("theirs").toString("base64"), "tls.key": "" };
    await create(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      type: "kubernetes.io/tls",
      metadata: { name: secretName },
      data,
    });
    const version = fieldAt(await read(secret), "metadata", "resourceVersion");
    await patch(config, { spec: { enableInjector: true } });
    await eventually("the reason", async () => (await condition())?.reason === "ForeignSecret");
    await patch(config, { spec: { enableInjector: false } });
    await eventually("no condition", async () => (await condition()) === undefined);
    expect(fieldAt(await read(secret), "metadata", "resourceVersion")).toBe(version);
    await remove(secret);
  });
});

describe("the injector's webhook configuration", () => {
  it("with the feature gate blocks pods that name networks while the injector does not answer, and no other pods", async () => {
    await patch(config, { spec: { enableInjector: true, featureGates: { resourceInjectorMatchCondition: true } } });
    // No Service of this cluster has an endpoint, so each request that the injector reviews fails.
    for (const key of ["k8s.v1.cni.cncf.io/networks", "v1.multus-cni.io/default-network"]) {
      await eventually(`a pod with ${key} is refused`, () => isRefused({ [key]: "blue" }));
    }
    expect([await isRefused({ "example.com/networks": "blue" }), await isRefused(undefined)]).toEqual([false, false]);
  });
});

describe("the webhook's certificate", () => {
  const webhookSecret = `${secrets}/operator-webhook-cert`;
  const configurations = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"].map(
    (kind) => `/apis/admissionregistration.k8s.io/v1/${kind}/sriov-operator-webhook-config`,
  );
  const name = `operator-webhook-service.${namespace}.svc`;

  /**
   * Waits until the mounted certificate differs from `other` and the CA bundles of both webhook configurations verify
   * it. Returns it with its key.
   */
  async function whenBothTrust(other = ""): Promise<{ readonly cert: string; readonly key: string }> {
    return eventually("both registrations trust it", async () => {
      const [stored, ...found] = await Promise.all([webhookSecret, ...configurations].map(read));
      const [cert, key] = ["tls.crt", "tls.key"].map((file) => decode(fieldAt(stored, "data", file)));
      const bundles = found.map((object) => decode(fieldAt(object, "webhooks", 0, "clientConfig", "caBundle")));
      if (cert === undefined || cert === other || key === undefined) return undefined;
      const trusted = await Promise.all(
        bundles.map(async (ca) => ca !== undefined && (await isTrusted({ cert, key }, ca, name))),
      );
      return trusted.every(Boolean) ? { cert, key } : undefined;
    });
  }

  async function enable(isOn: boolean): Promise<void> {
    const body = { spec: { enableOperatorWebhook: isOn } };
    await exempt.request({ method: "PATCH", path: config, body, contentType: "application/merge-patch+json" });
  }

  it("is created with the webhook, is in both CA bundles, is repaired, and is deleted with the webhook", async () => {
    await enable(true);
    const first = await whenBothTrust();
    const told = await eventually("the condition", () => condition("WebhookCertificate"));
    expect(told).toMatchObject({ status: "True", reason: "Valid" });
    const stored = await read(webhookSecret);
    expect(fieldAt(stored, "metadata", "ownerReferences", 0)).toMatchObject({ kind: "SriovOperatorConfig" });

    const paths = decode(fieldAt(stored, "data", "review-paths"))?.split("\n") ?? [];
    expect(paths[0]).toMatch(/^[0-9a-f]{32}$/);
    const registered = async () => {
      const found = await Promise.all(configurations.map(read));
      return found.map((object) => fieldAt(object, "webhooks", 0, "clientConfig", "service", "path"));
    };
    const expected = ["mutating", "validating"].map((kind) => `/${paths[0] ?? ""}/${kind}-custom-resource`);
    await eventually("the secret path is registered", async () => isDeepStrictEqual(await registered(), expected));

    await remove(webhookSecret);
    const second = await whenBothTrust(first.cert);
    expect(await registered()).toEqual(expected); // pods answer there until the kubelet updates the volume
    for (const path of configurations) {
      const bundle = decode(fieldAt(await read(path), "webhooks", 0, "clientConfig", "caBundle")) ?? "";
      expect(await isTrusted(first, bundle, name)).toBe(true); // pods serve it until the kubelet updates the volume
      const body = [{ op: "remove", path: "/webhooks/0/clientConfig/caBundle" }];
      await exempt.request({ method: "PATCH", path, body, contentType: "application/json-patch+json" });
    }
    expect((await whenBothTrust()).cert).toBe(second.cert);

    await enable(false);
    await eventually("no Secret", async () => (await read(webhookSecret)) === undefined);
    await eventually("no condition", async () => (await condition("WebhookCertificate")) === undefined);
    expect(await condition()).toMatchObject({ status: "True", reason: "Valid" }); // the injector's condition stays
  });
});

/** Whether the API server refuses a pod with these annotations because a webhook does not answer. */
async function isRefused(annotations: Readonly<Record<string, string>> | undefined): Promise<boolean> {
  const spec = { containers: [{ name: "pod", image: "example.com/pod:1" }] };
  const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "pod", annotations }, spec };
  try {
    await admin.request({ method: "POST", path: "/api/v1/namespaces/default/pods", body, query: { dryRun: "All" } });
    return false;
  } catch (error) {
    if (isKubeError(error, "InternalError")) return true;
    throw error;
  }
}
