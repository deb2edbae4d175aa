// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, type SriovNetworkNodeState } from "@switchyard/api";
import { systemKernelClock } from "@switchyard/host/testing";
import type { Plan } from "@switchyard/plan";
import type { Observation } from "../observe/observe.ts";
import { createDrainControl } from "./drain-control.ts";
import { createDrainDemand, type DrainDemand } from "./drain-demand.ts";
import { createRunningSteps } from "./running-steps.ts";

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
    expect(demand.isDrainedFor("Drain_Required", stateWith("Drain_Required", "Draining"))).toBe(false);
    expect(demand.isDrainedFor("Drain_Required", drained)).toBe(true);
  });

  it("is not drained after the request was withdrawn, although the cache still shows the answer", () => {
    const demand = createDrainDemand(() => undefined);
    demand.requested("Idle", drained);
    expect(demand.isDrainedFor("Drain_Required", drained)).toBe(false);
    expect(demand.isDrainedFor("Drain_Required", stateWith("Idle", "DrainComplete"))).toBe(false);
    demand.passBegins(drained); // with the old state
    expect(demand.isDrainedFor("Drain_Required", drained)).toBe(false);
    demand.passBegins(stateWith("Idle", "DrainComplete"));
    demand.requested("Drain_Required", drained);
    expect(demand.isDrainedFor("Drain_Required", drained)).toBe(true);
  });

  it("forgets a withdrawal on a state that was deleted and created again", () => {
    const demand = createDrainDemand(() => undefined);
    demand.requested("Idle", { metadata: { ...drained.metadata, uid: "old" } });
    const created = { metadata: { ...drained.metadata, uid: "new" } };
    expect(demand.isDrainedFor("Drain_Required", created)).toBe(true);
  });
});

describe("createDrainControl", () => {
  const found: Observation = {
    interfaces: [],
    system: {},
    bridges: {},
    openVSwitch: undefined,
    pfNumbers: new Map(),
    bootId: "",
    records: new Map(),
  };
  const drain: Plan = { steps: [], impact: "drain", reasons: [], problems: [] };
  const { nowMs } = systemKernelClock;

  /** The decision of a pass that needs a drain, for a node that the cache shows as drained. */
  function decisionOf(demand: DrainDemand, written: unknown[] = []) {
    return createDrainControl(drained, {
      runningSteps: createRunningSteps({ nowMs, now: () => new Date() }),
      withdrawals: demand,
      isDrainDisabled: () => false,
      requestDrain({ request }) {
        written.push(request);
        return Promise.resolve();
      },
      withdrawRequest: () => Promise.resolve(true),
    }).decide(drain, 1, found);
  }

  it("decides without writing anything", () => {
    const written: unknown[] = [];
    expect(
      decisionOf(
        createDrainDemand(() => undefined),
        written,
      ),
    ).toEqual({ mustWait: false });
    expect(written).toEqual([]);
  });

  it("completes a withdrawal, which may have failed, before it trusts the answer to a request of before", () => {
    const demand = createDrainDemand(() => undefined);
    demand.requested("Idle", drained);
    expect(decisionOf(demand)).toEqual({ mustWait: true, change: "withdraw" });
  });
});
