// SPDX-License-Identifier: Apache-2.0
/** The table in docs/reference/upstream-values.md has a row for each value of the newest chart of upstream that is available. */
import { describe, expect, it } from "@jest/globals";
import { missingUpstreamOperator, upstreamOperator } from "@switchyard/go-programs";
import { pathsOf, readChartValues, readUpstreamRows } from "../src/helm/upstream-values.ts";

const missing = missingUpstreamOperator();
if (missing !== undefined) console.error(`SKIPPED: ${missing}`);

(missing === undefined ? describe : describe.skip)(
  `docs/reference/upstream-values.md${missing ? ` (${missing})` : ""}`,
  () => {
    it("has the values of upstream's chart, and no others", async () => {
      const { chart } = await upstreamOperator();
      const rows = (await readUpstreamRows()).map(({ path }) => path);
      expect(rows.toSorted()).toEqual(pathsOf(await readChartValues(chart)).toSorted());
    }, 1_800_000);
  },
);
