// SPDX-License-Identifier: Apache-2.0
/**
 * fleetObjects returns the objects of a cluster as `kubectl get -o json` prints them: nodes with two PFs, policies, pods with VFs
 * by Multus' status, and faults on some nodes.
 * Usage: `JSON.stringify(fleetObjects({ nodes: 24, vfsPerPf: 8 }))`.
 */

export interface FleetOptions {
  readonly nodes: number;
  readonly vfsPerPf: number;
  /** A text of users that appears in error messages, evidence and names of pods' networks. */
  readonly text?: string;
}

/** A list as `kubectl get` prints it. */
export interface FleetList {
  readonly apiVersion: "v1";
  readonly kind: "List";
  readonly items: readonly FleetObject[];
}

export interface FleetObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: object;
  readonly status?: object;
}

const apiVersion = "sriovnetwork.openshift.io/v1";
const namespace = "sriov-network-operator";
const time = "2026-11-01T10:00:00Z";

export function fleetObjects({ nodes, vfsPerPf, text = "device or resource busy" }: FleetOptions): FleetList {
  const names = Array.from({ length: nodes }, (_, at) => `worker-${`${at + 1}`.padStart(4, "0")}`);
  const items = names.flatMap((name, at) => nodeObjects(name, { vfsPerPf, fault: faultOf(at), text }));
  const policies = ["ens1f0", "ens1f1"].map((pf, index) => policy(`fast-${index}`, pf, vfsPerPf));
  const config = { apiVersion, kind: "SriovOperatorConfig", metadata: { name: "default", namespace }, spec: {} };
  return { apiVersion: "v1", kind: "List", items: [config, ...policies, ...items] };
}

type Fault = "failed" | "in progress" | "draining" | "changes" | "silent" | undefined;

function faultOf(at: number): Fault {
  const faults: readonly Fault[] = ["failed", "draining", "changes", "silent", "in progress"];
  return at % 7 === 3 ? faults[Math.floor(at / 7) % faults.length] : undefined;
}

function policy(name: string, pf: string, numVfs: number): FleetObject {
  return {
    apiVersion,
    kind: "SriovNetworkNodePolicy",
    metadata: { name, namespace },
    spec: {
      resourceName: name.replace("-", ""),
      numVfs,
      priority: 10,
      mtu: 9000,
      deviceType: "netdevice",
      nodeSelector: { "node-role.kubernetes.io/worker": "" },
      nicSelector: { pfNames: [pf] },
    },
  };
}

interface OfNode {
  readonly vfsPerPf: number;
  readonly fault: Fault;
  readonly text: string;
}

function nodeObjects(name: string, { vfsPerPf, fault, text }: OfNode): readonly FleetObject[] {
  const pfs = [0, 1].map((port) => pf(port, vfsPerPf, fault));
  const syncStatus = fault === "failed" ? "Failed" : fault === "in progress" ? "InProgress" : "Succeeded";
  const annotations = {
    "sriovnetwork.openshift.io/desired-state": fault === "draining" ? "Drain_Required" : "Idle",
    "sriovnetwork.openshift.io/current-state": fault === "draining" ? "Draining" : "Idle",
  };
  const lastSyncError = fault === "failed" ? `set sriov_numvfs ${vfsPerPf} on 0000:3b:00.0: EBUSY (${text})` : "";
  const status = { interfaces: pfs.map(({ status: one }) => one), syncStatus, lastSyncError, bootID: "b" };
  const spec = { interfaces: pfs.map(({ spec: one }) => one) };
  const labels = { "node-role.kubernetes.io/worker": "", "kubernetes.io/os": "linux" };
  const node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels },
    spec: { unschedulable: fault === "draining" },
    status: {
      allocatable: { "openshift.io/fast0": `${vfsPerPf}`, "openshift.io/fast1": `${vfsPerPf}` },
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: time, lastHeartbeatTime: time }],
      nodeInfo: { bootID: "b", kubeletVersion: "v1.34.1" },
    },
  };
  const state = { apiVersion, kind: "SriovNetworkNodeState", metadata: { name, namespace, annotations }, spec };
  const pods = Array.from({ length: Math.min(3, vfsPerPf) }, (_, vf) =>
    pod(`web-${vf}-${name}`, name, addressOf(0, vf)),
  );
  return [node, fault === "silent" ? state : { ...state, status }, ...pods];
}

function pf(port: number, numVfs: number, fault: Fault) {
  const pciAddress = `0000:3b:00.${port}`;
  const resourceName = `fast${port}`;
  const isLess = fault === "changes" && port === 1;
  const Vfs = Array.from({ length: isLess ? 2 : numVfs }, (_, vfID) => ({
    vfID,
    pciAddress: addressOf(port, vfID),
    driver: "iavf",
    mtu: 9000,
    vendor: "8086",
    deviceID: "1889",
    name: `ens1f${port}v${vfID}`,
    mac: `02:00:00:0${port}:00:${vfID.toString(16).padStart(2, "0")}`,
  }));
  const nic = { name: `ens1f${port}`, pciAddress, mtu: 9000 };
  return {
    spec: {
      ...nic,
      numVfs,
      vfGroups: [
        { resourceName, deviceType: "netdevice", vfRange: `0-${numVfs - 1}`, policyName: `fast-${port}`, mtu: 9000 },
      ],
    },
    status: {
      ...nic,
      numVfs: Vfs.length,
      totalvfs: 128,
      Vfs,
      vendor: "8086",
      deviceID: "1592",
      driver: "ice",
      maxMtu: 9702,
      linkSpeed: "100000 Mb/s",
      linkType: "ETH",
      linkAdminState: "up",
      eSwitchMode: "legacy",
      owned: true,
    },
  };
}

function addressOf(port: number, vf: number): string {
  const number = 8 + port * 128 + vf;
  return `0000:3b:${(number >> 3).toString(16).padStart(2, "0")}.${number & 7}`;
}

function pod(name: string, nodeName: string, address: string): FleetObject {
  const network = { name: "apps/net", "device-info": { type: "pci", pci: { "pci-address": address } } };
  const annotations = {
    "k8s.v1.cni.cncf.io/networks": "net",
    "k8s.v1.cni.cncf.io/network-status": JSON.stringify([network]),
  };
  const requests = { "openshift.io/fast0": "1" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "apps", annotations },
    spec: { nodeName, containers: [{ name: "main", image: "web", resources: { requests, limits: requests } }] },
    status: { phase: "Running" },
  };
}
