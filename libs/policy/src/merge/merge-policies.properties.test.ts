// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type {
  InterfaceSpec,
  InterfaceStatus,
  SriovNetworkNodePolicy,
  SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import fc from "fast-check";
import { mergePolicies, policiesSelecting, type MergedNode } from "./merge-policies.ts";
import { matchesNic } from "../nics/nic-selector.ts";
import { createRules } from "./rules.ts";
import { appliedInTurn } from "../testing/applied-in-turn.ts";
import { nics, node, operatorConfig, policy } from "../testing/objects.ts";
import { overlaps, parseVfRange } from "../vfs/vf-range.ts";

const worker = node("worker-1", { zone: "a" });

function merge(policies: readonly SriovNetworkNodePolicy[], interfaces = nics) {
  const config = operatorConfig({ featureGates: { manageSoftwareBridges: true } });
  return mergePolicies(worker, interfaces, createRules({ policies, pools: [], operatorConfig: config }));
}

/** Few names, priorities and VFs, so that policies collide often. */
const ranges = fc.tuple(fc.nat(5), fc.nat(3)).map(([first, more]) => `#${first}-${first + more}`);
const pfEntries = fc
  .tuple(fc.constantFrom("ens803f0", "ens803f1", "ens803f2", "storage0", "absent"), fc.option(ranges, { nil: "" }))
  .map(([name, range]) => name + range);
const specs = fc.record({
  resourceName: fc.constantFrom("red", "green", "blue"),
  priority: fc.constantFrom(0, 10, 10, 99),
  numVfs: fc.nat(8),
  mtu: fc.constantFrom(0, 1500, 9000),
  nodeSelector: fc.constantFrom({}, { zone: "a" }, { zone: "b" }),
  nicSelector: fc.oneof(
    fc.record({ pfNames: fc.uniqueArray(pfEntries, { minLength: 1, maxLength: 3 }) }),
    fc.constantFrom({ vendor: "8086" }, { deviceID: "158b" }, { rootDevices: ["0000:86:00.2"] }),
  ),
  eSwitchMode: fc.constant("switchdev" as const),
  bridge: fc.constantFrom({}, { ovs: {} }, { ovs: { bridge: { datapathType: "netdev" } } }),
});
const policies = fc.array(specs, { maxLength: 6 }).map((all) => all.map((spec, index) => policy(`p${index}`, spec)));
const badSpecs = fc.tuple(
  specs,
  fc.constantFrom(
    { nicSelector: {} },
    { nicSelector: { vendor: "8086", netFilter: "no pair" } },
    { nicSelector: { pfNames: ["ens803f0#x", "ens803f1#", "storage0#5", "ens803f2#3-1"] } },
    { nicSelector: { vendor: "8086" }, eSwitchMode: "legacy", bridge: { ovs: {} } },
    { nicSelector: { vendor: "8086" }, linkType: "ib", bridge: { ovs: {} } },
  ),
);
const badPolicies = badSpecs.chain(([spec, fault]) => {
  return fc
    .constantFrom("a-bad", "p0-bad", "z-bad")
    .map((name) => policy(name, { ...spec, nodeSelector: {}, ...fault }));
});

