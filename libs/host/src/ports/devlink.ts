// SPDX-License-Identifier: Apache-2.0
/**
 * Devlink is the port for devlink, the control interface of the embedded switch of a NIC.
 */
import type { PciAddress } from "@switchyard/api";

export type EswitchMode = "legacy" | "switchdev";

/** Rejects with HostError only. */
export interface Devlink {
  /** Returns undefined if the driver has no devlink instance or no eswitch. Such a NIC is always in legacy mode. */
  readEswitchMode(pf: PciAddress): Promise<EswitchMode | undefined>;
}
