// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { maxMessageBytes, setCondition, type Condition } from "./conditions.ts";

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
  it("adds a condition with the time of now, in whole seconds", () => {
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

  it("gives the same array when nothing changes", () => {
    const conditions = [before, degraded];
    expect(setCondition(conditions, { ...before }, now)).toBe(conditions);
  });

  it("cuts a message that is too long, between characters, and does so the same way each time", () => {
    const long = { ...before, message: `${"x".repeat(maxMessageBytes - 4)}${"é".repeat(1_000_000)}` };
    const [cut] = setCondition([], long, now);
    expect(cut?.message).toBe(`${"x".repeat(maxMessageBytes - 4)}…`);
    const conditions = [{ ...before, message: cut?.message ?? "" }];
    expect(setCondition(conditions, long, now)).toBe(conditions);
  });
});
