// SPDX-License-Identifier: Apache-2.0
/**
 * withoutManagementVf changes the policies of a host whose OVN runs on its SmartNIC, so that upstream's configuration of the
 * device plugin never offers VF 0 of the management PF to pods. The plugin matches VFs by device ID, which
 * those of several cards share, so each policy gets the names of the PFs that it selects.
 * Usage: `withoutManagementVf(policiesSelecting(node, rules), { node, interfaces })`.
 */
import type { InterfaceStatus, Node, SriovNetworkNodePolicy } from "@switchyard/api";
import {
  allVfs,
  formatVfRange,
  isNameOf,
  matchesNic,
  offloadHostOf,
  parsePfName,
  pfNameOf,
  unreservedVfs,
  type OffloadHost,
} from "@switchyard/policy";

export interface PolicyNode {
  readonly node: Node;
  /** PFs in the node's status. */
  readonly interfaces: readonly InterfaceStatus[];
}

/** Returns the policies of other nodes as they are. Policies that select no other VF are left out. */
export function withoutManagementVf(
  policies: readonly SriovNetworkNodePolicy[],
  { node, interfaces }: PolicyNode,
): readonly SriovNetworkNodePolicy[] {
  const host = offloadHostOf(node, interfaces);
  const management = interfaces.find(({ pciAddress }) => pciAddress === host?.managementPf);
  if (host === undefined || management === undefined) return policies;
  const count = Math.max(...policies.map(({ spec }) => spec.numVfs), management.numVfs ?? 0);
  const changed = policies.flatMap((policy) => {
    const pfNames = entriesOf(policy, interfaces).flatMap((entry) =>
      withoutVf0(entry, policy, { host, management, count }),
    );
    const { nicSelector } = policy.spec;
    return pfNames.length === 0
      ? []
      : [{ ...policy, spec: { ...policy.spec, nicSelector: { ...nicSelector, pfNames } } }];
  });
  return [...changed, ...managementPolicy(host, management)];
}

/** The entries of pfNames; without any, the names of all PFs that the policy selects. */
function entriesOf({ spec }: SriovNetworkNodePolicy, interfaces: readonly InterfaceStatus[]): readonly string[] {
  const { pfNames = [] } = spec.nicSelector;
  if (pfNames.length > 0) return pfNames;
  return interfaces.flatMap((nic) => (nic.name && matchesNic(spec.nicSelector, nic) ? [nic.name] : []));
}

interface ManagementPf {
  readonly host: OffloadHost;
  readonly management: InterfaceStatus;
  /** Number of VFs of the PF, or more. */
  readonly count: number;
}

/** With numVfs 0 the device is the PF itself. */
function withoutVf0(
  entry: string,
  policy: SriovNetworkNodePolicy,
  { host, management, count }: ManagementPf,
): readonly string[] {
  if (policy.spec.numVfs === 0) return [entry];
  const isManagement = isNameOf(pfNameOf(entry), management);
  const parsed = parsePfName(entry);
  const range = parsed.ok ? (parsed.value.range ?? allVfs(count)) : undefined;
  if (range === undefined) return isManagement ? [] : [entry];
  const nic = isManagement ? management : { pciAddress: "" };
  const { vfs } = unreservedVfs(policy, { nic, vfs: range, host });
  if (vfs === undefined) return [];
  return isManagement ? [`${pfNameOf(entry)}#${formatVfRange(vfs)}`] : [entry];
}

/** VF 0 is the only one of its resource, if it has one. */
function managementPolicy(
  { managementResource: resourceName }: OffloadHost,
  { name, vendor }: InterfaceStatus,
): readonly SriovNetworkNodePolicy[] {
  if (resourceName === undefined || !name || !vendor) return [];
  return [
    {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovNetworkNodePolicy",
      metadata: { name: "ovn-management-port" },
      spec: { resourceName, nodeSelector: {}, numVfs: 1, nicSelector: { vendor, pfNames: [`${name}#0-0`] } },
    },
  ];
}
