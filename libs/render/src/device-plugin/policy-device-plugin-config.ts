// SPDX-License-Identifier: Apache-2.0
/**
 * policyDevicePluginConfig renders the device plugin's configuration for one node as upstream writes it to its
 * ConfigMap: from the policies that select the node, whether or not the node has matching NICs (sriov-operator.md C).
 * It is for other readers of that ConfigMap. Switchyard's device plugins use the result of
 * node-device-plugin-config.ts.
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

/** An entry of the list of supported NICs: PCI IDs in lower-case hexadecimal. */
export interface NicModel {
  readonly vendor: string;
  readonly pfDevice: string;
  readonly vfDevice: string;
}

/** What the configuration is rendered from. */
export interface PolicyDevicePluginSources {
  /** Policies that select the node, from the lowest to the highest priority. */
  readonly policies: readonly SriovNetworkNodePolicy[];
  /** PFs in the node's status. */
  readonly interfaces: readonly InterfaceStatus[];
  /** List of supported NICs. Among entries with the same pfDevice the first is used. */
  readonly nics: readonly NicModel[];
}

/**
 * Renders the configuration. Policies for the same resource are joined field by field. IsRdma, NeedVhostNet and
 * vdpaType are those of the policy with the lowest priority, excludeTopology is that of the policy with the highest.
 * Unlike upstream, it omits settings with which the plugin would exit.
 */
export function policyDevicePluginConfig(sources: PolicyDevicePluginSources): RenderedDevicePluginConfig {
  const byResource = new Map<string, Joined>();
  const problems: DevicePluginProblem[] = [];
  for (const policy of sources.policies) {
    const { resourceName, nicSelector } = policy.spec;
    if (resourceName === "") continue; // no resource
    const badName = resourceNameProblem(resourceName);
    if (badName !== undefined) {
      problems.push(badName);
      continue;
    }
    if (nicSelector.netFilter && sources.interfaces.length === 0) {
      const message = `policy ${policy.metadata.name} has a netFilter, but the node has not reported its NICs yet`;
      problems.push({ code: "no-interfaces", resourceName, message });
      continue;
    }
    byResource.set(resourceName, join(byResource.get(resourceName), policy, listsOf(policy, sources)));
  }
  for (const [resourceName, { policies, shapes }] of byResource) {
    if (shapes.size > 1) {
      const message = `policies ${policies.join(", ")} select by different fields: only VFs that match all of these fields are found`;
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

/** A resource and the policies that it was joined from. */
interface Joined {
  readonly resource: DevicePluginResource;
  readonly policies: readonly string[];
  /** The sets of list fields that the policies have. With more than one set the plugin may find no VFs. */
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
        ...flagsOf(before?.resource.selectors ?? flagsOfPolicy(policy)),
      },
      SelectorObj: null,
    },
    policies: [...(before?.policies ?? []), policy.metadata.name],
    shapes: new Set([...(before?.shapes ?? []), Object.keys(lists).join()]),
  };
}

/** The fields of a selector that are not lists. */
type Flags = Pick<DeviceSelectors, "IsRdma" | "NeedVhostNet" | "vdpaType">;

function flagsOfPolicy({ spec }: SriovNetworkNodePolicy): Flags {
  const { isRdma = false, needVhostNet = false, vdpaType } = spec;
  return { IsRdma: isRdma, NeedVhostNet: needVhostNet, ...(vdpaType && { vdpaType }) };
}

function flagsOf({ IsRdma, NeedVhostNet, vdpaType }: Flags): Flags {
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

/** Returns the lists of one policy, in the order of the plugin's keys. */
function listsOf({ spec }: SriovNetworkNodePolicy, { interfaces, nics }: PolicyDevicePluginSources): Lists {
  const { vendor, deviceID, netFilter, pfNames = [], rootDevices = [] } = spec.nicSelector;
  // With numVfs 0 the device is the PF itself.
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

/** Removes duplicate entries and empty lists. */
function withoutEmpty(lists: Readonly<Record<keyof Lists, readonly string[]>>): Lists {
  const given = Object.entries(lists).map(([field, entries]) => [field, [...new Set(entries)]] as const);
  return Object.fromEntries(given.filter(([, entries]) => entries.length > 0));
}

/** Replaces an alternative name, which the plugin does not know: "altname0#0-3" becomes "ens1f0#0-3". */
function withRealName(entry: string, interfaces: readonly InterfaceStatus[]): string {
  const name = pfNameOf(entry);
  const nic = interfaces.find((one) => one.name === name) ?? interfaces.find((one) => isNameOf(name, one));
  return (nic?.name ?? name) + entry.slice(name.length);
}

/** The plugin does not know the link type of a VF that is bound to a userspace driver. */
function linkTypesOf({ linkType, deviceType }: SriovNetworkNodePolicy["spec"]): readonly string[] {
  if (!linkType || deviceType === "vfio-pci") return [];
  return [linkType.toLowerCase() === "ib" ? "infiniband" : "ether"];
}
