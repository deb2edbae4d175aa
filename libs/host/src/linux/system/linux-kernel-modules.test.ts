// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLinuxKernelModules } from "./linux-kernel-modules.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "modules-"));
});

afterEach(() => rm(root, { recursive: true }));

describe("createLinuxKernelModules", () => {
  it("does not run modprobe for a module that is built in or loaded", async () => {
    await mkdir(join(root, "sys/module/vfio_pci"), { recursive: true });
    await mkdir(join(root, "sys/module/igbvf"), { recursive: true });
    await writeFile(join(root, "sys/module/igbvf/initstate"), "live\n");
    const modules = createLinuxKernelModules(root);
    await modules.load("vfio-pci"); // modprobe would fail, because the tree has none
    await modules.load("igbvf");
  });

  it.each(["../../x", "a b", "\n", "igbvf\n", "--remove=igb", "", "x".repeat(56), "vfio-pci;reboot"])(
    "takes no other text for a module, and looks for it nowhere, case %#",
    async (module) => {
      await mkdir(join(root, "sys/x"), { recursive: true });
      await expect(createLinuxKernelModules(root).load(module)).rejects.toMatchObject({
        name: "HostError",
        code: "EINVAL",
      });
    },
  );

  it("waits for modprobe while a module initializes, and reports the output of modprobe", async () => {
    await mkdir(join(root, "sys/module/igbvf"), { recursive: true });
    await writeFile(join(root, "sys/module/igbvf/initstate"), "coming\n");
    await expect(createLinuxKernelModules(root).load("igbvf")).rejects.toMatchObject({
      name: "HostError",
      code: "MODPROBE_FAILED",
      operation: { action: "load kernel module", target: "igbvf" },
      words: expect.stringContaining("modprobe"),
    });
  });
});
