// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { draDriverName, type Device, type ResourceSlice } from "@switchyard/api";
import { sliceChanges, type StoredSlice } from "./slice-changes.ts";

function slice(
  index: number,
  devices: readonly Device[],
  pool: { readonly count?: number; readonly generation?: number } = {},
): ResourceSlice {
  const { count = 3, generation = 1 } = pool;
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    metadata: { name: `worker-1-sriov-${index}` },
    spec: {
      driver: draDriverName,
      nodeName: "worker-1",
      pool: { name: "worker-1", generation, resourceSliceCount: count },
      devices,
    },
  };
}

const device = (name: string, mtu = 1500): Device => ({ name, attributes: { "example.com/mtu": { int: mtu } } });
const wanted = [0, 1, 2].map((index) => slice(index, [device(`vf-${index}`)]));
const stored = wanted.map((each) => ({ ...each, spec: { ...each.spec, pool: { ...each.spec.pool, generation: 7 } } }));
const generations = (slices: readonly StoredSlice[]) =>
  slices.map(({ metadata, spec }) => [metadata.name, spec.pool.generation]);

describe("sliceChanges", () => {
  it("writes nothing if the slices are as wanted, whatever other drivers publish", () => {
    const other = slice(9, [device("gpu-0")]);
    const foreign = { ...other, spec: { ...other.spec, driver: "gpu.example.com" } };
    expect(sliceChanges(wanted, [...stored, foreign])).toEqual({ apply: [], remove: [] });
  });

  it("writes one slice for one changed VF, and keeps the generation", () => {
    const next = wanted.with(1, slice(1, [device("vf-1", 9000)]));
    const { apply, remove } = sliceChanges(next, stored);
    expect(generations(apply)).toEqual([["worker-1-sriov-1", 7]]);
    expect(apply[0]?.spec.devices).toEqual([device("vf-1", 9000)]);
    expect(remove).toEqual([]);
  });

  it("writes all slices with a new generation if more than one changes, so that no VF is in two of them", () => {
    const next = [slice(0, []), slice(1, [device("vf-0"), device("vf-1")]), ...wanted.slice(2)];
    expect(generations(sliceChanges(next, stored).apply)).toEqual(
      [0, 1, 2].map((index) => [`worker-1-sriov-${index}`, 8]),
    );
  });

  it("deletes surplus slices after the others have the new count", () => {
    const next = [slice(0, [device("vf-0")], { count: 1 })];
    const { apply, remove } = sliceChanges(next, stored);
    expect(generations(apply)).toEqual([["worker-1-sriov-0", 8]]);
    expect(generations(remove)).toEqual([
      ["worker-1-sriov-1", 7],
      ["worker-1-sriov-2", 7],
    ]);
    expect(sliceChanges([], stored)).toEqual({ apply: [], remove: stored });
  });

  it("completes a change that was interrupted", () => {
    const half = stored.map((each, index) => (index === 0 ? slice(0, each.spec.devices, { generation: 8 }) : each));
    expect(generations(sliceChanges(wanted, half).apply)).toEqual(
      [0, 1, 2].map((index) => [`worker-1-sriov-${index}`, 9]),
    );
    const nearly = stored.map((each, index) => (index === 2 ? slice(2, each.spec.devices, { generation: 6 }) : each));
    expect(generations(sliceChanges(wanted, nearly).apply)).toEqual([["worker-1-sriov-2", 7]]);
  });

  it("keeps the time of a taint that stays", () => {
    const taint = { key: "switchyard.io/unhealthy", value: "no-carrier", effect: "NoSchedule" } as const;
    const timed = { ...taint, timeAdded: "2026-11-28T10:00:00Z" };
    const seen = stored.with(0, slice(0, [{ ...device("vf-0"), taints: [timed] }], { generation: 7 }));
    expect(sliceChanges(wanted.with(0, slice(0, [{ ...device("vf-0"), taints: [taint] }])), seen).apply).toEqual([]);
    const second = { ...taint, value: "other" };
    const next = wanted.with(0, slice(0, [{ ...device("vf-0"), taints: [taint, second] }]));
    expect(sliceChanges(next, seen).apply[0]?.spec.devices[0]?.taints).toEqual([timed, second]);
  });
});
