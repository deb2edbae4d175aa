// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { createProcessMeter } from "./process-meter.ts";

describe("createProcessMeter", () => {
  it("reads the CPU time and memory of a running process", () => {
    const meter = createProcessMeter(process.pid);
    const before = meter.read();
    let sum = 0;
    while (meter.read().cpuSeconds - before.cpuSeconds < 0.05) sum += 1;
    expect(sum).toBeGreaterThan(0);
    expect(before.rssMb).toBeGreaterThan(10);
    expect(before.peakMb).toBeGreaterThanOrEqual(before.rssMb);
  });

  it("shows that a child has run and ended", () => {
    const meter = createProcessMeter(process.pid);
    const before = meter.read().childFaults;
    execFileSync("true");
    expect(meter.read().childFaults).toBeGreaterThan(before);
  });

  it("throws if the process has ended", () => {
    expect(() => createProcessMeter(2 ** 22 + 1).read()).toThrow(expect.objectContaining({ code: "ended" }));
  });
});
