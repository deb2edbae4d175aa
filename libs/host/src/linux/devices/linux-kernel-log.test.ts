// SPDX-License-Identifier: Apache-2.0
import { afterAll, describe, expect, it } from "@jest/globals";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLinuxKernelLog } from "./linux-kernel-log.ts";

const root = mkdtempSync(join(tmpdir(), "kernel-log-"));

afterAll(() => {
  rmSync(root, { recursive: true });
});

describe("createLinuxKernelLog", () => {
  it("returns nothing where the kernel log cannot be read", async () => {
    const log = createLinuxKernelLog(join(root, "absent"));
    const after = await log.readPosition();
    expect(await log.readLines({ after, device: "0000:18:00.0" })).toEqual([]);
  });

  // A regular file returns all records by one read, so each call adds one.
  it("returns the lines about a device since a position", async () => {
    mkdirSync(join(root, "dev"));
    const path = join(root, "dev/kmsg");
    appendFileSync(path, "6,1,100,-;ice 0000:18:00.0: before\n");
    const log = createLinuxKernelLog(root);
    const after = await log.readPosition();
    appendFileSync(path, "3,2,200,-;ice 0000:18:00.0: Only 12 MSI-X interrupts available\n SUBSYSTEM=pci\n");
    expect(await log.readLines({ after, device: "0000:18:00.0" })).toEqual([
      "ice 0000:18:00.0: Only 12 MSI-X interrupts available",
    ]);
    expect(await log.readLines({ after, device: "0000:19:00.0" })).toEqual([]);
  });
});
