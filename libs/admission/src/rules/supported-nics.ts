// SPDX-License-Identifier: Apache-2.0
/**
 * checkSupportedNics finds NICs that are not in the list of supported NICs (sriov-operator.md E.2, E.3), in the selector and
 * on the nodes. Upstream refuses them. Here they are a warning unless supportedNics of SriovOperatorConfig is "strict".
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { isListedNic, type NicPolicy } from "@switchyard/policy";
import { decidedByMost, listNames, quote, refuse, warn, type ReviewFinding } from "../finding.ts";
import { namesOf, type NodeGroup } from "../node-groups.ts";
import type { PolicyContext } from "../policy-context.ts";
import { matchedNodeCount, type PolicyTargets } from "../policy-targets.ts";

const advice = "if it works, add it to the ConfigMap supported-nic-ids";

export function checkSupportedNics(
  { spec }: SriovNetworkNodePolicy,
  { view, targets }: PolicyContext,
): readonly ReviewFinding[] {
  const { known, unlisted } = view.nics;
  if (unlisted === "any") return [];
  const report = unlisted === "refuse" ? refuse : warn;
  const { vendor, deviceID } = spec.nicSelector;
  const ofVendor = vendor ? known.filter((nic) => nic.vendor === vendor) : known;
  if (vendor && ofVendor.length === 0) {
    return [
      report(
        "spec.nicSelector.vendor",
        `no NIC of vendor ${quote(vendor)} is in the list of supported NICs; ${advice}`,
      ),
    ];
  }
  if (!deviceID || ofVendor.some((nic) => nic.pf === deviceID)) return unlistedNics(targets, known, report);
  const card = vendor ? `${vendor}:${deviceID}` : deviceID;
  const pfIds = [...new Set(ofVendor.filter((nic) => nic.vf === deviceID).map(({ pf }) => pf))];
  const onNodes = pfIds.filter((id) => hasPf(targets, id));
  const why =
    pfIds.length > 0
      ? `${quote(card)} is the ID of a VF; use the device ID of its PF, ${describeIds(pfIds, onNodes)}`
      : `NIC ${quote(card)} is not in the list of supported NICs; ${advice}`;
  return [report("spec.nicSelector.deviceID", why)];
}

/** The PFs that the selected nodes have are a better answer than those of the list. */
function describeIds(pfIds: readonly string[], onNodes: readonly string[]): string {
  const [first = ""] = pfIds;
  return onNodes.length > 0 ? `on these nodes ${onNodes.map((id) => quote(id)).join(" or ")}` : `such as "${first}"`;
}

function hasPf({ unmatched, matches }: PolicyTargets, deviceID: string): boolean {
  const layouts = [...unmatched.map(({ state }) => state.layout), ...matches.map(({ layout }) => layout)];
  return layouts.some((layout) => layout.some((nic) => nic.deviceID === deviceID));
}

/** One finding for each kind of unlisted NIC that the policy matches. */
function unlistedNics(
  targets: PolicyTargets,
  known: NicPolicy["known"],
  report: typeof refuse,
): readonly ReviewFinding[] {
  const groupsByNic = new Map<string, Set<NodeGroup>>();
  for (const { groups, pfs } of targets.matches) {
    for (const { nic } of pfs) {
      if (isListedNic(nic, known)) continue;
      const { vendor, deviceID } = nic;
      if (vendor === undefined || deviceID === undefined) continue;
      const card = `${vendor}:${deviceID}`;
      groupsByNic.set(card, new Set([...(groupsByNic.get(card) ?? []), ...groups]));
    }
  }
  const findings = [...groupsByNic].map(([card, groups]) => {
    const where = listNames(namesOf([...groups]));
    const message = `matches NIC ${card}, which is not in the list of supported NICs, on ${where}; ${advice}`;
    return report("spec.nicSelector", message);
  });
  const reporting = namesOf([...new Set([...groupsByNic.values()].flatMap((groups) => [...groups]))]);
  return decidedByMost(findings, reporting, matchedNodeCount(targets));
}
