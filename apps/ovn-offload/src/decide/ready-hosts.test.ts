// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { checkReadyHosts } from "../testing/usable-hosts.ts";

it("a host that is reported as ready can run OVN on its SmartNIC and give VFs to pods, in any cluster", () => {
  expect(checkReadyHosts({ runs: 100 })).toBeGreaterThan(0);
});
