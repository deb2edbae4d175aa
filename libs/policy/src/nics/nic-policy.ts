// SPDX-License-Identifier: Apache-2.0
/**
 * Which network cards policies may take. A card that nobody listed, such as a management port that happens to have the
 * right vendor, is taken only by a policy that names it.
 * Usage: `mayTake(policy.spec.nicSelector, nic, { known: supportedNics, unlisted: "warn" })`.
 */
import type { InterfaceStatus, NicSelector, SriovOperatorConfig } from "@switchyard/api";
import { matchesNic } from "./nic-selector.ts";
import { supportedNics, type SupportedNic } from "./supported-nics.ts";

/** The list of supported cards, and what holds for all others. */
export interface NicPolicy {
  readonly known: readonly SupportedNic[];
  /**
   * "warn": a policy takes an unlisted card only by naming it, and the webhook warns. "refuse": no policy takes it, as with
   * upstream. "any": it is taken like a listed one, as with upstream's DEV_MODE.
   */
  readonly unlisted: "refuse" | "warn" | "any";
}

/** SriovOperatorConfig.spec.supportedNics. */
export function unlistedNics(config: SriovOperatorConfig | undefined): NicPolicy["unlisted"] {
  return config?.spec?.supportedNics === "strict" ? "refuse" : "warn";
}

/** The built-in list, with the strictness that the operator config asks for. */
export function defaultNicPolicy(config: SriovOperatorConfig | undefined): NicPolicy {
  return { known: supportedNics, unlisted: unlistedNics(config) };
}

/**
 * Whether a policy with this selector may take the PF, which it matches. A PF that Switchyard has configured stays
 * available, whatever becomes of the list: a list that is being replaced must not take VFs from pods.
 */
export function mayTake(selector: NicSelector, nic: InterfaceStatus, { known, unlisted }: NicPolicy): boolean {
  if (unlisted === "any" || nic.owned === true) return true;
  const isListed = isListedNic(nic, known);
  if (unlisted === "refuse") return isListed;
  return namesCards(selector) || (isListed && hasSriov(nic));
}

/** What to do about the PFs that the selector matches and the policy may not take; undefined where there are none. */
export function adviceOnBarred(
  selector: NicSelector,
  nics: readonly InterfaceStatus[],
  nicPolicy: NicPolicy,
): string | undefined {
  const barred = nics.filter((nic) => matchesNic(selector, nic) && !mayTake(selector, nic, nicPolicy));
  if (barred.length === 0) return undefined;
  const addresses = [...new Set(barred.map(({ pciAddress }) => pciAddress))];
  const which = addresses.length > 8 ? `${addresses.slice(0, 8).join(", ")} and others` : addresses.join(", ");
  return nicPolicy.unlisted === "refuse"
    ? `not in the list of supported NICs: ${which}; to use them, add their ids to the ConfigMap supported-nic-ids`
    : `not in the list of supported NICs, or without SR-IOV: ${which}; to use them, name them by pfNames, rootDevices or deviceID`;
}

/** Whether the card is on the list. On a virtual platform, where cards have a netFilter, the node's card is itself a VF. */
export function isListedNic({ vendor, deviceID, netFilter }: InterfaceStatus, known: NicPolicy["known"]): boolean {
  const models = modelsOf(known);
  return models.pfs.has(`${vendor}:${deviceID}`) || (Boolean(netFilter) && models.vfs.has(`${vendor}:${deviceID}`));
}

/** A vendor makes many cards; each of the other fields names certain ones. */
function namesCards({ deviceID, netFilter, rootDevices = [], pfNames = [] }: NicSelector): boolean {
  return Boolean(deviceID) || Boolean(netFilter) || rootDevices.length > 0 || pfNames.length > 0;
}

function hasSriov({ totalvfs = 0 }: InterfaceStatus): boolean {
  return totalvfs > 0;
}

interface Models {
  readonly pfs: ReadonlySet<string>;
  readonly vfs: ReadonlySet<string>;
}

/** A list is read once, not once for each policy and card. */
const models = new WeakMap<NicPolicy["known"], Models>();

function modelsOf(known: NicPolicy["known"]): Models {
  const read = models.get(known) ?? {
    pfs: new Set(known.map(({ vendor, pf }) => `${vendor}:${pf}`)),
    vfs: new Set(known.map(({ vendor, vf }) => `${vendor}:${vf}`)),
  };
  models.set(known, read);
  return read;
}
