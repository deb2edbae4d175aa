// SPDX-License-Identifier: Apache-2.0
/**
 * Port: devlink, the control interface of a NIC's embedded switch.
 */
import type { PciAddress } from "@switchyard/api";

export type EswitchMode = "legacy" | "switchdev";

/** Devlink instances of PCI functions. Rejects with HostError only. */
export interface Devlink {
  /** undefined where the driver has no devlink instance or no eswitch: such a NIC is always in legacy mode. */
  readEswitchMode(pf: PciAddress): Promise<EswitchMode | undefined>;
}
