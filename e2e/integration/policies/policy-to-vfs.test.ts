// SPDX-License-Identifier: Apache-2.0
/**
 * A policy from the API to the VFs: the operator and the config daemons as processes on a real API server, with fake
 * kernels that the test can inspect and break.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodePolicySpec, SriovNetworkNodeState } from "@switchyard/api";
import { applyPolicy, namespace, type NodeLog, policyIs, type TestCluster } from "@switchyard/test-cluster";
import { igb, pci } from "@switchyard/host/testing";
import { eventually, findFreePorts, findWorkspaceRoot, runProgram } from "@switchyard/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createWorker, startWatchedCluster, type WatchedCluster } from "../../src/nodes/fake-worker.ts";

const pf = pci("0000:01:00.0");
let watched: WatchedCluster;
let testCluster: TestCluster;
let news: NodeLog;

beforeAll(async () => {
  watched = await startWatchedCluster();
  ({ testCluster, news } = watched);
}, 600_000);

afterAll(async () => {
  await watched[Symbol.asyncDispose]();
}, 60_000);

/** Waits until the status of a node state is current and `holds`. `what` describes it in the error. */
async function stateOf(
  node: string,
  what: string,
  holds: (status: NonNullable<SriovNetworkNodeState["status"]>) => boolean,
) {
  return eventually(`${node} ${what}`, () => {
    const state = news.states.get(node);
    const isCurrent = state?.status?.observedGeneration === state?.metadata.generation;
    return state?.status !== undefined && isCurrent && holds(state.status) ? state : undefined;
  });
}

/**
 * A policy for two VFs with MTU 9000 on the first port of one node. Each test has its own node and a policy with the
 * node's name.
 */
function policyFor(node: string, overrides: Partial<SriovNetworkNodePolicySpec> = {}): SriovNetworkNodePolicySpec {
  const nodeSelector = { "kubernetes.io/hostname": node };
  return { nodeSelector, nicSelector: { rootDevices: [pf] }, resourceName: "fast", numVfs: 2, mtu: 9000, ...overrides };
}

async function removePolicy(node: string): Promise<void> {
  await testCluster.kubectl(["delete", "sriovnetworknodepolicy", node]);
}

/** Only for the first two nodes that lose their policies: the third one within a minute keeps its configuration for so long. */
async function reset(node: string): Promise<void> {
  await removePolicy(node);
  await stateOf(node, "reset", ({ interfaces }) => interfaces?.[0]?.numVfs === 0);
}

describe("a daemon killed by SIGKILL", () => {
  it("is followed by a daemon that converges, whichever write it was killed at", async () => {
    await using worker = await createWorker(testCluster, "mortal", [igb("0000:01:00.0")]);
    const drivers = async () => (await worker.kernel.host().sriov.readPf(pf))?.sriov?.vfs.map(({ driver }) => driver);
    let killedAt = 0;
    for (let nth = 1; nth === killedAt + 1; nth++) {
      const dyingAt = worker.kernel.writes.length + nth;
      const act = () => {
        if (worker.kernel.writes.length !== dyingAt) return;
        killedAt = nth;
        void worker.daemon.kill();
      };
      const ports = ["sriov", "links", "modules", "records", "files", "udev"] as const;
      const faults = ports.map((port) => worker.kernel.fault({ port }, { act }));
      worker.startDaemon();
      await applyPolicy(testCluster, "mortal", policyFor("mortal"));
      await eventually(`killed at write ${nth}, or done`, () => {
        return worker.daemon.hasExited() || news.policies.get("mortal")?.status?.readyNodeCount === 1;
      });
      for (const fault of faults) fault.lift();
      if (worker.daemon.hasExited()) worker.startDaemon();
      await policyIs(news, "mortal", "Ready");
      expect([nth, await drivers()]).toEqual([nth, ["igbvf", "igbvf"]]);
      await reset("mortal");
      expect(await worker.kernel.host().records.list()).toEqual(new Map());
      await worker.daemon.kill();
    }
    expect(killedAt).toBeGreaterThanOrEqual(7); // the record, udev rules, the PF's MTU, the VFs, and the addresses and MTUs of two VFs
  }, 600_000);
});

