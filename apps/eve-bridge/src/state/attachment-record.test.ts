// SPDX-License-Identifier: Apache-2.0
import { existsSync, statSync, writeFileSync, readdirSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import {
  listRecords,
  listUnfinishedWrites,
  readRecord,
  removeRecord,
  writeRecord,
  type AttachmentRecord,
} from "./attachment-record.ts";
import { createScratch } from "../testing/scratch.ts";

const record: AttachmentRecord = {
  containerId: "0af",
  ifName: "net1",
  network: "ni",
  netns: "/var/run/netns/a",
  args: "K8S_POD_NAME=web-0",
  conf: { cniVersion: "1.1.0", name: "ni", secret: "x" },
  step: "connecting",
  lease: false,
};

describe("attachment records", () => {
  it("are read as they were written", () => {
    using scratch = createScratch();
    writeRecord(scratch.dir, record);
    writeRecord(scratch.dir, { ...record, step: "leasing", lease: true });
    expect(readRecord(scratch.dir, record)).toEqual({ ...record, step: "leasing", lease: true });
    expect(listRecords(scratch.dir)).toEqual([{ ...record, step: "leasing", lease: true }]);
  });

  it("are readable by root only, because configurations may contain secrets", () => {
    using scratch = createScratch();
    writeRecord(scratch.path("state"), record);
    expect(statSync(scratch.path("state", "attachments")).mode & 0o777).toBe(0o700);
    expect(statSync(scratch.path("state", "attachments", "0af:net1.json")).mode & 0o777).toBe(0o600);
  });

  it("are removed together with the temporary file of a killed writer", () => {
    using scratch = createScratch();
    writeRecord(scratch.dir, record);
    writeFileSync(scratch.path("attachments", "0af:net1.json.new"), '{"contai');
    expect(listUnfinishedWrites(scratch.dir)).toEqual([{ containerId: "0af", ifName: "net1" }]);
    removeRecord(scratch.dir, record);
    removeRecord(scratch.dir, record);
    expect(readdirSync(scratch.path("attachments"))).toEqual([]);
  });

  it.each(["", "{", "[]", "{}", JSON.stringify({ ...record, step: "other" }), JSON.stringify({ ...record, lease: 1 })])(
    "are treated as absent if they are invalid: %j",
    (text) => {
      using scratch = createScratch();
      writeRecord(scratch.dir, record);
      writeFileSync(scratch.path("attachments", "0af:net1.json"), text);
      expect(readRecord(scratch.dir, record)).toBeUndefined();
      expect(listRecords(scratch.dir)).toEqual([]);
    },
  );

  it("can be read and removed if the directory does not exist", () => {
    using scratch = createScratch();
    expect(listRecords(scratch.path("none"))).toEqual([]);
    expect(readRecord(scratch.path("none"), record)).toBeUndefined();
    removeRecord(scratch.path("none"), record);
    expect(existsSync(scratch.path("none"))).toBe(false);
  });
});
