// SPDX-License-Identifier: Apache-2.0
/**
 * Installs and upgrades Switchyard's chart by Helm 4 in a cluster without cert-manager, Prometheus and Multus, in a
 * namespace that enforces the Pod Security Standard "restricted", and with mistakes that users make.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sriovOperatorConfigs, type ResourceType } from "@switchyard/api";
import { namespace } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { startChartCluster, switchyardChart, type ChartCluster } from "../../src/helm/chart-cluster.ts";
import type { Values } from "../../src/helm/helm.ts";
import { fieldAt } from "../../src/api/plain-api.ts";

const deployments: ResourceType = {
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
};
const deployment = "sriov-sriov-network-operator";
const unreachable = "unreachable.example.com";
const values: Values = { sriovOperatorConfig: { deploy: true } };
const upgrade = ["upgrade", "sriov", switchyardChart, "--wait", "--timeout", "60s"];

let place: ChartCluster;

beforeAll(async () => {
  place = await startChartCluster("helm4", { missing: [unreachable] });
  const label = "pod-security.kubernetes.io/enforce=restricted";
  await place.testCluster.kubectl(["label", "namespace", namespace, label]);
});

afterAll(async () => {
  await place[Symbol.asyncDispose]();
});

/** The operator's pods that run. */
const running = () =>
  place.pods.runs.filter(
    ({ pod, endedMs }) => endedMs === undefined && pod.metadata.labels?.["name"] === "sriov-network-operator",
  );

async function names(kind: string): Promise<readonly string[]> {
  const text = await place.testCluster.kubectl(["get", kind, "-o", "name"]);
  return text.split("\n").filter((line) => line !== "");
}

describe("an installation", () => {
  it("succeeds in a restricted namespace, and the notes say which pods are refused there", async () => {
    const notes = await place.helm.run(["install", "sriov", switchyardChart, "--wait", "--timeout", "60s"], values);
    expect(notes).toContain('enforces the Pod Security Standard "restricted"');
    expect(notes).toContain("pod-security.kubernetes.io/enforce=privileged");
    expect(running()).toHaveLength(1);
    await eventually("the operator has reported the config", async () => {
      const config = await place.testCluster.read(sriovOperatorConfigs, "default");
      return fieldAt(config, "status", "observedGeneration") === 1;
    });
  });

  it("leaves no Job", async () => {
    expect(await names("jobs")).toEqual([]);
  });

  it("is refused under the same name", async () => {
    const { status, stderr } = await place.helm.try(["install", "sriov", switchyardChart], values);
    expect([status, stderr]).toEqual([1, expect.stringContaining("still in use")]);
  });

  it("is refused under another name in the same namespace, and changes nothing", async () => {
    const { status, stderr } = await place.helm.try(["install", "other", switchyardChart], values);
    expect([status, stderr]).toEqual([1, expect.stringContaining("invalid ownership metadata")]);
    expect(await names("deployments")).toEqual([`deployment.apps/${deployment}`]);
    expect(await names("jobs")).toEqual([]);
    expect(running()).toHaveLength(1);
  });
});

describe("an upgrade", () => {
  // It waits until the SriovOperatorConfig is Ready, and thus until the DaemonSets run somewhere.
  beforeAll(async () => {
    const level = "pod-security.kubernetes.io/enforce=privileged";
    await place.testCluster.kubectl(["label", "--overwrite", "namespace", namespace, level]);
    await place.testCluster.kubectl(["label", "node", "control-1", "node-role.kubernetes.io/worker="]);
  });

  it("sets a variable once if operator.extraEnv replaces it", async () => {
    const extraEnv = { RESOURCE_PREFIX: "example.com", MORE: "1" };
    await place.helm.run(upgrade, { ...values, operator: { extraEnv } });
    const found = await place.testCluster.read(deployments, deployment);
    const env = fieldAt(found, "spec", "template", "spec", "containers", 0, "env");
    const list: readonly unknown[] = Array.isArray(env) ? env : [];
    const prefixes = list.filter((variable) => fieldAt(variable, "name") === "RESOURCE_PREFIX");
    expect(prefixes).toEqual([{ name: "RESOURCE_PREFIX", value: "example.com" }]);
  });

  it.each([
    {
      does: "cert-manager",
      set: "operator.admissionControllers.certificates.certManager.enabled=true",
      words: "cert-manager",
    },
    { does: "a Prometheus operator", set: "metrics.serviceMonitor.enabled=true", words: "Prometheus operator" },
    { does: "a Prometheus operator", set: "metrics.podMonitor.enabled=true", words: "Prometheus operator" },
  ])("is refused with a sentence without $does: $set", async ({ set, words }) => {
    const enabled = "operator.admissionControllers.enabled=true";
    const { status, stderr } = await place.helm.try([...upgrade, "--set", `${enabled},${set}`], values);
    expect([status, stderr]).toEqual([1, expect.stringContaining(`the cluster has no ${words}`)]);
    expect(running()).toHaveLength(1);
  });

  it("fails within its time limit if the image cannot be pulled, and the operator keeps running", async () => {
    const before = running().map(({ pod }) => pod.metadata.name);
    const images = { operator: `${unreachable}/switchyard-operator:2` };
    const args = ["upgrade", "sriov", switchyardChart, "--timeout", "5s"];
    const { status, stderr } = await place.helm.try(args, { ...values, images });
    expect([status, stderr]).toEqual([1, expect.stringContaining(`${deployment}-pre-upgrade`)]);
    expect(running().map(({ pod }) => pod.metadata.name)).toEqual(before);
  });

  it("succeeds after the image is corrected", async () => {
    await place.helm.run(upgrade, values);
    expect(running()).toHaveLength(1);
    expect(await names("jobs")).toEqual([]);
  });
});