describe("a policy on a real API server", () => {
  it("creates VFs, and the policy and the node state report them", async () => {
    await using worker = await createWorker(testCluster, "plain", [igb("0000:01:00.0")]);
    worker.startDaemon();
    await applyPolicy(testCluster, "plain", policyFor("plain"));
    await policyIs(news, "plain", "Ready");
    const vfs = (await worker.kernel.host().sriov.readPf(pf))?.sriov?.vfs.map(({ driver }) => driver);
    expect(vfs).toEqual(["igbvf", "igbvf"]);
    expect(news.policies.get("plain")?.status).toMatchObject({ matchedNodeCount: 1, readyNodeCount: 1 });
    const { status } = await stateOf("plain", "configured", ({ syncStatus }) => syncStatus === "Succeeded");
    expect(status?.interfaces?.[0]).toMatchObject({ pciAddress: pf, numVfs: 2, mtu: 9000, owned: true });
    await reset("plain");
  }, 120_000);

  it("causes no write of a restarted daemon, and the node state has the ID of the boot in which it was applied", async () => {
    await using worker = await createWorker(testCluster, "calm", [igb("0000:01:00.0")]);
    worker.startDaemon();
    await applyPolicy(testCluster, "calm", policyFor("calm"));
    await policyIs(news, "calm", "Ready");
    const { status } = await stateOf("calm", "configured, with its carrier back", ({ syncStatus, interfaces }) => {
      return syncStatus === "Succeeded" && interfaces?.[0]?.linkSpeed === "1000 Mb/s";
    });
    expect(status?.bootID).toBe(await worker.kernel.host().boot.readBootId());
    await worker.daemon.kill();
    const stored = () => testCluster.kubectl(["get", "sriovnetworknodestate", "calm", "-o", "json"]);
    const before = await stored();

    const [port = 0] = await findFreePorts(1);
    const writes = worker.kernel.writes.length;
    worker.startDaemon(["--health-address", `127.0.0.1:${port}`]);
    const isReady = async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok;
    await eventually("a first pass of the new daemon", isReady);
    expect(await stored()).toBe(before);
    expect(worker.kernel.writes.length).toBe(writes);
    await removePolicy("calm");
  }, 120_000);

  it("reports a failed step with the kernel's error, and recovers at once when the spec changes", async () => {
    await using worker = await createWorker(testCluster, "refused", [igb("0000:01:00.0")]);
    worker.kernel.fault({ port: "links", method: "setMtu", target: "enp1s0f0" }, { code: "EBUSY", words: "not now" });
    worker.startDaemon();
    await applyPolicy(testCluster, "refused", policyFor("refused"));
    const failed = await stateOf("refused", "failed", ({ syncStatus }) => syncStatus === "Failed");
    expect(failed.status?.lastSyncError).toContain("set mtu 9000 on enp1s0f0: EBUSY (not now)");
    const degraded = { type: "Degraded", status: "True", reason: "StepFailed" };
    expect(failed.status?.conditions).toContainEqual(expect.objectContaining(degraded));
    await policyIs(news, "refused", "Degraded");
    await eventually("an event", async () => {
      const reasons = await testCluster.cluster.kubectl(["get", "events", "-A", "-o", "jsonpath={.items[*].reason}"]);
      return reasons.split(" ").includes("SyncFailed");
    });
    await applyPolicy(testCluster, "refused", policyFor("refused", { mtu: 1500 }));
    await policyIs(news, "refused", "Ready");
  }, 120_000);

  it("is kept applied while the API server is down", async () => {
    await using worker = await createWorker(testCluster, "lonely", [igb("0000:01:00.0")]);
    worker.startDaemon();
    await applyPolicy(testCluster, "lonely", policyFor("lonely"));
    await policyIs(news, "lonely", "Ready");
    await testCluster.cluster.killApiServer();
    worker.kernel.unbindByHand(pci("0000:01:10.0"));
    await eventually("repaired without the API server", async () => {
      return (await worker.kernel.host().sriov.readPf(pf))?.sriov?.vfs[0]?.driver === "igbvf";
    });
    await testCluster.cluster.startApiServer();
    await applyPolicy(testCluster, "lonely", policyFor("lonely", { numVfs: 3 }));
    await stateOf("lonely", "3 VFs", ({ interfaces }) => interfaces?.[0]?.numVfs === 3);
    await policyIs(news, "lonely", "Ready");
  }, 180_000);
});

