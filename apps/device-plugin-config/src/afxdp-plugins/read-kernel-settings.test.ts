// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { readHeldPools } from "./read-kernel-settings.ts";

describe("readHeldPools", () => {
  const devices = [
    { resourceName: "afxdp/fast", ids: ["ens1f0"] },
    { resourceName: "openshift.io/lab", ids: ["0000:3b:02.0"] },
  ];
  const pods = [{ namespace: "apps", name: "web-0", containers: [{ name: "app", devices }] }];

  it.each([
    { kubelet: "has run for an hour", ageMs: 3_600_000, pools: ["fast"] },
    { kubelet: "has just started", ageMs: 0, pools: undefined },
    { kubelet: "has just ended", ageMs: undefined, pools: undefined },
  ])("names the pools of which pods have devices, if that is known: a kubelet that $kubelet", async (given) => {
    const listPods = () => Promise.resolve({ pods, atMs: 0, kubeletStartedMs: 0, kubeletAgeMs: given.ageMs });
    const held = await readHeldPools({ listPods }, new AbortController().signal);
    expect(held && [...held]).toEqual(given.pools);
  });
});
