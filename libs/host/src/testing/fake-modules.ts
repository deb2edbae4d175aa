// SPDX-License-Identifier: Apache-2.0
/**
 * KernelModules on the fake kernel: a driver registers when its module is loaded.
 * Usage: `const modules = createFakeModules(bus, new Set(["igbvf"]))`.
 */
import type { KernelModules } from "../kernel-modules.ts";
import type { PciBus } from "./fake-pci.ts";
import { answer, Refusal } from "./refusal.ts";

/** `drivers` are the PCI drivers that there are modules for; the set may grow. */
export function createFakeModules(bus: PciBus, drivers: ReadonlySet<string>): KernelModules {
  return {
    load: (module) =>
      answer(() => {
        const driver = [...drivers].find((name) => normalized(name) === normalized(module));
        if (driver !== undefined) bus.register(driver);
        else if (!driverless.has(normalized(module)))
          throw new Refusal(
            "MODPROBE_FAILED",
            `modprobe: FATAL: Module ${module} not found in directory /lib/modules/6.12.117`,
          );
      }),
  };
}

/** Modules that upstream's daemon loads too, and that drive no PCI function. */
const driverless: ReadonlySet<string> = new Set(["vfio", "tun", "vhost_net"]);

// "-" and "_" are the same in a module's name.
function normalized(module: string): string {
  return module.replaceAll("-", "_");
}
