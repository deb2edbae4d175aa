// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it, afterEach, beforeEach } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readProcess, parseMemory, parseStat, loadBetween, readLoad } from "./proc.ts";

describe("readProcess", () => {
  it("reads the CPU time and memory of a running process, and shows that a child has run and ended", () => {
    const before = readProcess(process.pid);
    execFileSync("true");
    let sum = 0;
    while (readProcess(process.pid).cpuSeconds - before.cpuSeconds < 0.05) sum += 1;
    expect(sum).toBeGreaterThan(0);
    expect(before.rssMb).toBeGreaterThan(10);
    expect(before.peakMb).toBeGreaterThanOrEqual(before.rssMb);
    expect(readProcess(process.pid).childFaults).toBeGreaterThan(before.childFaults);
  });

  it("throws if the process has ended", () => {
    expect(() => readProcess(2 ** 22 + 1)).toThrow(expect.objectContaining({ code: "ended" }));
  });
});

/** Fields 1 to 24 of a stat line of Linux 6.18, with a process name that contains blanks and parentheses. */
const stat =
  "4242 (a ) 1 b) S 1 4242 4242 0 -1 4194304 1200 37 5 0 150 25 30 10 20 0 11 0 9000 1100000000 15000 18446744073709551615\n";

describe("parseStat", () => {
  it("reads the times and the page faults of children, for any process name", () => {
    expect(parseStat(stat)).toEqual({ parentPid: 1, cpuSeconds: 1.75, childCpuSeconds: 0.4, childFaults: 37 });
  });

  it("throws for an invalid stat file", () => {
    expect(() => parseStat("nothing")).toThrow(expect.objectContaining({ code: "platform" }));
  });
});

describe("parseMemory", () => {
  it("reads the current and the largest RSS in MB", () => {
    const status = "Name:\tnode\nVmHWM:\t  133120 kB\nVmRSS:\t  102400 kB\nThreads:\t11\n";
    expect(parseMemory(status)).toEqual({ rssMb: 100, peakMb: 130 });
  });

  it("throws for a kernel thread, which has no memory", () => {
    expect(() => parseMemory("Name:\tkthreadd\n")).toThrow(expect.objectContaining({ code: "platform" }));
  });
});

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
