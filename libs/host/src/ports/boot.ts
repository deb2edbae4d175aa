// SPDX-License-Identifier: Apache-2.0
/** Boot is the port that identifies the running boot of the host. */
export interface Boot {
  /** Returns a UUID that changes each time the kernel starts (random(4)). Rejects with HostError. */
  readBootId(): Promise<string>;
}
