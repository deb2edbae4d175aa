// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { inOrderOfApplication } from "./policy-order.ts";
import { policy } from "../testing/objects.ts";

describe("inOrderOfApplication", () => {
  const namesOf = (policies: readonly SriovNetworkNodePolicy[]) => policies.map(({ metadata }) => metadata.name);

  it("puts the lowest number last", () => {
    const policies = [policy("a", { priority: 10 }), policy("b", { priority: 99 }), policy("c", { priority: 0 })];
    expect(namesOf(inOrderOfApplication(policies))).toEqual(["b", "a", "c"]);
  });

  it("puts the alphabetically last of equals last, by code point", () => {
    const policies = ["b", "a-1", "B", "a.1"].map((name) => policy(name, { priority: 5 }));
    expect(namesOf(inOrderOfApplication(policies))).toEqual(["B", "a-1", "a.1", "b"]);
  });

  it("takes an absent priority for 0, as Go's zero value stands for it (M-38)", () => {
    const spec = { resourceName: "r", nodeSelector: {}, numVfs: 1, nicSelector: { vendor: "8086" } };
    const silent = { ...policy("silent"), spec };
    expect(namesOf(inOrderOfApplication([silent, policy("one", { priority: 1 })]))).toEqual(["one", "silent"]);
  });

  it('leaves out the policy named "default"', () => {
    expect(namesOf(inOrderOfApplication([policy("default"), policy("a")]))).toEqual(["a"]);
  });

  it("does not sort in place", () => {
    const policies = [policy("b"), policy("a")];
    inOrderOfApplication(policies);
    expect(namesOf(policies)).toEqual(["b", "a"]);
  });
});
