// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { createRules, mergePolicies } from "@switchyard/policy";
import fc from "fast-check";
import { admit } from "./admit.ts";
import { describeFinding } from "./finding.ts";
import { asNode } from "./policy-targets.ts";
import { create, node, pf, policy, stoppedClock, update, view } from "./testing/objects.ts";

const first = pf({ altNames: ["storage0"] });
const second = pf({ pciAddress: "0000:3b:00.1", name: "ens1f1" });
const nodes = [node("w1", [first, second])];

function review(mine: SriovNetworkNodePolicy, ...others: readonly SriovNetworkNodePolicy[]) {
  const result = admit(create(mine), view({ nodes, policies: others }), stoppedClock);
  return { ...result, problems: result.problems.map(describeFinding) };
}

const worker = asNode(node("w1"));
const on = (...pfNames: string[]) => ({ nicSelector: { pfNames } });

describe("two policies on one PF", () => {
  it("are refused if their VFs overlap, with both ranges and the node", () => {
    expect(review(policy("mine", on("ens1f0#2-5")), policy("other", on("ens1f0#0-3"))).problems).toEqual([
      "spec.nicSelector.pfNames[0]: requests VFs 2-5 of ens1f0 (0000:3b:00.0), in conflict with VFs 0-3 of policy other on w1",
    ]);
    expect(review(policy("mine", on("ens1f0#4-7")), policy("other", on("ens1f0#0-3"))).problems).toEqual([]);
  });

  it("have all pairs of ranges compared (sriov-operator.md M-6)", () => {
    const mine = policy("mine", on("ens1f0#0-1", "ens1f1#0-3"));
    const other = policy("other", on("ens1f0#4-5", "ens1f1#3-5"));
    expect(review(mine, other).problems).toEqual([
      expect.stringMatching(/^spec.nicSelector.pfNames\[1\]: .*0000:3b:00.1/),
    ]);
  });

  it("are refused if one of them has the whole PF (sriov-operator.md M-6)", () => {
    expect(review(policy("mine", on("ens1f0")), policy("other", on("ens1f0#6-7"))).allowed).toBe(false);
    expect(review(policy("mine", on("ens1f0")), policy("other", on("ens1f0"))).allowed).toBe(false);
  });

  it("are compared by the PF, whatever name they use for it", () => {
    expect(review(policy("mine", on("storage0#2-5")), policy("other", on("ens1f0#0-3"))).allowed).toBe(false);
    const byAddress = policy("other", { nicSelector: { rootDevices: ["0000:3b:00.0"] } });
    expect(review(policy("mine", on("storage0#2-5")), byAddress).allowed).toBe(false);
  });

  it("may share an entry of rootDevices with ranges that do not overlap (sriov-operator.md M-42)", () => {
    const part = (name: string, range: string) =>
      policy(name, { nicSelector: { rootDevices: ["0000:3b:00.0"], pfNames: [`ens1f0#${range}`] } });
    expect(review(part("mine", "0-3"), part("other", "4-7")).problems).toEqual([]);
    expect(review(part("mine", "0-4"), part("other", "4-7")).allowed).toBe(false);
  });

  it("are resolved by priority if one of them matches the PF by vendor, with a warning that names the stronger one", () => {
    const general = policy("general", { nicSelector: { vendor: "8086" }, priority: 99 });
    const special = policy("special", { ...on("ens1f0#0-3"), priority: 10 });
    expect(review(special, general)).toMatchObject({ allowed: true });
    expect(review(special, general).warnings[0]).toBe(
      "spec.nicSelector.pfNames[0]: policy general (VFs 0-7, priority 99) gets no VFs of ens1f0 (0000:3b:00.0): " +
        "this policy (VFs 0-3, priority 10) takes precedence on w1",
    );
    expect(review(general, special).warnings.join("\n")).toContain(
      "policy special (VFs 0-3, priority 10) takes precedence on w1",
    );
    const twin = policy("twin", { ...on("ens1f0#0-3"), priority: 99 });
    expect(review(general, twin).warnings.join("\n")).toContain(
      "policy twin (VFs 0-3, priority 99) takes precedence (its name sorts later) on w1",
    );
  });

  describe("that name it by different fields", () => {
    const byName = (priority: number) => policy("by-name", { ...on("storage0#2-5"), priority });
    const byAddress = (priority: number) =>
      policy("by-address", { nicSelector: { rootDevices: ["0000:3b:00.0"] }, priority });

    it("are resolved by priority, with a warning that agrees with merging", () => {
      for (const [mine, other, winner] of [
        [byName(10), byAddress(20), "by-name"],
        [byAddress(20), byName(10), "by-name"],
        [byName(20), byAddress(10), "by-address"],
      ] as const) {
        const { allowed, problems, warnings } = review(mine, other);
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
      expect(review(byName(10), byAddress(20)).warnings[0]).toBe(
        "spec.nicSelector.pfNames[0]: policy by-address (VFs 0-7, priority 20) gets no VFs of ens1f0 (0000:3b:00.0): " +
          "this policy (VFs 2-5, priority 10) takes precedence on w1",
      );
    });

    it("are refused if their priorities are equal", () => {
      expect(review(byName(10), byAddress(10)).allowed).toBe(false);
    });

    it("are refused if they share one of the fields, whatever their priorities", () => {
      const both = { nicSelector: { rootDevices: ["0000:3b:00.0"], pfNames: ["ens1f0#0-3"] }, priority: 5 };
      expect(review(policy("both", both), byName(10)).allowed).toBe(false);
      expect(review(policy("both", both), byAddress(10)).allowed).toBe(false);
      expect(review(byName(20), policy("other", { ...on("ens1f0"), priority: 10 })).allowed).toBe(false);
    });
  });

  it("must agree on externallyManaged", () => {
    const nodesWithVfs = [node("w1", [pf({ numVfs: 8 })])];
    const mine = policy("mine", { ...on("ens1f0#0-3"), externallyManaged: true });
    const cluster = view({ nodes: nodesWithVfs, policies: [policy("other", on("ens1f0#4-7"))] });
    expect(admit(create(mine), cluster, stoppedClock).problems).toEqual([
      {
        field: "spec.externallyManaged",
        message: "must be false, as in policy other, which also configures 0000:3b:00.0, on w1",
      },
    ]);
  });

  it("get a warning for settings of the whole PF that differ", () => {
    const mine = policy("mine", { ...on("ens1f0#0-3"), eSwitchMode: "switchdev", bridge: { ovs: {} }, priority: 5 });
    const { allowed, warnings } = review(mine, policy("other", { ...on("ens1f0#4-7"), resourceName: "mineres" }));
    expect(allowed).toBe(true);
    expect(warnings.map((line) => line.split(":")[0])).toEqual(
      expect.arrayContaining(["spec.resourceName", "spec.eSwitchMode", "spec.bridge"]),
    );
    const same = { eSwitchMode: "switchdev", bridge: { ovs: {} } } as const;
    const twins = review(
      policy("mine", { ...on("ens1f0#0-3"), ...same }),
      policy("other", { ...on("ens1f0#4-7"), ...same }),
    );
    expect(twins.warnings.filter((line) => line.includes("policy other"))).toEqual([]);
  });

  it("do not conflict on different nodes, and a policy does not conflict with itself", () => {
    const elsewhere = policy("other", { ...on("ens1f0"), nodeSelector: { rack: "7" } });
    expect(review(policy("mine", on("ens1f0")), elsewhere, policy("mine", on("ens1f0"))).problems).toEqual([]);
  });

  it.each([
    {
      field: "deviceType",
      mine: { deviceType: "vfio-pci" },
      others: {},
      text: "is vfio-pci, but netdevice in policy other, which has the same resourceName mineres: pods get VFs with either driver",
    },
    {
      field: "isRdma",
      mine: {},
      others: { isRdma: true, priority: 10 },
      text: "is false, but true in policy other, which has the same resourceName mineres: the value of policy other applies",
    },
    {
      field: "needVhostNet",
      mine: { needVhostNet: true, priority: 5 },
      others: {},
      text: "the value of policy mine applies",
    },
    {
      field: "vdpaType",
      mine: { vdpaType: "virtio", eSwitchMode: "switchdev" },
      others: { eSwitchMode: "switchdev" },
      text: "is virtio, but none in policy other",
    },
  ] as const)("for the same resource have a warning about another $field", ({ field, mine, others, text }) => {
    const card = { vendor: "15b3", deviceID: "101d" };
    const two = [pf(card), pf({ ...card, pciAddress: "0000:3b:00.1", name: "ens1f1" })];
    const other = policy("other", { ...on("ens1f1"), resourceName: "mineres", ...others });
    const cluster = view({ nodes: [node("w1", two)], policies: [other] });
    const result = admit(create(policy("mine", { ...on("ens1f0"), ...mine })), cluster, stoppedClock);
    expect(result.allowed).toBe(true);
    expect(result.warnings.filter((line) => line.startsWith(`spec.${field}: w1: `)).join()).toContain(
      text.slice(0, 60),
    );
  });

  it("for the same resource on different nodes do not disturb each other", () => {
    const other = policy("other", { ...on("ens1f1"), resourceName: "mineres", deviceType: "vfio-pci" });
    const nodes = [node("w1", [pf()]), node("w2", [pf({ name: "ens1f1" })])];
    const { warnings } = admit(create(policy("mine", on("ens1f0"))), view({ nodes, policies: [other] }), stoppedClock);
    expect(warnings.join()).not.toContain("deviceType");
  });

  it("can be changed so that they share fewer VFs than before", () => {
    const other = policy("other", { nicSelector: { pfNames: ["ens1f0#0-3"] }, numVfs: 8 });
    const cluster = view({ nodes: [node("w1", [pf()])], policies: [other] });
    const change = (from: string, to: string) =>
      admit(
        update(
          policy("mine", { nicSelector: { pfNames: [`ens1f0#${from}`] }, numVfs: 8 }),
          policy("mine", { nicSelector: { pfNames: [`ens1f0#${to}`] }, numVfs: 8 }),
        ),
        cluster,
        stoppedClock,
      );
    expect(change("1-7", "3-7").allowed).toBe(true);
    expect(change("3-7", "1-7").allowed).toBe(false);
  });

  it("for the same resource must agree on excludeTopology", () => {
    const other = policy("other", { ...on("ens1f1"), resourceName: "mineres", excludeTopology: true });
    expect(review(policy("mine"), other).problems).toEqual([
      "spec.excludeTopology: field conflicts with policy other, which has the same resourceName and excludeTopology true; " +
        "set the same value in both",
    ]);
  });

  it("conflict exactly if they have a VF in common, whichever is created first", () => {
    const ranges = fc.tuple(fc.nat(7), fc.nat(7)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
    const property = fc.property(ranges, ranges, ([a, b], [c, d]) => {
      const [mine, other] = [policy("mine", on(`ens1f0#${a}-${b}`)), policy("other", on(`storage0#${c}-${d}`))];
      const meet = a <= d && c <= b;
      expect([review(mine, other).allowed, review(other, mine).allowed]).toEqual([!meet, !meet]);
    });
    fc.assert(property, { numRuns: 60 });
  });
});
