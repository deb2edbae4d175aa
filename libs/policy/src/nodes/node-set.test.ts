// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { isInNodeSet } from "./node-set.ts";
import { createRules } from "../merge/rules.ts";
import { node, operatorConfig } from "../testing/objects.ts";

describe("isInNodeSet", () => {
  const byDefault = createRules({ policies: [], pools: [] });

  it.each([
    { does: "takes a Linux worker", labels: {}, result: true },
    {
      does: "wants the worker label's value empty",
      labels: { "node-role.kubernetes.io/worker": "true" },
      result: false,
    },
    { does: "wants Linux", labels: { "kubernetes.io/os": "windows" }, result: false },
  ])("$does by default", ({ labels, result }) => {
    expect(isInNodeSet(node("worker-1", labels), byDefault)).toBe(result);
  });

  it("takes an empty configDaemonNodeSelector for the default", () => {
    const rules = createRules({
      policies: [],
      pools: [],
      operatorConfig: operatorConfig({ configDaemonNodeSelector: {} }),
    });
    expect(isInNodeSet(node(), rules)).toBe(true);
  });

  it("wants all labels of configDaemonNodeSelector, and no others", () => {
    const selector = { configDaemonNodeSelector: { sriov: "yes", zone: "a" } };
    const rules = createRules({ policies: [], pools: [], operatorConfig: operatorConfig(selector) });
    const labelled = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n", labels: { sriov: "yes", zone: "a" } },
    } as const;
    expect([isInNodeSet(labelled, rules), isInNodeSet(node("n", { sriov: "yes" }), rules)]).toEqual([true, false]);
  });

  it("leaves out a node without labels", () => {
    expect(isInNodeSet({ apiVersion: "v1", kind: "Node", metadata: { name: "bare" } }, byDefault)).toBe(false);
  });
});
