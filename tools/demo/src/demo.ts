// SPDX-License-Identifier: Apache-2.0
/**
 * runDemo shows policies, networks, drains and the webhook on three nodes with different NICs. The nodes' kernels are
 * fake, everything else is real. What it starts runs until the test cluster ends.
 */
import {
  devicePluginReasons,
  drainReasons,
  labels,
  sriovOperatorConfigs,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import {
  createFakeKernel,
  i40e,
  igb,
  mlx5,
  pci,
  serveFakeKernel,
  type FakeKernel,
  type FakeNic,
} from "@switchyard/host/testing";
import { eventually, findFreePorts } from "@switchyard/testing";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  applyNetwork,
  applyPolicy,
  confirmReset,
  createNode,
  createOperatorConfig,
  eachNode,
  namespace,
  type Narrator,
  type NodeLog,
  simulateKubelets,
  policyIs,
  policySpec as spec,
  registerWebhooks,
  type TestCluster,
  startPod,
  startWebhook,
  startVfNode,
  type VfNode,
  waitFor,
  logNodeChanges,
} from "@switchyard/test-cluster";

/** A simulated node. */
export interface DemoNode {
  readonly node: string;
  readonly nic: FakeNic;
  readonly firstPort: string;
}

const all = { nodes: 3, withinMs: 30_000 };

/** The nodes. Each node's first port also has the alternative name "uplink0", as an administrator would set it. */
const vfNodeName = "worker-2";

const demoNodes: readonly [DemoNode, DemoNode, DemoNode] = [
  { node: "worker-1", nic: igb("0000:01:00.0"), firstPort: "enp1s0f0" },
  { node: vfNodeName, nic: i40e("0000:3b:00.0"), firstPort: "enp59s0f0" },
  { node: "worker-3", nic: mlx5("0000:5e:00.0"), firstPort: "enp94s0f0np0" },
];

/** What the scenes share. */
interface Demo {
  readonly testCluster: TestCluster;
  readonly narrator: Narrator;
  readonly kernels: ReadonlyMap<string, FakeKernel>;
  /** worker-2, where a simulated kubelet knows which pod has which VF. */
  readonly vfNode: VfNode;
  readonly news: NodeLog;
}

/** Runs all scenes. Calls `beforeReset` while the policies exist. Rejects when a step does not succeed in time. */
export async function runDemo(
  testCluster: TestCluster,
  narrator: Narrator,
  beforeReset: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const demo = await startNodes(testCluster, narrator);
  await showPolicies(demo);
  await showNetworks(demo);
  await showDevicePlugin(demo);
  await showDrains(demo);
  await showRenamedResource(demo);
  await showDeviceDrain(demo);
  await showRenamedPort(demo);
  await showTooManyVfs(demo);
  await showRepair(demo);
  await showAdmission(demo);
  await beforeReset();
  await showReset(demo);
}

/** Starts three nodes and waits until their daemons have reported the NICs. */
async function startNodes(testCluster: TestCluster, narrator: Narrator): Promise<Demo> {
  narrator.scene("Three nodes with different NICs: Intel 82576, Intel XXV710, NVIDIA ConnectX-5");
  await createOperatorConfig(testCluster);
  const kernels = new Map<string, FakeKernel>();
  for (const demoNode of demoNodes) {
    if (demoNode.node !== vfNodeName) kernels.set(demoNode.node, (await startNode(demoNode, testCluster)).kernel);
  }
  const vfNode = await startNodeWithVfs(testCluster, narrator, kernels);
  const news = testCluster.use(logNodeChanges(testCluster.transport, narrator));
  await eachNode(
    news,
    all,
    "discovered",
    ({ status }) => status?.syncStatus === "Succeeded" && (status.interfaces ?? []).length > 0,
  );
  return { testCluster, narrator, kernels, vfNode, news };
}

