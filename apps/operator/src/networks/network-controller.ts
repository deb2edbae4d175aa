// SPDX-License-Identifier: Apache-2.0
/** networkController defines the controller of networks, and startNetworkControllers starts it. */
import {
  networkAttachmentDefinitions,
  type AfxdpNetworkNodeState,
  type AfxdpOperatorConfig,
  type NetworkAttachmentDefinition,
} from "@switchyard/api";
import { createWriter, systemClock, type Cache, type EventRecorder, type Transport } from "@switchyard/kube";
import { networkTypes, type Network, type NetworkKind } from "@switchyard/render";
import { fieldManagers } from "../field-managers.ts";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import type { ControllerDefinition, OperatorContext } from "../operator-context.ts";
import type { IntentSources } from "./intended-nad.ts";
import type { NetworkCaches } from "../facts/network-caches.ts";
import { createNetworkReconciler } from "./network-reconciler.ts";
import { createNetworkStatus } from "./network-status.ts";
import { networkSources } from "./network-sources.ts";
import { createNetworks, networkCachesByKind } from "../facts/networks.ts";
import { createRecentDeletions, type RecentDeletions } from "../facts/recent-deletions.ts";
import { createResetHold } from "../node-states/reset-hold.ts";
import { createOrphanedNads, type FindNetworkHold } from "./orphaned-nads.ts";

/** The parts of OperatorContext that the controller uses, and the time. */
export interface NetworkControllerContext {
  readonly transport: Transport;
  readonly settings: IntentSources["settings"];
  readonly caches: NetworkCaches & {
    readonly states: Cache<CachedNodeState>;
    readonly afxdpStates: Cache<AfxdpNetworkNodeState>;
    readonly afxdpConfigs: Cache<AfxdpOperatorConfig>;
  };
  readonly events: EventRecorder;
  readonly deletions: RecentDeletions;
  readonly findNetworkHold: FindNetworkHold;
  readonly now: () => Date;
}

export function startNetworkControllers(context: OperatorContext): void {
  const byKind = networkCachesByKind(context.caches);
  const caches = Object.values(byKind);
  const deletions = createRecentDeletions({ caches, nowMs: () => performance.now() }, context.signal);
  const findNetworkHold = createNetworkHolds(context, byKind);
  context.start(networkController({ ...context, deletions, findNetworkHold }));
}

function createNetworkHolds(
  { transport, settings: { namespace }, nowMs }: OperatorContext,
  byKind: Readonly<Record<NetworkKind, Cache<Network>>>,
): FindNetworkHold {
  const lost = { objects: "networks", consequence: "their NetworkAttachmentDefinitions are deleted" };
  const common = { transport, lost, namespace, nowMs };
  const holdOf = (kind: NetworkKind) => createResetHold({ ...common, type: networkTypes[kind], cache: byKind[kind] });
  const holds = {
    SriovNetwork: holdOf("SriovNetwork"),
    SriovIBNetwork: holdOf("SriovIBNetwork"),
    OVSNetwork: holdOf("OVSNetwork"),
    BridgeNetwork: holdOf("BridgeNetwork"),
    AfxdpNetwork: holdOf("AfxdpNetwork"),
  };
  return (kind, ...asked) => holds[kind](...asked);
}

export function networkController(context: NetworkControllerContext): ControllerDefinition {
  const { transport, settings, caches, events, now } = context;
  const nads = caches.networkAttachmentDefinitions;
  const networks = createNetworks(caches);
  const manager = fieldManagers.networks;
  const writer = createWriter<NetworkAttachmentDefinition>({
    transport,
    type: networkAttachmentDefinitions,
    manager,
    cache: nads,
    watchOthers: systemClock,
  });
  const byKind = networkCachesByKind(caches);
  const statusWriter = (kind: NetworkKind) =>
    createWriter<Network>({
      transport,
      type: networkTypes[kind],
      manager,
      cache: byKind[kind],
      watchOthers: systemClock,
    });
  return {
    name: "networks",
    about: "network",
    reads: [...Object.values(byKind), nads, caches.namespaces, caches.states, caches.afxdpStates, caches.afxdpConfigs],
    reconcile: createNetworkReconciler({
      networks,
      nads,
      transport,
      writer,
      settings,
      namespaces: caches.namespaces,
      states: caches.states,
      afxdpStates: caches.afxdpStates,
      afxdpConfigs: caches.afxdpConfigs,
      orphans: createOrphanedNads({
        nads,
        transport,
        writer,
        namespace: settings.namespace,
        deletions: context.deletions,
        findNetworkHold: context.findNetworkHold,
      }),
      report: createNetworkStatus({
        writers: {
          SriovNetwork: statusWriter("SriovNetwork"),
          SriovIBNetwork: statusWriter("SriovIBNetwork"),
          OVSNetwork: statusWriter("OVSNetwork"),
          BridgeNetwork: statusWriter("BridgeNetwork"),
          AfxdpNetwork: statusWriter("AfxdpNetwork"),
        },
        events,
        now,
      }),
    }),
    sources: networkSources(caches, networks),
  };
}
