// SPDX-License-Identifier: Apache-2.0
/**
 * OffloadFleet is a simulated OpenShift cluster: pools, their hosts, and a few other nodes. Its methods write what users, the
 * operator, the config daemons and the machine config operator write.
 */
import {
  machineConfigPools,
  nodes as nodeType,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  type ResourceType,
} from "@switchyard/api";
import { collectionPath, isRecord, objectPath } from "@switchyard/kube";
import { applyPlainly, nodeName, nodeObject, operatorNamespace, plainNamespace } from "../fleet/fleet-objects.ts";
import type { BenchCluster } from "../harness/bench-cluster.ts";
import { inParallel, metadataOnly } from "../harness/plain-client.ts";
import type { Progress } from "../harness/progress.ts";
import type { Run } from "../harness/run-control.ts";
import {
  clusterObjects,
  configIn,
  currentConfigAnnotation,
  entriesFor,
  hostObject,
  interfacesOf,
  poolName,
  poolObject,
  poolStatus,
  renderedConfiguration,
  renderedName,
  specOf,
  stateHead,
  type HostPhase,
} from "./offload-objects.ts";
import type { OvnOffloadOptions } from "./ovn-offload-options.ts";
import { plainDnsName } from "./plain-replay.ts";

export interface OffloadFleet {
  readonly hosts: number;
  readonly pools: number;
  /** Number of all nodes. */
  readonly nodes: number;
  /** Selects all pools. */
  select(): Promise<void>;
  deselect(): Promise<void>;
  /** Writes spec and status of all node states, as the operator and the config daemons do. */
  report(phase: HostPhase): Promise<void>;
  /** All pools get their merged MachineConfig, and all hosts boot with it. */
  boot(isOffloaded: boolean): Promise<void>;
  /** Sets a label without meaning on one host. */
  labelNode(value: string): Promise<void>;
  /** Writes a status with another MTU of a VF that ovn-offload does not read. */
  reportMtu(mtu: number): Promise<void>;
  /** Creates a host that has booted with the MachineConfig of its pool. */
  addHost(): Promise<void>;
  removeHost(): Promise<void>;
}

export interface OffloadFleetParts {
  readonly cluster: BenchCluster;
  readonly options: OvnOffloadOptions;
  readonly progress: Progress;
  readonly run: Run;
}

/** Nodes that are not hosts. Pods of DNS run there. */
const otherNodes = 3;

