// SPDX-License-Identifier: Apache-2.0
/**
 * Devlink is the port for devlink, the control interface of the embedded switch of a NIC.
 */
import type { PciAddress } from "@switchyard/api";

export type EswitchMode = "legacy" | "switchdev";

/** Rejects with HostError only. */
export interface Devlink {
  /** Returns undefined if the driver has no devlink instance, or no eswitch that belongs to the host. Such a NIC is in legacy mode. */
  readEswitchMode(pf: PciAddress): Promise<EswitchMode | undefined>;
  /**
   * Changes the mode, which can take a second for each VF. Its inline mode and its encapsulation mode stay. EOPNOTSUPP without
   * an eswitch, and on ice while VFs exist; EBUSY on mlx5_core while drivers are bound to VFs.
   */
  setEswitchMode(pf: PciAddress, mode: EswitchMode): Promise<void>;
  /** Returns the present value of a parameter of the driver; undefined if it does not have such a parameter with a text. */
  readParameter(pf: PciAddress, name: string): Promise<string | undefined>;
  /** Changes a parameter until the driver is unbound. EINVAL for an unknown parameter or value, ENODEV without devlink. */
  setParameter(pf: PciAddress, name: string, value: string): Promise<void>;
}
