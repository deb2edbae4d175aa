// SPDX-License-Identifier: Apache-2.0
/**
 * runDraDemo shows VFs by ResourceClaims beside those of the device plugin: a claim, pods that know nothing of claims, a node that moves
 * under its pods, and a link that fails. Scheduler, controller manager and all programs of Switchyard are real; kernels and kubelets
 * are not. At the end it checks that no VF was offered or given out twice, and that no pod was restarted.
 */
import { taints, type SriovNetworkNodeState } from "@switchyard/api";
import { createFakeKernel, i40e, pci, serveFakeKernel, type FakeKernel } from "@switchyard/host/testing";
import {
  applyPolicy,
  createOperatorConfig,
  eachNode,
  keepNodesReady,
  logNodeChanges,
  policyIs,
  policySpec,
  startVfNode,
  type Narrator,
  type NodeLog,
  type TestCluster,
  type VfNode,
} from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { watchOffers, type OfferWatch } from "./dra/offers.ts";
import { claimManifests, poolManifest, webManifest } from "./dra/manifests.ts";
import { runSwitchyard } from "./run-switchyard.ts";
import { createOperator } from "./simulate-workloads.ts";

const nodeNames = ["worker-1", "worker-2"] as const;
const pf = pci("0000:3b:00.0");
const vfsPerNode = 6;
const within = { withinMs: 60_000 };

interface DemoNode {
  readonly name: string;
  readonly kernel: FakeKernel;
  readonly node: VfNode;
}

interface Demo {
  readonly testCluster: TestCluster;
  readonly narrator: Narrator;
  readonly news: NodeLog;
  readonly first: DemoNode;
  readonly second: DemoNode;
  readonly offers: OfferWatch;
}

/** Runs all scenes. Calls `beforeReset` while the policy exists. Rejects if a step does not succeed in time, or a check fails. */
export async function runDraDemo(
  testCluster: TestCluster,
  narrator: Narrator,
  beforeReset: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const demo = await startNodes(testCluster, narrator);
  await showTwoWorlds(demo);
  await showClaim(demo);
  await showUnchangedPods(demo);
  await showMove(demo);
  await showFailedLink(demo);
  await showWhyAPodWaits(demo);
  await beforeReset();
  check(demo);
}

async function startNodes(testCluster: TestCluster, narrator: Narrator): Promise<Demo> {
  narrator.scene("Two nodes with an Intel XXV710, a real scheduler, and the driver of ResourceClaims on both");
  const { transport } = testCluster;
  await createOperator(transport);
  await createOperatorConfig(testCluster);
  const [first, second] = await Promise.all(nodeNames.map((name) => startNode(testCluster, narrator, name)));
  if (first === undefined || second === undefined) throw new RangeError();
  testCluster.use(await keepNodesReady(transport, nodeNames));
  const news = testCluster.use(logNodeChanges(transport, narrator));
  const all = { nodes: nodeNames.length, ...within };
  await eachNode(news, all, "discovered", ({ status }) => status?.syncStatus === "Succeeded");
  const offers = testCluster.use(
    watchOffers(
      [first, second].map(({ name, node }) => ({
        transport,
        nodeName: name,
        offeredByPlugin: () => Promise.resolve(new Set([...node.offered.values()].flat())),
      })),
    ),
  );
  return { testCluster, narrator, news, first, second, offers };
}

async function startNode(
  testCluster: TestCluster,
  narrator: Narrator,
  name: (typeof nodeNames)[number],
): Promise<DemoNode> {
  const kernel = createFakeKernel({ nics: [i40e(pf)], setNumVfsMs: 300, macSeed: nodeNames.indexOf(name) + 1 });
  kernel.setCarrierByHand(pf, true);
  for (let vf = 0; vf < vfsPerNode; vf++)
    kernel.linkFile(`/sys/bus/pci/devices/0000:3b:02.${vf}/iommu_group`, `../../../kernel/iommu_groups/${40 + vf}`);
  const node = await startVfNode(testCluster, {
    node: name,
    kernel: {
      bootId: await kernel.host().boot.readBootId(),
      serve: (socket) => serveFakeKernel(kernel, socket),
    },
    hasClaims: true,
    tell: ({ node: who, text }) => {
      narrator.line(who, text);
    },
  });
  return { name, kernel, node: testCluster.use(node) };
}

/** Configures VFs on both nodes, and gives those of worker-2 to claims. */
async function showTwoWorlds(demo: Demo): Promise<void> {
  const { testCluster, narrator, news, second } = demo;
  narrator.scene("A policy makes six VFs on each node; a pool chooses ResourceClaims for worker-2");
  await testCluster.kubectl(["label", "node", second.name, "example.com/claims=yes"]);
  await testCluster.kubectl(["apply", "-f", "-"], poolManifest);
  await applyPolicy(
    testCluster,
    "fast",
    policySpec({ pfNames: ["enp59s0f0"] }, { resourceName: "fast", numVfs: vfsPerNode }),
  );
  await policyIs(news, "fast", "Ready", within.withinMs);
  await stateIs(demo, second.name, "publishes its VFs", ({ status }) => status?.publishedVfs === vfsPerNode);
  await testCluster.kubectl(["get", "deviceclass", "fast", "-o", "jsonpath={.spec.extendedResourceName}"]);
  await testCluster.kubectl(["get", "resourceslices"]);
}

