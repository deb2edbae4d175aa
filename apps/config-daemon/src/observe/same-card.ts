// SPDX-License-Identifier: Apache-2.0
/**
 * isSameCard compares the card that a record describes with the card that is in its slot now. A record of another card must not be
 * applied: its MTU, modes and VFs are not those of the present card.
 */

/** What a record says about its card. A field is absent if it was not known. */
export interface RecordedCard {
  /** Vendor and device id: "15b3:1017". */
  readonly card?: string;
  /** MAC address that the card has from its manufacturer. */
  readonly permanentMac?: string;
}

/** What is known about the present card. */
export interface PresentCard {
  readonly vendor: string;
  readonly deviceId: string;
  readonly permanentMac?: string | undefined;
}

/** What is not known is no difference. */
export function isSameCard({ card, permanentMac }: RecordedCard, present: PresentCard): boolean {
  return isEqualIfKnown(card, cardOf(present)) && isEqualIfKnown(permanentMac, present.permanentMac);
}

/** "15b3:1017", as records have it. */
export function cardOf({ vendor, deviceId }: PresentCard): string {
  return `${vendor}:${deviceId}`;
}

/** "15b3:1017, 02:00:00:00:00:01", for people. */
export function describeCard({ card = "unknown card", permanentMac }: RecordedCard): string {
  return permanentMac === undefined ? card : `${card}, ${permanentMac}`;
}

function isEqualIfKnown(recorded: string | undefined, present: string | undefined): boolean {
  return recorded === undefined || present === undefined || recorded === present;
}
