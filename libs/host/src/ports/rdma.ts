// SPDX-License-Identifier: Apache-2.0
/**
 * Rdma is the port for the RDMA subsystem (ib_core).
 */

/** RDMA devices are visible in all network namespaces (shared), or each in one (exclusive). */
export type RdmaMode = "shared" | "exclusive";

/** Rejects with HostError only. */
export interface Rdma {
  /** Returns undefined if ib_core is not loaded, or too old to have modes (before Linux 5.2). Never loads ib_core. */
  readMode(): Promise<RdmaMode | undefined>;
}
