// SPDX-License-Identifier: Apache-2.0
import { describe, it } from "@jest/globals";
import { checkQuirks } from "../testing/check-quirks.ts";

describe("a node with a card that has quirks", () => {
  // e2e/quirks has more runs.
  it("comes to rest without a drain, is Succeeded only if all VFs are usable, and keeps what worked", async () => {
    await checkQuirks({ runs: 200 });
  }, 300_000);
});
