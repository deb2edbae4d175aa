// SPDX-License-Identifier: Apache-2.0
/**
 * nodeDevicePluginConfig renders the device plugin's configuration for one node from the state of that node only. A
 * resource has exactly the existing VFs of its groups, selected by PCI address.
 * Usage: `formatDevicePluginConfig(nodeDevicePluginConfig(state).config)`.
 */
import {
  defined,
  type InterfaceSpec,
  type InterfaceStatus,
  type SriovNetworkNodeState,
  type VfGroup,
} from "@switchyard/api";
import { includesVf, parseVfRange } from "@switchyard/policy";
import {
  rdmaWithVdpa,
  resourceNameProblem,
  type DevicePluginProblem,
  type DevicePluginResource,
  type RenderedDevicePluginConfig,
} from "./device-plugin-config.ts";

/** Renders the configuration. Resources are in the order of spec.interfaces and their vfGroups, VFs by PF and index. */
export function nodeDevicePluginConfig(state: SriovNetworkNodeState): RenderedDevicePluginConfig {
  const byResource = new Map<string, GroupVfs[]>();
  for (const pfGroup of groupsOf(state)) {
    const { resourceName } = pfGroup.group;
    if (resourceName) byResource.set(resourceName, [...(byResource.get(resourceName) ?? []), vfsOf(pfGroup)]);
  }
  const rendered = [...byResource].map(([resourceName, groups]) => renderResource(resourceName, groups));
  return {
    config: { resourceList: rendered.flatMap(({ resource }) => (resource === undefined ? [] : [resource])) },
    problems: rendered.flatMap(({ problems }) => problems),
  };
}

/**
 * The group of the policy with the highest priority. The node state lists PFs by their first policy, from the lowest to the
 * highest priority, and the groups of a PF from the highest to the lowest (libs/policy).
 */
function strongestOf(groups: readonly GroupVfs[]): GroupVfs | undefined {
  const last = groups.at(-1);
  return last && groups.find(({ pciAddress }) => pciAddress === last.pciAddress);
}

/** A group and the addresses of its existing VFs; undefined if its range is invalid. */
interface GroupVfs {
  /** The PF. */
  readonly pciAddress: string;
  readonly group: VfGroup;
  readonly addresses: readonly string[] | undefined;
}

interface PfGroup {
  readonly pciAddress: string;
  readonly group: VfGroup;
  readonly nic: InterfaceStatus | undefined;
}

function groupsOf({ spec, status }: SriovNetworkNodeState): readonly PfGroup[] {
  const nics = new Map((status?.interfaces ?? []).map((nic) => [nic.pciAddress, nic]));
  return (spec?.interfaces ?? []).flatMap(({ pciAddress, vfGroups = [] }: InterfaceSpec) =>
    vfGroups.map((group) => ({ pciAddress, group, nic: nics.get(pciAddress) })),
  );
}

function vfsOf({ pciAddress: pf, group, nic }: PfGroup): GroupVfs {
  const range = parseVfRange(group.vfRange ?? "");
  if (!range.ok) return { pciAddress: pf, group, addresses: undefined };
  const vfs = (nic?.Vfs ?? []).filter(({ vfID, pciAddress }) => includesVf(range.value, vfID) && pciAddress !== "");
  return {
    pciAddress: pf,
    group,
    addresses: vfs.toSorted((a, b) => a.vfID - b.vfID).map(({ pciAddress }) => pciAddress),
  };
}

interface RenderedResource {
  readonly resource: DevicePluginResource | undefined;
  readonly problems: readonly DevicePluginProblem[];
}

function renderResource(resourceName: string, groups: readonly GroupVfs[]): RenderedResource {
  const problem = (code: DevicePluginProblem["code"], message: string) => ({ code, resourceName, message });
  const lost = groups.filter(({ addresses }) => addresses === undefined);
  const problems = lost.map(({ group }) =>
    problem(
      "bad-vf-range",
      `VF range "${group.vfRange ?? ""}" of policy ${group.policyName ?? "?"} is invalid, so its VFs are not available`,
    ),
  );
  const badName = resourceNameProblem(resourceName);
  if (badName !== undefined) return { resource: undefined, problems: [...problems, badName] };
  const used = groups.filter(({ addresses = [] }) => addresses.length > 0);
  const strongest = strongestOf(used);
  // A resource without addresses would have an empty selector, which selects all devices.
  if (strongest === undefined) return { resource: undefined, problems };
  const { excludeTopology, isRdma, needVhostNet, vdpaType } = settingsOf(strongest.group);
  if (used.some(({ group }) => !isSame(settingsOf(strongest.group), settingsOf(group)))) {
    const policies = [...new Set(used.map(({ group }) => group.policyName ?? "?"))].join(", ");
    const message =
      `deviceType, isRdma, needVhostNet, vdpaType or excludeTopology differ between its VFs (policies ${policies}): ` +
      `the settings of policy ${strongest.group.policyName ?? "?"} apply to all, and each VF keeps its driver`;
    problems.push(problem("mixed-settings", message));
  }
  if (isRdma && vdpaType !== undefined) problems.push(rdmaWithVdpa(resourceName));
  return {
    resource: {
      resourceName,
      ...(excludeTopology && { excludeTopology }),
      selectors: {
        pciAddresses: [...new Set(used.flatMap(({ addresses = [] }) => addresses))],
        IsRdma: isRdma && vdpaType === undefined,
        NeedVhostNet: needVhostNet,
        ...defined({ vdpaType }),
      },
    },
    problems,
  };
}

/** Settings with which the VFs of a group are passed to pods. */
interface Settings {
  readonly deviceType: string;
  readonly excludeTopology: boolean;
  readonly isRdma: boolean;
  readonly needVhostNet: boolean;
  readonly vdpaType: VfGroup["vdpaType"];
}

function settingsOf(group: VfGroup): Settings {
  const { excludeTopology = false, isRdma = false, needVhostNet = false, vdpaType } = group;
  return {
    deviceType: group.deviceType || "netdevice",
    excludeTopology,
    isRdma,
    needVhostNet,
    vdpaType: vdpaType || undefined,
  };
}

function isSame(a: Settings, b: Settings): boolean {
  return (
    a.deviceType === b.deviceType &&
    a.excludeTopology === b.excludeTopology &&
    a.isRdma === b.isRdma &&
    a.needVhostNet === b.needVhostNet &&
    a.vdpaType === b.vdpaType
  );
}
