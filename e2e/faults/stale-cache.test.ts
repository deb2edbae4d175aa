// SPDX-License-Identifier: Apache-2.0
/**
 * Tests an operator whose watch of nodes is refused while everything else works, as after a change of its rights. A
 * node that returns unnoticed keeps its node state, although the time to keep the state is over.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { annotations, nodes, sriovNetworkNodeStates, sriovOperatorConfigs } from "@switchyard/api";
import { collectionPath, connect, isKubeObject, objectPath, type KubeObject, type Transport } from "@switchyard/kube";
import {
  binariesFor,
  ensureBinaries,
  eventually,
  findFreePorts,
  findWorkspaceRoot,
  startControlPlane,
  writeToStderr,
} from "@switchyard/testing";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { FaultProxy } from "../src/api/fault-proxy.ts";
import { forwardAll, type FaultRules } from "../src/api/fault-rules.ts";
import { OperatorProcess } from "../src/operator/operator-process.ts";
import { namespace } from "./scenarios/scenario.ts";
import { createOperatorAccount } from "./fault-cluster.ts";
import { readIfThere } from "../src/api/plain-api.ts";

/** The smallest useful value, because bookmarks arrive every minute. */
const maxAgeS = 90;
/** A state is kept for longer than maxAgeS, so that the cache is stale when this time is over. */
const keepMinutes = 2;

const stack = new AsyncDisposableStack();
let transport: Transport;
let operator: OperatorProcess;
let probes: string;
/** Whether the watch of nodes is refused. */
let isRefused = false;

const rules: FaultRules = {
  ...forwardAll,
  outcomeOfRead: ({ resource }) =>
    isRefused && resource === "nodes" ? { refusal: { status: 403, reason: "Forbidden" } } : {},
  whenLive: ({ resource }) => Promise.resolve(isRefused && resource === "nodes" ? "reset" : undefined),
};

beforeAll(async () => {
  await ensureBinaries({ names: binariesFor({}), progress: writeToStderr });
  const cluster = stack.use(await startControlPlane());
  for (const crds of ["charts/switchyard/crds", "libs/testing/testdata/multus"]) {
    await cluster.applyCrds(join(findWorkspaceRoot(), crds));
  }
  await cluster.kubectl(["create", "namespace", namespace]);
  transport = stack.use(await connect({ kubeconfig: cluster.kubeconfig }));
  const [port = 0] = await findFreePorts(1);
  probes = `http://127.0.0.1:${port}`;
  const address = `127.0.0.1:${port}`;
  const flags = [
    ...["--max-cache-age", `${maxAgeS}s`, "--stale-node-state-cleanup-delay-minutes", `${keepMinutes}`],
    ...["--health-address", address, "--metrics-address", address],
  ];
  const asOperator = await createOperatorAccount(cluster);
  const proxy = stack.use(await FaultProxy.before(asOperator, rules));
  const main = join(findWorkspaceRoot(), "apps/operator/src/main.ts");
  const directory = cluster.dataDir;
  operator = stack.use(await OperatorProcess.start({ main, server: proxy.url, namespace, directory, flags }));
  const body = {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovOperatorConfig",
    metadata: { name: "default" },
  };
  await transport.request({ method: "POST", path: collectionPath(sriovOperatorConfigs, namespace), body });
  await createNode();
}, 600_000);

afterAll(() => stack.disposeAsync(), 60_000);

async function createNode(): Promise<void> {
  const labels = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "" };
  const body = { apiVersion: "v1", kind: "Node", metadata: { name: "worker-1", labels } };
  await transport.request({ method: "POST", path: collectionPath(nodes), body });
}

async function readState(): Promise<KubeObject | undefined> {
  const found = await readIfThere(transport, objectPath(sriovNetworkNodeStates, { name: "worker-1", namespace }));
  return isKubeObject(found) ? found : undefined;
}

const readKept = async () => (await readState())?.metadata.annotations?.[annotations.keepStateUntil];
const readReady = async () => (await fetch(`${probes}/readyz`)).text();

/** Returns the age of each cache by resource. */
async function readAges(): Promise<ReadonlyMap<string, number>> {
  const page = await (await fetch(`${probes}/metrics`)).text();
  const rows = page.matchAll(/^switchyard_cache_age_seconds\{resource="(\w+)"\} (\S+)$/gm);
  return new Map(Array.from(rows, ([, resource = "", seconds]) => [resource, Number(seconds)]));
}

describe("an operator that is no longer allowed to watch nodes", () => {
  it(
    "reports it, deletes no node state because of its stale cache, and continues when it is allowed again",
    async () => {
      const { metadata } = await eventually("the node state exists", readState, { withinMs: 60_000 });
      await transport.request({ method: "DELETE", path: objectPath(nodes, { name: "worker-1" }) });
      const keptUntil = await eventually("the node state has a time to be deleted", readKept, { withinMs: 60_000 });
      isRefused = true;
      await createNode(); // the operator does not notice this

      await eventually("the operator is not ready", async () => (await readReady()).includes("nodes: cache is stale"), {
        withinMs: 2 * maxAgeS * 1_000,
        everyMs: 1_000,
      });
      await delay(Date.parse(keptUntil) - Date.now() + 10_000);
      expect((await readState())?.metadata.uid).toBe(metadata.uid);
      const ages = await readAges();
      expect(ages.get("nodes")).toBeGreaterThan(maxAgeS);
      const others = [...ages].filter(([resource]) => resource !== "nodes");
      expect(others.length).toBeGreaterThan(10);
      // Nothing of these resources has changed; the bookmarks of the API server kept them fresh.
      expect(others.filter(([, seconds]) => seconds > 75)).toEqual([]);
      const log = (await operator.readLog()).map((line): unknown => JSON.parse(line));
      const failed = {
        msg: "the API server refuses requests because rights are missing; retrying",
        rights: ["list nodes"],
      };
      expect(log).toContainEqual(expect.objectContaining(failed));
      expect(log).toContainEqual(
        expect.objectContaining({ msg: "caches are stale; waiting for the API server", resources: ["nodes"] }),
      );

      isRefused = false;
      await eventually("the operator sees the node", async () => (await readKept()) === undefined, {
        withinMs: 60_000,
      });
      expect((await readState())?.metadata.uid).toBe(metadata.uid);
      await eventually("the operator is ready", async () => (await readReady()) === "ok\n");
    },
    10 * 60_000,
  );
});
