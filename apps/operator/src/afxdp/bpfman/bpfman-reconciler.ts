// SPDX-License-Identifier: Apache-2.0
/**
 * createBpfmanReconciler makes bpfman load a program for each AF_XDP device of a node, with loader bpfman. It writes
 * one object for each device, and the state of the program into status.programs of the AfxdpNetworkNodeState. There the
 * device plugin finds the XSK map. docs/decisions/016-bpfman.md has the reasons.
 *
 * Objects are removed on evidence only. Evidence is another loader, a spec of the node state without the device, or a
 * node that is gone. It is also a node outside of the node set that has no state, or an AfxdpOperatorConfig that the
 * API server does not have. A missing node state says nothing. The operator's ClusterRole owns the objects, so that
 * they go with the operator (docs/decisions/012-removal-without-the-operator.md).
 */
import type {
  AfxdpLoadedProgram,
  AfxdpNetworkNodeState,
  AfxdpOperatorConfig,
  Node,
  OwnerReference,
} from "@switchyard/api";
import { equalJson, type Cache, type KubeObject, type Reconcile, type Writer } from "@switchyard/kube";
import { afxdpProviderOf, isInNodeSet } from "@switchyard/policy";
import {
  bpfmanDevices,
  bpfmanObjectName,
  isDeviceOnHost,
  mayReturn,
  renderBpfmanObject,
  type BpfmanDevice,
  type BpfmanKind,
} from "@switchyard/render";
import type { AfxdpLiveRules } from "../../facts/afxdp-live-rules.ts";
import type { AfxdpMergeResult, AfxdpMergeResults } from "../../results/afxdp-merge-results.ts";
import { byNode, byOwner, sourceOf, type BpfmanCaches, type CachedBpfmanObject } from "./bpfman-caches.ts";
import { planPrograms, type ProgramsPlan } from "./plan-programs.ts";
import { programState } from "./program-state.ts";

export interface BpfmanDeps {
  readonly nodes: Cache<Node>;
  readonly afxdpStates: Cache<AfxdpNetworkNodeState>;
  readonly caches: BpfmanCaches;
  readonly rules: AfxdpLiveRules;
  readonly results: Pick<AfxdpMergeResults, "get">;
  /** Returns the owner of cluster-scoped objects; undefined if they have none. */
  readonly owner: () => OwnerReference | undefined;
  /**
   * Resolves with whether there is no AfxdpOperatorConfig "default", and neither its replacement nor the return of its kind is
   * to be expected. `writtenAt` is when one of the node's objects was created.
   */
  readonly isConfigGone: (writtenAt: string | undefined, signal: AbortSignal) => Promise<boolean>;
  readonly objects: Readonly<Record<BpfmanKind, Pick<Writer<BpfmanObject>, "apply" | "delete">>>;
  readonly states: Pick<Writer<AfxdpNetworkNodeState>, "applyStatus">;
  readonly nowMs: () => number;
}

/** A ClusterBpfApplication or XdpProgram, as far as it is written. */
export interface BpfmanObject extends KubeObject {
  readonly spec: object;
}

/** The kind for new objects: that of bpfman 0.6 where both are served. Undefined without bpfman. */
export function bpfmanKind({ bpfApplications, xdpPrograms }: BpfmanCaches): BpfmanKind | undefined {
  if (bpfApplications.served) return "ClusterBpfApplication";
  return xdpPrograms.served ? "XdpProgram" : undefined;
}

/** The cache shows no config, but the API server has one. */
const cacheBehind = { afterMs: 5_000 };

/** The controller of the node states has yet to merge the policies, or the cache to show its write. */
const mergePending = { afterMs: 200 };

