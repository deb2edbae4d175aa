// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, sriovNetworkNodeStates } from "@switchyard/api";
import { createDrainAnswers, type AnsweredState, type Swap } from "./drain-answers.ts";
import { createDrainWorld, drainNamespace, type DrainWorld } from "./testing/drain-world.ts";

const never = new AbortController().signal;
const step: Swap = { from: "Idle", to: "Draining" };

/** A node that asks for a drain and was answered Idle, and its state as we know it. */
async function asking() {
  const world = createDrainWorld();
  world.addNode("a");
  await world.settle();
  world.ask("a", "Drain_Required");
  const uid = world.states.get("a")?.uid ?? "";
  return { world, believed: { name: "a", uid, desired: "Drain_Required" } };
}

function swap(world: DrainWorld, believed: AnsweredState): Promise<string | undefined> {
  return createDrainAnswers(world.transport, drainNamespace).swap(believed, step, never);
}

describe("swap", () => {
  it("writes the answer if all is as expected, and returns the version", async () => {
    const { world, believed } = await asking();
    const version = world.api.get(sriovNetworkNodeStates, { name: "a", namespace: drainNamespace });
    const told = await swap(world, believed);
    expect(world.answerOf("a")).toBe("Draining");
    expect(Number(told)).toBeGreaterThan(Number(version?.metadata.resourceVersion));
  });

  it.each<{ when: string; change: (world: DrainWorld) => void }>([
    {
      when: "the request was taken back",
      change: (world) => {
        world.ask("a", "Idle");
      },
    },
    {
      when: "somebody has answered already",
      change: (world) => {
        world.annotate(sriovNetworkNodeStates, "a", { [annotations.currentState]: "DrainComplete" });
      },
    },
    {
      when: "the state is another one of the same name",
      change: (world) => {
        world.api.delete(sriovNetworkNodeStates, { name: "a", namespace: drainNamespace });
        world.addState("a");
        world.ask("a", "Drain_Required");
        world.annotate(sriovNetworkNodeStates, "a", { [annotations.currentState]: "Idle" });
      },
    },
    {
      when: "the state is gone",
      change: (world) => {
        world.api.delete(sriovNetworkNodeStates, { name: "a", namespace: drainNamespace });
      },
    },
  ])("writes nothing if $when", async ({ change }) => {
    const { world, believed } = await asking();
    change(world);
    const before = world.answerOf("a");
    expect(await swap(world, believed)).toBeUndefined();
    expect(world.answerOf("a")).toBe(before);
  });
});
