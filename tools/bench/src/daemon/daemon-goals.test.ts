// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { describeGoal, missedGoals } from "../harness/goal.ts";
import { daemonGoals } from "./daemon-goals.ts";
import type { DaemonReport } from "./daemon-report.ts";
import type { ChangeResult } from "./daemon-results.ts";

const nothing = { writes: {}, reads: {}, failed: {} };
const change: ChangeResult = {
  title: "0 -> 4",
  round: 1,
  settledSeconds: 1.6,
  cpuSeconds: 0.2,
  childFaults: 0,
  requests: { ...nothing, writes: { "patch states/status": 2, "create events": 2 } },
};

function missed(overrides: Partial<DaemonReport>): readonly string[] {
  const report: Omit<DaemonReport, "goals"> = {
    bench: "daemon",
    host: "VM lab, igb",
    date: "2026-11-20T00:00:00.000Z",
    machine: { processor: "x", processors: 2, memoryMb: 1, kernel: "6", node: "v24", loadBefore: 0 },
    versions: {},
    kernelTimes: { "0 -> 4": { seconds: 1, withUdevSeconds: 2 } },
    starts: [],
    changes: [change],
    refusals: [],
    idle: { seconds: 30, rssMb: 60, cpuSeconds: 0.01, childFaults: 0, requests: nothing },
    peakMb: 64,
    stopSeconds: [0.1],
    ...overrides,
  };
  return missedGoals(daemonGoals(report)).map(describeGoal);
}

describe("daemonGoals", () => {
  it("allow 1.3 times the kernel's time plus 0.3 s, in the best of all rounds", () => {
    expect(missed({})).toEqual([]);
    expect(missed({ changes: [{ ...change, settledSeconds: 1.7 }] })).toEqual(["0 -> 4, Succeeded: 1.7 s, goal 1.6 s"]);
    expect(
      missed({
        changes: [
          { ...change, settledSeconds: 5 },
          { ...change, round: 2 },
        ],
      }),
    ).toEqual([]);
  });

  it("allow no forks and four requests for each change", () => {
    const busy = { ...change, childFaults: 300, requests: { ...change.requests, reads: { "get nodes": 1 } } };
    expect(missed({ changes: [busy] })).toEqual(["0 -> 4 (1), forks: 1, goal 0", "0 -> 4 (1), requests: 5, goal 4"]);
  });

  it("require that errors are shown within a second and that working VFs stay", () => {
    const refusal = { ...change, title: "9 of 7", shownSeconds: 1.2, words: "x", isAnythingDestroyed: true };
    expect(missed({ refusals: [refusal] })).toEqual([
      "9 of 7, error shown: 1.2 s, goal 1 s",
      "9 of 7, working VFs destroyed: 1, goal 0",
    ]);
  });

  it("require an idle daemon to do nothing, and limit the memory", () => {
    const idle = { seconds: 30, rssMb: 66, cpuSeconds: 0.7, childFaults: 0, requests: nothing };
    expect(missed({ idle, peakMb: 66 })).toEqual(["idle, CPU: 0.7 s, goal 0.6 s", "peak RSS: 66 MB, goal 65 MB"]);
  });

  it("limit the time from SIGTERM to the end of the process", () => {
    expect(missed({ stopSeconds: [0.2, 15] })).toEqual(["end after SIGTERM: 15 s, goal 10 s"]);
  });
});
