// SPDX-License-Identifier: Apache-2.0
/**
 * createOffloadCluster simulates an OpenShift cluster: pools, their hosts, and a few other nodes. Its methods write what users, the
 * operator, the config daemons and the machine config operator write. readOffload reads what ovn-offload has written.
 */
import {
  annotations,
  clusterVersions,
  conditionTypes,
  configMaps,
  dnses,
  labels,
  machineConfigPools,
  machineConfigs,
  nodes as nodeType,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  type Node,
  type SriovNetworkNodeState,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { collectionPath, objectPath, type KubeObject } from "@switchyard/kube";
import { configMetadata, nodeName, nodeObject, operatorNamespace, plainNamespace } from "../cluster/nodes.ts";
import type { PlainClient } from "../cluster/plain-client.ts";
import { plainPrefix } from "../cluster/plain-replay.ts";
import { forEachIndex, type Run } from "../harness/run.ts";
import {
  entriesFor,
  hostObject,
  interfacesOf,
  openshiftNamespaces,
  poolName,
  poolObject,
  poolStatus,
  renderedConfiguration,
  renderedName,
  specOf,
  type HostPhase,
} from "./offload-objects.ts";

/** Nodes that are not hosts. Pods of DNS run there. */
export const otherNodes = 3;

/** Concurrent writes of the simulated cluster. */
const limit = 16;

export type OffloadCluster = Awaited<ReturnType<typeof createOffloadCluster>>;

/** Creates the objects that exist before ovn-offload starts. */
export async function createOffloadCluster(
  run: Run,
  admin: PlainClient,
  { nodes: hosts, pools }: { readonly nodes: number; readonly pools: number },
) {
  const poolNames = Array.from({ length: pools }, (_, pool) => poolName(pool));
  const poolOf = (index: number) => poolName(index % pools);
  const added = hosts + otherNodes;
  const generations = new Map<number, number>();
  const forAll = (work: (index: number) => Promise<unknown>) => forEachIndex(run, { count: hosts, limit }, work);
  const metadataOf = (index: number) => ({ name: nodeName(index), namespace: operatorNamespace });
  const nodePath = (index: number) => objectPath(nodeType, { name: nodeName(index) });

  async function reportHost(index: number, phase: HostPhase): Promise<void> {
    const state = { metadata: metadataOf(index), spec: specOf(phase) };
    const answer = await admin.apply("operator", sriovNetworkNodeStates, state);
    generations.set(index, (JSON.parse(answer) as SriovNetworkNodeState).metadata.generation ?? 0);
    await reportStatus(index, phase);
  }

  function reportStatus(index: number, phase: HostPhase, mtu = 1500): Promise<string> {
    const interfaces = interfacesOf(index, phase).map((pf) => ({ ...pf, mtu }));
    const observedGeneration = generations.get(index) ?? 0;
    const status = { interfaces, observedGeneration, syncStatus: "Succeeded", system: { hostNetwork: {} } };
    return admin.apply("config-daemon", sriovNetworkNodeStates, { metadata: metadataOf(index), status }, "status");
  }

  async function setPool(name: string, isOffloaded: boolean, isUpdated: boolean): Promise<void> {
    const path = objectPath(machineConfigPools, { name });
    await admin.merge(path, { spec: { configuration: renderedConfiguration(name, isOffloaded) } });
    // Until all nodes are updated, the status has the former configuration.
    const status = poolStatus(name, { isOffloaded: isOffloaded === isUpdated, isUpdated });
    await admin.merge(`${path}/status`, { status });
  }

  const setEntries = (ovnHardwareOffload: object | null) =>
    admin.merge(objectPath(sriovOperatorConfigs, configMetadata), { spec: { ovnHardwareOffload } });

  run.progress.at(`creating ${pools} pools with ${hosts} hosts`);
  for (const name of ["worker", ...poolNames]) {
    await admin.create(machineConfigPools, poolObject(name));
    await setPool(name, false, true);
  }
  for (const name of ["default", `${plainPrefix}default`]) await admin.create(dnses, { metadata: { name }, spec: {} });
  const clusterID = "00000000-0000-4000-8000-000000000000";
  await admin.create(clusterVersions, { metadata: { name: "version" }, spec: { clusterID } });
  const desired = { desired: { version: "4.20.1", image: "", url: "" }, observedGeneration: 1, versionHash: "" };
  await admin.merge(objectPath(clusterVersions, { name: "version" }, "status"), {
    status: { ...desired, availableUpdates: [], history: [] },
  });
  for (const namespace of [operatorNamespace, plainNamespace])
    await admin.create(sriovOperatorConfigs, { metadata: { ...configMetadata, namespace } });
  await forAll((index) => admin.create(nodeType, hostObject(index, poolOf(index))));
  for (let index = hosts; index < added; index++) {
    await admin.create(nodeType, nodeObject(index));
    // The API server taints new nodes as not ready, and pods of DNS could then run on none.
    await admin.merge(nodePath(index), { spec: { taints: null } });
  }
  await forAll((index) => reportHost(index, "plain"));

  return {
    /** Selects all pools. */
    select: () => setEntries(entriesFor(pools)),
    deselect: () => setEntries(null),
    /** Writes spec and status of all node states, as the operator and the config daemons do. */
    report: (phase: HostPhase) => forAll((index) => reportHost(index, phase)),
    /** All pools get their merged MachineConfig, and all hosts boot with it. */
    async boot(isOffloaded: boolean) {
      for (const name of poolNames) await setPool(name, isOffloaded, false);
      await forAll(async (index) => {
        const notes = { [annotations.currentMachineConfig]: renderedName(poolOf(index), isOffloaded) };
        await admin.merge(nodePath(index), { metadata: { annotations: notes } });
        await reportStatus(index, isOffloaded ? "offloaded" : "with-vfs");
      });
      for (const name of poolNames) await setPool(name, isOffloaded, true);
    },
    /** Sets a label without meaning on one host. */
    labelNode: (value: string) => admin.merge(nodePath(0), { metadata: { labels: { "example.com/rack": value } } }),
    /** Writes a status with another MTU of a VF that ovn-offload does not read. */
    reportMtu: (mtu: number) => reportStatus(0, "offloaded", mtu),
    /** Creates a host that has booted with the MachineConfig of its pool. */
    async addHost() {
      await admin.create(nodeType, hostObject(added, poolName(0), true));
      await reportHost(added, "offloaded");
    },
    async removeHost() {
      await admin.delete(nodePath(added));
      await admin.delete(objectPath(sriovNetworkNodeStates, metadataOf(added)));
    },
  };
}

export interface OffloadView {
  /** Nodes with the label of their pool. */
  readonly marked: number;
  /** Nodes with the label of the network operator. */
  readonly labelled: number;
  /** Keys in the ConfigMap ovn-management-ports. */
  readonly published: number;
  /** MachineConfigs of ovn-offload. */
  readonly machineConfigs: number;
  readonly policies: number;
  readonly isDnsPlaced: boolean;
  /** Status of the condition HardwareOffload; undefined if it does not exist. */
  readonly condition: string | undefined;
  /** All labels and taints of nodes, policies, MachineConfigs, ConfigMaps, DNS and the status, for comparisons. */
  readonly all: string;
}

type AnyObject = KubeObject & { readonly spec?: unknown; readonly data?: object };

export async function readOffload(client: PlainClient): Promise<OffloadView> {
  const nodes = (await client.list<Node>(collectionPath(nodeType))).map(({ metadata, spec }) => {
    return { name: metadata.name, labels: metadata.labels ?? {}, taints: spec?.taints };
  });
  const own = `?labelSelector=${encodeURIComponent(`${labels.managedBy}=switchyard-ovn-offload`)}`;
  const configs = await client.list<AnyObject>(collectionPath(machineConfigs) + own);
  const policies = await client.list<AnyObject>(collectionPath(sriovNetworkNodePolicies, operatorNamespace));
  const maps: AnyObject[] = [];
  for (const namespace of openshiftNamespaces) maps.push(...(await client.list(collectionPath(configMaps, namespace))));
  const ports = maps.find(({ metadata }) => metadata.name === "ovn-management-ports");
  const dns = (await client.get(objectPath(dnses, { name: "default" }))) as unknown as AnyObject;
  const config = await client.get(objectPath(sriovOperatorConfigs, configMetadata));
  const { status = {} } = config as unknown as SriovOperatorConfig;
  const has = (label: string) => nodes.filter((node) => Object.hasOwn(node.labels, label)).length;
  const named = [...configs, ...policies].map(({ kind, metadata, spec }) => [kind, metadata.name, spec]);
  const data = maps.map(({ metadata, data: content }) => [metadata.name, content]);
  return {
    marked: has(labels.ovnOffloadPool),
    labelled: has("network.operator.openshift.io/dpu-host"),
    machineConfigs: configs.length,
    policies: policies.length,
    published: Object.keys(ports?.data ?? {}).length,
    isDnsPlaced: JSON.stringify(dns.spec).includes("switchyard.io/dns-eligible"),
    condition: status.conditions?.find(({ type }) => type === conditionTypes.hardwareOffload)?.status,
    all: JSON.stringify({ nodes, named, data, dns: [dns.metadata.annotations, dns.spec], status }),
  };
}
