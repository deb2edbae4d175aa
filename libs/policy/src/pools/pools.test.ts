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
    { does: "finds the pool that selects the node", pools: [pool("a", zoneA)], names: ["a"] },
    { does: "takes an absent nodeSelector for every node", pools: [pool("all", {})], names: ["all"] },
    { does: "takes an empty nodeSelector for every node", pools: [pool("all", { nodeSelector: {} })], names: ["all"] },
    {
      does: "passes over pools of other nodes",
      pools: [pool("b", { nodeSelector: { matchLabels: { zone: "b" } } })],
      names: [],
    },
    {
      does: "passes over pools for hardware offload",
      pools: [pool("hw", { ovsHardwareOffloadConfig: { name: "worker" } })],
      names: [],
    },
    {
      does: "takes an empty ovsHardwareOffloadConfig for none (M-39)",
      pools: [pool("a", { ovsHardwareOffloadConfig: {} })],
      names: ["a"],
    },
    {
      does: "has the oldest first (M-44)",
      pools: [pool("a", {}, "02-01"), pool("b", {}, "01-01")],
      names: ["b", "a"],
    },
    {
      does: "has equal ages by name",
      pools: [pool("b", {}, "01-01"), pool("a", {}, "01-01")],
      names: ["a", "b"],
    },
    {
      does: "takes what was never created for the youngest",
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
    { does: "is the pool's", pools: [pool("a", { rdmaMode: "exclusive" })], mode: "exclusive" },
    { does: "is none without a pool", pools: [], mode: undefined },
    {
      does: "is the oldest pool's where they differ (M-44)",
      pools: [pool("a", { rdmaMode: "shared" }, "02-01"), pool("b", { rdmaMode: "exclusive" }, "01-01")],
      mode: "exclusive",
    },
    {
      does: "does not go for a pool that gives none, old or new (M-44)",
      pools: [pool("a", {}, "01-01"), pool("b", { rdmaMode: "exclusive" }, "02-01"), pool("c", {}, "03-01")],
      mode: "exclusive",
    },
  ])("$does", ({ pools, mode }) => {
    expect(modeOf(...pools)).toBe(mode);
  });

  it("never changes for a pool that comes later, once there is one", () => {
    const specs = fc.record({ rdmaMode: fc.constantFrom("shared", "exclusive") }, { requiredKeys: [] });
    const stays = fc.property(fc.array(specs, { maxLength: 4 }), specs, (older, newest) => {
      const pools = older.map((spec, day) => pool(`p${day}`, spec, `01-1${day}`));
      const mode = modeOf(...pools);
      fc.pre(mode !== undefined);
      expect(modeOf(pool("a", newest, "02-01"), ...pools)).toBe(mode);
    });
    fc.assert(stays);
  });

  it("stands in the node's spec", () => {
    expect(mergePolicies(node(), [], rulesOf(pool("a", { rdmaMode: "shared" }))).spec).toEqual({
      system: { rdmaMode: "shared" },
    });
  });
});

describe("poolOverlaps", () => {
  it("finds nothing wrong with a node in one pool", () => {
    expect(poolOverlaps(node(), rulesOf(pool("all", {}), pool("a", zoneA)))).toEqual([]);
  });

  it("says on each pool who else has the node and what holds", () => {
    const rules = rulesOf(pool("new", { ...zoneA, rdmaMode: "shared" }, "02-01"), pool("old", {}, "01-01"));
    expect(poolOverlaps(node("n1", { zone: "a" }), rules)).toEqual([
      {
        poolName: "old",
        code: "overlap",
        field: "spec.nodeSelector",
        value: undefined,
        message:
          'node "n1" is also selected by "new": the maxUnavailable of each holds for it, ' +
          'and rdmaMode "shared" of pool "new"; let one pool select it',
      },
      {
        poolName: "new",
        code: "overlap",
        field: "spec.nodeSelector",
        value: zoneA.nodeSelector,
        message:
          'node "n1" is also selected by "old": the maxUnavailable of each holds for it, ' +
          'and rdmaMode "shared" of pool "new"; let one pool select it',
      },
    ]);
  });
});

describe("poolProblems", () => {
  it("name field and value, and a bad selector selects nothing", () => {
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
