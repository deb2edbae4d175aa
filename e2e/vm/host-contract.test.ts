// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the host contract (libs/host/src/testing/host-contract.ts) on a real kernel with the two ports of an igb, and of an
 * igbsw, which has an eswitch. `npm test` runs it on the fake kernel.
 */
import { describe, expect, it } from "@jest/globals";
import { bootGuest, bundleForGuest } from "@switchyard/vm-lab";

/** A case takes five seconds because it creates and removes VFs, and several times as long on a loaded machine. */
const timeLimitMs = 900_000;
/** A case that takes longer than this hangs, or the guest does. */
const caseLimitMs = 240_000;

describe("the host contract on a real kernel", () => {
  it.each(["igb", "igbsw"] as const)(
    "holds in every case on %s, and skips none",
    async (driver) => {
      const share = await bundleForGuest("libs/host/src/testing/host-contract-main.ts");
      await using guest = await bootGuest({ udev: true, driver, share });
      const { stdout, stderr } = await guest.exec(["node", "/share/main.mjs"], {
        timeoutMs: timeLimitMs,
        quietMs: caseLimitMs,
      });
      const others = stdout
        .trimEnd()
        .split("\n")
        .filter((line) => !line.startsWith("ok "));
      const passed = stdout.split("\n").filter((line) => line.startsWith("ok ")).length;
      expect(others.concat(stderr)).toEqual([`${passed} passed, 0 failed, 0 skipped`, ""]);
      expect(passed).toBeGreaterThan(0);
    },
    timeLimitMs + 300_000,
  );
});
