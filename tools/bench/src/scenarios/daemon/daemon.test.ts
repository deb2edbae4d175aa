// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { describeGoal, missedGoals } from "../../harness/report.ts";
import { parseOptions } from "../../harness/options.ts";
import { renderReport } from "../../harness/scenario.ts";
import { daemon, hostOf, type DaemonFigures } from "./daemon.ts";
import { zeroToFour } from "./hosts.ts";
import type { ChangeResult } from "./measure-host.ts";

const options = { vm: true, ovs: false, subfunctions: false, idleSeconds: 30, rounds: 2, cpuProf: undefined };

const nothing = { writes: {}, reads: {}, failed: {} };
const kernelTime = { seconds: 1, withUdevSeconds: 2 };
const change: ChangeResult = {
  title: "0 -> 4",
  round: 1,
  settledSeconds: 1.6,
  cpuSeconds: 0.2,
  childFaults: 0,
  rssMb: 60,
  peakMb: 60,
  requests: { ...nothing, writes: { "patch states/status": 2, "create events": 2 } },
};

function missed(overrides: Partial<DaemonFigures>): readonly string[] {
  const figures: DaemonFigures = {
    host: "VM lab, igb",
    versions: {},
    kernelTimes: { "0 -> 4": kernelTime },
    starts: [],
    changes: [change],
    refusals: [],
    flaps: [],
    idle: { seconds: 30, rssMb: 60, peakMb: 60, cpuSeconds: 0.01, childFaults: 0, requests: nothing },
    peakMb: 64,
    stopSeconds: [0.1],
    ...overrides,
  };
  return missedGoals(daemon.goals(figures, options)).map(describeGoal);
}