describe("the rdmaMode of a pool", () => {
  it("is kept for later boots, and set once the node has RDMA", async () => {
    await using worker = await createWorker(testCluster, "rdma", [igb("0000:01:00.0")]);
    worker.startDaemon();
    const askFor = (rdmaMode: "shared" | "exclusive") =>
      testCluster.kubectl(["apply", "-f", "-"], {
        apiVersion: "sriovnetwork.openshift.io/v1",
        kind: "SriovNetworkPoolConfig",
        metadata: { name: "rdma" },
        spec: { nodeSelector: { matchLabels: { "kubernetes.io/hostname": "rdma" } }, rdmaMode },
      });
    const planned = async (): Promise<string> => {
      const program = join(findWorkspaceRoot(), "apps/cli/bin/switchyard.mjs");
      const flags = ["--kubeconfig", testCluster.cluster.kubeconfig, "--namespace", namespace, "--node", "rdma"];
      return (await runProgram(process.execPath, [program, "plan", ...flags])).stderr;
    };

    await askFor("shared");
    const unknown = await stateOf("rdma", "with an option", ({ system }) => system?.persistentRdmaMode === "shared");
    expect(unknown.status?.system?.rdmaMode).toBeUndefined();

    worker.kernel.addRdmaDevice("mlx5_0");
    const ready = await stateOf("rdma", "in shared mode", ({ system }) => system?.rdmaMode === "shared");
    expect(ready.status).toMatchObject({ syncStatus: "Succeeded", lastSyncError: "" });
    expect(await planned()).toBe("");

    await askFor("exclusive");
    const right = await stateOf("rdma", "in exclusive mode", ({ system }) => system?.rdmaMode === "exclusive");
    expect(right.status?.system?.persistentRdmaMode).toBe("exclusive");
    await testCluster.kubectl(["delete", "sriovnetworkpoolconfig", "rdma"]);
    await stateOf("rdma", "without an rdmaMode in the spec", ({ syncStatus }) => syncStatus === "Succeeded");
  }, 120_000);
});

describe("a daemon's log", () => {
  it("follows logLevel of the SriovOperatorConfig at once", async () => {
    await using worker = await createWorker(testCluster, "talking", [igb("0000:01:00.0")]);
    worker.startDaemon();
    await applyPolicy(testCluster, "talking", policyFor("talking"));
    await policyIs(news, "talking", "Ready");
    const linesOfSteps = async () => {
      const log = await readFile(join(testCluster.directory, "talking.log"), "utf8");
      return log.split("\n").filter((line) => line.includes("step done")).length;
    };
    async function tellsOfRepair(): Promise<boolean> {
      const before = await linesOfSteps();
      const writes = worker.kernel.writes.length;
      worker.kernel.unbindByHand(pci("0000:01:10.0"));
      await eventually("repaired", () => worker.kernel.writes.length > writes);
      await stateOf("talking", "repaired", ({ syncStatus, interfaces }) => {
        return syncStatus === "Succeeded" && interfaces?.[0]?.Vfs?.every(({ driver }) => driver === "igbvf") === true;
      });
      return (await linesOfSteps()) > before;
    }
    for (const [logLevel, tells] of [
      [0, false],
      [1, true],
      [0, false],
      [null, true],
    ] as const) {
      const patch = JSON.stringify({ spec: { logLevel } });
      await testCluster.kubectl(["patch", "sriovoperatorconfig", "default", "--type=merge", "-p", patch]);
      await eventually(`logLevel ${logLevel} is followed`, async () => (await tellsOfRepair()) === tells);
    }
    await removePolicy("talking");
  }, 120_000);
});
