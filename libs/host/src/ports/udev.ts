// SPDX-License-Identifier: Apache-2.0
/** Udev is the port for udev, which names network interfaces after the kernel has created them. */
export interface Udev {
  /**
   * Resolves when udev has handled all events; at once if udev does not run. Rejects with HostError ETIMEDOUT, and with the
   * reason of the signal when it aborts.
   */
  settle(options: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<void>;
  /**
   * Makes udev read its rules again, and resolves when it has. At once if udev does not run. Without this call, udev notices
   * changed files at the next event, but not within three seconds after its last check (systemd 257).
   */
  reloadRules(): Promise<void>;
}
