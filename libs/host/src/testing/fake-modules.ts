// SPDX-License-Identifier: Apache-2.0
/** Implements KernelModules on the fake kernel. A driver registers when its module is loaded. */
import { checkKernelName } from "../linux/system/kernel-names.ts";
import type { KernelModules } from "../ports/kernel.ts";
import type { PciBus } from "./fake-pci.ts";
import type { FakeRdma } from "./fake-rdma.ts";
import type { FakeVdpa } from "./fake-vdpa.ts";
import { answer, Refusal } from "./faults.ts";

export interface FakeModulesDeps {
  readonly bus: PciBus;
  readonly rdma: FakeRdma;
  readonly vdpa: FakeVdpa;
  /** PCI drivers that have a module. The set may grow. */
  readonly drivers: ReadonlySet<string>;
  /** The IOMMU of the machine, and whether vfio can work without one. */
  readonly iommu: FakeIommu;
}

export interface FakeIommu {
  readonly exists: () => boolean;
  /** Whether the kernel was built with CONFIG_VFIO_NOIOMMU. */
  readonly canBeAbsent: boolean;
  isNoIommuOn: boolean;
}

export function createFakeModules({ bus, rdma, vdpa, drivers, iommu }: FakeModulesDeps): KernelModules {
  return {
    load: (module) =>
      answer(() => {
        checkKernelName(module);
        const driver = [...drivers].find((name) => normalized(name) === normalized(module));
        if (driver !== undefined) bus.register(driver);
        else if (normalized(module) === "ib_core") rdma.load();
        else if (vdpaDrivers.has(normalized(module))) vdpa.register(normalized(module));
        else if (!driverless.has(normalized(module)))
          throw new Refusal(
            "MODPROBE_FAILED",
            `modprobe: FATAL: Module ${module} not found in directory /lib/modules/6.12.117`,
          );
      }),
    enableNoIommu: () =>
      answer(() => {
        if (iommu.exists()) return;
        if (!iommu.canBeAbsent) throw new Refusal("ENOENT");
        iommu.isNoIommuOn = true;
      }),
  };
}

/** Their drivers have the names of the modules. */
const vdpaDrivers: ReadonlySet<string> = new Set(["virtio_vdpa", "vhost_vdpa"]);

/** Modules that upstream's daemon loads, too. They are not PCI drivers. */
const driverless: ReadonlySet<string> = new Set(["vfio", "tun", "vhost_net"]);

// "-" and "_" are equivalent in the name of a module.
function normalized(module: string): string {
  return module.replaceAll("-", "_");
}
