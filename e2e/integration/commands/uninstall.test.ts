// SPDX-License-Identifier: Apache-2.0
/**
 * `operator uninstall` against a real API server and garbage collector: with a running operator, with a dead one, with a
 * webhook that refuses everything because no server answers, and with insufficient rights.
 */
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import {
  afxdpNetworkNodePolicies,
  afxdpOperatorConfigs,
  afxdpResources,
  operatorConfigName,
  sriovNetworkNodePolicies,
  sriovOperatorConfigs,
  upstreamFinalizers,
  type ResourceType,
} from "@switchyard/api";
import { componentKinds } from "@switchyard/render";
import { namespace } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { applyCrdsOf } from "../../src/crds/crd-objects.ts";
import { componentImageFlags, startOperatorCommand, type CommandEnd } from "../../src/operator/operator-command.ts";
import { startUpstreamCluster, upstream, type UpstreamCluster } from "../../src/operator/upstream-cluster.ts";

const testMs = 5 * 60_000;
const webhookName = "sriov-operator-webhook-config";
const registration = componentKinds.ValidatingWebhookConfiguration;
const { DaemonSet } = componentKinds;

let testCluster: UpstreamCluster;

beforeEach(async () => {
  testCluster = await startUpstreamCluster({ controllerManager: true });
}, testMs);
afterEach(async () => {
  await testCluster[Symbol.asyncDispose]();
}, testMs);

const args = (...more: readonly string[]) => [
  ...["uninstall", "--kubeconfig", testCluster.cluster.kubeconfig, "--namespace", namespace, ...more],
];
const uninstall = (...more: readonly string[]): Promise<CommandEnd> => startOperatorCommand(args(...more)).ended;

const exists = async (type: ResourceType, name: string) => (await testCluster.find(type, name)) !== undefined;

async function createConfig(finalizers: readonly string[] = []): Promise<void> {
  await testCluster.as(upstream.user).create(sriovOperatorConfigs, {
    metadata: { name: operatorConfigName, finalizers: [...finalizers] },
    spec: { enableInjector: false, enableOperatorWebhook: false, logLevel: 2 },
  });
}

/** A registration that refuses all changes of SriovOperatorConfigs, because its server does not exist. */
async function registerDeadWebhook(manager: string): Promise<void> {
  await testCluster.as(manager).create(registration, {
    metadata: { name: webhookName },
    webhooks: [
      {
        name: "operator-webhook.sriovnetwork.openshift.io",
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        failurePolicy: "Fail",
        timeoutSeconds: 2,
        clientConfig: { service: { name: "operator-webhook-service", namespace, path: "/x" }, caBundle: "" },
        rules: [
          {
            apiGroups: ["sriovnetwork.openshift.io"],
            apiVersions: ["v1"],
            operations: ["CREATE", "UPDATE", "DELETE"],
            resources: ["sriovoperatorconfigs", "sriovnetworknodepolicies"],
          },
        ],
      },
    ],
  });
}

it(
  "waits for the running operator; policies and CRDs stay; repeated and interrupted runs end well",
  async () => {
    await createConfig([upstreamFinalizers.operatorConfig]);
    await testCluster.as(upstream.user).create(sriovNetworkNodePolicies, {
      metadata: { name: "fast" },
      spec: { resourceName: "fast", numVfs: 2, nicSelector: { vendor: "8086" }, nodeSelector: {} },
    });
    testCluster.start("operator", "apps/operator/src/main.ts", componentImageFlags);
    await eventually("DaemonSet", () => exists(DaemonSet, "sriov-network-config-daemon"), { withinMs: 120_000 });

    const killed = startOperatorCommand(args());
    await killed.said("SriovOperatorConfig default: deleted");
    killed.kill("SIGKILL");
    await killed.ended;
    const end = await uninstall();
    expect(end).toMatchObject({ code: 0, errors: "" });
    expect(end.lines.at(-1)).toBe("uninstalled: CustomResourceDefinitions, policies, networks and VFs stay");
    expect(await exists(sriovOperatorConfigs, operatorConfigName)).toBe(false);
    expect(await exists(DaemonSet, "sriov-network-config-daemon")).toBe(false);
    expect(await exists(sriovNetworkNodePolicies, "fast")).toBe(true);
    const again = await uninstall();
    expect(again).toMatchObject({ code: 0, errors: "" });
    expect(again.lines).toContain("SriovOperatorConfig default does not exist");
  },
  testMs,
);

it(
  "deletes an AfxdpOperatorConfig first, so that nothing is deployed for it afterwards; its policies stay",
  async () => {
    await applyCrdsOf(testCluster.cluster, afxdpResources);
    const objects = testCluster.as("somebody");
    await objects.create(afxdpOperatorConfigs, { metadata: { name: operatorConfigName }, spec: {} });
    await objects.create(afxdpNetworkNodePolicies, {
      metadata: { name: "fast" },
      spec: { poolName: "fast", nodeSelector: {}, nicSelector: { vendor: "8086" } },
    });
    await createConfig();
    testCluster.start("operator", "apps/operator/src/main.ts", componentImageFlags);
    await eventually("DaemonSet", () => exists(DaemonSet, "afxdp-device-plugin"), { withinMs: 120_000 });

    const end = await uninstall();
    expect(end).toMatchObject({ code: 0, errors: "" });
    expect(end.lines.filter((line) => line.endsWith(": deleted"))).toEqual([
      "AfxdpOperatorConfig default: deleted",
      "SriovOperatorConfig default: deleted",
    ]);
    expect(await exists(DaemonSet, "afxdp-device-plugin")).toBe(false);
    expect(await exists(DaemonSet, "sriov-network-config-daemon")).toBe(false);
    expect(await exists(afxdpNetworkNodePolicies, "fast")).toBe(true);
  },
  testMs,
);

