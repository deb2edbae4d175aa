// SPDX-License-Identifier: Apache-2.0
/**
 * runOvnOffloadDemo shows how OVN moves to the SmartNICs of three hosts, and back. The API server, OpenShift's CRDs and
 * Switchyard's services are real; the kernels are fake, and a stand-in plays OpenShift's machine config operator.
 */
import { labels } from "@switchyard/api";
import {
  createNode,
  createOperatorConfig,
  eachNode,
  namespace,
  openshiftCrds,
  simulateMachineConfigOperator,
  registerWebhooks,
  startWebhook,
  logNodeChanges,
  type Narrator,
  type NodeLog,
  type TestCluster,
} from "@switchyard/test-cluster";
import { eventually, findFreePorts } from "@switchyard/testing";
import { administratorsObjects, hostPool, hostRole, openshiftObjects } from "./openshift-objects.ts";
import { startSmartNicHost, type SmartNicHost } from "./smart-nic-host.ts";

const hostNames = ["host-1", "host-2", "host-3"];
const all = { nodes: hostNames.length, withinMs: 120_000 };
const withinMs = 240_000;
const hostLabel = "network.operator.openshift.io/dpu-host";
const config = ["sriovoperatorconfig", "default"];
const offload = 'jsonpath={range .status.ovnHardwareOffload[*].conditions[*]}{.type}={.status} {.message}{"\\n"}{end}';

interface Demo {
  readonly testCluster: TestCluster;
  readonly narrator: Narrator;
  readonly news: NodeLog;
  /** What the administrator had configured. */
  readonly before: readonly string[];
}

/** Runs all scenes. Rejects when a step does not succeed in time. */
export async function runOvnOffloadDemo(testCluster: TestCluster, narrator: Narrator): Promise<void> {
  const demo = await startHosts(testCluster, narrator);
  await showSelection(demo);
  await showResult(demo);
  await showReservedVf(demo);
  await showLeaving(demo);
}

async function startHosts(testCluster: TestCluster, narrator: Narrator): Promise<Demo> {
  narrator.scene(`An OpenShift cluster with the pool ${hostPool}: three hosts with a BlueField-2 each`);
  for (const file of await openshiftCrds()) await testCluster.cluster.applyCrds(file);
  await createNode(testCluster, "worker-0");
  await makeReady(testCluster, "worker-0");
  for (const object of openshiftObjects) {
    await testCluster.cluster.kubectl(["apply", "--server-side", "-f", "-"], { input: JSON.stringify(object) });
  }
  await createOperatorConfig(testCluster, { configDaemonNodeSelector: { [hostRole]: "" } });
  const hosts = new Map<string, SmartNicHost>();
  for (const name of hostNames) {
    hosts.set(name, await startSmartNicHost(testCluster, name));
    await makeReady(testCluster, name);
  }
  testCluster.use(
    simulateMachineConfigOperator({
      transport: testCluster.transport,
      async onReboot(name, merged) {
        narrator.line(name, "reboots with the configuration of its pool");
        await hosts.get(name)?.reboot(merged);
      },
    }),
  );
  testCluster.start("ovn-offload", "apps/ovn-offload/src/main.ts", []);
  const [port = 0] = await findFreePorts(1);
  await registerWebhooks(testCluster, port);
  startWebhook(testCluster, "webhook", port);
  const news = testCluster.use(logNodeChanges(testCluster.transport, narrator));
  const isDiscovered = (interfaces: readonly unknown[] = []): boolean => interfaces.length > 0;
  await eachNode(news, all, "discovered", ({ status }) => isDiscovered(status?.interfaces));
  await eventually("the webhook answers", () => patchConfig(testCluster, { logLevel: 1 }));
  return { testCluster, narrator, news, before: await readAdministrators(testCluster) };
}

/** Does what a kubelet and the node controller do: without it, pods cannot run on the node. */
async function makeReady({ cluster }: TestCluster, name: string): Promise<void> {
  const conditions = [{ type: "Ready", status: "True", reason: "KubeletReady", message: "", lastTransitionTime: null }];
  const patch = ["patch", "node", name, "--type=merge", "-p"];
  await cluster.kubectl([...patch, JSON.stringify({ status: { conditions } }), "--subresource=status"]);
  await cluster.kubectl([...patch, JSON.stringify({ spec: { taints: null } })]);
}

