// SPDX-License-Identifier: Apache-2.0
/**
 * Node states and the SriovOperatorConfig are deleted while pods use VFs, and the operator is killed, refused and
 * told the past meanwhile (operator.test.ts): no VF may change.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { writeToStderr } from "@switchyard/testing";
import { runCampaign } from "./campaign.ts";
import { deletionScenario } from "./deletion-scenario.ts";
import { effort, prepareFaultTests, type PreparedFaultTests } from "./fault-tests.ts";

let prepared: PreparedFaultTests;

beforeAll(async () => {
  prepared = await prepareFaultTests();
}, 600_000);

afterAll(async () => {
  await prepared[Symbol.asyncDispose]();
});

describe("VFs in use", () => {
  it(
    "stay while policies and node states are deleted and recreated, with faults",
    async () => {
      const { points, findings } = await runCampaign(deletionScenario, { ...prepared, effort, tell: writeToStderr });
      expect(findings.join("\n\n")).toBe("");
      expect(points.length).toBeGreaterThan(0);
    },
    60 * 60_000,
  );
});