it(
  "with a dead operator, removes the webhook registrations and upstream's finalizer after the time limit",
  async () => {
    await createConfig([upstreamFinalizers.operatorConfig]);
    await registerDeadWebhook(upstream.operator);
    const end = await uninstall("--timeout-seconds", "5");
    expect(end.code).toBe(0);
    expect(end.lines).toContain(`ValidatingWebhookConfiguration ${webhookName}: deleted`);
    expect(end.lines).toContain(
      `SriovOperatorConfig default: removed the finalizer ${upstreamFinalizers.operatorConfig}`,
    );
    expect(end.errors).toContain("removing the webhook registrations, which may be the reason");
    expect(end.errors).toContain("the operator does not seem to work");
    expect(await exists(sriovOperatorConfigs, operatorConfigName)).toBe(false);
    // The cluster is not locked: changes of the kinds are accepted again.
    await createConfig();
  },
  testMs,
);

it(
  "leaves the registration of another program, and says why the deletion fails",
  async () => {
    await createConfig();
    await registerDeadWebhook("somebody");
    const end = await uninstall("--timeout-seconds", "5");
    expect(end.code).toBe(1);
    expect(end.errors).toContain("operator-webhook.sriovnetwork.openshift.io");
    expect(await exists(registration, webhookName)).toBe(true);
    expect(await exists(sriovOperatorConfigs, operatorConfigName)).toBe(true);
  },
  testMs,
);

it(
  "names the finalizers of other programs and exits with 1",
  async () => {
    await createConfig(["example.com/backup"]);
    const end = await uninstall("--timeout-seconds", "3");
    expect(end.code).toBe(1);
    expect(end.lines.join("\n")).toContain("(finalizer example.com/backup)");
    expect(end.errors).toContain("finalizers of other programs are left: example.com/backup");
  },
  testMs,
);

it(
  "deletes nothing while OVN runs on SmartNICs",
  async () => {
    await createConfig();
    const { cluster } = testCluster;
    const path = ["sriovoperatorconfig", operatorConfigName, "-n", namespace, "--subresource=status", "--type=merge"];
    const setPools = (pools: readonly object[]) => {
      return cluster.kubectl(["patch", ...path, "-p", JSON.stringify({ status: { ovnHardwareOffload: pools } })]);
    };
    await setPools([{ pool: "dpu-host", nodeCount: 2, readyNodeCount: 2 }]);
    const end = await uninstall("--timeout-seconds", "5");
    expect(end.code).toBe(1);
    expect(end.errors).toContain("nothing is uninstalled, because OVN of these pools runs on SmartNICs: dpu-host");
    expect(await exists(sriovOperatorConfigs, operatorConfigName)).toBe(true);
    await setPools([]);
    expect((await uninstall("--timeout-seconds", "5")).code).toBe(0);
    expect(await exists(sriovOperatorConfigs, operatorConfigName)).toBe(false);
  },
  testMs,
);

it(
  "without rights, changes nothing and says what it may not do",
  async () => {
    const { cluster } = testCluster;
    await createConfig();
    await registerDeadWebhook(upstream.operator);
    await cluster.kubectl([
      ...["create", "clusterrole", "reader", "--verb=get,list"],
      "--resource=sriovoperatorconfigs,daemonsets,validatingwebhookconfigurations,mutatingwebhookconfigurations",
    ]);
    await cluster.kubectl(["create", "clusterrolebinding", "reader", "--clusterrole=reader", "--user=reader"]);
    const kubeconfig = await cluster.clientFor({ user: "reader", groups: [] });
    const to = ["uninstall", "--kubeconfig", kubeconfig, "--namespace", namespace, "--timeout-seconds", "5"];
    const end = await startOperatorCommand(to).ended;
    expect(end).toMatchObject({ code: 1, errors: expect.stringContaining("Forbidden") });
    expect(await exists(registration, webhookName)).toBe(true);
    expect(await exists(sriovOperatorConfigs, operatorConfigName)).toBe(true);
  },
  testMs,
);

it(
  "ends within its time limits when the API server does not answer",
  async () => {
    await using restarted = new AsyncDisposableStack();
    await testCluster.cluster.stopApiServer();
    restarted.defer(() => testCluster.cluster.startApiServer());
    const running = startOperatorCommand(args("--timeout-seconds", "3"));
    await running.said("the API server does not answer; retrying");
    running.kill("SIGTERM");
    const end = await running.ended;
    expect(end).toMatchObject({ code: 1, errors: expect.stringContaining("stopped by SIGTERM") });
  },
  testMs,
);
