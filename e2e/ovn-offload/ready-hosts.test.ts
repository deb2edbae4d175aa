// SPDX-License-Identifier: Apache-2.0
/**
 * Random clusters with SmartNICs: a thousand of those of which `npm test` plays a hundred. RUNS is their number; SEED repeats a run.
 */
import { expect, it } from "@jest/globals";
import { checkReadyHosts } from "@switchyard/ovn-offload/testing/usable-hosts";

const runs = Number(process.env["RUNS"] ?? "1000");
const seed = process.env["SEED"] === undefined ? undefined : Number(process.env["SEED"]);

it(`a ready host can run OVN on its SmartNIC and give VFs to pods, in ${runs} clusters`, () => {
  expect(checkReadyHosts({ runs, seed })).toBeGreaterThan(runs / 10);
}, 600_000);
