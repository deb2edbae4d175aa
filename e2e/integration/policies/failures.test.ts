// SPDX-License-Identifier: Apache-2.0
/**
 * Unexpected failures of the config daemon and of the operator are reported on the object within seconds, with the
 * text of the error, and the report is removed after the next success. An admission policy makes the API server refuse
 * the writes.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { Condition, SriovNetworkNodeState } from "@switchyard/api";
import { applyPolicy, type NodeLog, policyIs, type TestCluster } from "@switchyard/test-cluster";
import { igb, pci } from "@switchyard/host/testing";
import { eventually } from "@switchyard/testing";
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

const policyFor = (node: string, numVfs: number) => ({
  nodeSelector: { "kubernetes.io/hostname": node },
  nicSelector: { rootDevices: [pf] },
  resourceName: "fast",
  numVfs,
});

function conditionOf(node: string, type: string): Condition | undefined {
  return news.states.get(node)?.status?.conditions?.find((condition) => condition.type === type);
}

async function eventsOf(node: string): Promise<string> {
  const select = `--field-selector=regarding.name=${node}`;
  return testCluster.cluster.kubectl([
    "get",
    "events.v1.events.k8s.io",
    "-A",
    select,
    "-o",
    "jsonpath={.items[*].note}",
  ]);
}

/** Makes the API server refuse updates of `resource` unless the CEL expression `allowed` is true. Disposing ends this. */
async function refuse(name: string, resource: { group: string; plural: string }, allowed: string) {
  const metadata = { name };
  const version = "admissionregistration.k8s.io/v1";
  const operations = ["UPDATE"];
  const rule = { apiGroups: [resource.group], apiVersions: ["v1"], operations, resources: [resource.plural] };
  const message = "refused by this test";
  const objects = [
    {
      apiVersion: version,
      kind: "ValidatingAdmissionPolicy",
      metadata,
      spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: allowed, message }] },
    },
    {
      apiVersion: version,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata,
      spec: { policyName: name, validationActions: ["Deny"] },
    },
  ];
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  await testCluster.cluster.kubectl(["apply", "-f", "-"], { input });
  return {
    async [Symbol.asyncDispose]() {
      await testCluster.cluster.kubectl(["delete", "-f", "-"], { input });
    },
  };
}

const isState = (state: SriovNetworkNodeState | undefined, syncStatus: string) =>
  state?.status?.syncStatus === syncStatus && state.status.observedGeneration === state.metadata.generation;

/** After many failures the next attempt comes a minute later. */
const againMs = 90_000;

/**
 * Returns the number of VFs that follows, from 1 to the card's 7. A number that is already stored needs no write, which
 * ends a row of failures; with seven numbers, six changes of a row need one.
 */
const otherNumVfs = (numVfs: number) => (numVfs % 7) + 1;

describe("a pass of a daemon in which the API server refuses a request", () => {
  it("is reported on the node state until a pass succeeds", async () => {
    await using worker = await createWorker(testCluster, "refused", [igb("0000:01:00.0")]);
    worker.startDaemon();
    await applyPolicy(testCluster, "refused", policyFor("refused", 2));
    await policyIs(news, "refused", "Ready");
    const key = "sriovnetwork.openshift.io/state";
    const noDrain = `!has(object.metadata.annotations) || object.metadata.annotations[?'${key}'].orValue('Idle') == 'Idle'`;
    {
      await using _ = await refuse("no-drains", { group: "", plural: "nodes" }, noDrain);
      // An admission policy takes effect after a while. Until then, each change requests a drain and withdraws it.
      let numVfs = 2;
      await eventually("a refused pass", async () => {
        numVfs = otherNumVfs(numVfs);
        await applyPolicy(testCluster, "refused", policyFor("refused", numVfs));
        return conditionOf("refused", "Degraded")?.reason === "PassFailed";
      });
      // The last change began another pass, which is refused, too.
      const state = await eventually("the pass fails", () => {
        const latest = news.states.get("refused");
        return isState(latest, "Failed") && latest;
      });
      expect(state.status?.lastSyncError).toContain("refused by this test");
      expect(conditionOf("refused", "Ready")).toMatchObject({ status: "False", reason: "PassFailed" });
      await eventually("an event", async () => (await eventsOf("refused")).includes("refused by this test"));
    }
    await policyIs(news, "refused", "Ready", againMs);
    expect(isState(news.states.get("refused"), "Succeeded")).toBe(true);
    expect(conditionOf("refused", "Degraded")?.status).toBe("False");
  }, 180_000);
});

describe("a write of the operator that the API server refuses", () => {
  it("is reported on the object that it concerns until it succeeds", async () => {
    await using worker = await createWorker(testCluster, "stuck", [igb("0000:01:00.0")]);
    worker.startDaemon();
    await applyPolicy(testCluster, "stuck", policyFor("stuck", 2));
    await policyIs(news, "stuck", "Ready");
    const unchanged = "object.metadata.name != 'stuck' || object.spec == oldObject.spec";
    const states = { group: "sriovnetwork.openshift.io", plural: "sriovnetworknodestates" };
    {
      await using _ = await refuse("no-changes", states, unchanged);
      let numVfs = 2;
      const refused = async () => {
        numVfs = otherNumVfs(numVfs);
        await applyPolicy(testCluster, "stuck", policyFor("stuck", numVfs));
        return conditionOf("stuck", "ReconcileFailed");
      };
      await eventually("a refused write", refused, { withinMs: 100_000 });
      expect(conditionOf("stuck", "ReconcileFailed")).toMatchObject({ status: "True", reason: "Retrying" });
      expect(conditionOf("stuck", "ReconcileFailed")?.message).toMatch(
        /^controller node-state: PATCH .*sriovnetworknodestates\/stuck.*refused by this test.*; retrying$/,
      );
      await eventually("an event", async () => (await eventsOf("stuck")).includes("controller node-state: "));
      // The daemon's conditions stay next to the operator's.
      expect(conditionOf("stuck", "Ready")).toBeDefined();
    }
    await eventually("the condition is gone", () => conditionOf("stuck", "ReconcileFailed") === undefined);
    await policyIs(news, "stuck", "Ready", againMs);
  }, 180_000);
});
