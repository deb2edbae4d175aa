// SPDX-License-Identifier: Apache-2.0
/** Implements BootProgram on the disk of the fake kernel, without the content of files. */
import { checkKernelArguments } from "../linux/system/kernel-names.ts";
import type { BootProgram } from "../ports/boot.ts";
import type { BootLoader, KernelArguments, Machine } from "../ports/kernel.ts";
import { answer, Refusal } from "./faults.ts";

export function createFakeBootProgram(): { readonly port: BootProgram } {
  let version: string | undefined;
  return {
    port: {
      readVersion: () => answer(() => version),
      install: ({ id }) =>
        answer(() => {
          if (!/^[\w.-]+$/.test(id)) throw new Refusal("EINVAL");
          version = id;
        }),
      removeAll: () =>
        answer(() => {
          version = undefined;
        }),
    },
  };
}

interface FakeBootLoaderOptions {
  readonly cpuVendor: Machine["cpuVendor"];
  /** Returns whether the IOMMU is active with these arguments. */
  readonly hasIommu: (running: readonly string[]) => boolean;
  readonly isNoIommuOn: () => boolean;
  readonly program: BootLoader | undefined;
  readonly initial: readonly string[];
}

interface FakeBootLoader {
  readonly port: KernelArguments;
  /** Passes the configured arguments to the kernel that boots. */
  boot(): void;
  running(): readonly string[];
  /** The arguments of the next boot. */
  next(): readonly string[];
  setNextByHand(next: readonly string[]): void;
}

/**
 * Implements KernelArguments on the fake kernel: the arguments of the running kernel and of its boot loader, which survive a
 * reboot.
 */
export function createFakeBootLoader(options: FakeBootLoaderOptions): FakeBootLoader {
  const { cpuVendor, hasIommu, isNoIommuOn, program, initial } = options;
  let running = initial;
  let next = initial;

  function checkProgram(): void {
    if (program === undefined) throw new Refusal("EOPNOTSUPP", "no known boot loader");
  }

  return {
    running: () => running,
    next: () => next,
    setNextByHand(values) {
      next = values;
    },
    boot() {
      running = next;
    },
    port: {
      readRunning: () => answer(() => running),
      readMachine: () =>
        answer(() => {
          const iommu = hasIommu(running);
          return { cpuVendor, iommu, ...(!iommu && isNoIommuOn() && { noIommuMode: true }) };
        }),
      readBootLoader: () => answer(() => program),
      readNext: () =>
        answer(() => {
          checkProgram();
          return [{ title: "Linux", arguments: next }];
        }),
      setNext: ({ add, remove }) =>
        answer(() => {
          checkKernelArguments([...add, ...remove]);
          checkProgram();
          const added = add.filter((argument) => !next.includes(argument));
          next = [...next, ...added].filter((argument) => !remove.includes(argument));
        }),
    },
  };
}
