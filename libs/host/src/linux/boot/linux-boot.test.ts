// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLinuxBoot } from "./linux-boot.ts";

describe("createLinuxBoot", () => {
  it("reads the boot id, and rejects with HostError if there is none", async () => {
    const root = await mkdtemp(join(tmpdir(), "boot-"));
    const boot = createLinuxBoot(root);
    await expect(boot.readBootId()).rejects.toMatchObject({ message: "read boot_id on the kernel: ENOENT" });
    await mkdir(join(root, "proc/sys/kernel/random"), { recursive: true });
    await writeFile(join(root, "proc/sys/kernel/random/boot_id"), "4c1a9b52-0c3e-4d6f-9b5a-2f7d1e8c6a30\n");
    expect(await boot.readBootId()).toBe("4c1a9b52-0c3e-4d6f-9b5a-2f7d1e8c6a30");
    await rm(root, { recursive: true });
  });
});
