// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Node, SriovOperatorConfigSpec, Taint } from "@switchyard/api";
import { placementProblems } from "./placement.ts";
import type { AdmissionPlacement } from "./servers/admission-placement.ts";
import { renderComponents } from "./render-components.ts";
import { configWith, settingsWith } from "./testing/deployment.ts";

const linux = { "kubernetes.io/os": "linux" };
const worker = { ...linux, "node-role.kubernetes.io/worker": "" };
const server = { ...linux, "node-role.kubernetes.io/control-plane": "true", "node-role.kubernetes.io/etcd": "true" };

function node(name: string, labels: Readonly<Record<string, string>>, ...taints: readonly Taint[]): Node {
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels }, spec: { taints } };
}

const problems = (nodes: readonly Node[], spec: SriovOperatorConfigSpec = {}): readonly string[] =>
  placementProblems(renderComponents({ sriov: configWith(spec) }, settingsWith()).components, nodes);

describe("placementProblems", () => {
  it("finds nothing if each DaemonSet has a node, and if the nodes are not known", () => {
    const all = { enableOperatorWebhook: true, enableInjector: true };
    expect(problems([node("cp", server), node("w1", worker)], all)).toEqual([]);
    expect(problems([], all)).toEqual([]);
  });

  it.each<{ of: string; taints: readonly Taint[] }>([
    {
      of: "Rancher and RKE2",
      taints: [
        { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" },
        { key: "node-role.kubernetes.io/etcd", effect: "NoExecute" },
      ],
    },
    { of: "k3s servers", taints: [{ key: "CriticalAddonsOnly", value: "true", effect: "NoExecute" }] },
    { of: "kubeadm", taints: [{ key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" }] },
    { of: "nodes that prefer others", taints: [{ key: "gpu", effect: "PreferNoSchedule" }] },
  ])("lets the webhook run with the taints of $of", ({ taints }) => {
    const nodes = [node("cp", server, ...taints), node("w1", worker)];
    expect(problems(nodes, { enableOperatorWebhook: true, enableInjector: true })).toEqual([]);
  });

  it("names the taints that keep the webhook from all control plane nodes", () => {
    const nodes = [node("cp", server, { key: "example.com/closed", effect: "NoExecute" }), node("w1", worker)];
    expect(problems(nodes, { enableOperatorWebhook: true })).toEqual([
      "operator-webhook can run on no node: the only node with its labels has taints that it does not tolerate " +
        "(example.com/closed:NoExecute)",
    ]);
  });

  it("finds no node for the webhook if the chosen nodes have a taint with another value", () => {
    const nodes = [node("infra", { ...linux, pool: "infra" }, { key: "only", value: "infra", effect: "NoSchedule" })];
    const tolerate = (value: string): AdmissionPlacement => ({
      nodeSelector: { pool: "infra" },
      tolerations: [{ key: "only", operator: "Equal", value }],
    });
    const with_ = (admissionPlacement: AdmissionPlacement) => {
      const settings = settingsWith({ admissionPlacement });
      const spec = { enableOperatorWebhook: true, configDaemonNodeSelector: { none: "" } };
      const { components } = renderComponents({ sriov: configWith(spec) }, settings);
      return placementProblems(components, nodes).filter((problem) => problem.includes("operator-webhook"));
    };
    expect(with_(tolerate("infra"))).toEqual([]);
    expect(with_(tolerate("gpu"))).toEqual([expect.stringContaining("(only:NoSchedule)")]);
    expect(with_({ nodeSelector: { pool: "none" } })).toEqual([expect.stringContaining("pool=none")]);
  });

  it("names the labels that no node has, with the DaemonSets that need them", () => {
    const [problem = ""] = problems([node("w1", worker), node("w2", worker)], {
      configDaemonNodeSelector: { sriov: "yes" },
    });
    expect(problem).toContain("sriov-network-config-daemon");
    expect(problem).toContain("can run on no node: none of the 2 nodes of the cluster has the labels sriov=yes");
  });
});
