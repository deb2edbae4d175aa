// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the host contract (libs/host/src/testing/host-contract.ts) on a real kernel with the two ports of an igb. `npm
 * test` runs it on the fake kernel.
 */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { bootGuest, bundleForGuest } from "@switchyard/vm-lab";

/** A case takes five seconds because it creates and removes VFs, and several times as long on a loaded machine. */
const timeLimitMs = 900_000;

let lines: readonly string[] = [];
let output = "";
beforeAll(async () => {
  const share = await bundleForGuest("libs/host/src/testing/host-contract-main.ts");
  await using guest = await bootGuest({ udev: true, withModules: true, share });
  const { stdout, stderr } = await guest.exec(["node", "/share/main.mjs"], { timeoutMs: timeLimitMs });
  output = stdout + stderr;
  lines = stdout.trimEnd().split("\n");
}, timeLimitMs + 300_000);

describe("the host contract on a real kernel", () => {
  it("holds in every case", () => {
    expect(output).not.toMatch(/^FAIL /m);
    expect(lines.filter((line) => line.startsWith("ok ")).length).toBeGreaterThan(0);
  });

  it("runs every case and skips none", () => {
    const others = lines.filter((line) => !line.startsWith("ok "));
    const passed = lines.length - others.length;
    expect(others).toEqual([`${passed} passed, 0 failed, 0 skipped`]);
  });
});
