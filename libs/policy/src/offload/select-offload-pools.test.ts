// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { HostNetworkStatus, InterfaceStatus, MachineConfigPool, Node, OvnHardwareOffload } from "@switchyard/api";
import fc from "fast-check";
import { blueFieldPf, machineConfigPool, nics, node } from "../testing/objects.ts";
import { selectOffloadPools } from "./select-offload-pools.ts";

const role = (name: string) => `node-role.kubernetes.io/${name}`;
const host = (name: string, pool = "dpu-host") => node(name, { [role(pool)]: "" });
const entry = (pool = "dpu-host"): OvnHardwareOffload => ({ nodeSelector: { [role(pool)]: "" } });
const basePools = [machineConfigPool("master"), machineConfigPool("worker")];
const roleExpression = (...values: string[]) => ({
  matchExpressions: [{ key: "machineconfiguration.openshift.io/role", operator: "In" as const, values }],
});

function select(
  entries: readonly OvnHardwareOffload[],
  machineConfigPools: readonly MachineConfigPool[] | undefined,
  nodes: readonly Node[] = [host("h1"), host("h2"), node("w1")],
  interfacesOf: (name: string) => readonly InterfaceStatus[] | undefined = () => [blueFieldPf()],
) {
  return selectOffloadPools({ entries, machineConfigPools, nodes, interfacesOf, networkOf: () => undefined });
}

