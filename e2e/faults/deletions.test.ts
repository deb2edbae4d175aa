// SPDX-License-Identifier: Apache-2.0
/**
 * Tests that no VF changes while node states and the SriovOperatorConfig are deleted and pods use VFs. Meanwhile the
 * operator is killed, its requests are refused, and its caches are stale (operator.test.ts).
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { disposeOf } from "../src/dispose-of.ts";
import { pointsToRun, prepareFaultTests, runCampaign, type PreparedFaultTests } from "./campaign.ts";
import { deletionScenario } from "./scenarios/deletion-scenario.ts";

let prepared: PreparedFaultTests;

beforeAll(async () => {
  prepared = await prepareFaultTests();
}, 600_000);

afterAll(async () => {
  await disposeOf(prepared);
});

describe("VFs in use", () => {
  it(
    "stay while policies and node states are deleted and recreated, with faults",
    async () => {
      const { points, findings } = await runCampaign(deletionScenario, {
        ...prepared,
        pointsToRun,
      });
      expect(findings.join("\n\n")).toBe("");
      expect(points.length).toBeGreaterThan(0);
    },
    60 * 60_000,
  );
});
