// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Condition } from "@switchyard/api";
import { countDrains } from "../../metrics/operator-metrics.ts";
import type { CachedDrain } from "../../facts/cached-drain.ts";

describe("countDrains", () => {
  it("counts each state, counts degraded and stalled drains twice, and ignores external drains", () => {
    const degraded: Condition = {
      type: "DrainDegraded",
      status: "True",
      reason: "PodsStay",
      message: "",
      lastTransitionTime: "2026-11-20T12:00:00Z",
    };
    const drains: readonly CachedDrain[] = [
      { conditions: [], isExternal: false },
      { desired: "Idle", current: "Idle", conditions: [], isExternal: false },
      { desired: "Drain_Required", current: "Idle", conditions: [], isExternal: false },
      { desired: "Drain_Required", current: "Draining", conditions: [], isExternal: false },
      { desired: "Reboot_Required", current: "Draining", conditions: [degraded], isExternal: false },
      { desired: "Drain_Required", current: "DrainComplete", conditions: [], isExternal: false },
      { desired: "Drain_Required", current: "DrainComplete", conditions: [degraded], isExternal: false },
      { desired: "Drain_Required", current: "Draining", conditions: [], isExternal: true },
    ];
    expect(Object.fromEntries(countDrains(drains.map((drain) => ({ drain }))))).toEqual({
      waiting: 1,
      draining: 2,
      complete: 2,
      degraded: 1,
      stalled: 1,
    });
  });
});