/** Starts worker-2, whose kubelet gives VFs to pods. */
async function startNodeWithVfs(
  testCluster: TestCluster,
  narrator: Narrator,
  kernels: Map<string, FakeKernel>,
): Promise<VfNode> {
  const { node } = demoNodes[1];
  const kernel = createKernel(demoNodes[1]);
  kernels.set(node, kernel);
  return testCluster.use(
    await startVfNode(testCluster, {
      node,
      kernel: {
        bootId: await kernel.host().boot.readBootId(),
        serve: (socket) => serveFakeKernel(kernel, socket),
      },
      tell({ text }) {
        narrator.line(node, text);
      },
    }),
  );
}

/** Creates VFs with two policies. */
async function showPolicies({ testCluster, narrator, news }: Demo): Promise<void> {
  narrator.scene("Policies configure four VFs on port uplink0 of every node; VF 3 is for user space");
  await applyPolicy(
    testCluster,
    "fast",
    spec({ pfNames: ["uplink0#0-2"] }, { numVfs: 4, mtu: 9000, resourceName: "fast" }),
  );
  await applyPolicy(
    testCluster,
    "dpdk",
    spec({ pfNames: ["uplink0#3-3"] }, { numVfs: 4, deviceType: "vfio-pci", resourceName: "dpdk" }),
  );
  await policyIs(news, "fast", "Ready");
  await policyIs(news, "dpdk", "Ready");
  await testCluster.kubectl(["get", "sriovnetworknodepolicies,sriovnetworknodestates"]);
}

/** Creates a valid and an invalid SriovNetwork. */
async function showNetworks({ testCluster, narrator }: Demo): Promise<void> {
  narrator.scene("A SriovNetwork becomes a NetworkAttachmentDefinition; a second one has a typing error");
  await applyNetwork(testCluster, "fast-net", '{"type": "host-local", "subnet": "10.56.0.0/24"}');
  await waitFor(testCluster, "sriovnetwork/fast-net", "Ready");
  await testCluster.kubectl(["get", "net-attach-def", "fast-net", "-n", "default", "-o", "jsonpath={.spec.config}"]);
  await applyNetwork(testCluster, "typo-net", '{"type": "host-local", "subnet": "10.57.0.0/24}');
  await waitFor(testCluster, "sriovnetwork/typo-net", "Degraded");
  await testCluster.kubectl(["get", "sriovnetwork", "typo-net", "-o", messageOf("Degraded")]);
}

/** Starts device-plugin-config for one node. */
async function showDevicePlugin({ testCluster, narrator, kernels }: Demo): Promise<void> {
  narrator.scene("The device plugin of worker-1 gets a configuration that lists the VFs of each resource");
  narrator.line("worker-1", "device-plugin-config watches the node state");
  const configFile = await followDevicePlugin(testCluster, "worker-1", kernels.get("worker-1"));
  await waitFor(testCluster, "sriovnetworknodestate/worker-1", "DevicePluginConfigured");
  narrator.output(await readFile(configFile, "utf8"));
  await testCluster.kubectl(["get", "nodes", "-L", labels.devicePlugin]);
}

/** Changes the number of VFs while pods use them, which drains the nodes. */
async function showDrains({ testCluster, narrator, news }: Demo): Promise<void> {
  narrator.scene("numVfs changes from 4 to 6 while pods use the VFs: the nodes are drained one after the other");
  testCluster.use(
    simulateKubelets(
      testCluster.transport,
      ({ node, text }) => {
        narrator.line(node, text);
      },
      { except: [vfNodeName] },
    ),
  );
  for (const { node } of demoNodes) await startPod(testCluster.transport, `web-${node}`, node, "openshift.io/fast");
  await eventually("pods run", () => testCluster.cluster.kubectl(["wait", "--for=condition=Ready", "pods", "--all"]));
  for (const name of ["fast", "dpdk"]) {
    await testCluster.kubectl(["patch", "sriovnetworknodepolicy", name, "--type=merge", "-p", '{"spec":{"numVfs":6}}']);
  }
  await eventually("nodes wait for their turn", () => news.states.list().some(isWaiting));
  await testCluster.kubectl(["get", "sriovnetworknodestates"]);
  await eachNode(news, all, "6 VFs", ({ status }) => status?.interfaces?.some(({ numVfs }) => numVfs === 6) === true);
  await waitFor(testCluster, "sriovnetworknodepolicy/fast", "Ready");
}

