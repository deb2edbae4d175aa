// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, type SriovNetworkNodeState } from "@switchyard/api";
import fc from "fast-check";
import { judgeStaleState, keepUntilMs, parseStaleDelayMs } from "./stale-state.ts";

const minuteMs = 60_000;

describe("parseStaleDelayMs", () => {
  it.each([
    { does: "reads minutes", text: "5", minutes: 5 },
    { does: "reads 0", text: "0", minutes: 0 },
    { does: "defaults where absent", text: undefined, minutes: 30 },
    { does: "defaults where empty", text: "", minutes: 30 },
    { does: "defaults for words", text: "soon", minutes: 30 },
    { does: "defaults for negative numbers", text: "-5", minutes: 30 },
    { does: "defaults for fractions", text: "1.5", minutes: 30 },
  ])("$does: $text", ({ text, minutes }) => {
    expect(parseStaleDelayMs(text)).toBe(minutes * minuteMs);
  });
});

describe("judgeStaleState", () => {
  const nowMs = Date.UTC(2026, 10, 20, 21, 0, 0);
  const delayMs = 30 * minuteMs;
  const state = (keepUntil?: string): SriovNetworkNodeState => ({
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", ...(keepUntil && { annotations: { [annotations.keepStateUntil]: keepUntil } }) },
  });
  const marked = { kind: "mark", keepUntil: "2026-11-20T21:30:00Z", afterMs: delayMs };

  it("marks on the first sight", () => {
    expect(judgeStaleState(state(), { nowMs, delayMs })).toEqual(marked);
  });

  it.each(["soon", "12", "2026-11-31"])("marks anew over a stamp that is no time: %s", (stamp) => {
    expect(judgeStaleState(state(stamp), { nowMs, delayMs })).toEqual(marked);
  });

  it("keeps until the deadline, whatever the delay is by now", () => {
    const verdict = judgeStaleState(state("2026-11-20T21:00:01Z"), { nowMs, delayMs: 1 });
    expect(verdict).toEqual({ kind: "keep", afterMs: 1000 });
  });

  it("deletes from the deadline on", () => {
    expect(judgeStaleState(state("2026-11-20T22:00:00+01:00"), { nowMs, delayMs })).toEqual({ kind: "delete" });
  });

  it("deletes at once without a delay", () => {
    expect(judgeStaleState(state("2026-11-20T23:00:00Z"), { nowMs, delayMs: 0 })).toEqual({ kind: "delete" });
  });

  it("stamps a time that can be read and is never before its time, however long the delay", () => {
    const isKept = fc.property(fc.stringMatching(/^[1-9]\d{0,20}$/), fc.nat(999), (minutes, ms) => {
      const delay = parseStaleDelayMs(minutes);
      const verdict = judgeStaleState(state(), { nowMs: nowMs + ms, delayMs: delay });
      const untilMs = verdict.kind === "mark" ? keepUntilMs(state(verdict.keepUntil)) : undefined;
      const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59);
      expect(untilMs).toBeGreaterThanOrEqual(Math.min(nowMs + ms + delay, latestMs));
      expect(verdict).toMatchObject({ afterMs: (untilMs ?? 0) - nowMs - ms });
    });
    fc.assert(isKept);
  });
});
