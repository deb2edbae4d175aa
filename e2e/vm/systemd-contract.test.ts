// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the cases of the host contract that need systemd (libs/host/src/testing/contract/systemd-cases.ts) on the systemd of a
 * Debian guest. `npm test` runs them on the fake kernel.
 */
import { expect, it } from "@jest/globals";
import { bootGuest, bundleForGuest } from "@switchyard/vm-lab";

it("the systemd port meets the host contract on a real systemd", async () => {
  const share = await bundleForGuest("libs/host/src/testing/host-contract-main.ts");
  await using guest = await bootGuest({ boot: "systemd", share });
  const { stdout, stderr } = await guest.exec(["node", "/share/main.mjs", "systemd"], { timeoutMs: 400_000 });
  const lines = stdout.trimEnd().split("\n");
  expect(stdout + stderr).not.toMatch(/^FAIL /m);
  expect(lines.filter((line) => line.startsWith("ok   systemd ")).length).toBeGreaterThan(2);
  expect(lines.at(-1)).toMatch(/^\d+ passed, 0 failed, /);
}, 900_000);
