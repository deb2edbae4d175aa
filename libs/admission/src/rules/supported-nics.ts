// SPDX-License-Identifier: Apache-2.0
/**
 * Cards that are not known to work (sriov-operator.md E.2, 4; E.3), as the selector names them and as the nodes have them.
 * Upstream refuses them; here that is a warning, unless the cluster asks for upstream's strictness.
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { isListedNic, type NicPolicy } from "@switchyard/policy";
import { refuse, warn, type Finding } from "../finding.ts";
import { namesOf, type NodeSort } from "../node-sorts.ts";
import { listNames, quote } from "../phrase.ts";
import type { PolicyContext } from "../policy-context.ts";
import type { Reach } from "../reach.ts";

const advice = "if it works, add it to the ConfigMap supported-nic-ids";

export function checkSupportedNics({ spec }: SriovNetworkNodePolicy, { view, reach }: PolicyContext) {
  const { known, unlisted } = view.nics;
  if (unlisted === "any") return [];
  const remark = unlisted === "refuse" ? refuse : warn;
  const { vendor, deviceID } = spec.nicSelector;
  const ofVendor = vendor ? known.filter((nic) => nic.vendor === vendor) : known;
  if (vendor && ofVendor.length === 0) {
    return [
      remark(
        "spec.nicSelector.vendor",
        `no NIC of vendor ${quote(vendor)} is in the list of supported NICs; ${advice}`,
      ),
    ];
  }
  if (!deviceID || ofVendor.some((nic) => nic.pf === deviceID)) return unlistedCards(reach, known, remark);
  const isVf = ofVendor.find((nic) => nic.vf === deviceID);
  const card = vendor ? `${vendor}:${deviceID}` : deviceID;
  const why = isVf
    ? `${quote(card)} is the ID of a VF; use the device ID of its PF, such as "${isVf.pf}"`
    : `NIC ${quote(card)} is not in the list of supported NICs; ${advice}`;
  return [remark("spec.nicSelector.deviceID", why)];
}

/** One finding for each sort of card that the policy lands on and nobody listed. */
function unlistedCards(reach: Reach, known: NicPolicy["known"], remark: typeof refuse): readonly Finding[] {
  const sortsOfCard = new Map<string, Set<NodeSort>>();
  for (const { sorts, pfs } of reach.landings) {
    for (const { nic } of pfs) {
      if (isListedNic(nic, known)) continue;
      const { vendor, deviceID } = nic;
      if (vendor === undefined || deviceID === undefined) continue;
      const card = `${vendor}:${deviceID}`;
      sortsOfCard.set(card, new Set([...(sortsOfCard.get(card) ?? []), ...sorts]));
    }
  }
  return [...sortsOfCard].map(([card, sorts]) => {
    const where = listNames(namesOf([...sorts]));
    const message = `matches NIC ${card}, which is not in the list of supported NICs, on ${where}; ${advice}`;
    return remark("spec.nicSelector", message);
  });
}
