// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { maxMessageBytes, setCondition, setConditions, type Condition } from "./conditions.ts";

const before: Condition = {
  type: "Ready",
  status: "False",
  reason: "Waiting",
  message: "2 of 3 nodes",
  observedGeneration: 4,
  lastTransitionTime: "2026-01-01T00:00:00Z",
};
const degraded: Condition = { ...before, type: "Degraded" };
const now = new Date("2026-11-20T10:11:12.345Z");

describe("setCondition", () => {
  it("adds a condition with the current time in whole seconds", () => {
    const after = setCondition(undefined, before, now);
    expect(after).toEqual([{ ...before, lastTransitionTime: "2026-11-20T10:11:12Z" }]);
  });

  it("moves the time when the status changes, and keeps the order", () => {
    const next = { ...before, status: "True" as const };
    const time = "2026-11-20T10:11:12Z";
    expect(setCondition([before, degraded], next, now)).toEqual([{ ...next, lastTransitionTime: time }, degraded]);
  });

  it.each([{ message: "1 of 3 nodes" }, { reason: "Draining" }, { observedGeneration: 5 }])(
    "keeps the time when only %o changes",
    (change) => {
      expect(setCondition([degraded, before], { ...before, ...change }, now)).toEqual([
        degraded,
        { ...before, ...change },
      ]);
    },
  );

  it("returns the same array when nothing changes", () => {
    const conditions = [before, degraded];
    expect(setCondition(conditions, { ...before }, now)).toBe(conditions);
  });

  it.each([
    { what: "1970", time: "1970-01-01T00:02:00Z" },
    { what: "a clock that was years ahead", time: "2040-01-01T00:00:00Z" },
  ])("replaces a time from $what, even if nothing else changes, and keeps it afterwards", ({ time }) => {
    const [wrong, right] = [time, "2026-11-20T10:11:12Z"].map((lastTransitionTime) => ({
      ...before,
      lastTransitionTime,
    }));
    const repaired = setCondition([wrong ?? before, degraded], { ...before }, now);
    expect(repaired).toEqual([right, degraded]);
    expect(setCondition(repaired, { ...before }, new Date(now.getTime() + 60_000))).toBe(repaired);
    // A clock that is wrong itself replaces nothing.
    expect(setCondition(repaired, { ...before }, new Date(90_000))).toBe(repaired);
  });

  it("cuts a message that is too long between two characters, always at the same place", () => {
    const long = { ...before, message: `${"x".repeat(maxMessageBytes - 4)}${"é".repeat(1_000_000)}` };
    const [cut] = setCondition([], long, now);
    expect(cut?.message).toBe(`${"x".repeat(maxMessageBytes - 4)}…`);
    const conditions = [{ ...before, message: cut?.message ?? "" }];
    expect(setCondition(conditions, long, now)).toBe(conditions);
  });
});

describe("setConditions", () => {
  const { lastTransitionTime: _, ...ready } = before;

  it("sets several conditions with one generation and keeps the time of those with the same status", () => {
    const next = [
      { ...ready, status: "True" as const },
      { ...ready, type: "Degraded", message: "other text" },
    ];
    expect(setConditions([degraded, before], next, { now, observedGeneration: 5 })).toEqual([
      { ...degraded, message: "other text", observedGeneration: 5 },
      { ...before, status: "True", observedGeneration: 5, lastTransitionTime: "2026-11-20T10:11:12Z" },
    ]);
  });

  it("leaves out existing conditions of types that the caller does not write", () => {
    expect(setConditions([degraded, before], [ready], { now, types: ["Ready"] })).toEqual([before]);
  });

  it("keeps all existing conditions when no types are given", () => {
    expect(setConditions([degraded, before], [ready], { now })).toEqual([degraded, before]);
    expect(setConditions(undefined, [], { now })).toEqual([]);
  });
});