describe("the goals of daemon", () => {
  it("allow 1.3 times the loop of devlink commands for subfunctions", () => {
    const title = "0 -> 64 subfunctions";
    const host = "VM lab, igbsw and subfunctions";
    const kernelTimes = { [title]: kernelTime };
    const after = (settledSeconds: number) =>
      missed({ host, kernelTimes, changes: [{ ...change, title, settledSeconds }] });
    expect(after(2.6)).toEqual([]);
    expect(after(2.7)).toEqual([`${title}, Succeeded: 2.7 s, goal 2.6 s`]);
  });

  it("allow 1.3 times the time of kernel and udev plus 0.5 s, in the best of all rounds", () => {
    expect(missed({})).toEqual([]);
    expect(missed({ changes: [{ ...change, settledSeconds: 3.2 }] })).toEqual(["0 -> 4, Succeeded: 3.2 s, goal 3.1 s"]);
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

  it("allow an idle daemon 0.1 % of a processor and a tick of the clock", () => {
    const idle = { seconds: 30, rssMb: 60, peakMb: 60, childFaults: 0, requests: nothing };
    expect(missed({ idle: { ...idle, cpuSeconds: 1.04 - 1 } })).toEqual([]);
    expect(missed({ idle: { ...idle, cpuSeconds: 1.05 - 1 } })).toEqual(["idle, CPU: 0.05 s, goal 0.04 s"]);
  });

  it("require an idle daemon to do nothing, and limit the memory", () => {
    const idle = { seconds: 30, rssMb: 66, peakMb: 66, cpuSeconds: 0.7, childFaults: 0, requests: nothing };
    expect(missed({ idle, peakMb: 66 })).toEqual(["idle, CPU: 0.7 s, goal 0.04 s", "peak RSS: 66 MB, goal 65 MB"]);
  });

  it("limit the time of the best start and the CPU time of a change", () => {
    const slow = { ...change, title: zeroToFour, cpuSeconds: 0.8 };
    const start = { ...change, title: "start", seconds: 2.6, rssMb: 60, peakMb: 60 };
    expect(
      missed({
        starts: [
          { ...start, seconds: 9 },
          { ...start, round: 2, seconds: 2.5 },
        ],
      }),
    ).toEqual([]);
    expect(missed({ changes: [slow], starts: [start], kernelTimes: { [slow.title]: kernelTime } })).toEqual([
      "start: 2.6 s, goal 2.5 s",
      `${slow.title}, CPU: 0.8 s, goal 0.7 s`,
    ]);
  });

  it("allow one write for a link flap", () => {
    const flap = { ...change, title: "flap", requests: { ...nothing, writes: { "patch states/status": 2 } } };
    expect(missed({ flaps: [flap] })).toEqual(["flap, writes: 2, goal 1"]);
  });

  it("allow 1.3 times the time of a script for a bridge of Open vSwitch", () => {
    const host = "VM lab, igbsw and Open vSwitch";
    expect(missed({ host, changes: [{ ...change, settledSeconds: 2.7 }], peakMb: 70 })).toEqual([
      "0 -> 4, Succeeded: 2.7 s, goal 2.6 s",
    ]);
  });

  it("limit the time from SIGTERM to the end of the process", () => {
    expect(missed({ stopSeconds: [0.2, 15] })).toEqual(["end after SIGTERM: 15 s, goal 10 s"]);
  });
});

const requests = { writes: { "patch states/status": 2 }, reads: { "list states": 1 }, failed: {} };
const cost = { cpuSeconds: 0.5, childFaults: 0, rssMb: 60, peakMb: 61, requests };

const figures: DaemonFigures = {
  host: "VM lab, igb",
  versions: { etcd: "3.6" },
  kernelTimes: { "0 -> 4": { seconds: 1, withUdevSeconds: 1.5 } },
  starts: [1, 2].map((round) => ({ ...cost, title: "start", round, seconds: 3 - round })),
  changes: [{ ...cost, title: "0 -> 4", round: 1, settledSeconds: 1.5, childFaults: 200 }],
  refusals: [{ ...cost, title: "9 of 7", shownSeconds: 0.2, words: "only 7", isAnythingDestroyed: false }],
  flaps: [],
  idle: { ...cost, seconds: 30 },
  peakMb: 61,
  stopSeconds: [0.1],
};

describe("the report of daemon", () => {
  const machine = { processor: "X", processors: 2, memoryMb: 100, kernel: "6.12", node: "v24", loadBefore: 0.5 };
  const lines = renderReport(daemon, { date: "2026-11-20T00:00:00.000Z", machine }, { figures, options }).split("\n");
  const cellsOf = (title: string) =>
    lines.filter((line) => line.startsWith(`| ${title}`)).map((line) => line.split("|").map((cell) => cell.trim()))[0];

  it("shows a change next to the kernel's time", () => {
    const requestCell = "2 patch states/status, 1 list states";
    expect(cellsOf("0 -> 4")).toEqual([
      ...["", "0 -> 4", "1.00 s", "1.50 s", "-", "1.50 s", "1.50 x", "0.50 s", "some", requestCell, ""],
    ]);
  });

  it("shows each round of a start", () => {
    expect(cellsOf("start,")?.[2]).toBe("2.00 s");
    expect(cellsOf("start (2),")?.[2]).toBe("1.00 s");
  });

  it("shows whether a refusal destroyed VFs, and its error", () => {
    expect(cellsOf("9 of 7")?.slice(2, 5)).toEqual(["0.20 s", "", "untouched"]);
    expect(lines).toContain('9 of 7: "only 7"');
  });
});

describe("the options of daemon", () => {
  it("default to the fake kernel and an idle time of 30 s", () => {
    const parsed = parseOptions([], daemon.options);
    expect(parsed).toMatchObject({ options: { idleSeconds: 30, rounds: 2 }, check: false });
    const none = { vm: false, ovs: false, subfunctions: false };
    expect(hostOf(none)).toBe("fake kernel");
    expect(hostOf({ ...none, vm: true })).toBe("VM lab, igb");
    expect(hostOf({ ...none, ovs: true })).toBe("VM lab, igbsw and Open vSwitch");
    expect(hostOf({ ...none, subfunctions: true })).toBe("VM lab, igbsw and subfunctions");
  });
});