/** A pod whose claim asks for another driver than the policy. */
async function showClaim(demo: Demo): Promise<void> {
  const { testCluster, narrator, second } = demo;
  narrator.scene("A pod with a claim: one VF, with vfio-pci, although the policy says otherwise");
  await testCluster.kubectl(["apply", "-n", "default", "-f", "-"], claimManifests("dpdk", { driver: "vfio-pci" }));
  await eventually("the pod runs", () => second.node.vfsOf.has("dpdk"), within);
  await testCluster.kubectl(["get", "resourceclaims", "-n", "default"]);
  await testCluster.kubectl([
    ...["get", "resourceclaims", "-n", "default", "-o"],
    "jsonpath={.items[0].status.devices[0].conditions[0].message}",
  ]);
  await switchyard(demo, "vfs", "--node", second.name);
}

/** Pods that only have resources.limits. */
async function showUnchangedPods(demo: Demo): Promise<void> {
  const { testCluster, narrator, first, second } = demo;
  narrator.scene("Pods that know nothing of claims: limits for openshift.io/fast, on nodes of both kinds");
  await testCluster.kubectl(["apply", "-n", "default", "-f", "-"], webManifest(4));
  await eventually("four pods run", () => running(first, second).length === 4, within);
  await holdersAreKnown(demo);
  const columns = "NAME:.metadata.name,STATUS:.status.phase,NODE:.spec.nodeName";
  await testCluster.kubectl(["get", "pods", "-n", "default", "-o", `custom-columns=${columns}`]);
  await switchyard(demo, "vfs");
}

/** Moves worker-1 to claims while pods have its VFs. */
async function showMove(demo: Demo): Promise<void> {
  const { testCluster, narrator, first, second } = demo;
  narrator.scene("worker-1 moves to ResourceClaims under its pods: no pod restarts, free VFs move at once");
  const held = running(first).length;
  const before = running(first, second);
  await testCluster.kubectl(["label", "node", first.name, "example.com/claims=yes"]);
  await stateIs(demo, first.name, "free VFs are published", ({ status }) => {
    return status?.offeredBy === "dra" && status.publishedVfs === vfsPerNode - held;
  });
  const ended = before.filter((pod) => !running(first, second).includes(pod));
  if (ended.length > 0) throw new Error(`pods that ended when the node moved: ${ended.join()}`);
  await showOffers(demo);
  narrator.line("demo", `${held} pods of the device plugin still run on ${first.name}; their VFs follow when they end`);
  // A pod that comes before a free VF is withdrawn gets it from the plugin once more.
  for (let pods = podsOfPlugin(first); pods.length > 0; pods = podsOfPlugin(first)) {
    await testCluster.kubectl(["delete", "pods", "-n", "default", "--wait=false", ...pods]);
    const areReplaced = (): boolean => {
      const now = running(first, second);
      return pods.every((pod) => !now.includes(pod)) && now.length === before.length;
    };
    await eventually("other pods run instead", areReplaced, within);
  }
  await stateIs(demo, first.name, "publishes all VFs", ({ status }) => status?.publishedVfs === vfsPerNode);
  await holdersAreKnown(demo);
  await showOffers(demo);
  await switchyard(demo, "vfs");
}

/** The cable of a port is pulled, and plugged in again. */
async function showFailedLink(demo: Demo): Promise<void> {
  const { testCluster, narrator, first, second } = demo;
  narrator.scene("The link of worker-2 fails: its VFs get a taint, and the next pods run on worker-1");
  narrator.line(second.name, "enp59s0f0: NIC Link is Down");
  second.kernel.setCarrierByHand(pf, false);
  await eventually("the VFs have the taint", async () => (await taintOf(demo, second.name)) === "no-carrier", within);
  await testCluster.kubectl([
    ...["get", "resourceslices", "--field-selector", `spec.nodeName=${second.name}`, "-o"],
    'jsonpath={range .items[*].spec.devices[*]}{.name} {.taints[*].key}={.taints[*].value} {.taints[*].effect}{"\\n"}{end}',
  ]);
  const before = running(first, second);
  await testCluster.kubectl(["apply", "-n", "default", "-f", "-"], claimManifests("next", {}));
  await eventually("the next pod runs on worker-1", () => running(first).includes("next"), within);
  await testCluster.kubectl(["apply", "-n", "default", "-f", "-"], claimManifests("pinned", { nodeName: second.name }));
  await untilPending(demo, "pinned");
  await switchyard(demo, "doctor");
  const ended = before.filter((pod) => !running(first, second).includes(pod));
  if (ended.length > 0) throw new Error(`pods that ended when the link failed: ${ended.join()}`);
  narrator.line("demo", `${before.length} pods keep their VFs; pod pinned waits for one of ${second.name}`);
  narrator.line(second.name, "enp59s0f0: NIC Link is Up");
  second.kernel.setCarrierByHand(pf, true);
  await eventually("the taint is gone", async () => (await taintOf(demo, second.name)) === undefined, within);
  narrator.line(second.name, "the VFs have no taint any longer: the link was up for some seconds");
  await eventually("the pod of worker-2 runs", () => running(second).includes("pinned"), within);
}

