// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Condition } from "@switchyard/api";
import type { EventToRecord } from "@switchyard/kube";
import { conditionsFor, type ConditionSummary } from "./condition-summary.ts";
import { createTransitionEvents } from "./transition-events.ts";

const configuring: ConditionSummary = {
  state: "progressing",
  reason: "Configuring",
  message: "0 of 2 nodes configured",
};
const ready: ConditionSummary = { state: "ready", reason: "Configured", message: "2 of 2 nodes configured" };
const progress = { reason: "RollingOut", message: "1 of 2 pods available" };
const failed: ConditionSummary = { state: "degraded", reason: "NodesFailed", message: "worker-1: ENOMEM" };
const idle: ConditionSummary = { state: "idle", reason: "NoNodesMatched", message: "none" };

function policy(conditions: readonly Condition[] = [], uid = "1") {
  const metadata = { name: "fast", namespace: "ns", uid };
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodePolicy",
    metadata,
    status: { conditions },
  };
}

const conditionsOf = (summary: ConditionSummary) => conditionsFor(summary, [], 1, new Date(0));

function start() {
  const news: EventToRecord[] = [];
  const events = { record: (item: EventToRecord) => void news.push(item), [Symbol.asyncDispose]: () => Promise.resolve() };
  return {
    recordTransition: createTransitionEvents(events),
    told: () => news.map(({ type, reason }) => `${type} ${reason}`),
  };
}

describe("createTransitionEvents", () => {
  it("records each transition, as a warning only if it is degraded", () => {
    const { recordTransition, told } = start();
    for (const summary of [configuring, ready, failed, configuring, ready, idle]) recordTransition(policy(), summary);
    const normal = ["Normal Configuring", "Normal Configured"];
    expect(told()).toEqual([...normal, "Warning NodesFailed", ...normal, "Normal NoNodesMatched"]);
  });

  it("records nothing if only the counts changed, even if the cache lags behind", () => {
    const { recordTransition, told } = start();
    for (let done = 0; done < 1_000; done++) {
      recordTransition(policy(), { ...configuring, message: `${done} of 1000 nodes configured` });
    }
    expect(told()).toEqual(["Normal Configuring"]);
  });

  const atWork = [ready, failed].map((summary) => ({ ...summary, progress }));

  it.each([configuring, ready, failed, idle, ...atWork])(
    "records nothing twice after a restart: $reason",
    (summary) => {
      const { recordTransition, told } = start();
      recordTransition(policy(conditionsOf(summary)), { ...summary, message: "other words" });
      expect(told()).toEqual([]);
    },
  );

  it("records the transition of another object of the same name", () => {
    const { recordTransition, told } = start();
    recordTransition(policy([], "1"), ready);
    recordTransition(policy([], "2"), ready);
    expect(told()).toEqual(["Normal Configured", "Normal Configured"]);
  });
});
