// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRecord, writeRecord } from "./record.ts";

describe("readRecord", () => {
  let path = "";
  beforeEach(() => {
    path = join(mkdtempSync(join(tmpdir(), "record-")), "pools.json");
  });
  afterEach(() => {
    rmSync(join(path, ".."), { recursive: true });
  });

  const settings = { name: "intel", hasSocket: true, hasPinnedMap: false, idleTimeoutMs: 0, uid: 0 };
  const pool = { ...settings, requiresUnprivilegedBpf: false, devices: [{ name: "v0", key: "v0", queues: 1 }] };

  it("reads what writeRecord wrote, and nothing without a file", async () => {
    expect(await readRecord(path)).toEqual({ pools: [], retired: [] });
    const record = { pools: [pool], retired: [{ name: "v1", pool: settings }] };
    await writeRecord(path, record);
    expect(await readRecord(path)).toEqual(record);
  });

  it.each(["", "{}", "null", '{"pools":[{}],"retired":[]}', '{"pools":[],"retired":[{"name":"../x","pool":{}}]}'])(
    "refuses another file: %s",
    async (text) => {
      writeFileSync(path, text);
      await expect(readRecord(path)).rejects.toThrow(/is not a record/);
    },
  );
});
