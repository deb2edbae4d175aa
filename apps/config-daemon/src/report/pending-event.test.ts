// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeState } from "@switchyard/api";
import { createPendingEvent, type NodeEvent } from "./reporter.ts";

const state: SriovNetworkNodeState = {
  apiVersion: "sriovnetwork.openshift.io/v1",
  kind: "SriovNetworkNodeState",
  metadata: { name: "worker-1" },
};

function eventWith(message: string): NodeEvent {
  return { type: "Warning", reason: "UpstreamFilesNotRemoved", message };
}

describe("createPendingEvent", () => {
  it("starts a pass for each event, and records the last one once on the NodeState", () => {
    let wakes = 0;
    const recorded: [string, NodeEvent][] = [];
    const pending = createPendingEvent(() => wakes++);
    const record = () => {
      pending.recordOn(state, ({ metadata }, event) => recorded.push([metadata.name, event]));
    };
    record();
    pending.set(eventWith("first"));
    pending.set(eventWith("second"));
    record();
    record();
    expect([wakes, recorded]).toEqual([2, [["worker-1", eventWith("second")]]]);
  });
});
