// SPDX-License-Identifier: Apache-2.0
/**
 * populate creates a cluster as upstream 1.6 leaves it after its operator and daemons are stopped: nodes, policies,
 * pools, node states with all three annotations, and host records (sriov-operator.md A.5-A.9, B, F.7, G). There is one
 * node for each way in which a take-over could fail.
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
import { createWorker, type FakeWorker } from "../src/nodes/fake-worker.ts";
import { configureAsUpstream, statusByUpstream } from "./upstream-host.ts";
import { upstream, type UpstreamCluster } from "../src/operator/upstream-cluster.ts";

/** A node, and the spec that upstream made from the policies for it. */
export interface UpstreamNode {
  readonly name: string;
  readonly nics: readonly FakeNic[];
  /** The configuration of its PFs, and spec.interfaces of its node state as upstream merged it. */
  readonly interfaces: readonly InterfaceSpec[];
  /** spec.interfaces if it differs from the configuration of the PFs. */
  readonly wanted?: readonly InterfaceSpec[];
  /** A node label in addition to those of every worker. */
  readonly label?: string;
  /** Actions of users or pods before and after the configuration. */
  readonly before?: (kernel: FakeKernel) => Promise<void>;
  readonly after?: (kernel: FakeKernel) => void;
  /** Values of annotations.desiredState and annotations.currentState; both are "Idle" by default. */
  readonly handshake?: { readonly desired: string; readonly current: string };
  readonly externalDrainer?: boolean;
  /** Field manager that cordoned the node. */
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

/** Nodes that a take-over must not change. */
export const upstreamNodes: readonly UpstreamNode[] = [
  {
    // Two groups on one PF; the VFs of one of them use vfio-pci.
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
    // More than ten VFs, which upstream lists by file name; jumbo frames; one VF is in a pod.
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
    // One port whose VFs upstream creates, and one that is externally managed.
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
    // sriov-operator.md M-4: upstream merged the range of an alternative name as the whole port.
    name: "alias",
    nics: [igb("0000:01:00.0")],
    interfaces: [{ pciAddress: "0000:01:00.0", name: "enp1s0f0", numVfs: 4, vfGroups: [group("by-alt-name", "0-3")] }],
  },
  {
    // Two pools select the node, so upstream emptied its rdmaMode (sriov-operator.md M-44). The mode is already
    // "shared" (sriov-operator.md M-45).
    name: "pooled",
    label: "pool",
    nics: [igb("0000:01:00.0")],
    interfaces: [{ pciAddress: "0000:01:00.0", name: "enp1s0f0", numVfs: 2, vfGroups: [group("in-pools", "0-1")] }],
  },
];

/** Its second PF was removed from the policies after upstream's operator was stopped. An external drainer drains it. */
export const leftNode: UpstreamNode = {
  name: "left",
  nics: [igb("0000:01:00.0")],
  interfaces: [
    { pciAddress: "0000:01:00.0", name: "enp1s0f0", numVfs: 2, vfGroups: [group("kept", "0-1")] },
    { pciAddress: "0000:01:00.1", name: "enp1s0f1", numVfs: 3, vfGroups: [group("withdrawn", "0-2")] },
  ],
  externalDrainer: true,
};

/** One PF with this number of VFs of one policy. */
const onePf = (policyName: string, numVfs: number): readonly InterfaceSpec[] => [
  { pciAddress: "0000:01:00.0", name: "enp1s0f0", numVfs, vfGroups: [group(policyName, `0-${numVfs - 1}`)] },
];

/** Nodes that upstream's operator was draining when it was stopped. */
export const interruptedNodes: readonly UpstreamNode[] = [
  {
    // The daemon still has to configure the node.
    name: "draining",
    nics: [igb("0000:01:00.0")],
    interfaces: onePf("grown", 2),
    wanted: onePf("grown", 3),
    handshake: { desired: "Drain_Required", current: "Draining" },
    cordonedBy: upstream.operator,
  },
  {
    // The daemon has configured the node but has not reported it yet.
    name: "drained",
    nics: [igb("0000:01:00.0")],
    interfaces: onePf("done", 2),
    handshake: { desired: "Drain_Required", current: "DrainComplete" },
    cordonedBy: upstream.operator,
  },
  {
    // As "drained", but an administrator had cordoned the node before.
    name: "closed",
    nics: [igb("0000:01:00.0")],
    interfaces: onePf("closed", 2),
    handshake: { desired: "Drain_Required", current: "DrainComplete" },
    cordonedBy: "kubectl-cordon",
  },
];

/** ConfigMap with one key per node, which upstream's device plugin reads. */
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
  /** uid of the SriovOperatorConfig "default", which owns the node states. */
  readonly configUid: string;
}

/**
 * Creates all objects and hosts, as upstream's programs and a user do. The SriovOperatorConfig "default" may exist, as
 * upstream's chart creates it.
 */
export async function populate(testCluster: UpstreamCluster, all: readonly UpstreamNode[]): Promise<UpstreamWorld> {
  const stack = new AsyncDisposableStack();
  const user = testCluster.as(upstream.user);
  const operator = testCluster.as(upstream.operator);
  const config =
    (await testCluster.find(sriovOperatorConfigs, "default")) ??
    (await user.create(sriovOperatorConfigs, {
      metadata: { name: "default", namespace },
      spec: { enableInjector: false, enableOperatorWebhook: false, logLevel: 2 },
    }));
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
    if (!all.some((each) => each.name === node)) continue;
    // Defaults set by upstream's webhook and CRD (sriov-operator.md E.1), and the empty struct that Go clients send
    // (sriov-operator.md M-39).
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
