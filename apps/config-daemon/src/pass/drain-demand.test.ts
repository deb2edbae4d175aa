// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, type SriovNetworkNodeState } from "@switchyard/api";
import { createDrainDemand } from "./drain-demand.ts";

function stateWith(request: string, answer: string): SriovNetworkNodeState {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: {
      name: "worker-1",
      annotations: { [annotations.desiredState]: request, [annotations.currentState]: answer },
    },
  };
}

const drained = stateWith("Drain_Required", "DrainComplete");

describe("createDrainDemand", () => {
  it("starts a pass for SR-IOV when the need changes, and only then", () => {
    let wakes = 0;
    const demand = createDrainDemand(() => wakes++);
    for (const isNeeded of [false, true, true, false]) demand.setNeeded(isNeeded);
    expect([wakes, demand.isNeeded()]).toEqual([2, false]);
  });

  it("is drained when the operator has answered", () => {
    const demand = createDrainDemand(() => undefined);
    expect(demand.isDrained(stateWith("Drain_Required", "Draining"))).toBe(false);
    expect(demand.isDrained(drained)).toBe(true);
  });

  it("is not drained after the request was withdrawn, although the cache still shows the answer", () => {
    const demand = createDrainDemand(() => undefined);
    demand.requested("Idle");
    expect(demand.isDrained(drained)).toBe(false);
    expect(demand.isDrained(stateWith("Idle", "DrainComplete"))).toBe(false);
    demand.requested("Drain_Required");
    expect(demand.isDrained(drained)).toBe(true);
  });
});
