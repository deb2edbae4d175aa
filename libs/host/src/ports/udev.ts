// SPDX-License-Identifier: Apache-2.0
import type { PciAddress } from "@switchyard/api";

/** Udev is the port for udev, which names network interfaces after the kernel has created them. */
export interface Udev {
  /**
   * Resolves when udev has handled all events; at once if udev does not run. Rejects with HostError ETIMEDOUT, and with the
   * reason of the signal when it aborts.
   */
  settle(options: SettleOptions): Promise<void>;
  /**
   * Makes udev read its rules again, and resolves when it has. At once if udev does not run. Without this call, udev notices
   * changed files at the next event, but not within three seconds after its last check (systemd 257).
   */
  reloadRules(): Promise<void>;
}

export interface SettleOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /**
   * Does not wait for the events of other devices once the interfaces of this PF and of its VFs have their final names, and each
   * VF has a driver and an interface. As long as a VF lacks one, udev may yet load its driver, and all events are waited for.
   */
  readonly pf?: PciAddress;
}
