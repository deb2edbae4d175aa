// SPDX-License-Identifier: Apache-2.0
/** nodePools returns the pools that a node offers, from its AfxdpNetworkNodeState. Pure. */
import {
  isUserSpaceDriver,
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
/** Uses by the host that are shown. */
const maxUses = 4;
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
    const ofPool = problems.get(pool) ?? [];
    ofPool.push(problem);
    problems.set(pool, ofPool);
  };
  // The first of two with the same key counts.
  const reported = new Map((status?.interfaces ?? []).toReversed().map((one) => [deviceKey(one), one] as const));
  const interfacesOf = Map.groupBy(spec?.interfaces ?? [], ({ poolName }) => poolName);
  const variables = new Map<string, string>();

  const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);
  const pools = (spec?.pools ?? [])
    .filter(({ name }) => isPoolName(name))
    .toSorted(byName)
    .flatMap((pool) => {
      const same = variables.get(pool.name.toUpperCase());
      if (same !== undefined) {
        report(pool.name, `pool ${same} has the same name in capital letters, which name the variable in pods`);
        return [];
      }
      variables.set(pool.name.toUpperCase(), pool.name);
      const inPool = known.find(({ name }) => name === pool.name)?.devices ?? [];
      const found = (interfacesOf.get(pool.name) ?? [])
        .filter(({ mode }) => mode === pool.mode)
        .flatMap((one) => {
          const { devices, missing } = devicesOf(one, { reported, pool, knownDevices, known: inPool });
          for (const problem of missing) report(pool.name, problem);
          return devices;
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
  /** By their keys. */
  readonly reported: ReadonlyMap<string, AfxdpInterfaceStatus>;
  readonly pool: AfxdpPoolSpec;
  readonly knownDevices: ReadonlyMap<string, PoolDevice>;
  /** Devices of the pool before. */
  readonly known: readonly PoolDevice[];
}

interface FoundDevices {
  readonly devices: readonly PoolDevice[];
  /** Why devices that the spec requests are not offered. */
  readonly missing: readonly string[];
}

/**
 * Returns the devices of an interface that the node has reported: itself or its subfunctions. Those of an interface that is
 * missing in the report stay: a device that is not on the PCI bus has no status while it is in a pod.
 */
function devicesOf(wanted: AfxdpInterfaceSpec, { reported, pool, knownDevices, known }: ObservedPool): FoundDevices {
  const key = deviceKey(wanted);
  const isPrimary = wanted.mode === "primary";
  const observed = reported.get(key);
  if (observed === undefined) {
    const devices = known.filter((one) => (isPrimary ? one.key === key : one.key.startsWith(subfunctionKey(key, ""))));
    return { devices, missing: devices.length > 0 ? [] : [`device ${key}: the node does not report it`] };
  }
  const node = pool.excludeTopology === true ? undefined : observed.numaNode;
  const topology = node === undefined || node < 0 ? {} : { numaNode: node };
  const missing: string[] = [];
  const device = (one: {
    readonly key: string;
    readonly id: string | undefined; // undefined: the name
    readonly name?: string;
    readonly lastName?: string | undefined;
    readonly driver?: string;
    readonly queues?: number;
  }): readonly PoolDevice[] => {
    const name = one.name ?? knownDevices.get(one.key)?.name ?? one.lastName;
    const why = name === undefined || isUserSpaceDriver(one.driver ?? "") ? noInterface(one.driver) : undefined;
    if (why !== undefined) missing.push(`device ${one.key}: ${why}`);
    if (name === undefined || why !== undefined) return [];
    return [{ ...topology, id: one.id ?? name, name, key: one.key, queues: one.queues ?? defaultQueues }];
  };
  if (isPrimary) {
    // Without a record of the plugin, the spec has the name that a device in a pod had on the host.
    const lastName = observed.owned === true ? wanted.name : undefined;
    return { devices: device({ ...observed, key, id: observed.pciAddress, lastName }), missing };
  }
  const inPool = (observed.subfunctions ?? []).filter(({ poolName }) => poolName === pool.name);
  const devices = inPool.flatMap((one) => {
    const own = subfunctionKey(key, one.sfNumber);
    if (one.usedBy !== undefined && one.usedBy.length > 0) {
      missing.push(`device ${own}: the host uses it: ${one.usedBy.slice(0, maxUses).join(", ")}`);
      return [];
    }
    const id = one.device === undefined ? knownDevices.get(own)?.id : auxiliaryDevice(one.device);
    if (id !== undefined) return device({ ...one, key: own, id });
    missing.push(`device ${own}: ${one.state === "active" ? "no driver is bound to it" : "it is not active"}`);
    return [];
  });
  const { numSfs = 0 } = wanted;
  if (inPool.length < numSfs) missing.push(`device ${key}: it has ${inPool.length} of ${numSfs} subfunctions`);
  return { devices, missing };
}

function noInterface(driver: string | undefined): string {
  if (driver === undefined) return "it has no network interface: no driver is bound to it";
  if (isUserSpaceDriver(driver)) return `it has no network interface: it is bound to ${driver}`;
  return `its driver ${driver} has created no network interface on the host`;
}

/**
 * isPoolName checks names of pools from the API, which become parts of environment variables.
 * As the API restricts the names of pools.
 */
export function isPoolName(text: string): boolean {
  return /^[a-zA-Z0-9]{1,20}$/.test(text);
}
