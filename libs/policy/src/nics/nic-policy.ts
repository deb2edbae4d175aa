// SPDX-License-Identifier: Apache-2.0
/**
 * NicPolicy decides which network cards policies may configure. A card that is not in the list of supported cards, for
 * example a management port of the right vendor, is only configured by a policy that names it.
 * Usage: `mayConfigure(policy.spec.nicSelector, nic, { known: supportedNics, unlisted: "warn" })`.
 */
import type { InterfaceStatus, NicSelector, SriovOperatorConfig } from "@switchyard/api";
import { matchesNic } from "./nic-selector.ts";
import { supportedNics, type SupportedNic } from "./supported-nics.ts";

/** The list of supported cards, and how unlisted cards are treated. */
export interface NicPolicy {
  readonly known: readonly SupportedNic[];
  /**
   * "warn": a policy can only configure an unlisted card if it names the card, and the webhook warns about it.
   * "refuse": no policy can configure an unlisted card, as in upstream. "any": an unlisted card is treated like a
   * listed one, as with upstream's DEV_MODE.
   */
  readonly unlisted: "refuse" | "warn" | "any";
}

/** Returns how unlisted cards are treated according to SriovOperatorConfig.spec.supportedNics. */
export function unlistedNics(config: SriovOperatorConfig | undefined): NicPolicy["unlisted"] {
  return config?.spec?.supportedNics === "strict" ? "refuse" : "warn";
}

/** Returns the built-in list with the strictness of the operator config. */
export function defaultNicPolicy(config: SriovOperatorConfig | undefined): NicPolicy {
  return { known: supportedNics, unlisted: unlistedNics(config) };
}

/**
 * Reports whether a policy with this selector, which matches the PF, may configure the PF. A PF that Switchyard has
 * configured already may always be configured: pods must not lose their VFs when the list changes.
 */
export function mayConfigure(selector: NicSelector, nic: InterfaceStatus, { known, unlisted }: NicPolicy): boolean {
  if (unlisted === "any" || nic.owned === true) return true;
  const isListed = isListedNic(nic, known);
  if (unlisted === "refuse") return isListed;
  return namesCards(selector) || (isListed && hasSriov(nic));
}

/**
 * Returns advice about the PFs that the selector matches but the policy may not configure; undefined if there are none.
 * At most eight addresses are listed.
 */
export function adviceOnExcludedNics(
  selector: NicSelector,
  nics: readonly InterfaceStatus[],
  nicPolicy: NicPolicy,
): string | undefined {
  const barred = nics.filter((nic) => matchesNic(selector, nic) && !mayConfigure(selector, nic, nicPolicy));
  if (barred.length === 0) return undefined;
  const addresses = [...new Set(barred.map(({ pciAddress }) => pciAddress))];
  const which = addresses.length > 8 ? `${addresses.slice(0, 8).join(", ")} and others` : addresses.join(", ");
  return nicPolicy.unlisted === "refuse"
    ? `not in the list of supported NICs: ${which}; to use them, add their IDs to the ConfigMap supported-nic-ids`
    : `not in the list of supported NICs, or without SR-IOV: ${which}; to use them, select them by pfNames, rootDevices or deviceID`;
}

/**
 * Reports whether the card is in the list. On a virtual platform, where cards have a netFilter, the node's card is a
 * VF, so its IDs are compared with the VF IDs of the list, too.
 */
export function isListedNic({ vendor, deviceID, netFilter }: InterfaceStatus, known: NicPolicy["known"]): boolean {
  const models = modelsOf(known);
  return models.pfs.has(`${vendor}:${deviceID}`) || (Boolean(netFilter) && models.vfs.has(`${vendor}:${deviceID}`));
}

/** Reports whether the selector has a field that selects certain cards. A vendor alone selects many different cards. */
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

/** Sets of each list, built once instead of for each policy and card. An entry is dropped together with its list. */
const models = new WeakMap<NicPolicy["known"], Models>();

function modelsOf(known: NicPolicy["known"]): Models {
  const cached = models.get(known) ?? {
    pfs: new Set(known.map(({ vendor, pf }) => `${vendor}:${pf}`)),
    vfs: new Set(known.map(({ vendor, vf }) => `${vendor}:${vf}`)),
  };
  models.set(known, cached);
  return cached;
}
