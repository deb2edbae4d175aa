// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { AfxdpNetworkNodeState, AfxdpNetworkNodeStateStatus } from "@switchyard/api";
import { isSettled } from "./afxdp-plugins-reconciler.ts";

const settled = { interfaces: [], observedGeneration: 2, syncStatus: "Succeeded" };
const state = (status: AfxdpNetworkNodeStateStatus): AfxdpNetworkNodeState => {
  return {
    apiVersion: "afxdpnetwork.hns.dev/v1alpha1",
    kind: "AfxdpNetworkNodeState",
    metadata: { name: "worker-1", generation: 2 },
    status,
  };
};
const progressing = (reason: string) => {
  const times = { observedGeneration: 2, lastTransitionTime: "2026-01-01T00:00:00Z" };
  return [{ type: "Progressing", status: "True" as const, reason, message: "", ...times }];
};

describe("isSettled", () => {
  it.each([
    { does: "is true after a success", status: settled, is: true },
    { does: "is true after a failure, which is retried", status: { ...settled, syncStatus: "Failed" }, is: true },
    {
      does: "is true while the node waits for a drain",
      status: { ...settled, syncStatus: "InProgress", conditions: progressing("WaitingForDrain") },
      is: true,
    },
    {
      does: "is false while steps run",
      status: { ...settled, syncStatus: "InProgress", conditions: progressing("Configuring") },
      is: false,
    },
    { does: "is false for another spec", status: { ...settled, observedGeneration: 1 }, is: false },
    { does: "is false before the first report", status: { observedGeneration: 2, syncStatus: "Succeeded" }, is: false },
  ])("$does", ({ status, is }) => {
    expect(isSettled(state(status))).toBe(is);
  });
});