describe("the hooks", () => {
  const account = `${deployment}-pre-upgrade-adopt`;
  const hookPods = () =>
    place.pods.runs
      .map(({ pod }) => pod)
      .filter((pod) => pod.metadata.labels?.["app.kubernetes.io/component"] === "hook");
  const adopting = () => hookPods().filter((pod) => JSON.stringify(pod).includes('"adopt"'));
  const required = ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"] as const;

  /** Objects of the hooks before an upgrade, in the whole cluster. */
  async function left(): Promise<readonly string[]> {
    const kinds = "serviceaccount,role,rolebinding,clusterrole,clusterrolebinding,validatingadmissionpolicy";
    return (await names(`${kinds},validatingadmissionpolicybinding,job`)).filter((name) =>
      name.includes("-pre-upgrade"),
    );
  }

  it("its Jobs run on control plane nodes only", () => {
    expect(hookPods().length).toBeGreaterThan(1);
    const terms = ["control-plane", "master"].map((role) => ({
      matchExpressions: [{ key: `node-role.kubernetes.io/${role}`, operator: "Exists" }],
    }));
    for (const pod of hookPods()) expect(fieldAt(pod, "spec", ...required)).toEqual({ nodeSelectorTerms: terms });
  });

  it("run on any node if no control plane node accepts them", async () => {
    const render = async (more: Values) => {
      const text = await place.helm.run(["template", "sriov", switchyardChart, "--dry-run=server"], more);
      return text.split(`${required[2]}:`).length - 1;
    };
    expect(await render(values)).toBeGreaterThan(0);
    expect(await render({ ...values, operator: { nodeSelector: { pool: "infra" } } })).toBe(0);
    await place.testCluster.kubectl(["taint", "node", "control-1", "a=b:NoSchedule"]);
    expect(await render(values)).toBeGreaterThan(0);
    expect(await render({ ...values, hooks: { tolerations: [] } })).toBe(0);
    await place.testCluster.kubectl(["taint", "node", "control-1", "a-"]);
    await place.testCluster.kubectl(["label", "node", "control-1", "node-role.kubernetes.io/control-plane-"]);
    expect(await render(values)).toBe(0);
    await place.testCluster.kubectl(["label", "node", "control-1", "node-role.kubernetes.io/control-plane="]);
  });

  it("leave no account and no right, and adopt nothing in a release of this chart", async () => {
    expect(await left()).toEqual([]);
    expect(adopting()).toEqual([]);
  });

  it("deletes what hooks of a killed upgrade have left behind", async () => {
    const metadata = { name: account, namespace };
    const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: account } };
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: account };
    const subjects = [{ kind: "ServiceAccount", ...metadata }];
    const items = [
      { apiVersion: "v1", kind: "ServiceAccount", metadata },
      { ...rbac, kind: "ClusterRole", rules: [] },
      { ...rbac, kind: "ClusterRoleBinding", roleRef, subjects },
      { ...rbac, kind: "ClusterRoleBinding", metadata: { name: `${account}-same` }, roleRef, subjects },
    ];
    await place.testCluster.kubectl(["create", "-f", "-"], { apiVersion: "v1", kind: "List", items });
    expect(await left()).toHaveLength(4);
    await place.helm.run(upgrade, values);
    expect(await left()).toEqual([]);
  });
});

describe("the rights in the chart", () => {
  it("suffice: the API server has refused no request of the operator or of a Job", async () => {
    const prefix = `system:serviceaccount:${namespace}:${deployment}`;
    const refused = (await place.testCluster.audit()).filter(({ user, responseStatus }) => {
      return user.username?.startsWith(prefix) === true && responseStatus?.code === 403;
    });
    expect(refused.map(({ verb, requestURI }) => `${verb} ${requestURI}`)).toEqual([]);
  });
});
