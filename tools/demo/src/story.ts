// SPDX-License-Identifier: Apache-2.0
/**
 * The main job, on three nodes with different NICs on fake kernels; everything else is real. What it starts runs until
 * the end of the stage.
 */
import { drainReasons, labels, type SriovNetworkNodeState } from "@switchyard/api";
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
  createNode,
  createOperatorConfig,
  eachNode,
  namespace,
  type Narrator,
  type News,
  playKubelets,
  policyIs,
  policySpec as spec,
  registerWebhooks,
  type TestCluster,
  startPod,
  startWebhook,
  waitFor,
  watchNews,
} from "@switchyard/test-cluster";

interface Actor {
  readonly node: string;
  readonly nic: FakeNic;
  readonly firstPort: string;
}

const all = { nodes: 3, withinMs: 30_000 };

/** Each node's first port also has the name "uplink0", as an administrator would give it. */
const actors: readonly Actor[] = [
  { node: "worker-1", nic: igb("0000:01:00.0"), firstPort: "enp1s0f0" },
  { node: "worker-2", nic: i40e("0000:3b:00.0"), firstPort: "enp59s0f0" },
  { node: "worker-3", nic: mlx5("0000:5e:00.0"), firstPort: "enp94s0f0np0" },
];

export async function tellStory(stage: TestCluster, narrator: Narrator): Promise<void> {
  narrator.scene("Three nodes with different NICs: Intel 82576, Intel XXV710, NVIDIA ConnectX-5");
  await createOperatorConfig(stage);
  const kernels = new Map<string, FakeKernel>();
  for (const actor of actors) kernels.set(actor.node, await bringUp(actor, stage));
  const news = stage.use(watchNews(stage.transport, narrator));
  await eachNode(
    news,
    all,
    "discovered",
    ({ status }) => status?.syncStatus === "Succeeded" && (status.interfaces ?? []).length > 0,
  );

  narrator.scene("A policy: four VFs on the port named uplink0 of every node; VF 3 for user space");
  await applyPolicy(stage, "fast", spec({ pfNames: ["uplink0#0-2"] }, { numVfs: 4, mtu: 9000, resourceName: "fast" }));
  await applyPolicy(
    stage,
    "dpdk",
    spec({ pfNames: ["uplink0#3-3"] }, { numVfs: 4, deviceType: "vfio-pci", resourceName: "dpdk" }),
  );
  await policyIs(news, "fast", "Ready");
  await policyIs(news, "dpdk", "Ready");
  await stage.kubectl(["get", "sriovnetworknodepolicies,sriovnetworknodestates"]);

  narrator.scene("Networks: what pods ask for by name becomes a NetworkAttachmentDefinition");
  await applyNetwork(stage, "fast-net", '{"type": "host-local", "subnet": "10.56.0.0/24"}');
  await waitFor(stage, "sriovnetwork/fast-net", "Ready");
  await stage.kubectl(["get", "net-attach-def", "fast-net", "-n", "default", "-o", "jsonpath={.spec.config}"]);
  await applyNetwork(stage, "typo-net", '{"type": "host-local", "subnet": "10.57.0.0/24}');
  await waitFor(stage, "sriovnetwork/typo-net", "Degraded");
  await stage.kubectl(["get", "sriovnetwork", "typo-net", "-o", messageOf("Degraded")]);

  narrator.scene("The device plugin on worker-1 is told exactly which VFs are whose");
  narrator.line("worker-1", "device-plugin-config follows the node's state");
  const configFile = await followDevicePlugin(stage, "worker-1", kernels.get("worker-1"));
  await waitFor(stage, "sriovnetworknodestate/worker-1", "DevicePluginConfigured");
  narrator.output(await readFile(configFile, "utf8"));
  await stage.kubectl(["get", "nodes", "-L", labels.devicePlugin]);

  narrator.scene("More VFs, numVfs 4 -> 6, while pods use them: the nodes are drained one after the other");
  stage.use(
    playKubelets(stage.transport, ({ name, node, what }) => {
      narrator.line(node, `pod ${name} ${what}`);
    }),
  );
  for (const { node } of actors) await startPod(stage.transport, `web-${node}`, node, "openshift.io/fast");
  await eventually("pods run", () => stage.cluster.kubectl(["wait", "--for=condition=Ready", "pods", "--all"]));
  for (const name of ["fast", "dpdk"]) {
    await stage.kubectl(["patch", "sriovnetworknodepolicy", name, "--type=merge", "-p", '{"spec":{"numVfs":6}}']);
  }
  await eventually("nodes wait for their turn", () => news.states.list().some(isWaiting));
  await stage.kubectl(["get", "sriovnetworknodestates"]);
  await eachNode(news, all, "6 VFs", ({ status }) => status?.interfaces?.some(({ numVfs }) => numVfs === 6) === true);
  await waitFor(stage, "sriovnetworknodepolicy/fast", "Ready");

  narrator.scene("A policy for a port named storage0, which no node has yet; then somebody renames one");
  await applyPolicy(stage, "storage", spec({ pfNames: ["storage0"] }, { numVfs: 2, resourceName: "storage" }));
  await eventually("storage waits", () => reasonOf(news, "storage") === "NoNicsMatched");
  narrator.line("worker-2", "ip link set enp59s0f1 name storage0");
  kernels.get("worker-2")?.renameLink("enp59s0f1", "storage0");
  await policyIs(news, "storage", "Ready");

  narrator.scene("A policy that asks for more VFs than one of the NICs has");
  await applyPolicy(
    stage,
    "greedy",
    spec({ vendor: "8086", deviceID: "10c9", pfNames: ["enp1s0f1"] }, { numVfs: 9, resourceName: "greedy" }),
  );
  await policyIs(news, "greedy", "Degraded");
  await stage.kubectl(["get", "sriovnetworknodepolicy", "greedy", "-o", messageOf("Degraded")]);
  await stage.kubectl(["delete", "sriovnetworknodepolicy", "greedy"]);
  await eachNode(news, all, "well again", ({ status }) => status?.syncStatus === "Succeeded");

  narrator.scene("Somebody unbinds a VF's driver by hand; the daemon sees it and repairs it");
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
    `VF 0 has its driver again, ${((narrator.elapsedS() - brokenAtS) * 1000).toFixed(0)} ms later`,
  );

  narrator.scene("With the admission webhook: a conflict is refused, and a change says what it will do");
  await startAdmission(stage, narrator);
  const clash = spec({ pfNames: ["uplink0#2-3"] }, { numVfs: 6, resourceName: "clash" });
  await applyPolicy(stage, "clash", clash);
  const fewer = ["--type=merge", "-p", '{"spec":{"numVfs":4}}', "--dry-run=server"];
  await stage.kubectl(["patch", "sriovnetworknodepolicy", "storage", ...fewer]);

  narrator.scene("All policies are deleted: the NICs are as they were");
  await stage.kubectl(["delete", "sriovnetworknodepolicies", "--all"]);
  await eachNode(
    news,
    all,
    "no VFs",
    ({ status }) =>
      status?.interfaces?.every(({ numVfs = 0 }) => numVfs === 0) === true && status.syncStatus === "Succeeded",
  );
  await stage.kubectl(["get", "sriovnetworknodestates"]);
}

