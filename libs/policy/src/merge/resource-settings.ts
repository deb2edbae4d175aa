// SPDX-License-Identifier: Apache-2.0
/**
 * Settings that a resource has once for all of its VFs, while each policy sets them for its own. The device plugin passes all
 * VFs of a resource to pods in the same way. Two policies of one resource on a node must therefore agree.
 */
import type { SriovNetworkNodePolicy, SriovNetworkNodePolicySpec } from "@switchyard/api";

/** The settings, as fields of a policy. */
const resourceSettings = ["deviceType", "isRdma", "needVhostNet", "vdpaType", "excludeTopology"] as const;

/** Name of such a field. */
export type ResourceSetting = (typeof resourceSettings)[number];

/** A setting that differs between two policies of one resource. */
export interface SettingDifference {
  readonly setting: ResourceSetting;
  /** The values as texts, with their defaults: "netdevice", "false", "none". */
  readonly own: string;
  readonly other: string;
}

/** Returns the settings in which the policies differ; empty if they are for different resources. */
export function settingDifferences(
  { spec: own }: SriovNetworkNodePolicy,
  { spec: other }: SriovNetworkNodePolicy,
): readonly SettingDifference[] {
  if (own.resourceName !== other.resourceName) return [];
  return resourceSettings
    .map((setting) => ({ setting, own: valueOf(own, setting), other: valueOf(other, setting) }))
    .filter((difference) => difference.own !== difference.other);
}

/**
 * Returns what is wrong and what happens. `other` is the name of the other policy, `winner` that of the policy with the
 * higher priority. VFs keep their drivers, so of deviceType no value wins.
 */
export function describeDifference(
  { setting, own, other }: SettingDifference,
  { resourceName, policy, winner }: { readonly resourceName: string; readonly policy: string; readonly winner: string },
): string {
  const both = `is ${own}, but ${other} in policy ${policy}, which has the same resourceName ${resourceName}`;
  return setting === "deviceType"
    ? `${both}: pods get VFs with either driver; use another resourceName`
    : `${both}: the value of policy ${winner} applies to all VFs of the resource; use another resourceName`;
}

function valueOf(spec: SriovNetworkNodePolicySpec, setting: ResourceSetting): string {
  switch (setting) {
    case "deviceType":
      return spec.deviceType || "netdevice";
    case "vdpaType":
      return spec.vdpaType || "none";
    case "isRdma":
    case "needVhostNet":
    case "excludeTopology":
      return String(spec[setting] ?? false);
  }
}
