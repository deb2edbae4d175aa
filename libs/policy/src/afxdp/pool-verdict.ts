// SPDX-License-Identifier: Apache-2.0
/**
 * poolVerdict says whether a node offers a pool completely: a pod that requests a device of it gets one that works. Pure.
 * Usage: `const { kind, message } = poolVerdict("fast", state);`
 */
import type { AfxdpInterfaceSpec, AfxdpNetworkNodeState } from "@switchyard/api";

export interface PoolVerdict {
  /** Configuring: the node has not finished, or its device plugin has not seen the pool yet. */
  readonly kind: "ready" | "configuring" | "failed";
  /** Why it has failed; empty otherwise. */
  readonly message: string;
}

/**
 * The caller has compared generations. Without a report of the node's device plugin, its absence is in the conditions of the
 * AfxdpOperatorConfig, and the node alone counts.
 */
export function poolVerdict(
  poolName: string,
  { spec, status }: Pick<AfxdpNetworkNodeState, "spec" | "status">,
): PoolVerdict {
  if (status?.syncStatus === "Failed") return { kind: "failed", message: status.lastSyncError ?? "" };
  if (status?.syncStatus !== "Succeeded") return { kind: "configuring", message: "" };
  if (status.pools === undefined) return { kind: "ready", message: "" };
  const pool = status.pools.find(({ name }) => name === poolName);
  if (pool === undefined) return { kind: "configuring", message: "" };
  if (pool.error) return { kind: "failed", message: `pool ${poolName}: ${pool.error}` };
  const { announced = 0 } = pool;
  const requested = devicesIn(poolName, spec?.interfaces);
  if (announced >= requested) return { kind: "ready", message: "" };
  const message = `pool ${poolName}: ${announced} of ${requested} devices are announced to the kubelet`;
  return { kind: "failed", message };
}

/** Number of devices that a pool must have: its devices, or their subfunctions. */
function devicesIn(poolName: string, interfaces: readonly AfxdpInterfaceSpec[] = []): number {
  const inPool = interfaces.filter((one) => one.poolName === poolName);
  return inPool.reduce((count, { mode, numSfs = 0 }) => count + (mode === "primary" ? 1 : numSfs), 0);
}
