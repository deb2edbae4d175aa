// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { ok, type Condition } from "@switchyard/api";
import { drainConditions, type DrainPhase } from "./drain-conditions.ts";
import type { QueuePosition } from "./slots/plan-drains.ts";
import { pod } from "./testing/drain-cluster.ts";

const noon = new Date("2026-11-20T12:00:00Z");
const later = new Date("2026-11-20T12:05:00Z");
const pool = { title: 'pool "racks"', limit: ok(2) };

function position(ahead: number, holders: readonly string[] = ["w1", "w4"]): QueuePosition {
  return { kind: "queued", requestedMs: noon.getTime(), pool, holders, ahead };
}

const askedLater: QueuePosition = { ...position(0), requestedMs: later.getTime() };

function summary(conditions: readonly Condition[]): readonly string[] {
  return conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
}

function message(phase: DrainPhase): string | undefined {
  return drainConditions([], phase, noon)[0]?.message;
}

describe("drainConditions", () => {
  it.each<{ phase: DrainPhase; shows: readonly string[] }>([
    {
      phase: { kind: "waiting", position: position(0) },
      shows: ["False WaitingForSlot", "False WaitingForSlot", "False WaitingForSlot"],
    },
    {
      phase: { kind: "pausing", message: "wait" },
      shows: [
        "True WaitingForMachineConfigPool",
        "False WaitingForMachineConfigPool",
        "False WaitingForMachineConfigPool",
      ],
    },
    {
      phase: { kind: "draining", leaving: undefined, refused: [], isLate: false },
      shows: ["True LookingForPods", "False LookingForPods", "False LookingForPods"],
    },
    {
      phase: { kind: "draining", leaving: [pod("a")], refused: [], isLate: true },
      shows: ["True EvictingPods", "True PodsStay", "False EvictingPods"],
    },
    {
      phase: { kind: "complete", reason: "AllPodsGone", staying: [] },
      shows: ["False AllPodsGone", "False AllPodsGone", "True AllPodsGone"],
    },
  ])("returns $shows for $phase.kind", ({ phase, shows }) => {
    const types = ["DrainProgressing", "DrainDegraded", "DrainComplete"];
    expect(summary(drainConditions([], phase, noon))).toEqual(
      types.map((type, index) => `${type} ${shows[index] ?? ""}`),
    );
  });

  it.each([
    { ahead: 0, holders: ["w1"], says: 'pool "racks": 1 of 2 draining (w1), next in line' },
    {
      ahead: 9,
      holders: ["w1", "w2", "w3", "w4", "w5"],
      says: "5 of 2 draining (w1, w2, w3 and 2 more), 9 nodes ahead",
    },
    { ahead: 1, holders: [], says: 'pool "racks": 0 of 2 draining, 1 node ahead' },
    { ahead: 10, holders: ["w1"], says: 'in pool "racks" (limit 2): 10 or more nodes ahead' },
    { ahead: 999, holders: ["w1"], says: "500 or more nodes ahead" },
  ])("contains the position $ahead in the queue, rounded down if it is far back", ({ ahead, holders, says }) => {
    expect(message({ kind: "waiting", position: position(ahead, holders) })).toContain(says);
  });

  it("names the first pod whose eviction is refused, else the pods that are left", () => {
    const leaving = ["d", "c", "b", "a"].map((name) => pod(name));
    const refused = leaving.slice(0, 2).map((each) => ({ pod: each, message: "The disruption budget x needs 2" }));
    expect(message({ kind: "draining", leaving, refused, isLate: false })).toBe(
      "4 pods left: apps/c cannot be evicted now: The disruption budget x needs 2; 1 more cannot be evicted now",
    );
    expect(message({ kind: "draining", leaving, refused: [], isLate: false })).toBe(
      "4 pods left: apps/a, apps/b, apps/c and 1 more",
    );
  });

  it("describes the deadline and finalizers of a terminating pod once the drain is late", () => {
    const ending = pod("z", { endsBy: "2026-11-20T12:00:30Z", finalizers: ["example.com/keep"] });
    const leaving = [pod("a"), pod("b", { endsBy: "2026-11-20T13:00:00Z" }), ending];
    const phase = { kind: "draining", leaving, refused: [] } as const;
    expect(message({ ...phase, isLate: false })).toBe("3 pods left: apps/a, apps/b, apps/z");
    expect(message({ ...phase, isLate: true })).toBe(
      "3 pods left: apps/z is being deleted (grace period until 2026-11-20T12:00:30Z), held by finalizer example.com/keep",
    );
    expect(message({ ...phase, leaving: leaving.slice(0, 2), isLate: true })).toBe(
      "2 pods left: apps/b is being deleted (grace period until 2026-11-20T13:00:00Z)",
    );
    expect(message({ ...phase, leaving: leaving.slice(0, 1), isLate: true })).toBe("1 pod left: apps/a");
  });

  it("keeps the time of the request while the position changes, and sets the time when the drain begins", () => {
    const asked = drainConditions([], { kind: "waiting", position: position(3) }, noon);
    const moved = drainConditions(asked, { kind: "waiting", position: position(2) }, later);
    expect([moved[0]?.lastTransitionTime, moved[0]?.message]).toEqual([
      "2026-11-20T12:00:00Z",
      expect.stringContaining("2 nodes ahead"),
    ]);
    const begun = drainConditions(moved, { kind: "draining", leaving: [], refused: [], isLate: false }, later);
    expect(begun[0]?.lastTransitionTime).toBe("2026-11-20T12:05:00Z");
  });

  it("has the time of the request, whenever it is written", () => {
    const [told] = drainConditions([], { kind: "waiting", position: position(0) }, later);
    expect(told?.lastTransitionTime).toBe("2026-11-20T12:00:00Z");
  });

  it("does not take the end of an earlier drain for the time of the request", () => {
    const over = drainConditions([], { kind: "complete", reason: "VfPodsGone", staying: [] }, noon);
    const asked = drainConditions(over, { kind: "waiting", position: askedLater }, later);
    expect(asked.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual([
      "2026-11-20T12:05:00Z",
      "2026-11-20T12:05:00Z",
      "2026-11-20T12:05:00Z",
    ]);
  });
});
