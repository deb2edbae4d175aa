// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { showsPanic } from "./qemu-process.ts";

/** Captured on the serial console of Debian's kernel 6.12, November 2026. */
const line = "[    8.231844] Kernel panic - not syncing: sysrq triggered crash\r\n";

describe("showsPanic", () => {
  it("recognises the panic line of a serial console", () => {
    expect(showsPanic(`sysrq: Trigger a crash\r\n${line}CPU: 0 UID: 0 PID: 61 Comm: sh\r\n`)).toBe(true);
  });

  it("waits for the end of the line, which is the cause", () => {
    expect(showsPanic(line.slice(0, -2))).toBe(false);
    expect(showsPanic(line.slice(0, -1))).toBe(false);
  });

  it("ignores other lines", () => {
    expect(showsPanic("systemd[1]: Starting kernel panic reporter\r\n")).toBe(false);
  });
});
