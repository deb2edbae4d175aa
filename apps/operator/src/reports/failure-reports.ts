// SPDX-License-Identifier: Apache-2.0
/**
 * FailureReports reports failed reconciles on the object that they concern: the condition ReconcileFailed contains the
 * error for as long as the reconcile fails, and an event is recorded when that begins. Reconcilers report expected
 * problems themselves; this is for requests that the API server refuses, and for bugs, which would otherwise only be
 * logged.
 *
 * The condition has its own field manager, so that other writers of the status do not affect it. A controller writes
 * it, so the write is retried while the API server is not reachable.
 */
import {
  afxdpNetworkNodePolicies,
  afxdpNetworkNodeStates,
  conditionTypes,
  eventReasons,
  operatorConfigName,
  reconcileFailedReasons,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  type Condition,
} from "@switchyard/api";
import {
  apiVersionOf,
  createWriter,
  fromCache,
  setCondition,
  type Cache,
  type EventRecorder,
  type KubeObject,
  type EventToRecord,
  type ObservedObject,
  type ResourceType,
  type Transport,
  type Writer,
} from "@switchyard/kube";
import { networkTypes, parseNetworkRef } from "@switchyard/render";
import type { ClusterCaches } from "../cluster-caches.ts";
import { fieldManagers } from "../field-managers.ts";
import { networkCachesByKind } from "../facts/networks.ts";
import type { About, ControllerDefinition } from "../operator-context.ts";
import { describeFailures, type Failure } from "./config-condition.ts";

export interface FailureReports {
  /** The controller that writes the conditions. */
  readonly controller: ControllerDefinition;
  failed(at: FailedWork, error: unknown): void;
  succeeded(at: Work): void;
}

/** One key of one controller. */
export interface Work {
  readonly controller: string;
  readonly about: About | undefined;
  readonly key: string;
}

export interface FailedWork extends Work {
  /** Number of consecutive failures. */
  readonly failures: number;
}

export interface FailureReportsDeps {
  readonly transport: Transport;
  /** Namespace of the operator. */
  readonly namespace: string;
  readonly caches: ClusterCaches;
  readonly events: Pick<EventRecorder, "record">;
  readonly now: () => Date;
}

/**
 * A single failure is often a conflict with another writer, which the first retry after a fifth of a second resolves.
 */
const minFailures = 2;

/** Least time between two texts. An error text that differs at each retry would cause a write at each retry. */
const keepTextMs = 30_000;

export function createFailureReports(deps: FailureReportsDeps): FailureReports {
  const { events, now } = deps;
  const kinds = kindsOf(deps);
  /** Failures by object, and then by the work that fails. */
  const failing = new Map<string, Map<string, Failure>>();
  /** Objects on which this process has set the condition. The caches may not show it yet when the failures end. */
  const written = new Set<string>();
  let enqueue = (_target: string): void => undefined;

  /** Looks the object up in the caches. */
  function find(target: string): Found | undefined {
    const [kind = "", ...place] = target.split("/");
    const reported = kinds.get(kind);
    const [name = "", namespace = deps.namespace] = place.toReversed();
    const observed = reported?.cache.observed({ name, namespace });
    return reported && observed && { ...reported, observed, metadata: { name, namespace, uid: observed.uid } };
  }

  async function reconcile(target: string, signal: AbortSignal): Promise<undefined> {
    const found = find(target);
    const failures = [...(failing.get(target)?.values() ?? [])];
    const isShown = found?.observed.owned(fieldManagers.failures, "status") !== undefined;
    if (found === undefined) written.delete(target);
    if (found === undefined || (failures.length === 0 && !isShown && !written.has(target))) return undefined;
    if (failures.length > 0) written.add(target); // before the write, whose answer can be lost
    await found.writer.applyStatus(
      { metadata: found.metadata, status: { conditions: conditionsOf(failures) } },
      signal,
    );
    if (failures.length === 0) written.delete(target);
    return undefined;
  }

  return {
    controller: {
      name: "failure-reports",
      reads: [], // failures are known to this process; the object is written with its uid
      parallel: 4,
      caches: [],
      debounceMs: 20,
      reconcile,
      sources: [
        {
          start(add) {
            enqueue = add;
            return () => undefined;
          },
          whenSynced: () => Promise.resolve(),
        },
        // Conditions that an operator wrote before this one started leading.
        ...[...kinds].map(([kind, { cache }]) =>
          fromCache(cache, ({ key, before }) => (before === undefined ? [`${kind}/${key}`] : [])),
        ),
      ],
    },
    failed(work, error) {
      if (work.failures < minFailures) return;
      const own = targetOf(work);
      const target = find(own) === undefined ? configTarget : own; // a node whose state cannot be created has no state to report on
      const ofTarget = failing.get(target) ?? new Map<string, Failure>();
      const known = ofTarget.get(idOf(work));
      const at = now();
      if (known !== undefined && at.getTime() - known.at.getTime() < keepTextMs) return;
      const failure = { controller: work.controller, error, at, since: known?.since ?? at };
      failing.set(target, ofTarget.set(idOf(work), failure));
      enqueue(target);
      const found = find(target);
      if (known === undefined && found !== undefined) events.record(eventOf(found, failure));
    },
    succeeded(work) {
      for (const target of new Set([targetOf(work), configTarget])) {
        const ofTarget = failing.get(target);
        if (ofTarget?.delete(idOf(work)) !== true) continue;
        if (ofTarget.size === 0) failing.delete(target);
        enqueue(target);
      }
    },
  };
}

