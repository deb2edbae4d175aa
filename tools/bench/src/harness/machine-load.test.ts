// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadBetween, readLoad } from "./machine.ts";

let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "bench-proc-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Adds a process with this CPU time, and that of its ended children, in ticks. */
async function addProcess(pid: number, parent: number, ticks: number, childTicks = 0): Promise<void> {
  await mkdir(join(root, String(pid)));
  const fields = `${pid} (x) S ${parent} 0 0 0 0 0 0 0 0 0 ${ticks} 0 ${childTicks} 0 20 0 1 0 0 0`;
  await writeFile(join(root, String(pid), "stat"), fields);
}

describe("readLoad", () => {
  it("counts the process and its descendants, including ended ones, as own time", async () => {
    await writeFile(join(root, "stat"), "cpu  1000 0 500 9000 70 20 30 50 0 0\ncpu0 0\n");
    await addProcess(90, 1, 100);
    await addProcess(70, 90, 200, 40); // a child with a lower pid
    await addProcess(60, 70, 7);
    await addProcess(80, 1, 5_000);
    expect(readLoad(90, root)).toMatchObject({ ownSeconds: expect.closeTo(3.47), busySeconds: 15.5 });
  });
});

describe("loadBetween", () => {
  it("separates own time from the average number of processors that others used", () => {
    const before = { atMs: 0, busySeconds: 10, ownSeconds: 4 };
    const load = loadBetween(before, { atMs: 2_000, busySeconds: 14, ownSeconds: 7 });
    expect(load).toEqual({ ownSeconds: 3, othersBusy: 0.5 });
  });

  it("returns no negative number for others if the clocks are too coarse", () => {
    const before = { atMs: 0, busySeconds: 10, ownSeconds: 4 };
    expect(loadBetween(before, { atMs: 20, busySeconds: 10, ownSeconds: 4.02 }).othersBusy).toBe(0);
  });
});
