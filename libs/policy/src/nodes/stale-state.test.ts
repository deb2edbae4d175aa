// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, type SriovNetworkNodeState } from "@switchyard/api";
import fc from "fast-check";
import { staleStateAction, keepUntilMs, parseStaleDelayMs } from "./stale-state.ts";

const minuteMs = 60_000;

describe("parseStaleDelayMs", () => {
  it.each([
    { does: "reads minutes", text: "5", minutes: 5 },
    { does: "reads 0", text: "0", minutes: 0 },
    { does: "uses the default if absent", text: undefined, minutes: 30 },
    { does: "uses the default if empty", text: "", minutes: 30 },
    { does: "uses the default for text", text: "soon", minutes: 30 },
    { does: "uses the default for negative numbers", text: "-5", minutes: 30 },
    { does: "uses the default for fractions", text: "1.5", minutes: 30 },
  ])("$does: $text", ({ text, minutes }) => {
    expect(parseStaleDelayMs(text)).toBe(minutes * minuteMs);
  });
});

describe("staleStateAction", () => {
  const nowMs = Date.UTC(2026, 10, 20, 21, 0, 0);
  const delayMs = 30 * minuteMs;
  const state = (keepUntil?: string): SriovNetworkNodeState => ({
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", ...(keepUntil && { annotations: { [annotations.keepStateUntil]: keepUntil } }) },
  });
  const marked = { kind: "mark", keepUntil: "2026-11-20T21:30:00Z", afterMs: delayMs };

  it("writes a deadline when the state is first found stale", () => {
    expect(staleStateAction(state(), { nowMs, delayMs })).toEqual(marked);
  });

  it.each(["soon", "12", "2026-11-31"])("replaces a deadline that cannot be parsed: %s", (stamp) => {
    expect(staleStateAction(state(stamp), { nowMs, delayMs })).toEqual(marked);
  });

  it("keeps the state until the deadline even if the delay has changed", () => {
    const action = staleStateAction(state("2026-11-20T21:00:01Z"), { nowMs, delayMs: 1 });
    expect(action).toEqual({ kind: "keep", afterMs: 1000 });
  });

  it.each(["1970-01-01T00:31:00Z", "2040-01-01T00:30:00Z"])(
    "replaces a deadline of a clock that was not set: %s",
    (stamp) => {
      expect(staleStateAction(state(stamp), { nowMs, delayMs })).toEqual(marked);
    },
  );

  it("deletes the state after the deadline", () => {
    expect(staleStateAction(state("2026-11-20T22:00:00+01:00"), { nowMs, delayMs })).toEqual({ kind: "delete" });
  });

  it("deletes the state immediately if the delay is 0", () => {
    expect(staleStateAction(state("2026-11-20T23:00:00Z"), { nowMs, delayMs: 0 })).toEqual({ kind: "delete" });
  });

  it("writes a deadline that can be parsed and is not before the end of the delay, for any delay", () => {
    const isKept = fc.property(fc.stringMatching(/^[1-9]\d{0,20}$/), fc.nat(999), (minutes, ms) => {
      const delay = parseStaleDelayMs(minutes);
      const action = staleStateAction(state(), { nowMs: nowMs + ms, delayMs: delay });
      const untilMs = action.kind === "mark" ? keepUntilMs(state(action.keepUntil)) : undefined;
      const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59);
      expect(untilMs).toBeGreaterThanOrEqual(Math.min(nowMs + ms + delay, latestMs));
      expect(action).toMatchObject({ afterMs: (untilMs ?? 0) - nowMs - ms });
    });
    fc.assert(isKept);
  });
});
