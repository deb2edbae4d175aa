// SPDX-License-Identifier: Apache-2.0
/**
 * clearDriverOverrides completes what a killed daemon may have left undone: a VF is bound to vfio-pci by a driver override,
 * which is removed once the driver is bound (steps/bind-driver.ts). If it stayed, no other driver could ever be bound to the
 * VF by hand. Neither a plan nor the status knows overrides, so this is done once, when the daemon starts.
 */
import { HostError, type Host, type PfRecord } from "@switchyard/host";
import type { Logger } from "@switchyard/service";
import { createWithDeadline, type DeadlineDeps } from "../deadlines/with-deadline.ts";

const driver = "vfio-pci";

/**
 * Removes the overrides of VFs that are bound to vfio-pci on PFs that Switchyard configured. Nothing is written to VFs
 * without override. Errors are only logged.
 */
export async function clearDriverOverrides(
  host: Host,
  { log, ...deps }: DeadlineDeps & { readonly log: Logger },
): Promise<void> {
  const withDeadline = createWithDeadline(host, deps);
  try {
    const cleared = await withDeadline(clearAll);
    if (!cleared.ok) log.warn({ error: cleared.error }, "driver overrides of VFs could not be removed");
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    log.warn({ error }, "driver overrides of VFs could not be removed");
  }
}

async function clearAll({ records, sriov }: Host): Promise<void> {
  for (const [address, record] of await records.list()) {
    if (!bindsToUserSpace(record)) continue;
    const { vfs = [] } = (await sriov.readPf(address))?.sriov ?? {};
    for (const { pciAddress } of vfs) {
      const bound = await sriov.readBinding(pciAddress);
      if (bound?.driver !== driver || bound.driverOverride !== driver) continue;
      await sriov.setDriverOverride(pciAddress, undefined);
    }
  }
}

function bindsToUserSpace({ spec: { externallyManaged, vfGroups = [] } }: PfRecord): boolean {
  return externallyManaged !== true && vfGroups.some(({ deviceType }) => deviceType === driver);
}
