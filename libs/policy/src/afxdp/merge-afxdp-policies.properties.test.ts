// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { afxdpNics, afxdpPolicy, node } from "../testing/objects.ts";
import { afxdpDevices } from "./afxdp-device.ts";
import { createAfxdpRules } from "./afxdp-rules.ts";
import { mergeAfxdpPolicies } from "./merge-afxdp-policies.ts";

/** Few names, pools and devices, so that policies collide often. */
const specs = fc.record({
  poolName: fc.constantFrom("red", "RED", "green"),
  priority: fc.constantFrom(0, 10, 10, 99),
  numSfs: fc.constantFrom(0, 0, 2, 65),
  uid: fc.constantFrom(0, 0, 0, 1500),
  maxDevices: fc.constantFrom(1, 2, 100),
  nicSelector: fc.constantFrom(
    ...[{ vendor: "8086" }, { driver: "ice" }, { pfNames: ["ens1f0", "veth10"] }, { pfNames: ["absent"] }, {}],
  ),
});
const policies = fc.array(specs, { maxLength: 6 }).map((all) => all.map((spec, i) => afxdpPolicy(`p${i}`, spec)));
const devices = afxdpDevices({ interfaces: afxdpNics });
const merge = (all: Parameters<typeof createAfxdpRules>[0]["policies"]) =>
  mergeAfxdpPolicies(node(), devices, createAfxdpRules({ policies: all }));

describe("mergeAfxdpPolicies, for any policies,", () => {
  it("does not depend on their order", () => {
    const shuffled = policies.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, ([all, other]) => {
        expect(merge(other)).toEqual(merge(all));
      }),
    );
  });

  it("gives each device to one policy and its pool, and no pool two modes", () => {
    const isPartitioned = fc.property(policies, (all) => {
      const { spec, matches } = merge(all);
      const taken = matches.flatMap(({ devices: own }) => own);
      expect(new Set(taken).size).toBe(taken.length);
      const { interfaces = [], pools = [] } = spec;
      expect(interfaces.map(({ pciAddress, name }) => pciAddress ?? name).sort()).toEqual(taken.toSorted());
      expect(new Set(pools.map(({ name }) => name.toLowerCase())).size).toBe(pools.length);
      for (const { poolName, mode } of interfaces) {
        expect(pools.find(({ name }) => name === poolName)?.mode).toBe(mode);
      }
    });
    fc.assert(isPartitioned);
  });

  it("gives the policies of higher priority the same with and without one of the lowest priority", () => {
    const isUnmoved = fc.property(policies, specs, (all, spec) => {
      const strong = all.map((one) => ({ ...one, spec: { ...one.spec, priority: (one.spec.priority ?? 99) / 2 } }));
      const weak = afxdpPolicy("a-weak", { ...spec, priority: 99 });
      expect(merge([...strong, weak]).matches.slice(0, strong.length)).toEqual(merge(strong).matches);
    });
    fc.assert(isUnmoved);
  });

  it("has a problem for each policy that selects the node and gets no device", () => {
    const isReported = fc.property(policies, (all) => {
      const { matches, problems } = merge(all);
      for (const { policyName } of matches.filter(({ devices: own }) => own.length === 0)) {
        expect(problems.some((problem) => problem.policyName === policyName)).toBe(true);
      }
    });
    fc.assert(isReported);
  });
});
