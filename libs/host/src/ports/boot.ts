// SPDX-License-Identifier: Apache-2.0
/**
 * Port: which start of the machine this is.
 */

export interface Boot {
  /** A UUID, another one each time the kernel starts (random(4)). */
  readBootId(): Promise<string>;
}
