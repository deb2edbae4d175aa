// SPDX-License-Identifier: Apache-2.0
/**
 * What a pipeline relies on: `kubectl wait --for=condition=Ready` for policies and pools, and the events that explain
 * them.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  sriovNetworkNodePolicies,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodePolicySpec,
} from "@switchyard/api";
import { namespace } from "@switchyard/test-cluster";
import { igb, pci } from "@switchyard/host/testing";
import { watchObjects, type Cache } from "@switchyard/kube";
import { eventually, type GuardedProcess } from "@switchyard/testing";
import { createWorker, type FakeWorker } from "../../src/nodes/fake-worker.ts";
import { startUpstreamCluster, type UpstreamCluster } from "../../src/operator/upstream-cluster.ts";

let testCluster: UpstreamCluster;
let worker: FakeWorker;
let operator: GuardedProcess;
let policies: Cache<SriovNetworkNodePolicy> & AsyncDisposable;

beforeAll(async () => {
  testCluster = await startUpstreamCluster();
  policies = watchObjects({
    transport: testCluster.transport,
    type: sriovNetworkNodePolicies,
    namespace,
    project: (policy: SriovNetworkNodePolicy) => policy,
    report: () => undefined,
  });
  worker = await createWorker(testCluster, "worker-1", [igb("0000:01:00.0")]);
  operator = testCluster.startOperator();
  worker.startDaemon();
}, 600_000);

afterAll(async () => {
  await policies[Symbol.asyncDispose]();
  await worker[Symbol.asyncDispose]();
  await testCluster[Symbol.asyncDispose]();
}, 60_000);

function specFor(overrides: Partial<SriovNetworkNodePolicySpec> = {}): SriovNetworkNodePolicySpec {
  return {
    nodeSelector: {},
    nicSelector: { rootDevices: [pci("0000:01:00.0")] },
    resourceName: "fast",
    numVfs: 2,
    ...overrides,
  };
}

const user = () => testCluster.as("user");
const changePolicy = (name: string, spec: Partial<SriovNetworkNodePolicySpec>) =>
  user().patch(sriovNetworkNodePolicies, name, { spec });

/** Whether kubectl wait succeeds within `seconds`. */
async function waitFor(resource: string, condition: string, seconds: number): Promise<boolean> {
  try {
    await testCluster.kubectl(["wait", `--for=condition=${condition}`, `--timeout=${seconds}s`, resource]);
    return true;
  } catch (error) {
    if (String(error).includes("timed out waiting")) return false;
    throw error;
  }
}

/** The events of an object, each as "Normal Configured", the oldest first. */
async function eventsOf(kind: string, name: string): Promise<readonly string[]> {
  const select = `regarding.kind=${kind},regarding.name=${name}`;
  const shown = '{range .items[*]}{.eventTime} {.type} {.reason}{"\\n"}{end}';
  const lines = await testCluster.kubectl([
    "get",
    "events.v1.events.k8s.io",
    "--field-selector",
    select,
    "-o",
    `jsonpath=${shown}`,
  ]);
  return lines
    .split("\n")
    .filter((line) => line !== "")
    .sort()
    .map((line) => line.replace(/^\S+ /, ""));
}

