// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { OvnHardwareOffloadStatus, OvnOffloadNode } from "@switchyard/api";
import { offloadEvents, type WrittenStatus } from "./offload-events.ts";

const none: WrittenStatus = { pools: [], overall: undefined };
const ready = host("a");
const waiting = host("a", { missing: "the VFs of the SmartNIC do not all exist yet" });
const leaving = host("a", { missing: "the host must boot with Open vSwitch again", leaving: true });

function host(name: string, more: Partial<OvnOffloadNode> = {}): OvnOffloadNode {
  const steps = { vfsReady: true, machineConfigApplied: true, managementPortPublished: true, labelled: true };
  return { name, ...steps, ...more };
}

type State = "Ready" | "Progressing" | "Degraded";

function pool(state: State, nodes: readonly OvnOffloadNode[], nodeCount = nodes.length): OvnHardwareOffloadStatus {
  const conditions = (["Ready", "Progressing", "Degraded"] as const).map((type) => ({
    type,
    status: type === state ? ("True" as const) : ("False" as const),
    reason: state,
    message: "why",
    lastTransitionTime: "",
  }));
  return { pool: "dpu", nodeCount, readyNodeCount: 0, nodes, conditions };
}

function status(...pools: readonly OvnHardwareOffloadStatus[]): WrittenStatus {
  return { pools, overall: { reason: "Progressing", message: "why" } };
}

/** Reasons, with the node if they are about one. */
function told(before: WrittenStatus, after: WrittenStatus): readonly string[] {
  return offloadEvents(before, after).map(({ reason, node }) => (node === undefined ? reason : `${reason} ${node}`));
}

describe("offloadEvents", () => {
  it.each([
    { when: "a pool is selected", before: none, after: status(pool("Progressing", [waiting])), events: ["Selected"] },
    {
      when: "the last host becomes ready",
      before: status(pool("Progressing", [waiting])),
      after: status(pool("Ready", [ready])),
      events: ["Ready", "HostReady a"],
    },
    {
      when: "a host is no longer ready",
      before: status(pool("Ready", [ready])),
      after: status(pool("Degraded", [waiting])),
      events: ["Degraded"],
    },
    {
      when: "a pool is no longer selected",
      before: status(pool("Ready", [ready])),
      after: status(pool("Progressing", [leaving])),
      events: ["Leaving", "HostLeaving a"],
    },
    {
      when: "one host leaves a pool",
      before: status(pool("Ready", [ready, host("b")])),
      after: status(pool("Progressing", [leaving, host("b")])),
      events: ["HostLeaving a"],
    },
    {
      when: "nothing is left",
      before: status(pool("Progressing", [leaving])),
      after: none,
      events: ["Restored", "HostRestored a"],
    },
    {
      when: "an entry matches no pool",
      before: none,
      after: { pools: [], overall: { reason: "Degraded", message: "no pool" } },
      events: ["Degraded"],
    },
  ])("tells $events when $when, and not again", ({ before, after, events }) => {
    expect(told(before, after)).toEqual(events.map((reason) => `OvnOffload${reason}`));
    expect(told(after, after)).toEqual([]);
  });

  it("does not tell that a pool is ready because its message changes", () => {
    const before = status(pool("Degraded", [waiting]));
    const after = status({ ...pool("Degraded", [waiting]), readyNodeCount: 1 });
    expect(told(before, after)).toEqual([]);
  });

  it("tells nothing about the nodes of a pool that is not listed completely", () => {
    const [before, after] = [status(pool("Ready", [ready], 2)), status(pool("Ready", [host("b")], 2))];
    expect(told(before, after)).toEqual([]);
  });
});
