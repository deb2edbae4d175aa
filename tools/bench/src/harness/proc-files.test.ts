// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseMemory, parseStat } from "./proc-files.ts";

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
