// SPDX-License-Identifier: Apache-2.0
/**
 * createDrainCarriers shows the object of each node that carries the drain handshake: its SriovNetworkNodeState or, on a node
 * without one, its AfxdpNetworkNodeState. The daemon chooses the same object. If the other object appears during a drain, the
 * request on the Node holds until the daemon has repeated it there.
 */
import { afxdpNetworkNodeStates, defined, sriovNetworkNodeStates, type SriovNetworkPoolConfig } from "@switchyard/api";
import { equalJson, type Cache } from "@switchyard/kube";
import { createRules, type Rules } from "@switchyard/policy";
import type { CachedAfxdpState } from "../facts/afxdp-caches.ts";
import type { AfxdpLive, AfxdpLiveRules } from "../facts/afxdp-live-rules.ts";
import type { LiveRules } from "../facts/live-rules.ts";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import type { CachedDeviceDrain } from "../facts/cached-device-drain.ts";
import type { CachedDrain } from "../facts/cached-drain.ts";
import type { CachedSlot } from "../facts/held-slot.ts";

export interface DrainCarrier {
  /** The kind of the object. */
  readonly type: typeof sriovNetworkNodeStates | typeof afxdpNetworkNodeStates;
  readonly name: string;
  readonly uid: string;
  readonly drain: CachedDrain;
  /** Absent while the node holds no slot. */
  readonly slot?: CachedSlot;
  /** Absent unless the daemon's request is about single VFs. */
  readonly deviceDrain?: CachedDeviceDrain;
}

/** The keys are names of nodes. */
export type DrainCarriers = Pick<
  Cache<DrainCarrier>,
  "get" | "list" | "subscribe" | "whenSynced" | "observed" | "rewinds"
>;

export interface CarrierCaches {
  readonly states: Cache<CachedNodeState>;
  readonly afxdpStates: Cache<CachedAfxdpState>;
}

export function createDrainCarriers({ states, afxdpStates }: CarrierCaches): DrainCarriers {
  const ofSriov = once(({ name, uid, drain, slot, deviceDrain }: CachedNodeState): DrainCarrier => {
    return { type: sriovNetworkNodeStates, name, uid, drain, ...defined({ slot, deviceDrain }) };
  });
  const ofAfxdp = ({ metadata: { name, uid = "" }, drain, slot }: CachedAfxdpState): DrainCarrier => {
    return { type: afxdpNetworkNodeStates, name, uid, drain, ...defined({ slot }) };
  };
  const sriov = (name: string) => map(states.get(name), ofSriov);
  const afxdp = (name: string) => map(afxdpStates.get(name), ofAfxdp);
  const isAlone = ({ metadata: { name } }: CachedAfxdpState) => states.get(name) === undefined;

  return {
    get: (name) => sriov(name) ?? afxdp(name),
    list: () => [...states.list().map(ofSriov), ...afxdpStates.list().filter(isAlone).map(ofAfxdp)],
    get rewinds() {
      return states.rewinds + afxdpStates.rewinds;
    },
    observed: (place) => (states.get(place.name) === undefined ? afxdpStates : states).observed(place),
    async whenSynced(signal) {
      await Promise.all([states.whenSynced(signal), afxdpStates.whenSynced(signal)]);
    },
    subscribe(listener) {
      const end = states.subscribe(({ key, before, after }) => {
        listener({ key, before: map(before, ofSriov) ?? afxdp(key), after: map(after, ofSriov) ?? afxdp(key) });
      });
      const endAfxdp = afxdpStates.subscribe(({ key, before, after }) => {
        if (states.get(key) !== undefined) return;
        listener({ key, before: map(before, ofAfxdp), after: map(after, ofAfxdp) });
      });
      return () => {
        end();
        endAfxdp();
      };
    },
  };
}

/** Calls `make` once for each object, because decisions about all nodes ask for each of them. */
function once<From extends object, To>(make: (value: From) => To): (value: From) => To {
  const made = new WeakMap<From, To>();
  return (value) => {
    let result = made.get(value);
    if (result === undefined) made.set(value, (result = make(value)));
    return result;
  };
}

function map<From, To>(value: From | undefined, to: (value: From) => To): To | undefined {
  return value === undefined ? undefined : to(value);
}

interface DrainRuleSources {
  readonly rules: LiveRules;
  readonly afxdpRules: AfxdpLiveRules;
  readonly pools: Cache<SriovNetworkPoolConfig>;
}

/**
 * createDrainRules returns the rules that decide which nodes are drained: those of the SriovOperatorConfig or, without one, the
 * pools with the node set of the AfxdpOperatorConfig. Subscribes to the pools until `signal` aborts. The result returns undefined
 * while neither config exists.
 */
export function createDrainRules({ rules, afxdpRules, pools }: DrainRuleSources, signal: AbortSignal): LiveRules {
  let current: { readonly of: AfxdpLive; readonly rules: Rules } | undefined;
  const end = pools.subscribe(({ before, after }) => {
    if (!equalJson(before?.spec, after?.spec)) current = undefined;
  });
  signal.addEventListener("abort", end, { once: true });

  function withoutSriov(): Rules | undefined {
    const live = afxdpRules();
    if (live === undefined) return undefined;
    if (current?.of !== live) {
      const { nodeSet } = live.rules;
      current = { of: live, rules: { ...createRules({ policies: [], pools: pools.list() }), nodeSet } };
    }
    return current.rules;
  }

  return () => rules() ?? withoutSriov();
}
