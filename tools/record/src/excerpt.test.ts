// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { excerptOf } from "./readme.ts";

it("picks lines in the order of the demo with their headings, and leaves out those that are missing", () => {
  const lines = [
    "0.9 s  Three nodes",
    "1.0 s  worker-1  Succeeded  [1 vfio-pci]",
    "",
    "1.0 s  A policy",
    "       | sriovnetworknodepolicy.x/fast created",
    "1.1 s  worker-2  Succeeded  [1 vfio-pci]",
    "1.2 s  worker-1  Succeeded  [1 vfio-pci]",
    "1.3 s  policy fast Ready (Configured)",
  ];
  expect(excerptOf(lines)).toEqual([lines[3], lines[4], lines[6], lines[7]]);
});
