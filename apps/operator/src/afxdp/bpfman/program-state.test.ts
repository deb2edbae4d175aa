// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { CachedBpfmanObject, BpfmanReport } from "./bpfman-caches.ts";
import { deletionError, programState } from "./program-state.ts";

const created = "2026-11-24T10:00:00Z";
const at = (seconds: number) => ({ interfaceName: "ens1f0", nowMs: Date.parse(created) + seconds * 1000 });
const object: CachedBpfmanObject = {
  kind: "ClusterBpfApplication",
  isOwn: true,
  nodeName: "worker-1",
  device: "0000:86:00.0",
  interfaces: ["ens1f0"],
  metadata: { name: "app", uid: "u1", creationTimestamp: created },
  source: {},
};
const report = (fields: Partial<BpfmanReport>): BpfmanReport => ({
  metadata: { name: "app-1" },
  ownerName: "app",
  ownerUid: "u1",
  load: "LoadSuccess",
  programId: 841,
  links: { ens1f0: "Attached" },
  ...fields,
});
const condition = { type: "Error", message: "an error" };

describe("programState", () => {
  it.each([
    {
      does: "is loaded with the ID if the link is attached",
      reported: report({}),
      state: { kind: "loaded", programID: 841 },
    },
    {
      does: "is pending while the program is not attached and there is no error",
      reported: report({ links: { ens1f0: "NotAttached" } }),
      state: { kind: "pending" },
    },
    { does: "is pending before the first load", reported: report({ load: "NotLoaded" }), state: { kind: "pending" } },
    {
      does: "has failed if bpfman could not attach it, with the words of bpfman",
      reported: report({ links: { ens1f0: "AttachError" }, condition }),
      state: {
        error: expect.stringMatching(/could not attach the program to ens1f0 \(AttachError\): an error; check/),
      },
    },
    {
      does: "names the program of somebody else that is there",
      reported: report({ links: { ens1f0: "NotAttached" }, condition }),
      place: { foreignProgram: "program 7 (xdp_pass)" },
      state: { error: expect.stringContaining("has another XDP program, program 7 (xdp_pass), which must be removed") },
    },
    {
      does: "has failed if bpfman could not load it",
      reported: report({ load: "LoadError", condition }),
      state: { error: expect.stringMatching(/could not load the program \(LoadError\): an error; check/) },
    },
    {
      does: "has failed if the node is not selected",
      reported: report({ load: "NotSelected" }),
      state: { error: expect.stringContaining("(NotSelected)") },
    },
    {
      does: "has failed if the ID is missing, which a path would be formed from",
      reported: { ...report({}), programId: undefined } as never,
      state: { error: expect.stringContaining("not its ID") },
    },
  ])("$does", ({ reported, state, ...more }) => {
    const place = "place" in more ? more.place : {};
    expect(programState(object, reported, { ...at(1), ...place })).toMatchObject(state);
  });

  it("is pending for 30 s without any report, and has then failed", () => {
    expect(programState(object, undefined, at(10))).toEqual({ kind: "pending", forMs: 20_000 });
    expect(programState(object, undefined, at(31))).toMatchObject({
      error: expect.stringMatching(
        /bpfman has not reported on ClusterBpfApplication app since 2026-11-24T10:00:00Z; check/,
      ),
    });
  });

  it("knows the conditions of BpfPrograms", () => {
    const xdp = { ...object, kind: "XdpProgram" } as const;
    const { links: _, ...loaded } = report({ load: "Loaded" });
    expect(programState(xdp, loaded, at(1))).toEqual({ kind: "loaded", programID: 841 });
    const failed = { ...loaded, load: "BytecodeSelectorError", condition: { type: "x", message: "no image" } };
    expect(programState(xdp, failed, at(1))).toMatchObject({
      error: expect.stringContaining("(BytecodeSelectorError): no image"),
    });
  });
});

it("reports a deletion that bpfman does not finish", () => {
  const leaving = { ...object, metadata: { ...object.metadata, deletionTimestamp: created } };
  expect(deletionError(leaving, at(5).nowMs)).toBeUndefined();
  expect(deletionError(leaving, at(31).nowMs)).toContain("waiting since 2026-11-24T10:00:00Z for bpfman to unload");
});