/** A claim that no node can serve. */
async function showWhyAPodWaits(demo: Demo): Promise<void> {
  const { testCluster, narrator } = demo;
  narrator.scene("A claim that no VF can serve: the scheduler says little, doctor says what is missing");
  await testCluster.kubectl(["apply", "-n", "default", "-f", "-"], claimManifests("impossible", { rail: 3 }));
  await untilPending(demo, "impossible");
  await switchyard(demo, "doctor");
  await testCluster.kubectl(["delete", "pod", "impossible", "-n", "default", "--wait=false"]);
}

/** Throws if a VF was offered or given out twice. */
function check({ narrator, offers, first, second }: Demo): void {
  narrator.scene("What must not happen, at any moment of this demo");
  const shared = [first, second].flatMap(({ node }) => [...node.sharedVfs]);
  narrator.line(
    "check",
    `VFs that plugin and slices offered at once, at ${offers.moments} moments: ${offers.violations.size}`,
  );
  narrator.line("check", `VFs that were given to two pods: ${shared.length}`);
  if (offers.moments < 20) throw new Error(`only ${offers.moments} moments were seen`);
  if (offers.violations.size + shared.length > 0)
    throw new Error(`offered twice: ${[...offers.violations].join()}; held twice: ${shared.join()}`);
}

/** Waits until the scheduler has said why the pod waits, and shows that. */
async function untilPending({ testCluster }: Demo, pod: string): Promise<void> {
  const message = [
    "get",
    "pod",
    pod,
    "-n",
    "default",
    "-o",
    jsonPath(`status.conditions[?(@.type=="PodScheduled")].message`),
  ];
  const hasTried = async (): Promise<boolean> => (await testCluster.cluster.kubectl(message)).includes("claims");
  await eventually("the scheduler has tried", hasTried, within);
  await testCluster.kubectl(message);
}

async function stateIs(
  { news }: Demo,
  node: string,
  what: string,
  holds: (state: SriovNetworkNodeState) => boolean,
): Promise<void> {
  const isSo = (): boolean => {
    const state = news.states.get(node);
    if (state !== undefined && holds(state)) return true;
    throw new Error(`the node state is ${JSON.stringify(state?.status)}`);
  };
  await eventually(`${node} ${what}`, isSo, within);
}

/** Waits until the node states say which pod has which VF. */
async function holdersAreKnown({ news, first, second }: Demo): Promise<void> {
  const areKnown = (): boolean =>
    [first, second].every(({ name, node }) => {
      const vfs = (news.states.get(name)?.status?.interfaces ?? []).flatMap(({ Vfs = [] }) => Vfs);
      const held = vfs.filter(({ holder }) => holder !== undefined).map(({ pciAddress }) => pciAddress);
      return [...node.vfsOf.values()].every((vf) => held.includes(vf));
    });
  await eventually("the node states say which pods have VFs", areKnown, within);
}

/** Shows who offers the VFs of each node, and how many nodes of the pool have moved. */
async function showOffers({ testCluster }: Demo): Promise<void> {
  const columns =
    "NODE:.metadata.name,WANTED:.spec.allocation,OFFERED-BY:.status.offeredBy,IN-SLICES:.status.publishedVfs";
  await testCluster.kubectl(["get", "sriovnetworknodestates", "-o", `custom-columns=${columns}`]);
}

/** The value of the taint of the first VF of a node. */
async function taintOf({ testCluster }: Demo, node: string): Promise<string | undefined> {
  const slices = ["get", "resourceslices", "--field-selector", `spec.nodeName=${node}`, "-o"];
  const path = jsonPath(`items[0].spec.devices[0].taints[?(@.key=="${taints.unhealthy}")].value`);
  const value = await testCluster.cluster.kubectl([...slices, path]);
  return value === "" ? undefined : value;
}

const jsonPath = (path: string): string => `jsonpath={.${path}}`;

async function switchyard({ testCluster, narrator }: Demo, ...args: readonly string[]): Promise<void> {
  narrator.line("$ switchyard", args.join(" "));
  narrator.output(await runSwitchyard(testCluster, args));
}

/** Pods of a node that have a VF from the device plugin. */
function podsOfPlugin({ node }: DemoNode): readonly string[] {
  const offered = new Set([...node.offered.values()].flat());
  return [...node.vfsOf].flatMap(([pod, vf]) => (offered.has(vf) ? [pod] : []));
}

/** Pods of the namespace "default" that have VFs. */
function running(...nodes: readonly DemoNode[]): readonly string[] {
  return nodes.flatMap(({ node }) => [...node.vfsOf.keys()]);
}