/** Gives VFs of running pods another resource. */
async function showRenamedResource({ testCluster, narrator, vfNode, news }: Demo): Promise<void> {
  narrator.scene("worker-2: the resource lab is renamed to lab2 while pods have two of its three VFs");
  const { transport } = testCluster;
  await applyPolicy(testCluster, "lab", labPolicy({ numVfs: 3, resourceName: "lab" }));
  await eventually("lab is offered", () => vfNode.offered.get("lab")?.length === 3);
  for (const name of ["lab-a", "lab-b"]) await startPod(transport, name, vfNodeName, "openshift.io/lab");
  await eventually("the pods have VFs", () => vfNode.vfsOf.has("lab-a") && vfNode.vfsOf.has("lab-b"));
  await testCluster.kubectl(["patch", "sriovnetworknodepolicy", "lab", ...merge({ resourceName: "lab2" })]);
  await eventually("the free VF is offered", () => vfNode.offered.get("lab2")?.length === 1);
  await eventually("the others are reported", () => news.states.list().some(isWithheld));
  await testCluster.kubectl(["get", "sriovnetworknodestate", vfNodeName, "-o", messageOf("DevicePluginConfigured")]);
  for (const name of ["lab-c", "lab-d"]) await startPod(transport, name, vfNodeName, "openshift.io/lab2");
  await eventually("the third pod has the free VF", () => vfNode.vfsOf.has("lab-c"));
  narrator.line(vfNodeName, `lab-d waits: the VF ${vfNode.vfsOf.get("lab-a") ?? ""} is that of lab-a until it ends`);
  await testCluster.kubectl(["delete", "pod", "lab-a", "-n", "default", "--wait=false"]);
  await eventually("the fourth pod has a VF", () => vfNode.vfsOf.has("lab-d"), { withinMs: 30_000 });
  narrator.line(vfNodeName, `VFs that two pods had at once: ${vfNode.sharedVfs.size}`);
}

/** Changes the VFs of one port while pods have VFs of two. */
async function showDeviceDrain({ testCluster, narrator, vfNode, news }: Demo): Promise<void> {
  narrator.scene(
    "worker-2: numVfs of the second port changes: only its pods are evicted, and the node stays schedulable",
  );
  await startPod(testCluster.transport, "web", vfNodeName, "openshift.io/fast");
  await eventually("the pod of the first port runs", () => vfNode.vfsOf.has("web"));
  await testCluster.kubectl(["get", "pods", "-n", "default", "--field-selector", `spec.nodeName=${vfNodeName}`]);
  await testCluster.kubectl(["patch", "sriovnetworknodepolicy", "lab", ...merge({ numVfs: 4 })]);
  await eventually("four VFs are offered", () => vfNode.offered.get("lab2")?.length === 4, { withinMs: 60_000 });
  await testCluster.kubectl(["get", "pods", "-n", "default", "--field-selector", `spec.nodeName=${vfNodeName}`]);
  await testCluster.kubectl(["delete", "sriovnetworknodepolicy", "lab"]);
  await testCluster.kubectl(["delete", "pod", "web", "-n", "default", "--wait=false"]);
  await eachNode(news, all, "configured", ({ status }) => status?.syncStatus === "Succeeded");
}

/** A policy for the second port of worker-2. */
function labPolicy(rest: { readonly numVfs: number; readonly resourceName: string }) {
  const nodeSelector = { "kubernetes.io/hostname": vfNodeName };
  return { ...spec({ pfNames: ["enp59s0f1"] }, rest), nodeSelector };
}

