// SPDX-License-Identifier: Apache-2.0
/**
 * createWithholding finds VFs that must not be offered. Drivers publish them in ResourceSlices, or a pod has them as devices of
 * another resource. The
 * kubelet counts the devices of each resource alone (pkg/kubelet/cm/devicemanager, 1.36). A new resourceName or another
 * split of a PF moves a VF to another resource. Then the kubelet would give the VF of a running pod to a second one.
 *
 * The kubelet is asked only about VFs that the plugin does not offer under this resource already, and about those that the node state
 * shows with a pod of another resource. A second device plugin or a driver has given them to it. So on most nodes the kubelet is never
 * asked, and gRPC is not loaded. While it does not answer, these VFs are withheld, and everything that the plugin offers stays.
 */
import type { Result } from "@switchyard/api";
import type { DeviceHolder, PodName } from "@switchyard/kubelet";
import { decideOffer, mayBegin, type ObservedOffer } from "@switchyard/policy";
import type { DevicePluginConfig } from "@switchyard/render";
import { isErrno } from "@switchyard/service";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { PublishedVfs } from "./published-vfs.ts";
import type { ConfirmedAllocation } from "./hand-over.ts";
import type { HoldersAt } from "./read-holders.ts";

/**
 * Why a VF is withheld: the drivers that publish it, the pods that have it, why the kubelet does not answer, or because the node gives
 * its VFs to ResourceClaims.
 */
export type Withheld =
  | { readonly drivers: readonly string[] }
  | { readonly holders: readonly DeviceHolder[] }
  | { readonly error: string }
  | { readonly moved: true };

/** By the PCI address of the VF. */
export type WithheldVfs = ReadonlyMap<string, Withheld>;

/** The pods that have devices, by the id of the device, and whether a device without a pod may have one nevertheless. */
export interface DeviceHolders {
  readonly byId: ReadonlyMap<string, readonly DeviceHolder[]>;
  readonly isNewKubelet: boolean;
}

/** Returns undefined if the kubelet cannot be asked here at all. */
export type ReadHolders = (signal: AbortSignal) => Promise<Result<DeviceHolders, string> | undefined>;

export interface WithholdingDeps {
  /** Prefix of the resources, without the slash. */
  readonly resourcePrefix: string;
  /** Returns the VFs that the plugin offers, by the name of the resource without prefix. */
  readonly offered: () => Promise<ReadonlyMap<string, ReadonlySet<string>>>;
  readonly readHolders: ReadHolders;
  /** VFs that others publish. On a node that has moved, they are read from the API server. Rejects with KubeError. */
  readonly published: (options: { readonly hasMoved: boolean; readonly signal: AbortSignal }) => Promise<PublishedVfs>;
}

/** The pods that have VFs, as the node state shows them, by the PCI address of the VF. */
export type ReportedHolders = ReadonlyMap<string, DeviceHolder>;

/** Who offers VFs of the node, and who has them. */
export interface NodeOffer {
  readonly allocation: ConfirmedAllocation;
  readonly reported: ReportedHolders;
}

export interface Withholding {
  /** `config` is what would be offered. `afterMs` is set if something has to be checked again without an event. */
  check(
    config: DevicePluginConfig,
    node: NodeOffer,
    signal: AbortSignal,
  ): Promise<{ readonly withheld: WithheldVfs; readonly afterMs: number | undefined }>;
}

/** The kubelet sends no event when a pod ends. */
const heldRetryMs = 10_000;

/** While a node moves to ResourceClaims: until a free VF is withdrawn, the next pod can get it, and the move takes longer. */
const movingRetryMs = 1_000;

/** A kubelet that has just started knows its pods within seconds, and pods wait for their devices meanwhile. */
const startingRetryMs = 2_000;

const startingKubelet = "it has just started, and may not know all pods yet";

/** Until the plugin has restarted, the kubelet can give a VF to a pod under the old name. */
const secondLookMs = 5_000;

