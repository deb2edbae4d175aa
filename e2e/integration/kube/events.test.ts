// SPDX-License-Identifier: Apache-2.0
/** Events on a real API server, with only the rights that the recorder says it needs. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  connect,
  createEventRecorder,
  isKubeObject,
  objectPath,
  systemClock,
  type EventToRecord,
} from "@switchyard/kube";
import { eventually, startControlPlane, type ControlPlane } from "@switchyard/testing";

const coldStartMs = 10 * 60_000;
const testMs = 3 * 60_000;

// A minute of the recorder's passes in a second.
const fastClock = {
  nowMs: () => systemClock.nowMs() * 60,
  after: (delayMs: number, run: () => void) => systemClock.after(delayMs / 60, run),
};

describe("events on a real API server", () => {
  let cluster: ControlPlane;
  beforeAll(async () => {
    cluster = await startControlPlane();
  }, coldStartMs);
  afterAll(() => cluster[Symbol.asyncDispose]());

  it(
    "are stored, counted, and shown by kubectl describe",
    async () => {
      const role = ["--verb=create,patch", "--resource=events.events.k8s.io"];
      await cluster.kubectl(["create", "clusterrole", "event-recorder", ...role]);
      await cluster.kubectl(["create", "clusterrolebinding", "e", "--clusterrole=event-recorder", "--user=operator"]);
      // The server's authorizer applies new rights after a moment, and refused events are lost.
      const may = () => cluster.kubectl(["auth", "can-i", "create", "events.events.k8s.io", "--as=operator"]);
      await eventually("the rights", async () => (await may().catch(() => "no")).startsWith("yes"));
      await cluster.kubectl(["create", "-f", "-"], {
        input: '{"apiVersion":"v1","kind":"Node","metadata":{"name":"w"}}',
      });

      await using admin = await connect({ kubeconfig: cluster.kubeconfig });
      await using transport = await connect({ kubeconfig: await cluster.clientFor({ user: "operator" }) });
      const nodes = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false };
      const regarding = await admin.request({ method: "GET", path: objectPath(nodes, { name: "w" }) });
      if (!isKubeObject(regarding)) throw new TypeError("no node");

      const reported: unknown[] = [];
      const who = { controller: "switchyard-operator", instance: "operator-0" };
      const report = (error: unknown) => reported.push(error);
      const stuck: EventToRecord = {
        regarding,
        type: "Warning",
        reason: "DrainStuck",
        note: `2 pods stay ${"…".repeat(500)}`,
      };
      {
        await using recorder = createEventRecorder({ transport, ...who, report, clock: fastClock });
        for (let count = 0; count < 3; count++) recorder.record(stuck);
        const field = (name: string) =>
          cluster.kubectl(["get", "events.events.k8s.io", "-o", `jsonpath={.items[*].${name}}`]);
        await eventually("the event", async () => (await field("reason")) === "DrainStuck");
        recorder.record(stuck);
        await eventually("the count", async () => (await field("series.count")) === "4");
        expect([await field("reportingController"), await field("action")]).toEqual([who.controller, "StatusChange"]);
        recorder.record({ regarding, type: "Normal", reason: "DrainCompleted", note: "all pods are gone" });
      }
      expect(reported).toEqual([]);
      const described = await cluster.kubectl(["describe", "node", "w"]);
      expect(described).toMatch(/Warning +DrainStuck .*switchyard-operator.* 2 pods stay …/);
      expect(described).toMatch(/Normal +DrainCompleted .*switchyard-operator.* all pods are gone/);
    },
    testMs,
  );
});
