// SPDX-License-Identifier: Apache-2.0
/** Udev is the port for udev, which names network interfaces after the kernel has created them. */
export interface Udev {
  /**
   * Resolves when udev has handled all events; at once if udev does not run. Rejects with HostError ETIMEDOUT, and with the
   * reason of the signal when it aborts.
   */
  settle(options: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<void>;
}
