// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the operator of this tree and the version before it side by side, as while a Deployment is rolled out or rolled
 * back, or its old pod is cut off. Independent of which one leads, no VF in use changes, no node is drained, no object
 * of users is recreated, and only the leader writes.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { operatorConfigName, sriovNetworkNodePolicies, sriovNetworks, sriovOperatorConfigs } from "@switchyard/api";
import { connect, isRecord, objectPath, type Transport } from "@switchyard/kube";
import {
  binariesFor,
  ensureBinaries,
  eventually,
  findWorkspaceRoot,
  startControlPlane,
  writeToStderr,
} from "@switchyard/testing";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiRequest } from "../src/api/api-request.ts";
import { simulatePods } from "../src/pods/component-pods.ts";
import { FaultProxy } from "../src/api/fault-proxy.ts";
import { forwardAll } from "../src/api/fault-rules.ts";
import { bundleApp } from "../src/bundle-app.ts";
import { OperatorProcess } from "../src/operator/operator-process.ts";
import { bundlePreviousOperator, findPreviousVersion } from "../src/operator/previous-operator.ts";
import { createClusterUsers, type ClusterUsers } from "./cluster-users.ts";
import { startControllerManager } from "./fault-cluster.ts";
import { createFakeNodes } from "./fake-nodes.ts";
import { has, namespace, ofKind, place, statusOf } from "./scenarios/scenario.ts";
import { startObserver, type Observer } from "./observer.ts";
import { leases, observedTypes } from "./types.ts";

/** Users notice if objects of these kinds are deleted or recreated. */
const lasting = /^(SriovNetworkNodeState|NetworkAttachmentDefinition|Node|Pod|DaemonSet) /;

const previousVersion = findPreviousVersion() ?? "";
if (previousVersion === "")
  process.stderr.write(
    "\n!!! SKIPPED: versions.test.ts: the repository has no history, so there is no version before\n\n",
  );

const worker = "worker-1";
const stepMs = 120_000;
const resources = new AsyncDisposableStack();
let previous: string;
let current: string;
let transport: Transport;
let observer: Observer;
let users: ClusterUsers;
let directory: string;
let kubeconfig: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "switchyard-versions-"));
  resources.defer(() => rm(directory, { recursive: true }));
  previous = await bundlePreviousOperator(previousVersion);
  current = await bundleApp("apps/operator", directory);
  const binaries = await ensureBinaries({ names: binariesFor({ controllerManager: true }), progress: writeToStderr });
  const cluster = resources.use(await startControlPlane({ binaries }));
  ({ kubeconfig } = cluster);
  for (const crds of ["charts/switchyard/crds", "libs/testing/testdata/multus"]) {
    await cluster.applyCrds(join(findWorkspaceRoot(), crds));
  }
  await cluster.kubectl(["create", "namespace", namespace]);
  resources.use(startControllerManager(cluster, binaries));
  transport = resources.use(await connect({ kubeconfig }));
  observer = resources.use(await startObserver(transport, observedTypes, () => false));
  const fail = (error: unknown): void => {
    writeToStderr(`kubelet: ${String(error)}`);
  };
  const nodes = resources.use(
    createFakeNodes({ transport, kubeconfig: cluster.kubeconfig, observer, namespace, directory, fail }),
  );
  resources.use(simulatePods(transport, namespace)).run(true);
  users = createClusterUsers(transport, nodes);
}, 600_000);

afterAll(() => resources.disposeAsync(), 60_000);

/** One pod of the operator's Deployment. */
interface Replica {
  readonly operator: OperatorProcess;
  readonly proxy: FaultProxy;
  /** Its writes since the list was last emptied, except leases and events. */
  readonly writes: ApiRequest[];
  /** Returns the number of its requests. */
  countRequests(): number;
}

async function startReplica(name: string, main: string): Promise<Replica> {
  const writes: ApiRequest[] = [];
  let requests = 0;
  const proxy = resources.use(
    await FaultProxy.before(kubeconfig, {
      ...forwardAll,
      outcomeOf(write) {
        if (write.resource !== "leases" && write.resource !== "events") writes.push(write);
        return { isCarriedOut: true, answer: "server's" };
      },
      heard() {
        requests += 1;
      },
    }),
  );
  const own = join(directory, name);
  await mkdir(own);
  const options = { main, server: proxy.url, namespace, directory: own, flags: [] };
  const operator = resources.use(await OperatorProcess.start(options));
  return { operator, proxy, writes, countRequests: () => requests };
}

/** Returns the holder of the operator's lease; "" if there is none. */
async function leader(): Promise<string> {
  const path = objectPath(leases, { name: "switchyard-operator", namespace });
  const lease: unknown = await transport.request({ method: "GET", path }).catch(() => undefined);
  const spec = isRecord(lease) && isRecord(lease["spec"]) ? lease["spec"] : {};
  return typeof spec["holderIdentity"] === "string" ? spec["holderIdentity"] : "";
}

