// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the operator with faults, with the rights of its service account, in the manner of Sieve and Acto. A scenario
 * runs first without faults. Then it runs repeatedly while the operator is killed at its writes, its writes are refused
 * or slow, its lists, watches and lease fail, and its caches are stale. Each step must end in the same state as without
 * faults, and no node may be drained and no object recreated more often. `npm run e2e -- faults` runs a sample of all
 * points, `npm run e2e -- faults --all` all of them.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { disposeOf } from "../src/dispose-of.ts";
import { pointsToRun, prepareFaultTests, runCampaign, type PreparedFaultTests } from "./campaign.ts";
import { componentScenario } from "./scenarios/component-scenario.ts";
import { networkScenario } from "./scenarios/network-scenario.ts";
import { nodeScenario } from "./scenarios/node-scenario.ts";
import { planPairScenarios } from "./points.ts";

let prepared: PreparedFaultTests;

beforeAll(async () => {
  prepared = await prepareFaultTests();
}, 600_000);

afterAll(async () => {
  await disposeOf(prepared);
});

describe("the operator with faults", () => {
  it.each([nodeScenario, networkScenario, componentScenario])(
    "completes the scenario $name in the same state with the same changes",
    async (scenario) => {
      const { points, findings } = await runCampaign(scenario, { ...prepared, pointsToRun });
      expect(findings.join("\n\n")).toBe("");
      expect(points.length).toBeGreaterThan(0);
    },
    60 * 60_000,
  );
});

describe("two replicas of the operator", () => {
  it(
    "complete the node scenario in the same state if the leader is cut off or loses its lease",
    async () => {
      const options = { ...prepared, pointsToRun, replicas: 2, plan: planPairScenarios };
      const { points, missed, findings } = await runCampaign(nodeScenario, options);
      expect(findings.join("\n\n")).toBe("");
      expect(points.length - missed.length).toBeGreaterThan(5);
    },
    60 * 60_000,
  );
});