describe("kubectl wait --for=condition=Ready", () => {
  it("sees NoOperatorConfig on a policy while no SriovOperatorConfig exists", async () => {
    await user().create(sriovNetworkNodePolicies, { metadata: { name: "fast" }, spec: specFor() });
    await eventually("the condition NoOperatorConfig", () => {
      const ready = policies.get("fast")?.status?.conditions?.find(({ type }) => type === "Ready");
      return ready?.status === "False" && ready.reason === "NoOperatorConfig";
    });
    const spec = { disableDrain: true };
    await user().create(sriovOperatorConfigs, { metadata: { name: "default" }, spec });
  }, 60_000);

  it("returns when the VFs of a new policy exist", async () => {
    expect(await waitFor("sriovnetworknodepolicy/fast", "Ready", 60)).toBe(true);
    expect((await worker.kernel.host().sriov.readPf(pci("0000:01:00.0")))?.sriov?.numVfs).toBe(2);
  }, 90_000);

  it("does not return for an old condition after a change, even while the operator is stopped", async () => {
    operator.signal("STOP");
    await changePolicy("fast", { numVfs: 3 });
    expect(await waitFor("sriovnetworknodepolicy/fast", "Ready", 2)).toBe(false);
    operator.signal("CONT");
    expect(await waitFor("sriovnetworknodepolicy/fast", "Ready", 60)).toBe(true);
    expect((await worker.kernel.host().sriov.readPf(pci("0000:01:00.0")))?.sriov?.numVfs).toBe(3);
  }, 120_000);

  it("sees Progressing before the daemon has handled the change", async () => {
    await worker.daemon.kill();
    await changePolicy("fast", { numVfs: 4 });
    expect(await waitFor("sriovnetworknodepolicy/fast", "Progressing", 60)).toBe(true);
    await eventually("the counts", () => {
      const { matchedNodeCount, readyNodeCount } = policies.get("fast")?.status ?? {};
      return matchedNodeCount === 1 && readyNodeCount === 0;
    });
    worker.startDaemon();
    expect(await waitFor("sriovnetworknodepolicy/fast", "Ready", 60)).toBe(true);
  }, 120_000);

  it("works for pools", async () => {
    const spec = { nodeSelector: { matchLabels: { "kubernetes.io/hostname": "worker-1" } }, maxUnavailable: 1 };
    await user().create(sriovNetworkPoolConfigs, { metadata: { name: "all" }, spec });
    expect(await waitFor("sriovnetworkpoolconfig/all", "Ready", 60)).toBe(true);
  }, 90_000);
});

describe("events", () => {
  it("are recorded for each transition (sriov-operator.md M-48), and not again after a restart", async () => {
    const told = () => eventsOf("SriovNetworkNodePolicy", "fast");
    // A repeated event increases the count of the first one, unless its message differs, as that of a slow change does.
    const expected = ["Normal Configured", "Normal Configuring", "Normal NoOperatorConfig"];
    await eventually("all events", async () => [...new Set(await told())].sort().join() === expected.join());
    const before = await told();
    operator.signal("TERM");
    await operator.exited;
    operator = testCluster.startOperator();
    const elsewhere = specFor({ nodeSelector: { rack: "7" } });
    await user().create(sriovNetworkNodePolicies, { metadata: { name: "marker" }, spec: elsewhere });
    await eventually("the marker's event", async () => {
      return (await eventsOf("SriovNetworkNodePolicy", "marker")).includes("Normal NoNodesMatched");
    });
    expect(await told()).toEqual(before);
    expect((await eventsOf("SriovNetworkPoolConfig", "all")).at(-1)).toBe("Normal Configured");
  }, 60_000);

  it("are warnings for failures", async () => {
    await changePolicy("fast", { numVfs: 9 });
    expect(await waitFor("sriovnetworknodepolicy/fast", "Degraded", 60)).toBe(true);
    await eventually("the warning", async () => {
      return (await eventsOf("SriovNetworkNodePolicy", "fast")).at(-1) === "Warning NodesFailed";
    });
    const described = await testCluster.kubectl(["describe", "sriovnetworknodepolicy/fast"]);
    expect(described).toContain("9 VFs requested, but 0000:01:00.0 supports at most 7");
  }, 90_000);
});

describe("a status that somebody edits or removes", () => {
  const states = "sriovnetworknodestate/worker-1";
  const read = (resource: string, path: string) => testCluster.kubectl(["get", resource, "-o", `jsonpath={${path}}`]);
  const patchStatus = (resource: string, status: string) =>
    testCluster.kubectl(["patch", resource, "--subresource=status", "--type=merge", "-p", `{"status":${status}}`]);

  it.each([
    { what: "removed from the node state", resource: states, status: "null" },
    { what: "edited in the node state", resource: states, status: '{"syncStatus":"Failed","interfaces":[]}' },
    { what: "restored in the node state", resource: states, status: '{"conditions":null,"lastSyncError":"old"}' },
    { what: "removed from the policy", resource: "sriovnetworknodepolicy/fast", status: "null" },
    { what: "removed from the pool", resource: "sriovnetworkpoolconfig/all", status: "null" },
  ])(
    "is right again within seconds: $what",
    async ({ resource, status }) => {
      // The speed of a link is left out for a moment after the link has gone down.
      const passing = /"(lastTransitionTime|linkSpeed)":"[^"]*",?/g;
      const fields = async () => (await read(resource, ".status")).replaceAll(passing, "");
      const before = await fields();
      await patchStatus(resource, status);
      await eventually("the status of before", async () => (await fields()) === before, { withinMs: 20_000 });
    },
    60_000,
  );
});
