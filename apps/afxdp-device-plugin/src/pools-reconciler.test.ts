// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { AfxdpNetworkNodeState } from "@switchyard/api";
import { silentLogger } from "@switchyard/service/testing";
import { createPoolsReconciler } from "./pools-reconciler.ts";

const state: AfxdpNetworkNodeState = {
  apiVersion: "afxdpnetwork.hns.dev/v1alpha1",
  kind: "AfxdpNetworkNodeState",
  metadata: { name: "worker-1" },
  spec: {
    pools: [{ name: "fast", mode: "primary" }],
    interfaces: [{ name: "v0", mode: "primary", poolName: "fast" }],
  },
  status: { interfaces: [{ name: "v0" }] },
};

describe("createPoolsReconciler", () => {
  it("serves the pools that it has while their record cannot be written, and says so on each pool", async () => {
    const written: unknown[] = [];
    let updates = 0;
    const reconcile = createPoolsReconciler({
      server: {
        pools: () => [],
        setPools: () =>
          Promise.reject(Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC", syscall: "write" })),
        setPrograms: () => undefined,
        update: () => {
          updates++;
          return Promise.resolve({ pools: [], bpfman: undefined, isUnfinished: false });
        },
      },
      state: () => state,
      writer: {
        applyStatus: ({ status }) => {
          written.push(status);
          return Promise.resolve("written" as const);
        },
      },
      log: silentLogger,
    });
    expect(await reconcile("worker-1", new AbortController().signal)).toEqual({ afterMs: 5_000 });
    expect(updates).toBe(1);
    const error = "the pools of the node cannot be recorded, so that they stay what they were: ENOSPC: no space left";
    expect(written).toEqual([{ pools: [{ name: "fast", announced: 0, allocatable: 0, error }] }]);
  });
});
