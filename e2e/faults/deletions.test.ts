// SPDX-License-Identifier: Apache-2.0
/**
 * Node states and the SriovOperatorConfig are deleted while pods use VFs, and the operator is killed, refused and told the
 * past meanwhile (operator.test.ts): no VF may change.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { binariesFor, ensureBinaries, writeToStderr } from "@switchyard/testing";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleApp } from "../src/bundle-app.ts";
import { runCampaign } from "./campaign.ts";
import { lifeOfDeletions } from "./life-of-deletions.ts";

const effort = process.env["SWITCHYARD_FAULTS"] === "all" ? "all" : "sample";
let directory: string;
let binaries: string;
let main: string;

beforeAll(async () => {
  binaries = await ensureBinaries({ names: binariesFor({ controllerManager: true }), progress: writeToStderr });
  directory = await mkdtemp(join(tmpdir(), "switchyard-faults-"));
  main = await bundleApp("apps/operator", directory);
}, 600_000);

afterAll(() => rm(directory, { recursive: true }));

describe("VFs in use", () => {
  it(
    "stay while what asks for them is deleted and comes back, whatever goes wrong",
    async () => {
      const { points, findings } = await runCampaign(lifeOfDeletions, { binaries, main, effort, tell: writeToStderr });
      expect(findings.join("\n\n")).toBe("");
      expect(points.length).toBeGreaterThan(0);
    },
    60 * 60_000,
  );
});
