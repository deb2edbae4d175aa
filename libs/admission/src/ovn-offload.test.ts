// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { MachineConfigPool, OvnHardwareOffload, SriovNetworkPoolConfig } from "@switchyard/api";
import { admit } from "./admit.ts";
import { describeFinding } from "./finding.ts";
import type { Review } from "./review.ts";
import { create, node, operatorConfig, pf, policy, stoppedClock, update, view } from "./testing/objects.ts";

const marker = "switchyard.io/ovn-offload-pool";
const role = (name: string) => `node-role.kubernetes.io/${name}`;
const entry = (name = "dpu-host"): OvnHardwareOffload => ({ nodeSelector: { [role(name)]: "" } });
const card = (pciAddress = "0000:3b:00.0", name = "ens1f0np0") =>
  pf({ pciAddress, name, vendor: "15b3", deviceID: "a2d6", driver: "mlx5_core" });
const host = (name: string, pfs = [card()], labels: Readonly<Record<string, string>> = {}) =>
  node(name, pfs, { labels: { [role("dpu-host")]: "", ...labels } });

function pool(name: string): MachineConfigPool {
  const key = "machineconfiguration.openshift.io/role";
  const values = name === "worker" || name === "master" ? [name] : ["worker", name];
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfigPool",
    metadata: { name },
    spec: {
      machineConfigSelector: { matchExpressions: [{ key, operator: "In", values }] },
      nodeSelector: { matchLabels: { [role(name)]: "" } },
    },
  };
}

const pools = ["master", "worker", "dpu-host", "infra"].map(pool);
const cluster = view({ nodes: [host("h1"), host("h2"), node("w1", [pf()])], machineConfigPools: pools });

function review(change: Review, seen = cluster) {
  const { problems, warnings } = admit(change, seen, stoppedClock);
  return { problems: problems.map(describeFinding), warnings };
}

const config = (...entries: OvnHardwareOffload[]) => operatorConfig({ ovnHardwareOffload: entries });
const select = (...entries: OvnHardwareOffload[]): Review => ({
  kind: "SriovOperatorConfig",
  operation: "UPDATE",
  object: config(...entries),
  oldObject: operatorConfig({}),
});
const at = (index: number) => `spec.ovnHardwareOffload[${index}].nodeSelector`;

describe("spec.ovnHardwareOffload", () => {
  it("is accepted with a warning that names the pool, and the nodes that reboot", () => {
    expect(review(select(entry()))).toEqual({
      problems: [],
      warnings: ["spec.ovnHardwareOffload: 2 nodes of pool dpu-host reboot (h1, h2) so that OVN runs on the SmartNIC"],
    });
  });

  it.each([
    { does: "matches no pool", entries: [entry("other")], where: 0, says: "no MachineConfigPool has the label" },
    { does: "selects worker", entries: [entry("worker")], where: 0, says: "selects the pool worker" },
    { does: "selects master", entries: [entry("master")], where: 0, says: "selects the pool master" },
    { does: "selects a pool again", entries: [entry(), entry()], where: 1, says: "entry 0 selects pool dpu-host, too" },
  ])("is refused if a selector $does", ({ entries, where, says }) => {
    const { problems } = review(select(...entries));
    expect(problems).toEqual([expect.stringMatching(`^${at(where).replaceAll(/[[\].]/g, "\\$&")}: .*${says}`)]);
  });

  it("is refused if nodes are in several pools, or hosts have several SmartNICs; one line for all nodes of a pool", () => {
    const twoCards = [card(), card("0000:af:00.0", "ens2f0np0")];
    const nodes = [
      host("both1", [card()], { [role("infra")]: "" }),
      host("both2", [card()], { [role("infra")]: "" }),
      host("two", twoCards),
    ];
    const { problems } = review(select(entry()), view({ nodes, machineConfigPools: pools }));
    expect(problems).toEqual([
      expect.stringMatching(/node both1 belongs to the pools dpu-host, infra.*; the same is true of 1 more node$/),
      expect.stringContaining("node two of pool dpu-host has 2 SmartNICs (0000:3b:00, 0000:af:00)"),
    ]);
  });

  it("is accepted with a warning if a host has no SmartNIC, and no warning says that a node of its pool reboots", () => {
    const nodes = [host("h1", [pf()]), host("h2")];
    const { problems, warnings } = review(select(entry()), view({ nodes, machineConfigPools: pools }));
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      expect.stringContaining("node h1 of pool dpu-host has no SmartNIC"),
      "spec.ovnHardwareOffload: pool dpu-host keeps Open vSwitch until all of its nodes can be hosts",
    ]);
  });

  it("is not refused while MachineConfigPools are unknown", () => {
    const unknown = { ...cluster, machineConfigPools: undefined };
    expect(review(select(entry("other")), unknown)).toEqual({
      problems: [],
      warnings: [expect.stringContaining("could not be checked, because the MachineConfigPools")],
    });
  });

  it("selects nodes in clusters without MachineConfigPools", () => {
    const plain = { ...cluster, machineConfigPools: "not-served" as const };
    expect(review(select(entry()), plain)).toEqual(review(select(entry())));
    expect(review(select(entry(), entry()), plain).problems).toEqual([
      `${at(1)}: nodeSelector is the same as that of entry 0: remove one of the entries`,
    ]);
    expect(review(select(entry("other")), plain).warnings[0]).toContain("selects no node");
  });

  it("stays changeable if a pool disappears, which is a warning then", () => {
    const object = operatorConfig({ ovnHardwareOffload: [entry("gone")], logLevel: 2 });
    const oldObject = config(entry("gone"));
    const { problems, warnings } = review({ kind: "SriovOperatorConfig", operation: "UPDATE", object, oldObject });
    expect(problems).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining("no MachineConfigPool has the label")]);
  });

  it("names the nodes that reboot if an entry is removed, and those that stay hosts if the whole config is deleted", () => {
    const nodes = [host("h1", [card()], { [marker]: "dpu-host" }), host("h2")];
    const seen = view({ nodes, machineConfigPools: pools });
    const line = "spec.ovnHardwareOffload: 1 node of pool dpu-host reboots (h1) so that OVN runs on the host again";
    const oldObject = config(entry());
    const removed = {
      kind: "SriovOperatorConfig",
      operation: "UPDATE",
      object: operatorConfig({}),
      oldObject,
    } as const;
    expect(review(removed, seen).warnings).toEqual([line]);
    const kept = "1 node of pool dpu-host stays a host without Open vSwitch (h1): remove the entry instead";
    expect(review({ kind: "SriovOperatorConfig", operation: "DELETE", oldObject }, seen).warnings).toEqual([
      `spec.ovnHardwareOffload: ${kept}`,
    ]);
    expect(review({ kind: "SriovOperatorConfig", operation: "CREATE", object: operatorConfig({}) }, seen)).toEqual({
      problems: [],
      warnings: [line],
    });
  });

  it("says nothing about hosts that already are in the pool, or if another field changes", () => {
    const seen = view({ nodes: [host("h1", [card()], { [marker]: "dpu-host" })], machineConfigPools: pools });
    expect(review(select(entry()), seen)).toEqual({ problems: [], warnings: [] });
    const same = {
      kind: "SriovOperatorConfig",
      operation: "UPDATE",
      object: config(entry()),
      oldObject: config(entry()),
    };
    expect(review(same as Review)).toEqual({ problems: [], warnings: [] });
  });
});

