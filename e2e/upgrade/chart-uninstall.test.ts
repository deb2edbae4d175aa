// SPDX-License-Identifier: Apache-2.0
/**
 * Uninstalls Switchyard's chart by Helm in the states in which an uninstallation could hang or lock out users: a dead
 * operator, webhooks without a server, no SriovOperatorConfig, and no node for the Job.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sriovNetworkNodePolicies, sriovNetworks, sriovOperatorConfigs } from "@switchyard/api";
import { componentKinds } from "@switchyard/render";
import { namespace } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { startChartCluster, switchyardChart, type ChartCluster } from "../src/helm/chart-cluster.ts";
import { helmVersions, prepareHelm, type Helm, type HelmVersion, type Values } from "../src/helm/helm.ts";
import { fieldAt } from "../src/api/plain-api.ts";
import { upstream } from "../src/operator/upstream-cluster.ts";

const { MutatingWebhookConfiguration, ValidatingWebhookConfiguration, ClusterRole, DaemonSet } = componentKinds;
const registration = "sriov-operator-webhook-config";
const account = "sriov-sriov-network-operator";
const uninstall = ["uninstall", "sriov", "--wait", "--timeout", "120s"];
/** Short limits: a test with a dead operator waits for them. */
const hooks = { uninstallTimeoutSeconds: 3, activeDeadlineSeconds: 60 };
const withConfig: Values = { hooks, sriovOperatorConfig: { deploy: true } };
const withWebhooks: Values = { ...withConfig, operator: { admissionControllers: { enabled: true } } };

let place: ChartCluster;
const helms = new Map<HelmVersion, Helm>();

beforeAll(async () => {
  place = await startChartCluster("helm4");
  const { kubeconfig } = place.testCluster.cluster;
  for (const version of helmVersions) {
    helms.set(version, await prepareHelm(version, { kubeconfig, namespace, directory: place.testCluster.directory }));
  }
});

afterAll(async () => {
  await disposeOf(place);
});

function helm(version: HelmVersion): Helm {
  const found = helms.get(version);
  if (found === undefined) throw new Error(`${version} was not prepared`);
  return found;
}

/** Installs the chart, and creates a policy and a network before webhooks could refuse them. */
async function install(version: HelmVersion, values: Values): Promise<void> {
  const { testCluster } = place;
  await helm(version).run(["install", "sriov", switchyardChart, "--wait", "--timeout", "60s"], values);
  if ((await testCluster.find(sriovNetworkNodePolicies, "fast")) === undefined) {
    const user = testCluster.as(upstream.user);
    const policy = { resourceName: "fast", numVfs: 2, nodeSelector: {}, nicSelector: { pfNames: ["ens1f0"] } };
    await user.create(sriovNetworkNodePolicies, { metadata: { name: "fast" }, spec: policy });
    await user.create(sriovNetworks, { metadata: { name: "fast" }, spec: { resourceName: "fast" } });
  }
}

/** Waits until the webhooks refuse requests that no server answers: a stand-in for the server's pod never does. */
async function untilWebhooksFailClosed(): Promise<void> {
  await eventually("the webhooks fail closed", async () => {
    const found = await place.testCluster.find(ValidatingWebhookConfiguration, registration);
    return fieldAt(found, "webhooks", 0, "failurePolicy") === "Fail";
  });
}

async function killOperator(): Promise<void> {
  const last = place.pods.runs.findLast(({ pod }) => pod.metadata.labels?.["name"] === "sriov-network-operator");
  await place.pods.freeze(last?.pod.metadata.name ?? "");
}

async function expectClean(): Promise<void> {
  const { testCluster } = place;
  expect(await testCluster.find(sriovOperatorConfigs, "default")).toBeUndefined();
  await eventually("all components are deleted", async () => {
    const cluster = [
      await testCluster.find(MutatingWebhookConfiguration, registration),
      await testCluster.find(ValidatingWebhookConfiguration, registration),
      await testCluster.find(ClusterRole, account),
      await testCluster.find(ClusterRole, "sriov-network-config-daemon"),
      await testCluster.find(DaemonSet, "sriov-network-config-daemon"),
    ];
    const jobs = await testCluster.kubectl(["get", "jobs,deployments,daemonsets", "-o", "name"]);
    return cluster.every((object) => object === undefined) && jobs.trim() === "";
  });
  for (const type of [sriovNetworkNodePolicies, sriovNetworks]) {
    const { metadata } = await testCluster.read(type, "fast");
    expect([metadata.deletionTimestamp, metadata.finalizers]).toEqual([undefined, undefined]);
  }
  // No webhook is left that could refuse it.
  const body = { metadata: { annotations: { after: String(place.pods.runs.length) } } };
  await testCluster.as(upstream.user).patch(sriovNetworkNodePolicies, "fast", body);
}

describe.each(helmVersions)("an uninstallation by %s", (version) => {
  it("removes what the operator has deployed, and keeps CRDs, policies and networks", async () => {
    await install(version, withConfig);
    await eventually("the components are deployed", async () => {
      return (await place.testCluster.find(DaemonSet, "sriov-network-config-daemon")) !== undefined;
    });
    await helm(version).run(uninstall);
    await expectClean();
  });

  it("succeeds without a SriovOperatorConfig", async () => {
    await install(version, { hooks });
    await helm(version).run(uninstall);
    await expectClean();
  });

  it("succeeds while the webhooks refuse every request", async () => {
    await install(version, withWebhooks);
    await untilWebhooksFailClosed();
    await helm(version).run(uninstall);
    await expectClean();
  });

  it("succeeds with a dead operator while the webhooks refuse every request", async () => {
    await install(version, withWebhooks);
    await untilWebhooksFailClosed();
    await killOperator();
    await helm(version).run(uninstall);
    await expectClean();
  });

  it("fails within its limit if no node takes the Job; --no-hooks and deleting the config then finish it", async () => {
    await install(version, withConfig);
    place.pods.schedule(false);
    const { status, stderr } = await helm(version).try(["uninstall", "sriov", "--timeout", "5s"]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/pre-delete|timed out/)]);
    await helm(version).run([...uninstall, "--no-hooks"]);
    await place.testCluster.kubectl(["delete", "sriovoperatorconfig", "default", "--timeout=30s"]);
    await place.testCluster.kubectl(["delete", "jobs", "--all"]);
    place.pods.schedule(true);
    await expectClean();
  });
});
