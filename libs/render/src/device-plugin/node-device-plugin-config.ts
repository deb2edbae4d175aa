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
  for (const { group, nic } of groupsOf(state)) {
    const { resourceName } = group;
    if (resourceName) byResource.set(resourceName, [...(byResource.get(resourceName) ?? []), vfsOf(group, nic)]);
  }
  const rendered = [...byResource].map(([resourceName, groups]) => renderResource(resourceName, groups));
  return {
    config: { resourceList: rendered.flatMap(({ resource }) => (resource === undefined ? [] : [resource])) },
    problems: rendered.flatMap(({ problems }) => problems),
  };
}

/** A group and the addresses of its existing VFs; undefined if its range is invalid. */
interface GroupVfs {
  readonly group: VfGroup;
  readonly addresses: readonly string[] | undefined;
}

function groupsOf({ spec, status }: SriovNetworkNodeState): { group: VfGroup; nic: InterfaceStatus | undefined }[] {
  const nics = new Map((status?.interfaces ?? []).map((nic) => [nic.pciAddress, nic]));
  return (spec?.interfaces ?? []).flatMap(({ pciAddress, vfGroups = [] }: InterfaceSpec) =>
    vfGroups.map((group) => ({ group, nic: nics.get(pciAddress) })),
  );
}

function vfsOf(group: VfGroup, nic: InterfaceStatus | undefined): GroupVfs {
  const range = parseVfRange(group.vfRange ?? "");
  if (!range.ok) return { group, addresses: undefined };
  const vfs = (nic?.Vfs ?? []).filter(({ vfID, pciAddress }) => includesVf(range.value, vfID) && pciAddress !== "");
  return { group, addresses: vfs.toSorted((a, b) => a.vfID - b.vfID).map(({ pciAddress }) => pciAddress) };
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
  const [first, ...others] = used.map(({ group }) => settingsOf(group));
  // A resource without addresses would have an empty selector, which selects all devices.
  if (first === undefined) return { resource: undefined, problems };
  const { excludeTopology, isRdma, needVhostNet, vdpaType } = first;
  if (others.some((other) => !isSame(first, other))) {
    const policies = [...new Set(used.map(({ group }) => group.policyName ?? "?"))].join(", ");
    const message =
      "isRdma, needVhostNet, vdpaType or excludeTopology differ between its VFs " +
      `(policies ${policies}), so the settings of the first VFs apply to all`;
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
  readonly excludeTopology: boolean;
  readonly isRdma: boolean;
  readonly needVhostNet: boolean;
  readonly vdpaType: VfGroup["vdpaType"];
}

function settingsOf({ excludeTopology = false, isRdma = false, needVhostNet = false, vdpaType }: VfGroup): Settings {
  return { excludeTopology, isRdma, needVhostNet, vdpaType: vdpaType || undefined };
}

function isSame(a: Settings, b: Settings): boolean {
  return (
    a.excludeTopology === b.excludeTopology &&
    a.isRdma === b.isRdma &&
    a.needVhostNet === b.needVhostNet &&
    a.vdpaType === b.vdpaType
  );
}
