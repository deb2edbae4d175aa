// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, labels, type Node, type SriovNetworkNodePolicy, type SriovOperatorConfig } from "@switchyard/api";
import { createRules } from "@switchyard/policy";
import { createCluster, nic } from "../testing/cluster.ts";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import { createMergeResults } from "./merge-results.ts";
import {
  affectsNodes,
  isOwnWrite,
  nodeAffectedByLabels,
  nodeAffectedByState,
  nodesAffectedByPolicy,
} from "./affected-nodes.ts";

function policy(nodeSelector: Readonly<Record<string, string>>, status = {}): SriovNetworkNodePolicy {
  const cluster = createCluster();
  cluster.addPolicy("p", { nodeSelector });
  const found = cluster.policies.get("p");
  if (found === undefined) throw new Error("no policy");
  return { ...found, status };
}

function laterGeneration(before: SriovNetworkNodePolicy): SriovNetworkNodePolicy {
  return { ...before, metadata: { ...before.metadata, generation: (before.metadata.generation ?? 0) + 2 } };
}

describe("nodesAffectedByPolicy", () => {
  const { nodes, addNode } = createCluster();
  addNode("a", { rack: "1" });
  addNode("b", { rack: "2" });
  addNode("c", { rack: "3" });

  it.each([
    {
      change: "a new policy affects the nodes that it selects",
      before: undefined,
      after: policy({ rack: "1" }),
      wakes: ["a"],
    },
    {
      change: "a changed selector affects old and new nodes",
      before: policy({ rack: "1" }),
      after: policy({ rack: "2" }),
      wakes: ["a", "b"],
    },
    { change: "a deleted policy affects its nodes", before: policy({ rack: "3" }), after: undefined, wakes: ["c"] },
    {
      change: "a policy that was changed and changed back affects its nodes",
      before: policy({ rack: "1" }),
      after: laterGeneration(policy({ rack: "1" })),
      wakes: ["a"],
    },
    {
      change: "a changed status affects no node",
      before: policy({}),
      after: policy({}, { readyNodeCount: 1 }),
      wakes: [],
    },
  ])("$change", ({ before, after, wakes }) => {
    expect(nodesAffectedByPolicy({ key: "p", before, after }, nodes)).toEqual(wakes);
  });
});

describe("nodeAffectedByLabels", () => {
  const rulesOf = (nodeSelector: Readonly<Record<string, string>>) =>
    createRules({ policies: [policy(nodeSelector)], pools: [] });
  const node = (own: Readonly<Record<string, string>>, notes: Readonly<Record<string, string>> = {}): Node => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "a", labels: own, annotations: notes },
  });
  const enabled = { [labels.devicePlugin]: "Enabled" };
  const requested = { [annotations.nodeState]: "Drain_Required" };

  it.each([
    { change: "a new node", before: undefined, after: node({}), selector: {}, wakes: ["a"] },
    { change: "a deleted node", before: node({}), after: undefined, selector: {}, wakes: ["a"] },
    { change: "another label", before: node({}), after: node({ rack: "1" }), selector: {}, wakes: ["a"] },
    { change: "an annotation", before: node({}), after: node({}, requested), selector: {}, wakes: [] },
    { change: "a label of the operator", before: node({}), after: node(enabled), selector: { rack: "1" }, wakes: [] },
    {
      change: "a label of the operator by which a policy selects",
      before: node({}),
      after: node(enabled),
      selector: enabled,
      wakes: ["a"],
    },
  ])("wakes the node or not for $change", ({ before, after, selector, wakes }) => {
    expect(nodeAffectedByLabels({ key: "a", before, after }, rulesOf(selector))).toEqual(wakes);
  });
});

