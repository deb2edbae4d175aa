// SPDX-License-Identifier: Apache-2.0
/**
 * MovingNode is a node that is API objects only: a kubelet, a device plugin with its sidecar, and a driver of ResourceClaims, reduced to who
 * gives which VF to which pod. Sidecar and driver follow decideOffer() and write real ResourceSlices, so that a real scheduler places
 * pods.
 *
 * After each step it records whether a VF is offered twice or has two holders.
 */
import { nodes, resourceSlices, type ResourceSlice, type SriovNetworkNodeState } from "@switchyard/api";
import { collectionPath, isRecord, objectPath, type Transport } from "@switchyard/kube";
import { decideOffer, mayBegin, mayHandOver, type Allocator, type NodeAllocation } from "@switchyard/policy";
import { renderResourceSlices, type WithheldFromClaims } from "@switchyard/render";
import type { PodOnNode } from "@switchyard/test-cluster";
import { createNodePods, type NodePods } from "./node-pods.ts";

/** Full name of the resource that all VFs belong to. */
export const resource = "openshift.io/fast";

/** Time for the scheduler to see that VFs are withdrawn before they leave the slices. */
const graceMs = 2_000;

export interface MovingNodeOptions {
  readonly transport: Transport;
  readonly name: string;
  readonly vfs: number;
  readonly nowMs: () => number;
}

export class MovingNode {
  /** What was wrong at any moment. */
  readonly violations: string[] = [];
  /** Number of moments that were looked at. */
  moments = 0;
  allocation: NodeAllocation = { wanted: "devicePlugin", offeredBy: "devicePlugin" };
  /** VFs that the plugin has registered at the kubelet. */
  registered: ReadonlySet<string>;
  /** VFs in ResourceSlices. */
  published: ReadonlySet<string> = new Set();
  /** Pods with VFs, by uid. */
  readonly holders = new Map<string, { readonly via: Allocator; readonly vfs: readonly string[] }>();
  readonly #options: MovingNodeOptions;
  readonly #pods: NodePods;
  readonly #state: SriovNetworkNodeState;
  #uid = "";
  #generation = 1;
  #written = "";
  #allocatable = -1;
  #leavingSinceMs: number | undefined;

