// SPDX-License-Identifier: Apache-2.0
/**
 * observeAfxdp reads the AF_XDP devices of the node from the kernel, with what is recorded about them. It changes nothing.
 */
import { defined, type AfxdpInterfaceStatus, type AfxdpNetworkNodeStateSpec } from "@switchyard/api";
import {
  HostError,
  type AfxdpRecord,
  type Host,
  type Link,
  type SysfsPf,
  type Subfunction,
  type XdpFeatures,
} from "@switchyard/host";
import { deviceIdOf } from "@switchyard/plan";
import { hostUseOf, interfacesAbove, readRoutes, type NeededRoute } from "../../observe/host-use.ts";
import { allNamesOf } from "../../observe/interface-status.ts";
import { describeCard, isSameCard } from "../../observe/same-card.ts";
import { findDeviceLinks, orIfGone, type DeviceLink } from "./device-links.ts";
import { readInterface, type InterfaceFields } from "./read-interface.ts";
import { readSubfunctions } from "./subfunction-status.ts";

export interface ObserveAfxdpOptions {
  /** Decides to which pools subfunctions belong. */
  readonly spec: AfxdpNetworkNodeStateSpec;
  /** The devices as reported before: the settings of a device in a pod are those that it had on the host. */
  readonly before?: readonly AfxdpInterfaceStatus[] | undefined;
  /** Returns the IP addresses of the API server; none by default. */
  readonly apiServerAddresses?: (() => Promise<readonly string[]>) | undefined;
}

/** Rejects with HostError if the host cannot be read. A device that vanishes meanwhile is left out or has fewer fields. */
export async function observeAfxdp(
  host: Host,
  { spec, before = [], apiServerAddresses }: ObserveAfxdpOptions,
): Promise<readonly AfxdpInterfaceStatus[]> {
  const [pfs, links, subfunctions, features, records, addresses] = await Promise.all([
    host.sriov.listPfs(),
    host.links.listLinks(),
    host.subfunctions.list(),
    host.xdp.listFeatures(),
    host.afxdpRecords.list(),
    apiServerAddresses?.(),
  ]);
  const routes = await readRoutes(host, addresses ?? []);
  const ovsPorts = subfunctions.length === 0 ? new Map<string, string>() : await readOvsPorts(host);
  const devices = await findDeviceLinks(host, { pfs, links });
  const context = { host, spec, links, subfunctions, features, routes, ovsPorts };
  const known = new Map(before.map((each) => [deviceIdOf(each), each]));
  const present = [...devices.values()].filter(
    ({ id, link, pf }) => link !== undefined || pf?.driver !== undefined || records.has(id),
  );
  const read = await Promise.all(
    present.map((device) =>
      readDevice(device, { ...context, record: records.get(device.id), before: known.get(device.id) }),
    ),
  );
  // A device without an address is known by its name only, and in a pod it has another one.
  const away = [...records].filter(([id, { spec: recorded }]) => !devices.has(id) && !recorded.pciAddress);
  return [
    ...read,
    ...away.map(([name, record]) => ({ name, ...awayFields(known.get(name)), ...recordFields(record, [name]) })),
  ];
}

interface DeviceContext {
  readonly host: Host;
  readonly spec: AfxdpNetworkNodeStateSpec;
  readonly links: readonly Link[];
  readonly subfunctions: readonly Subfunction[];
  readonly features: readonly XdpFeatures[];
  readonly routes: readonly NeededRoute[];
  /** Bridges of Open vSwitch by the names of their ports. */
  readonly ovsPorts: ReadonlyMap<string, string>;
  readonly record: AfxdpRecord | undefined;
  readonly before: AfxdpInterfaceStatus | undefined;
}

async function readDevice(device: DeviceLink, context: DeviceContext): Promise<AfxdpInterfaceStatus> {
  const { id, pf, link, netDevice } = device;
  const { host, before, features } = context;
  const record = recordOfCard(device, context.record);
  const card = pf === undefined ? {} : await readCard(pf, context);
  const usedBy = link === undefined ? [] : useOf(link, { ...context, record });
  // VFs appear on a device of ours only when SR-IOV policies take it over, before which it is reset.
  if ((pf?.sriov?.numVfs ?? 0) > 0 && record === undefined) usedBy.push("VFs");
  const speed = link && (await orIfGone(() => host.links.readSpeedMbps(link.name), undefined));
  const own: InterfaceFields = link === undefined ? keptFields(before) : await readInterface(host, link, features);
  // A pod, or its device plugin, can leave a program on a device of ours.
  if (record === undefined) usedBy.push(...foreignProgram(own));
  const subfunctions = pf === undefined ? [] : await readSubfunctions(pf, { ...context, record });
  const driver = netDevice.driver ?? pf?.driver;
  return {
    ...(pf && { pciAddress: pf.pciAddress }),
    ...(link && linkFields(link)),
    ...own,
    ...defined({
      vendor: pf?.vendor,
      deviceID: pf?.deviceId,
      driver,
      numaNode: netDevice.numaNode ?? before?.numaNode,
      linkSpeed: speed === undefined ? undefined : `${speed} Mb/s`,
    }),
    ...card,
    ...(pf && { numSfs: subfunctions.length }),
    ...(subfunctions.length > 0 && { subfunctions }),
    ...(usedBy.length > 0 && { usedBy }),
    ...(record && recordFields(record, link === undefined ? [id] : allNamesOf(link))),
    ...(context.record && record === undefined && { replacedCard: describeCard(context.record) }),
  };
}