describe("mergePolicies, for any policies,", () => {
  it("does not depend on their order", () => {
    const shuffled = policies.chain((all) => {
      return fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }));
    });
    const isSame = fc.property(shuffled, ([all, other]) => {
      expect(JSON.stringify(merge(other))).toBe(JSON.stringify(merge(all)));
    });
    fc.assert(isSame);
  });

  it("returns the same after the node was configured with its result", () => {
    const isFixed = fc.property(policies, (all) => {
      const merged = merge(all);
      expect(merge(all, configured(merged.spec))).toEqual(merged);
    });
    fc.assert(isFixed);
  });

  it("never adds a VF to two groups, and never adds two groups of the same resource to a PF", () => {
    const isPartitioned = fc.property(policies, (all) => {
      for (const { vfGroups = [] } of merge(all).spec.interfaces ?? []) {
        const ofPf = vfGroups.map(({ vfRange = "" }) => parseVfRange(vfRange));
        const shared = ofPf.some((a, i) => ofPf.slice(i + 1).some((b) => a.ok && b.ok && overlaps(a.value, b.value)));
        expect(shared).toBe(false);
        expect(new Set(vfGroups.map(({ resourceName }) => resourceName)).size).toBe(vfGroups.length);
      }
    });
    fc.assert(isPartitioned);
  });

  it("returns the PFs that they select and no others", () => {
    const isBounded = fc.property(policies, (all) => {
      const { spec, matches } = merge(all);
      const selecting = policiesSelecting(worker, createRules({ policies: all, pools: [] }));
      const selected = (filter: (policy: SriovNetworkNodePolicy) => boolean) => {
        const chosen = selecting.filter(filter);
        return nics.filter((nic) => chosen.some((one) => matchesNic(one.spec.nicSelector, nic)));
      };
      const addresses = (list: readonly { pciAddress: string }[]) => list.map(({ pciAddress }) => pciAddress).sort();
      expect(addresses(spec.interfaces ?? [])).toEqual(addresses(selected((one) => one.spec.numVfs > 0)));
      expect([...new Set(matches.flatMap(({ pciAddresses }) => pciAddresses))].sort()).toEqual(
        addresses(selected(() => true)),
      );
    });
    fc.assert(isBounded);
  });

  it("returns the same result for the others if one of them is invalid (sriov-operator.md M-7)", () => {
    const isUnmoved = fc.property(policies, badPolicies, (all, bad) => {
      const [without, withBad] = [merge(all), merge([...all, bad])];
      const ofBad = ({ policyName }: { readonly policyName: string }) => policyName === bad.metadata.name;
      expect(withBad.spec).toEqual(without.spec);
      expect(withBad.problems.filter((problem) => !ofBad(problem))).toEqual(without.problems);
      expect(withBad.matches.filter((match) => !ofBad(match))).toEqual(without.matches);
      expect(withBad.problems.some((problem) => ofBad(problem) && problem.severity === "error")).toBe(true);
    });
    fc.assert(isUnmoved);
  });

  it("returns the same result for a PF if one of them is invalid for that PF (sriov-operator.md M-7)", () => {
    const isUnmoved = fc.property(policies, specs, (all, spec) => {
      const half = { nodeSelector: {}, nicSelector: { pfNames: ["ens803f1#x", "ens803f0"] } };
      const onBadPf = ({ spec: { interfaces = [], bridges } }: MergedNode) => [
        interfaces.filter(({ name }) => name === "ens803f1"),
        bridges?.ovs?.filter(({ name }) => name === "br-0000_86_00.1") ?? [],
      ];
      expect(onBadPf(merge([...all, policy("p2-bad", { ...spec, ...half })]))).toEqual(onBadPf(merge(all)));
    });
    fc.assert(isUnmoved);
  });

  it("returns the same as applying them policy by policy (sriov-operator.md B.4, B.6)", () => {
    const agrees = fc.property(policies, (all) => {
      expect(JSON.parse(JSON.stringify(merge(all).spec.interfaces ?? []))).toEqual(appliedInTurn(all, nics));
    });
    fc.assert(agrees);
  });
});

/** Returns the node's interfaces after its daemon has applied `spec`. */
function configured(spec: SriovNetworkNodeStateSpec): readonly InterfaceStatus[] {
  return nics.map((nic) => {
    const wanted = spec.interfaces?.find(({ pciAddress }) => pciAddress === nic.pciAddress);
    return wanted === undefined ? nic : { ...nic, ...omitGroups(wanted), owned: true };
  });
}

function omitGroups({
  pciAddress,
  name = "",
  numVfs = 0,
  mtu = 1500,
  eSwitchMode = "",
}: InterfaceSpec): InterfaceStatus {
  return { pciAddress, name, numVfs, mtu, eSwitchMode };
}
