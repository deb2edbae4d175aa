// SPDX-License-Identifier: Apache-2.0
/**
 * A cluster as upstream 1.6 leaves it when its operator and daemons are stopped: nodes, policies, pools, node states
 * with all three annotations, host records (sriov-operator.md A.5-A.9, B, F.7, G). One node for each way in which a
 * take-over could go wrong.
 * Usage: `const { workers } = await populate(testCluster); testCluster.startOperator(); for (const w of workers.values()) w.startDaemon()`
 */
import {
  annotations,
  labels,
  nodes,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  type InterfaceSpec,
  type ResourceType,
  type SriovNetworkNodePolicySpec,
} from "@switchyard/api";
import { namespace } from "@switchyard/test-cluster";
import { i40e, igb, mlx5, pci, type FakeKernel, type FakeNic } from "@switchyard/host/testing";
import type { KubeObject } from "@switchyard/kube";
import { createWorker, type FakeWorker } from "../src/fake-worker.ts";
import { configureAsUpstream, statusByUpstream } from "./upstream-host.ts";
import { upstream, type UpstreamCluster } from "../src/upstream-cluster.ts";

/** One node, and what upstream made of the policies for it. */
export interface UpstreamNode {
  readonly name: string;
  readonly nics: readonly FakeNic[];
  /** How its PFs are configured, and spec.interfaces of its state as upstream merged it. */
  readonly interfaces: readonly InterfaceSpec[];
  /** The spec where it is ahead of what is configured. */
  readonly wanted?: readonly InterfaceSpec[];
  /** Node label beside those of every worker. */
  readonly label?: string;
  /** What people did on it before, or pods. */
  readonly before?: (kernel: FakeKernel) => Promise<void>;
  readonly after?: (kernel: FakeKernel) => void;
  /** annotations.desiredState and annotations.currentState; both Idle where absent. */
  readonly handshake?: { readonly desired: string; readonly current: string };
  readonly externalDrainer?: boolean;
  /** Field manager of whoever made it unschedulable. */
  readonly cordonedBy?: string;
}

export const policies: Readonly<Record<string, Omit<SriovNetworkNodePolicySpec, "nodeSelector"> & { node: string }>> = {
  "fast-1g": { node: "partitioned", nicSelector: { pfNames: ["enp1s0f0#0-1"] }, numVfs: 4, resourceName: "fast" },
  "dpdk-1g": {
    node: "partitioned",
    nicSelector: { pfNames: ["enp1s0f0#2-3"] },
    numVfs: 4,
    resourceName: "dpdk",
    deviceType: "vfio-pci",
  },
  "rdma-100g": {
    node: "rdma",
    nicSelector: { vendor: "15b3", pfNames: ["enp59s0f0np0"] },
    numVfs: 12,
    resourceName: "rdma",
    mtu: 9000,
    isRdma: true,
    linkType: "eth",
  },
  "jumbo-25g": {
    node: "mixed",
    nicSelector: { rootDevices: ["0000:5e:00.0"] },
    numVfs: 6,
    resourceName: "jumbo",
    mtu: 9000,
  },
  "external-25g": {
    node: "mixed",
    nicSelector: { rootDevices: ["0000:5e:00.1"] },
    numVfs: 4,
    resourceName: "external",
    externallyManaged: true,
  },
  "by-alt-name": { node: "alias", nicSelector: { pfNames: ["enx525400010000#2-3"] }, numVfs: 4, resourceName: "alias" },
  "in-pools": { node: "pooled", nicSelector: { rootDevices: ["0000:01:00.0"] }, numVfs: 2, resourceName: "pooled" },
  grown: { node: "draining", nicSelector: { rootDevices: ["0000:01:00.0"] }, numVfs: 3, resourceName: "grown" },
  done: { node: "drained", nicSelector: { rootDevices: ["0000:01:00.0"] }, numVfs: 2, resourceName: "done" },
  closed: { node: "closed", nicSelector: { rootDevices: ["0000:01:00.0"] }, numVfs: 2, resourceName: "closed" },
  kept: { node: "left", nicSelector: { rootDevices: ["0000:01:00.0"] }, numVfs: 2, resourceName: "kept" },
};

const group = (policyName: string, vfRange: string, more: object = {}) => ({
  deviceType: "netdevice" as const,
  policyName,
  resourceName: policies[policyName]?.resourceName ?? policyName,
  vfRange,
  ...more,
});

