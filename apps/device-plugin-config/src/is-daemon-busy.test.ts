// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Condition } from "@switchyard/api";
import { isDaemonBusy } from "./is-daemon-busy.ts";
import { nodeState, pf } from "./testing/node-state.ts";

const fewer = pf({ spec: { numVfs: 4 }, vfs: 0 });

function waiting(reason: string): Condition {
  return { type: "Progressing", status: "True", reason, message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
}

describe("isDaemonBusy", () => {
  it.each([
    { does: "is idle if the node matches its spec", state: nodeState([pf()]), isBusy: false },
    {
      does: "is idle if the remaining steps do not change VFs",
      state: nodeState([pf({ spec: { mtu: 9000 } })]),
      isBusy: false,
    },
    { does: "is busy while it creates VFs", state: nodeState([fewer], { syncStatus: "InProgress" }), isBusy: true },
    {
      does: "is busy until it has observed the spec",
      state: nodeState([fewer], { observedGeneration: 0 }),
      isBusy: true,
    },
    {
      does: "is busy if only an earlier spec failed",
      state: nodeState([fewer], { observedGeneration: 0, syncStatus: "Failed" }),
      isBusy: true,
    },
    {
      does: "is idle after a failure, which can last",
      state: nodeState([fewer], { syncStatus: "Failed" }),
      isBusy: false,
    },
    {
      does: "is idle while it waits for a drain, which can last",
      state: nodeState([fewer], { syncStatus: "InProgress", conditions: [waiting("WaitingForDrain")] }),
      isBusy: false,
    },
    {
      does: "is busy after the drain",
      state: nodeState([fewer], { syncStatus: "InProgress", conditions: [waiting("Configuring")] }),
      isBusy: true,
    },
  ])("$does", ({ state, isBusy }) => {
    expect(isDaemonBusy(state)).toBe(isBusy);
  });
});
