// SPDX-License-Identifier: Apache-2.0
/**
 * What two policies want of the same PF (sriov-operator.md E.3). Every pair of ranges on every PF that both match is
 * compared, by whatever name they call it, a PF without a range being all of its VFs; upstream stops at the first pair
 * that does not intersect, and lets a whole PF pass beside a part of it (M-6). Ranges that do not meet are fine, also
 * below the same rootDevices entry (M-42).
 *
 * Two policies that name the PF both mean this very one: that is refused. Where one of them takes it only as one of a
 * sort (vendor, deviceID), the priorities decide, as they are for, and a warning says whose VFs are lost.
 */
import type { InterfaceStatus, NicSelector, SriovNetworkNodePolicy } from "@switchyard/api";
import { formatVfRange, hasLabels, isNameOf, overlaps, pfNameOf, priorityOf } from "@switchyard/policy";
import { describeFinding, refuse, warn, type Finding } from "../finding.ts";
import { namesOf, selects, type NodeSort } from "../node-sorts.ts";
import { listNames } from "../phrase.ts";
import type { PolicyContext } from "../policy-context.ts";
import { matchedPfs, type MatchedPf } from "../reach.ts";

export function checkPolicyConflicts(policy: SriovNetworkNodePolicy, context: PolicyContext): readonly Finding[] {
  const found = new Map<string, { readonly finding: Finding; readonly sorts: NodeSort[] }>();
  for (const other of context.others) {
    const isShared = selects(other.spec.nodeSelector);
    for (const { sorts, layout, pfs } of context.reach.landings) {
      const theirs = new Map(matchedPfs(other, layout, context.view.nics).map((pf) => [pf.nic.pciAddress, pf]));
      const findings = pfs.flatMap((pf) => {
        const their = theirs.get(pf.nic.pciAddress);
        return their === undefined ? [] : conflictsOn({ policy, pf }, { policy: other, pf: their });
      });
      const shared = findings.length === 0 ? [] : sorts.filter(isShared);
      if (shared.length === 0) continue;
      for (const finding of findings) {
        const key = describeFinding(finding);
        const entry = found.get(key) ?? { finding, sorts: [] };
        entry.sorts.push(...shared);
        found.set(key, entry);
      }
    }
  }
  return [...found.values()].map(({ finding, sorts }) => ({
    ...finding,
    message: `${finding.message}, on ${listNames(namesOf(sorts))}`,
  }));
}

/** Policies of one resource must tell the kubelet the same about its NUMA nodes, wherever a node has both. */
export function checkExcludeTopology(
  policy: SriovNetworkNodePolicy,
  { view, others }: PolicyContext,
): readonly Finding[] {
  const { resourceName, excludeTopology = false, nodeSelector } = policy.spec;
  return others
    .filter(({ spec }) => spec.resourceName === resourceName && (spec.excludeTopology ?? false) !== excludeTopology)
    .filter(({ spec }) =>
      view.nodes.some(({ labels }) => hasLabels(labels, nodeSelector) && hasLabels(labels, spec.nodeSelector)),
    )
    .map(({ metadata }) => {
      const message = `must be ${!excludeTopology}, as in policy ${metadata.name}, which has the same resourceName`;
      return refuse("spec.excludeTopology", message);
    });
}

interface Claim {
  readonly policy: SriovNetworkNodePolicy;
  readonly pf: MatchedPf;
}

function conflictsOn(ours: Claim, theirs: Claim): readonly Finding[] {
  const { nic } = ours.pf;
  const [mine, other] = [ours.policy.spec, theirs.policy.spec];
  const name = theirs.policy.metadata.name;
  const findings: Finding[] = [];
  if ((mine.externallyManaged ?? false) !== (other.externallyManaged ?? false)) {
    const message = `must be ${!(mine.externallyManaged ?? false)}, as in policy ${name} for ${nic.pciAddress}`;
    findings.push(refuse("spec.externallyManaged", message));
  }
  if (ours.pf.vfs === undefined || theirs.pf.vfs === undefined) return findings;

  if (overlaps(ours.pf.vfs, theirs.pf.vfs)) {
    const [field, theirField] = [namedAt(mine.nicSelector, nic), namedAt(other.nicSelector, nic)];
    const wanted = `VFs ${formatVfRange(ours.pf.vfs)} of ${describe(nic)}`;
    const taken = `policy ${name} has VFs ${formatVfRange(theirs.pf.vfs)} of it`;
    if (field !== undefined && theirField !== undefined) {
      findings.push(refuse(field, `asks for ${wanted}: ${taken}`));
    } else {
      const winner = outranks(ours.policy, theirs.policy) ? "this policy" : `policy ${name}`;
      findings.push(warn(field ?? "spec.nicSelector", `asks for ${wanted}, ${taken}: ${winner} gets them`));
    }
    return findings;
  }

  if (mine.resourceName === other.resourceName) {
    const message = `policy ${name} has the same for other VFs of ${describe(nic)}: one of the two gets none there`;
    findings.push(warn("spec.resourceName", message));
  }
  if ((mine.eSwitchMode || "legacy") !== (other.eSwitchMode || "legacy")) {
    findings.push(warn("spec.eSwitchMode", differs(ours, theirs, other.eSwitchMode || "legacy")));
  }
  if ((mine.linkType ?? "").toLowerCase() !== (other.linkType ?? "").toLowerCase()) {
    findings.push(warn("spec.linkType", differs(ours, theirs, other.linkType || "none")));
  }
  if (JSON.stringify(mine.bridge ?? {}) !== JSON.stringify(other.bridge ?? {})) {
    findings.push(warn("spec.bridge", differs(ours, theirs, "another bridge or none")));
  }
  return findings;
}

function differs(ours: Claim, theirs: Claim, value: string): string {
  const name = theirs.policy.metadata.name;
  const winner = outranks(ours.policy, theirs.policy) ? "this policy's" : `that of ${name}`;
  return `policy ${name} has ${value} for ${describe(ours.pf.nic)}: ${winner} holds for the whole PF`;
}

/** Where the selector names this very PF; undefined where it takes it as one of a sort. */
function namedAt({ pfNames = [], rootDevices = [] }: NicSelector, nic: InterfaceStatus): string | undefined {
  const name = pfNames.findIndex((entry) => isNameOf(pfNameOf(entry), nic));
  if (name >= 0) return `spec.nicSelector.pfNames[${name}]`;
  const address = rootDevices.indexOf(nic.pciAddress);
  return address >= 0 ? `spec.nicSelector.rootDevices[${address}]` : undefined;
}

/** The lower number, and among equals the last name (sriov-operator.md B.3). */
function outranks(a: SriovNetworkNodePolicy, b: SriovNetworkNodePolicy): boolean {
  const difference = priorityOf(a) - priorityOf(b);
  return difference === 0 ? a.metadata.name > b.metadata.name : difference < 0;
}

function describe({ name, pciAddress }: InterfaceStatus): string {
  return name ? `${name} (${pciAddress})` : pciAddress;
}