describe("selectOffloadPools with MachineConfigPools", () => {
  const dpuHost = machineConfigPool("dpu-host");

  it.each<{ does: string; network: HostNetworkStatus | undefined; problems: readonly object[] }>([
    { does: "a network without Open vSwitch", network: {}, problems: [] },
    {
      does: "the br-ex of configure-ovs",
      network: { openVSwitchInterfaces: ["br-ex"], madeByConfigureOvs: true },
      problems: [],
    },
    { does: "no report about it", network: undefined, problems: [] },
    {
      does: "a bridge of NMState, with long names cut",
      network: { openVSwitchInterfaces: ["br-ex", "x".repeat(400)] },
      problems: [
        {
          code: "network-on-open-vswitch",
          severity: "error",
          entry: 0,
          pool: "dpu-host",
          node: "h1",
          message: expect.stringMatching(
            /^node h1 of pool dpu-host would boot without network, because its default route is on br-ex, x{15}, which needs/,
          ),
        },
      ],
    },
  ])("finds no problem of a host with $does, or the one that it has", ({ network, problems }) => {
    const selection = selectOffloadPools({
      entries: [entry()],
      machineConfigPools: [...basePools, dpuHost],
      nodes: [host("h1"), host("h2")],
      interfacesOf: () => [blueFieldPf()],
      networkOf: (name) => (name === "h1" ? network : {}),
    });
    expect(selection.problems).toEqual(problems);
    expect(selection.pools[0]?.nodes).toEqual(["h1", "h2"]);
  });

  it("selects the custom pool with the labels, and its nodes", () => {
    expect(select([entry()], [...basePools, dpuHost])).toEqual({
      pools: [{ name: "dpu-host", entry: 0, role: "dpu-host", nodes: ["h1", "h2"] }],
      problems: [],
    });
  });

  it.each<{ does: string; nodeSelector: object; selector: Record<string, string>; isSelected: boolean }>([
    {
      does: "Exists means a label without value",
      nodeSelector: { matchExpressions: [{ key: "card", operator: "Exists" }] },
      selector: { card: "" },
      isSelected: true,
    },
    {
      does: "Exists does not mean a label with a value",
      nodeSelector: { matchExpressions: [{ key: "card", operator: "Exists" }] },
      selector: { card: "bf2" },
      isSelected: false,
    },
    {
      does: "In with one value means that value",
      nodeSelector: { matchExpressions: [{ key: "card", operator: "In", values: ["bf2"] }] },
      selector: { card: "bf2" },
      isSelected: true,
    },
    {
      does: "In with two values means neither",
      nodeSelector: { matchExpressions: [{ key: "card", operator: "In", values: ["bf2", "bf3"] }] },
      selector: { card: "bf2" },
      isSelected: false,
    },
    {
      does: "labels are combined with AND",
      nodeSelector: { matchLabels: { card: "bf2" } },
      selector: { card: "bf2", zone: "a" },
      isSelected: false,
    },
    {
      does: "labels and expressions count together",
      nodeSelector: { matchLabels: { card: "bf2" }, matchExpressions: [{ key: "zone", operator: "Exists" }] },
      selector: { card: "bf2", zone: "" },
      isSelected: true,
    },
    { does: "an empty nodeSelector has no labels", nodeSelector: {}, selector: { card: "" }, isSelected: false },
  ])("$does", ({ nodeSelector, selector, isSelected }) => {
    const { pools } = select([{ nodeSelector: selector }], [machineConfigPool("x", { nodeSelector })], []);
    expect(pools.map(({ name }) => name)).toEqual(isSelected ? ["x"] : []);
  });

  it("uses the role that the pool selects if it is not the pool's name", () => {
    const pool = machineConfigPool("bf", {
      machineConfigSelector: roleExpression("worker", "dpu"),
      nodeSelector: { matchLabels: { [role("dpu-host")]: "" } },
    });
    expect(select([entry()], [...basePools, pool]).pools).toMatchObject([{ name: "bf", role: "dpu" }]);
  });

  it.each([
    { does: "selects the role worker only", selectors: [roleExpression("worker")] },
    { does: "has no machineConfigSelector", selectors: [null] },
    { does: "shares its role with another pool", selectors: [roleExpression("dpu-host"), roleExpression("dpu-host")] },
    { does: "shares its role with a pool that selects everything", selectors: [roleExpression("dpu-host"), {}] },
  ])("refuses a pool that $does", ({ selectors: [own, other] }) => {
    const pool = { ...dpuHost, spec: { ...dpuHost.spec, machineConfigSelector: own } } as MachineConfigPool;
    const more = other === undefined ? [] : [machineConfigPool("other", { machineConfigSelector: other ?? {} })];
    const { pools, problems } = select([entry()], [...basePools, pool, ...more]);
    expect(pools).toEqual([]);
    expect(problems).toMatchObject([{ code: "no-role", severity: "error", pool: "dpu-host" }]);
  });

  it.each(["master", "worker"])("refuses the pool %s", (name) => {
    const { pools, problems } = select([entry(name)], [...basePools, dpuHost]);
    expect(pools).toEqual([]);
    expect(problems).toMatchObject([{ code: "reserved-pool", pool: name, entry: 0 }]);
    expect(problems[0]?.message).toContain("create a custom MachineConfigPool");
  });

  it("refuses a selector without a pool, and names the custom pools", () => {
    const { problems } = select([entry("other")], [...basePools, dpuHost]);
    expect(problems).toMatchObject([{ code: "no-pool", entry: 0 }]);
    expect(problems[0]?.message).toBe(
      "no MachineConfigPool has the label node-role.kubernetes.io/other in its spec.nodeSelector; " +
        "the custom pools are dpu-host",
    );
  });

  it("gives a pool that two entries select to the first", () => {
    const { pools, problems } = select([entry(), { ...entry(), taint: "NoSchedule" }], [...basePools, dpuHost]);
    expect(pools).toMatchObject([{ name: "dpu-host", entry: 0 }]);
    expect(pools[0]).not.toHaveProperty("taint");
    expect(problems).toMatchObject([{ code: "pool-selected-twice", entry: 1, pool: "dpu-host" }]);
  });

  it("leaves out a node that another custom pool also has, selected or not", () => {
    const both = node("both", { [role("dpu-host")]: "", [role("infra")]: "" });
    const { pools, problems } = select([entry()], [dpuHost, machineConfigPool("infra")], [both, host("h1")]);
    expect(pools).toMatchObject([{ name: "dpu-host", nodes: ["h1"] }]);
    expect(problems).toMatchObject([{ code: "several-pools", node: "both", pool: "dpu-host" }]);
    expect(problems[0]?.message).toContain("dpu-host, infra");
  });

  it("leaves out control plane nodes", () => {
    const master = node("m1", { [role("dpu-host")]: "", [role("control-plane")]: "" });
    const { pools, problems } = select([entry()], [dpuHost], [master]);
    expect(pools).toMatchObject([{ nodes: [] }]);
    expect(problems).toMatchObject([{ code: "control-plane-node", severity: "warning", node: "m1" }]);
  });

  it("reports hosts with several SmartNICs and with none, and not those that have reported no PF", () => {
    const interfaces: Readonly<Record<string, readonly InterfaceStatus[]>> = {
      two: [blueFieldPf("0000:3b:00.0"), blueFieldPf("0000:3b:00.1"), blueFieldPf("0000:af:00.0")],
      none: nics,
      empty: [],
    };
    const hosts = ["two", "none", "empty", "new"].map((name) => host(name));
    const { pools, problems } = select([entry()], [dpuHost], hosts, (name) => interfaces[name]);
    expect(pools[0]?.nodes).toEqual(["empty", "new", "none", "two"]);
    expect(problems).toMatchObject([
      { code: "no-smart-nic", node: "none", severity: "warning" },
      { code: "several-smart-nics", node: "two", severity: "error" },
    ]);
    expect(problems[1]?.message).toContain("has 2 SmartNICs (0000:3b:00, 0000:af:00)");
  });

  it.each([
    { does: "an unknown operator", nodeSelector: { matchExpressions: [{ key: "a", operator: "Like" }] } },
    { does: "labels that are no map", nodeSelector: { matchLabels: "a" } },
    {
      does: "values that are no texts",
      nodeSelector: { matchExpressions: [{ key: "a", operator: "In", values: [1] }] },
    },
    { does: "a list", nodeSelector: [] },
  ])("names a pool whose selector has $does", ({ nodeSelector }) => {
    const bad = { ...dpuHost, metadata: { name: "bad" }, spec: { nodeSelector } } as unknown as MachineConfigPool;
    const { problems } = select([{ nodeSelector: { a: "" } }], [bad, dpuHost]);
    expect(problems).toMatchObject([
      { code: "no-pool" },
      { code: "unreadable-pool", entry: 0, pool: "bad", severity: "warning" },
    ]);
    expect(problems[0]?.message).toContain("the selectors of bad are invalid");
  });
});