/** The arguments of `kubectl patch` for fields of a spec. */
function merge(fields: object): readonly string[] {
  return ["--type=merge", "-p", JSON.stringify({ spec: fields })];
}

/** Selects a port by a name that no port has yet. */
async function showRenamedPort({ testCluster, narrator, kernels, news }: Demo): Promise<void> {
  narrator.scene("A policy selects port storage0, which no node has; then an administrator renames a port");
  await applyPolicy(testCluster, "storage", spec({ pfNames: ["storage0"] }, { numVfs: 2, resourceName: "storage" }));
  await eventually("storage waits", () => reasonOf(news, "storage") === "NoNicsMatched");
  narrator.line("worker-2", "ip link set enp59s0f1 name storage0");
  kernels.get("worker-2")?.renameLink("enp59s0f1", "storage0");
  await policyIs(news, "storage", "Ready");
}

/** Requests more VFs than a NIC supports. */
async function showTooManyVfs({ testCluster, narrator, news }: Demo): Promise<void> {
  narrator.scene("A policy requests more VFs than the NIC supports");
  await applyPolicy(
    testCluster,
    "greedy",
    spec({ vendor: "8086", deviceID: "10c9", pfNames: ["enp1s0f1"] }, { numVfs: 9, resourceName: "greedy" }),
  );
  await policyIs(news, "greedy", "Degraded");
  await testCluster.kubectl(["get", "sriovnetworknodepolicy", "greedy", "-o", messageOf("Degraded")]);
  await testCluster.kubectl(["delete", "sriovnetworknodepolicy", "greedy"]);
  await eachNode(news, all, "configured again", ({ status }) => status?.syncStatus === "Succeeded");
}

/** Unbinds the driver of a VF. */
async function showRepair({ narrator, kernels }: Demo): Promise<void> {
  narrator.scene("An administrator unbinds the driver of a VF; the daemon detects and repairs it");
  const vf = pci("0000:01:10.0");
  narrator.line("worker-1", `echo ${vf} > /sys/bus/pci/drivers/igbvf/unbind`);
  const brokenAtS = narrator.elapsedS();
  kernels.get("worker-1")?.unbindByHand(vf);
  await eventually("repaired", async () => {
    const pf = await kernels.get("worker-1")?.host().sriov.readPf(pci("0000:01:00.0"));
    return pf?.sriov?.vfs[0]?.driver === "igbvf";
  });
  narrator.line(
    "worker-1",
    `VF 0 is bound to its driver again after ${((narrator.elapsedS() - brokenAtS) * 1000).toFixed(0)} ms`,
  );
}

/** Refuses a conflict and warns about a change. */
async function showAdmission({ testCluster, narrator }: Demo): Promise<void> {
  narrator.scene("The admission webhook refuses a conflicting policy, and warns what a change disrupts");
  await startAdmission(testCluster, narrator);
  const clash = spec({ pfNames: ["uplink0#2-3"] }, { numVfs: 6, resourceName: "clash" });
  await applyPolicy(testCluster, "clash", clash);
  const fewer = ["--type=merge", "-p", '{"spec":{"numVfs":4}}', "--dry-run=server"];
  await testCluster.kubectl(["patch", "sriovnetworknodepolicy", "storage", ...fewer]);
}

/** Deletes all policies. */
async function showReset({ testCluster, narrator, news }: Demo): Promise<void> {
  narrator.scene("All policies are deleted: the NICs are reset");
  await testCluster.kubectl(["delete", "sriovnetworknodepolicies", "--all"]);
  // Such a loss is held for a minute, because it can be a mistake. The condition ResetHeld has the command that confirms it.
  await confirmReset(sriovOperatorConfigs, {
    read: (path) => testCluster.transport.request({ method: "GET", path }),
    merge: (_path, patch) =>
      testCluster.kubectl(["patch", "sriovoperatorconfig", "default", "--type=merge", "-p", JSON.stringify(patch)]),
  });
  await eachNode(
    news,
    all,
    "no VFs",
    ({ status }) =>
      status?.interfaces?.every(({ numVfs = 0 }) => numVfs === 0) === true && status.syncStatus === "Succeeded",
  );
  await testCluster.kubectl(["get", "sriovnetworknodestates"]);
}