describe("affectsNodes", () => {
  const config = (uid: string, rest: Partial<SriovOperatorConfig> = {}, going = {}): SriovOperatorConfig => ({
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovOperatorConfig",
    metadata: { name: "default", uid, ...going },
    ...rest,
  });

  it.each([
    { change: "a new config", before: undefined, after: config("1"), concerns: true },
    { change: "another spec", before: config("1"), after: config("1", { spec: { useCDI: true } }), concerns: true },
    { change: "another config of the same name", before: config("1"), after: config("2"), concerns: true },
    {
      change: "a config that is being deleted",
      before: config("1"),
      after: config("1", {}, { deletionTimestamp: "2026-11-21T00:00:00Z" }),
      concerns: true,
    },
    {
      change: "a changed status",
      before: config("1"),
      after: config("1", { status: { observedGeneration: 1 } }),
      concerns: false,
    },
  ])("$change: $concerns", ({ before, after, concerns }) => {
    expect(affectsNodes({ key: "default", before, after })).toBe(concerns);
  });
});

describe("nodeAffectedByState", () => {
  function facts(name: string, syncStatus: string) {
    const { setState, states } = createCluster();
    setState("n", { status: { interfaces: [nic({ name })], syncStatus } });
    return states.get("n");
  }

  it("returns the node if a NIC is renamed", () => {
    const change = { key: "n", before: facts("eth0", "Succeeded"), after: facts("eth1", "Succeeded") };
    expect(nodeAffectedByState(change)).toEqual(["n"]);
  });

  it("returns no node for the progress of a daemon", () => {
    const change = { key: "n", before: facts("eth0", "InProgress"), after: facts("eth0", "Succeeded") };
    expect(nodeAffectedByState(change)).toEqual([]);
  });
});

describe("isOwnWrite", () => {
  const wanted = { interfaces: [{ pciAddress: "0000:3b:00.0", numVfs: 4 }] };
  const seen = (overrides: Partial<CachedNodeState> = {}): CachedNodeState => {
    const { setState, states } = createCluster();
    setState("n", { spec: structuredClone(wanted), status: { interfaces: [nic()] } });
    const state = states.get("n");
    if (state === undefined) throw new Error("no state");
    return { ...state, ...overrides };
  };
  const other = { interfaces: [{ pciAddress: "0000:3b:00.0", numVfs: 5 }] };
  function mergeResultsOf(...names: readonly string[]) {
    const mergeResults = createMergeResults();
    const merged = { matches: [], problems: [], generations: new Map<string, number>() };
    for (const name of names) mergeResults.set(name, { ...merged, spec: wanted, interfaces: seen().interfaces });
    return mergeResults;
  }

  it.each<{ what: string; before?: CachedNodeState; after: CachedNodeState | undefined; echo: boolean }>([
    { what: "a new state with the written spec", after: seen(), echo: true },
    { what: "the written spec", before: seen({ spec: other }), after: seen(), echo: true },
    { what: "a spec that another client edited", before: seen(), after: seen({ spec: other }), echo: false },
    { what: "new NICs", before: seen(), after: seen({ interfaces: [] }), echo: false },
    { what: "a state that replaces another one", before: seen(), after: seen({ uid: "other" }), echo: false },
    { what: "a state with a deletion deadline", after: seen({ keepStateUntil: "2026-11-21T00:00:00Z" }), echo: false },
    { what: "a deletion", before: seen(), after: undefined, echo: false },
  ])("$what: $echo", ({ before, after, echo }) => {
    expect(isOwnWrite({ key: "n", before, after }, mergeResultsOf("n"))).toBe(echo);
  });

  it("is false for a node without a merge result", () => {
    expect(isOwnWrite({ key: "n", before: undefined, after: seen() }, mergeResultsOf("m"))).toBe(false);
  });

  it("makes the merge result take over the state's values", () => {
    const mergeResults = mergeResultsOf("n");
    const after = seen();
    isOwnWrite({ key: "n", before: undefined, after }, mergeResults);
    expect(mergeResults.get("n")?.spec).toBe(after.spec);
    expect(mergeResults.get("n")?.interfaces).toBe(after.interfaces);
  });
});
