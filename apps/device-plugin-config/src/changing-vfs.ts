// SPDX-License-Identifier: Apache-2.0
/**
 * Which VFs are about to be made anew or to change their driver, as the plan of the node's daemon says. Pure.
 * Usage: `const remade = remadeVfs(state); if (isRemade(remade, pf, vfId)) …`.
 */
import type { SriovNetworkNodeState } from "@switchyard/api";
import { ownedInStatus, plan, type Step } from "@switchyard/plan";

/** By the PCI address of the PF: some of its VFs, or all. */
export type RemadeVfs = ReadonlyMap<string, ReadonlySet<number> | "all">;

/**
 * Steps that leave a VF what it is for the plugin do not count, though they may interrupt its link: to have the plugin
 * start anew takes all VFs of the node from the kubelet for seconds.
 */
export function remadeVfs({ spec = {}, status = {} }: SriovNetworkNodeState): RemadeVfs {
  const remade = new Map<string, Set<number> | "all">();
  for (const step of plan(spec, status, ownedInStatus(status)).steps) {
    const vfs = vfsRemadeBy(step);
    if (vfs === undefined) continue;
    const before = remade.get(vfs.pciAddress);
    const isAll = vfs.vfId === "all" || before === "all";
    remade.set(vfs.pciAddress, isAll ? "all" : new Set([...(before ?? []), vfs.vfId]));
  }
  return remade;
}

export function isRemade(remade: RemadeVfs, pciAddress: string, vfId: number): boolean {
  const vfs = remade.get(pciAddress);
  return vfs === "all" || vfs?.has(vfId) === true;
}

function vfsRemadeBy(step: Step): { readonly pciAddress: string; readonly vfId: number | "all" } | undefined {
  switch (step.kind) {
    case "set-num-vfs":
      return { pciAddress: step.pciAddress, vfId: "all" };
    case "bind-driver":
      return step;
    case "set-vf-mac":
      return step.rebind === true ? step : undefined;
    case "load-module":
    case "set-pf-mtu":
    case "set-link-up":
    case "set-vf-mtu":
    case "release-pf":
      return undefined;
  }
}
