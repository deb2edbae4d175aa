// SPDX-License-Identifier: Apache-2.0
/**
 * startWaitingClaimsController starts "waiting-claims", which says in an event on a ResourceClaim why the scheduler allocates no VF to it:
 * the scheduler itself says only "cannot allocate all claims". The rule is that of `switchyard doctor`.
 *
 * While a node gives VFs to claims, the pods without a node are listed twice a minute, and if one of them has waited for its claims,
 * claims and slices. Each claim gets one event for each cause.
 */
import {
  draDriverName,
  eventReasons,
  pods,
  resourceClaims,
  resourceSlices,
  type DeviceClass,
  type ResourceType,
} from "@switchyard/api";
import {
  listPages,
  recordedMs,
  type Cache,
  type EventRecorder,
  type KubeObject,
  type Reconcile,
  type Transport,
} from "@switchyard/kube";
import { findClaimProblem, publishedVfs, readPodDevices, type ClaimSurroundings } from "@switchyard/policy";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import { usesClaims } from "../facts/claim-use.ts";
import type { OperatorContext } from "../operator-context.ts";

export interface WaitingClaimsDeps {
  readonly transport: Pick<Transport, "request">;
  readonly classes: Pick<Cache<DeviceClass>, "list">;
  readonly states: { readonly list: () => readonly Pick<CachedNodeState, "name" | "spec">[] };
  readonly resourcePrefix: string;
  readonly usesClaims: () => boolean;
  readonly events: Pick<EventRecorder, "record">;
  /** The wall clock of the API server, in milliseconds since 1970. */
  readonly nowMs: () => number;
}

/** The only key. */
const allClaims = "all";

const lookEveryMs = 30_000;

/** The scheduler may not have tried before. */
const waitedMs = 10_000;

/** The API server cuts events at 1,024 bytes; one claim can have many nodes. */
const maxEvidence = 4;

export function createWaitingClaimsReconciler(deps: WaitingClaimsDeps): Reconcile {
  /** Causes that an event was recorded for, by the uid of the claim. */
  let reported: ReadonlyMap<string, ReadonlySet<string>> = new Map();

  return async function reconcile(_key, signal) {
    const again = { afterMs: lookEveryMs };
    const waiting = deps.usesClaims() ? await claimsOfWaitingPods(signal) : new Set<string>();
    if (waiting.size === 0) {
      reported = new Map();
      return again;
    }
    const claims = await listAll(resourceClaims, signal);
    const slices = await listAll(resourceSlices, signal, `spec.driver=${draDriverName}`);
    const surroundings = surroundingsOf({ claims, slices });
    const seen = new Map<string, ReadonlySet<string>>();
    for (const claim of claims) {
      const { namespace = "", name, uid = "" } = claim.metadata;
      const problem = waiting.has(`${namespace}/${name}`) ? findClaimProblem(claim, surroundings) : undefined;
      const before = reported.get(uid);
      if (problem === undefined) continue;
      const cause = `${problem.code} ${problem.field}`;
      seen.set(uid, new Set([...(before ?? []), cause]));
      if (before?.has(cause) === true) continue;
      const note = [`${problem.field}: ${problem.message}`, ...problem.evidence.slice(0, maxEvidence)].join("; ");
      deps.events.record({
        regarding: claim,
        type: "Warning",
        reason: eventReasons.claimWaits,
        note,
        action: "Allocate",
      });
    }
    reported = seen;
    return again;
  };

  /** Returns "namespace/name" of the claims of pods that have no node for some time. */
  async function claimsOfWaitingPods(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const pod of await listAll(pods, signal, "spec.nodeName=")) {
      const { namespace = "", creationTimestamp = "" } = pod.metadata as {
        namespace?: string;
        creationTimestamp?: string;
      };
      const createdMs = recordedMs(creationTimestamp, deps.nowMs());
      if (createdMs !== undefined && deps.nowMs() - createdMs < waitedMs) continue;
      for (const claim of readPodDevices(pod, deps.resourcePrefix).claims) found.add(`${namespace}/${claim}`);
    }
    return found;
  }

  async function listAll(
    type: ResourceType,
    signal: AbortSignal,
    fieldSelector?: string,
  ): Promise<readonly KubeObject[]> {
    const found: KubeObject[] = [];
    const selected = fieldSelector === undefined ? {} : { fieldSelector };
    for await (const { items } of listPages(deps.transport, { type, pageSize: 500, signal, ...selected })) {
      found.push(...items);
    }
    return found;
  }

  function surroundingsOf(objects: Parameters<typeof publishedVfs>[0]): ClaimSurroundings {
    const nodes = deps.states.list().flatMap(({ name, spec }) => (spec.allocation === "dra" ? [name] : []));
    return {
      classes: new Map(deps.classes.list().map(({ metadata, spec }) => [metadata.name, spec])),
      vfs: publishedVfs(objects),
      resourcePrefix: deps.resourcePrefix,
      namesClaims: false, // users of the namespace read the event
      driver: [`nodes that give VFs to ResourceClaims: ${nodes.length === 0 ? "none" : nodes.slice(0, 5).join(", ")}`],
    };
  }
}

export function startWaitingClaimsController(context: OperatorContext): void {
  const { transport, caches, settings, events, nowMs } = context;
  const { deviceClasses: classes, policies, pools, states, operatorConfigs } = caches;
  context.start({
    name: "waiting-claims",
    parallel: 1,
    reads: [classes, policies, pools, states, operatorConfigs],
    reconcile: createWaitingClaimsReconciler({
      ...{ transport, classes, states, events },
      resourcePrefix: settings.components.resourcePrefix,
      usesClaims: () => usesClaims(context),
      nowMs,
    }),
    sources: [
      {
        start(enqueue) {
          enqueue(allClaims);
          return () => undefined;
        },
        whenSynced: () => Promise.resolve(),
      },
    ],
  });
}