async function leaderAfter(before: string): Promise<string> {
  const changed = async () => {
    const now = await leader();
    return now !== "" && now !== before ? now : undefined;
  };
  return eventually(`another leader than "${before}"`, changed, { withinMs: stepMs });
}

const hasVfs = (count: number) => (): boolean => {
  const objects = observer.objects();
  const states = ofKind(objects, "SriovNetworkNodeState");
  const isDone = states.every((state) => {
    const { interfaces, observedGeneration } = statusOf(state);
    const has = Array.isArray(interfaces) && interfaces.some((nic) => isRecord(nic) && nic["numVfs"] === count);
    return has && observedGeneration === state.metadata.generation;
  });
  const ready = ["SriovNetworkNodePolicy fast", "SriovNetwork blue"].every((label) => has(objects, label, "Ready"));
  return states.length === 1 && isDone && ready;
};

/** Waits until nothing has changed for two seconds. */
async function rest(): Promise<void> {
  await eventually("the cluster is idle", () => performance.now() - observer.changedAtMs > 2_000, { withinMs: stepMs });
}

async function makeVfs(numVfs: number): Promise<void> {
  await users.apply(sriovNetworkNodePolicies, {
    metadata: place("fast"),
    spec: { nodeSelector: {}, nicSelector: { rootDevices: ["0000:3b:00.0"] }, resourceName: "fast", numVfs },
  });
  await eventually(`${numVfs} VFs`, hasVfs(numVfs), { withinMs: stepMs });
  await rest();
}

/** Returns the changes that users would notice while `act` runs and until the cluster is idle. */
async function feltDuring(act: () => Promise<void>, vfCount: number): Promise<readonly string[]> {
  await rest();
  observer.takeHistory();
  users.nodes.takeVfChanges();
  await act();
  await rest();
  await eventually(`${vfCount} VFs`, hasVfs(vfCount), { withinMs: stepMs });
  const news = [...observer.takeHistory()].flatMap(([label, all]) => all.map((one) => `${label}: ${one}`));
  // Ignores that a state or node has no drain: one version may write this, the other one not.
  const felt = news.filter((one) => lasting.test(one) && !/: (drain|request): (Idle|none)$/.test(one));
  return [...users.nodes.takeVfChanges(), ...felt];
}

(previousVersion === "" ? describe.skip : describe)("an operator and the version before it", () => {
  it(
    "take over from each other in both directions without an effect on nodes and users",
    async () => {
      writeToStderr(`[e2e] the version before is ${previousVersion.slice(0, 12)}`);
      const old = await startReplica("old", previous);
      await users.apply(sriovOperatorConfigs, { metadata: place(operatorConfigName), spec: {} });
      await users.nodes.add(worker);
      await users.apply(sriovNetworks, { metadata: place("blue"), spec: { resourceName: "fast" } });
      await makeVfs(4);
      await users.startPod({ name: "app", namespace: "default" }, worker, "openshift.io/fast");
      await users.nodes.giveVfToPod(worker);
      let holder = await leader();

      // Rollout: the new replica waits for the lease, then the old one is killed.
      const now = await startReplica("new", current);
      const standBy = async () => {
        await eventually("the new replica waits for the lease", () => now.countRequests() > 2, { withinMs: stepMs });
      };
      expect(await feltDuring(standBy, 4)).toEqual([]);
      expect(now.writes).toEqual([]);
      const takeOver = async () => {
        await old.operator.kill();
        holder = await leaderAfter(holder);
      };
      expect(await feltDuring(takeOver, 4)).toEqual([]);
      expect(now.writes.length).toBeLessThan(200);

      // Rollback.
      old.operator.restart();
      const rollBack = async () => {
        await now.operator.kill();
        holder = await leaderAfter(holder);
      };
      expect(await feltDuring(rollBack, 4)).toEqual([]);

      // Partition: the old replica believes that it leads until its lease expires. It reconnects when the new one
      // leads.
      now.operator.restart();
      const cutOff = async () => {
        old.proxy.sever();
        holder = await leaderAfter(holder);
      };
      expect(await feltDuring(cutOff, 4)).toEqual([]);
      old.writes.length = 0;
      old.proxy.mend();
      const takeBack = () => makeVfs(4); // no change
      expect(await feltDuring(takeBack, 4)).toEqual([]);
      expect([old.writes, await leader()]).toEqual([[], holder]);

      // The new replica works while the old one runs.
      await makeVfs(6);
      expect(old.writes).toEqual([]);
      expect([old.operator.hasCrashed, now.operator.hasCrashed]).toEqual([false, false]);
    },
    15 * 60_000,
  );
});
