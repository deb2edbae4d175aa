// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseMemory, parseStat } from "./proc-files.ts";

/** Fields 1 to 24 of a stat line as Linux 6.18 writes it; the name is the awkward part. */
const stat =
  "4242 (a ) 1 b) S 1 4242 4242 0 -1 4194304 1200 37 5 0 150 25 30 10 20 0 11 0 9000 1100000000 15000 18446744073709551615\n";

describe("parseStat", () => {
  it("reads times and the faults of ended children, whatever the process is called", () => {
    expect(parseStat(stat)).toEqual({ parentPid: 1, cpuSeconds: 1.75, childCpuSeconds: 0.4, childFaults: 37 });
  });

  it("says so where the file is no stat file", () => {
    expect(() => parseStat("nothing")).toThrow(expect.objectContaining({ code: "platform" }));
  });
});

describe("parseMemory", () => {
  it("gives what is resident now and at most, in MB", () => {
    const status = "Name:\tnode\nVmHWM:\t  133120 kB\nVmRSS:\t  102400 kB\nThreads:\t11\n";
    expect(parseMemory(status)).toEqual({ rssMb: 100, peakMb: 130 });
  });

  it("says so for a kernel thread, which has no memory", () => {
    expect(() => parseMemory("Name:\tkthreadd\n")).toThrow(expect.objectContaining({ code: "platform" }));
  });
});