/** The fields of an object that are written here. */
interface Reported extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

interface ReportedKind {
  readonly type: ResourceType;
  readonly cache: Cache<unknown>;
  readonly writer: Writer<Reported>;
}

interface Found extends ReportedKind {
  readonly observed: ObservedObject;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
}

/** A target is a kind and a key of its cache: "SriovNetworkNodeState/worker-1", "OVSNetwork/tenant-a/blue". */
const configTarget = `${sriovOperatorConfigs.kind}/${operatorConfigName}`;

function kindsOf({ transport, namespace, caches }: FailureReportsDeps): ReadonlyMap<string, ReportedKind> {
  const { operatorConfigs, states, policies, pools, afxdpStates, afxdpPolicies } = caches;
  const ofNetworks = networkCachesByKind(caches);
  const all: readonly (readonly [ResourceType, Cache<unknown>])[] = [
    [sriovOperatorConfigs, operatorConfigs],
    [sriovNetworkNodeStates, states],
    [sriovNetworkNodePolicies, policies],
    [sriovNetworkPoolConfigs, pools],
    [afxdpNetworkNodeStates, afxdpStates],
    [afxdpNetworkNodePolicies, afxdpPolicies],
    ...Object.values(networkTypes).map((type) => [type, ofNetworks[type.kind]] as const),
  ];
  return new Map(
    all.map(([type, cache]) => {
      const writer = createWriter<Reported>({ transport, namespace, type, cache, manager: fieldManagers.failures });
      return [type.kind, { type, cache, writer }];
    }),
  );
}

function targetOf({ about, key }: Work): string {
  switch (about) {
    case undefined:
      return configTarget;
    case "node":
      return `${sriovNetworkNodeStates.kind}/${key}`;
    case "policy":
      return `${sriovNetworkNodePolicies.kind}/${key}`;
    case "pool":
      return `${sriovNetworkPoolConfigs.kind}/${key}`;
    case "afxdp-node":
      return `${afxdpNetworkNodeStates.kind}/${key}`;
    case "afxdp-policy":
      return `${afxdpNetworkNodePolicies.kind}/${key}`;
    case "network": {
      const { kind = "", namespace = "", name = "" } = parseNetworkRef(key) ?? {};
      return `${kind}/${namespace}/${name}`;
    }
  }
}

function eventOf({ type, metadata }: Found, failure: Failure): EventToRecord {
  const regarding = { apiVersion: apiVersionOf(type), kind: type.kind, metadata };
  const note = describeFailures([failure]);
  return { regarding, type: "Warning", reason: eventReasons.reconcileFailed, note, action: "Reconcile" };
}

function idOf({ controller, key }: Work): string {
  return `${controller} ${key}`;
}

function conditionsOf(failures: readonly Failure[]): readonly Condition[] {
  const [first] = failures;
  if (first === undefined) return [];
  const condition = {
    ...({ type: conditionTypes.reconcileFailed, status: "True", reason: reconcileFailedReasons.retrying } as const),
    message: describeFailures(failures),
  };
  return setCondition([], condition, first.since);
}
