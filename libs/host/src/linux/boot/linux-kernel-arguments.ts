// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxKernelArguments implements KernelArguments with /proc, /sys/class/iommu and the programs of boot-loaders.ts.
 */
import { promises as fs } from "node:fs";
import { join } from "node:path";
import { operations } from "../../calls/operations.ts";
import { HostError, withHostError } from "../../calls/host-error.ts";
import type { KernelArguments, Machine } from "../../ports/kernel.ts";
import { bootLoaders, detectBootLoader, type BootLoaderProgram, type BootLoaderTools } from "./boot-loaders.ts";
import { checkKernelArguments, splitArguments } from "../system/kernel-names.ts";
import { createLinuxHostFiles } from "../system/linux-host-files.ts";
import { readAttribute, readNames } from "../system/read-sysfs.ts";
import { runHostProgram } from "../system/run-program.ts";

/** rpm-ostree writes a new deployment; update-grub looks for other systems on all disks. */
const timeoutMs = 5 * 60_000;

const vendors: ReadonlyMap<string, Machine["cpuVendor"]> = new Map([
  ["GenuineIntel", "intel"],
  ["AuthenticAMD", "amd"],
  ["HygonGenuine", "amd"],
]);

/** `root` is "/" or "/host". In the latter, programs run by chroot. */
export function createLinuxKernelArguments(root: string): KernelArguments {
  const { kernelArguments: operation } = operations;
  const files = createLinuxHostFiles(root);
  // Neither changes while the kernel runs.
  let running: readonly string[] | undefined;
  let cpuVendor: Machine["cpuVendor"] | undefined;

  async function withBootLoader<Value>(
    at: ReturnType<typeof operation.readNext>,
    act: (program: BootLoaderProgram, tools: BootLoaderTools) => Promise<Value>,
  ): Promise<Value> {
    const name = await detectBootLoader(files);
    if (name === undefined) throw new HostError(at, "EOPNOTSUPP", { words: "no known boot loader" });
    const failureCode = "BOOT_LOADER_FAILED";
    const run: BootLoaderTools["run"] = (command) => runHostProgram({ root, at, failureCode, timeoutMs }, command);
    return await act(bootLoaders[name], { files, run, readRunning });
  }

  async function readRunning(): Promise<readonly string[]> {
    running ??= splitArguments(await fs.readFile(join(root, "proc/cmdline"), "utf8"));
    return running;
  }

  return {
    readRunning: () => withHostError(operation.readRunning(), readRunning),
    readMachine: () =>
      withHostError(operation.readMachine(), async () => {
        cpuVendor ??= await readCpuVendor(join(root, "proc/cpuinfo"));
        // A group of /sys/kernel/iommu_groups can also be one of vfio's mode without an IOMMU.
        const iommu = (readNames(join(root, "sys/class/iommu")) ?? []).length > 0;
        const isNoIommu = !iommu && isNoIommuMode(root, await readRunning());
        return { cpuVendor, iommu, ...(isNoIommu && { noIommuMode: true }) };
      }),
    readBootLoader: () => detectBootLoader(files),
    readNext: () => withBootLoader(operation.readNext(), (program, tools) => program.read(tools)),
    async setNext(change) {
      checkKernelArguments([...change.add, ...change.remove]);
      await withBootLoader(operation.setNext(change), (program, tools) => program.change(tools, change));
    },
  };
}

const noIommuParameter = "enable_unsafe_noiommu_mode";

/** While vfio is not loaded, modprobe.d and the kernel arguments have the value that it will get. */
function isNoIommuMode(root: string, running: readonly string[]): boolean {
  const value = readAttribute(join(root, "sys/module/vfio/parameters", noIommuParameter));
  if (value !== undefined) return value === "Y";
  const directory = join(root, "etc/modprobe.d");
  const files = (readNames(directory) ?? []).filter((name) => name.endsWith(".conf"));
  const options = files.map((name) => readAttribute(join(directory, name)) ?? "").join("\n");
  const isInFile = new RegExp(`^\\s*options\\s+vfio\\s(?:.*\\s)?${noIommuParameter}=[1Yy]`, "m").test(options);
  return isInFile || running.some((argument) => /^vfio\.enable_unsafe_noiommu_mode=[1Yy]/.test(argument));
}

/** Reads only the first CPU: the kernel formats the whole file, which takes long on a machine with hundreds of CPUs. */
async function readCpuVendor(path: string): Promise<Machine["cpuVendor"]> {
  const file = await fs.open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1_024), 0, 1_024, 0);
    const [, vendor = ""] = /^vendor_id\s*:\s*(\S+)$/m.exec(buffer.toString("utf8", 0, bytesRead)) ?? [];
    return vendors.get(vendor) ?? "other";
  } finally {
    await file.close();
  }
}
