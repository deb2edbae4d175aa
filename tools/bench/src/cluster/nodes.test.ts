// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Node } from "@switchyard/api";
import { createRules, mergePolicies } from "@switchyard/policy";
import {
  firstPolicy,
  interfacesOf,
  morePolicies,
  mostPolicies,
  nodeObject,
  operatorConfig,
  profileNames,
  profiles,
  reportedState,
  reportedInterfaces,
  webhookProfiles,
} from "./nodes.ts";

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

describe("reportedInterfaces", () => {
  it("is the fleet's where no pod has VFs", () => {
    expect(reportedInterfaces(webhookProfiles.vf256, 5)).toEqual(interfacesOf(webhookProfiles.vf256, 5));
    expect(reportedInterfaces(webhookProfiles.pf6, 5)).toEqual(interfacesOf(webhookProfiles.pf6, 5));
  });

  it("hides other VFs on each node where pods have some", () => {
    const hidden = Array.from({ length: 1000 }, (_, node) => {
      const [pf] = reportedInterfaces(webhookProfiles["vf256-in-pods"], node);
      return (pf?.Vfs ?? []).filter(({ name }) => name === undefined).map(({ vfID }) => vfID);
    });
    expect(new Set(hidden.map((ids) => ids.length))).toEqual(new Set([10]));
    expect(new Set(hidden.map((ids) => ids.join())).size).toBeGreaterThan(950);
  });
});
