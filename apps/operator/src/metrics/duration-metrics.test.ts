// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, type SriovNetworkNodePolicy } from "@switchyard/api";
import type { CacheChange } from "@switchyard/kube";
import { Registry } from "@switchyard/service";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import { createCluster, nic } from "../testing/cluster.ts";
import { watchDurations } from "./duration-metrics.ts";

const nowMs = Date.parse("2026-11-20T12:10:00Z");
const condition = (type: string, status: "True" | "False", lastTransitionTime: string) => ({
  type,
  status,
  reason: "R",
  message: "",
  lastTransitionTime,
});

function setUp(isLeading = true) {
  const cluster = createCluster();
  const registry = new Registry();
  let nodeChanged: ((change: CacheChange<CachedNodeState>) => void) | undefined;
  const states = {
    subscribe(listener: (change: CacheChange<CachedNodeState>) => void) {
      nodeChanged = listener;
      return () => undefined;
    },
  };
  let policyChanged: ((change: CacheChange<SriovNetworkNodePolicy>) => void) | undefined;
  const policies = {
    subscribe(listener: (change: CacheChange<SriovNetworkNodePolicy>) => void) {
      policyChanged = listener;
      return () => undefined;
    },
  };
  watchDurations(registry, { states, policies }, { isLeading: () => isLeading, nowMs: () => nowMs });
  return {
    cluster,
    changeNode: (before: CachedNodeState, after: CachedNodeState) => nodeChanged?.({ key: "n", before, after }),
    changePolicy: (before: SriovNetworkNodePolicy, after: SriovNetworkNodePolicy) =>
      policyChanged?.({ key: "p", before, after }),
    async sumOf(metric: string): Promise<readonly string[]> {
      const page = await registry.getSingleMetricAsString(metric);
      return page.split("\n").filter((line) => /_(sum|count)/.test(line));
    },
  };
}

describe("the durations of changes", () => {
  it("are measured from the first eviction of a drain, and from the change of a node's spec", async () => {
    const { cluster, changeNode, sumOf } = setUp();
    const since = "2026-11-20T12:09:00Z";
    const conditions = [condition("DrainProgressing", "True", since)];
    cluster.setState("n", { status: { conditions } }, { [annotations.currentState]: "Draining" });
    const draining = stateOf(cluster);
    const status = { interfaces: [nic()], syncStatus: "Succeeded" };
    cluster.setState("n", { status }, { [annotations.currentState]: "DrainComplete" });
    const done = { ...stateOf(cluster), specWrittenAt: "2026-11-20T12:00:00Z" };
    changeNode(draining, done);
    changeNode(done, done);
    expect(await sumOf("switchyard_drain_seconds")).toEqual([
      "switchyard_drain_seconds_sum 60",
      "switchyard_drain_seconds_count 1",
    ]);
    expect(await sumOf("switchyard_node_configuration_seconds")).toEqual([
      "switchyard_node_configuration_seconds_sum 600",
      "switchyard_node_configuration_seconds_count 1",
    ]);
  });

  it.each([
    { who: "the leader", isLeading: true, count: 1 },
    { who: "a standby replica", isLeading: false, count: 0 },
  ])("of a policy are counted $count times by $who", async ({ isLeading, count }) => {
    const { cluster, changePolicy, sumOf } = setUp(isLeading);
    cluster.addPolicy("fast");
    const policy = cluster.policies.get("fast");
    if (policy === undefined) throw new Error("no policy");
    const progressing = { conditions: [condition("Progressing", "True", "2026-11-20T12:08:20Z")] };
    const ready = { conditions: [condition("Ready", "True", "2026-11-20T12:10:00Z")] };
    changePolicy({ ...policy, status: progressing }, { ...policy, status: ready });
    expect(await sumOf("switchyard_policy_configuration_seconds")).toEqual([
      `switchyard_policy_configuration_seconds_sum ${count * 100}`,
      `switchyard_policy_configuration_seconds_count ${count}`,
    ]);
  });
});

function stateOf({ states }: ReturnType<typeof createCluster>): CachedNodeState {
  const state = states.get("n");
  if (state === undefined) throw new Error("no state");
  return state;
}