  constructor(options: MovingNodeOptions) {
    this.#options = options;
    this.#pods = createNodePods(options.transport, options.name);
    const pciAddress = "0000:3b:00.0";
    const Vfs = Array.from({ length: options.vfs }, (_, vfID) => ({ pciAddress: `0000:3b:02.${vfID}`, vfID }));
    this.registered = new Set(Vfs.map((vf) => vf.pciAddress));
    this.#state = {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovNetworkNodeState",
      metadata: { name: options.name },
      spec: { interfaces: [{ pciAddress, vfGroups: [{ resourceName: "fast", vfRange: `0-${options.vfs - 1}` }] }] },
      status: { interfaces: [{ pciAddress, name: "ens1f0", Vfs }] },
    };
  }

  get vfs(): readonly string[] {
    return (this.#state.status?.interfaces ?? []).flatMap(({ Vfs = [] }) => Vfs.map(({ pciAddress }) => pciAddress));
  }

  /** Says who is to give VFs to pods. */
  want(wanted: Allocator): void {
    this.allocation = { ...this.allocation, wanted };
  }

  /** One pass of each process. Rejects with KubeError. */
  async step(): Promise<void> {
    await this.#kubelet();
    this.#look("kubelet");
    this.#sidecar();
    this.#look("sidecar");
    await this.#reportAllocatable();
    await this.#driver();
    this.#look("driver");
  }

  #look(after: string): void {
    this.moments++;
    const both = this.vfs.filter((vf) => this.registered.has(vf) && this.published.has(vf));
    const holders = [...this.holders.values()].flatMap(({ vfs }) => vfs);
    const twice = holders.filter((vf, index) => holders.indexOf(vf) !== index);
    if (both.length + twice.length > 0)
      this.violations.push(`${this.#options.name} ${after}: both ${both.join()}, twice ${twice.join()}`);
  }

  async #kubelet(): Promise<void> {
    const found = await this.#pods.list();
    for (const uid of this.holders.keys())
      if (!found.some(({ metadata }) => metadata.uid === uid)) this.holders.delete(uid);
    for (const pod of found) {
      const { metadata, status } = pod;
      if (metadata.deletionTimestamp !== undefined) {
        this.holders.delete(metadata.uid);
        await this.#pods.remove(pod);
      } else if (status.phase === "Pending" && !this.holders.has(metadata.uid)) {
        await this.#startPod(pod);
      }
    }
  }

  /** A pod whose claim cannot be prepared waits, and one without a device of the plugin fails, as with the kubelet. */
  async #startPod(pod: PodOnNode): Promise<void> {
    const claimed = await this.#pods.claimedVfs(pod);
    if (claimed !== undefined) {
      // The driver prepares a VF only while it publishes it.
      if (!claimed.every((vf) => this.published.has(vf))) return;
      this.holders.set(pod.metadata.uid, { via: "dra", vfs: claimed });
      await this.#pods.start(pod);
      return;
    }
    const count = pod.spec.containers.reduce(
      (sum, { resources }) => sum + Number(resources?.limits?.[resource] ?? 0),
      0,
    );
    const held = new Set([...this.holders.values()].flatMap(({ vfs }) => vfs));
    const vfs = [...this.registered].filter((vf) => !held.has(vf)).slice(0, count);
    if (vfs.length < count) {
      await this.#pods.refuse(pod);
      return;
    }
    this.holders.set(pod.metadata.uid, { via: "devicePlugin", vfs });
    await this.#pods.start(pod);
  }

  /** As device-plugin-config, whose plugin starts again at once. */
  #sidecar(): void {
    const isPublished = this.published;
    this.registered = this.#decide("devicePlugin", this.registered, isPublished, new Set());
    if (mayHandOver("devicePlugin", this.allocation)) this.allocation = { ...this.allocation, offeredBy: "dra" };
  }

  async #driver(): Promise<void> {
    const { nowMs } = this.#options;
    const claimed = await this.#pods.allClaimedVfs();
    const isLeaving = !mayBegin("dra", this.allocation) && this.published.size > 0;
    if (!isLeaving) this.#leavingSinceMs = undefined;
    else this.#leavingSinceMs ??= nowMs();
    const isEarly = this.#leavingSinceMs !== undefined && nowMs() - this.#leavingSinceMs < graceMs;
    const inUse = isEarly ? this.published : claimed;
    const published = this.#decide("dra", this.published, this.registered, inUse);
    // Before the write, nothing new is published; after it, nothing old.
    await this.#write(published, isLeaving ? "moving" : undefined);
    if (mayHandOver("dra", this.allocation)) this.allocation = { ...this.allocation, offeredBy: "devicePlugin" };
  }

  #decide(
    self: Allocator,
    own: ReadonlySet<string>,
    other: ReadonlySet<string>,
    inUse: ReadonlySet<string>,
  ): ReadonlySet<string> {
    return new Set(
      this.vfs.filter((vf) => {
        const holder = [...this.holders.values()].find(({ vfs }) => vfs.includes(vf));
        const kind = inUse.has(vf) || holder?.via === self ? "own" : holder === undefined ? "free" : "other";
        const observed = { isOffered: own.has(vf), isOfferedByOther: other.has(vf), holder: kind } as const;
        return decideOffer(self, this.allocation, observed) === undefined;
      }),
    );
  }

  async #write(vfs: ReadonlySet<string>, reason: "moving" | undefined): Promise<void> {
    const { transport, name } = this.#options;
    if (this.#uid === "") this.#uid = await this.#readUid();
    const withheld = new Map(
      this.vfs.flatMap((vf): readonly [string, WithheldFromClaims][] => {
        if (!vfs.has(vf)) return [[vf, { reason: "offered", message: "" }]];
        return reason === undefined ? [] : [[vf, { reason, message: "" }]];
      }),
    );
    const resources = { prefix: "openshift.io" };
    const input = { nodeName: name, nodeUid: this.#uid, state: this.#state, resources, withheld, taints: new Map() };
    const rendered = renderResourceSlices(input).filter(({ spec }) => spec.devices.length > 0);
    const text = JSON.stringify(rendered);
    if (text === this.#written) return;
    const [slice] = rendered;
    // What is withdrawn counts as published until it is gone, what is added counts before it is there.
    this.published = new Set([...this.published, ...vfs]);
    if (slice === undefined) {
      const path = collectionPath(resourceSlices);
      await transport.request({ method: "DELETE", path, query: { fieldSelector: `spec.nodeName=${name}` } });
    } else {
      await this.#apply({
        ...slice,
        spec: { ...slice.spec, pool: { ...slice.spec.pool, generation: ++this.#generation } },
      });
    }
    this.published = vfs;
    this.#written = text;
  }

  async #apply(slice: ResourceSlice): Promise<void> {
    await this.#options.transport.request({
      method: "PATCH",
      path: objectPath(resourceSlices, { name: slice.metadata.name }),
      query: { fieldManager: "driver", force: true },
      contentType: "application/apply-patch+yaml",
      body: slice,
    });
  }

  async #readUid(): Promise<string> {
    const { transport, name } = this.#options;
    const node = await transport.request({ method: "GET", path: objectPath(nodes, { name }) });
    const metadata = isRecord(node) ? node["metadata"] : undefined;
    return isRecord(metadata) && typeof metadata["uid"] === "string" ? metadata["uid"] : "";
  }

  async #reportAllocatable(): Promise<void> {
    if (this.#allocatable === this.registered.size) return;
    const { transport, name } = this.#options;
    const base = { cpu: "16", memory: "32Gi", pods: "100", [resource]: `${this.registered.size}` };
    await transport.request({
      method: "PATCH",
      path: objectPath(nodes, { name }, "status"),
      contentType: "application/merge-patch+json",
      body: { status: { capacity: base, allocatable: base } },
    });
    this.#allocatable = this.registered.size;
  }
}
