// SPDX-License-Identifier: Apache-2.0
/** `npm run demo -- --keep`, and what a newcomer tries in the cluster that it keeps running. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { keepDemo, tryPolicy, type KeptDemo } from "../../src/kept-demo.ts";

let demo: KeptDemo;

beforeAll(async () => {
  demo = await keepDemo();
}, 900_000);

afterAll(async () => {
  await demo[Symbol.asyncDispose]();
}, 60_000);

describe("a demo that keeps running", () => {
  it("applies a policy, its change and its deletion", async () => {
    expect(await tryPolicy(demo, "worker-1")).toEqual([4, 6, 0]);
  }, 240_000);

  it("ends when the user presses Ctrl-C", async () => {
    expect(await demo.interrupt()).toBe(0);
  }, 60_000);
});
