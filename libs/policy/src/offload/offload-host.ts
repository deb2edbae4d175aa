// SPDX-License-Identifier: Apache-2.0
/**
 * OffloadHost is what the labels of a node say about OVN on its SmartNIC. The merge, the webhook and the command line derive
 * it from the same labels and reported PFs, so they agree without looking at the SriovOperatorConfig.
 * Usage: `const host = offloadHostOf(node, interfaces); if (host?.managementPf === nic.pciAddress) reserve();`
 */
import { defined, labels, type InterfaceSpec, type InterfaceStatus, type Node, type VfGroup } from "@switchyard/api";
import { labelsOf, type Labels } from "../nodes/label-selector.ts";
import { smartNicsOf } from "./smart-nics.ts";

/** Keys of the labels that offloadHostOf reads. */
export const offloadLabelKeys: readonly string[] = [
  labels.ovnOffloadPool,
  labels.ovnManagementResource,
  labels.ovnManagementVfs,
  labels.ovnOffloadFiles,
];

/** A node that has the label switchyard.io/ovn-offload-pool. */
export interface OffloadHost {
  readonly pool: string;
  /** PCI address of the PF whose first VFs are reserved; undefined if the node has reported no SmartNIC. */
  readonly managementPf: string | undefined;
  /** PCI addresses of all PFs of that SmartNIC. */
  readonly cardPfs: ReadonlySet<string>;
  /** Name of the resource, without prefix, that they are offered as; undefined if they are offered as none. */
  readonly managementResource: string | undefined;
  /** Number of reserved VFs, from VF 0; at least 1. */
  readonly managementVfs: number;
  /** Whether the config daemon disables Open vSwitch on the host. */
  readonly disablesOpenVSwitch: boolean;
}

/** Returns undefined if the node does not have the label. */
export function offloadHostOf(node: Node, interfaces: readonly InterfaceStatus[]): OffloadHost | undefined {
  const own = labelsOf(node);
  const pool = valueOf(own, labels.ovnOffloadPool);
  if (pool === undefined) return undefined;
  const addresses = smartNicsOf(interfaces)[0]?.pfs.map(({ pciAddress }) => pciAddress) ?? [];
  return {
    pool,
    managementPf: addresses[0],
    cardPfs: new Set(addresses),
    managementResource: valueOf(own, labels.ovnManagementResource),
    managementVfs: readCount(valueOf(own, labels.ovnManagementVfs)),
    disablesOpenVSwitch: valueOf(own, labels.ovnOffloadFiles) === "daemon",
  };
}

/** Largest number of management ports of a host: a BlueField has at most 128 VFs, and pods need one. */
export const mostManagementVfs = 127;

/**
 * Returns the PF with what OVN needs on it: the mode of the card, and on the management PF the group of the reserved VFs. `spec` is
 * what policies request, without these VFs.
 */
export function withReservation(
  spec: InterfaceSpec,
  { pciAddress }: InterfaceStatus,
  host: OffloadHost | undefined,
): InterfaceSpec {
  if (host?.cardPfs.has(pciAddress) !== true) return spec;
  const { vfGroups = [], ...pf } = spec;
  const reserved: VfGroup = {
    ...defined({ resourceName: host.managementResource }),
    deviceType: "netdevice",
    vfRange: `0-${host.managementVfs - 1}`,
    reservedFor: "ovn-management-port",
  };
  const groups = pciAddress === host.managementPf ? [reserved, ...vfGroups] : vfGroups;
  return { ...pf, cardMode: "embedded-cpu", vfGroups: groups };
}

/** A value that ovn-offload does not write means 1. */
function readCount(text = "1"): number {
  const count = /^[1-9][0-9]{0,2}$/.test(text) ? Number(text) : 1;
  return count <= mostManagementVfs ? count : 1;
}

/** An empty value counts as absent. */
function valueOf(own: Labels, key: string): string | undefined {
  return (Object.hasOwn(own, key) && own[key]) || undefined;
}
