// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { inOrderOfApplication } from "../order.ts";
import { policy } from "../testing/objects.ts";

describe("inOrderOfApplication", () => {
  const namesOf = (policies: readonly SriovNetworkNodePolicy[]) => policies.map(({ metadata }) => metadata.name);

  it("sorts the lowest number last", () => {
    const policies = [policy("a", { priority: 10 }), policy("b", { priority: 99 }), policy("c", { priority: 0 })];
    expect(namesOf(inOrderOfApplication(policies))).toEqual(["b", "a", "c"]);
  });

  it("sorts equal priorities by name, by code unit", () => {
    const policies = ["b", "a-1", "B", "a.1"].map((name) => policy(name, { priority: 5 }));
    expect(namesOf(inOrderOfApplication(policies))).toEqual(["B", "a-1", "a.1", "b"]);
  });

  it("treats an absent priority as 0, which Go clients omit (sriov-operator.md M-38)", () => {
    const spec = { resourceName: "r", nodeSelector: {}, numVfs: 1, nicSelector: { vendor: "8086" } };
    const silent = { ...policy("silent"), spec };
    expect(namesOf(inOrderOfApplication([silent, policy("one", { priority: 1 })]))).toEqual(["one", "silent"]);
  });

  it('omits the policy named "default"', () => {
    expect(namesOf(inOrderOfApplication([policy("default"), policy("a")]))).toEqual(["a"]);
  });

  it("does not change its argument", () => {
    const policies = [policy("b"), policy("a")];
    inOrderOfApplication(policies);
    expect(namesOf(policies)).toEqual(["b", "a"]);
  });
});
