// SPDX-License-Identifier: Apache-2.0
/**
 * poolRows returns status.pools of the AfxdpNetworkNodeState: what the kubelet has of each pool, and why something is missing. The
 * functions in this file are pure.
 */
import { afxdpResourcePrefix, type AfxdpPoolSpec, type AfxdpPoolStatus } from "@switchyard/api";
import type { DevicesByResource } from "@switchyard/kubelet";
import type { AfxdpPluginsDevice, RenderedAfxdpPlugins } from "@switchyard/render";

export interface PoolRowInput {
  /** Pools in the spec of the node state. */
  readonly pools: readonly AfxdpPoolSpec[];
  /** The healthy devices that the kubelet has. Undefined if it does not answer. */
  readonly offered: DevicesByResource | undefined;
  /** Devices that the plugin does not announce, for a reason that restarts did not remove or have not removed yet. */
  readonly stuck: readonly AfxdpPluginsDevice[];
  /** Why they are missing: "it has been restarted 3 times". */
  readonly stuckText?: string;
  /** Why the kubelet does not answer. */
  readonly kubeletError?: string | undefined;
}

const maxErrorCharacters = 1_000;
const maxNamed = 8;

/** Returns the devices on the host that the plugin should have announced and the kubelet does not have. */
export function missingDevices(
  { devices }: RenderedAfxdpPlugins,
  offered: DevicesByResource,
): readonly AfxdpPluginsDevice[] {
  return devices.filter(({ poolName, name, isOnHost }) => isOnHost && !offeredOf(poolName, offered).has(name));
}

/** Sorted by name. A pool that is not offered has a row, too. */
export function poolRows(
  { problems }: RenderedAfxdpPlugins,
  { pools, offered, stuck, stuckText = "", kubeletError }: PoolRowInput,
): readonly AfxdpPoolStatus[] {
  return [...new Set(pools.map(({ name }) => name))].sort().map((name): AfxdpPoolStatus => {
    const own = problems.filter(({ poolName }) => poolName === name).map(({ message }) => message);
    const missing = stuck.filter(({ poolName }) => poolName === name).map((device) => device.name);
    if (missing.length > 0)
      own.push(`the device plugin does not announce ${list(missing)} to the kubelet: ${stuckText}`);
    if (kubeletError !== undefined) own.push(`the kubelet does not say what it offers: ${kubeletError}`);
    const error = own.join("; ").slice(0, maxErrorCharacters);
    const count = offered && offeredOf(name, offered).size;
    return {
      name,
      ...(count !== undefined && { announced: count, allocatable: count }),
      ...(error !== "" && { error }),
    };
  });
}

function offeredOf(poolName: string, offered: DevicesByResource): ReadonlySet<string> {
  return offered.get(`${afxdpResourcePrefix}/${poolName}`) ?? new Set();
}

function list(names: readonly string[]): string {
  const more = names.length - maxNamed;
  return names.slice(0, maxNamed).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
