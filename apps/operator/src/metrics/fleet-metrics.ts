// SPDX-License-Identifier: Apache-2.0
/**
 * registerFleetMetrics registers metrics about the fleet: nodes, and VFs by policy and resource. They are computed from the
 * caches at each scrape, so every replica reports the same values; aggregate them with max().
 */
import { drainAnswers, type SriovNetworkNodePolicy, type SriovNetworkPoolConfig } from "@switchyard/api";
import type { Cache } from "@switchyard/kube";
import { Gauge, type Registry } from "@switchyard/service";
import { createDrainCarriers, type CarrierCaches, type DrainCarrier } from "../drain/drain-carriers.ts";
import { heldSlot } from "../facts/held-slot.ts";

export interface FleetCaches extends CarrierCaches {
  readonly policies: Cache<SriovNetworkNodePolicy>;
  readonly pools: Cache<SriovNetworkPoolConfig>;
}

/** `nowMs` is the wall clock. */
export function registerFleetMetrics(registry: Registry, caches: FleetCaches, nowMs: () => number = Date.now): void {
  const { states, policies, pools } = caches;
  const carriers = createDrainCarriers(caches);
  const registers = [registry];
  new Gauge({
    name: "switchyard_node_states",
    help: "Number of SriovNetworkNodeStates by status.syncStatus.",
    labelNames: ["sync_status"],
    registers,
    collect() {
      this.reset();
      for (const { syncStatus } of states.list()) this.inc({ sync_status: syncStatus || "Unknown" });
    },
  });
  new Gauge({
    name: "switchyard_policy_vfs",
    help: "Number of existing VFs that are bound to the driver that their policy sets, by policy.",
    labelNames: ["policy"],
    registers,
    collect() {
      this.reset();
      for (const { metadata } of policies.list()) this.set({ policy: metadata.name }, 0);
      for (const { configuredVfs } of states.list()) {
        for (const [policy, count] of Object.entries(configuredVfs)) this.inc({ policy }, count);
      }
    },
  });
  const counting = { labelNames: ["kind", "name"], registers };
  new Gauge({
    ...counting,
    name: "switchyard_matched_nodes",
    help: "Number of nodes that a policy or pool selects. Nodes without a NIC that the policy matches do not count.",
    collect() {
      this.reset();
      for (const { kind, metadata, status } of counted()) {
        this.set({ kind, name: metadata.name }, status?.matchedNodeCount ?? 0);
      }
    },
  });
  new Gauge({
    ...counting,
    name: "switchyard_ready_nodes",
    help: "Number of nodes that are configured as a policy or pool requires.",
    collect() {
      this.reset();
      for (const { kind, metadata, status } of counted()) {
        this.set({ kind, name: metadata.name }, status?.readyNodeCount ?? 0);
      }
    },
  });
  new Gauge({
    name: "switchyard_resource_vfs",
    help:
      "VFs of all nodes by resource and state: wanted by specs, configured, held by a pod, or free. Without an answer of " +
      "the kubelet, neither held nor free.",
    labelNames: ["resource", "state"],
    registers,
    collect() {
      this.reset();
      for (const { resourceVfs } of states.list()) {
        for (const [resource, counts] of Object.entries(resourceVfs)) {
          for (const state of vfStates) this.inc({ resource, state }, counts[state]);
        }
      }
    },
  });

  new Gauge({
    name: "switchyard_drain_slot_age_seconds",
    help:
      "Age of the longest-held drain slot in seconds, by state of its node: draining, complete, or stalled (complete, " +
      "without progress). 0 if none is held.",
    labelNames: ["state"],
    registers,
    collect() {
      for (const [state, seconds] of slotAges(carriers.list(), nowMs())) this.set({ state }, seconds);
    },
  });

  function counted(): readonly (SriovNetworkNodePolicy | SriovNetworkPoolConfig)[] {
    return [...policies.list(), ...pools.list()];
  }
}

function slotAges(states: readonly DrainCarrier[], nowMs: number): ReadonlyMap<string, number> {
  const ages = new Map([
    ["draining", 0],
    ["complete", 0],
    ["stalled", 0],
  ]);
  for (const state of states) {
    const slot = heldSlot(state, nowMs);
    if (slot?.sinceMs === undefined) continue;
    const seconds = Math.max(0, (nowMs - slot.sinceMs) / 1000);
    const held =
      slot.state === drainAnswers.draining
        ? ["draining"]
        : slot.stall === undefined
          ? ["complete"]
          : ["complete", "stalled"];
    for (const name of held) ages.set(name, Math.max(ages.get(name) ?? 0, seconds));
  }
  return ages;
}

const vfStates = ["wanted", "configured", "held", "free"] as const;
