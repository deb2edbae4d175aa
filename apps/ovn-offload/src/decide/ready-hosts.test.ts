// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { checkReadyHosts } from "../testing/usable-hosts.ts";

/** RUNS changes the number of clusters. */
const runs = Number(process.env["RUNS"] ?? "100");

it("a host that is reported as ready can run OVN on its SmartNIC and give VFs to pods, in any cluster", () => {
  expect(checkReadyHosts({ runs })).toBeGreaterThan(0);
});
