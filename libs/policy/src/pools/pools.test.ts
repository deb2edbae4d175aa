// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkPoolConfig } from "@switchyard/api";
import fc from "fast-check";
import { mergePolicies } from "../merge/merge-policies.ts";
import { poolOverlaps, poolsSelecting, rdmaModeOf } from "./pools.ts";
import { createRules } from "../merge/rules.ts";
import { node, pool } from "../testing/objects.ts";

const rulesOf = (...pools: SriovNetworkPoolConfig[]) => createRules({ policies: [], pools });
const zoneA = { nodeSelector: { matchLabels: { zone: "a" } } };

describe("poolsSelecting", () => {
  it.each([
    { does: "returns the pool that selects the node", pools: [pool("a", zoneA)], names: ["a"] },
    { does: "treats an absent nodeSelector as selecting all nodes", pools: [pool("all", {})], names: ["all"] },
    {
      does: "treats an empty nodeSelector as selecting all nodes",
      pools: [pool("all", { nodeSelector: {} })],
      names: ["all"],
    },
    {
      does: "omits pools of other nodes",
      pools: [pool("b", { nodeSelector: { matchLabels: { zone: "b" } } })],
      names: [],
    },
    {
      does: "omits pools for hardware offload",
      pools: [pool("hw", { ovsHardwareOffloadConfig: { name: "worker" } })],
      names: [],
    },
    {
      does: "treats an empty ovsHardwareOffloadConfig as absent (sriov-operator.md M-39)",
      pools: [pool("a", { ovsHardwareOffloadConfig: {} })],
      names: ["a"],
    },
    {
      does: "sorts the oldest pool first (sriov-operator.md M-44)",
      pools: [pool("a", {}, "02-01"), pool("b", {}, "01-01")],
      names: ["b", "a"],
    },
    {
      does: "sorts pools of equal age by name",
      pools: [pool("b", {}, "01-01"), pool("a", {}, "01-01")],
      names: ["a", "b"],
    },
    {
      does: "treats a pool without a creation time as the youngest",
      pools: [pool("a", {}), pool("b", {}, "01-01")],
      names: ["b", "a"],
    },
  ])("$does", ({ pools, names }) => {
    const found = poolsSelecting(node("n", { zone: "a" }), rulesOf(...pools));
    expect(found.map(({ metadata }) => metadata.name)).toEqual(names);
  });
});

describe("rdmaModeOf", () => {
  const modeOf = (...pools: SriovNetworkPoolConfig[]) => rdmaModeOf(node(), rulesOf(...pools));

  it.each([
    { does: "is the mode of the pool", pools: [pool("a", { rdmaMode: "exclusive" })], mode: "exclusive" },
    { does: "is undefined without a pool", pools: [], mode: undefined },
    {
      does: "is the mode of the oldest pool if they differ (sriov-operator.md M-44)",
      pools: [pool("a", { rdmaMode: "shared" }, "02-01"), pool("b", { rdmaMode: "exclusive" }, "01-01")],
      mode: "exclusive",
    },
    {
      does: "ignores pools without a mode, old or new (sriov-operator.md M-44)",
      pools: [pool("a", {}, "01-01"), pool("b", { rdmaMode: "exclusive" }, "02-01"), pool("c", {}, "03-01")],
      mode: "exclusive",
    },
  ])("$does", ({ pools, mode }) => {
    expect(modeOf(...pools)).toBe(mode);
  });

  it("never changes when a newer pool is added", () => {
    const specs = fc.record({ rdmaMode: fc.constantFrom("shared", "exclusive") }, { requiredKeys: [] });
    const stays = fc.property(fc.array(specs, { maxLength: 4 }), specs, (older, newest) => {
      const pools = older.map((spec, day) => pool(`p${day}`, spec, `01-1${day}`));
      const mode = modeOf(...pools);
      fc.pre(mode !== undefined);
      expect(modeOf(pool("a", newest, "02-01"), ...pools)).toBe(mode);
    });
    fc.assert(stays);
  });

  it("is part of the merged spec", () => {
    expect(mergePolicies(node(), [], rulesOf(pool("a", { rdmaMode: "shared" }))).spec).toEqual({
      system: { rdmaMode: "shared" },
    });
  });
});

describe("poolOverlaps", () => {
  it("is empty for a node in one pool", () => {
    expect(poolOverlaps(node(), rulesOf(pool("all", {}), pool("a", zoneA)))).toEqual([]);
  });

  it("names the other pools and the settings that apply", () => {
    const rules = rulesOf(pool("new", { ...zoneA, rdmaMode: "shared" }, "02-01"), pool("old", {}, "01-01"));
    expect(poolOverlaps(node("n1", { zone: "a" }), rules)).toEqual([
      {
        poolName: "old",
        code: "overlap",
        field: "spec.nodeSelector",
        value: undefined,
        message:
          'node "n1" is also selected by "new": the maxUnavailable of each pool applies to it, ' +
          'with rdmaMode "shared" of pool "new"; only one pool should select it',
      },
      {
        poolName: "new",
        code: "overlap",
        field: "spec.nodeSelector",
        value: zoneA.nodeSelector,
        message:
          'node "n1" is also selected by "old": the maxUnavailable of each pool applies to it, ' +
          'with rdmaMode "shared" of pool "new"; only one pool should select it',
      },
    ]);
  });
});

describe("poolProblems", () => {
  it("contain field and value, and an invalid selector selects nothing", () => {
    const bad = pool("bad", {
      nodeSelector: { matchExpressions: [{ key: "zone", operator: "In" }] },
      maxUnavailable: "0%",
    });
    const rules = rulesOf(bad, pool("good", { maxUnavailable: "25%" }));
    expect(rules.poolProblems).toMatchObject([
      { poolName: "bad", code: "bad-node-selector", field: "spec.nodeSelector.matchExpressions[0].values", value: [] },
      { poolName: "bad", code: "bad-max-unavailable", field: "spec.maxUnavailable", value: "0%" },
    ]);
    expect(poolsSelecting(node(), rules).map(({ metadata }) => metadata.name)).toEqual(["good"]);
  });
});
