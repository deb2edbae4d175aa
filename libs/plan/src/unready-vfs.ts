// SPDX-License-Identifier: Apache-2.0
/**
 * Why VFs must not be given to pods now, as far as the state of the node says it. Device plugin and DRA driver have the same reasons.
 * All functions are pure.
 * Usage: `const causeOf = unreadyVfs(state); causeOf("0000:3b:00.0", vf)` is undefined for a VF that is ready.
 */
import type { Bridges, SriovNetworkNodeState, VfStatus } from "@switchyard/api";
import { addVfs, drainedVfs, hasVf, type VfSet } from "@switchyard/policy";
import { ownedInStatus } from "./pf/owned-pf.ts";
import { plan } from "./plan.ts";
import { changedVfs } from "./steps/step.ts";

/**
 * "draining": the pods that have the VF must leave, because the daemon will change or interrupt it, and no other pod may get it.
 * "no-bridge": the bridge that the policy asks for does not exist. "bridge-down": it exists, and forwards no packets. "no-interface": the
 * driver of the VF has not created its network interface. "unclean": a past pod has left the VF with its settings, which the daemon will
 * reset.
 */
export type UnreadyCause = "draining" | "no-bridge" | "bridge-down" | "no-interface" | "unclean";

/** Returns a function of the address of a PF and one of its VFs. */
export function unreadyVfs(
  state: SriovNetworkNodeState,
): (pciAddress: string, vf: VfStatus) => UnreadyCause | undefined {
  const drained = drainedVfs(state);
  const withoutBridge = pfsWithoutBridge(state);
  const withoutSwitch = pfsWithoutSwitch(state);
  return (pciAddress, vf) => {
    if (drained !== undefined && hasVf(drained, pciAddress, vf.vfID)) return "draining";
    if (withoutBridge.has(pciAddress)) return "no-bridge";
    if (withoutSwitch.has(pciAddress)) return "bridge-down";
    if (vf.missingInterface) return "no-interface";
    return vf.unclean ? "unclean" : undefined; // the next pod would have the settings of the past one
  };
}

/**
 * changingVfs returns the VFs that the plan of the config daemon creates again or binds to another driver.
 * A step that does not change the device itself, such as a new MTU, does not count, even if it interrupts the link. A
 * restart of the plugin removes all VFs of the node from the kubelet for seconds.
 */
export function changingVfs({ spec = {}, status = {} }: SriovNetworkNodeState): VfSet {
  const changing = new Map<string, ReadonlySet<number> | "all">();
  for (const step of plan(spec, status, ownedInStatus(status)).steps) {
    const vfs = changedVfs(step);
    if (vfs !== undefined) addVfs(changing, vfs.pciAddress, vfs.vfId === "all" ? "all" : [vfs.vfId]);
  }
  return changing;
}

/**
 * Returns the PFs whose bridge does not exist: a pod that needs it would fail to start. While Open vSwitch does not answer, the status
 * keeps the bridges that were known.
 */
function pfsWithoutBridge({ spec, status }: SriovNetworkNodeState): ReadonlySet<string> {
  const present = new Set(uplinksOf(status?.bridges));
  return new Set(uplinksOf(spec?.bridges).filter((pciAddress) => !present.has(pciAddress)));
}

/** Returns the PFs whose bridge forwards no packets, because ovs-vswitchd does not run. */
function pfsWithoutSwitch({ spec, status }: SriovNetworkNodeState): ReadonlySet<string> {
  if (!status?.openVSwitch?.switchError) return new Set();
  return new Set(uplinksOf({ ovs: spec?.bridges?.ovs ?? [] }));
}

function uplinksOf({ ovs = [], linux = [] }: Bridges = {}): readonly string[] {
  return [...ovs, ...linux].flatMap(({ uplinks = [] }) => uplinks.map(({ pciAddress }) => pciAddress));
}
