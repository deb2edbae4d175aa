// SPDX-License-Identifier: Apache-2.0
/**
 * Random changes on cards with random pairs of quirks of drivers: thousands of those of which `npm test` runs some. QUIRK_RUNS is
 * their number; SEED repeats a run.
 */
import { describe, it } from "@jest/globals";
import { checkQuirks } from "@switchyard/config-daemon/testing/quirks";

const runs = Number(process.env["QUIRK_RUNS"] ?? "2000");
const seed = process.env["SEED"] === undefined ? undefined : Number(process.env["SEED"]);

describe(`${runs} changes on nodes with a card that has quirks`, () => {
  it("come to rest without a drain, are Succeeded only if all VFs are usable, and keep what worked", async () => {
    await checkQuirks({ runs, seed });
  }, 3_600_000);
});
