// SPDX-License-Identifier: Apache-2.0
/**
 * The device plugin's configuration of one node as upstream writes it into its ConfigMap: from the policies that select
 * the node, whether their NICs are there or not (sriov-operator.md C). For those who read the ConfigMap; our own device
 * plugins get node-device-plugin-config.ts.
 * Usage: `policyDevicePluginConfig({ policies: policiesSelecting(node, rules), interfaces, nics })`.
 */
import type { InterfaceStatus, SriovNetworkNodePolicy } from "@switchyard/api";
import { isNameOf, pfNameOf, sameNetFilter } from "@switchyard/policy";
import {
  rdmaWithVdpa,
  resourceNameProblem,
  type DevicePluginProblem,
  type DevicePluginResource,
  type DeviceSelectors,
  type RenderedDevicePluginConfig,
} from "./device-plugin-config.ts";

/** A line of the list of supported NICs: PCI ids in lower-case hexadecimal. */
export interface NicModel {
  readonly vendor: string;
  readonly pfDevice: string;
  readonly vfDevice: string;
}

export interface PolicyDevicePluginSources {
  /** Those that select the node, from the weakest to the strongest. */
  readonly policies: readonly SriovNetworkNodePolicy[];
  /** Of the node's status. */
  readonly interfaces: readonly InterfaceStatus[];
  /** Of several with the same PF the first counts. */
  readonly nics: readonly NicModel[];
}

/**
 * Policies for one resource are joined field by field. IsRdma, NeedVhostNet and vdpaType are the weakest policy's,
 * excludeTopology is the strongest's. Unlike upstream's, it has nothing over which the plugin ends.
 */
export function policyDevicePluginConfig(sources: PolicyDevicePluginSources): RenderedDevicePluginConfig {
  const byResource = new Map<string, Joined>();
  const problems: DevicePluginProblem[] = [];
  for (const policy of sources.policies) {
    const { resourceName, nicSelector } = policy.spec;
    if (resourceName === "") continue; // nothing to hand out
    const badName = resourceNameProblem(resourceName);
    if (badName !== undefined) {
      problems.push(badName);
      continue;
    }
    if (nicSelector.netFilter && sources.interfaces.length === 0) {
      const message = `policy ${policy.metadata.name} selects by netFilter, and no NIC of the node is known yet`;
      problems.push({ code: "no-interfaces", resourceName, message });
      continue;
    }
    byResource.set(resourceName, join(byResource.get(resourceName), policy, listsOf(policy, sources)));
  }
  for (const [resourceName, { policies, shapes }] of byResource) {
    if (shapes.size > 1) {
      const message = `policies ${policies.join(", ")} select by different fields: only VFs that fit all of these are found`;
      problems.push({ code: "mixed-selectors", resourceName, message });
    }
  }
  const resources = [...byResource.values()].map(({ resource }) => {
    const { resourceName, selectors } = resource;
    if (!selectors.IsRdma || selectors.vdpaType === undefined) return resource;
    problems.push(rdmaWithVdpa(resourceName));
    return { ...resource, selectors: { ...selectors, IsRdma: false } };
  });
  return { config: { resourceList: resources.length === 0 ? null : resources }, problems };
}

/** The fields of a selector that are lists. */
type Lists = Omit<DeviceSelectors, "IsRdma" | "NeedVhostNet" | "vdpaType">;

/** A resource, and the policies that it is made of. */
interface Joined {
  readonly resource: DevicePluginResource;
  readonly policies: readonly string[];
  /** Which lists policies have: more than one such set is a danger. */
  readonly shapes: ReadonlySet<string>;
}

function join(before: Joined | undefined, policy: SriovNetworkNodePolicy, lists: Lists): Joined {
  const { resourceName, excludeTopology } = policy.spec;
  return {
    resource: {
      resourceName,
      ...(excludeTopology && { excludeTopology }),
      selectors: {
        ...joinLists(before?.resource.selectors ?? {}, lists),
        ...waysOf(before?.resource.selectors ?? waysOfPolicy(policy)),
      },
      SelectorObj: null,
    },
    policies: [...(before?.policies ?? []), policy.metadata.name],
    shapes: new Set([...(before?.shapes ?? []), Object.keys(lists).join()]),
  };
}

/** The fields of a selector that are no lists. */
type Ways = Pick<DeviceSelectors, "IsRdma" | "NeedVhostNet" | "vdpaType">;

function waysOfPolicy({ spec }: SriovNetworkNodePolicy): Ways {
  const { isRdma = false, needVhostNet = false, vdpaType } = spec;
  return { IsRdma: isRdma, NeedVhostNet: needVhostNet, ...(vdpaType && { vdpaType }) };
}

function waysOf({ IsRdma, NeedVhostNet, vdpaType }: Ways): Ways {
  return { IsRdma, NeedVhostNet, ...(vdpaType && { vdpaType }) };
}

function joinLists(a: Lists, b: Lists): Lists {
  return withoutEmpty({
    vendors: [...(a.vendors ?? []), ...(b.vendors ?? [])],
    devices: [...(a.devices ?? []), ...(b.devices ?? [])],
    pciAddresses: [...(a.pciAddresses ?? []), ...(b.pciAddresses ?? [])],
    pfNames: [...(a.pfNames ?? []), ...(b.pfNames ?? [])],
    rootDevices: [...(a.rootDevices ?? []), ...(b.rootDevices ?? [])],
    linkTypes: [...(a.linkTypes ?? []), ...(b.linkTypes ?? [])],
  });
}

/** What one policy says, in the order of the plugin's keys. */
function listsOf({ spec }: SriovNetworkNodePolicy, { interfaces, nics }: PolicyDevicePluginSources): Lists {
  const { vendor, deviceID, netFilter, pfNames = [], rootDevices = [] } = spec.nicSelector;
  // Without VFs the device is the PF itself.
  const device = spec.numVfs === 0 ? deviceID : nics.find(({ pfDevice }) => pfDevice === deviceID)?.vfDevice;
  const filtered = interfaces.filter((nic) => netFilter && sameNetFilter(netFilter, nic.netFilter ?? ""));
  return withoutEmpty({
    vendors: vendor ? [vendor] : [],
    devices: device ? [device] : [],
    pciAddresses: filtered.map(({ pciAddress }) => pciAddress),
    pfNames: pfNames.map((entry) => withRealName(entry, interfaces)),
    rootDevices,
    linkTypes: linkTypesOf(spec),
  });
}

/** Each entry once, and no empty lists. */
function withoutEmpty(lists: Readonly<Record<keyof Lists, readonly string[]>>): Lists {
  const given = Object.entries(lists).map(([field, entries]) => [field, [...new Set(entries)]] as const);
  return Object.fromEntries(given.filter(([, entries]) => entries.length > 0));
}

/** An alternative name does not help the plugin: "altname0#0-3" becomes "ens1f0#0-3". */
function withRealName(entry: string, interfaces: readonly InterfaceStatus[]): string {
  const name = pfNameOf(entry);
  const nic = interfaces.find((one) => one.name === name) ?? interfaces.find((one) => isNameOf(name, one));
  return (nic?.name ?? name) + entry.slice(name.length);
}

/** The plugin cannot tell the link type of a VF that a driver for user space has. */
function linkTypesOf({ linkType, deviceType }: SriovNetworkNodePolicy["spec"]): readonly string[] {
  if (!linkType || deviceType === "vfio-pci") return [];
  return [linkType.toLowerCase() === "ib" ? "infiniband" : "ether"];
}
