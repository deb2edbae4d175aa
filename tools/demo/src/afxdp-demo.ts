// SPDX-License-Identifier: Apache-2.0
/**
 * runAfxdpDemo shows how nodes get AF_XDP devices from a policy, and how these are given back. The API server and Switchyard's
 * services are real; the kernels of the nodes and their kubelets are fake.
 */
import { drainReasons } from "@switchyard/api";
import { createFakeKernel, mlx5, pci, serveFakeKernel, type FakeKernel } from "@switchyard/host/testing";
import {
  createNode,
  createOperatorConfig,
  eachNode,
  namespace,
  simulateKubelets,
  registerWebhooks,
  startWebhook,
  waitFor,
  logNodeChanges,
  type NodeLog,
  type Narrator,
  type TestCluster,
} from "@switchyard/test-cluster";
import { eventually, findFreePorts } from "@switchyard/testing";
import { join } from "node:path";
import { stringify } from "yaml";

const apiVersion = "afxdpnetwork.hns.dev/v1alpha1";
const nodeNames = ["worker-1", "worker-2"];
const withinMs = 60_000;
/** What pods write in their limits to get a device of the pool. */
const resource = "afxdp/fast";
const policy = ["afxdpnetworknodepolicy", "fast"];
/** ConnectX-5, whose driver can create 64 subfunctions on each port. */
const nic = pci("0000:5e:00.0");

interface Demo {
  readonly testCluster: TestCluster;
  readonly narrator: Narrator;
  readonly kernels: ReadonlyMap<string, FakeKernel>;
  readonly news: NodeLog;
}

/** Runs all scenes. Calls `beforeReset` while the policy exists. Rejects when a step does not succeed in time. */
export async function runAfxdpDemo(
  testCluster: TestCluster,
  narrator: Narrator,
  beforeReset: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const demo = await startNodes(testCluster, narrator);
  await showPolicy(demo);
  await showNetwork(demo);
  await showTooMany(demo);
  await showPod(demo);
  await showDrain(demo);
  await beforeReset();
  await showReset(demo);
}

async function startNodes(testCluster: TestCluster, narrator: Narrator): Promise<Demo> {
  narrator.scene(
    "Two nodes with a ConnectX-5, and an AfxdpOperatorConfig: the nodes report what can be an AF_XDP device",
  );
  await createOperatorConfig(testCluster);
  const kernels = new Map<string, FakeKernel>();
  for (const name of nodeNames) {
    await createNode(testCluster, name);
    const kernel = createFakeKernel({ nics: [mlx5(nic, { ports: 1 })] });
    const socket = join(testCluster.directory, `${name}.sock`);
    testCluster.use(await serveFakeKernel(kernel, socket));
    testCluster.start(name, "apps/config-daemon/src/testing/fake-node.ts", [
      ...["--node-name", name, "--kernel-socket", socket],
    ]);
    kernels.set(name, kernel);
  }
  const [port = 0] = await findFreePorts(1);
  await registerWebhooks(testCluster, port);
  startWebhook(testCluster, "webhook", port);
  const news = testCluster.use(logNodeChanges(testCluster.transport, narrator));
  const discovered = { nodes: nodeNames.length, withinMs };
  await eachNode(news, discovered, "discovered", ({ status }) => status?.syncStatus === "Succeeded");
  await eventually("the webhook answers", () => apply(testCluster, "AfxdpOperatorConfig", "default", {}));
  const states = async () => (await names(testCluster, "afxdpnetworknodestates", "-n", namespace)).length;
  await eventually("each node has a state", async () => (await states()) === nodeNames.length, { withinMs });
  for (const name of nodeNames) await waitFor(testCluster, `afxdpnetworknodestate/${name}`, "Ready");
  await testCluster.kubectl(["get", "afxdpnetworknodestate", "worker-1", "-o", "jsonpath={.status.interfaces[0]}"]);
  return { testCluster, narrator, kernels, news };
}

async function showPolicy({ testCluster, narrator }: Demo): Promise<void> {
  narrator.scene("A policy asks for two subfunctions with MTU 9000 on each node");
  await testCluster.kubectl(["apply", "-f", "-"], policyWith({ numSfs: 2 }));
  await waitFor(testCluster, policy.join("/"), "Ready");
  await testCluster.kubectl(["get", "afxdpnetworknodepolicies,afxdpnetworknodestates"]);
  await testCluster.kubectl([
    ...["get", "afxdpnetworknodestate", "worker-1"],
    ...[
      "-o",
      'jsonpath={range .status.interfaces[0].subfunctions[*]}{.sfNumber} {.name} {.state} MTU {.mtu}{"\\n"}{end}',
    ],
  ]);
}

async function showNetwork({ testCluster, narrator }: Demo): Promise<void> {
  narrator.scene("An AfxdpNetwork becomes a NetworkAttachmentDefinition, by which pods get a device of the pool");
  await apply(testCluster, "AfxdpNetwork", "fast-path", { poolName: "fast", networkNamespace: "default" });
  await waitFor(testCluster, "afxdpnetwork/fast-path", "Ready");
  await testCluster.kubectl(["get", "net-attach-def", "fast-path", "-n", "default", "-o", "jsonpath={.spec.config}"]);
}