describe("a policy for a host whose OVN runs on the SmartNIC", () => {
  const marked = view({ nodes: [host("h1", [card(), card("0000:3b:00.1", "ens1f1np1")], { [marker]: "dpu-host" })] });
  const names = (...pfNames: string[]) => create(policy("p", { nicSelector: { pfNames }, numVfs: 8 }));
  const reserved = "VF 0 is reserved for the management port of OVN-Kubernetes on h1";

  it.each([
    { entries: ["ens1f0np0#0-3"], refused: 0 },
    { entries: ["ens1f1np1", "ens1f0np0#0-0"], refused: 1 },
  ])("is refused if it selects VF 0 by number: $entries", ({ entries, refused }) => {
    expect(review(names(...entries), marked).problems).toEqual([
      `spec.nicSelector.pfNames[${refused}]: ${reserved}: select VFs from VF 1 of ens1f0np0 (0000:3b:00.0)`,
    ]);
  });

  it.each([{ entries: ["ens1f0np0#1-3"] }, { entries: ["ens1f1np1#0-3"] }])("may select $entries", ({ entries }) => {
    const { problems, warnings } = review(names(...entries), marked);
    expect([problems, warnings.filter((line) => line.includes("reserved"))]).toEqual([[], []]);
  });

  it.each([
    { does: "a name", nicSelector: { pfNames: ["ens1f0np0"] } },
    { does: "the vendor", nicSelector: { vendor: "15b3" } },
  ])("gets a warning if it selects all VFs by $does", ({ nicSelector }) => {
    const { problems, warnings } = review(create(policy("p", { nicSelector, numVfs: 8 })), marked);
    expect(problems).toEqual([]);
    expect(warnings).toContain(
      `spec.nicSelector: ${reserved}: the policy's resource gets VFs 1 to 7 only of ens1f0np0 (0000:3b:00.0)`,
    );
  });

  it("gets a warning if it has VF 0 only", () => {
    const { warnings } = review(create(policy("p", { nicSelector: { vendor: "15b3" }, numVfs: 1 })), marked);
    expect(warnings.join("\n")).toContain("the policy's resource gets no VF of ens1f0np0");
  });

  it("may request VF 0 for the resource of the management port", () => {
    const own = { [marker]: "dpu-host", "switchyard.io/ovn-management-resource": "mgmt" };
    const seen = view({ nodes: [host("h1", [card()], own)] });
    const management = policy("p", { resourceName: "mgmt", nicSelector: { pfNames: ["ens1f0np0#0-0"] } });
    expect(review(create(management), seen).problems).toEqual([]);
  });

  it("is judged as soon as the host is selected, and not on other nodes", () => {
    const selected = { ...cluster, operatorConfig: config(entry()) };
    expect(review(names("ens1f0np0#0-3"), selected).problems).toHaveLength(1);
    expect(review(names("ens1f0np0#0-3")).problems).toEqual([]);
    expect(review(names("ens1f0np0#0-3"), { ...selected, machineConfigPools: undefined }).problems).toEqual([]);
  });

  it("can still be changed if it is stored with VF 0", () => {
    const before = policy("p", { nicSelector: { pfNames: ["ens1f0np0#0-3"] } });
    const after = policy("p", { nicSelector: { pfNames: ["ens1f0np0#0-3"] }, mtu: 9000 });
    const { problems, warnings } = review(update(before, after), marked);
    expect(problems).toEqual([]);
    expect(warnings[0]).toContain(reserved);
  });

  it("has the impact that merging has: VF 0 stays", () => {
    const vfs = Array.from({ length: 8 }, (_, vfID) => ({
      pciAddress: `0000:3b:02.${vfID}`,
      vfID,
      driver: "mlx5_core",
    }));
    const withVfs = { ...card(), numVfs: 8, Vfs: vfs, owned: true };
    const seen = view({ nodes: [host("h1", [withVfs], { [marker]: "dpu-host" })], policies: [] });
    const vfio = policy("p", { nicSelector: { vendor: "15b3" }, numVfs: 8, deviceType: "vfio-pci" });
    expect(review(create(vfio), seen).warnings.join("\n")).toMatch(/7 VFs|VFs 1-7/);
  });
});

