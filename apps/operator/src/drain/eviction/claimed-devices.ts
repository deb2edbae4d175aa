// SPDX-License-Identifier: Apache-2.0
/**
 * Which pods of a node that is drained hold VFs by ResourceClaims (dynamic resource allocation). A claim of a pod that is on
 * its node does not change, so it is read once for each drain, and again before the drain is called complete. Nothing is
 * watched: only pods with claims on nodes that are drained cost requests.
 * Usage: `const pods = await devices.resolve("worker-1", known, signal); … devices.forget("worker-1");`
 */
import { resourceClaims, resourceSlices } from "@switchyard/api";
import { isKubeError, listPages, objectPath, type Cache, type ObjectName, type Transport } from "@switchyard/kube";
import {
  createDeviceFacts,
  indexSlices,
  podUse,
  publishesNics,
  readAllocation,
  readSlice,
  usesAny,
  type AllocatedDevice,
  type DeviceSlice,
} from "@switchyard/policy";
import type { NodeStateFacts } from "../../node-states/node-state-facts.ts";
import type { PodFacts } from "./pod-facts.ts";

export interface ClaimedDevices {
  /** The pods of a node, with `holdsVfs` as their claims have it. Rejects with KubeError. */
  resolve(node: string, pods: readonly PodFacts[], signal: AbortSignal): Promise<readonly PodFacts[]>;
  /** What was read for the node is read again when asked next. */
  forget(node: string): void;
}

export interface ClaimedDevicesDeps {
  readonly transport: Transport;
  /** Of all nodes: the slices of another one may tell what a driver is for. */
  readonly states: Pick<Cache<NodeStateFacts>, "get">;
}

export function createClaimedDevices({ transport, states }: ClaimedDevicesDeps): ClaimedDevices {
  const known = new Map<string, Known>();
  const pfsOf = (node: string) => states.get(node)?.pfs ?? [];

  async function resolve(node: string, pods: readonly PodFacts[], signal: AbortSignal): Promise<readonly PodFacts[]> {
    const open = pods.filter(({ holdsVfs, claims, isFinished }) => !holdsVfs && !isFinished && claims.length > 0);
    if (open.length === 0) return pods;
    const mine: Known = known.get(node) ?? { claims: new Map(), slices: new Map() };
    known.set(node, mine);
    for (const { namespace, claims } of open) {
      for (const name of claims) await readClaim(mine, { namespace, name }, signal);
    }
    const allocated = [...mine.claims.values()].flatMap((devices) => devices ?? []);
    if (allocated.length > 0) await readNode(mine, node, signal);
    const index = indexSlices(slicesIn(mine));
    const unknown = allocated.filter((device) => index.addressesOf(device) === undefined);
    for (const [driver, devices] of Map.groupBy(unknown, (device) => device.driver)) {
      await readDriver(mine, driver, { pools: new Set(devices.map(({ pool }) => pool)), signal });
    }

    const factsFor = createDeviceFacts({
      slices: slicesIn(mine),
      devicesOf: (namespace, name) => mine.claims.get(`${namespace}/${name}`),
      pfsOf,
    });
    const isOurs = ourPfs(states.get(node));
    return pods.map((pod) => {
      const use = podUse({ resources: [], claims: pod.claims }, factsFor({ node, namespace: pod.namespace }));
      return usesAny(use, isOurs) ? { ...pod, holdsVfs: true } : pod;
    });
  }

  async function readClaim({ claims }: Known, claim: Required<ObjectName>, signal: AbortSignal): Promise<void> {
    const key = `${claim.namespace}/${claim.name}`;
    if (claims.has(key)) return;
    try {
      const path = objectPath(resourceClaims, claim);
      claims.set(key, readAllocation(await transport.request({ method: "GET", path, signal })));
    } catch (error) {
      if (!isKubeError(error, "NotFound")) throw error;
      // Of a kind that it does not serve, the API server names no object: Kubernetes before 1.34 has no such claims.
      claims.set(key, error.details?.name === undefined ? [] : undefined);
    }
  }

  async function readNode({ slices }: Known, node: string, signal: AbortSignal): Promise<void> {
    const fieldSelector = `spec.nodeName=${node}`;
    if (!slices.has(fieldSelector)) slices.set(fieldSelector, await Array.fromAsync(listSlices(fieldSelector, signal)));
  }

  /**
   * Of a driver that has published nothing for the node, or no more: the pools that are asked for, which may belong to
   * several nodes, or else one slice that shows that the driver is one of NICs.
   */
  async function readDriver(
    { slices }: Known,
    driver: string,
    { pools, signal }: { readonly pools: ReadonlySet<string>; readonly signal: AbortSignal },
  ): Promise<void> {
    const fieldSelector = `spec.driver=${driver}`;
    if (slices.has(fieldSelector)) return;
    const found: DeviceSlice[] = [];
    for await (const slice of listSlices(fieldSelector, signal)) {
      const isOfNics = publishesNics(slice, pfsOf);
      if (isOfNics || pools.has(slice.pool)) found.push(slice);
      if (isOfNics) break;
    }
    slices.set(fieldSelector, found);
  }

  async function* listSlices(fieldSelector: string, signal: AbortSignal): AsyncGenerator<DeviceSlice> {
    for await (const { items } of listPages(transport, { type: resourceSlices, fieldSelector, pageSize: 50, signal })) {
      yield* items.flatMap((item) => readSlice(item) ?? []);
    }
  }

  return {
    resolve,
    forget(node) {
      known.delete(node);
    },
  };
}

/** What was read for one node. */
interface Known {
  /** By namespace/name; undefined for one that is not there. */
  readonly claims: Map<string, readonly AllocatedDevice[] | undefined>;
  /** By field selector. */
  readonly slices: Map<string, readonly DeviceSlice[]>;
}

function slicesIn({ slices }: Known): readonly DeviceSlice[] {
  return [...slices.values()].flat();
}

/** PFs that a drain can be about: they are in the spec, or have VFs. Others are left alone, so pods may keep them. */
function ourPfs(state: NodeStateFacts | undefined): (pf: string) => boolean {
  const inSpec = (state?.spec.interfaces ?? []).map(({ pciAddress }) => pciAddress);
  const withVfs = (state?.pfs ?? []).filter(({ vfs }) => vfs.length > 0).map(({ pf }) => pf);
  const ours = new Set([...inSpec, ...withVfs]);
  return (pf) => ours.has(pf);
}
