// SPDX-License-Identifier: Apache-2.0
/**
 * MovingNode is a node that is API objects only: a kubelet, a device plugin with its sidecar, and a driver of ResourceClaims, reduced to who
 * gives which VF to which pod. Sidecar and driver follow decideOffer() and write real ResourceSlices, so that a real scheduler places
 * pods.
 *
 * After each step it records whether a VF is offered twice or has two holders.
 */
import {
  nodes,
  pods,
  resourceClaims,
  resourceSlices,
  type ResourceSlice,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { collectionPath, isKubeError, isRecord, listPages, objectPath, type Transport } from "@switchyard/kube";
import {
  decideOffer,
  mayBegin,
  mayHandOver,
  readAllocation,
  type Allocator,
  type NodeAllocation,
} from "@switchyard/policy";
import { addressOfDevice, renderResourceSlices, type WithheldFromClaims } from "@switchyard/render";

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

interface PodOnNode {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly containers: readonly { readonly resources?: { readonly limits?: Record<string, string> } }[];
  };
  readonly status: {
    readonly phase?: string;
    readonly extendedResourceClaimStatus?: { readonly resourceClaimName: string };
    readonly resourceClaimStatuses?: readonly { readonly resourceClaimName?: string }[];
  };
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
  readonly #state: SriovNetworkNodeState;
  #uid = "";
  #generation = 1;
  #written = "";
  #allocatable = -1;
  #leavingSinceMs: number | undefined;

  constructor(options: MovingNodeOptions) {
    this.#options = options;
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
    const { transport, name } = this.#options;
    const found: PodOnNode[] = [];
    for await (const { items } of listPages(transport, { type: pods, fieldSelector: `spec.nodeName=${name}` })) {
      found.push(...(items as unknown as readonly PodOnNode[]));
    }
    for (const uid of this.holders.keys())
      if (!found.some(({ metadata }) => metadata.uid === uid)) this.holders.delete(uid);
    for (const pod of found) {
      const { metadata, status } = pod;
      if (metadata.deletionTimestamp !== undefined) {
        this.holders.delete(metadata.uid);
        await this.#end(pod);
      } else if (status.phase === "Pending" && !this.holders.has(metadata.uid)) {
        const given = await this.#give(pod);
        if (given !== undefined) {
          this.holders.set(metadata.uid, given);
          await this.#setPhase(pod, { phase: "Running" });
        } else if (claimsOf(pod).length === 0) {
          this.holders.delete(metadata.uid);
          await this.#setPhase(pod, { phase: "Failed", reason: "UnexpectedAdmissionError" });
        }
      }
    }
  }

  /** Returns the VFs for a pod: those of its claims, or free ones of the plugin. Undefined if it cannot have them. */
  async #give(pod: PodOnNode): Promise<{ readonly via: Allocator; readonly vfs: readonly string[] } | undefined> {
    const { transport } = this.#options;
    const claims = claimsOf(pod);
    if (claims.length > 0) {
      const vfs: string[] = [];
      for (const name of claims) {
        const path = objectPath(resourceClaims, { name, namespace: pod.metadata.namespace });
        vfs.push(
          ...readAllocation(await transport.request({ method: "GET", path })).flatMap(
            ({ device }) => addressOfDevice(device) ?? [],
          ),
        );
      }
      // The driver prepares a VF only while it publishes it.
      return vfs.every((vf) => this.published.has(vf)) ? { via: "dra", vfs } : undefined;
    }
    const count = pod.spec.containers.reduce(
      (sum, { resources }) => sum + Number(resources?.limits?.[resource] ?? 0),
      0,
    );
    const held = new Set([...this.holders.values()].flatMap(({ vfs }) => vfs));
    const vfs = [...this.registered].filter((vf) => !held.has(vf)).slice(0, count);
    return vfs.length === count ? { via: "devicePlugin", vfs } : undefined;
  }

  /** As device-plugin-config, whose plugin starts again at once. */
  #sidecar(): void {
    const isPublished = this.published;
    this.registered = this.#decide("devicePlugin", this.registered, isPublished, new Set());
    if (mayHandOver("devicePlugin", this.allocation)) this.allocation = { ...this.allocation, offeredBy: "dra" };
  }

  async #driver(): Promise<void> {
    const { nowMs } = this.#options;
    const claimed = await this.#claimedVfs();
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

  /** VFs of this node in allocated claims, whether their pods have started or not. */
  async #claimedVfs(): Promise<ReadonlySet<string>> {
    const { transport, name } = this.#options;
    const claimed = new Set<string>();
    for await (const { items } of listPages(transport, { type: resourceClaims })) {
      for (const { pool, device } of items.flatMap(readAllocation)) {
        if (pool === name) claimed.add(addressOfDevice(device) ?? "");
      }
    }
    return claimed;
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

  async #setPhase(
    { metadata }: PodOnNode,
    status: { readonly phase: string; readonly reason?: string },
  ): Promise<void> {
    const conditions = status.phase === "Running" ? [{ type: "Ready", status: "True" }] : [];
    await this.#ignoreGone({
      method: "PATCH",
      path: objectPath(pods, metadata, "status"),
      contentType: "application/merge-patch+json",
      body: { metadata: { uid: metadata.uid }, status: { ...status, conditions } },
    });
  }

  async #end({ metadata }: PodOnNode): Promise<void> {
    const body = {
      apiVersion: "v1",
      kind: "DeleteOptions",
      gracePeriodSeconds: 0,
      preconditions: { uid: metadata.uid },
    };
    await this.#ignoreGone({ method: "DELETE", path: objectPath(pods, metadata), body });
  }

  async #ignoreGone(request: Parameters<Transport["request"]>[0]): Promise<void> {
    try {
      await this.#options.transport.request(request);
    } catch (error) {
      if (!isKubeError(error, "NotFound", "Conflict")) throw error;
    }
  }
}

function claimsOf({ status }: PodOnNode): readonly string[] {
  const own = (status.resourceClaimStatuses ?? []).flatMap(({ resourceClaimName }) => resourceClaimName ?? []);
  return [
    ...own,
    ...(status.extendedResourceClaimStatus === undefined ? [] : [status.extendedResourceClaimStatus.resourceClaimName]),
  ];
}
