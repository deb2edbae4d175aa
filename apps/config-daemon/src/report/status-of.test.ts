// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Bridges, SystemSettings } from "@switchyard/api";
import type { Phase } from "./phase.ts";
import { statusOf } from "./status-of.ts";

const early = new Date("2026-11-20T12:00:00Z");
const late = new Date("2026-11-20T12:05:00Z");
const problem = {
  code: "too-many-vfs",
  field: "spec.interfaces[0].numVfs",
  pciAddress: "0000:01:00.0",
  message: "9 VFs requested, but 0000:01:00.0 supports at most 7",
} as const;

function report(phase: Phase, status?: ReturnType<typeof statusOf>, now = early) {
  return statusOf({ status, generation: 3, found: { interfaces: [] }, phase, now });
}

function holding(status: ReturnType<typeof statusOf>): readonly string[] {
  return (status.conditions ?? []).filter((it) => it.status === "True").map(({ type, reason }) => `${type} ${reason}`);
}

describe("statusOf", () => {
  it("limits lastSyncError and the conditions for many failures", () => {
    const failures = Array.from({ length: 10_000 }, (_, i) => ({ message: `set mtu 9000 on eth${i}: EBUSY` }));
    const status = report({ kind: "failed", failures, problems: [] });
    expect(status.lastSyncError).toMatch(/^set mtu 9000 on eth0: EBUSY; .*…$/);
    expect(Buffer.byteLength(JSON.stringify(status))).toBeLessThan(3 * 4096 + 1000);
  });

  it("contains the observed RDMA mode, or the previous one if the host could not be observed", () => {
    const before = { system: { rdmaMode: "shared" }, bridges: {} } as const;
    const phase = { kind: "settled", problems: [] } as const;
    const systemAfter = (system: SystemSettings | undefined) => {
      const found = system && { interfaces: [], system };
      return statusOf({ status: before, generation: 3, found, phase, now: early }).system;
    };
    expect(systemAfter({ rdmaMode: "exclusive" })).toEqual({ rdmaMode: "exclusive" });
    expect(systemAfter({})).toBeUndefined();
    expect(systemAfter(undefined)).toEqual({ rdmaMode: "shared" });
    expect(report(phase, before).bridges).toBeUndefined();
  });

  it("contains the observed bridges, those of the previous status while they are unknown, and no empty lists", () => {
    const ovs = [{ name: "br-1" }];
    const linux = [{ name: "br-2" }];
    const phase = { kind: "settled", problems: [] } as const;
    const bridgesAfter = (bridges: Bridges, before: Bridges = {}) =>
      statusOf({ status: { bridges: before }, generation: 3, found: { interfaces: [], bridges }, phase, now: early })
        .bridges;
    expect(bridgesAfter({ ovs, linux })).toEqual({ ovs, linux });
    expect(bridgesAfter({ linux: [] }, { ovs, linux })).toEqual({ ovs });
    expect(bridgesAfter({ ovs: [], linux: [] }, { ovs, linux })).toBeUndefined();
  });

  it.each<{ phase: Phase; sync: string; error: string; holds: readonly string[] }>([
    { phase: { kind: "settled", problems: [] }, sync: "Succeeded", error: "", holds: ["Ready Configured"] },
    {
      phase: { kind: "settled", problems: [problem] },
      sync: "Failed",
      error: "spec.interfaces[0].numVfs: 9 VFs requested, but 0000:01:00.0 supports at most 7",
      holds: ["Degraded NotPossible"],
    },
    { phase: { kind: "configuring", stepCount: 2 }, sync: "InProgress", error: "", holds: ["Progressing Configuring"] },
    {
      phase: { kind: "waiting-for-drain", reasons: [] },
      sync: "InProgress",
      error: "",
      holds: ["Progressing WaitingForDrain"],
    },
    {
      phase: { kind: "failed", failures: [{ message: "set mtu 9000 on eth0: EBUSY" }], problems: [problem] },
      sync: "Failed",
      error:
        "set mtu 9000 on eth0: EBUSY; spec.interfaces[0].numVfs: 9 VFs requested, but 0000:01:00.0 supports at most 7",
      holds: ["Progressing StepFailed", "Degraded StepFailed"],
    },
    {
      phase: { kind: "discovery-failed", message: "list: EACCES" },
      sync: "Failed",
      error: "list: EACCES",
      holds: ["Degraded DiscoveryFailed"],
    },
    {
      phase: { kind: "pass-failed", message: "PATCH /api/v1/nodes/worker-1: Forbidden" },
      sync: "Failed",
      error: "PATCH /api/v1/nodes/worker-1: Forbidden",
      holds: ["Progressing PassFailed", "Degraded PassFailed"],
    },
    {
      phase: { kind: "settled", problems: [], hanging: ["set mtu 9000 on eth0: no answer"] },
      sync: "Failed",
      error: "set mtu 9000 on eth0: no answer",
      holds: ["Degraded StepHangs"],
    },
    {
      phase: { kind: "configuring", stepCount: 2, hanging: ["set mtu 9000 on eth0: no answer"] },
      sync: "InProgress",
      error: "",
      holds: ["Progressing Configuring", "Degraded StepHangs"],
    },
  ])("reports $phase.kind as $sync", ({ phase, sync, error, holds }) => {
    const status = report(phase);
    expect([status.syncStatus, status.lastSyncError, status.observedGeneration]).toEqual([sync, error, 3]);
    expect(holding(status)).toEqual(holds);
  });

  // A pass that fails each time also runs its steps each time, so that only its end disproves the failure.
  it.each<{ phase: Phase; stays: readonly ("at its steps" | "at its drain")[] }>([
    { phase: { kind: "pass-failed", message: "x" }, stays: ["at its steps"] },
    { phase: { kind: "discovery-failed", message: "x" }, stays: [] },
    { phase: { kind: "settled", problems: [], hanging: ["x"] }, stays: [] },
    { phase: { kind: "failed", failures: [{ message: "x" }], problems: [] }, stays: ["at its steps", "at its drain"] },
  ])("keeps Degraded after $phase.kind while the next pass is: $stays", ({ phase, stays }) => {
    const before = report(phase);
    const isDegraded = (next: Phase) => holding(report(next, before)).some((it) => it.startsWith("Degraded"));
    expect(isDegraded({ kind: "configuring", stepCount: 1 })).toBe(stays.includes("at its steps"));
    expect(isDegraded({ kind: "waiting-for-drain", reasons: [] })).toBe(stays.includes("at its drain"));
    expect(isDegraded({ kind: "settled", problems: [] })).toBe(false);
  });

  it("changes the time of Degraded once while a step hangs", () => {
    const hang = (text: string): Phase => ({ kind: "settled", problems: [], hanging: [text] });
    const first = report(hang("for 2 min"));
    const [, , degraded] = report(hang("for 5 min"), first, late).conditions ?? [];
    expect(degraded).toMatchObject({ message: "for 5 min", lastTransitionTime: "2026-11-20T12:00:00Z" });
  });

  it("limits the text of an error", () => {
    const status = report({ kind: "pass-failed", message: "x".repeat(1_000_000) });
    expect(status.lastSyncError).toMatch(/^x{4000}/);
    expect(JSON.stringify(status).length).toBeLessThan(20_000);
  });

  it("keeps the last error during the next attempt, as upstream does", () => {
    const failed = report({ kind: "discovery-failed", message: "list: EACCES" });
    expect(report({ kind: "configuring", stepCount: 1 }, failed).lastSyncError).toBe("list: EACCES");
  });

  it("contains only the conditions of its own types", () => {
    const drain = { type: "DrainProgressing", status: "True", reason: "EvictingPods", message: "" } as const;
    const before = { conditions: [{ ...drain, lastTransitionTime: "2026-11-20T12:00:00Z" }] };
    const types = report({ kind: "settled", problems: [] }, before).conditions?.map(({ type }) => type);
    expect(types).toEqual(["Ready", "Progressing", "Degraded"]);
  });

  it("changes the time of a condition only with its status", () => {
    const first = report({ kind: "configuring", stepCount: 2 });
    const second = report({ kind: "waiting-for-drain", reasons: [] }, first, late);
    expect(second.conditions?.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual([
      "2026-11-20T12:00:00Z",
      "2026-11-20T12:00:00Z",
    ]);
    const third = report({ kind: "settled", problems: [] }, second, late);
    const times = third.conditions?.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]);
    expect(times).toContainEqual(["Ready", "2026-11-20T12:05:00Z"]);
  });

  it("contains the boot id when the node is configured, and the previous one before that", () => {
    const found = { interfaces: [], bootId: "second" };
    const settled = { kind: "settled", problems: [] } as const;
    const bootAfter = (
      before: string | undefined,
      phase: Phase,
      seen: typeof found | { interfaces: [] } | undefined,
    ) => {
      const status = before === undefined ? undefined : { bootID: before };
      return statusOf({ status, generation: 3, found: seen, phase, now: early }).bootID;
    };
    expect(bootAfter("first", settled, found)).toBe("second");
    expect(bootAfter("first", { kind: "configuring", stepCount: 1 }, { interfaces: [] })).toBe("first");
    expect(bootAfter("first", { kind: "discovery-failed", message: "x" }, undefined)).toBe("first");
    expect(bootAfter(undefined, { kind: "configuring", stepCount: 1 }, { interfaces: [] })).toBeUndefined();
  });

  it("keeps the observed interfaces when the host cannot be read", () => {
    const interfaces = [{ pciAddress: "0000:01:00.0" }];
    const before = { ...report({ kind: "settled", problems: [] }), interfaces };
    const phase = { kind: "discovery-failed", message: "x" } as const;
    const status = statusOf({ status: before, generation: 3, found: undefined, phase, now: late });
    expect(status.interfaces).toBe(interfaces);
  });
});
