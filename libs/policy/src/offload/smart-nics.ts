// SPDX-License-Identifier: Apache-2.0
/**
 * The SmartNICs of a node: NVIDIA BlueField cards, whose own processors can run OVN (smartnic.md 3.2). Each port of a card
 * is a PF of the node.
 * Usage: `const pf = managementPf(state.status?.interfaces ?? []);`
 */
import type { InterfaceStatus } from "@switchyard/api";
import { compareText } from "../order.ts";

/** PCI device ID of a PF -> model. */
export const smartNicModels: Readonly<Record<string, SmartNicModel>> = { a2d6: "bluefield-2", a2dc: "bluefield-3" };

/** The SmartNICs that OVN can run on, by the PCI device ID of their PFs. Their vendor is 15b3 (NVIDIA). */
export type SmartNicModel = "bluefield-2" | "bluefield-3";

/** PCI vendor ID of all SmartNICs. */
export const smartNicVendor = "15b3";

/** A SmartNIC of a node. */
export interface SmartNic {
  /** PCI address without the function: "0000:3b:00". */
  readonly slot: string;
  readonly model: SmartNicModel;
  /** The PFs of the card, ordered by PCI address; at least one. */
  readonly pfs: readonly InterfaceStatus[];
}

/** Returns the model of the card that the PF belongs to; undefined if it is not a SmartNIC. */
export function smartNicModelOf({
  vendor,
  deviceID,
}: Pick<InterfaceStatus, "vendor" | "deviceID">): SmartNicModel | undefined {
  if (vendor?.toLowerCase() !== smartNicVendor || deviceID === undefined) return undefined;
  const id = deviceID.toLowerCase();
  return Object.hasOwn(smartNicModels, id) ? smartNicModels[id] : undefined;
}

/** Returns the SmartNICs among the PFs of a node, ordered by slot. */
export function smartNicsOf(interfaces: readonly InterfaceStatus[]): readonly SmartNic[] {
  const cards = new Map<string, { readonly model: SmartNicModel; readonly pfs: InterfaceStatus[] }>();
  for (const pf of interfaces) {
    const model = smartNicModelOf(pf);
    if (model === undefined) continue;
    const slot = pf.pciAddress.replace(/\.[^.]*$/, "");
    const card = cards.get(slot);
    if (card === undefined) cards.set(slot, { model, pfs: [pf] });
    else card.pfs.push(pf);
  }
  return [...cards]
    .sort(([a], [b]) => compareAddress(a, b))
    .map(([slot, { model, pfs }]) => ({
      slot,
      model,
      pfs: pfs.toSorted((a, b) => compareAddress(a.pciAddress, b.pciAddress)),
    }));
}

/**
 * Returns the PF whose VF 0 is the management port of OVN-Kubernetes: the one with the lowest PCI address of the node's
 * SmartNIC. Undefined if the node has no SmartNIC.
 */
export function managementPf(interfaces: readonly InterfaceStatus[]): InterfaceStatus | undefined {
  return smartNicsOf(interfaces)[0]?.pfs[0];
}

/** Compares PCI addresses. The domain has at least four digits; a longer one is a higher one. */
function compareAddress(a: string, b: string): number {
  return a.length - b.length || compareText(a, b);
}
