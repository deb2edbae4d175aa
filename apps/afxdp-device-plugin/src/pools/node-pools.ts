// SPDX-License-Identifier: Apache-2.0
/** nodePools returns the pools that a node offers, from its AfxdpNetworkNodeState. Pure. */
import {
  afxdpResourcePrefix,
  isInterfaceName,
  type AfxdpInterfaceSpec,
  type AfxdpInterfaceStatus,
  type AfxdpNetworkNodeState,
  type AfxdpPoolSpec,
} from "@switchyard/api";
import { deviceKey, subfunctionKey } from "@switchyard/policy";
import { auxiliaryDevice, isDeviceId, type DeviceId } from "./device.ts";

/** A pool with its devices. It is also what the record keeps. */
export interface NodePool {
  /** Letters and digits. */
  readonly name: string;
  readonly hasSocket: boolean;
  readonly hasPinnedMap: boolean;
  /** Time after which a silent connection is closed; 0 for never. */
  readonly idleTimeoutMs: number;
  readonly uid: number;
  readonly requiresUnprivilegedBpf: boolean;
  /** Sorted by name. */
  readonly devices: readonly PoolDevice[];
}

export interface PoolDevice extends DeviceId {
  /** Identifies the device while its name is not known because it is in a pod: "0000:86:00.0", "0000:86:00.0/sf/4", "veth0". */
  readonly key: string;
  /** Queues that its map has room for. */
  readonly queues: number;
  /** Absent if the device has none, or if the pool hides it. */
  readonly numaNode?: number;
}

export interface PoolsOfNode {
  /** Sorted by name. */
  readonly pools: readonly NodePool[];
  /** Why a pool does not offer something, by the name of the pool. */
  readonly problems: ReadonlyMap<string, readonly string[]>;
}

const defaultIdleSeconds = 30;
/** For devices whose number of queues is unknown. Sockets cannot use more queues than the device has. */
const defaultQueues = 64;

/** Reports whether the devices of the pool need an XDP program. */
export function needsProgram({ hasSocket, hasPinnedMap }: Pick<NodePool, "hasSocket" | "hasPinnedMap">): boolean {
  return hasSocket || hasPinnedMap;
}

/** Returns the name of the extended resource of a pool. */
export function resourceOf(pool: Pick<NodePool, "name">): string {
  return `${afxdpResourcePrefix}/${pool.name}`;
}

/** `known` are the pools before, by which devices in pods keep their names, and subfunctions their ids. */
export function nodePools(
  { spec, status }: Pick<AfxdpNetworkNodeState, "spec" | "status">,
  known: readonly NodePool[],
): PoolsOfNode {
  const knownDevices = new Map(known.flatMap(({ devices }) => devices.map((device) => [device.key, device] as const)));
  const problems = new Map<string, string[]>();
  const taken = new Map<string, string>();
  const report = (pool: string, problem: string): void => {
    problems.set(pool, [...(problems.get(pool) ?? []), problem]);
  };

  const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);
  const pools = (spec?.pools ?? [])
    .filter(({ name }) => isPoolName(name))
    .toSorted(byName)
    .flatMap((pool, at, all) => {
      const same = all.slice(0, at).find(({ name }) => name.toUpperCase() === pool.name.toUpperCase());
      if (same !== undefined) {
        report(pool.name, `pool ${same.name} has the same name in capital letters, which name the variable in pods`);
        return [];
      }
      const found = (spec?.interfaces ?? [])
        .filter(({ poolName, mode }) => poolName === pool.name && mode === pool.mode)
        .flatMap((one) => {
          const inPool = known.find(({ name }) => name === pool.name)?.devices ?? [];
          return devicesOf(one, { status: status?.interfaces ?? [], pool, knownDevices, known: inPool });
        });
      const devices = found.filter(({ id, name, key }) => {
        const problem = problemOf({ id, name }, taken.get(name) ?? taken.get(id));
        if (problem !== undefined) report(pool.name, `device ${key}: ${problem}`);
        else for (const own of [id, name]) taken.set(own, pool.name);
        return problem === undefined;
      });
      return [{ ...settingsOf(pool), devices: devices.toSorted(byName) }];
    });
  return { pools, problems };
}

function problemOf({ id, name }: DeviceId, takenBy: string | undefined): string | undefined {
  if (!isInterfaceName(name)) return `"${name}" is no name of a network interface`;
  if (!isDeviceId(id)) return `"${id}" is no PCI address`;
  return takenBy === undefined ? undefined : `a device ${name} is already in pool ${takenBy}`;
}

function settingsOf(pool: AfxdpPoolSpec): Omit<NodePool, "devices"> {
  const { name, udsServer = true, bpfMapPinning = false, udsTimeout = 0, uid = 0 } = pool;
  const seconds = udsTimeout === 0 ? defaultIdleSeconds : Math.max(udsTimeout, 0);
  return {
    name,
    uid,
    hasSocket: udsServer,
    hasPinnedMap: bpfMapPinning,
    idleTimeoutMs: seconds * 1000,
    requiresUnprivilegedBpf: pool.requiresUnprivilegedBpf === true,
  };
}

interface ObservedPool {
  readonly status: readonly AfxdpInterfaceStatus[];
  readonly pool: AfxdpPoolSpec;
  readonly knownDevices: ReadonlyMap<string, PoolDevice>;
  /** Devices of the pool before. */
  readonly known: readonly PoolDevice[];
}

/**
 * Returns the devices of an interface that the node has reported: itself or its subfunctions. Those of an interface that is
 * missing in the report stay: a device that is not on the PCI bus has no status while it is in a pod.
 */
function devicesOf(
  wanted: AfxdpInterfaceSpec,
  { status, pool, knownDevices, known }: ObservedPool,
): readonly PoolDevice[] {
  const key = deviceKey(wanted);
  const observed = status.find((one) =>
    wanted.pciAddress === undefined ? one.pciAddress === undefined && one.name === key : one.pciAddress === key,
  );
  if (observed === undefined) {
    const isPrimary = wanted.mode === "primary";
    return known.filter((device) => (isPrimary ? device.key === key : device.key.startsWith(subfunctionKey(key, ""))));
  }
  const node = pool.excludeTopology === true ? undefined : observed.numaNode;
  const topology = node === undefined || node < 0 ? {} : { numaNode: node };
  const device = (one: {
    readonly key: string;
    readonly id: string | undefined; // undefined: the name
    readonly name?: string;
    readonly queues?: number;
  }): readonly PoolDevice[] => {
    const name = one.name ?? knownDevices.get(one.key)?.name;
    if (name === undefined) return [];
    return [{ ...topology, id: one.id ?? name, name, key: one.key, queues: one.queues ?? defaultQueues }];
  };
  if (wanted.mode === "primary") return device({ ...observed, key, id: observed.pciAddress });
  return (observed.subfunctions ?? [])
    .filter(({ poolName }) => poolName === pool.name)
    .flatMap((one) => {
      const own = subfunctionKey(key, one.sfNumber);
      const id = one.device === undefined ? knownDevices.get(own)?.id : auxiliaryDevice(one.device);
      return id === undefined ? [] : device({ ...one, key: own, id });
    });
}

/**
 * isPoolName checks names of pools from the API, which become parts of environment variables.
 * As the API restricts the names of pools.
 */
export function isPoolName(text: string): boolean {
  return /^[a-zA-Z0-9]{1,20}$/.test(text);
}
