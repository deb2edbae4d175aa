// SPDX-License-Identifier: Apache-2.0
/**
 * A client without credentials floods the running webhook from where a pod is, in the ways that docs/security.md names.
 * Meanwhile a real API server asks the webhook about the change of an administrator. The webhook is registered with failurePolicy Fail.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { sriovNetworkNodePolicies } from "@switchyard/api";
import { collectionPath } from "@switchyard/kube";
import {
  createNode,
  createOperatorConfig,
  namespace,
  registerWebhooks,
  silentNarrator,
  startTestCluster,
  startWebhook,
  type TestCluster,
} from "@switchyard/test-cluster";
import { eventually, findFreePorts } from "@switchyard/testing";
import { once } from "node:events";
import net from "node:net";
import tls from "node:tls";
import { disposeOf } from "../src/dispose-of.ts";

/** The address of the flood. The API server comes from 127.0.0.1. */
const flooding = "127.0.0.2";
const nodeCount = 60;
const mostMs = 2_000;

let cluster: TestCluster;
let port: number;
const sockets: net.Socket[] = [];

beforeAll(async () => {
  cluster = await startTestCluster(silentNarrator);
  [port = 0] = await findFreePorts(1);
  await createOperatorConfig(cluster);
  for (let node = 0; node < nodeCount; node++) await createNode(cluster, `worker-${node}`);
  await registerWebhooks(cluster, port);
  startWebhook(cluster, "webhook", port);
  await eventually(
    "the webhook answers",
    async () => (await Promise.allSettled([change()]))[0].status === "fulfilled",
    {
      withinMs: 60_000,
    },
  );
}, 600_000);
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  await disposeOf(cluster);
}, 60_000);

const policy = {
  apiVersion: "sriovnetwork.openshift.io/v1",
  kind: "SriovNetworkNodePolicy",
  metadata: { name: "fast", namespace },
  spec: { resourceName: "fast", nodeSelector: {}, nicSelector: { vendor: "8086" }, numVfs: 4 },
};

/** Creates a policy with dry run, as `kubectl create --dry-run=server` does, and returns how long that took. */
async function change(): Promise<number> {
  const startedMs = performance.now();
  const path = collectionPath(sriovNetworkNodePolicies, namespace);
  await cluster.transport.request({ method: "POST", path, query: { dryRun: "All" }, body: policy });
  return performance.now() - startedMs;
}

/** A connection that ignores its end, as a client that floods does. */
async function connect(): Promise<tls.TLSSocket> {
  const tcp = net.connect({ host: "127.0.0.1", port, localAddress: flooding });
  const socket = tls.connect({ socket: tcp, rejectUnauthorized: false });
  for (const each of [tcp, socket]) each.on("error", () => undefined);
  sockets.push(tcp, socket);
  await Promise.race([once(socket, "secureConnect"), once(socket, "close")]);
  return socket;
}

const head = (bytes: number) =>
  `POST /validating-custom-resource HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`;

async function expectPromptChanges(count: number): Promise<void> {
  for (let done = 0; done < count; done++) expect(await change()).toBeLessThan(mostMs);
}

describe("a change of an administrator passes within two seconds", () => {
  it("while a client keeps 300 connections open", async () => {
    await Promise.all(Array.from({ length: 300 }, connect));
    await expectPromptChanges(5);
  });

  it("while a client sends reviews on 200 connections, one after the other", async () => {
    const request = {
      uid: "1",
      kind: { group: "sriovnetwork.openshift.io", version: "v1", kind: "SriovNetworkNodePolicy" },
      operation: "CREATE",
      name: "fast",
      namespace,
      userInfo: { username: "nobody" },
      object: policy,
    };
    const body = JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request });
    const text = head(Buffer.byteLength(body)) + body;
    let answered = 0;
    for (const socket of await Promise.all(Array.from({ length: 200 }, connect))) {
      socket.on("data", (data: Buffer) => {
        if (!data.includes("HTTP/1.1 ")) return;
        answered++;
        socket.write(text);
      });
      socket.write(text);
    }
    await expectPromptChanges(5);
    expect(answered).toBeGreaterThan(0);
  });

  it("while a client sends 250 bodies that do not end", async () => {
    const part = Buffer.alloc(3 * 1024 * 1024 - 10, "x");
    // In rounds, and each to its end: the encryption takes the time of this process, which also measures.
    for (let round = 0; round < 5; round++) {
      const opened = await Promise.all(Array.from({ length: 50 }, connect));
      const written = opened.map((socket) => {
        return new Promise((resolve) => {
          socket.once("close", resolve);
          socket.write(head(3 * 1024 * 1024));
          socket.write(part, resolve);
        });
      });
      await Promise.all(written);
      await expectPromptChanges(2);
    }
  });
});
