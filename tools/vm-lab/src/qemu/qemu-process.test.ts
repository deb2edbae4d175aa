// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { showsPanic, showsStall } from "./qemu-process.ts";

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

/** Captured on the serial console of Debian's kernel 6.12 in QEMU 10.0.2, November 2026. */
const stall = (seconds: number, softirqs: number) =>
  `[  ${seconds}.459019] rcu: rcu_preempt kthread timer wakeup didn't happen for 15752 jiffies! g11265\r\n` +
  `[  ${seconds}.459405] rcu: \tPossible timer handling issue on cpu=1 timer-softirq=${softirqs}\r\n` +
  `[  ${seconds}.460281] rcu: rcu_preempt kthread starved for 15753 jiffies!\r\n`;

describe("showsStall", () => {
  it("recognises a processor without timer interrupts between two reports", () => {
    expect(showsStall(stall(352, 2626) + stall(373, 2626))).toBe(true);
  });

  it("ignores one report, and a processor that goes on", () => {
    expect(showsStall(stall(352, 2626))).toBe(false);
    expect(showsStall(stall(352, 2626) + stall(373, 2627))).toBe(false);
  });
});
