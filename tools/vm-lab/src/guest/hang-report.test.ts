// SPDX-License-Identifier: Apache-2.0
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "@jest/globals";
import { reportHang, timerInterrupts } from "./hang-report.ts";

/** As in a guest with two processors. */
const interrupts = (...counts: readonly number[]) => `           CPU0       CPU1
 25:          0          3  PCI-MSIX-0000:01:00.0    1-edge      eth0
LOC: ${counts.map((count) => String(count).padStart(10)).join(" ")}   Local timer interrupts
SPU:          0          0   Spurious interrupts
`;

/** Answers with each reading in turn, and with `tasks` to anything else. */
function guestWith(readings: readonly string[], tasks = ""): (command: string) => Promise<string> {
  const rest = [...readings];
  return (command) => Promise.resolve(command === "cat /proc/interrupts" ? (rest.shift() ?? "") : tasks);
}

describe("reportHang", () => {
  it("finds a processor whose timer does not fire", async () => {
    const ask = guestWith([interrupts(1_000, 900), interrupts(1_750, 900)], "/proc/7/task/7 D msleep node");
    expect(await reportHang(ask, 1)).toEqual({
      isStalled: true,
      text: expect.stringMatching(/processor in 0.001 s: 750, 0\n[^]*msleep node/),
    });
  });

  it("does not blame the timers if they fire, or if their count is not known", async () => {
    expect(await reportHang(guestWith([interrupts(5, 6), interrupts(9, 9)]), 1)).toMatchObject({ isStalled: false });
    expect(await reportHang(guestWith([interrupts(5, 6)]), 1)).toEqual({
      isStalled: false,
      text: expect.stringContaining("not known"),
    });
  });

  it("says that the guest does not answer", async () => {
    expect(await reportHang(() => Promise.resolve(undefined), 1)).toEqual({
      isStalled: false,
      text: "the guest does not answer other commands either",
    });
  });

  it("lists the tasks of a real kernel, also those of other programs that sleep", async () => {
    const ask = async (command: string) => {
      const script = command.replaceAll("/proc/[0-9]*", `/proc/${process.pid}`); // this machine can have thousands of tasks
      return (await promisify(execFile)("sh", ["-c", script])).stdout;
    };
    const { text } = await reportHang(ask, 1);
    expect(text).toMatch(new RegExp(`/proc/${process.pid}/task/${process.pid} [RS] \\S+ \\S+`));
  }, 60_000);
});

describe("timerInterrupts", () => {
  it("counts none if a processor came or went", () => {
    expect(timerInterrupts(interrupts(1, 2), interrupts(3))).toEqual([]);
  });
});
