// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { describeGoal, missedGoals } from "../harness/goal.ts";
import type { OffloadStepResult } from "./offload-step-result.ts";
import { ovnOffloadGoals } from "./ovn-offload-report.ts";

function result(overrides: Partial<OffloadStepResult>): OffloadStepResult {
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

const missed = (results: readonly OffloadStepResult[], hosts = 1000) =>
  missedGoals(ovnOffloadGoals(results, { hosts, pools: 20, nodes: hosts + 3 })).map(describeGoal);

describe("ovnOffloadGoals", () => {
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
