// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { describeGoal, missedGoals } from "../harness/report.ts";
import { renderReport } from "../harness/scenario.ts";
import type { StepResult } from "../harness/step.ts";
import { ovnOffload, type OffloadStepId } from "./ovn-offload.ts";

const options = { nodes: 1000, pools: 20, connections: 32, rounds: 1, cpuProf: undefined };
const figures = { versions: { kubernetes: "v1.36.3" }, steps: [], stopSeconds: [0.1], complaints: [] };

function result(overrides: Partial<StepResult<OffloadStepId>>): StepResult<OffloadStepId> {
  return {
    id: "vfs",
    round: 1,
    seconds: 1.2,
    statusSeconds: 3,
    plainSeconds: 0.1,
    bytes: 1000,
    load: { ownSeconds: 1, othersBusy: 0 },
    cpuSeconds: 1,
    rssMb: 70,
    peakMb: 80,
    requests: requests({ "patch machineconfigs": 20 }),
    ...overrides,
  };
}

function requests(writes: Readonly<Record<string, number>>) {
  return { writes, reads: {}, failed: {} };
}

const missed = (results: readonly StepResult<OffloadStepId>[], hosts = 1000) =>
  missedGoals(ovnOffload.goals({ ...figures, steps: results }, { ...options, nodes: hosts })).map(describeGoal);

describe("the options of ovn-offload", () => {
  it("have no more pools than hosts", () => {
    expect(ovnOffload.limit?.({ ...options, nodes: 5 })).toMatchObject({ nodes: 5, pools: 5 });
    expect(ovnOffload.limit?.(options)).toEqual(options);
  });
});

describe("the goals of ovn-offload", () => {
  it("allow twice the plain client's time after the debounce of each stage", () => {
    expect(missed([result({})])).toEqual([]);
    expect(missed([result({ seconds: 1.25 })])).toEqual([
      "all VFs reported: MachineConfigs, after the debounce / plain client: 2.5 x, goal 2 x",
    ]);
    const select = { id: "select", plainSeconds: 3, requests: requests({ "patch nodes": 1003 }) } as const;
    expect(missed([result({ ...select, seconds: 8 })])).toEqual([]);
    expect(missed([result({ ...select, seconds: 8.1 })])).toHaveLength(1);
  });

  it("allow the pause between two statuses after the other writes", () => {
    expect(missed([result({ statusSeconds: 8.2 })])).toEqual([]);
    expect(missed([result({ statusSeconds: 8.7 })])).toEqual([
      "all VFs reported: MachineConfigs, status after the other writes: 7.5 s, goal 7 s",
    ]);
  });

  it("use the median of the rounds, and no time for small clusters", () => {
    const late = result({ round: 2, seconds: 9 });
    expect(missed([result({}), late, result({ round: 3 })])).toEqual([]);
    expect(missed([late], 100)).toEqual([]);
  });

  it("are missed if nothing was written", () => {
    const { seconds: _, statusSeconds: __, ...silent } = result({});
    expect(missed([silent])).toHaveLength(2);
  });

  it("allow no write and little CPU time when nothing changes", () => {
    const idle = result({ id: "label", cpuSeconds: 0.2, requests: requests({ "patch nodes": 1, "update leases": 3 }) });
    expect(missed([idle])).toEqual([
      "one label on one node (no effect), writes: 1, goal 0",
      "one label on one node (no effect), CPU: 0.2 s, goal 0.1 s",
    ]);
  });

  it("allow one write of each MachineConfig, and none in other steps", () => {
    expect(
      missed([result({ requests: requests({ "patch machineconfigs": 20, "delete machineconfigs": 1 }) })]),
    ).toEqual(["all VFs reported: MachineConfigs, writes of MachineConfigs: 21, goal 20"]);
    expect(missed([result({ id: "add" })])).toEqual(["a host is added, writes of MachineConfigs: 20, goal 0"]);
  });

  it("limit the writes of nodes and ConfigMaps", () => {
    const writes = { "patch nodes": 4013, "patch configmaps": 100, "delete configmaps": 1 };
    expect(missed([result({ id: "restore", round: 2, requests: requests(writes) })])).toEqual([
      "all hosts booted: everything restored (2), writes of Nodes: 4013, goal 4012",
      "all hosts booted: everything restored (2), writes of ConfigMaps: 101, goal 100",
    ]);
  });

  it("limit the memory of clusters with up to 1,000 hosts", () => {
    expect(missed([result({ peakMb: 91 })])).toEqual(["peak RSS: 91 MB, goal 90 MB"]);
    expect(missed([result({ peakMb: 91 })], 2000)).toEqual([]);
  });
});

describe("the report of ovn-offload", () => {
  const select = result({
    id: "select",
    round: 2,
    seconds: 3,
    statusSeconds: 4,
    plainSeconds: 2.5,
    bytes: 1_500_100,
    load: { ownSeconds: 4.5, othersBusy: 0.04 },
    plainLoad: { ownSeconds: 4, othersBusy: 0.5 },
    cpuSeconds: 0.7,
    rssMb: 81.2,
    peakMb: 91,
    requests: {
      writes: { "patch nodes": 1003, "update leases": 2 },
      reads: {},
      failed: { "409 patch nodes": 1 },
    },
  });
  const idle: StepResult<OffloadStepId> = {
    id: "idle",
    round: 1,
    bytes: 0,
    load: { ownSeconds: 0, othersBusy: 0 },
    cpuSeconds: 0,
    rssMb: 81,
    peakMb: 88,
    requests: requests({}),
  };
  const measured = { ...figures, steps: [select, idle], complaints: ['{"level":"warn","msg":"a complaint"}'] };
  const machine = { processor: "X", processors: 2, memoryMb: 100, kernel: "6.12", node: "v24", loadBefore: 0.5 };
  const facts = { date: "2026-11-20T00:00:00.000Z", machine };
  const lines = renderReport(ovnOffload, facts, { figures: measured, options: { ...options, nodes: 900 } }).split("\n");
  const cells = (title: string) =>
    (lines.find((line) => line.startsWith(`| ${title}`)) ?? "").split("|").map((cell) => cell.trim());

  it("shows the times, cost and writes of a step in one row, without those of leases", () => {
    expect(cells("select all pools: labels, policies, DNS (2)").slice(1)).toEqual([
      ...["select all pools: labels, policies, DNS (2)", "3.00 s", "2.50 s", "1.20 x", "4.00 s", "4.50 s / 4.00 s"],
      ...["0.0 / 0.5", "0.70 s", "81 MB", "91 MB", "1501 kB", "1003 patch nodes; refused: 1 409 patch nodes", ""],
    ]);
  });

  it("shows a step without writes", () => {
    expect(cells("idle").slice(1)).toEqual([
      ...["idle", "-", "-", "-", "-", "0.00 s", "0.0", "0.00 s", "81 MB", "88 MB", "0 kB", "0", ""],
    ]);
  });

  it("names the machine, the missed goals and the warnings in the log", () => {
    expect(lines[1]).toBe("X x 2, 100 MB, Linux 6.12, Node v24, load 0.5; kubernetes v1.36.3");
    expect(lines).toContain("4 of 6 goals met");
    expect(lines).toContain("  missed: peak RSS: 91 MB, goal 90 MB");
    expect(lines).toContain('  {"level":"warn","msg":"a complaint"}');
  });
});
