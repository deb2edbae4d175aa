// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { isInNodeSet } from "./label-selector.ts";
import { createRules } from "../merge/rules.ts";
import { node, operatorConfig } from "../testing/objects.ts";

describe("isInNodeSet", () => {
  const byDefault = createRules({ policies: [], pools: [] });

  it.each([
    { does: "includes a Linux worker", labels: {}, result: true },
    {
      does: "requires the worker label's value to be empty",
      labels: { "node-role.kubernetes.io/worker": "true" },
      result: false,
    },
    { does: "requires Linux", labels: { "kubernetes.io/os": "windows" }, result: false },
  ])("$does by default", ({ labels, result }) => {
    expect(isInNodeSet(node("worker-1", labels), byDefault)).toBe(result);
  });

  it("treats an empty configDaemonNodeSelector as absent", () => {
    const rules = createRules({
      policies: [],
      pools: [],
      operatorConfig: operatorConfig({ configDaemonNodeSelector: {} }),
    });
    expect(isInNodeSet(node(), rules)).toBe(true);
  });

  it("requires all labels of configDaemonNodeSelector and no others", () => {
    const selector = { configDaemonNodeSelector: { sriov: "yes", zone: "a" } };
    const rules = createRules({ policies: [], pools: [], operatorConfig: operatorConfig(selector) });
    const labelled = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n", labels: { sriov: "yes", zone: "a" } },
    } as const;
    expect([isInNodeSet(labelled, rules), isInNodeSet(node("n", { sriov: "yes" }), rules)]).toEqual([true, false]);
  });

  it("excludes a node without labels", () => {
    expect(isInNodeSet({ apiVersion: "v1", kind: "Node", metadata: { name: "bare" } }, byDefault)).toBe(false);
  });
});