async function showTooMany({ testCluster, narrator }: Demo): Promise<void> {
  narrator.scene("A change to 65 subfunctions is refused: the NIC supports 64");
  const output = await testCluster.kubectl(["apply", "-f", "-"], policyWith({ numSfs: 65 }));
  if (!output.includes("supports at most 64")) throw new Error("the change was not refused");
}

/** The pod uses one of the two subfunctions. */
async function showPod({ testCluster, narrator, kernels, news }: Demo): Promise<void> {
  narrator.scene("A pod requests a device of the pool in its limits, and names the network");
  testCluster.use(
    simulateKubelets(
      testCluster.transport,
      ({ node, text }) => {
        narrator.line(node, text);
      },
      // A container needs a moment to end, so the drain can say for which pod it waits.
      { beforeEnd: (node) => eventually("the drain names the pod", () => isNamed(news, node), { withinMs }) },
    ),
  );
  const requested = { [resource]: "1" };
  const manifest = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "dpdk", namespace: "default", annotations: { "k8s.v1.cni.cncf.io/networks": "fast-path" } },
    spec: {
      nodeName: "worker-1", // there is no scheduler
      terminationGracePeriodSeconds: 1,
      containers: [
        { name: "dpdk", image: "registry.example/dpdk:1", resources: { requests: requested, limits: requested } },
      ],
    },
  };
  narrator.output(stringify({ annotations: manifest.metadata.annotations, resources: { limits: requested } }));
  await testCluster.kubectl(["apply", "-n", "default", "-f", "-"], manifest);
  await eventually("the pod runs", () =>
    testCluster.cluster.kubectl(["wait", "--for=condition=Ready", "pod/dpdk", "-n", "default"]),
  );
  const [{ netdev = "" } = {}] = (await kernels.get("worker-1")?.host().subfunctions.list()) ?? [];
  narrator.line(
    "pod dpdk",
    "finds inside, by the device plugin and the CNI plugin of a real node (-- --afxdp --vm has them):",
  );
  const inside = [
    [`AFXDP_DEVICES_FAST=${netdev}`, "the name of the device on the host"],
    [`/tmp/afxdp_dp/${netdev}/afxdp.sock`, "the socket that passes the XSK map to the program"],
    ["net1", "the network interface"],
  ];
  narrator.output(inside.map(([what = "", meaning = ""]) => `${what.padEnd(40)} ${meaning}`).join("\n"));
}

async function showDrain({ testCluster, narrator, kernels }: Demo): Promise<void> {
  narrator.scene("numSfs changes to 1 while the pod uses a subfunction of worker-1: only this node is drained");
  const kernel = kernels.get("worker-1");
  const held = (await kernel?.host().subfunctions.list()) ?? [];
  const giveBack = held.map(({ netdev = "" }) => kernel?.moveLinkToPod(netdev));
  await testCluster.kubectl(["apply", "-f", "-"], policyWith({ numSfs: 1 }));
  const podNames = () => names(testCluster, "pods", "-n", "default");
  await eventually("the pod is evicted", async () => (await podNames()).length === 0, { withinMs });
  for (const back of giveBack) back?.();
  await waitFor(testCluster, policy.join("/"), "Ready");
  await testCluster.kubectl(["get", "afxdpnetworknodepolicies,nodes"]);
}

/** Whether the drain of a node has said which pods are left. */
function isNamed(news: NodeLog, node: string): boolean {
  const conditions = news.states.get(node)?.status?.conditions ?? [];
  return conditions.some(({ reason }) => reason === drainReasons.evictingPods);
}

async function showReset({ testCluster, narrator, kernels }: Demo): Promise<void> {
  narrator.scene("The policy is deleted: no subfunction, record or setting is left");
  await testCluster.kubectl(["delete", ...policy]);
  for (const [name, kernel] of kernels) {
    const { subfunctions, afxdpRecords, devlink } = kernel.host();
    await eventually(
      `${name} is as it was`,
      async () =>
        (await subfunctions.list()).length === 0 &&
        (await afxdpRecords.list()).size === 0 &&
        (await devlink.readEswitchMode(nic)) === "legacy",
      { withinMs },
    );
    narrator.line(name, "no subfunctions, eswitch mode legacy");
  }
  await testCluster.kubectl(["get", "afxdpnetworknodestates"]);
}

function policyWith(spec: { readonly numSfs: number }): object {
  const common = {
    poolName: "fast",
    nodeSelector: { "node-role.kubernetes.io/worker": "" },
    nicSelector: { vendor: "15b3" },
    mtu: 9000,
  };
  return {
    apiVersion,
    kind: "AfxdpNetworkNodePolicy",
    metadata: { name: "fast", namespace },
    spec: { ...common, ...spec },
  };
}

async function apply({ cluster }: TestCluster, kind: string, name: string, spec: object): Promise<unknown> {
  const object = { apiVersion, kind, metadata: { name, namespace }, spec };
  return cluster.kubectl(["apply", "--server-side", "-f", "-"], { input: JSON.stringify(object) });
}

async function names({ cluster }: TestCluster, ...what: readonly string[]): Promise<readonly string[]> {
  return (await cluster.kubectl(["get", ...what, "-o", "name"])).split("\n").filter((line) => line !== "");
}
