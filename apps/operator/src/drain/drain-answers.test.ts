// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, sriovNetworkNodeStates } from "@switchyard/api";
import { createDrainAnswers, type AnsweredState, type Swap } from "./drain-answers.ts";
import { createDrainCluster, drainNamespace, type DrainCluster } from "./testing/drain-cluster.ts";

const never = new AbortController().signal;
const step: Swap = { from: "Idle", to: "Draining" };

/** A node with a drain request and the answer Idle, and its state as the operator knows it. */
async function asking() {
  const cluster = createDrainCluster();
  cluster.addNode("a");
  await cluster.settle();
  cluster.requestDrain("a", "Drain_Required");
  const uid = cluster.states.get("a")?.uid ?? "";
  return { cluster, believed: { type: sriovNetworkNodeStates, name: "a", uid, desired: "Drain_Required" } };
}

function swap(cluster: DrainCluster, believed: AnsweredState): Promise<string | undefined> {
  return createDrainAnswers(cluster.transport, drainNamespace).swap(believed, step, never);
}

describe("swap", () => {
  it("writes the answer if all is as expected, and returns the version", async () => {
    const { cluster, believed } = await asking();
    const version = cluster.api.get(sriovNetworkNodeStates, { name: "a", namespace: drainNamespace });
    const told = await swap(cluster, believed);
    expect(cluster.answerOf("a")).toBe("Draining");
    expect(Number(told)).toBeGreaterThan(Number(version?.metadata.resourceVersion));
  });

  it.each<{ when: string; change: (cluster: DrainCluster) => void }>([
    {
      when: "the request was withdrawn",
      change: (cluster) => {
        cluster.requestDrain("a", "Idle");
      },
    },
    {
      when: "the request is already answered",
      change: (cluster) => {
        cluster.annotate(sriovNetworkNodeStates, "a", { [annotations.currentState]: "DrainComplete" });
      },
    },
    {
      when: "the state was replaced by another of the same name",
      change: (cluster) => {
        cluster.api.delete(sriovNetworkNodeStates, { name: "a", namespace: drainNamespace });
        cluster.addState("a");
        cluster.requestDrain("a", "Drain_Required");
        cluster.annotate(sriovNetworkNodeStates, "a", { [annotations.currentState]: "Idle" });
      },
    },
    {
      when: "the state is gone",
      change: (cluster) => {
        cluster.api.delete(sriovNetworkNodeStates, { name: "a", namespace: drainNamespace });
      },
    },
  ])("writes nothing if $when", async ({ change }) => {
    const { cluster, believed } = await asking();
    change(cluster);
    const before = cluster.answerOf("a");
    expect(await swap(cluster, believed)).toBeUndefined();
    expect(cluster.answerOf("a")).toBe(before);
  });
});
