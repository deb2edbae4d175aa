// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import type { AfxdpNetworkNodeStateSpec } from "@switchyard/api";
import { poolVerdict, type PoolVerdict } from "./pool-verdict.ts";

const pciAddress = "0000:5e:00.0";
const subfunctions = { pciAddress, mode: "subfunction", poolName: "fast", numSfs: 4 } as const;
const spec: AfxdpNetworkNodeStateSpec = {
  interfaces: [
    subfunctions,
    { ...subfunctions, pciAddress: "0000:5e:00.1", mode: "primary", numSfs: 0 },
    { ...subfunctions, pciAddress: "0000:5f:00.0", poolName: "other" },
  ],
  pools: [],
};
const succeeded = { syncStatus: "Succeeded" } as const;
const announcing = (announced: number, error = "") => {
  return { ...succeeded, pools: [{ name: "fast", announced, error }] };
};
const ready: PoolVerdict = { kind: "ready", message: "" };
const configuring: PoolVerdict = { kind: "configuring", message: "" };

type State = Parameters<typeof poolVerdict>[1];

it.each<{ what: string; state: State; verdict: PoolVerdict }>([
  { what: "a node without a status", state: { spec }, verdict: configuring },
  { what: "a node that is at work", state: { spec, status: { syncStatus: "InProgress" } }, verdict: configuring },
  {
    what: "a node that has failed",
    state: { spec, status: { syncStatus: "Failed", lastSyncError: "no subfunctions" } },
    verdict: { kind: "failed", message: "no subfunctions" },
  },
])("poolVerdict of $what", ({ state, verdict }) => {
  expect(poolVerdict("fast", state)).toEqual(verdict);
});

it("is ready when all devices of the pool are announced: each primary device and each subfunction", () => {
  const verdictOf = (status: NonNullable<State["status"]>) => poolVerdict("fast", { spec, status });
  expect(verdictOf(announcing(5))).toEqual(ready);
  expect(verdictOf(announcing(6))).toEqual(ready);
  expect(verdictOf(announcing(4))).toEqual({
    kind: "failed",
    message: "pool fast: 4 of 5 devices are announced to the kubelet",
  });
  expect(verdictOf(announcing(5, "no bpffs"))).toEqual({ kind: "failed", message: "pool fast: no bpffs" });
  expect(verdictOf({ ...succeeded, pools: [] })).toEqual(configuring);
  expect(verdictOf(succeeded)).toEqual(ready); // of a device plugin that reports no pools
});
