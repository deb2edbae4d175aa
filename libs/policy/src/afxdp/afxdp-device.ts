// SPDX-License-Identifier: Apache-2.0
/**
 * AfxdpDevice is a network interface of a node as policies see it: its identity, and why it cannot be an AF_XDP device.
 * Usage: `const devices = afxdpDevices(state.status, sriovUse({ spec, pfs }), state.spec);`
 */
import {
  parsePciAddress,
  type AfxdpInterfaceSpec,
  type AfxdpInterfaceStatus,
  type AfxdpNetworkNodeStateSpec,
  type AfxdpNetworkNodeStateStatus,
  type SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import { maxPfs, withFormerNames } from "../nics/status-pfs.ts";
import { compareText } from "../order.ts";
import { pfOf, type PfAddresses } from "../pods/pf-addresses.ts";

/** A network interface. */
export interface AfxdpDevice {
  /** PCI address; the name for devices that are not on the PCI bus. */
  readonly id: string;
  /** As policies see it: with its former names. */
  readonly nic: AfxdpInterfaceStatus;
  /** As reported. */
  readonly reported: AfxdpInterfaceStatus;
  /** What the host uses the device for. */
  readonly hostUse: readonly string[];
  /** How SR-IOV policies use the device; undefined if they do not. */
  readonly sriovUse: string | undefined;
  /** The policy and the pool that have the device according to the spec of the node state; undefined if none has it. */
  readonly assigned: AssignedPool | undefined;
}

/** A policy and its pool. */
export type AssignedPool = Pick<AfxdpInterfaceSpec, "policyName" | "poolName">;

/** The part of an AfxdpNetworkNodeState that says which policies have devices already. */
export type AssignedDevices = Pick<AfxdpNetworkNodeStateSpec, "interfaces">;

/** Returns how SR-IOV policies use the device with this PCI address; undefined if they do not. */
export type SriovUse = (pciAddress: string) => string | undefined;

/** The parts of a SriovNetworkNodeState that sriovUse depends on. */
export interface SriovUseSource {
  readonly spec?: Pick<SriovNetworkNodeStateSpec, "interfaces" | "bridges" | "unselected"> | undefined;
  /** Result of toPfAddresses. */
  readonly pfs?: readonly PfAddresses[] | undefined;
}

/**
 * Returns the devices of a node by ascending id, without those that have neither a PCI address nor a name, and without repetitions.
 * The order of the report does not matter: a device without a PCI address is at its end while a pod has it.
 */
export function afxdpDevices(
  status: Pick<AfxdpNetworkNodeStateStatus, "interfaces"> | undefined,
  useOf: SriovUse = () => undefined,
  spec: AssignedDevices = {},
): readonly AfxdpDevice[] {
  // Each node writes its own status, so it can have any size.
  const reported = (status?.interfaces ?? []).slice(0, maxPfs);
  const assigned = new Map((spec.interfaces ?? []).map((one) => [idOf(one), one]));
  const devices = new Map<string, AfxdpDevice>();
  for (const [index, nic] of withFormerNames(reported).entries()) {
    const own = reported[index];
    const id = idOf(nic);
    if (own === undefined || id === "" || devices.has(id)) continue;
    devices.set(id, {
      id,
      nic,
      reported: own,
      hostUse: nic.usedBy ?? [],
      sriovUse: useOf(id),
      assigned: assigned.get(id),
    });
  }
  return [...devices.values()].sort((a, b) => compareText(a.id, b.id));
}

/** The identity of a device in specs and statuses: its PCI address or, if it has none, its name. */
function idOf({ pciAddress, name = "" }: Pick<AfxdpInterfaceStatus, "pciAddress" | "name">): string {
  return pciAddress ? pciAddress : name;
}

/** SR-IOV policies use the PFs that they select, those that the node still resets, and the VFs of both. */
export function sriovUse({ spec, pfs = [] }: SriovUseSource): SriovUse {
  const { interfaces = [], bridges: { ovs = [], linux = [] } = {}, unselected = [] } = spec ?? {};
  const selected = new Set(
    [...interfaces, ...[...ovs, ...linux].flatMap(({ uplinks = [] }) => uplinks)].map(addressOf),
  );
  const leaving = new Set(unselected);
  return (pciAddress) => {
    if (selected.has(pciAddress)) return "SR-IOV policies select it";
    if (leaving.has(pciAddress)) return "it still has the settings of SR-IOV policies";
    const address = parsePciAddress(pciAddress);
    const pf = address.ok ? pfOf(address.value, pfs) : undefined;
    const isUsed = pf !== undefined && (selected.has(pf) || leaving.has(pf));
    return isUsed ? `it is a VF of ${pf}, which SR-IOV policies use` : undefined;
  };
}

function addressOf({ pciAddress }: { readonly pciAddress: string }): string {
  return pciAddress;
}

/**
 * A device key identifies an AF_XDP device of a node also while its name is not known because it is in a pod. Examples
 * are "0000:86:00.0", "0000:86:00.0/sf/4" for a subfunction, "veth0" for a device that is not on the PCI bus. Returns
 * the key of a device in the spec or status of a node state.
 */
export function deviceKey({ pciAddress, name = "" }: { readonly pciAddress?: string; readonly name?: string }): string {
  return pciAddress ?? name;
}

/** Returns the key of a subfunction, or with "" the start of the keys of all subfunctions of the device. */
export function subfunctionKey(device: string, sfNumber: number | ""): string {
  return `${device}/sf/${sfNumber}`;
}
