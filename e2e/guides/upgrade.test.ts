// SPDX-License-Identifier: Apache-2.0
/**
 * Executes the commands of docs/guide/upgrade.md by Helm 4 in a cluster in which upstream's chart is installed. What must not
 * change is in e2e/upgrade.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { disposeOf } from "../src/dispose-of.ts";
import { startMigration, type Migration } from "../upgrade/chart-migration.ts";
import { blocksOf, createGuidePlace } from "./guide-place.ts";
import { runGuide, type GuidePlace } from "./run-guide.ts";

const guide = "docs/guide/upgrade.md";
const numNotExecuted = 6;
let migration: Migration;
let place: GuidePlace;

beforeAll(async () => {
  migration = await startMigration("helm4");
  place = await createGuidePlace(migration.testCluster);
});

afterAll(async () => {
  await disposeOf(migration);
});

describe(guide, () => {
  it("can be followed word by word", async () => {
    const blocks = await blocksOf(guide);
    const wanted = blocks.filter(({ notExecuted }) => notExecuted === undefined);
    const outcomes = await runGuide(blocks, place);
    expect(outcomes.map(({ block, result }) => `line ${block.line}: ${result}`)).toEqual(
      wanted.map(({ line }) => `line ${line}: done`),
    );
    expect(blocks.length - wanted.length).toBe(numNotExecuted);
  });
});