async function showSelection({ testCluster, narrator }: Demo): Promise<void> {
  narrator.scene("The administrator selects the pool. Everything else follows.");
  await testCluster.kubectl([
    ...["patch", ...config, "--type=merge", "-p"],
    JSON.stringify({ spec: { ovnHardwareOffload: [{ nodeSelector: { [hostRole]: "" } }] } }),
  ]);
  await eventually(
    "all hosts are labelled",
    async () => (await listNames(testCluster, ["nodes", "-l", hostLabel])).length === hostNames.length,
    { withinMs },
  );
}

async function showResult({ testCluster, narrator, news }: Demo): Promise<void> {
  narrator.scene("OVN runs on the SmartNICs: policies, VFs, one MachineConfig, labels, management ports, DNS");
  await eachNode(news, all, "VF 0 has its permanent name", ({ status }) =>
    Boolean(status?.interfaces?.some(({ Vfs = [] }) => Vfs[0]?.name === "ovnmgmt0")),
  );
  await testCluster.kubectl(["get", "sriovnetworknodepolicies", "-l", labels.ovnOffloadPool]);
  await testCluster.kubectl(["get", "machineconfigs", "-l", labels.ovnOffloadPool]);
  await testCluster.kubectl(["get", "nodes", "-l", hostLabel, "-L", labels.ovnOffloadPool]);
  const ports = ["configmap", "ovn-management-ports", "-n", "openshift-ovn-kubernetes"];
  await testCluster.kubectl(["get", ...ports, "-o", "jsonpath={.data}"]);
  await testCluster.kubectl(["get", "dns.operator.openshift.io", "default", "-o", "jsonpath={.spec}"]);
  await testCluster.kubectl(["get", ...config, "-o", offload]);
}

async function showReservedVf({ testCluster, narrator }: Demo): Promise<void> {
  narrator.scene("A user's policy that claims VF 0 is refused");
  const spec = {
    nodeSelector: { [hostRole]: "" },
    nicSelector: { pfNames: ["enp59s0f0np0#0-3"] },
    numVfs: 16,
    resourceName: "mine",
  };
  const metadata = { name: "mine", namespace };
  const policy = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkNodePolicy", metadata, spec };
  const output = await testCluster.kubectl(["apply", "-f", "-"], policy);
  if (!output.includes("VF 0 is reserved for the management port")) throw new Error("the policy was not refused");
}

async function showLeaving({ testCluster, narrator, news, before }: Demo): Promise<void> {
  narrator.scene("The administrator removes the selection: everything is as it was");
  await testCluster.kubectl(["patch", ...config, "--type=merge", "-p", '{"spec":{"ovnHardwareOffload":null}}']);
  await eventually(
    "no host belongs to the offload",
    async () => (await listNames(testCluster, ["nodes", "-l", labels.ovnOffloadPool])).length === 0,
    { withinMs },
  );
  await eachNode(
    news,
    all,
    "no VFs",
    ({ status }) =>
      status?.interfaces?.every(({ numVfs = 0 }) => numVfs === 0) === true && status.syncStatus === "Succeeded",
  );
  await testCluster.kubectl(["get", "nodes", "--show-labels"]);
  for (const kind of ["sriovnetworknodepolicies", "machineconfigs"]) {
    const left = await listNames(testCluster, [kind, "-l", labels.ovnOffloadPool]);
    if (left.length > 0) throw new Error(`not removed: ${left.join(", ")}`);
  }
  const after = await readAdministrators(testCluster);
  if (after.join("\n") !== before.join("\n")) throw new Error(`not restored: ${after.join("\n")}`);
  narrator.line("admin", "the DNS placement and the ConfigMap env-overrides are as they were before");
}

async function patchConfig(testCluster: TestCluster, spec: object): Promise<unknown> {
  const patch = JSON.stringify({ spec });
  return testCluster.cluster.kubectl([
    "patch",
    ...config,
    "-n",
    namespace,
    "--type=merge",
    "-p",
    patch,
    "--dry-run=server",
  ]);
}

async function listNames(testCluster: TestCluster, what: readonly string[]): Promise<readonly string[]> {
  const output = await testCluster.cluster.kubectl(["get", ...what, "-n", namespace, "-o", "name"]);
  return output.split("\n").filter((line) => line !== "");
}

/** The spec, data and annotations of the administrator's objects. */
async function readAdministrators(testCluster: TestCluster): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const { kind, metadata } of administratorsObjects) {
    const at = "namespace" in metadata ? ["-n", metadata.namespace] : [];
    const shown = "jsonpath={.metadata.annotations}{.spec}{.data}";
    const type = kind === "DNS" ? "dns.operator.openshift.io" : kind;
    texts.push(await testCluster.cluster.kubectl(["get", type, metadata.name, ...at, "-o", shown]));
  }
  return texts;
}
