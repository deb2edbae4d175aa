// SPDX-License-Identifier: Apache-2.0
/**
 * Implements KernelArguments on the fake kernel: the arguments of the running kernel and of its boot loader, which survive a
 * reboot.
 * Usage: `const bootLoader = createFakeBootLoader({ cpuVendor: "intel", hasIommu: () => true, initial: [], program: "grubby" })`.
 */
import { checkKernelArguments } from "../linux/kernel-argument.ts";
import type { BootLoader, KernelArguments, Machine } from "../ports/kernel-arguments.ts";
import { answer, Refusal } from "./refusal.ts";

export interface FakeBootLoaderOptions {
  readonly cpuVendor: Machine["cpuVendor"];
  /** Returns whether the IOMMU is active with these arguments. */
  readonly hasIommu: (running: readonly string[]) => boolean;
  readonly program: BootLoader | undefined;
  readonly initial: readonly string[];
}

export interface FakeBootLoader {
  readonly port: KernelArguments;
  /** Passes the configured arguments to the kernel that boots. */
  boot(): void;
  running(): readonly string[];
  /** The arguments of the next boot. */
  next(): readonly string[];
  setNextByHand(next: readonly string[]): void;
}

export function createFakeBootLoader(options: FakeBootLoaderOptions): FakeBootLoader {
  const { cpuVendor, hasIommu, program, initial } = options;
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
      readMachine: () => answer(() => ({ cpuVendor, iommu: hasIommu(running) })),
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
