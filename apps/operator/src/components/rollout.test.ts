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

describe("pendingRollout and isServing", () => {
  it.each([
    { are: "none yet", status: undefined, pending: "daemon is being started", serves: false },
    {
      are: "none that is ready, of which the API server says nothing",
      ...{ status: { observedGeneration: 2, desiredNumberScheduled: 1, updatedNumberScheduled: 1 } },
      ...{ pending: "daemon: 0 of 1 pods available", serves: false },
    },
    {
      are: "of the former spec",
      status: { ...counts(3, 3, 3), observedGeneration: 1 },
      ...{ pending: "daemon is being started", serves: false },
    },
    { are: "as wanted", status: counts(3, 3, 3), pending: undefined, serves: true },
    { are: "wanted nowhere", status: counts(0, 0, 0), pending: undefined, serves: false },
    { are: "not all ready", status: counts(3, 3, 2), pending: "daemon: 2 of 3 pods available", serves: true },
    {
      are: "not all of this spec, and those that are ready may be the others",
      ...{ status: counts(3, 1, 2), pending: "daemon: 1 of 3 pods updated, 2 of 3 pods available", serves: false },
    },
    {
      are: "not all of this spec, but one of it is ready",
      ...{ status: counts(3, 1, 3), pending: "daemon: 1 of 3 pods updated, 3 of 3 pods available", serves: true },
    },
  ])("return $pending and $serves if the pods are $are", ({ status, pending, serves }) => {
    const rollout = readRollout(daemonSet(2, status));
    expect([pendingRollout("daemon", rollout), isServing(rollout)]).toEqual([pending, serves]);
  });

  it("treat a missing DaemonSet as being started", () => {
    expect([pendingRollout("daemon", undefined), isServing(undefined)]).toEqual(["daemon is being started", false]);
  });
});