/** Creates the objects that exist before ovn-offload starts. */
export async function createOffloadFleet({
  cluster,
  options,
  progress,
  run,
}: OffloadFleetParts): Promise<OffloadFleet> {
  const { admin } = cluster;
  const { nodes: hosts, pools } = options;
  const poolNames = Array.from({ length: pools }, (_, pool) => poolName(pool));
  const poolOf = (index: number) => poolName(index % pools);
  const added = hosts + otherNodes;
  const generations = new Map<number, number>();

  const create = (type: ResourceType, body: object, namespace?: string) =>
    admin.request({ method: "POST", path: collectionPath(type, namespace), body, accept: metadataOnly });
  const merge = (path: string, body: object) =>
    admin.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body, accept: metadataOnly });
  const forAll = (work: (index: number) => Promise<unknown>) =>
    inParallel(
      Array.from({ length: hosts }, (_, index) => index),
      connections,
      (index) => {
        run.signal.throwIfAborted();
        return work(index);
      },
    );

  progress.at(`creating ${pools} pools with ${hosts} hosts`);
  for (const name of ["worker", ...poolNames]) {
    await create(machineConfigPools, poolObject(name));
    await merge(`${objectPath(machineConfigPools, { name })}/status`, { status: settled(name, false) });
  }
  for (const object of [...clusterObjects, { ...clusterObjects[0], metadata: { name: plainDnsName } }]) {
    const [group, plural] = object.kind === "DNS" ? ["operator", "dnses"] : ["config", "clusterversions"];
    await admin.request({ method: "POST", path: `/apis/${group}.openshift.io/v1/${plural}`, body: object });
  }
  const version = { desired: { version: "4.20.1", image: "", url: "" }, observedGeneration: 1, versionHash: "" };
  await merge("/apis/config.openshift.io/v1/clusterversions/version/status", {
    status: { ...version, availableUpdates: [], history: [] },
  });
  for (const namespace of [operatorNamespace, plainNamespace])
    await create(sriovOperatorConfigs, configIn(namespace), namespace);
  await forAll((index) => create(nodeType, hostObject(index, poolOf(index))));
  for (let index = hosts; index < added; index++) {
    const node = nodeObject(index);
    await create(nodeType, node);
    // The API server taints new nodes as not ready, and pods of DNS could then run on none.
    await merge(objectPath(nodeType, node.metadata), { spec: { taints: null } });
  }
  await forAll((index) => reportHost(index, "plain"));

  async function reportHost(index: number, phase: HostPhase, mtu = 1500): Promise<void> {
    const head = stateHead(nodeName(index));
    const path = objectPath(sriovNetworkNodeStates, head.metadata);
    const stored: unknown = JSON.parse(await applyPlainly(admin, "operator", path, { ...head, spec: specOf(phase) }));
    const metadata = isRecord(stored) && isRecord(stored["metadata"]) ? stored["metadata"] : {};
    generations.set(index, Number(metadata["generation"]));
    await reportStatus(index, phase, mtu);
  }

  async function reportStatus(index: number, phase: HostPhase, mtu = 1500): Promise<void> {
    const interfaces = interfacesOf(index, phase).map((pf) => ({ ...pf, mtu }));
    const observedGeneration = generations.get(index) ?? 0;
    const head = stateHead(nodeName(index));
    const path = `${objectPath(sriovNetworkNodeStates, head.metadata)}/status`;
    const system = { hostNetwork: {} };
    const status = { interfaces, observedGeneration, syncStatus: "Succeeded", system };
    await applyPlainly(admin, "config-daemon", path, { ...head, status });
  }

  const setEntries = (entries: object | null) =>
    merge(objectPath(sriovOperatorConfigs, configIn(operatorNamespace).metadata), {
      spec: { ovnHardwareOffload: entries },
    });
  const setPool = async (name: string, isOffloaded: boolean, isUpdated: boolean) => {
    const path = objectPath(machineConfigPools, { name });
    await merge(path, { spec: { configuration: renderedConfiguration(name, isOffloaded) } });
    // Until all nodes are updated, the status has the former configuration.
    await merge(`${path}/status`, { status: poolStatus(name, { isOffloaded: isOffloaded === isUpdated, isUpdated }) });
  };

  return {
    hosts,
    pools,
    nodes: hosts + otherNodes,
    async select() {
      await setEntries(entriesFor(pools));
    },
    async deselect() {
      await setEntries(null);
    },
    report: (phase) => forAll((index) => reportHost(index, phase)),
    async boot(isOffloaded) {
      for (const name of poolNames) await setPool(name, isOffloaded, false);
      await forAll(async (index) => {
        const annotations = { [currentConfigAnnotation]: renderedName(poolOf(index), isOffloaded) };
        await merge(objectPath(nodeType, { name: nodeName(index) }), { metadata: { annotations } });
        await reportStatus(index, isOffloaded ? "offloaded" : "with-vfs");
      });
      for (const name of poolNames) await setPool(name, isOffloaded, true);
    },
    async labelNode(value) {
      await merge(objectPath(nodeType, { name: nodeName(0) }), { metadata: { labels: { "example.com/rack": value } } });
    },
    reportMtu: (mtu) => reportStatus(0, "offloaded", mtu),
    async addHost() {
      const host = hostObject(added, poolName(0));
      const annotations = { ...host.metadata.annotations, [currentConfigAnnotation]: renderedName(poolName(0), true) };
      await create(nodeType, { ...host, metadata: { ...host.metadata, annotations } });
      await reportHost(added, "offloaded");
    },
    async removeHost() {
      const name = nodeName(added);
      await admin.request({ method: "DELETE", path: objectPath(nodeType, { name }) });
      const path = objectPath(sriovNetworkNodeStates, { name, namespace: operatorNamespace });
      await admin.request({ method: "DELETE", path });
    },
  };

  function settled(name: string, isOffloaded: boolean) {
    return poolStatus(name, { isOffloaded, isUpdated: true });
  }
}

/** Concurrent writes of the simulated cluster. */
const connections = 16;
