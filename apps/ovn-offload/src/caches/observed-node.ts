// SPDX-License-Identifier: Apache-2.0
/** toObservedNode keeps of a Node what ovn-offload needs, so that the kubelet's heartbeats cause no events. */
import {
  annotations as keys,
  defined,
  type InterfaceStatus,
  type Node,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { cutText, recordAt, type KubeObject } from "@switchyard/kube";
import { managementPf, parseVfRange, smartNicsOf, statusPfs } from "@switchyard/policy";
import type { NodeReport, ObservedNode } from "../decide/observed.ts";
import { fieldManagers } from "../field-managers.ts";

export function toObservedNode(node: Node & KubeObject): ObservedNode {
  const { name, uid, resourceVersion, labels, annotations } = node.metadata;
  const current = annotations?.[keys.currentMachineConfig];
  const { taints, unschedulable } = node.spec ?? {};
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      ...defined({ uid, resourceVersion, labels }),
      ...(current !== undefined && { annotations: { [keys.currentMachineConfig]: current } }),
    },
    spec: defined({ taints, unschedulable }),
    ownLabels: ownLabelsOf(node),
  };
}

/** Returns the keys of the labels that the last apply of ovn-offload set, sorted. */
function ownLabelsOf({ metadata: { managedFields = [], labels = {} } }: KubeObject): readonly string[] {
  const entry = managedFields.find(({ manager, operation, subresource = "" }) => {
    return manager === fieldManagers.objects && operation === "Apply" && subresource === "";
  });
  const fields = recordAt(entry?.fieldsV1, "f:metadata", "f:labels");
  return Object.keys(fields)
    .flatMap((field) => (field.startsWith("f:") ? [field.slice("f:".length)] : []))
    .filter((key) => Object.hasOwn(labels, key))
    .sort();
}

/**
 * toNodeReport keeps of a SriovNetworkNodeState what ovn-offload needs: the PFs, the mode of the SmartNIC and VF 0. The VFs of
 * 1,000 nodes would be 100 MB of JSON.
 */
export function toNodeReport({ metadata, spec = {}, status = {} }: SriovNetworkNodeState): NodeReport {
  const interfaces = statusPfs(status);
  const card = smartNicsOf(interfaces)[0]?.pfs ?? [];
  const pf = managementPf(interfaces);
  const vf = pf?.Vfs?.find(({ vfID }) => vfID === 0);
  return {
    isCurrent: status.observedGeneration !== undefined && status.observedGeneration >= (metadata.generation ?? 0),
    interfaces: interfaces.map(keepIdentity),
    hostNetwork: status.system?.hostNetwork,
    managementVf: vf && { name: vf.name ?? "" },
    managementVfs: pf === undefined ? 0 : reservedVfsOf(spec, pf),
    vfsExist: pf !== undefined && card.every((one) => hasVfs(spec, one)),
    syncError: status.syncStatus === "Failed" ? cutText(status.lastSyncError ?? "", maxErrorBytes) : "",
    openVSwitchDisabled: status.system?.openVSwitchDisabled === true,
  };
}

type Spec = NonNullable<SriovNetworkNodeState["spec"]>;

/** The error can name every VF of the node. */
const maxErrorBytes = 200;

/** Returns the number of VFs that are reserved and exist. */
function reservedVfsOf(spec: Spec, { pciAddress, Vfs = [] }: InterfaceStatus): number {
  const groups = spec.interfaces?.find((one) => one.pciAddress === pciAddress)?.vfGroups ?? [];
  const group = groups.find(({ reservedFor }) => reservedFor === "ovn-management-port");
  const range = parseVfRange(group?.vfRange ?? "");
  if (!range.ok || range.value.first !== 0) return 0;
  return new Set(Vfs.map(({ vfID }) => vfID).filter((vfID) => vfID <= range.value.last)).size;
}

function hasVfs(spec: Spec, { pciAddress, numVfs = 0, Vfs = [] }: InterfaceStatus): boolean {
  const wanted = spec.interfaces?.find((one) => one.pciAddress === pciAddress)?.numVfs ?? 0;
  return numVfs >= wanted && Vfs.length >= wanted;
}

function keepIdentity({
  pciAddress,
  vendor,
  deviceID,
  cardMode,
  totalvfs,
  firmware,
}: InterfaceStatus): InterfaceStatus {
  const unavailable = firmware?.unavailable;
  return {
    pciAddress,
    ...defined({ vendor, deviceID, cardMode, totalvfs }),
    ...(unavailable !== undefined && { firmware: { unavailable } }),
  };
}
