// SPDX-License-Identifier: Apache-2.0
/**
 * The host contract (libs/host/src/testing/host-contract.ts) on a real kernel, with igb's two ports; npm test has the
 * fake's turn.
 */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { bootGuest, bundleForGuest } from "@switchyard/vm-lab";

/** A case takes five seconds, as its VFs come and go; on a loaded machine several times that. */
const timeLimitMs = 900_000;

let lines: readonly string[] = [];
let output = "";
beforeAll(async () => {
  const share = await bundleForGuest("libs/host/src/testing/host-contract-main.ts");
  await using guest = await bootGuest({ udev: true, share });
  const { stdout, stderr } = await guest.exec(["node", "/share/main.mjs"], { timeoutMs: timeLimitMs });
  output = stdout + stderr;
  lines = stdout.trimEnd().split("\n");
}, timeLimitMs + 300_000);

describe("the host contract on a real kernel", () => {
  it("holds in every case", () => {
    expect(output).not.toMatch(/^FAIL /m);
    expect(lines.filter((line) => line.startsWith("ok ")).length).toBeGreaterThan(0);
  });

  it("had every case run, and none skipped", () => {
    const others = lines.filter((line) => !line.startsWith("ok "));
    const passed = lines.length - others.length;
    expect(others).toEqual([`${passed} passed, 0 failed, 0 skipped`]);
  });
});
