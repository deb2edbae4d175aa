// SPDX-License-Identifier: Apache-2.0
/**
 * checkReadyHosts plays random clusters with SmartNICs, and checks that a host that is reported as ready can run OVN on its SmartNIC
 * and give VFs to pods.
 */
import { labels } from "@switchyard/api";
import { isOfOvnOffload } from "@switchyard/render";
import fc from "fast-check";
import { hostLabelsOf } from "../decide/host-state.ts";
import type { NodeReport, ObservedCluster } from "../decide/observed.ts";
import { decide } from "../decide/decide.ts";
import { SimulatedCluster } from "./simulated-cluster.ts";

const hostChange = fc.record(
  {
    mode: fc.constantFrom("embedded-cpu", "restricted", "separated-host", "nic", "unknown"),
    totalvfs: fc.constantFrom(0, 1, 2, 8, 16, 64),
    cards: fc.constantFrom(["a2d6"], ["a2dc"], [], ["a2d6", "a2dc"]),
    hasReported: fc.boolean(),
    syncError: fc.constantFrom("", "set sriov_numvfs 16: EBUSY"),
    network: fc.constantFrom(undefined, {}, { openVSwitchInterfaces: ["br-ex"] }),
  },
  { requiredKeys: [] },
);

const change = fc.oneof(
  fc.record({ kind: fc.constant("host" as const), node: fc.constantFrom("a", "b", "c"), more: hostChange }),
  fc.record({ kind: fc.constant("steps" as const), count: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ kind: fc.constant("settle" as const) }),
  fc.record({ kind: fc.constant("ports" as const), count: fc.constantFrom("1", "2", "8", "16", "many") }),
  fc.record({ kind: fc.constant("delete" as const), what: fc.constantFrom("policies", "configs", "maps") }),
  fc.record({ kind: fc.constant("numVfs" as const), numVfs: fc.constantFrom(1, 2, 8, 16) }),
  fc.record({ kind: fc.constant("join" as const), more: hostChange }),
);

/** What the config daemons of the hosts report, more or less of it than the simulation has. */
const faults = fc.array(
  fc.record({ node: fc.constantFrom("a", "b", "c"), managementVfs: fc.nat(2), vfsExist: fc.boolean() }),
  { maxLength: 2 },
);

export interface ReadyHostsOptions {
  readonly runs: number;
  readonly seed?: number | undefined;
}

/** Returns how often a host was ready. Throws with the shortest example of a ready host that cannot be used. */
export function checkReadyHosts({ runs, seed }: ReadyHostsOptions): number {
  let readyHosts = 0;
  const holds = fc.property(fc.boolean(), fc.array(change, { maxLength: 12 }), faults, (isOpenshift, all, wrong) => {
    const cluster = new SimulatedCluster({ isOpenshift });
    if (isOpenshift) cluster.addPool("dpu");
    for (const node of ["a", "b"]) cluster.addNode(node, "dpu");
    cluster.addNode("w", "worker", { cards: [] });
    cluster.entries = [{ nodeSelector: { "node-role.kubernetes.io/dpu": "" } }];
    for (const one of all) {
      apply(cluster, one);
      readyHosts += checkNow(cluster.observed());
    }
    cluster.settle();
    readyHosts += checkNow(cluster.observed());
    const observed = cluster.observed();
    const reportOf = (name: string): NodeReport | undefined => {
      const report = observed.reportOf(name);
      const fault = wrong.find(({ node }) => node === name);
      return report && fault ? { ...report, ...fault } : report;
    };
    readyHosts += checkNow({ ...observed, reportOf });
  });
  fc.assert(holds, { numRuns: runs, ...(seed !== undefined && { seed }) });
  return readyHosts;
}

type Change = ReturnType<(typeof change)["generate"]>["value"];

function apply(cluster: SimulatedCluster, one: Change): void {
  switch (one.kind) {
    case "host":
      Object.assign(cluster.nodes.get(one.node) ?? {}, one.more);
      return;
    case "join":
      if (!cluster.nodes.has("c")) cluster.addNode("c", "dpu", one.more);
      return;
    case "steps":
      for (let i = 0; i < one.count; i++) cluster.step();
      return;
    case "settle":
      cluster.settle();
      return;
    case "ports": {
      const data = { "mgmt-port-resource-name": "openshift.io/mgmt", "mgmt-port-resource-count": one.count };
      cluster.maps.set("hardwareOffload", { data, annotations: {}, isOwn: false });
      return;
    }
    case "delete":
      cluster[one.what].clear();
      return;
    case "numVfs":
      for (const [name, { spec, ...policy }] of cluster.policies)
        cluster.policies.set(name, { ...policy, spec: { ...spec, numVfs: one.numVfs } });
  }
}

/** Returns the number of ready hosts. Throws if one of them cannot be used. */
function checkNow(observed: ObservedCluster): number {
  const { overall, pools } = decide(observed);
  if (overall?.state !== "ready") return 0;
  const hosts = pools.flatMap(({ nodes }) => nodes);
  for (const { name } of hosts) {
    const reason = unusable(name, observed);
    if (reason !== undefined) throw new Error(`host ${name} is ready, but ${reason}`);
  }
  return hosts.length;
}

/** Returns what OVN or a pod would miss on the host. It does not use the rules of decide(). */
function unusable(
  name: string,
  { nodes, reportOf, policies, configMaps, machineConfigPools }: ObservedCluster,
): string | undefined {
  const node = nodes.find(({ metadata }) => metadata.name === name);
  const report = reportOf(name);
  if (node === undefined || report === undefined) return "nothing is known about it";
  const card = report.interfaces.filter(({ vendor }) => vendor === "15b3");
  const modes = card.map(({ cardMode }) => cardMode?.current);
  const needed = Number(node.metadata.labels?.[labels.ovnManagementVfs] ?? 1);
  // Only OpenShift's network operator reads the setting.
  const isOpenshift = machineConfigPools !== undefined;
  const setting = configMaps.hardwareOffload.present?.data["mgmt-port-resource-count"];
  const requested = setting === undefined || !isOpenshift ? 1 : Number(setting);
  const own = policies.filter(isOfOvnOffload);
  if (card.length !== 1) return `it has ${card.length} SmartNICs`;
  if (!modes.every((mode) => mode === "embedded-cpu" || mode === "restricted")) return `its mode is ${modes.join()}`;
  if (hostLabelsOf(node).length === 0) return "OVN-Kubernetes does not recognise it";
  if (configMaps.managementPorts.present?.data[name] === undefined) return "its management port is not published";
  if (report.managementVfs < needed) return `it has ${report.managementVfs} of ${needed} management ports`;
  if (needed !== requested) return `OVN-Kubernetes requests ${requested} management ports, and ${needed} are reserved`;
  if (!report.vfsExist) return "its VFs do not exist";
  // A policy that was just deleted has left its VFs.
  return own.some(({ spec }) => spec.numVfs <= needed) ? "no VF is left for pods" : undefined;
}
