// SPDX-License-Identifier: Apache-2.0
/**
 * KernelModules on the fake kernel: a driver registers when its module is loaded.
 * Usage: `const modules = createFakeModules(bus, ["igbvf"])`.
 */
import type { KernelModules } from "../kernel-modules.ts";
import type { PciBus } from "./fake-pci.ts";
import { answer, Refusal } from "./refusal.ts";

/** `drivers` are the PCI drivers that there are modules for; `others` modules that drive no PCI function. */
export function createFakeModules(bus: PciBus, drivers: readonly string[], others: readonly string[]): KernelModules {
  return {
    load: (module) =>
      answer(() => {
        const driver = drivers.find((name) => normalized(name) === normalized(module));
        if (driver !== undefined) bus.register(driver);
        else if (!others.some((name) => normalized(name) === normalized(module)))
          throw new Refusal(
            "MODPROBE_FAILED",
            `modprobe: FATAL: Module ${module} not found in directory /lib/modules/6.12.117`,
          );
      }),
  };
}

// "-" and "_" are the same in a module's name.
function normalized(module: string): string {
  return module.replaceAll("-", "_");
}
