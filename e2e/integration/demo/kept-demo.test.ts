// SPDX-License-Identifier: Apache-2.0
/** `npm run demo -- --keep`, and what a newcomer tries in the cluster that it keeps running. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { readFile } from "node:fs/promises";
import { keepDemo, tryPolicy, type KeptDemo } from "../../src/kept-demo.ts";

let demo: KeptDemo;

beforeAll(async () => {
  demo = await keepDemo();
}, 900_000);

afterAll(async () => {
  await demo[Symbol.asyncDispose]();
}, 60_000);

describe("a demo that keeps running", () => {
  it("has written a page about its cluster", async () => {
    const page = await readFile(demo.report, "utf8");
    expect(page).toMatch(/NetworkAttachmentDefinitionInvalid[^]*SriovNetwork\/sriov-network-operator\/typo-net/);
    for (const node of ["worker-1", "worker-2", "worker-3"]) expect(page).toContain(`<h3>${node}</h3>`);
    // It was written before the policies were deleted, and the programs have pods.
    expect(page).toContain("6 of 7 VFs");
    expect(page).not.toMatch(/DaemonPodNotRunning|OperatorNotInstalled|UnsupportedConfiguration/);
  });

  it("applies a policy, its change and its deletion", async () => {
    expect(await tryPolicy(demo, "worker-1")).toEqual([4, 6, 0]);
  }, 240_000);

  it("ends when the user presses Ctrl-C", async () => {
    expect(await demo.interrupt()).toBe(0);
  }, 60_000);
});
