// SPDX-License-Identifier: Apache-2.0
/**
 * createOffloadCluster simulates an OpenShift cluster: pools, their hosts, and a few other nodes. Its methods write what users, the
 * operator, the config daemons and the machine config operator write. readOffload reads what ovn-offload has written.
 */
import {
  conditionTypes,
  labels,
  machineConfigPools,
  machineConfigs,
  nodes as nodeType,
  operatorConfigName,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
} from "@switchyard/api";
import { collectionPath, isRecord, objectPath } from "@switchyard/kube";
import { nodeName, nodeObject, operatorNamespace, plainNamespace } from "../cluster/nodes.ts";
import type { PlainClient } from "../cluster/plain-client.ts";
import { stateHead } from "../cluster/simulated-fleet.ts";
import { forEachIndex, type Run } from "../harness/run.ts";
import {
  clusterObjects,
  configIn,
  currentConfigAnnotation,
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
import { plainDnsName } from "./plain-replay.ts";

export interface OffloadCluster {
  /** Selects all pools. */
  select(): Promise<unknown>;
  deselect(): Promise<unknown>;
  /** Writes spec and status of all node states, as the operator and the config daemons do. */
  report(phase: HostPhase): Promise<void>;
  /** All pools get their merged MachineConfig, and all hosts boot with it. */
  boot(isOffloaded: boolean): Promise<void>;
  /** Sets a label without meaning on one host. */
  labelNode(value: string): Promise<unknown>;
  /** Writes a status with another MTU of a VF that ovn-offload does not read. */
  reportMtu(mtu: number): Promise<unknown>;
  /** Creates a host that has booted with the MachineConfig of its pool. */
  addHost(): Promise<void>;
  removeHost(): Promise<void>;
}

/** Nodes that are not hosts. Pods of DNS run there. */
export const otherNodes = 3;

/** Concurrent writes of the simulated cluster. */
const limit = 16;

/** Creates the objects that exist before ovn-offload starts. */
export async function createOffloadCluster(
  run: Run,
  admin: PlainClient,
  { nodes: hosts, pools }: { readonly nodes: number; readonly pools: number },
): Promise<OffloadCluster> {
  const poolNames = Array.from({ length: pools }, (_, pool) => poolName(pool));
  const poolOf = (index: number) => poolName(index % pools);
  const added = hosts + otherNodes;
  const generations = new Map<number, number>();
  const forAll = (work: (index: number) => Promise<unknown>) => forEachIndex(run, { count: hosts, limit }, work);
  const headOf = (index: number) => stateHead(sriovNetworkNodeStates, operatorNamespace, index);
  const nodePath = (index: number) => objectPath(nodeType, { name: nodeName(index) });

  async function reportHost(index: number, phase: HostPhase): Promise<void> {
    const state = { ...headOf(index), spec: specOf(phase) };
    const stored: unknown = JSON.parse(await admin.apply("operator", sriovNetworkNodeStates, state));
    generations.set(index, Number(fields(fields(stored)["metadata"])["generation"]));
    await reportStatus(index, phase);
  }

  function reportStatus(index: number, phase: HostPhase, mtu = 1500): Promise<string> {
    const interfaces = interfacesOf(index, phase).map((pf) => ({ ...pf, mtu }));
    const observedGeneration = generations.get(index) ?? 0;
    const status = { interfaces, observedGeneration, syncStatus: "Succeeded", system: { hostNetwork: {} } };
    const state = { ...headOf(index), status };
    return admin.apply("config-daemon", sriovNetworkNodeStates, state, "status");
  }

  async function setPool(name: string, isOffloaded: boolean, isUpdated: boolean): Promise<void> {
    const path = objectPath(machineConfigPools, { name });
    await admin.merge(path, { spec: { configuration: renderedConfiguration(name, isOffloaded) } });
    // Until all nodes are updated, the status has the former configuration.
    const status = poolStatus(name, { isOffloaded: isOffloaded === isUpdated, isUpdated });
    await admin.merge(`${path}/status`, { status });
  }

  const setEntries = (ovnHardwareOffload: object | null) =>
    admin.merge(objectPath(sriovOperatorConfigs, configIn(operatorNamespace).metadata), {
      spec: { ovnHardwareOffload },
    });

  run.progress.at(`creating ${pools} pools with ${hosts} hosts`);
  for (const name of ["worker", ...poolNames]) {
    await admin.create(machineConfigPools, poolObject(name));
    const status = poolStatus(name, { isOffloaded: false, isUpdated: true });
    await admin.merge(`${objectPath(machineConfigPools, { name })}/status`, { status });
  }
  for (const body of [...clusterObjects, { ...clusterObjects[0], metadata: { name: plainDnsName } }]) {
    const path = body.kind === "DNS" ? "operator.openshift.io/v1/dnses" : "config.openshift.io/v1/clusterversions";
    await admin.request({ method: "POST", path: `/apis/${path}`, body });
  }
  const version = { desired: { version: "4.20.1", image: "", url: "" }, observedGeneration: 1, versionHash: "" };
  await admin.merge("/apis/config.openshift.io/v1/clusterversions/version/status", {
    status: { ...version, availableUpdates: [], history: [] },
  });
  for (const namespace of [operatorNamespace, plainNamespace])
    await admin.create(sriovOperatorConfigs, configIn(namespace));
  await forAll((index) => admin.create(nodeType, hostObject(index, poolOf(index))));
  for (let index = hosts; index < added; index++) {
    await admin.create(nodeType, nodeObject(index));
    // The API server taints new nodes as not ready, and pods of DNS could then run on none.
    await admin.merge(nodePath(index), { spec: { taints: null } });
  }
  await forAll((index) => reportHost(index, "plain"));

  return {
    select: () => setEntries(entriesFor(pools)),
    deselect: () => setEntries(null),
    report: (phase) => forAll((index) => reportHost(index, phase)),
    async boot(isOffloaded) {
      for (const name of poolNames) await setPool(name, isOffloaded, false);
      await forAll(async (index) => {
        const annotations = { [currentConfigAnnotation]: renderedName(poolOf(index), isOffloaded) };
        await admin.merge(nodePath(index), { metadata: { annotations } });
        await reportStatus(index, isOffloaded ? "offloaded" : "with-vfs");
      });
      for (const name of poolNames) await setPool(name, isOffloaded, true);
    },
    labelNode: (value) => admin.merge(nodePath(0), { metadata: { labels: { "example.com/rack": value } } }),
    reportMtu: (mtu) => reportStatus(0, "offloaded", mtu),
    async addHost() {
      const { metadata, ...host } = hostObject(added, poolName(0));
      const annotations = { ...metadata.annotations, [currentConfigAnnotation]: renderedName(poolName(0), true) };
      await admin.create(nodeType, { ...host, metadata: { ...metadata, annotations } });
      await reportHost(added, "offloaded");
    },
    async removeHost() {
      await admin.delete(nodePath(added));
      await admin.delete(objectPath(sriovNetworkNodeStates, headOf(added).metadata));
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
  readonly condition: unknown;
  /** All labels and taints of nodes, policies, MachineConfigs, ConfigMaps, DNS and the status, for comparisons. */
  readonly all: string;
}

const managedBy = "app.kubernetes.io/managed-by=switchyard-ovn-offload";

export async function readOffload(client: PlainClient): Promise<OffloadView> {
  const read = async (path: string): Promise<Fields> => fields(await client.get(path));
  const list = async (path: string) => items(await read(path));
  const nodes = (await list(collectionPath(nodeType))).map(({ metadata, spec }) => ({
    name: fields(metadata)["name"],
    labels: fields(fields(metadata)["labels"]),
    taints: fields(spec)["taints"],
  }));
  const configs = await list(`${collectionPath(machineConfigs)}?labelSelector=${encodeURIComponent(managedBy)}`);
  const policies = await list(collectionPath(sriovNetworkNodePolicies, operatorNamespace));
  const maps: Fields[] = [];
  for (const namespace of openshiftNamespaces) maps.push(...(await list(`/api/v1/namespaces/${namespace}/configmaps`)));
  const ports = maps.find(({ metadata }) => fields(metadata)["name"] === "ovn-management-ports");
  const dns = await read("/apis/operator.openshift.io/v1/dnses/default");
  const address = { name: operatorConfigName, namespace: operatorNamespace };
  const { status } = await read(objectPath(sriovOperatorConfigs, address));
  const { conditions } = fields(status);
  const condition = (Array.isArray(conditions) ? conditions.map(fields) : []).find(({ type }) => {
    return type === conditionTypes.hardwareOffload;
  });
  const placement = JSON.stringify(fields(dns["spec"])["nodePlacement"] ?? {});
  const has = (label: string) => nodes.filter((node) => Object.hasOwn(node.labels, label)).length;
  const named = [...configs, ...policies].map(({ kind, metadata, spec }) => [kind, fields(metadata)["name"], spec]);
  const data = maps.map(({ metadata, data: content }) => [fields(metadata)["name"], content]);
  const { annotations } = fields(dns["metadata"]);
  return {
    marked: has(labels.ovnOffloadPool),
    labelled: has("network.operator.openshift.io/dpu-host"),
    machineConfigs: configs.length,
    policies: policies.length,
    published: Object.keys(fields(ports?.["data"])).length,
    isDnsPlaced: placement.includes("switchyard.io/dns-eligible"),
    condition: condition?.["status"],
    all: JSON.stringify({ nodes, named, data, dns: [annotations, dns["spec"]], status: fields(status) }),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function fields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

function items({ items: all }: Fields): readonly Fields[] {
  return Array.isArray(all) ? all.map(fields) : [];
}
