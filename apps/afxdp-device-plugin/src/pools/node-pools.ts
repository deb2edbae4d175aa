// SPDX-License-Identifier: Apache-2.0
/**
 * nodePools returns the pools that a node offers, from its AfxdpNetworkNodeState. Pure.
 * Usage: `const pools = nodePools(state, record.pools);`
 */
import {
  afxdpResourcePrefix,
  type AfxdpInterfaceSpec,
  type AfxdpInterfaceStatus,
  type AfxdpNetworkNodeState,
  type AfxdpPoolSpec,
} from "@switchyard/api";
import { isDeviceName, isPoolName } from "./device-name.ts";

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

export interface PoolDevice {
  /** Name of the network interface in the network namespace of the host, and the id of the device. */
  readonly name: string;
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

/** Returns the name of the extended resource of a pool. */
export function resourceOf(pool: Pick<NodePool, "name">): string {
  return `${afxdpResourcePrefix}/${pool.name}`;
}

/** `known` are the pools before, by which devices in pods keep their names. */
export function nodePools(
  { spec, status }: Pick<AfxdpNetworkNodeState, "spec" | "status">,
  known: readonly NodePool[],
): PoolsOfNode {
  const knownNames = new Map(known.flatMap(({ devices }) => devices.map(({ key, name }) => [key, name] as const)));
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
          return devicesOf(one, { status: status?.interfaces ?? [], pool, knownNames, known: inPool });
        });
      const devices = found.filter(({ name, key }) => {
        const problem = problemOf(name, taken.get(name));
        if (problem !== undefined) report(pool.name, `device ${key}: ${problem}`);
        else taken.set(name, pool.name);
        return problem === undefined;
      });
      return [{ ...settingsOf(pool), devices: devices.toSorted(byName) }];
    });
  return { pools, problems };
}

function problemOf(name: string, takenBy: string | undefined): string | undefined {
  if (!isDeviceName(name)) return `"${name}" is no name of a network interface`;
  return takenBy === undefined ? undefined : `a device ${name} is already in pool ${takenBy}`;
}

function settingsOf(pool: AfxdpPoolSpec): Omit<NodePool, "devices"> {
  const { name, udsServer = true, bpfMapPinning = false, udsTimeout = 0, uid = 0 } = pool;
  const seconds = udsTimeout === 0 ? defaultIdleSeconds : Math.max(udsTimeout, 0);
  return {
    ...{ name, uid, hasSocket: udsServer, hasPinnedMap: bpfMapPinning, idleTimeoutMs: seconds * 1000 },
    requiresUnprivilegedBpf: pool.requiresUnprivilegedBpf === true,
  };
}

interface Observed {
  readonly status: readonly AfxdpInterfaceStatus[];
  readonly pool: AfxdpPoolSpec;
  readonly knownNames: ReadonlyMap<string, string>;
  /** Devices of the pool before. */
  readonly known: readonly PoolDevice[];
}

/**
 * Returns the devices of an interface that the node has reported: itself or its subfunctions. Those of an interface that is
 * missing in the report stay: a device that is not on the PCI bus has no status while it is in a pod.
 */
function devicesOf(wanted: AfxdpInterfaceSpec, { status, pool, knownNames, known }: Observed): readonly PoolDevice[] {
  const key = wanted.pciAddress ?? wanted.name ?? "";
  const observed = status.find((one) =>
    wanted.pciAddress === undefined ? one.pciAddress === undefined && one.name === key : one.pciAddress === key,
  );
  if (observed === undefined) {
    const isPrimary = wanted.mode === "primary";
    return known.filter((device) => (isPrimary ? device.key === key : device.key.startsWith(subfunctionKey(key, ""))));
  }
  const node = pool.excludeTopology === true ? undefined : observed.numaNode;
  const topology = node === undefined || node < 0 ? {} : { numaNode: node };
  const device = (one: { readonly key: string; readonly name?: string; readonly queues?: number }) => {
    const name = one.name ?? knownNames.get(one.key);
    return name === undefined ? [] : [{ ...topology, name, key: one.key, queues: one.queues ?? defaultQueues }];
  };
  if (wanted.mode === "primary") return device({ ...observed, key });
  return (observed.subfunctions ?? [])
    .filter(({ poolName }) => poolName === pool.name)
    .flatMap((one) => device({ ...one, key: subfunctionKey(key, one.sfNumber) }));
}

function subfunctionKey(device: string, sfNumber: number | ""): string {
  return `${device}/sf/${sfNumber}`;
}
