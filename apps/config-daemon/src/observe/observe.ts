// SPDX-License-Identifier: Apache-2.0
/**
 * observe reads the NICs and the system settings of the node from the kernel. It changes nothing and caches nothing.
 */
import {
  defined,
  type Bridges,
  type HoldersStatus,
  type InterfaceStatus,
  type LinuxBridge,
  type OpenVSwitchStatus,
  type PciAddress,
  type SystemStatus,
} from "@switchyard/api";
import type { Host, Link, ObservedLinuxBridge, SysfsPf, PfRecord } from "@switchyard/host";
import { shownPort } from "@switchyard/plan";
import { bridgeNameOf, smartNicsOf } from "@switchyard/policy";
import { readHostNetwork } from "./host-network.ts";
import { hostUseOf, readNetworks, readRoutes, type HostUseByPf, type NeededRoute } from "./host-use.ts";
import {
  groupByDevice,
  pfNumberOf,
  toInterfaceStatus,
  uplinkAmong,
  type LinksByDevice,
  type PfObservation,
} from "./interface-status.ts";
import { readOvs } from "./ovs-status.ts";
import { readSystem } from "./system-status.ts";
import { readVfDevices, withVfDevices } from "./vf-devices.ts";

/** The hardware of the node at one moment. */
export interface Observation {
  /** All network PFs by ascending PCI address. */
  readonly interfaces: readonly InterfaceStatus[];
  /** Undefined if the node has no VFs, or if the kubelet cannot be asked. */
  readonly holders?: HoldersStatus | undefined;
  /** Has no rdmaMode if the node has no RDMA subsystem. */
  readonly system: SystemStatus;
  /** The software bridges that Switchyard created. A kind of bridges that is absent is unknown, not empty. */
  readonly bridges: Bridges;
  /** Undefined if the daemon does not manage software bridges. */
  readonly openVSwitch: OpenVSwitchStatus | undefined;
  /** The routes that the host needs; absent if the daemon does not manage software bridges. */
  readonly routes?: readonly NeededRoute[];
  /** The numbers of PFs in the port names of their representors, as far as they are known. */
  readonly pfNumbers: ReadonlyMap<string, number>;
  /** Why the networks of a virtual machine are not known. */
  readonly metadataProblem?: string;
  /** boot_id of the running kernel. */
  readonly bootId: string;
  /** The records of the PFs, also of those that the node does not have. */
  readonly records: ReadonlyMap<PciAddress, PfRecord>;
}

export interface ObserveOptions {
  /** Returns the IP addresses of the API server; none by default. */
  readonly apiServerAddresses?: (() => Promise<readonly string[]>) | undefined;
  /** Uses that were known before. They count in addition, because the network of a host that boots may not be complete. */
  readonly knownHostUse?: HostUseByPf | undefined;
  /** Whether the node boots, so that ports of pods without their network namespace are from before the boot. False by default. */
  readonly isAtBoot?: boolean | undefined;
}

/** Rejects with HostError if the host cannot be read. A single PF that vanishes meanwhile is left out. */
export async function observeNode(host: Host, options: ObserveOptions = {}): Promise<Observation> {
  const bootId = await host.boot.readBootId();
  const [pfs, links, records, system, devices] = await Promise.all([
    host.sriov.listPfs(),
    host.links.listLinks(),
    host.records.list(),
    readSystem(host, bootId),
    readVfDevices(host),
  ]);
  const byDevice = groupByDevice(links);
  const interfaces = await Promise.all(
    pfs.map(async (pf) => {
      const [eswitch, speedMbps] = await Promise.all([readEswitch(host, pf), readSpeed(host, pf, byDevice)]);
      const record = records.get(pf.pciAddress);
      return withVfDevices(toInterfaceStatus({ pf, links: byDevice, ...eswitch, speedMbps, record }), devices);
    }),
  );
  const { ovs, openVSwitch } = await readOvs(host, { links, interfaces, isAtBoot: options.isAtBoot === true });
  // Most nodes have no bridge.
  const linux = links.some(({ kind }) => kind === "bridge") ? await readLinuxBridges(host, interfaces) : [];
  const own = { links, bridges: [...(ovs ?? []), ...linux] };
  const readNeeded = routesOnce(host, options);
  const routes = openVSwitch && (await readNeeded());
  const networks = openVSwitch && (await readNetworks(host));
  const known = options.knownHostUse ?? {};
  const withUse =
    routes === undefined
      ? interfaces
      : interfaces.map((pf) => withHostUse(pf, { ...own, routes, networks: networks ?? [], known }));
  const hostNetwork =
    smartNicsOf(interfaces).length === 0 ? undefined : await readHostNetwork(host.files, links, readNeeded);
  return {
    interfaces: withUse.map((pf) => ({ ...pf, ...defined({ bridge: bridgeOf(pf, own.bridges) }) })),
    system: { ...system, ...defined({ hostNetwork }) },
    bridges: { ...defined({ ovs }), linux },
    openVSwitch,
    bootId,
    records,
    pfNumbers: pfNumbersOf(pfs, byDevice),
    ...defined({ routes }),
  };
}

