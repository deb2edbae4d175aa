// SPDX-License-Identifier: Apache-2.0
/**
 * Port: udev, which names network interfaces after the kernel made them.
 */

export interface Udev {
  /**
   * Resolves when udev has no event in hand; at once where no udev runs. Rejects with HostError ETIMEDOUT, and with the
   * signal's reason when it aborts.
   */
  settle(options: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<void>;
}
