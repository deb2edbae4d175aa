// SPDX-License-Identifier: Apache-2.0
/** The judge of the operator is judged: it must see what it is there for, on a real API server. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { bridgeNetworks, networkAttachmentDefinitions } from "@switchyard/api";
import type { Actors } from "./actors.ts";
import { has, place, type Life } from "./life.ts";
import { playDisturbed, playUndisturbed } from "./play.ts";
import type { Point } from "./points.ts";
import { createWorld, type World } from "./world.ts";
import { prepareFaultTests, type PreparedFaultTests } from "./fault-tests.ts";

const made = "a network is made";
let prepared: PreparedFaultTests;
let world: World | undefined;

beforeAll(async () => {
  prepared = await prepareFaultTests();
}, 600_000);

afterAll(async () => {
  await prepared[Symbol.asyncDispose]();
});

afterEach(async () => {
  await world?.[Symbol.asyncDispose]();
  world = undefined;
}, 60_000);

/** One network comes and goes; `meddle` is what somebody does beside. */
function lifeWith(meddle: (actors: Actors) => Promise<void> = () => Promise.resolve()): Life {
  return {
    name: "one network",
    flags: [],
    steps: [
      {
        name: made,
        async act(actors) {
          await actors.apply(bridgeNetworks, {
            metadata: place("blue"),
            spec: { resourceName: "nics", bridge: "br0" },
          });
          await meddle(actors);
        },
        isDone: (objects) => has(objects, "BridgeNetwork blue", "Ready"),
      },
      {
        name: "it is deleted",
        act: (actors) => actors.delete(bridgeNetworks, place("blue")),
        isDone: (objects) => !objects.some(({ metadata }) => metadata.name === "blue"),
      },
    ],
  };
}

/** Plays the life undisturbed, and then the other one with this point. */
async function play(again: Life, points: readonly Point[] = []): Promise<readonly Point[]> {
  world = await createWorld({ ...prepared, flags: [] });
  const reference = await playUndisturbed(world, lifeWith());
  return playDisturbed({ world, life: again, reference, points, withinMs: 5_000 });
}

describe("a life", () => {
  it("that is played again is the same", async () => {
    await expect(play(lifeWith())).resolves.toEqual([]);
  }, 120_000);

  it("in which a write is lost for ever does not pass, and the write and what lacks are named", async () => {
    const finding = play(lifeWith(), [{ step: made, fault: "500 for ever", nth: 1 }]);
    await expect(finding).rejects.toMatchObject({
      name: "FaultFinding",
      message: expect.stringMatching(
        new RegExp(
          [
            `^500 for ever at write 1 in "${made}"\\n`,
            "NetworkAttachmentDefinition sriov-network-operator/blue: expected \\{.*\\}, but it is absent\\n",
            " 1\\. PATCH /apis/k8s\\.cni\\.cncf\\.io/.*/blue by switchyard-networks: not carried out <- 500 for ever\\n",
          ].join("[^]*"),
        ),
      ),
    });
  }, 120_000);

  it("that ends the same by another way does not pass", async () => {
    const finding = play(
      lifeWith(async (actors) => {
        const red = { metadata: place("red"), spec: { config: "{}" } };
        await actors.apply(networkAttachmentDefinitions, red);
        await actors.delete(networkAttachmentDefinitions, red.metadata);
      }),
    );
    const detour =
      'by another way:\nNetworkAttachmentDefinition sriov-network-operator/red: expected absent, but it is ["came","went"]';
    await expect(finding).rejects.toMatchObject({ message: expect.stringContaining(detour) });
  }, 120_000);

  it("tells points that came to nothing from those that happened", async () => {
    const missed: Point = { step: made, fault: "409", nth: 50 };
    await expect(play(lifeWith(), [{ step: made, fault: "409", nth: 1 }, missed])).resolves.toEqual([missed]);
  }, 120_000);
});
