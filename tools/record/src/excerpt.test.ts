// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { excerptOf } from "./excerpt.ts";

it("picks lines in the order of the demo, and leaves out those that are missing", () => {
  const lines = [
    "1.0 s  worker-1  InProgress  [a]",
    "       | sriovnetworknodepolicy.x/fast created",
    "1.1 s  worker-2  InProgress  [b]",
    "1.2 s  worker-1  InProgress  [c]",
    "1.3 s  policy fast Ready (Configured)",
  ];
  expect(excerptOf(lines)).toEqual([lines[1], lines[3], lines[4]]);
});
