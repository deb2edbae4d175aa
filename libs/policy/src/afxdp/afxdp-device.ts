// SPDX-License-Identifier: Apache-2.0
/**
 * AfxdpDevice is a network interface of a node as policies see it: its identity, and why it cannot be an AF_XDP device.
 * Usage: `const devices = afxdpDevices(state.status, sriovUse(sriovState));`
 */
import type {
  AfxdpInterfaceStatus,
  AfxdpNetworkNodeStateStatus,
  SriovNetworkNodeStateSpec,
  SriovNetworkNodeStateStatus,
} from "@switchyard/api";
import { withFormerNames } from "../nics/former-names.ts";
import { maxPfs } from "../nics/status-pfs.ts";

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
}

/** How SR-IOV policies use devices of a node, by PCI address. */
export type SriovUse = ReadonlyMap<string, string>;

/** The parts of a SriovNetworkNodeState that sriovUse depends on. */
export interface SriovNodeFacts {
  readonly spec?: Pick<SriovNetworkNodeStateSpec, "interfaces" | "bridges"> | undefined;
  readonly status?: Pick<SriovNetworkNodeStateStatus, "interfaces"> | undefined;
}

/** Returns the devices of a node, without those that have neither a PCI address nor a name, and without repetitions. */
export function afxdpDevices(
  status: Pick<AfxdpNetworkNodeStateStatus, "interfaces"> | undefined,
  sriovUse: SriovUse = new Map(),
): readonly AfxdpDevice[] {
  // Each node writes its own status, so it can have any size.
  const reported = (status?.interfaces ?? []).slice(0, maxPfs);
  const devices = new Map<string, AfxdpDevice>();
  for (const [index, nic] of withFormerNames(reported).entries()) {
    const own = reported[index];
    const id = idOf(nic);
    if (own === undefined || id === "" || devices.has(id)) continue;
    devices.set(id, { id, nic, reported: own, hostUse: nic.usedBy ?? [], sriovUse: sriovUse.get(id) });
  }
  return [...devices.values()];
}

/** The identity of a device in specs and statuses: its PCI address or, if it has none, its name. */
export function idOf({ pciAddress, name = "" }: Pick<AfxdpInterfaceStatus, "pciAddress" | "name">): string {
  return pciAddress ? pciAddress : name;
}

/** Returns how SR-IOV policies use the PFs and VFs of a node. VFs and bridges that Switchyard created count until they are gone. */
export function sriovUse({ spec, status }: SriovNodeFacts): SriovUse {
  const wanted = new Set([
    ...(spec?.interfaces ?? []).map(({ pciAddress }) => pciAddress),
    ...[...(spec?.bridges?.ovs ?? []), ...(spec?.bridges?.linux ?? [])].flatMap(({ uplinks = [] }) =>
      uplinks.map(({ pciAddress }) => pciAddress),
    ),
  ]);
  const use = new Map([...wanted].map((pciAddress): [string, string] => [pciAddress, "SR-IOV policies select it"]));
  for (const { pciAddress, owned, numVfs = 0, bridge, Vfs = [] } of (status?.interfaces ?? []).slice(0, maxPfs)) {
    const isOwned = owned === true && (numVfs > 0 || bridge !== undefined);
    if (isOwned && !wanted.has(pciAddress))
      use.set(pciAddress, "it still has the VFs or the bridge of SR-IOV policies");
    if (!isOwned && !wanted.has(pciAddress)) continue;
    for (const vf of Vfs) use.set(vf.pciAddress, `it is a VF of ${pciAddress}, which SR-IOV policies use`);
  }
  return use;
}