/** Starts the webhook, and waits until the API server gets its answers. */
async function startAdmission(stage: TestCluster, narrator: Narrator): Promise<void> {
  const [port = 0] = await findFreePorts(1);
  await registerWebhooks(stage, port);
  startWebhook(stage, "webhook", port);
  const probe = ["patch", "sriovnetworknodepolicy", "fast", "--type=merge", "-p", "{}", "--dry-run=server"];
  await eventually("the webhook answers", () => stage.cluster.kubectl([...probe, "--namespace", namespace]));
  narrator.line("webhook", "answers the API server over TLS");
}

/** A node of the API, its kernel, and its daemon as a process. */
async function bringUp(actor: Actor, stage: TestCluster): Promise<FakeKernel> {
  await createNode(stage, actor.node);
  const kernel = createFakeKernel({ nics: [actor.nic], setNumVfsMs: 300 });
  kernel.addAltName(actor.firstPort, "uplink0");
  const socket = join(stage.directory, `${actor.node}.sock`);
  stage.use(await serveFakeKernel(kernel, socket));
  stage.start(actor.node, "apps/config-daemon/src/testing/fake-node.ts", [
    "--node-name",
    actor.node,
    "--kernel-socket",
    socket,
  ]);
  return kernel;
}

function isWaiting({ status }: SriovNetworkNodeState): boolean {
  return (status?.conditions ?? []).some(({ reason }) => reason === drainReasons.waitingForSlot);
}

/** Where `kubectl get -o` finds the words of a condition. */
function messageOf(type: string): string {
  return `jsonpath={.status.conditions[?(@.type=="${type}")].message}`;
}

/** Runs beside the device plugin of a node; answers where that finds its configuration. */
async function followDevicePlugin(stage: TestCluster, node: string, kernel: FakeKernel | undefined): Promise<string> {
  const file = join(stage.directory, `${node}-device-plugin.json`);
  // The host's file system, as far as the follower needs it: in which boot the node is.
  const hostRoot = join(stage.directory, `${node}-root`);
  const proc = join(hostRoot, "proc/sys/kernel/random");
  await mkdir(proc, { recursive: true });
  await writeFile(join(proc, "boot_id"), `${(await kernel?.host().boot.readBootId()) ?? ""}\n`);
  // Fake kernels have no sysfs in which the follower could see for itself which VFs there are.
  const args = ["--node-name", node, "--config-file", file, "--block-until-configured=false", "--host-root", hostRoot];
  stage.start(`${node}-device-plugin-config`, "apps/device-plugin-config/src/main.ts", args);
  return file;
}

function reasonOf(news: News, name: string): string | undefined {
  return news.policies.get(name)?.status?.conditions?.find(({ type }) => type === "Ready")?.reason;
}
