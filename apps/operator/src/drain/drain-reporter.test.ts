// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { sriovNetworkNodeStates, type SriovNetworkNodeState } from "@switchyard/api";
import type { DrainPhase } from "./drain-conditions.ts";
import { createDrainReporter } from "./drain-reporter.ts";
import { createKeepingWriter } from "../testing/cluster.ts";
import { pod } from "./testing/drain-cluster.ts";

const never = new AbortController().signal;
const subject = {
  type: sriovNetworkNodeStates,
  name: "a",
  uid: "u",
  drain: { desired: "Drain_Required", isExternal: false, conditions: [] },
};

function draining(...names: readonly string[]): DrainPhase {
  return { kind: "draining", leaving: names.map((name) => pod(name)), refused: [], isLate: false };
}

/** A reporter with a clock, and the message that is written. */
function desk() {
  const kept = createKeepingWriter<SriovNetworkNodeState>();
  const clock = { nowMs: 0 };
  const reporter = createDrainReporter({
    writerOf: () => kept.writer,
    recordEvent: () => undefined,
    now: () => new Date(clock.nowMs),
    elapsedMs: () => clock.nowMs,
  });
  return {
    clock,
    report: (phase: DrainPhase, of = subject) => reporter.report(of, phase, never),
    withdraw: () => reporter.withdraw(subject, never),
    reads: () => kept.statuses.get("a")?.conditions?.[0]?.message,
    transitionTime: () => kept.statuses.get("a")?.conditions?.[0]?.lastTransitionTime,
  };
}

describe("createDrainReporter", () => {
  it("writes a changed message once a second, and always the last one", async () => {
    const { clock, report, reads } = desk();
    expect(await report(draining("x", "y", "z"))).toBe(Infinity);
    clock.nowMs = 300;
    expect(await report(draining("x", "y"))).toBe(700);
    expect(reads()).toBe("3 pods left: apps/x, apps/y, apps/z");
    clock.nowMs = 1_000;
    expect(await report(draining("x"))).toBe(Infinity);
    expect(reads()).toBe("1 pod left: apps/x");
  });

  it("writes a changed status or reason at once", async () => {
    const { report, reads } = desk();
    await report({ kind: "draining", leaving: undefined, refused: [], isLate: false });
    await report(draining("x"));
    expect(reads()).toBe("1 pod left: apps/x");
    await report({ kind: "complete", reason: "VfPodsGone", staying: [] });
    expect(reads()).toBe("all evictable pods that use VFs are gone");
  });

  it("does not use the conditions of a deleted state for the one that replaces it", async () => {
    const { clock, report, transitionTime } = desk();
    await report(draining("x"));
    clock.nowMs = 60_000;
    await report(draining("x"), { ...subject, uid: "another" });
    expect(transitionTime()).toBe("1970-01-01T00:01:00Z");
  });

  it("reports the next drain at once", async () => {
    const { report, withdraw, reads } = desk();
    await report(draining("x", "y"));
    await withdraw();
    await report(draining("x"));
    expect(reads()).toBe("1 pod left: apps/x");
  });
});