function pfNumbersOf(pfs: readonly SysfsPf[], byDevice: LinksByDevice): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  for (const pf of pfs) {
    const number = pfNumberOf(uplinkAmong(byDevice.get(pf.pciAddress) ?? []), pf);
    if (number !== undefined) numbers.set(pf.pciAddress, number);
  }
  return numbers;
}

/** The software bridges that Switchyard created, of all kinds. */
type OwnBridges = readonly Pick<LinuxBridge, "name" | "uplinks">[];

interface HostUseSources {
  readonly links: readonly Link[];
  readonly routes: readonly NeededRoute[];
  readonly networks: readonly NeededRoute[];
  readonly bridges: OwnBridges;
  readonly known: HostUseByPf;
}

/** Routing tables can be large. They matter only for bridges and hosts of SmartNICs. */
function routesOnce(host: Host, { apiServerAddresses }: ObserveOptions): () => Promise<readonly NeededRoute[]> {
  let routes: Promise<readonly NeededRoute[]> | undefined;
  const read = async () => readRoutes(host, (await apiServerAddresses?.()) ?? []);
  return () => (routes ??= read());
}

function withHostUse(
  pf: InterfaceStatus,
  { links, routes, networks, bridges, known }: HostUseSources,
): InterfaceStatus {
  const ownBridges = new Set(bridges.map(({ name }) => name));
  const observed = hostUseOf(pf, { links, routes, networks, ownBridges, bridgeName: bridgeNameOf(pf.pciAddress) });
  const hostUse = [...new Set([...observed, ...(known[pf.pciAddress] ?? [])])];
  return hostUse.length === 0 ? pf : { ...pf, hostUse };
}

/** Returns the name of the software bridge that Switchyard created for the PF. */
function bridgeOf({ pciAddress }: InterfaceStatus, bridges: OwnBridges): string | undefined {
  return bridges.find(({ uplinks = [] }) => uplinks.some((uplink) => uplink.pciAddress === pciAddress))?.name;
}

async function readEswitch(
  { devlink }: Host,
  { sriov, pciAddress }: SysfsPf,
): Promise<Pick<PfObservation, "eSwitchMode" | "flowSteeringMode">> {
  const eSwitchMode = sriov && (await devlink.readEswitchMode(pciAddress));
  if (eSwitchMode === undefined) return { eSwitchMode };
  return { eSwitchMode, flowSteeringMode: await devlink.readParameter(pciAddress, "flow_steering_mode") };
}

async function readSpeed(host: Host, pf: SysfsPf, links: LinksByDevice): Promise<number | undefined> {
  const uplink = uplinkAmong(links.get(pf.pciAddress) ?? []);
  // An interface that is down has no speed.
  return uplink?.adminUp === true ? host.links.readSpeedMbps(uplink.name) : undefined;
}

/**
 * readLinuxBridges reads the Linux bridges that Switchyard created, in the shape of SriovNetworkNodeState.status. Bridges of
 * other programs are left out.
 * Rejects with HostError.
 */
async function readLinuxBridges(
  { linuxBridges }: Host,
  interfaces: readonly InterfaceStatus[],
): Promise<readonly LinuxBridge[]> {
  const bridges = await linuxBridges.listBridges();
  return bridges
    .filter(({ isOwn }) => isOwn)
    .map((bridge) => toStatus(bridge, interfaces))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Ports that are not PFs, such as representors, come and go with pods. */
function toStatus(bridge: ObservedLinuxBridge, interfaces: readonly InterfaceStatus[]): LinuxBridge {
  const { name, adminUp, vlanFiltering, vlanProtocol, ports } = bridge;
  const uplinks = ports.flatMap((port) => {
    const pf = interfaces.find((each) => each.name === port.name);
    if (pf === undefined) return [];
    const uplink = shownPort(port.settings);
    const isDefault = Object.keys(uplink).length === 0;
    return [{ pciAddress: pf.pciAddress, name: port.name, ...(!isDefault && { uplink }) }];
  });
  return {
    name,
    bridge: { vlanFiltering, ...defined({ vlanProtocol }) },
    linkAdminState: adminUp ? "up" : "down",
    ...(uplinks.length > 0 && { uplinks }),
  };
}
