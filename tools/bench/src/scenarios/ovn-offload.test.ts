// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { missedBy, onlyWrites, optionsOf, stepOf } from "../harness/testing.ts";
import type { StepKind, StepResult } from "../harness/step.ts";
import { kinds, ovnOffload } from "./ovn-offload.ts";

const figures = { versions: {}, stopSeconds: [0.1], complaints: [] };
const written = (kind: StepKind, writes: Readonly<Record<string, number>>, more: Partial<StepResult> = {}) =>
  stepOf(kind, { seconds: 1.2, statusSeconds: 3, plainSeconds: 0.1, requests: onlyWrites(writes), ...more });
const vfs = (more: Partial<StepResult> = {}) => written(kinds.vfs, { "patch machineconfigs": 20 }, more);
const missed = (steps: readonly StepResult[], hosts = 1000) =>
  missedBy(ovnOffload, { ...figures, steps }, ["--nodes", `${hosts}`]);

describe("the options of ovn-offload", () => {
  it("have no more pools than hosts", () => {
    expect(optionsOf(ovnOffload, ["--nodes", "5"])).toMatchObject({ nodes: 5, pools: 5 });
    expect(optionsOf(ovnOffload)).toMatchObject({ nodes: 1000, pools: 20 });
  });
});

describe("the goals of ovn-offload", () => {
  it("allow twice the plain client's time after the debounce of each stage", () => {
    expect(missed([vfs()])).toEqual([]);
    expect(missed([vfs({ seconds: 1.25 })])).toEqual([
      "all VFs reported: MachineConfigs, after the debounce / plain client: 2.5 x, goal 2 x",
    ]);
    const select = (seconds: number) => written(kinds.select, { "patch nodes": 1003 }, { seconds, plainSeconds: 3 });
    expect(missed([select(8)])).toEqual([]);
    expect(missed([select(8.1)])).toHaveLength(1);
  });

  it("allow the pause between two statuses after the other writes, as the median of the rounds", () => {
    expect(missed([vfs({ statusSeconds: 8.2 })])).toEqual([]);
    const late = vfs({ statusSeconds: 8.7 });
    expect(missed([late])).toEqual([
      "all VFs reported: MachineConfigs, status after the other writes: 7.5 s, goal 7 s",
    ]);
    expect(missed([vfs(), { ...late, round: 2 }, vfs({ round: 3 })])).toEqual([]);
    expect(missed([vfs({ seconds: 9, statusSeconds: 19 })], 100)).toEqual([]);
  });

  it("are missed if nothing was written", () => {
    expect(missed([stepOf(kinds.vfs)])).toHaveLength(2);
  });

  it("allow no write and little CPU time when nothing changes", () => {
    const writes = { "patch nodes": 1, "update leases": 3 };
    expect(missed([written(kinds.label, writes, { cpuSeconds: 0.2 })])).toEqual([
      "one label on one node (no effect), writes: 1, goal 0",
      "one label on one node (no effect), CPU: 0.2 s, goal 0.1 s",
    ]);
  });

  it("allow one write of each MachineConfig, and none in other steps", () => {
    const more = { "patch machineconfigs": 20, "delete machineconfigs": 1 };
    expect(missed([written(kinds.vfs, more)])).toEqual([
      "all VFs reported: MachineConfigs, writes of MachineConfigs: 21, goal 20",
    ]);
    expect(missed([vfs({ kind: kinds.add })])).toEqual(["a host is added, writes of MachineConfigs: 20, goal 0"]);
  });

  it("limit the writes of nodes and ConfigMaps", () => {
    const writes = { "patch nodes": 4013, "patch configmaps": 100, "delete configmaps": 1 };
    expect(missed([written(kinds.restore, writes, { round: 2 })])).toEqual([
      "all hosts booted: everything restored (2), writes of Nodes: 4013, goal 4012",
      "all hosts booted: everything restored (2), writes of ConfigMaps: 101, goal 100",
    ]);
  });

  it("limit the memory of clusters with up to 1,000 hosts", () => {
    expect(missed([vfs({ peakMb: 91 })])).toEqual(["peak RSS: 91 MB, goal 90 MB"]);
    expect(missed([vfs({ peakMb: 91 })], 2000)).toEqual([]);
  });
});
