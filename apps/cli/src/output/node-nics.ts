// SPDX-License-Identifier: Apache-2.0
/**
 * nodeNics lists the NICs that nodes report in their SriovNetworkNodeStates, and what the AfxdpNetworkNodeStates add about them.
 */
import { defined, type AfxdpNetworkNodeState, type InterfaceStatus, type SriovNetworkNodeState } from "@switchyard/api";
import { afxdpDevices } from "@switchyard/policy";
import { printable, speedText, table } from "../text.ts";

/** A NIC of a node. A field is absent if it is not known. */
export interface NodeNic {
  readonly node: string;
  readonly name?: string;
  readonly pciAddress?: string;
  readonly vendor?: string;
  readonly deviceID?: string;
  readonly driver?: string;
  /** As the node reports it, such as "100000 Mb/s". */
  readonly linkSpeed?: string;
  /** Administrative state of the link: up or down. */
  readonly link?: string;
  /** ETH or IB. */
  readonly linkType?: string;
  readonly mtu?: number;
  readonly eSwitchMode?: string;
  readonly numVfs?: number;
  readonly totalVfs?: number;
  readonly externallyManaged?: true;
  /** Names of the policies that its VFs are configured by. */
  readonly policies?: readonly string[];
  /** What the host uses it for. */
  readonly hostUse?: readonly string[];
  /** Whether the driver runs XDP programs itself. */
  readonly nativeXdp?: boolean;
  /** Whether the driver supports AF_XDP sockets without copying packets. */
  readonly zeroCopy?: boolean;
  readonly queues?: number;
  readonly maxQueues?: number;
  readonly maxSfs?: number;
  /** Why it cannot be an AF_XDP device. */
  readonly usedBy?: readonly string[];
}

/** The node states by node. */
interface StatesOfNodes {
  readonly sriov: ReadonlyMap<string, SriovNetworkNodeState>;
  readonly afxdp: ReadonlyMap<string, AfxdpNetworkNodeState>;
}

/** Returns the NICs in the order of the nodes' names. A NIC that both states of a node have is one row. */
export function nodeNics({ sriov, afxdp }: StatesOfNodes): readonly NodeNic[] {
  const nodes = [...new Set([...sriov.keys(), ...afxdp.keys()])].sort();
  return nodes.flatMap((node) => {
    const state = sriov.get(node);
    const forAfxdp = new Map(afxdpNics(afxdp.get(node)).map((nic) => [nic.pciAddress ?? nic.name, nic]));
    const pfs = (state?.status?.interfaces ?? []).map((pf) => {
      const more = forAfxdp.get(pf.pciAddress);
      forAfxdp.delete(pf.pciAddress);
      return { node, ...more, ...sriovNic(pf, state) };
    });
    return [...pfs, ...[...forAfxdp.values()].map((nic) => ({ node, ...nic }))];
  });
}

function sriovNic(pf: InterfaceStatus, state: SriovNetworkNodeState | undefined) {
  const { name, pciAddress, vendor, deviceID, driver, linkSpeed, linkAdminState: link, linkType, mtu } = pf;
  const { eSwitchMode, numVfs, totalvfs: totalVfs, hostUse } = pf;
  const groups = state?.spec?.interfaces?.find((one) => one.pciAddress === pciAddress)?.vfGroups ?? [];
  const policies = [...new Set(groups.flatMap(({ policyName }) => policyName ?? []))];
  return {
    ...defined({ name, pciAddress, vendor, deviceID, driver, linkSpeed, link, linkType, mtu, eSwitchMode }),
    ...defined({ numVfs, totalVfs, hostUse }),
    ...(pf.externallyManaged === true && { externallyManaged: true as const }),
    ...(policies.length > 0 && { policies }),
  };
}

function afxdpNics(state: AfxdpNetworkNodeState | undefined): readonly Omit<NodeNic, "node">[] {
  return afxdpDevices(state?.status).map(({ reported }) => {
    const { name, pciAddress, vendor, deviceID, driver, xdp, queues, maxQueues, maxSfs, usedBy } = reported;
    return {
      ...defined({ name, pciAddress, vendor, deviceID, driver }),
      ...defined({ nativeXdp: xdp?.native, zeroCopy: xdp?.zeroCopy, queues, maxQueues, maxSfs, usedBy }),
    };
  });
}

interface Column {
  readonly head: string;
  /** The columns of SR-IOV and AF_XDP are shown if a node has reported for them. */
  readonly of?: "sriov" | "afxdp";
  readonly value: (nic: NodeNic) => string | number | undefined;
}

const columns: readonly Column[] = [
  { head: "NODE", value: ({ node }) => node },
  { head: "NIC", value: ({ name }) => name },
  { head: "ADDRESS", value: ({ pciAddress }) => pciAddress },
  {
    head: "ID",
    of: "sriov",
    value: ({ vendor, deviceID }) => (vendor && deviceID ? `${vendor}:${deviceID}` : undefined),
  },
  { head: "DRIVER", value: ({ driver }) => driver },
  { head: "SPEED", of: "sriov", value: ({ linkSpeed }) => speedText(linkSpeed) },
  { head: "LINK", of: "sriov", value: ({ link }) => link },
  {
    head: "VFS",
    of: "sriov",
    value: ({ numVfs, totalVfs }) => (totalVfs === undefined ? numVfs : `${numVfs ?? 0}/${totalVfs}`),
  },
  { head: "MTU", of: "sriov", value: ({ mtu }) => mtu },
  { head: "MODE", of: "sriov", value: ({ eSwitchMode }) => eSwitchMode },
  {
    head: "POLICY",
    of: "sriov",
    value: ({ policies, externallyManaged }) =>
      listText([...(policies ?? []), ...(externallyManaged ? ["(externally managed)"] : [])]),
  },
  { head: "HOST USE", of: "sriov", value: ({ hostUse }) => listText(hostUse) },
  { head: "NATIVE XDP", of: "afxdp", value: ({ nativeXdp }) => yesOrNo(nativeXdp) },
  { head: "ZERO COPY", of: "afxdp", value: ({ zeroCopy }) => yesOrNo(zeroCopy) },
  { head: "QUEUES", of: "afxdp", value: ({ maxQueues }) => maxQueues },
  { head: "SFS", of: "afxdp", value: ({ maxSfs }) => maxSfs },
  { head: "USED BY", of: "afxdp", value: ({ usedBy }) => listText(usedBy) },
];

/** Without NICs, the text says so. */
export function nodeNicsText(nics: readonly NodeNic[]): string {
  if (nics.length === 0) return "No node has reported a NIC.\n";
  const isReported = {
    sriov: nics.some(({ totalVfs, numVfs, link }) => (totalVfs ?? numVfs ?? link) !== undefined),
    afxdp: nics.some(
      ({ nativeXdp, maxQueues, maxSfs, usedBy }) => (nativeXdp ?? maxQueues ?? maxSfs ?? usedBy) !== undefined,
    ),
  };
  const shown = columns.filter(({ of }) => of === undefined || isReported[of]);
  const rows = nics.map((nic) => shown.map(({ value }) => printable(String(value(nic) ?? "-"))));
  return table([shown.map(({ head }) => head), ...rows]);
}

function listText(values: readonly string[] = []): string | undefined {
  return values.length === 0 ? undefined : values.join(", ");
}

function yesOrNo(value: boolean | undefined): string | undefined {
  return value === undefined ? undefined : value ? "yes" : "no";
}
