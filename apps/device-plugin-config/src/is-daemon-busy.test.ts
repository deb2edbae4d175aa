// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Condition } from "@switchyard/api";
import { isAtWork } from "./is-daemon-busy.ts";
import { nodeState, pf } from "./testing/node-state.ts";

const fewer = pf({ spec: { numVfs: 4 }, vfs: 0 });

function waiting(reason: string): Condition {
  return { type: "Progressing", status: "True", reason, message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
}

describe("isAtWork", () => {
  it.each([
    { does: "is idle when all is as asked", state: nodeState([pf()]), atWork: false },
    {
      does: "is idle over what leaves VFs as they are",
      state: nodeState([pf({ spec: { mtu: 9000 } })]),
      atWork: false,
    },
    { does: "makes VFs", state: nodeState([fewer], { syncStatus: "InProgress" }), atWork: true },
    { does: "has not seen this spec yet", state: nodeState([fewer], { observedGeneration: 0 }), atWork: true },
    {
      does: "failed at an earlier spec",
      state: nodeState([fewer], { observedGeneration: 0, syncStatus: "Failed" }),
      atWork: true,
    },
    { does: "failed, which may last", state: nodeState([fewer], { syncStatus: "Failed" }), atWork: false },
    {
      does: "waits for a drain, which may last",
      state: nodeState([fewer], { syncStatus: "InProgress", conditions: [waiting("WaitingForDrain")] }),
      atWork: false,
    },
    {
      does: "goes on after the drain",
      state: nodeState([fewer], { syncStatus: "InProgress", conditions: [waiting("Configuring")] }),
      atWork: true,
    },
  ])("$does", ({ state, atWork }) => {
    expect(isAtWork(state)).toBe(atWork);
  });
});