export function createBpfmanReconciler(deps: BpfmanDeps): Reconcile {
  const { nodes, afxdpStates, caches, rules, nowMs } = deps;
  // The rows of the last write, which the cache may not have yet: an ID in them may be in use.
  const written = new Map<string, { readonly uid: string | undefined; readonly rows: readonly AfxdpLoadedProgram[] }>();

  return async function reconcile(name, signal) {
    const own = ownObjects(caches, name);
    const state = afxdpStates.get(name);
    const live = rules();
    if (live === undefined) {
      const [first] = own;
      if (first === undefined) return undefined;
      if (!(await deps.isConfigGone(first.metadata.creationTimestamp, signal))) return cacheBehind;
      return removeAll(own, signal);
    }

    const node = nodes.get(name);
    if (node === undefined) return removeAll(own, signal);
    const isMember = isInNodeSet(node, live.rules);
    if (state === undefined) return isMember ? undefined : removeAll(own, signal);
    const isBpfman = live.config.spec?.loader === "bpfman";
    if (isBpfman && (!isMember || (state.status?.interfaces ?? []).length === 0)) return undefined;
    // A spec that was not merged from the present report says nothing about the devices in it.
    if (isBpfman && !isMerged(state, deps.results.get(name))) return mergePending;

    const before = state.status?.programs ?? [];
    const last = written.get(name);
    const rows = last !== undefined && last.uid === state.metadata.uid ? last.rows : before;
    if (!isBpfman && own.length === 0 && rows.length === 0 && before.length === 0) return undefined;

    const target = (device: BpfmanDevice) => ({ ...device, node, interfaceName: device.interfaceName ?? "" });
    const settings = live.config.spec?.bpfman;
    const kind = bpfmanKind(caches);
    const plan = planPrograms({
      wanted: isBpfman ? bpfmanDevices(state) : [],
      isKept: (device) => isBpfman && mayReturn(device, state),
      kind,
      own,
      rows,
      nowMs: nowMs(),
      nameOf: (device) => bpfmanObjectName(name, device),
      isForeign: (of, objectName) => objectsOf(caches, of).get(objectName) !== undefined,
      sourceOf: (device) => kind && sourceOf(renderBpfmanObject(kind, target(device), settings)),
      stateOf: (object, interfaceName) =>
        programState(object, reportOf(caches, object), {
          interfaceName,
          foreignProgram: foreignProgramOn(interfaceName, state),
          nowMs: nowMs(),
        }),
      report: state.status?.bpfman ?? {},
      isReleasedAnyway: (device) => afxdpProviderOf(live.config) !== "switchyard" && isDeviceOnHost(device, state),
    });

    // The rows first: the plugin must not give out a program that is about to be removed.
    if (plan.rows.length > 0 || before.length > 0 || rows.length > 0) {
      const { uid, namespace } = state.metadata;
      const metadata = { name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) };
      written.set(name, { uid, rows: plan.rows });
      const status = plan.rows.length === 0 ? {} : { programs: plan.rows };
      await deps.states.applyStatus({ metadata, status }, signal);
    }
    await write(plan, { node, config: live.config, kind }, signal);
    return plan.againMs === undefined ? undefined : { afterMs: plan.againMs };
  };

  async function write(
    { apply, remove }: ProgramsPlan,
    {
      node,
      config,
      kind,
    }: { readonly node: Node; readonly config: AfxdpOperatorConfig; readonly kind: BpfmanKind | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    await removeAll(remove, signal);
    for (const { device, interfaceName, isNew } of apply) {
      if (kind === undefined) continue;
      const { metadata, spec } = renderBpfmanObject(
        kind,
        { node, device, interfaceName, owner: deps.owner() },
        config.spec?.bpfman,
      );
      // Someone else may just have created an object of this name: then the API server refuses to change its fields.
      await deps.objects[kind].apply({ metadata, spec }, signal, { force: !isNew });
    }
  }

  async function removeAll(objects: readonly CachedBpfmanObject[], signal: AbortSignal): Promise<undefined> {
    for (const object of objects) {
      const { name, uid, deletionTimestamp } = object.metadata;
      const metadata = { name, ...(uid !== undefined && { uid }) };
      if (deletionTimestamp === undefined) await deps.objects[object.kind].delete({ metadata }, signal);
    }
    return undefined;
  }
}

function isMerged({ spec = {}, status }: AfxdpNetworkNodeState, result: AfxdpMergeResult | undefined): boolean {
  return result !== undefined && equalJson(result.spec, spec) && equalJson(result.interfaces, status?.interfaces);
}

function ownObjects({ bpfApplications, xdpPrograms }: BpfmanCaches, nodeName: string): readonly CachedBpfmanObject[] {
  return [bpfApplications, xdpPrograms].flatMap((cache) => cache.byIndex(byNode, nodeName));
}

function objectsOf(caches: BpfmanCaches, kind: BpfmanKind): Cache<CachedBpfmanObject> {
  return kind === "ClusterBpfApplication" ? caches.bpfApplications : caches.xdpPrograms;
}

/** An object selects one node, so there is one report; those of an earlier object of the name do not count. */
function reportOf(caches: BpfmanCaches, { kind, metadata: { name, uid } }: CachedBpfmanObject) {
  const reports = kind === "ClusterBpfApplication" ? caches.bpfApplicationStates : caches.bpfPrograms;
  return reports.byIndex(byOwner, name).find(({ ownerUid }) => ownerUid === uid);
}

/** Name of the dispatcher of bpfman and of libxdp: other programs under it do not keep bpfman from attaching one. */
const dispatcherName = "xdp_dispatcher";

function foreignProgramOn(interfaceName: string, { status }: AfxdpNetworkNodeState): string | undefined {
  const nics = (status?.interfaces ?? []).flatMap((nic) => [nic, ...(nic.subfunctions ?? [])]);
  const program = nics.find(({ name }) => name === interfaceName)?.xdp?.program;
  if (program === undefined || program.owned === true || program.name === dispatcherName) return undefined;
  return `program ${program.id} (${program.name ?? "without name"})`;
}
