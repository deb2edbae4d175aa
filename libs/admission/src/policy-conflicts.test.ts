// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { createRules, mergePolicies } from "@switchyard/policy";
import fc from "fast-check";
import { admit } from "./admit.ts";
import { describeFinding } from "./finding.ts";
import { asNode } from "./reach.ts";
import { create, node, pf, policy, still, view } from "./testing/objects.ts";

const first = pf({ altNames: ["storage0"] });
const second = pf({ pciAddress: "0000:3b:00.1", name: "ens1f1" });
const nodes = [node("w1", [first, second])];

function judge(mine: SriovNetworkNodePolicy, ...others: readonly SriovNetworkNodePolicy[]) {
  const verdict = admit(create(mine), view({ nodes, policies: others }), still);
  return { ...verdict, problems: verdict.problems.map(describeFinding) };
}

const worker = asNode(node("w1"));
const on = (...pfNames: string[]) => ({ nicSelector: { pfNames } });

describe("two policies on one PF", () => {
  it("are refused where their VFs meet, with both ranges and the node", () => {
    expect(judge(policy("mine", on("ens1f0#2-5")), policy("other", on("ens1f0#0-3"))).problems).toEqual([
      "spec.nicSelector.pfNames[0]: requests VFs 2-5 of ens1f0 (0000:3b:00.0), in conflict with VFs 0-3 of policy other on w1",
    ]);
    expect(judge(policy("mine", on("ens1f0#4-7")), policy("other", on("ens1f0#0-3"))).problems).toEqual([]);
  });

  it("are compared pair by pair to the end (M-6)", () => {
    const mine = policy("mine", on("ens1f0#0-1", "ens1f1#0-3"));
    const other = policy("other", on("ens1f0#4-5", "ens1f1#3-5"));
    expect(judge(mine, other).problems).toEqual([
      expect.stringMatching(/^spec.nicSelector.pfNames\[1\]: .*0000:3b:00.1/),
    ]);
  });

  it("do not go together where one has the whole PF (M-6)", () => {
    expect(judge(policy("mine", on("ens1f0")), policy("other", on("ens1f0#6-7"))).allowed).toBe(false);
    expect(judge(policy("mine", on("ens1f0")), policy("other", on("ens1f0"))).allowed).toBe(false);
  });

  it("are compared by the PF, whatever they call it", () => {
    expect(judge(policy("mine", on("storage0#2-5")), policy("other", on("ens1f0#0-3"))).allowed).toBe(false);
    const byAddress = policy("other", { nicSelector: { rootDevices: ["0000:3b:00.0"] } });
    expect(judge(policy("mine", on("storage0#2-5")), byAddress).allowed).toBe(false);
  });

  it("may share an entry of rootDevices by ranges that do not meet (M-42)", () => {
    const part = (name: string, range: string) =>
      policy(name, { nicSelector: { rootDevices: ["0000:3b:00.0"], pfNames: [`ens1f0#${range}`] } });
    expect(judge(part("mine", "0-3"), part("other", "4-7")).problems).toEqual([]);
    expect(judge(part("mine", "0-4"), part("other", "4-7")).allowed).toBe(false);
  });

  it("are left to their priorities where one takes the PF as one of a sort, with a warning who wins", () => {
    const general = policy("general", { nicSelector: { vendor: "8086" }, priority: 99 });
    const special = policy("special", { ...on("ens1f0#0-3"), priority: 10 });
    expect(judge(special, general)).toMatchObject({ allowed: true });
    expect(judge(special, general).warnings[0]).toBe(
      "spec.nicSelector.pfNames[0]: policy general (VFs 0-7, priority 99) gets no VFs of ens1f0 (0000:3b:00.0): " +
        "this policy (VFs 0-3, priority 10) takes precedence on w1",
    );
    expect(judge(general, special).warnings[0]).toContain(
      "policy special (VFs 0-3, priority 10) takes precedence on w1",
    );
    const twin = policy("twin", { ...on("ens1f0#0-3"), priority: 99 });
    expect(judge(general, twin).warnings[0]).toContain(
      "policy twin (VFs 0-3, priority 99) takes precedence because its name sorts later on w1",
    );
  });

  describe("that name it by different fields", () => {
    const byName = (priority: number) => policy("by-name", { ...on("storage0#2-5"), priority });
    const byAddress = (priority: number) =>
      policy("by-address", { nicSelector: { rootDevices: ["0000:3b:00.0"] }, priority });

    it("are left to their priorities, with a warning that the merge confirms", () => {
      for (const [mine, other, winner] of [
        [byName(10), byAddress(20), "by-name"],
        [byAddress(20), byName(10), "by-name"],
        [byName(20), byAddress(10), "by-address"],
      ] as const) {
        const { allowed, problems, warnings } = judge(mine, other);
        expect({ allowed, problems }).toEqual({ allowed: true, problems: [] });
        const isMine = mine.metadata.name === winner;
        expect(warnings[0]).toMatch(
          isMine ? /: this policy \(.* takes precedence on w1$/ : / policy by-\w+ \(.* takes precedence on w1$/,
        );
        const rules = createRules({ policies: [mine, other], pools: [] });
        const { spec } = mergePolicies(worker, [first, second], rules);
        expect(spec.interfaces?.flatMap(({ vfGroups = [] }) => vfGroups.map(({ policyName }) => policyName))).toEqual([
          winner,
        ]);
      }
      expect(judge(byName(10), byAddress(20)).warnings[0]).toBe(
        "spec.nicSelector.pfNames[0]: policy by-address (VFs 0-7, priority 20) gets no VFs of ens1f0 (0000:3b:00.0): " +
          "this policy (VFs 2-5, priority 10) takes precedence on w1",
      );
    });

    it("are refused where no priority decides", () => {
      expect(judge(byName(10), byAddress(10)).allowed).toBe(false);
    });

    it("are refused where they share one of the fields, whatever their priorities", () => {
      const both = { nicSelector: { rootDevices: ["0000:3b:00.0"], pfNames: ["ens1f0#0-3"] }, priority: 5 };
      expect(judge(policy("both", both), byName(10)).allowed).toBe(false);
      expect(judge(policy("both", both), byAddress(10)).allowed).toBe(false);
      expect(judge(byName(20), policy("other", { ...on("ens1f0"), priority: 10 })).allowed).toBe(false);
    });
  });

  it("must agree on who configures it", () => {
    const nodesWithVfs = [node("w1", [pf({ numVfs: 8 })])];
    const mine = policy("mine", { ...on("ens1f0#0-3"), externallyManaged: true });
    const cluster = view({ nodes: nodesWithVfs, policies: [policy("other", on("ens1f0#4-7"))] });
    expect(admit(create(mine), cluster, still).problems).toEqual([
      {
        field: "spec.externallyManaged",
        message: "must be false, as in policy other, which also configures 0000:3b:00.0, on w1",
      },
    ]);
  });

  it("are warned where the whole PF gets the settings of one", () => {
    const mine = policy("mine", { ...on("ens1f0#0-3"), eSwitchMode: "switchdev", bridge: { ovs: {} }, priority: 5 });
    const { allowed, warnings } = judge(mine, policy("other", { ...on("ens1f0#4-7"), resourceName: "mineres" }));
    expect(allowed).toBe(true);
    expect(warnings.map((line) => line.split(":")[0])).toEqual(
      expect.arrayContaining(["spec.resourceName", "spec.eSwitchMode", "spec.bridge"]),
    );
    const same = { eSwitchMode: "switchdev", bridge: { ovs: {} } } as const;
    const twins = judge(
      policy("mine", { ...on("ens1f0#0-3"), ...same }),
      policy("other", { ...on("ens1f0#4-7"), ...same }),
    );
    expect(twins.warnings.filter((line) => line.includes("policy other"))).toEqual([]);
  });

  it("do not meet on different nodes, nor does a policy meet itself", () => {
    const elsewhere = policy("other", { ...on("ens1f0"), nodeSelector: { rack: "7" } });
    expect(judge(policy("mine", on("ens1f0")), elsewhere, policy("mine", on("ens1f0"))).problems).toEqual([]);
  });

  it("of one resource say the same about NUMA nodes", () => {
    const other = policy("other", { ...on("ens1f1"), resourceName: "mineres", excludeTopology: true });
    expect(judge(policy("mine"), other).problems).toEqual([
      "spec.excludeTopology: must be true, as in policy other, which has the same resourceName",
    ]);
  });

  it("meet exactly where they have a VF in common, whichever comes first", () => {
    const ranges = fc.tuple(fc.nat(7), fc.nat(7)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
    const property = fc.property(ranges, ranges, ([a, b], [c, d]) => {
      const [mine, other] = [policy("mine", on(`ens1f0#${a}-${b}`)), policy("other", on(`storage0#${c}-${d}`))];
      const meet = a <= d && c <= b;
      expect([judge(mine, other).allowed, judge(other, mine).allowed]).toEqual([!meet, !meet]);
    });
    fc.assert(property, { numRuns: 60 });
  });
});
