// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Node } from "@switchyard/api";
import { createRules, mergePolicies } from "@switchyard/policy";
import { firstPolicy, morePolicies, mostPolicies, nodeObject, operatorConfig, reportedState } from "./fleet-objects.ts";
import { interfacesOf, profileNames, profiles } from "./fleet-profile.ts";

describe("the policies of a simulated fleet", () => {
  const node: Node = { ...nodeObject(0), apiVersion: "v1", kind: "Node" };

  it.each(profileNames.flatMap((name) => [1, 10, mostPolicies(profiles[name])].map((count) => ({ name, count }))))(
    "yield one group each, and no complaint: $count in $name",
    ({ name, count }) => {
      const profile = profiles[name];
      const policies = [firstPolicy(profile.numVfs), ...morePolicies(profile, count - 1)];
      const rules = createRules({ policies, pools: [], operatorConfig, staleDelayMs: 0 });
      const { spec, problems } = mergePolicies(node, interfacesOf(profile, 0), rules);
      const groups = (spec.interfaces ?? []).flatMap(({ vfGroups = [] }) => vfGroups);
      expect(problems).toEqual([]);
      expect(new Set(groups.map(({ policyName }) => policyName)).size).toBe(count);
      expect(groups).toHaveLength(count);
      expect(spec.interfaces?.every(({ numVfs = 0 }) => numVfs <= 128)).toBe(true);
    },
  );
});

describe("reportedState", () => {
  it("differs between nodes in MAC addresses, never in PCI addresses", () => {
    const [a, b] = [1, 300].map((index) => reportedState(profiles.vf256, "x", index).status?.interfaces ?? []);
    const addresses = (of: typeof a) =>
      of?.flatMap(({ pciAddress, Vfs = [] }) => [pciAddress, ...Vfs.map((vf) => vf.pciAddress)]);
    const macs = (of: typeof a) => of?.flatMap(({ mac, Vfs = [] }) => [mac, ...Vfs.map((vf) => vf.mac)]) ?? [];
    expect(addresses(a)).toEqual(addresses(b));
    expect(new Set(addresses(a)).size).toBe(258);
    expect(new Set([...macs(a), ...macs(b)]).size).toBe(516);
  });
});
