// SPDX-License-Identifier: Apache-2.0
/**
 * createNodeReconciler keeps the ResourceSlices of the node, and the health of its devices, as the kernel, the kubelet, the claims and the
 * SriovNetworkNodeState say. It writes only what differs, and withdraws nothing because something is not known.
 *
 * A node that moves between device plugin and claims follows decideOffer(). Who may offer VFs is read from the API server first, then
 * what the device plugin offers, then who has VFs. The slices are written after that, and the right is passed on last.
 */
import { draDriverName, ok, type ResourceSlice, type SriovNetworkNodeState } from "@switchyard/api";
import type { Boot, Host } from "@switchyard/host";
import type { Reconcile, Writer } from "@switchyard/kube";
import type { DraDeviceHealth } from "@switchyard/kubelet";
import { allocationOf, mayBegin, mayHandOver, type NodeAllocation } from "@switchyard/policy";
import { addressOfDevice, renderResourceSlices, type ClaimRecord, type WithheldFromClaims } from "@switchyard/render";
import type { Logger } from "@switchyard/service";
import type { Problem } from "../health/damp.ts";
import { createNodeHealth, deviceHealth, healthTimeoutSeconds, taintsOf } from "../health/node-health.ts";
import { sliceChanges, type StoredSlice } from "../slices/slice-changes.ts";
import { withheldFromClaims, type KubeletDevices } from "../slices/withheld-from-claims.ts";
import type { NodeReport } from "./hand-over.ts";
import type { KubeletReader } from "./read-kubelet.ts";

