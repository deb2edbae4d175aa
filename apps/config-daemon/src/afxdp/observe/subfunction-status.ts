// SPDX-License-Identifier: Apache-2.0
/** readSubfunctions reads the subfunctions of one card, with those that are recorded as Switchyard's own. */
import {
  defined,
  type AfxdpInterfaceStatus,
  type AfxdpNetworkNodeStateSpec,
  type AfxdpRepresentorStatus,
  type AfxdpSubfunctionStatus,
} from "@switchyard/api";
import type { AfxdpRecord, Host, Link, SysfsPf, Subfunction, XdpFeatures } from "@switchyard/host";
import { hostUseOf, interfacesAbove, type NeededRoute } from "../../observe/host-use.ts";
import { readInterface } from "./read-interface.ts";

export interface SubfunctionSources {
  readonly host: Host;
  readonly spec: AfxdpNetworkNodeStateSpec;
  readonly links: readonly Link[];
  /** Those of all cards. */
  readonly subfunctions: readonly Subfunction[];
  readonly features: readonly XdpFeatures[];
  readonly record: AfxdpRecord | undefined;
  /** Bridges of Open vSwitch by the names of their ports. */
  readonly ovsPorts: ReadonlyMap<string, string>;
  /** Routes that the node needs. */
  readonly routes: readonly NeededRoute[];
  /** The card as reported before. */
  readonly before: AfxdpInterfaceStatus | undefined;
}

/** Returns the subfunctions by ascending number. Rejects with HostError. */
export async function readSubfunctions(
  { pciAddress }: SysfsPf,
  sources: SubfunctionSources,
): Promise<readonly AfxdpSubfunctionStatus[]> {
  const { host, spec, links, features, record, before } = sources;
  const wanted = spec.interfaces?.find((each) => each.pciAddress === pciAddress && each.mode === "subfunction");
  const own = new Set(record?.subfunctions);
  const known = new Map(before?.subfunctions?.map((one) => [one.sfNumber, one]));
  const ofCard = sources.subfunctions.filter(({ pf }) => pf === pciAddress);
  const all = ofCard.map(async (one): Promise<AfxdpSubfunctionStatus> => {
    const { sfNumber, portIndex, device, driver, netdev, state, operationalState } = one;
    const link = links.find(({ name }) => name === netdev);
    const owned = own.has(sfNumber);
    const kept = known.get(sfNumber);
    const { mtu, queues, xdp } =
      link === undefined ? defined(inPod(one, kept)) : await readInterface(host, link, features);
    const usedBy = link === undefined ? [] : useOf(link.name, sources);
    // All subfunctions of an externally managed card are offered.
    const isOffered = owned || wanted?.externallyManaged === true;
    return {
      sfNumber,
      portIndex,
      state,
      operationalState,
      ...(owned && { owned }),
      ...defined({
        device: device && `auxiliary/${device}`, // its devlink handle
        driver,
        name: link?.name,
        mac: link?.mac ?? (driver === undefined ? undefined : kept?.mac) ?? one.mac,
        // A driver that reports no address of the function takes none.
        assignedMac: owned && one.mac !== undefined ? record?.macs?.[sfNumber] : undefined,
        mtu,
        queues,
        xdp,
        representor: representorOf(one, sources),
      }),
      ...(usedBy.length > 0 && { usedBy }),
      ...(isOffered && defined({ poolName: wanted?.poolName })),
    };
  });
  return (await Promise.all(all)).toSorted((a, b) => a.sfNumber - b.sfNumber);
}

/** A service of the host, such as NetworkManager, can have configured the subfunction. */
function useOf(name: string, { links, routes }: Pick<SubfunctionSources, "links" | "routes">): readonly string[] {
  const uses = hostUseOf({ pciAddress: "", name }, { links, routes, ownBridges: new Set(), bridgeName: "" });
  return [...uses, ...interfacesAbove({ pciAddress: "", name }, links)];
}

/** The kernel has one master for the ports of all bridges of Open vSwitch, and none with a datapath in user space. */
function representorOf(
  { representor }: Subfunction,
  { links, ovsPorts }: Pick<SubfunctionSources, "links" | "ovsPorts">,
): AfxdpRepresentorStatus | undefined {
  const link = links.find(({ name }) => name === representor);
  if (link === undefined) return undefined;
  const master = ovsPorts.get(link.name) ?? links.find(({ index }) => index === link.masterIndex)?.name;
  return { name: link.name, linkAdminState: link.adminUp ? "up" : "down", mtu: link.mtu, ...defined({ master }) };
}

/** A subfunction in a pod keeps the settings that it had on the host, as far as the pod did not change them. */
function inPod({ driver }: Subfunction, kept: AfxdpSubfunctionStatus | undefined) {
  return driver === undefined ? {} : { mtu: kept?.mtu, queues: kept?.queues, xdp: undefined };
}
