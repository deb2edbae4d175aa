// SPDX-License-Identifier: Apache-2.0
/**
 * Tests `npm run demo -- --vm --keep`: the guest and its daemon keep working after the demonstration.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { disposeOf } from "../src/dispose-of.ts";
import { keepDemo, tryPolicy, type KeptDemo } from "../src/kept-demo.ts";

let demo: KeptDemo;

beforeAll(async () => {
  demo = await keepDemo(["--vm"]);
}, 900_000);

afterAll(async () => {
  await disposeOf(demo);
}, 60_000);

describe("a demo in the VM that is kept running", () => {
  it("applies a policy, a change of the policy, and its deletion", async () => {
    expect(await tryPolicy(demo, "vm-worker")).toEqual([4, 6, 0]);
  }, 240_000);

  it("ends on Ctrl-C", async () => {
    expect(await demo.interrupt()).toBe(0);
  }, 60_000);
});
