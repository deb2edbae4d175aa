// SPDX-License-Identifier: Apache-2.0
/** The card of a virtual machine: the hypervisor has passed it to the machine, and it has no VFs but itself. */
import type { InterfaceStatus } from "@switchyard/api";

/** Reports whether the card is its own VF. */
export function isVirtualNic({ pciAddress, Vfs = [] }: InterfaceStatus): boolean {
  return Vfs[0]?.pciAddress === pciAddress;
}
