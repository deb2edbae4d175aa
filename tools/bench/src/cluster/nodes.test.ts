// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { apiVersion, type Node } from "@switchyard/api";
import { createRules, mergePolicies } from "@switchyard/policy";
import {
  configMetadata,
  firstPolicy,
  interfacesOf,
  morePolicies,
  mostPolicies,
  nodeObject,
  operatorConfigSpec,
  profiles,
} from "./nodes.ts";

const policyType = { apiVersion, kind: "SriovNetworkNodePolicy" } as const;
const operatorConfig = {
  apiVersion,
  kind: "SriovOperatorConfig",
  metadata: configMetadata,
  spec: operatorConfigSpec,
} as const;

describe("the policies of a simulated fleet", () => {
  const node: Node = { ...nodeObject(0), apiVersion: "v1", kind: "Node" };
  const cases = Object.entries(profiles).flatMap(([name, profile]) =>
    [1, 10, mostPolicies(profile)].map((count) => ({ name, profile, count })),
  );

  it.each(cases)("yield one group each, and no complaint: $count in $name", ({ profile, count }) => {
    const policies = [firstPolicy(profile.numVfs), ...morePolicies(profile, count - 1)].map((one) => ({
      ...policyType,
      ...one,
    }));
    const rules = createRules({ policies, pools: [], operatorConfig, staleDelayMs: 0 });
    const { spec, problems } = mergePolicies(node, interfacesOf(profile, 0), rules);
    const groups = (spec.interfaces ?? []).flatMap(({ vfGroups = [] }) => vfGroups);
    expect(problems).toEqual([]);
    expect(new Set(groups.map(({ policyName }) => policyName)).size).toBe(count);
    expect(groups).toHaveLength(count);
    expect(spec.interfaces?.every(({ numVfs = 0 }) => numVfs <= 128)).toBe(true);
  });
});

describe("interfacesOf", () => {
  it("differs between nodes in MAC addresses, never in PCI addresses", () => {
    const [a, b] = [1, 300].map((index) => interfacesOf(profiles.vf256, index));
    const addresses = (of: typeof a) =>
      of?.flatMap(({ pciAddress, Vfs = [] }) => [pciAddress, ...Vfs.map((vf) => vf.pciAddress)]);
    const macs = (of: typeof a) => of?.flatMap(({ mac, Vfs = [] }) => [mac, ...Vfs.map((vf) => vf.mac)]) ?? [];
    expect(addresses(a)).toEqual(addresses(b));
    expect(new Set(addresses(a)).size).toBe(258);
    expect(new Set([...macs(a), ...macs(b)]).size).toBe(516);
  });

  it("has a holder for each VF where all are held, a pod of its own", () => {
    const holders = Array.from({ length: 1000 }, (_, node) => interfacesOf(profiles["vf256-held"], node))
      .flat()
      .flatMap(({ Vfs = [] }) => Vfs.map(({ holder }) => holder));
    expect(holders).toHaveLength(256_000);
    expect(holders).not.toContain(undefined);
    expect(new Set(holders.map((holder) => holder?.uid)).size).toBe(256_000);
  });

  it("hides other VFs on each node where pods have some", () => {
    const hidden = Array.from({ length: 1000 }, (_, node) => {
      const [pf] = interfacesOf(profiles["vf256-in-pods"], node);
      return (pf?.Vfs ?? []).filter(({ name }) => name === undefined).map(({ vfID }) => vfID);
    });
    expect(new Set(hidden.map((ids) => ids.length))).toEqual(new Set([10]));
    expect(new Set(hidden.map((ids) => ids.join())).size).toBeGreaterThan(950);
  });
});
