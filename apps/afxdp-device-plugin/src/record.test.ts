// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRecord, writeRecord } from "./record.ts";

function idOf(id: unknown): string {
  const pool = { name: "intel", hasSocket: true, hasPinnedMap: false, idleTimeoutMs: 0, uid: 0 };
  return JSON.stringify({ pools: [], retired: [{ id, name: "v0", pool }] });
}

/** Runs as the user nobody, who owns the directory, if the test runs as root: root may read everything. */
async function asUser<T>(directory: string, act: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return act();
  chownSync(directory, nobody, nobody);
  process.seteuid?.(nobody);
  try {
    return await act();
  } finally {
    process.seteuid?.(0);
  }
}

const nobody = 65_534;

describe("openRecord", () => {
  let path = "";
  const warnings: unknown[] = [];
  const log = { warn: (fields: unknown) => void warnings.push(fields) };
  const readRecord = (from: string) => openRecord(from, log);
  beforeEach(() => {
    path = join(mkdtempSync(join(tmpdir(), "record-")), "pools.json");
    warnings.length = 0;
  });
  afterEach(() => {
    rmSync(join(path, ".."), { recursive: true });
  });

  const settings = { name: "intel", hasSocket: true, hasPinnedMap: false, idleTimeoutMs: 0, uid: 0 };
  const pool = {
    ...settings,
    requiresUnprivilegedBpf: false,
    devices: [{ id: "0000:86:00.0", name: "v0", key: "v0", queues: 1 }],
  };

  it("reads what writeRecord wrote, and nothing without a file", async () => {
    expect(await readRecord(path)).toEqual({ pools: [], retired: [], leases: [] });
    const leases = [{ id: "v0", name: "v0", before: [4], seen: [5], wasAway: true }];
    const record = { pools: [pool], retired: [{ id: "mlx5_core.sf.4", name: "v1", pool: settings }], leases };
    await writeRecord(path, record);
    expect(await readRecord(path)).toEqual(record);
  });

  it("reads the record of an earlier version, in which the name of a device is its id", async () => {
    const device = { name: "v0", key: "0000:86:00.0", queues: 1 };
    const earlier = { pools: [{ ...pool, devices: [device] }], retired: [{ name: "v1", pool: settings }] };
    writeFileSync(path, JSON.stringify(earlier));
    expect(await readRecord(path)).toEqual({
      pools: [{ ...pool, devices: [{ id: "v0", ...device }] }],
      retired: [{ id: "v1", name: "v1", pool: settings }],
      leases: [],
    });
  });

  it.each([
    "",
    "{}",
    "null",
    '{"pools":[{}],"retired":[]}',
    '{"pools":[],"retired":[{"name":"../x","pool":{}}]}',
    idOf("../x"),
    idOf(4),
    '{"pools":[],"retired":[],"leases":[{"name":"v0"}]}',
    '{"version":9,"pools":{}}',
    '{"pools":[{"name":"intel","hasSo',
  ])("begins anew with another file, which it keeps: %s", async (text) => {
    writeFileSync(path, text);
    expect(await readRecord(path)).toEqual({ pools: [], retired: [], leases: [] });
    expect([existsSync(path), readFileSync(`${path}.unreadable`, "utf8")]).toEqual([false, text]);
    expect(warnings).toHaveLength(1);
  });

  it("begins anew with a file of another user, and writes beside leftovers of others", async () => {
    const record = { pools: [pool], retired: [], leases: [] };
    await writeRecord(path, record);
    chmodSync(path, 0o000);
    mkdirSync(`${path}.new`);
    const read = await asUser(join(path, ".."), () => readRecord(path));
    expect([read.pools, warnings.length]).toEqual([[], 1]);
    await writeRecord(path, record);
    expect(await readRecord(path)).toEqual(record);
  });

  it("does not use a file that it can neither read nor move", async () => {
    await writeRecord(path, { pools: [pool], retired: [], leases: [] });
    writeFileSync(path, "{");
    chmodSync(join(path, ".."), 0o555);
    expect((await asUser(join(path, ".."), () => readRecord(path))).pools).toEqual([]);
    expect(warnings).toHaveLength(1);
    chmodSync(join(path, ".."), 0o755);
  });

  it("begins anew if a directory has the name of the file", async () => {
    mkdirSync(path);
    mkdirSync(`${path}.unreadable`);
    expect(await readRecord(path)).toMatchObject({ pools: [] });
    await writeRecord(path, { pools: [pool], retired: [], leases: [] });
    expect(await readRecord(path)).toMatchObject({ pools: [{ name: "intel" }] });
  });
});
