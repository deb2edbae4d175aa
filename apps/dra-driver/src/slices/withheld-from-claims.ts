// SPDX-License-Identifier: Apache-2.0
/**
 * withheldFromClaims decides which VFs claims must not have now, and why. A VF that a pod has in any other way is withheld, and so
 * is one that the config daemon is about to change. It is a pure function.
 *
 * Nothing is withdrawn because data are missing: while the kubelet does not answer, VFs that are published stay published, and
 * others are not added.
 */
import { draDriverName, type Result, type SriovNetworkNodeState, type VfStatus } from "@switchyard/api";
import type { DeviceHolder } from "@switchyard/kubelet";
import { changingVfs, unreadyVfs, type UnreadyCause } from "@switchyard/plan";
import { decideOffer, hasVf, mayBegin, type NodeAllocation, type ObservedOffer } from "@switchyard/policy";
import type { WithheldFromClaims } from "@switchyard/render";

export interface WithholdingInput {
  readonly state: SriovNetworkNodeState;
  /** Who may offer VFs of the node, read before everything else. */
  readonly allocation: NodeAllocation;
  /** boot_id of the running kernel. */
  readonly bootId: string;
  /** What the kubelet says: the pods that have devices, and the devices that device plugins offer. By id. */
  readonly kubelet: Result<KubeletDevices, string>;
  /** Names of other drivers by the PCI address of a VF that they publish. */
  readonly others: ReadonlyMap<string, readonly string[]>;
  /** Addresses of VFs that this driver publishes now. */
  readonly published: ReadonlySet<string>;
  /** Addresses of VFs that are allocated to claims of this driver, or prepared for them. */
  readonly claimed: ReadonlySet<string>;
}

export interface KubeletDevices {
  readonly holders: ReadonlyMap<string, readonly DeviceHolder[]>;
  readonly offered: ReadonlySet<string>;
}

/** Returns the VFs that are withheld, by PCI address. */
export function withheldFromClaims(input: WithholdingInput): ReadonlyMap<string, WithheldFromClaims> {
  const { state, claimed } = input;
  const unready = unreadyVfs(state);
  const changing = changingVfs(state);
  const withheld = new Map<string, WithheldFromClaims>();
  for (const { pciAddress, Vfs = [] } of state.status?.interfaces ?? []) {
    for (const vf of Vfs) {
      const cause = unready(pciAddress, vf) ?? (hasVf(changing, pciAddress, vf.vfID) ? "changing" : undefined);
      const isInUse = claimed.has(vf.pciAddress);
      const why = ofOthers(vf, input) ?? (isInUse ? undefined : ofState(vf, input, cause));
      if (why !== undefined) withheld.set(vf.pciAddress, why);
    }
  }
  return withheld;
}

/** Why another process can give the VF to a pod, or has done so. */
function ofOthers({ pciAddress }: VfStatus, input: WithholdingInput): WithheldFromClaims | undefined {
  const { allocation, kubelet, others, published, claimed } = input;
  const drivers = others.get(pciAddress);
  if (drivers !== undefined && !claimed.has(pciAddress)) {
    return { reason: "published", message: `VF ${pciAddress} is published by another driver: ${drivers.join(", ")}` };
  }
  const observed: ObservedOffer = {
    isOffered: published.has(pciAddress),
    isOfferedByOther: kubelet.ok ? kubelet.value.offered.has(pciAddress) : undefined,
    holder: holderKind(pciAddress, input),
  };
  switch (decideOffer("dra", allocation, observed)) {
    case "moved":
      return { reason: "offered", message: `the node gives VF ${pciAddress} to pods by the device plugin` };
    case "offered":
      return { reason: "offered", message: `a device plugin offers VF ${pciAddress} to pods` };
    case "held": {
      const holder = kubelet.ok ? holdersOf(kubelet.value, pciAddress)[0] : undefined;
      return { reason: "held", message: holder === undefined ? "" : describeHolder(pciAddress, holder) };
    }
    case "unknown": {
      const error = kubelet.ok ? "" : `: ${kubelet.error}`;
      return { reason: "unknown-holder", message: `it is not known whether a pod has VF ${pciAddress}${error}` };
    }
    case undefined:
      if (mayBegin("dra", allocation)) return undefined;
      return { reason: "moving", message: `VF ${pciAddress} returns to the device plugin when its claim ends` };
  }
}

function holderKind(address: string, { kubelet, claimed }: WithholdingInput): ObservedOffer["holder"] {
  if (claimed.has(address)) return "own";
  if (!kubelet.ok) return "unknown";
  return holdersOf(kubelet.value, address).length > 0 ? "other" : "free";
}

/** Pods that have the VF by a claim of this driver are known by their claims. */
export function holdersOf({ holders }: KubeletDevices, address: string): readonly DeviceHolder[] {
  return (holders.get(address) ?? []).filter(({ resource }) => resource !== draDriverName);
}

export function describeHolder(address: string, { namespace, name, resource }: DeviceHolder): string {
  return `pod ${namespace}/${name} has VF ${address} as ${resource}`;
}

function ofState(
  { pciAddress }: VfStatus,
  { state, bootId }: WithholdingInput,
  cause: UnreadyCause | "changing" | undefined,
): WithheldFromClaims | undefined {
  if (cause !== undefined) return { reason: cause, message: describeUnready(pciAddress, cause) };
  if (state.status?.bootID === bootId) return undefined;
  const message = `the config daemon has not configured VF ${pciAddress} since the node started`;
  return { reason: "not-configured", message };
}

/** Why the VF is not ready for a pod: a sentence. */
export function describeUnready(address: string, cause: UnreadyCause | "changing"): string {
  return messages[cause](address);
}

const messages: Readonly<Record<UnreadyCause | "changing", (vf: string) => string>> = {
  draining: (vf) => `VF ${vf} is withheld until the config daemon has changed it (drain)`,
  "no-bridge": (vf) => `VF ${vf} is withheld until the bridge of its PF exists`,
  "bridge-down": (vf) =>
    `VF ${vf} is withheld until ovs-vswitchd runs, without which the bridge of its PF forwards no packets`,
  "no-interface": (vf) => `VF ${vf} has no network interface`,
  unclean: (vf) => `VF ${vf} is withheld until the settings that a past pod has left are reset`,
  changing: (vf) => `VF ${vf} is about to be created again or bound to another driver`,
};
