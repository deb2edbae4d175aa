// SPDX-License-Identifier: Apache-2.0
/** Tests of the fault tests: they must detect a lost write and a different way to the same state, on a real API server. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { bridgeNetworks, networkAttachmentDefinitions } from "@switchyard/api";
import { disposeOf } from "../src/dispose-of.ts";
import type { ClusterUsers } from "./cluster-users.ts";
import { has, place, type Scenario } from "./scenarios/scenario.ts";
import { runWithFaults, runWithoutFaults } from "./scenarios/run-scenario.ts";
import type { Point } from "./points.ts";
import { startFaultCluster, type FaultCluster } from "./fault-cluster.ts";
import { prepareFaultTests, type PreparedFaultTests } from "./campaign.ts";

const made = "a network is made";
let prepared: PreparedFaultTests;
let faultCluster: FaultCluster | undefined;

beforeAll(async () => {
  prepared = await prepareFaultTests();
}, 600_000);

afterAll(async () => {
  await disposeOf(prepared);
});

afterEach(async () => {
  await faultCluster?.[Symbol.asyncDispose]();
  faultCluster = undefined;
}, 60_000);

/** Returns a scenario that creates and deletes one network. `meddle` is an additional action of a user. */
function scenarioWith(meddle: (users: ClusterUsers) => Promise<void> = () => Promise.resolve()): Scenario {
  return {
    name: "one network",
    flags: [],
    steps: [
      {
        name: made,
        async act(users) {
          await users.apply(bridgeNetworks, {
            metadata: place("blue"),
            spec: { resourceName: "nics", bridge: "br0" },
          });
          await meddle(users);
        },
        isDone: (objects) => has(objects, "BridgeNetwork blue", "Ready"),
      },
      {
        name: "it is deleted",
        act: (users) => users.delete(bridgeNetworks, place("blue")),
        isDone: (objects) => !objects.some(({ metadata }) => metadata.name === "blue"),
      },
    ],
  };
}

/** Runs the scenario without faults, and then `again` with these points. */
async function runOnce(again: Scenario, points: readonly Point[] = []): Promise<readonly Point[]> {
  faultCluster = await startFaultCluster({ ...prepared, flags: [] });
  const reference = await runWithoutFaults(faultCluster, scenarioWith());
  return runWithFaults({ faultCluster, scenario: again, reference, points, withinMs: 5_000 });
}

describe("a scenario", () => {
  it("passes if it is run again without faults", async () => {
    await expect(runOnce(scenarioWith())).resolves.toEqual([]);
  }, 120_000);

  it("fails if a write is lost for ever, and the finding names the write and the missing object", async () => {
    const finding = runOnce(scenarioWith(), [{ step: made, fault: "500 for ever", nth: 1 }]);
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

  it("fails if it ends in the same state with other changes", async () => {
    const finding = runOnce(
      scenarioWith(async (users) => {
        const red = { metadata: place("red"), spec: { config: "{}" } };
        await users.apply(networkAttachmentDefinitions, red);
        await users.delete(networkAttachmentDefinitions, red.metadata);
      }),
    );
    const detour =
      'by another way:\nNetworkAttachmentDefinition sriov-network-operator/red: expected absent, but it is ["came","went"]';
    await expect(finding).rejects.toMatchObject({ message: expect.stringContaining(detour) });
  }, 120_000);

  it("returns the points at which no fault occurred", async () => {
    const missed: Point = { step: made, fault: "409", nth: 50 };
    await expect(runOnce(scenarioWith(), [{ step: made, fault: "409", nth: 1 }, missed])).resolves.toEqual([missed]);
  }, 120_000);
});