export function createWithholding(deps: WithholdingDeps): Withholding {
  const { resourcePrefix, offered, readHolders } = deps;
  /** VFs that were offered lately for the first time, which are looked at again. */
  let recent: ReadonlySet<string> = new Set();

  return {
    check: (config, node, signal) =>
      mayBegin("devicePlugin", node.allocation) ? checkNew(config, node, signal) : checkOld(config, node, signal),
  };

  /** The plugin may offer VFs that it does not offer yet. */
  async function checkNew(config: DevicePluginConfig, { allocation, reported }: NodeOffer, signal: AbortSignal) {
    const before = await offered();
    const isOffered = ({ resourceName, address }: OfferedVf) => before.get(resourceName)?.has(address) === true;
    const published = await deps.published({ hasMoved: allocation.hasMoved, signal });
    const withheld = new Map<string, Withheld>();
    const decide = (vf: OfferedVf, holder: ObservedOffer["holder"]) => {
      const isOfferedByOther = published.has(vf.address);
      return decideOffer("devicePlugin", allocation, { isOffered: isOffered(vf), isOfferedByOther, holder });
    };
    const wanted = vfsOf(config).filter((vf) => {
      if (decide(vf, "free") === undefined) return true;
      withheld.set(vf.address, { drivers: published.get(vf.address) ?? [] });
      return false;
    });
    const reportedElsewhere = (vf: OfferedVf): readonly DeviceHolder[] => {
      const holder = reported.get(vf.address);
      return holder === undefined || holder.resource === fullName(vf) ? [] : [holder];
    };
    const toCheck = wanted.filter((vf) => !isOffered(vf) || recent.has(keyOf(vf)) || reportedElsewhere(vf).length > 0);
    if (toCheck.length === 0) return { withheld, afterMs: undefined };

    const answer = await readHolders(signal);
    if (answer === undefined) return { withheld, afterMs: undefined };
    const isStarting = answer.ok && answer.value.isNewKubelet;
    const unknown = answer.ok ? (isStarting ? startingKubelet : undefined) : answer.error;
    const publishedCount = withheld.size;
    for (const vf of toCheck) {
      const known = answer.ok ? (answer.value.byId.get(vf.address) ?? []) : [];
      const isUnknown = unknown !== undefined && known.length === 0;
      const elsewhere = known.filter(({ resource }) => resource !== fullName(vf));
      // What the node state shows counts, too: a kubelet that has lost its checkpoint lists pods without their devices.
      const holders = elsewhere.length > 0 ? elsewhere : reportedElsewhere(vf);
      if (holders.length > 0) withheld.set(vf.address, { holders });
      else if (isUnknown && decide(vf, "unknown") !== undefined) withheld.set(vf.address, { error: unknown });
    }
    if (unknown === undefined) {
      const added = toCheck.filter((vf) => !isOffered(vf) && !withheld.has(vf.address));
      recent = new Set(added.map(keyOf));
    }
    const again = recent.size > 0 ? secondLookMs : undefined;
    const retryMs = isStarting ? startingRetryMs : heldRetryMs;
    return { withheld, afterMs: withheld.size > publishedCount ? retryMs : again };
  }

  /** The plugin only withdraws: of what it offers, the VFs stay whose pods still run. */
  async function checkOld(config: DevicePluginConfig, { allocation, reported }: NodeOffer, signal: AbortSignal) {
    const before = await offered();
    const wanted = vfsOf(config);
    const isOffered = ({ resourceName, address }: OfferedVf) => before.get(resourceName)?.has(address) === true;
    const answer = wanted.some(isOffered) ? await readHolders(signal) : undefined;
    const holderOf = (vf: OfferedVf): ObservedOffer["holder"] => {
      if (answer?.ok !== true) return "unknown";
      const holders = answer.value.byId.get(vf.address) ?? [];
      const shown = reported.get(vf.address);
      if ([...holders, ...(shown === undefined ? [] : [shown])].some(({ resource }) => resource === fullName(vf)))
        return "own";
      if (holders.length > 0) return "other";
      return answer.value.isNewKubelet ? "unknown" : "free";
    };
    const moved = wanted.filter((vf) => {
      const observed = { isOffered: isOffered(vf), isOfferedByOther: undefined, holder: holderOf(vf) };
      return decideOffer("devicePlugin", allocation, observed) !== undefined;
    });
    const withheld = new Map(moved.map(({ address }): [string, Withheld] => [address, { moved: true }]));
    return { withheld, afterMs: moved.length < wanted.length ? movingRetryMs : undefined };
  }

  function fullName({ resourceName }: OfferedVf): string {
    return `${resourcePrefix}/${resourceName}`;
  }
}

/** Asks the kubelet whose directory this is: /var/lib/kubelet. `ownPod` is the pod of this process, if it is known. */
export function kubeletHolders(kubeletDirectory: string, ownPod?: PodName): ReadHolders {
  const directory = join(kubeletDirectory, "pod-resources");
  let holders: HoldersAt | undefined;
  return async (signal) => {
    if (!(await exists(directory))) return undefined; // a pod that does not mount it, such as one of an older release
    const { holdersAt } = await import("./read-holders.ts");
    holders ??= holdersAt(join(directory, "kubelet.sock"), ownPod);
    return holders(signal);
  };
}

interface OfferedVf {
  readonly resourceName: string;
  readonly address: string;
}

function vfsOf({ resourceList }: DevicePluginConfig): readonly OfferedVf[] {
  return (resourceList ?? []).flatMap(({ resourceName, selectors }) =>
    (selectors.pciAddresses ?? []).map((address) => ({ resourceName, address })),
  );
}

function keyOf({ resourceName, address }: OfferedVf): string {
  return `${resourceName} ${address}`;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isErrno(error, "ENOENT") || isErrno(error, "ENOTDIR")) return false;
    throw error;
  }
}
