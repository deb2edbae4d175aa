// SPDX-License-Identifier: Apache-2.0
/**
 * ClaimedDevices determines which pods of a node use VFs by ResourceClaims (dynamic resource allocation). The claim of
 * a running pod does not change, so it is read once for each drain and again before the drain is reported as complete.
 * Nothing is watched: only pods with claims, on nodes that are drained, cost requests.
 */
import { resourceClaims, resourceSlices } from "@switchyard/api";
import { isKubeError, listPages, objectPath, type Cache, type ObjectName, type Transport } from "@switchyard/kube";
import {
  createDeviceLookup,
  hasOtherUsers,
  indexSlices,
  managedPfs,
  publishesNics,
  readAllocation,
  readSlice,
  withClaimedVfs,
  type AllocatedDevice,
  type DeviceSlice,
  type DrainedPod,
} from "@switchyard/policy";
import type { CachedNodeState } from "../../facts/cached-node-state.ts";

export interface ClaimedDevices {
  /** Returns the pods of a node, with `holdsVfs` set for those whose claims contain VFs. Rejects with KubeError. */
  resolve(node: string, pods: readonly DrainedPod[], signal: AbortSignal): Promise<readonly DrainedPod[]>;
  /** Reports whether pods may have or get VFs of these PFs that the node state does not show. Rejects with KubeError. */
  hasOtherUsers(
    node: string,
    given: { readonly pods: readonly DrainedPod[]; readonly pfs: readonly string[] },
    signal: AbortSignal,
  ): Promise<boolean>;
  /** Drops what was read for the node, so that the next call reads it again. */
  forget(node: string): void;
}

export interface ClaimedDevicesDeps {
  readonly transport: Transport;
  /** The states of all nodes: the slices of another node can show what kind of devices a driver publishes. */
  readonly states: Pick<Cache<CachedNodeState>, "get">;
}

export function createClaimedDevices({ transport, states }: ClaimedDevicesDeps): ClaimedDevices {
  const readsByNode = new Map<string, NodeReads>();
  const pfsOf = (node: string) => states.get(node)?.pfs ?? [];

  function readerOf(node: string, signal: AbortSignal): Reader {
    const reads: NodeReads = readsByNode.get(node) ?? { claims: new Map(), slices: new Map() };
    readsByNode.set(node, reads);
    return { transport, reads, pfsOf, signal };
  }

  return {
    async hasOtherUsers(node, { pods, pfs }, signal) {
      const reader = readerOf(node, signal);
      await readSlicesOfNode(reader, node);
      const own = pfsOf(node).filter(({ pf }) => pfs.includes(pf));
      const hasOwnDriver = states.get(node)?.offers.hasPublishedVfs === true;
      return hasOtherUsers({ node, pods, slices: slicesIn(reader.reads), pfs: own, hasOwnDriver });
    },

    async resolve(node, pods, signal) {
      const unresolved = pods.filter(
        ({ holdsVfs, claims, isFinished }) => !holdsVfs && !isFinished && claims.length > 0,
      );
      if (unresolved.length === 0) return pods;
      const reader = readerOf(node, signal);
      const { reads } = reader;
      for (const { namespace, claims } of unresolved) {
        for (const name of claims) await readClaim(reader, { namespace, name });
      }
      const allocated = [...reads.claims.values()].flatMap((devices) => devices ?? []);
      if (allocated.length > 0) await readSlicesOfNode(reader, node);
      const index = indexSlices(slicesIn(reads));
      const unknown = allocated.filter((device) => index.addressesOf(device) === undefined);
      for (const [driver, devices] of Map.groupBy(unknown, (device) => device.driver)) {
        await readSlicesOfDriver(reader, driver, new Set(devices.map(({ pool }) => pool)));
      }

      const factsFor = createDeviceLookup({
        slices: slicesIn(reads),
        devicesOf: (namespace, name) => reads.claims.get(`${namespace}/${name}`),
        pfsOf,
      });
      const { spec = {}, pfs = [] } = states.get(node) ?? {};
      return withClaimedVfs(pods, { node, factsFor, isManaged: managedPfs(spec, pfs) });
    },

    forget(node) {
      readsByNode.delete(node);
    },
  };
}

/** Objects that were read for one node. */
interface NodeReads {
  /** By "namespace/name"; undefined for a claim that does not exist. */
  readonly claims: Map<string, readonly AllocatedDevice[] | undefined>;
  /** By field selector. */
  readonly slices: Map<string, readonly DeviceSlice[]>;
}

interface Reader {
  readonly transport: Transport;
  readonly reads: NodeReads;
  readonly pfsOf: (node: string) => CachedNodeState["pfs"];
  readonly signal: AbortSignal;
}

async function readClaim({ transport, reads, signal }: Reader, claim: Required<ObjectName>): Promise<void> {
  const { claims } = reads;
  const key = `${claim.namespace}/${claim.name}`;
  if (claims.has(key)) return;
  try {
    const path = objectPath(resourceClaims, claim);
    claims.set(key, readAllocation(await transport.request({ method: "GET", path, signal })));
  } catch (error) {
    if (!isKubeError(error, "NotFound")) throw error;
    // For a kind that it does not serve, the API server names no object. Kubernetes before 1.34 has no such claims.
    claims.set(key, error.details?.name === undefined ? [] : undefined);
  }
}

async function readSlicesOfNode(reader: Reader, node: string): Promise<void> {
  const { slices } = reader.reads;
  const fieldSelector = `spec.nodeName=${node}`;
  if (slices.has(fieldSelector)) return;
  try {
    slices.set(fieldSelector, await Array.fromAsync(listSlices(reader, fieldSelector)));
  } catch (error) {
    if (!isKubeError(error, "NotFound")) throw error;
    slices.set(fieldSelector, []); // Kubernetes before 1.34 does not serve them
  }
}

/**
 * Reads slices of a driver that publishes nothing, or nothing any more, for the node. It reads the slices of `pools`,
 * which can belong to several nodes, up to the first slice that shows that the driver publishes NICs.
 */
async function readSlicesOfDriver(reader: Reader, driver: string, pools: ReadonlySet<string>): Promise<void> {
  const { reads, pfsOf } = reader;
  const fieldSelector = `spec.driver=${driver}`;
  if (reads.slices.has(fieldSelector)) return;
  const found: DeviceSlice[] = [];
  for await (const slice of listSlices(reader, fieldSelector)) {
    const hasNics = publishesNics(slice, pfsOf);
    if (hasNics || pools.has(slice.pool)) found.push(slice);
    if (hasNics) break;
  }
  reads.slices.set(fieldSelector, found);
}

async function* listSlices({ transport, signal }: Reader, fieldSelector: string): AsyncGenerator<DeviceSlice> {
  for await (const { items } of listPages(transport, { type: resourceSlices, fieldSelector, pageSize: 50, signal })) {
    yield* items.flatMap((item) => readSlice(item) ?? []);
  }
}

function slicesIn({ slices }: NodeReads): readonly DeviceSlice[] {
  return [...slices.values()].flat();
}
