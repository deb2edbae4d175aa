// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { isServing, pendingRollout, readRollout } from "./rollout.ts";

function daemonSet(generation: number, status: object | undefined) {
  const metadata = { name: "daemon", generation };
  return { apiVersion: "apps/v1", kind: "DaemonSet", metadata, ...(status && { status }) };
}

const counts = (desired: number, updated: number, available: number) => ({
  observedGeneration: 2,
  desiredNumberScheduled: desired,
  updatedNumberScheduled: updated,
  numberAvailable: available,
});

const noNode = "daemon: no node can run it (0 pods wanted)";

describe("pendingRollout and isServing", () => {
  it.each([
    { are: "not created yet", status: undefined, pending: "daemon is being started", serves: false },
    {
      are: "not available, with absent counts",
      status: { observedGeneration: 2, desiredNumberScheduled: 1, updatedNumberScheduled: 1 },
      pending: "daemon: 0 of 1 pods available",
      serves: false,
    },
    {
      are: "counted for the previous spec",
      status: { ...counts(3, 3, 3), observedGeneration: 1 },
      pending: "daemon is being started",
      serves: false,
    },
    { are: "updated and available", status: counts(3, 3, 3), pending: undefined, serves: true },
    { are: "not scheduled on any node", status: counts(0, 0, 0), pending: noNode, serves: false },
    { are: "not all available", status: counts(3, 3, 2), pending: "daemon: 2 of 3 pods available", serves: true },
    {
      are: "not all updated, and the available ones may be old",
      status: counts(3, 1, 2),
      pending: "daemon: 1 of 3 pods updated, 2 of 3 pods available",
      serves: false,
    },
    {
      are: "not all updated, but one updated pod is available",
      status: counts(3, 1, 3),
      pending: "daemon: 1 of 3 pods updated, 3 of 3 pods available",
      serves: true,
    },
  ])("return $pending and $serves if the pods are $are", ({ status, pending, serves }) => {
    const rollout = readRollout(daemonSet(2, status));
    expect([pendingRollout("daemon", rollout), isServing(rollout)]).toEqual([pending, serves]);
  });

  it("need no node if the DaemonSet only runs on nodes with VFs", () => {
    expect(pendingRollout("daemon", readRollout(daemonSet(2, counts(0, 0, 0))), false)).toBeUndefined();
  });

  it("treat a missing DaemonSet as being started", () => {
    expect([pendingRollout("daemon", undefined), isServing(undefined)]).toEqual(["daemon is being started", false]);
  });
});
