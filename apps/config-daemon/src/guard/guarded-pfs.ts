// SPDX-License-Identifier: Apache-2.0
/**
 * findGuarded finds the PFs of a plan that carry traffic of the host, their state before the steps, and the probes that show whether the
 * host still has its network afterwards.
 */
import { defined, type Bridges, type InterfaceStatus, type SriovNetworkNodeStateSpec } from "@switchyard/api";
import type { Host, PfRecord } from "@switchyard/host";
import { describeStep, isPfStep, pfSpecDigest, type PfStep, type Step } from "@switchyard/plan";
import { bridgeNameOf } from "@switchyard/policy";
import { apiServerRouteText, hostUseOf, readNetworks, readRoutes, type NeededRoute } from "../observe/host-use.ts";
import type { Observation } from "../observe/observe.ts";
import { vfBefore } from "../steps/vfs-before.ts";
import type { GuardedPf } from "./guard-record.ts";
import type { Probe } from "./probes.ts";

/** The address of the API server, as the daemon reaches it. */
export interface ApiServerEndpoint {
  readonly addresses: readonly string[];
  /** Undefined if it is not known, or if a proxy is between. */
  readonly port: number | undefined;
}

export interface Guarded {
  /** Empty if the steps change no PF that carries traffic of the host. */
  readonly pfs: readonly GuardedPf[];
  /** Empty if nothing shows whether the host has its network, such as for a storage network without a gateway. */
  readonly probes: readonly Probe[];
}

/** Rejects with HostError. */
export async function findGuarded(
  host: Host,
  steps: readonly Step[],
  {
    found,
    desired,
    apiServer,
  }: {
    readonly found: Pick<Observation, "interfaces" | "bridges" | "records">;
    readonly desired: SriovNetworkNodeStateSpec;
    readonly apiServer: ApiServerEndpoint;
  },
): Promise<Guarded> {
  const byPf = Map.groupBy(steps.filter(isRisky), ({ pciAddress }) => pciAddress);
  if (byPf.size === 0) return { pfs: [], probes: [] };
  const [links, routes, networks, gateways] = await Promise.all([
    host.links.listLinks(),
    readRoutes(host, apiServer.addresses),
    readNetworks(host),
    host.connectivity.listGateways(),
  ]);
  const ownBridges = new Set([...(found.bridges.ovs ?? []), ...(found.bridges.linux ?? [])].map(({ name }) => name));
  const ways: readonly NeededRoute[] = gateways.map(({ link }, nth) => ({ text: `gateway ${nth}`, links: [link] }));
  const carried = new Set<string>();
  const pfs = found.interfaces.flatMap((pf): readonly GuardedPf[] => {
    const ofPf = byPf.get(pf.pciAddress);
    if (ofPf === undefined) return [];
    const record = [...found.records].find(([address]) => address === pf.pciAddress)?.[1];
    const context = { links, networks, ownBridges, bridgeName: bridgeNameOf(pf.pciAddress) };
    const use = useOf(pf, { ...context, routes });
    if (use.length === 0) return [];
    for (const text of useOf(pf, { ...context, routes: ways })) carried.add(text);
    for (const text of use) carried.add(text);
    return [
      toGuarded(pf, { use, bridges: found.bridges, ofPf, record, specDigest: pfSpecDigest(desired, pf.pciAddress) }),
    ];
  });
  const { port } = apiServer;
  const toApiServer = apiServer.addresses.flatMap((address): readonly Probe[] =>
    port !== undefined && carried.has(apiServerRouteText(address)) ? [{ kind: "api-server", address, port }] : [],
  );
  const toGateways = gateways.flatMap(({ address, link }, nth): readonly Probe[] => {
    const name = links.find(({ index }) => index === link)?.name;
    return name !== undefined && carried.has(`gateway ${nth}`) ? [{ kind: "gateway", address, link: name }] : [];
  });
  return { pfs, probes: [...toApiServer, ...toGateways] };
}

/** Its record is all that the release of a PF changes. */
function isRisky(step: Step): step is PfStep {
  return isPfStep(step) && step.kind !== "release-pf";
}

/** Uses of a PF itself and of its VFs, which need the PF, too. Other programs that have the name of its bridge carry nothing. */
function useOf(pf: InterfaceStatus, context: Parameters<typeof hostUseOf>[1]): readonly string[] {
  const texts = new Set([...context.routes, ...(context.networks ?? [])].map(({ text }) => text));
  const names = [pf.name, ...(pf.Vfs ?? []).map(({ name }) => name)].filter((name) => Boolean(name));
  const uses = names.flatMap((name) => hostUseOf({ pciAddress: pf.pciAddress, ...defined({ name }) }, context));
  return [...new Set(uses.filter((text) => texts.has(text)))];
}

function toGuarded(
  pf: InterfaceStatus,
  {
    use,
    bridges,
    ofPf,
    record,
    specDigest,
  }: {
    readonly use: readonly string[];
    readonly bridges: Bridges;
    readonly ofPf: readonly PfStep[];
    readonly record: PfRecord | undefined;
    readonly specDigest: string;
  },
): GuardedPf {
  const { pciAddress, eSwitchMode, mtu, numVfs = 0, Vfs: vfs = [] } = pf;
  // A daemon that was killed during a change has left other VFs than those before the change.
  const { count = numVfs, vfs: recorded } = record?.vfsBefore ?? {};
  const isOfPf = ({ uplinks = [] }: { readonly uplinks?: readonly { readonly pciAddress: string }[] }): boolean =>
    uplinks.some((uplink) => uplink.pciAddress === pciAddress);
  return {
    pciAddress,
    ...defined({ eSwitchMode, mtu }),
    isUp: pf.linkAdminState === "up",
    numVfs: count,
    vfs: recorded ?? vfs.map(({ vfID, driver, adminMac }) => vfBefore(vfID, { driver, mac: adminMac })),
    bridges: { ovs: (bridges.ovs ?? []).filter(isOfPf), linux: (bridges.linux ?? []).filter(isOfPf) },
    use,
    changes: ofPf.map(describeStep),
    specDigest,
  };
}
