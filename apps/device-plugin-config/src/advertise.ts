// SPDX-License-Identifier: Apache-2.0
/**
 * advertise decides which VFs the device plugin advertises now, and which are still pending. It is a pure function.
 *
 * With the feature gate blockDevicePluginUntilConfigured, a VF is advertised if the status contains it and this kernel
 * has it with the driver in the status. No step of the plan may create it again or bind it to another driver. A VF that
 * will change is therefore withdrawn as soon as the spec changes. Each VF is decided alone: a PF that fails keeps back
 * only its own VFs. VFs that exist after a reboot, such as those of an externally managed PF, meet these conditions
 * although they have lost their addresses and MTUs. Therefore no VF is advertised before the daemon has configured the
 * node in this boot. Without the feature gate, all VFs of the status are advertised once the status belongs to this
 * boot.
 */
import type { SriovNetworkNodeState, VfGroup, VfStatus } from "@switchyard/api";
import { changingVfs, unreadyVfs } from "@switchyard/plan";
import { countVfsIn, hasVf, includesVf, parseVfRange } from "@switchyard/policy";
import { nodeDevicePluginConfig, type RenderedDevicePluginConfig } from "@switchyard/render";
import type { KernelVfs } from "./plugin-config.ts";
import type { Withheld, WithheldVfs } from "./withheld-vfs.ts";

export interface Advertised {
  readonly rendered: RenderedDevicePluginConfig;
  /** VFs of resources that are not advertised: one entry for each group and cause. */
  readonly pending: readonly PendingVfs[];
}

/** VFs of one group that are not advertised for the same cause. */
export interface PendingVfs {
  readonly resourceName: string;
  /** Address of the PF. */
  readonly pciAddress: string;
  readonly count: number;
  readonly cause: PendingCause;
  /** Why the VFs are withheld; only for "published", "held", "unknown-holder" and "moved". */
  readonly withheld?: readonly Withheld[];
}

/**
 * "missing": the VF does not exist. "draining": the pods that have the VF must leave, because the daemon will change or interrupt it,
 * and no other pod may get it. "changing": the daemon is about to create it again or bind it to another driver.
 * "stale": the status differs from the kernel and will be updated. "not-configured": the daemon has not configured the node
 * in this boot. "no-bridge": the bridge that the policy asks for does not exist. "bridge-down": it exists, and forwards no packets.
 * "no-interface": the driver of the VF has not created its network interface. "unclean": a past pod has left the VF with its settings, which the daemon will reset. "published": a driver
 * publishes the VF in a ResourceSlice. "held": a pod has the VF as a device of another resource. "unknown-holder": the kubelet does not
 * say whether a pod has it. "moved": the node gives its VFs to ResourceClaims.
 */
export type PendingCause = (typeof causes)[number];

const causes = [
  "missing",
  "draining",
  "no-interface",
  "no-bridge",
  "moved",
  "bridge-down",
  "published",
  "unclean",
  "held",
  "unknown-holder",
  "changing",
  "stale",
  "not-configured",
] as const;

export interface AdvertiseOptions {
  /** All VFs of vfsInResources(). */
  readonly kernel: KernelVfs;
  /** Whether the feature gate is enabled. */
  readonly block: boolean;
  /** Whether the daemon has configured the node in this boot. Always true for a plugin that was started after that. */
  readonly isThisBoot: boolean;
  /** VFs that must not be offered yet; none by default. */
  readonly withheld?: WithheldVfs;
}

/** Returns the addresses of all VFs of the status that belong to a resource. */
export function vfsInResources(state: SriovNetworkNodeState): readonly string[] {
  const resources = nodeDevicePluginConfig(state).config.resourceList ?? [];
  return [...new Set(resources.flatMap(({ selectors }) => selectors.pciAddresses ?? []))];
}

export function advertise(
  state: SriovNetworkNodeState,
  { kernel, block, isThisBoot, withheld = new Map() }: AdvertiseOptions,
): Advertised {
  const changing = changingVfs(state);
  const unreadyCauseOf = unreadyVfs(state);
  const causeOf = (pciAddress: string, vf: VfStatus): Exclude<PendingCause, "missing"> | undefined => {
    if (!isThisBoot) return "not-configured";
    const unready = unreadyCauseOf(pciAddress, vf);
    if (unready !== undefined) return unready; // without the feature gate, too
    const reason = withheld.get(vf.pciAddress);
    if (reason !== undefined) return causeOfWithheld(reason);
    if (!block) return undefined;
    if (hasVf(changing, pciAddress, vf.vfID)) return "changing";
    const found = kernel.get(vf.pciAddress);
    return found === undefined || (found.driver ?? "") !== (vf.driver ?? "") ? "stale" : undefined;
  };

  const interfaces = (state.status?.interfaces ?? []).map((nic) => ({
    ...nic,
    Vfs: (nic.Vfs ?? []).filter((vf) => causeOf(nic.pciAddress, vf) === undefined),
  }));
  const found = new Map((state.status?.interfaces ?? []).map((nic) => [nic.pciAddress, nic.Vfs ?? []]));
  const pending = (state.spec?.interfaces ?? []).flatMap(({ pciAddress, vfGroups = [] }) =>
    vfGroups.flatMap((group) => {
      const { resourceName, count, vfs } = vfsOfGroup(group, found.get(pciAddress) ?? []);
      if (resourceName === "") return [];
      const missing = { resourceName, pciAddress, count: count - vfs.length, cause: "missing" } as const;
      const byCause = Map.groupBy(vfs, (vf) => causeOf(pciAddress, vf));
      const others = causes.flatMap((cause) => {
        const ofCause = cause === "missing" ? [] : (byCause.get(cause) ?? []);
        const reasons = ofCause.flatMap((vf) => withheld.get(vf.pciAddress) ?? []);
        const isWithheld = reasons.length > 0;
        const entry = { resourceName, pciAddress, count: ofCause.length, cause };
        return ofCause.length === 0 ? [] : [{ ...entry, ...(isWithheld && { withheld: reasons }) }];
      });
      return [...(missing.count > 0 ? [missing] : []), ...others];
    }),
  );
  return { rendered: nodeDevicePluginConfig({ ...state, status: { ...state.status, interfaces } }), pending };
}

function causeOfWithheld(why: Withheld): "published" | "held" | "unknown-holder" | "moved" {
  if ("moved" in why) return "moved";
  if ("drivers" in why) return "published";
  return "error" in why ? "unknown-holder" : "held";
}

/** Returns how many VFs the group requests, and those that exist. An invalid range requests none; rendering reports it. */
function vfsOfGroup(group: VfGroup, found: readonly VfStatus[]) {
  const { resourceName = "", vfRange = "" } = group;
  const range = parseVfRange(vfRange);
  if (!range.ok) return { resourceName, count: 0, vfs: [] };
  const vfs = found.filter(({ vfID }) => includesVf(range.value, vfID));
  return { resourceName, count: countVfsIn(range.value), vfs };
}
