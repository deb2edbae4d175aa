// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { tellsOfPanic } from "./qemu-process.ts";

/** From the serial console of Debian's 6.12, 2026-11. */
const line = "[    8.231844] Kernel panic - not syncing: sysrq triggered crash\r\n";

describe("tellsOfPanic", () => {
  it("knows the line as a serial console has it, whatever stands around it", () => {
    expect(tellsOfPanic(`sysrq: Trigger a crash\r\n${line}CPU: 0 UID: 0 PID: 61 Comm: sh\r\n`)).toBe(true);
  });

  it("waits for the end of the line, which is the cause", () => {
    expect(tellsOfPanic(line.slice(0, -2))).toBe(false);
    expect(tellsOfPanic(line.slice(0, -1))).toBe(false);
  });

  it("takes nothing else for a panic", () => {
    expect(tellsOfPanic("systemd[1]: Starting kernel panic reporter\r\n")).toBe(false);
  });
});