/** What all nodes have that a take-over leaves as they are. */
export const upstreamNodes: readonly UpstreamNode[] = [
  {
    // Two groups on one PF, one of them in user space.
    name: "partitioned",
    nics: [igb("0000:01:00.0")],
    interfaces: [
      {
        pciAddress: "0000:01:00.0",
        name: "enp1s0f0",
        numVfs: 4,
        vfGroups: [group("fast-1g", "0-1"), group("dpdk-1g", "2-3", { deviceType: "vfio-pci" })],
      },
    ],
  },
  {
    // More than ten VFs, which upstream lists by file name; jumbo frames; one VF in a pod.
    name: "rdma",
    nics: [mlx5("0000:3b:00.0")],
    interfaces: [
      {
        pciAddress: "0000:3b:00.0",
        name: "enp59s0f0np0",
        numVfs: 12,
        mtu: 9000,
        linkType: "eth",
        vfGroups: [group("rdma-100g", "0-11", { mtu: 9000, isRdma: true })],
      },
    ],
    after: (kernel) => {
      kernel.moveToPod(pci("0000:3b:00.5"));
    },
  },
  {
    // One port of upstream's, one whose VFs somebody else makes.
    name: "mixed",
    nics: [i40e("0000:5e:00.0")],
    interfaces: [
      {
        pciAddress: "0000:5e:00.1",
        name: "enp94s0f1",
        numVfs: 4,
        externallyManaged: true,
        vfGroups: [group("external-25g", "0-3")],
      },
      {
        pciAddress: "0000:5e:00.0",
        name: "enp94s0f0",
        numVfs: 6,
        mtu: 9000,
        vfGroups: [group("jumbo-25g", "0-5", { mtu: 9000 })],
      },
    ],
    before: (kernel) => kernel.setNumVfsByHand(pci("0000:5e:00.1"), 4),
  },
  {
    // M-4: the range of an alternative name became the whole port.
    name: "alias",
    nics: [igb("0000:01:00.0")],
    interfaces: [{ pciAddress: "0000:01:00.0", name: "enp1s0f0", numVfs: 4, vfGroups: [group("by-alt-name", "0-3")] }],
  },
  {
    // M-44: two pools select it, so upstream emptied its rdmaMode; M-45: it is shared already.
    name: "pooled",
    label: "pool",
    nics: [igb("0000:01:00.0")],
    interfaces: [{ pciAddress: "0000:01:00.0", name: "enp1s0f0", numVfs: 2, vfGroups: [group("in-pools", "0-1")] }],
  },
];

/** Its second PF left the policies while upstream's operator was already gone; an external drainer is in charge of it. */
export const leftNode: UpstreamNode = {
  name: "left",
  nics: [igb("0000:01:00.0")],
  interfaces: [
    { pciAddress: "0000:01:00.0", name: "enp1s0f0", numVfs: 2, vfGroups: [group("kept", "0-1")] },
    { pciAddress: "0000:01:00.1", name: "enp1s0f1", numVfs: 3, vfGroups: [group("withdrawn", "0-2")] },
  ],
  externalDrainer: true,
};

/** One PF with so many VFs of one policy. */
const onePf = (policyName: string, numVfs: number): readonly InterfaceSpec[] => [
  { pciAddress: "0000:01:00.0", name: "enp1s0f0", numVfs, vfGroups: [group(policyName, `0-${numVfs - 1}`)] },
];

/** Nodes that upstream's operator was draining when it was stopped. */
export const interruptedNodes: readonly UpstreamNode[] = [
  {
    // Work is left.
    name: "draining",
    nics: [igb("0000:01:00.0")],
    interfaces: onePf("grown", 2),
    wanted: onePf("grown", 3),
    handshake: { desired: "Drain_Required", current: "Draining" },
    cordonedBy: upstream.operator,
  },
  {
    // The work is done, but nobody has said so yet.
    name: "drained",
    nics: [igb("0000:01:00.0")],
    interfaces: onePf("done", 2),
    handshake: { desired: "Drain_Required", current: "DrainComplete" },
    cordonedBy: upstream.operator,
  },
  {
    // The same, on a node that an admin had made unschedulable before.
    name: "closed",
    nics: [igb("0000:01:00.0")],
    interfaces: onePf("closed", 2),
    handshake: { desired: "Drain_Required", current: "DrainComplete" },
    cordonedBy: "kubectl-cordon",
  },
];

/** One key per node, which the device plugin of upstream reads. */
export const devicePluginConfig = "device-plugin-config";

export const configMaps: ResourceType = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

