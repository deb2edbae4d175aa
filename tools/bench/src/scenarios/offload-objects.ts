// SPDX-License-Identifier: Apache-2.0
/**
 * Builds the objects of a simulated OpenShift cluster: MachineConfigPools, their hosts, and what the config daemons report about
 * the BlueField-2 card of each host. Pure.
 */
import {
  annotations,
  labels,
  machineConfigs,
  type InterfaceSpec,
  type InterfaceStatus,
  type OvnHardwareOffload,
  type SriovNetworkNodeStateSpec,
  type VfGroup,
  type VfStatus,
} from "@switchyard/api";
import { apiVersionOf } from "@switchyard/kube";
import { macAddress, nodeObject } from "../cluster/nodes.ts";

/** Namespaces of OpenShift in which ovn-offload writes ConfigMaps. */
export const openshiftNamespaces = ["openshift-ovn-kubernetes", "openshift-network-operator"] as const;

/** How far a host is, as its config daemon reports it. */
export type HostPhase = "plain" | "with-vfs" | "offloaded";

export function poolName(pool: number): string {
  return `dpu-${pool.toString().padStart(2, "0")}`;
}

/** The entries that select all pools, one each. */
export function entriesFor(pools: number): readonly OvnHardwareOffload[] {
  return Array.from({ length: pools }, (_, pool) => ({ nodeSelector: { [roleOf(poolName(pool))]: "" } }));
}

/** A node of the pool. */
export function hostObject(index: number, pool: string, isOffloaded = false) {
  const node = nodeObject(index);
  const { metadata } = node;
  const notes = { ...metadata.annotations, [annotations.currentMachineConfig]: renderedName(pool, isOffloaded) };
  return { ...node, metadata: { ...metadata, labels: { ...metadata.labels, [roleOf(pool)]: "" }, annotations: notes } };
}

/** A MachineConfigPool; `worker` is the one that all nodes have that are in no other pool. */
export function poolObject(name: string) {
  const roles = [...new Set(["worker", name])];
  return {
    metadata: { name },
    spec: {
      machineConfigSelector: { matchExpressions: [{ key: labels.machineConfigRole, operator: "In", values: roles }] },
      nodeSelector: { matchLabels: { [roleOf(name)]: "" } },
      configuration: renderedConfiguration(name, false),
    },
  };
}

/** Status of a pool whose nodes all run the configuration, or are about to. */
export function poolStatus(pool: string, { isOffloaded, isUpdated }: { isOffloaded: boolean; isUpdated: boolean }) {
  const condition = (type: string, isTrue: boolean) => ({
    type,
    status: isTrue ? "True" : "False",
    lastTransitionTime: "2026-01-01T00:00:00Z",
    reason: "",
    message: "",
  });
  return {
    configuration: renderedConfiguration(pool, isOffloaded),
    conditions: [condition("Updated", isUpdated), condition("Updating", !isUpdated), condition("Degraded", false)],
  };
}

/** The merged MachineConfig of a pool, with or without that of ovn-offload. */
export function renderedConfiguration(pool: string, isOffloaded: boolean) {
  const names = ["00-worker", ...(isOffloaded ? [`99-${pool}-ovn-hw-offload`] : [])];
  const head = { apiVersion: apiVersionOf(machineConfigs), kind: machineConfigs.kind };
  return { name: renderedName(pool, isOffloaded), source: names.map((name) => ({ ...head, name })) };
}

export function renderedName(pool: string, isOffloaded: boolean): string {
  return `rendered-${pool}-${isOffloaded ? "b" : "a"}`;
}

/** The spec of a host's node state. */
export function specOf(phase: HostPhase): SriovNetworkNodeStateSpec {
  if (phase === "plain") return { interfaces: [] };
  return {
    interfaces: Array.from({ length: pfs }, (_, pf): InterfaceSpec => {
      const deviceType = "netdevice";
      const users: VfGroup = { deviceType, resourceName: "vfs", vfRange: `${pf === 0 ? 1 : 0}-${vfs - 1}` };
      const reservedFor = "ovn-management-port";
      const reserved: VfGroup = { deviceType, resourceName: "ovn_mgmt_vf", vfRange: "0-0", reservedFor };
      const vfGroups = pf === 0 ? [reserved, users] : [users];
      return { pciAddress: pfAddress(pf), name: pfName(pf), numVfs: vfs, cardMode: "embedded-cpu", vfGroups };
    }),
  };
}

/** What the config daemon of a host reports. */
export function interfacesOf(index: number, phase: HostPhase): readonly InterfaceStatus[] {
  return Array.from({ length: pfs }, (_, pf): InterfaceStatus => {
    const Vfs = phase === "plain" ? [] : Array.from({ length: vfs }, (_, vf) => vfOf(index, pf, { vf, phase }));
    return {
      pciAddress: pfAddress(pf),
      name: pfName(pf),
      mac: macAddress(index, pf, 0),
      driver: "mlx5_core",
      vendor: "15b3",
      deviceID: "a2d6",
      mtu: 1500,
      totalvfs: 16,
      numVfs: Vfs.length,
      linkSpeed: "100000 Mb/s",
      linkType: "ETH",
      linkAdminState: "up",
      eSwitchMode: "legacy",
      cardMode: { current: "embedded-cpu" },
      Vfs,
    };
  });
}

const pfs = 2;
const vfs = 8;

function roleOf(pool: string): string {
  return `node-role.kubernetes.io/${pool}`;
}

function pfName(pf: number): string {
  return `enp59s0f${pf}np${pf}`;
}

function pfAddress(pf: number): string {
  return `0000:3b:00.${pf}`;
}

function vfOf(index: number, pf: number, { vf, phase }: { readonly vf: number; readonly phase: HostPhase }): VfStatus {
  const isManagement = pf === 0 && vf === 0 && phase === "offloaded";
  return {
    pciAddress: `0000:3b:0${1 + pf}.${vf}`,
    vfID: vf,
    driver: "mlx5_core",
    vendor: "15b3",
    deviceID: "101e",
    mtu: 1500,
    name: isManagement ? "ovnmgmt0" : `${pfName(pf)}v${vf}`,
    mac: macAddress(index, pf, vf + 1),
  };
}