/** Starts the webhook and waits until it answers the API server. */
async function startAdmission(testCluster: TestCluster, narrator: Narrator): Promise<void> {
  const [port = 0] = await findFreePorts(1);
  await registerWebhooks(testCluster, port);
  startWebhook(testCluster, "webhook", port);
  const probe = ["patch", "sriovnetworknodepolicy", "fast", "--type=merge", "-p", "{}", "--dry-run=server"];
  await eventually("the webhook answers", () => testCluster.cluster.kubectl([...probe, "--namespace", namespace]));
  narrator.line("webhook", "answers the API server over TLS");
}

/** A node that startNode has started. */
export interface StartedNode {
  readonly kernel: FakeKernel;
  /** Ends the daemon's process and starts another one, as the deletion of its pod does. */
  restartDaemon(): Promise<void>;
}

/** Creates the Node object and the fake kernel, and starts the config daemon as a process, with additional flags. */
export async function startNode(
  demoNode: DemoNode,
  testCluster: TestCluster,
  flags: readonly string[] = [],
): Promise<StartedNode> {
  const { node } = demoNode;
  await createNode(testCluster, node);
  const kernel = createKernel(demoNode);
  const socket = join(testCluster.directory, `${node}.sock`);
  testCluster.use(await serveFakeKernel(kernel, socket));
  const args = ["--node-name", node, "--kernel-socket", socket, ...flags];
  const start = () => testCluster.start(node, "apps/config-daemon/src/testing/fake-node.ts", args);
  let daemon = start();
  return {
    kernel,
    async restartDaemon() {
      await daemon.kill();
      daemon = start();
    },
  };
}

function createKernel({ node, nic, firstPort }: DemoNode): FakeKernel {
  const macSeed = Number(/\d+$/.exec(node)?.[0] ?? 1);
  const kernel = createFakeKernel({ nics: [nic], setNumVfsMs: 300, macSeed });
  kernel.addAltName(firstPort, "uplink0");
  return kernel;
}

function isWithheld({ status }: SriovNetworkNodeState): boolean {
  return (status?.conditions ?? []).some(({ reason }) => reason === devicePluginReasons.vfsHeld);
}

function isWaiting({ status }: SriovNetworkNodeState): boolean {
  return (status?.conditions ?? []).some(({ reason }) => reason === drainReasons.waitingForSlot);
}

/** The argument of `kubectl get -o` that prints the message of a condition. */
function messageOf(type: string): string {
  return `jsonpath={.status.conditions[?(@.type=="${type}")].message}`;
}

/** Starts device-plugin-config for a node and returns the path of the configuration that it writes. */
async function followDevicePlugin(
  testCluster: TestCluster,
  node: string,
  kernel: FakeKernel | undefined,
): Promise<string> {
  const file = join(testCluster.directory, `${node}-device-plugin.json`);
  // The only file of the host's file system that device-plugin-config needs is the boot id.
  const hostRoot = join(testCluster.directory, `${node}-root`);
  const proc = join(hostRoot, "proc/sys/kernel/random");
  await mkdir(proc, { recursive: true });
  await writeFile(join(proc, "boot_id"), `${(await kernel?.host().boot.readBootId()) ?? ""}\n`);
  // A fake kernel has no sysfs in which device-plugin-config could read the VFs.
  const args = ["--node-name", node, "--config-file", file, "--block-until-configured=false", "--host-root", hostRoot];
  testCluster.start(`${node}-device-plugin-config`, "apps/device-plugin-config/src/main.ts", args);
  return file;
}

function reasonOf(news: NodeLog, name: string): string | undefined {
  return news.policies.get(name)?.status?.conditions?.find(({ type }) => type === "Ready")?.reason;
}