export interface NodeReconcilerDeps {
  readonly nodeName: string;
  /** Prefix of resource names, without the slash. */
  readonly resourcePrefix: string;
  readonly host: Pick<Host, "sriov" | "files" | "devlink"> & { readonly boot: Pick<Boot, "readBootId"> };
  /** Returns the state of the node from the cache. */
  readonly state: () => SriovNetworkNodeState | undefined;
  /** Reads who may offer VFs from the API server. Rejects with KubeError. */
  readonly readAllocation: (signal: AbortSignal) => Promise<NodeAllocation>;
  /** Passes the right to offer VFs on to the device plugin. */
  readonly handOver: (signal: AbortSignal) => Promise<void>;
  /** Returns all slices of the node, also of other drivers; undefined until they are known. */
  readonly slices: () => readonly StoredSlice[] | undefined;
  /** Returns the uid of the Node. Rejects with KubeError. */
  readonly readNodeUid: (signal: AbortSignal) => Promise<string>;
  readonly kubelet: Pick<KubeletReader, "read">;
  /** Returns the records of the claims that have VFs. */
  readonly records: () => Promise<readonly ClaimRecord[]>;
  /** Returns the addresses of VFs that are allocated to claims. Asked while the node returns to the device plugin. */
  readonly allocated: (signal: AbortSignal) => Promise<ReadonlySet<string>>;
  readonly writer: Pick<Writer<ResourceSlice>, "apply" | "delete">;
  readonly setHealth: (devices: readonly DraDeviceHealth[]) => void;
  /** Called with what the node state is to say when it may have changed. */
  readonly report: (seen: NodeReport, signal: AbortSignal) => Promise<void>;
  /** A monotonic clock. */
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** The kubelet has no event when a pod ends. */
const heldRetryMs = 10_000;

/** Time for the scheduler to see the taints of VFs before they leave the slices: it may have allocated one meanwhile. */
const leavingMs = 2_000;

/** Counters and reporters of the health of PFs cause no event that the driver reads. */
const healthPollMs = 10_000;

/** Three reports before the kubelet takes the devices for unknown. */
const heartbeatMs = (healthTimeoutSeconds * 1_000) / 3;

export function createNodeReconciler(deps: NodeReconcilerDeps): Reconcile {
  const { nodeName, resourcePrefix, host, writer, log } = deps;
  const health = createNodeHealth({ host, nowMs: deps.nowMs });
  let nodeUid: string | undefined;
  /** Since when VFs are withdrawn because the node returns to the device plugin. */
  let leavingSinceMs: number | undefined;
  const isEarly = (): boolean => leavingSinceMs !== undefined && deps.nowMs() - leavingSinceMs < leavingMs;

  interface View {
    readonly wanted: readonly ResourceSlice[];
    readonly withheld: ReadonlyMap<string, WithheldFromClaims>;
    readonly problems: readonly Problem[];
  }

  async function look(
    state: SriovNetworkNodeState,
    stored: readonly StoredSlice[],
    allocation: NodeAllocation,
    signal: AbortSignal,
  ): Promise<View> {
    const published = publishedIn(stored);
    nodeUid ??= await deps.readNodeUid(signal);
    const node = { nodeName, nodeUid, state, resources: { prefix: resourcePrefix } };
    const candidates = addressesIn(renderResourceSlices({ ...node, withheld: new Map(), taints: new Map() }));
    // VFs that are published already have no other holder: the device plugin does not begin to offer them.
    const isSettled = mayBegin("dra", allocation) && [...candidates].every((address) => published.has(address));
    const kubelet = isSettled ? nobody : await deps.kubelet.read(signal);
    const prepared = preparedIn(await deps.records());
    const isLeaving = !mayBegin("dra", allocation) && published.size > 0;
    leavingSinceMs = isLeaving ? (leavingSinceMs ?? deps.nowMs()) : undefined;
    const kept = isEarly() ? published : new Set<string>();
    const claimed = isLeaving ? new Set([...prepared, ...kept, ...(await deps.allocated(signal))]) : prepared;
    const withheld = withheldFromClaims({
      ...{ state, allocation, kubelet, published, claimed },
      bootId: await host.boot.readBootId(),
      others: othersIn(stored),
    });
    const judgement = await health.look(state, prepared);
    const wanted = renderResourceSlices({ ...node, withheld, taints: taintsOf(judgement) });
    deps.setHealth(deviceHealth(wanted, judgement, { state, nowSeconds: Math.floor(Date.now() / 1_000) }));
    return { wanted, withheld, problems: [...judgement.problems.values()] };
  }

  return async function reconcile(_key, signal) {
    const state = deps.state();
    const stored = deps.slices();
    if (state?.status?.interfaces === undefined || stored === undefined) return undefined; // an event follows
    let allocation = allocationOf(state);
    let view = await look(state, stored, allocation, signal);
    const published = publishedIn(stored);
    const isAdding = [...addressesIn(view.wanted)].some((address) => !published.has(address));
    if (isAdding || mayHandOver("dra", allocation)) {
      allocation = await deps.readAllocation(signal);
      view = await look(state, stored, allocation, signal);
    }
    const changes = sliceChanges(view.wanted, stored);
    for (const { apiVersion: _version, kind: _kind, ...slice } of changes.apply) await writer.apply(slice, signal);
    for (const slice of changes.remove) await writer.delete(slice, signal);
    if (changes.apply.length + changes.remove.length > 0) {
      log.info({ written: changes.apply.length, deleted: changes.remove.length }, "ResourceSlices written");
    }
    await deps.report({ publishedVfs: addressesIn(view.wanted).size, problems: view.problems }, signal);
    if (mayHandOver("dra", allocation)) await deps.handOver(signal);
    const waits = [...view.withheld.values()].some(({ reason }) => pollsFor.has(reason));
    const polls = [waits ? heldRetryMs : Infinity, isEarly() ? leavingMs : Infinity];
    return { afterMs: Math.min(heartbeatMs, healthPollMs, health.nextMs() ?? Infinity, ...polls) };
  };
}

const pollsFor: ReadonlySet<WithheldFromClaims["reason"]> = new Set([
  "held",
  "offered",
  "unknown-holder",
  "moving",
] as const);

/** What the kubelet would say if no device plugin had VFs. */
const nobody = ok<KubeletDevices>({ holders: new Map(), offered: new Set() });

/** Returns the addresses of the VFs that this driver publishes. */
function publishedIn(stored: readonly StoredSlice[]): ReadonlySet<string> {
  return addressesIn(stored.filter(({ spec }) => spec.driver === draDriverName));
}

function addressesIn(slices: readonly StoredSlice[]): ReadonlySet<string> {
  return new Set(slices.flatMap(({ spec }) => (spec.devices ?? []).flatMap(({ name }) => addressOfDevice(name) ?? [])));
}

/** Returns the VFs that claims have, without those that they only observe. */
function preparedIn(records: readonly ClaimRecord[]): ReadonlySet<string> {
  return new Set(
    records.flatMap(({ devices }) => devices.filter(({ isAdmin }) => !isAdmin).map(({ pciAddress }) => pciAddress)),
  );
}

/** Names of other drivers by the address of a device. Their devices have names like those of this driver, or other attributes. */
function othersIn(stored: readonly StoredSlice[]): ReadonlyMap<string, readonly string[]> {
  const others = new Map<string, readonly string[]>();
  for (const { spec } of stored) {
    if (spec.driver === draDriverName) continue;
    for (const { name, attributes = {} } of spec.devices ?? []) {
      const bus = attributes["resource.kubernetes.io/pciBusID"];
      const address = bus !== undefined && "string" in bus ? bus.string : addressOfDevice(name.replace(/^pci-/, ""));
      if (address !== undefined) others.set(address, [...new Set([...(others.get(address) ?? []), spec.driver])]);
    }
  }
  return others;
}
