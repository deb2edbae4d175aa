// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { ObjectMeta, SriovNetworkNodePolicy } from "@switchyard/api";
import { createCluster } from "../testing/cluster.ts";

/** A cluster whose rules are computed. */
function setUp() {
  const cluster = createCluster();
  cluster.addConfig();
  cluster.addPolicy("p");
  cluster.rules();
  return cluster;
}

/** Returns the object with other metadata. */
function later<T extends { readonly metadata: ObjectMeta }>(object: T | undefined, metadata: Partial<ObjectMeta>): T {
  if (object === undefined) throw new TypeError("no object");
  return { ...object, metadata: { ...object.metadata, resourceVersion: "1000", ...metadata } };
}

describe("createLiveRules", () => {
  it("computes the rules again after each change of a spec, and only then", () => {
    const { rules, policies, addPolicy } = setUp();
    const before = rules();
    const counted: SriovNetworkNodePolicy = { ...later(policies.get("p"), {}), status: { matchedNodeCount: 1 } };
    policies.upsert(counted);
    expect(rules()).toBe(before);
    addPolicy("q");
    expect(rules()?.policies.map(({ metadata }) => metadata.name)).toEqual(["p", "q"]);
  });

  it("returns the current SriovOperatorConfig, also if it replaces another one without a spec", () => {
    const { rules, operatorConfigs } = setUp();
    const next = later(operatorConfigs.get("default"), { uid: "uid-next" });
    operatorConfigs.remove(next.metadata);
    expect(rules()).toBeUndefined();
    operatorConfigs.upsert(next);
    expect(rules()?.operatorConfig?.metadata.uid).toBe("uid-next");
  });

  it("returns the current generation of a policy, also if its spec was changed back", () => {
    const { rules, policies } = setUp();
    policies.upsert(later(policies.get("p"), { generation: 3 }));
    expect(rules()?.policies[0]?.metadata.generation).toBe(3);
  });
});
