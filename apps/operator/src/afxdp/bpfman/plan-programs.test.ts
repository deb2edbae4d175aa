// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { AfxdpLoadedProgram } from "@switchyard/api";
import type { CachedBpfmanObject } from "./bpfman-caches.ts";
import { planPrograms, type ProgramsInput } from "./plan-programs.ts";
import type { ProgramState } from "./program-state.ts";

const device = "0000:86:00.0";
const wanted = { device, poolName: "fast", interfaceName: "ens1f0" };
const base = { device, interfaceName: "ens1f0", objectName: "app" };
const loaded: AfxdpLoadedProgram = { ...base, programID: 12 };
const releasing: AfxdpLoadedProgram = { ...loaded, release: true };
const object = (fields: Partial<CachedBpfmanObject> = {}): CachedBpfmanObject => ({
  kind: "ClusterBpfApplication",
  isOwn: true,
  nodeName: "worker-1",
  device,
  interfaces: ["ens1f0"],
  metadata: { name: "app" },
  source: "v1",
  ...fields,
});
const leaving = object({ metadata: { name: "app", deletionTimestamp: "1970-01-01T00:00:00Z" } });

/** Plans, and returns what changes in short. */
function plan(input: Partial<ProgramsInput> & { readonly state?: ProgramState }) {
  const { state = { kind: "loaded", programID: 12 } as const, ...more } = input;
  const { rows, apply, remove, againMs } = planPrograms({
    wanted: [wanted],
    own: [],
    rows: [],
    report: {},
    kind: "ClusterBpfApplication",
    nowMs: 0,
    isKept: () => false,
    nameOf: () => "app",
    isForeign: () => false,
    sourceOf: () => "v1",
    stateOf: () => state,
    isReleasedAnyway: () => false,
    ...more,
  });
  return { rows, creates: apply.filter(({ isNew }) => isNew).length, removes: remove.length, againMs };
}

describe("planPrograms creates", () => {
  it("an object as soon as the device plugin says that the device is ready, and not before", () => {
    expect(plan({})).toMatchObject({ rows: [base], creates: 0 });
    expect(plan({ report: { readyDevices: [device] } })).toMatchObject({ rows: [base], creates: 1 });
  });

  it("nothing for a device that is in a pod, without bpfman, or in place of a foreign object", () => {
    const report = { readyDevices: [device] };
    const inPod = { ...wanted, interfaceName: undefined };
    expect(plan({ report, wanted: [inPod] })).toMatchObject({ rows: [], creates: 0 });
    expect(plan({ report, kind: undefined })).toMatchObject({ rows: [], creates: 0 });
    const foreign = plan({ report, isForeign: () => true });
    expect(foreign).toMatchObject({ creates: 0, removes: 0 });
    expect(foreign.rows[0]?.error).toContain("ClusterBpfApplication app exists, but the operator did not create it");
  });
});

describe("planPrograms reports", () => {
  it("the ID of the program, its error, or nothing while bpfman works", () => {
    const own = [object()];
    expect(plan({ own }).rows).toEqual([loaded]);
    expect(plan({ own, state: { kind: "failed", error: "refused" } }).rows).toEqual([{ ...base, error: "refused" }]);
    expect(plan({ own, state: { kind: "pending", forMs: 5 } })).toMatchObject({ rows: [base], againMs: 5 });
  });

  it("the program of a device that is in a pod", () => {
    expect(plan({ own: [object()], wanted: [{ ...wanted, interfaceName: undefined }] }).rows).toEqual([loaded]);
  });
});

describe("planPrograms removes", () => {
  const unwanted = { wanted: [], own: [object()] };
  it("an object after the row has said it and the plugin has confirmed the ID", () => {
    expect(plan({ ...unwanted, rows: [loaded] })).toMatchObject({ rows: [releasing], removes: 0 });
    expect(plan({ ...unwanted, rows: [releasing] })).toMatchObject({ rows: [releasing], removes: 0 });
    const report = { releasedPrograms: [11] };
    expect(plan({ ...unwanted, rows: [releasing], report })).toMatchObject({ removes: 0 });
    const confirmed = { releasedPrograms: [12] };
    expect(plan({ ...unwanted, rows: [releasing], report: confirmed })).toMatchObject({
      rows: [releasing],
      removes: 1,
    });
    // An old confirmation of the same ID does not count before the row says it.
    expect(plan({ ...unwanted, rows: [loaded], report: confirmed })).toMatchObject({ removes: 0 });
  });

  it("at once what no pod can use, because bpfman has not loaded it", () => {
    const state = { kind: "pending", forMs: 5 } as const;
    expect(plan({ ...unwanted, rows: [base], state })).toMatchObject({ removes: 1 });
  });

  it("nothing at once if the row is lost, because the plugin can know the ID from before", () => {
    expect(plan({ ...unwanted, rows: [] })).toMatchObject({ rows: [releasing], removes: 0 });
  });

  it("the row with the object", () => {
    expect(plan({ wanted: [], rows: [releasing] })).toEqual({ rows: [], creates: 0, removes: 0, againMs: undefined });
  });

  it("and replaces an object whose program differs, also of the other kind, and one that somebody deletes", () => {
    const report = { readyDevices: [device] };
    const other = object({ kind: "XdpProgram" });
    for (const own of [[object({ source: "v0" })], [other], [leaving]]) {
      expect(plan({ own, rows: [loaded], report })).toMatchObject({ rows: [releasing], removes: 0, creates: 0 });
    }
    expect(plan({ own: [], rows: [releasing], report })).toMatchObject({ rows: [base], creates: 1 });
  });

  it("to the end, although the device is wanted again", () => {
    expect(plan({ own: [object()], rows: [releasing] })).toMatchObject({ rows: [releasing], removes: 0 });
  });

  it("nothing of a subfunction that the daemon has not created again", () => {
    expect(plan({ ...unwanted, rows: [loaded], isKept: () => true })).toMatchObject({ rows: [loaded], removes: 0 });
  });

  it("and reports a deletion that takes long", () => {
    expect(plan({ own: [leaving], rows: [releasing], nowMs: 60_000 }).rows[0]?.error).toContain("waiting since");
  });
});