/** The record of another card that was in the slot before says nothing about this one. */
function recordOfCard({ pf, link }: DeviceLink, record: AfxdpRecord | undefined): AfxdpRecord | undefined {
  if (pf === undefined || record === undefined) return record;
  return isSameCard(record, { ...pf, permanentMac: link?.permanentMac }) ? record : undefined;
}

function useOf({ name }: Link, context: DeviceContext): string[] {
  const { links, routes } = context;
  const device = { pciAddress: "", name };
  return [
    ...hostUseOf(device, { links, routes, ownBridges: bridgesOfSubfunctions(name, context), bridgeName: "" }),
    ...interfacesAbove(device, links),
  ];
}

/**
 * A bridge that connects the device with its subfunctions is no use by the host: without it, they receive no packets. All bridges of
 * Open vSwitch have the same master, so their own names count.
 */
function bridgesOfSubfunctions(
  device: string,
  { links, subfunctions, ovsPorts, record }: DeviceContext,
): ReadonlySet<string> {
  const { spec, subfunctions: own = [] } = record ?? {};
  const representors = subfunctions
    .filter(({ pf, sfNumber }) => pf === spec?.pciAddress && own.includes(sfNumber))
    .flatMap(({ representor }) => representor ?? [])
    .filter((representor) => ovsPorts.get(representor) === ovsPorts.get(device));
  const masters = links.filter(({ name }) => representors.includes(name)).map(({ masterIndex }) => masterIndex);
  return new Set(links.filter(({ index }) => masters.includes(index)).map(({ name }) => name));
}

/**
 * Returns the bridges of Open vSwitch by the names of those ports that forward packets: none while the database does not answer or
 * ovs-vswitchd does not run.
 */
async function readOvsPorts({ ovs }: Host): Promise<ReadonlyMap<string, string>> {
  const state = await ovs.readState().catch((error: unknown) => {
    if (!(error instanceof HostError)) throw error;
    return undefined;
  });
  if (state === undefined || state.switchError !== undefined) return new Map();
  return new Map(
    state.bridges.flatMap(({ name, ports }) =>
      ports.filter(({ error }) => error === undefined).map((port) => [port.name, name] as const),
    ),
  );
}

/** Open vSwitch, VPP and Cilium can serve an interface by an XDP program alone, without master, address and route. */
function foreignProgram({ xdp }: InterfaceFields): readonly string[] {
  const { program } = xdp ?? {};
  if (program?.owned !== false) return [];
  return [`XDP program ${program.id}${program.name === undefined ? "" : ` (${program.name})`} of another program`];
}

/** The embedded switch and the limit of subfunctions. Only drivers with an embedded switch have subfunctions. */
async function readCard(
  { pciAddress, driver }: SysfsPf,
  { host }: DeviceContext,
): Promise<Pick<AfxdpInterfaceStatus, "eSwitchMode" | "maxSfs">> {
  if (driver === undefined) return {};
  const eSwitchMode = await host.devlink.readEswitchMode(pciAddress);
  if (eSwitchMode === undefined) return { maxSfs: 0 };
  const limit = await orIfGone(() => host.subfunctions.readLimit(pciAddress), undefined);
  // mlx5_core reports a limit unless the firmware has none, in both modes of the switch.
  const maxSfs = limit ?? (driver === "mlx5_core" ? 0 : undefined);
  return { eSwitchMode, ...defined({ maxSfs }) };
}

function linkFields({ name, altNames, mac, permanentMac, maxMtu, adminUp }: Link): AfxdpInterfaceStatus {
  return {
    name,
    ...(altNames.length > 0 && { altNames }),
    mac,
    linkType: "ETH",
    linkAdminState: adminUp ? "up" : "down",
    ...defined({ permanentMac, maxMtu }),
  };
}

/** What a device in a pod keeps, as far as the pod did not change it. */
function keptFields(before: AfxdpInterfaceStatus | undefined): AfxdpInterfaceStatus {
  const { mac, mtu, maxMtu, queues, maxQueues } = before ?? {};
  return defined({ mac, mtu, maxMtu, queues, maxQueues });
}

/** What policies select a device in a pod by, if it is not on the PCI bus. */
function awayFields({ mac, driver }: AfxdpInterfaceStatus = {}): AfxdpInterfaceStatus {
  return defined({ mac, driver });
}

function recordFields(
  { spec, initial, names = [], replacedCard }: AfxdpRecord,
  present: readonly string[],
): AfxdpInterfaceStatus {
  const recordedNames = names.filter((name) => !present.includes(name));
  return {
    owned: true,
    ...defined({
      recordedNames: recordedNames.length === 0 ? undefined : recordedNames,
      externallyManaged: spec.externallyManaged === true ? true : undefined,
      initialMtu: initial?.mtu,
      initialQueues: initial?.queues,
      initialESwitchMode: initial?.eSwitchMode,
      replacedCard,
    }),
  };
}