export interface UpstreamWorld extends AsyncDisposable {
  readonly workers: ReadonlyMap<string, FakeWorker>;
  /** uid of SriovOperatorConfig "default", which owns the states. */
  readonly configUid: string;
}

/** Creates it all, as upstream's programs and a user would. */
export async function populate(testCluster: UpstreamCluster, all: readonly UpstreamNode[]): Promise<UpstreamWorld> {
  const stack = new AsyncDisposableStack();
  const user = testCluster.as(upstream.user);
  const operator = testCluster.as(upstream.operator);
  const config = await user.create(sriovOperatorConfigs, {
    metadata: { name: "default", namespace },
    spec: { enableInjector: false, enableOperatorWebhook: false, logLevel: 2 },
  });
  await operator.patch(sriovOperatorConfigs, "default", {
    metadata: { finalizers: ["operatorconfig.finalizers.sriovnetwork.openshift.io"] },
  });
  await operator.create(configMaps, {
    metadata: { name: devicePluginConfig },
    data: Object.fromEntries(all.map(({ name }) => [name, '{"resourceList":null}'])),
  });
  const selects = { nodeSelector: { matchLabels: { pool: "" } } };
  await user.create(sriovNetworkPoolConfigs, { metadata: { name: "old" }, spec: { ...selects, rdmaMode: "shared" } });
  await user.create(sriovNetworkPoolConfigs, { metadata: { name: "young" }, spec: selects });
  for (const [name, { node, ...spec }] of Object.entries(policies)) {
    // Defaults by upstream's webhook and CRD (E.1), and what every Go client sends (M-39).
    const defaults = { priority: 99, isRdma: false, deviceType: "netdevice", bridge: {} };
    const nodeSelector = { "kubernetes.io/hostname": node };
    await user.create(sriovNetworkNodePolicies, { metadata: { name }, spec: { ...defaults, nodeSelector, ...spec } });
  }
  const workers = new Map<string, FakeWorker>();
  for (const node of all) workers.set(node.name, stack.use(await addNode(testCluster, node, config)));
  return { workers, configUid: config.metadata.uid ?? "", [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function addNode(testCluster: UpstreamCluster, node: UpstreamNode, config: KubeObject): Promise<FakeWorker> {
  const { name, interfaces, handshake = { desired: "Idle", current: "Idle" } } = node;
  const operator = testCluster.as(upstream.operator);
  const daemon = testCluster.as(upstream.daemon);
  const worker = await createWorker(testCluster, name, node.nics);
  worker.kernel.addRdmaDevice("mlx5_0"); // upstream's daemon loads the RDMA modules itself
  await node.before?.(worker.kernel);
  for (const spec of interfaces) await configureAsUpstream(worker.kernel, spec);
  node.after?.(worker.kernel);

  const owner = { apiVersion: config.apiVersion, kind: config.kind, name: "default", uid: config.metadata.uid ?? "" };
  const ownerReferences = [{ ...owner, controller: true, blockOwnerDeletion: true }];
  const created = await operator.create(sriovNetworkNodeStates, {
    metadata: { name, ownerReferences },
    spec: { bridges: {}, system: {} },
  });
  await operator.update(sriovNetworkNodeStates, {
    ...created,
    ...{ spec: { bridges: {}, interfaces: node.wanted ?? interfaces, system: {} } },
  });
  await daemon.patch(nodes, name, { metadata: { annotations: { [annotations.nodeState]: handshake.desired } } });
  const asked = { [annotations.desiredState]: handshake.desired };
  const external = node.externalDrainer === true ? { [annotations.useExternalDrainer]: "true" } : {};
  await daemon.patch(sriovNetworkNodeStates, name, { metadata: { annotations: { ...asked, ...external } } });
  const answered = await operator.patch(sriovNetworkNodeStates, name, {
    metadata: { annotations: { [annotations.currentState]: handshake.current } },
  });
  const nodeLabels = { [labels.devicePlugin]: "Enabled", ...(node.label === undefined ? {} : { [node.label]: "" }) };
  await operator.patch(nodes, name, { metadata: { labels: nodeLabels } });
  if (node.cordonedBy !== undefined) {
    await testCluster.as(node.cordonedBy).patch(nodes, name, { spec: { unschedulable: true } });
  }
  const status = {
    interfaces: await statusByUpstream(worker.kernel),
    bridges: {},
    system: { rdmaMode: (await worker.kernel.host().rdma.readMode()) ?? "" },
    syncStatus: "Succeeded",
  };
  await daemon.update(sriovNetworkNodeStates, { ...answered, ...{ status } }, "status");
  return worker;
}