describe("settings that exclude OVN on the SmartNIC", () => {
  const marked = view({
    nodes: [host("h1", [card()], { [marker]: "dpu-host" }), host("h2")],
    machineConfigPools: pools,
  });

  it.each([
    {
      spec: { eSwitchMode: "switchdev" as const },
      says:
        "spec.eSwitchMode: cannot be switchdev on the SmartNIC of h1: OVN runs on the card, whose own system has the eswitch. " +
        "The policy will be Degraded there: omit eSwitchMode, or select other nodes",
    },
    {
      spec: { eSwitchMode: "switchdev" as const, bridge: { ovs: {} } },
      says:
        "spec.bridge.ovs: needs Open vSwitch, which does not run on h1, because OVN runs on the SmartNIC. " +
        "The policy will be Degraded there: omit the bridge, or select other nodes",
    },
  ])("are a warning of a policy: $says", ({ spec: { eSwitchMode, bridge }, says }) => {
    const nicSelector = { pfNames: ["ens1f0np0#1-3"] };
    const own = policy("p", { nicSelector, numVfs: 4, eSwitchMode, ...(bridge && { bridge }) });
    expect(review(create(own), marked).warnings).toContainEqual(expect.stringContaining(says));
    const free = view({ nodes: [host("h1"), host("h2")], machineConfigPools: pools });
    expect(review(create(own), free).warnings.join()).not.toContain("SmartNIC");
    const chosen = { ...free, operatorConfig: config(entry()) };
    expect(review(create(own), chosen).warnings).toContainEqual(expect.stringContaining(says.split(" h1")[0] ?? ""));
  });

  it("are refused for a pool with both kinds of offload, whichever comes last", () => {
    const offload: SriovNetworkPoolConfig = {
      ...{ apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkPoolConfig" },
      metadata: { name: "ovs", namespace: cluster.namespace },
      spec: { ovsHardwareOffloadConfig: { name: "dpu-host" } },
    };
    const selected = { ...cluster, operatorConfig: config(entry()) };
    expect(review({ kind: "SriovNetworkPoolConfig", operation: "CREATE", object: offload }, selected).problems).toEqual(
      [expect.stringContaining("spec.ovsHardwareOffloadConfig.name: MachineConfigPool dpu-host is selected by")],
    );
    expect(review(select(entry()), { ...cluster, pools: [offload] }).problems).toEqual([
      expect.stringContaining(`${at(0)}: MachineConfigPool dpu-host is named by spec.ovsHardwareOffloadConfig`),
    ]);
  });

  it("name as many VFs as are reserved", () => {
    const labels = { [marker]: "dpu-host", "switchyard.io/ovn-management-vfs": "4" };
    const nodes = [host("h1", [card()], labels)];
    const own = (pfName: string) => create(policy("p", { nicSelector: { pfNames: [pfName] }, numVfs: 8 }));
    const reserved = "VFs 0 to 3 are reserved for the management ports of OVN-Kubernetes on h1";
    expect(review(own("ens1f0np0#2-5"), view({ nodes })).problems).toEqual([
      expect.stringContaining(`${reserved}: select VFs from VF 4 of ens1f0np0`),
    ]);
    expect(review(own("ens1f0np0#4-5"), view({ nodes })).problems).toEqual([]);
  });
});
