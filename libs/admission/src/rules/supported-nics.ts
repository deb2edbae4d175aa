// SPDX-License-Identifier: Apache-2.0
/**
 * Cards that are not known to work (sriov-operator.md E.2, 4). Upstream refuses them; here that is a warning, unless the
 * cluster asks for upstream's strictness.
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { refuse, warn, type Finding } from "../finding.ts";
import { quote } from "../phrase.ts";
import type { PolicyContext } from "../policy-context.ts";

export function checkSupportedNics({ spec }: SriovNetworkNodePolicy, { view }: PolicyContext): readonly Finding[] {
  const { known, unlisted } = view.nics;
  const { vendor, deviceID } = spec.nicSelector;
  if (unlisted === "any") return [];
  const remark = unlisted === "refuse" ? refuse : warn;
  const advice = "add it to the ConfigMap supported-nic-ids if it works";
  const ofVendor = vendor ? known.filter((nic) => nic.vendor === vendor) : known;
  if (vendor && ofVendor.length === 0) {
    return [remark("spec.nicSelector.vendor", `no card of vendor ${quote(vendor)} is known to work: ${advice}`)];
  }
  if (!deviceID || ofVendor.some((nic) => nic.pf === deviceID)) return [];
  const isVf = ofVendor.find((nic) => nic.vf === deviceID);
  const card = vendor ? `${vendor}:${deviceID}` : deviceID;
  const why = isVf
    ? `${quote(card)} is a VF: the device id of its PF is meant here, such as "${isVf.pf}"`
    : `the card ${quote(card)} is not known to work: ${advice}`;
  return [remark("spec.nicSelector.deviceID", why)];
}
