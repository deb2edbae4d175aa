// SPDX-License-Identifier: Apache-2.0
/**
 * What the device plugin shall hand out now, and what is still missing. Pure.
 *
 * The rule, with the gate blockDevicePluginUntilConfigured on: a VF is handed out if the status has it, this kernel has it
 * with the driver that the status names, and no step of the plan makes it anew or binds it to another driver. So what is
 * going away is withdrawn as soon as the spec changes, and each VF is judged alone: a PF that fails keeps back its own VFs
 * and no others. VFs that outlived a reboot, as those of an externally managed PF may, look like that, too, and have lost
 * their addresses and MTUs: before the daemon is through with this boot, none is handed out. With the gate off, all VFs that
 * the status has are handed out, once it is of this boot.
 *
 * Usage: `const { rendered, pending } = handOut(state, { kernel, block: true, isThisBoot: true })`.
 */
import type { SriovNetworkNodeState, VfGroup, VfStatus } from "@switchyard/api";
import { parseVfRange } from "@switchyard/policy";
import { nodeDevicePluginConfig, type RenderedDevicePluginConfig } from "@switchyard/render";
import type { KernelVfs } from "./kernel-vfs.ts";
import { isRemade, remadeVfs } from "./changing-vfs.ts";

export interface HandOut {
  readonly rendered: RenderedDevicePluginConfig;
  /** VFs that resources ask for and that are not handed out, one entry for each group and cause. */
  readonly pending: readonly PendingVfs[];
}

/** VFs of one group that wait for the same. */
export interface PendingVfs {
  readonly resourceName: string;
  /** Of the PF. */
  readonly pciAddress: string;
  readonly count: number;
  /**
   * Not there; about to be made anew; there otherwise than the status tells, which will follow; or as in another boot,
   * and the daemon has still to see to it in this one.
   */
  readonly why: "missing" | "remade" | "stale" | "unseen";
}

export interface HandOutOptions {
  /** All VFs of `namedVfs`. */
  readonly kernel: KernelVfs;
  /** The gate. */
  readonly block: boolean;
  /** Whether the daemon is through with the boot that runs; yes for a plugin that was let start after that. */
  readonly isThisBoot: boolean;
}

/** Addresses of all VFs that groups name and the status has. */
export function namedVfs(state: SriovNetworkNodeState): readonly string[] {
  const resources = nodeDevicePluginConfig(state).config.resourceList ?? [];
  return [...new Set(resources.flatMap(({ selectors }) => selectors.pciAddresses ?? []))];
}

export function handOut(state: SriovNetworkNodeState, { kernel, block, isThisBoot }: HandOutOptions): HandOut {
  const remade = remadeVfs(state);
  const keepBack = (pciAddress: string, vf: VfStatus): "remade" | "stale" | "unseen" | undefined => {
    if (!isThisBoot) return "unseen";
    if (!block) return undefined;
    if (isRemade(remade, pciAddress, vf.vfID)) return "remade";
    const found = kernel.get(vf.pciAddress);
    return found === undefined || (found.driver ?? "") !== (vf.driver ?? "") ? "stale" : undefined;
  };

  const interfaces = (state.status?.interfaces ?? []).map((nic) => ({
    ...nic,
    Vfs: (nic.Vfs ?? []).filter((vf) => keepBack(nic.pciAddress, vf) === undefined),
  }));
  const found = new Map((state.status?.interfaces ?? []).map((nic) => [nic.pciAddress, nic.Vfs ?? []]));
  const pending = (state.spec?.interfaces ?? []).flatMap(({ pciAddress, vfGroups = [] }) =>
    vfGroups.flatMap((group) => {
      const { resourceName, count, vfs } = wanted(group, found.get(pciAddress) ?? []);
      if (resourceName === "") return [];
      const why = { missing: count - vfs.length, remade: 0, stale: 0, unseen: 0 };
      for (const vf of vfs) {
        const cause = keepBack(pciAddress, vf);
        if (cause !== undefined) why[cause] += 1;
      }
      const causes = ["missing", "remade", "stale", "unseen"] as const;
      return causes.flatMap((cause) =>
        why[cause] > 0 ? [{ resourceName, pciAddress, count: why[cause], why: cause }] : [],
      );
    }),
  );
  return { rendered: nodeDevicePluginConfig({ ...state, status: { ...state.status, interfaces } }), pending };
}

/** How many VFs a group asks for, and those of them that there are. A range that is none asks for none: that is rendering's to tell. */
function wanted(group: VfGroup, found: readonly VfStatus[]) {
  const { resourceName = "", vfRange = "" } = group;
  const range = parseVfRange(vfRange);
  if (!range.ok) return { resourceName, count: 0, vfs: [] };
  const { first, last } = range.value;
  return { resourceName, count: last - first + 1, vfs: found.filter(({ vfID }) => first <= vfID && vfID <= last) };
}
