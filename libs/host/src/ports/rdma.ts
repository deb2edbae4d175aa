// SPDX-License-Identifier: Apache-2.0
/**
 * Port: the RDMA subsystem (ib_core).
 */

/** Whether RDMA devices are visible in all network namespaces (shared) or in one each (exclusive). */
export type RdmaMode = "shared" | "exclusive";

/** Rejects with HostError only. */
export interface Rdma {
  /** undefined where ib_core is not loaded, or older than the modes (Linux 5.2). Never loads it. */
  readMode(): Promise<RdmaMode | undefined>;
}
