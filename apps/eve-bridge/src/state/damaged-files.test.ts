// SPDX-License-Identifier: Apache-2.0
/**
 * Each file that eve-bridge keeps, damaged in each way that a full disk, a power loss, another program or a later release can cause. It
 * counts as absent, is written again, and is no obstacle to a call.
 */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { createScratch } from "../testing/scratch.ts";
import { listRecords, readRecord, removeRecord, writeRecord, type AttachmentRecord } from "./attachment-record.ts";
import { markRemoved, unmarkRemoved, wasRemoved } from "./removal-mark.ts";

const contents = [
  { how: "is empty", text: "" },
  { how: "is truncated", text: '{"containerId":"0af","ifName":"net1","netw' },
  { how: "has zeros, as after a power loss", text: "\0".repeat(64) },
  { how: "is of a later release", text: '{"version":9,"containerId":{"id":"0af"},"step":"renewing"}' },
  { how: "is of another program", text: "# managed by ansible\n" },
  { how: "is a directory", text: undefined },
];

const record: AttachmentRecord = {
  ...{ containerId: "0af", ifName: "net1", network: "ni", netns: "/var/run/netns/a", args: "" },
  conf: { cniVersion: "1.1.0", name: "ni" },
  step: "connected",
  lease: true,
};
const other = { ...record, ifName: "net2" };

/** Replaces the file. */
function damage(path: string, text: string | undefined): void {
  rmSync(path, { force: true, recursive: true });
  mkdirSync(dirname(path), { recursive: true });
  if (text === undefined) mkdirSync(join(path, "x"), { recursive: true });
  else writeFileSync(path, text);
}

describe.each(contents)("a file that $how", ({ text }) => {
  it.each(["0af:net1.json", "0af:net1.json.new"])("as a record costs no other attachment: %s", (name) => {
    using scratch = createScratch();
    for (const one of [record, other]) writeRecord(scratch.dir, one);
    damage(scratch.path("attachments", name), text);
    const left = name.endsWith(".new") ? [record, other] : [other];
    expect(listRecords(scratch.dir)).toEqual(left);
    expect(readRecord(scratch.dir, record)).toEqual(left.find(({ ifName }) => ifName === "net1"));
    writeRecord(scratch.dir, record);
    expect(readRecord(scratch.dir, record)).toEqual(record);
    damage(scratch.path("attachments", name), text);
    removeRecord(scratch.dir, record);
    expect(listRecords(scratch.dir)).toEqual([other]);
  });

  it("as a mark is a mark, which an ADD removes", () => {
    using scratch = createScratch();
    damage(scratch.path("removed", "0af:net1"), text);
    markRemoved(scratch.dir, other);
    expect([wasRemoved(scratch.dir, record), wasRemoved(scratch.dir, other)]).toEqual([true, true]);
    unmarkRemoved(scratch.dir, record);
    expect(wasRemoved(scratch.dir, record)).toBe(false);
  });

  it("as the code cache does not keep the program from starting", () => {
    using scratch = createScratch();
    copyFileSync(join(import.meta.dirname, "../start.ts"), scratch.path("start.mts"));
    writeFileSync(scratch.path("eve-bridge.cjs"), 'require("node:fs").writeSync(1, "runs");');
    damage(scratch.path("eve-bridge.cache"), text);
    const { stdout, status } = spawnSync(process.execPath, [scratch.path("start.mts")], { encoding: "utf8" });
    expect([stdout, status]).toEqual(["runs", 0]);
  });
});