describe("selectOffloadPools without MachineConfigPools", () => {
  it("makes one pool of each entry", () => {
    const entries = [entry(), { nodeSelector: { card: "bf3" }, taint: "NoSchedule" as const }];
    expect(select(entries, undefined, [host("h1"), node("b1", { card: "bf3" })])).toEqual({
      pools: [
        { name: "card-bf3", entry: 1, taint: "NoSchedule", nodes: ["b1"] },
        { name: "dpu-host", entry: 0, nodes: ["h1"] },
      ],
      problems: [],
    });
  });

  it("refuses the same selector twice and a node that two entries select", () => {
    const { pools, problems } = select([entry(), entry(), { nodeSelector: { a: "" } }], undefined, [
      node("both", { [role("dpu-host")]: "", a: "" }),
      host("h1"),
    ]);
    expect(pools).toMatchObject([
      { name: "a", entry: 2, nodes: [] },
      { name: "dpu-host", nodes: ["h1"] },
    ]);
    expect(problems.map(({ code, entry: at, node: name }) => [code, at, name])).toEqual([
      ["several-pools", 0, "both"],
      ["pool-selected-twice", 1, undefined],
      ["several-pools", 2, "both"],
    ]);
  });

  it("tells selectors with the same name apart", () => {
    const { pools } = select([entry("dpu"), { nodeSelector: { dpu: "" } }], undefined, []);
    expect(pools.map(({ name }) => name)).toEqual(["dpu", expect.stringMatching(/^dpu-[0-9a-f]{6}$/)]);
  });

  it("warns about a selector without nodes, and selects nothing without labels", () => {
    const { pools, problems } = select([entry("none"), { nodeSelector: {} }], undefined);
    expect(pools).toMatchObject([{ name: "none", nodes: [] }]);
    expect(problems).toMatchObject([
      { code: "no-node", severity: "warning", entry: 0 },
      { code: "empty-selector", severity: "error", entry: 1 },
    ]);
  });
});

describe("selectOffloadPools, for any input,", () => {
  const keys = fc.constantFrom("a", "b", "node-role.kubernetes.io/control-plane");
  const labels = fc.dictionary(keys, fc.constantFrom("", "x"), { maxKeys: 3 });
  const entries = fc.array(fc.record({ nodeSelector: labels }), { maxLength: 4 });
  const nodes = fc.array(labels, { maxLength: 5 }).map((all) => all.map((own, at) => node(`n${at}`, own)));
  const somePools = fc.array(labels, { maxLength: 4 }).map((all) => {
    return all.map((matchLabels, at) => machineConfigPool(`p${at}`, { nodeSelector: { matchLabels } }));
  });
  const pools = fc.option(somePools, { nil: undefined });

  it("puts a node into one pool at most, names pools uniquely, and does not depend on the order of pools and nodes", () => {
    const isPartition = fc.property(entries, pools, nodes, (all, machineConfigPools, allNodes) => {
      const selection = select(all, machineConfigPools, allNodes);
      const members = selection.pools.flatMap(({ nodes: names }) => names);
      expect(new Set(members).size).toBe(members.length);
      expect(new Set(selection.pools.map(({ name }) => name)).size).toBe(selection.pools.length);
      expect(select(all, machineConfigPools?.toReversed(), allNodes.toReversed())).toEqual(selection);
    });
    fc.assert(isPartition);
  });

  it("gives every entry a pool or a problem", () => {
    const isAnswered = fc.property(entries, pools, nodes, (all, machineConfigPools, allNodes) => {
      const selection = select(all, machineConfigPools, allNodes);
      const answered = new Set([...selection.pools, ...selection.problems].map(({ entry: at }) => at));
      expect(answered.size).toBe(all.length);
    });
    fc.assert(isAnswered);
  });
});
