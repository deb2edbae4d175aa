// SPDX-License-Identifier: Apache-2.0
/**
 * The operator under faults, with the rights of its own service account, in the manner of Sieve and Acto: a life of a
 * cluster is played undisturbed, and then again and again with the operator killed at its writes, its writes refused or
 * slow, its lists, watches and lease failing, and what it hears out of date. Each step must end as it does undisturbed,
 * and no node be drained, no object be made anew, more often. `npm run e2e -- faults` takes a part of all points, `npm
 * run e2e -- faults --all` all of them.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { writeToStderr } from "@switchyard/testing";
import { runCampaign } from "./campaign.ts";
import { lifeOfComponents } from "./life-of-components.ts";
import { lifeOfNetworks } from "./life-of-networks.ts";
import { lifeOfNodes } from "./life-of-nodes.ts";
import { planPairLives } from "./points.ts";
import { effort, prepareFaultTests, type PreparedFaultTests } from "./fault-tests.ts";

let prepared: PreparedFaultTests;

beforeAll(async () => {
  prepared = await prepareFaultTests();
}, 600_000);

afterAll(async () => {
  await prepared[Symbol.asyncDispose]();
});

describe("the operator, whatever goes wrong", () => {
  it.each([lifeOfNodes, lifeOfNetworks, lifeOfComponents])(
    "brings the life of $name to the same end by the same way",
    async (life) => {
      const { points, findings } = await runCampaign(life, { ...prepared, effort, tell: writeToStderr });
      expect(findings.join("\n\n")).toBe("");
      expect(points.length).toBeGreaterThan(0);
    },
    60 * 60_000,
  );
});

describe("two replicas of it", () => {
  it(
    "bring the life of nodes to the same end, though the leader is cut off or loses its lease",
    async () => {
      const options = { ...prepared, effort, tell: writeToStderr, replicas: 2, plan: planPairLives };
      const { points, missed, findings } = await runCampaign(lifeOfNodes, options);
      expect(findings.join("\n\n")).toBe("");
      expect(points.length - missed.length).toBeGreaterThan(5);
    },
    60 * 60_000,
  );
});
