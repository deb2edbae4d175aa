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
  labels.ovnOffloadFiles,
];

/** A node that has the label switchyard.io/ovn-offload-pool. */
export interface OffloadHost {
  readonly pool: string;
  /** PCI address of the PF whose VF 0 is reserved; undefined if the node has reported no SmartNIC. */
  readonly managementPf: string | undefined;
  /** PCI addresses of all PFs of that SmartNIC. */
  readonly cardPfs: ReadonlySet<string>;
  /** Name of the resource, without prefix, that VF 0 is offered as; undefined if it is offered as none. */
  readonly managementResource: string | undefined;
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
    disablesOpenVSwitch: valueOf(own, labels.ovnOffloadFiles) === "daemon",
  };
}

/** Index of the VF that is the management port of OVN-Kubernetes. */
export const managementVf = 0;

/**
 * Returns the PF with what OVN needs on it: the mode of the card, and on the management PF the group of VF 0. `spec` is what
 * policies request, without VF 0.
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
    vfRange: `${managementVf}-${managementVf}`,
    reservedFor: "ovn-management-port",
  };
  const groups = pciAddress === host.managementPf ? [reserved, ...vfGroups] : vfGroups;
  return { ...pf, cardMode: "embedded-cpu", vfGroups: groups };
}

/** An empty value counts as absent. */
function valueOf(own: Labels, key: string): string | undefined {
  return (Object.hasOwn(own, key) && own[key]) || undefined;
}
