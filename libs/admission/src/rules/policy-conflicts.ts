// SPDX-License-Identifier: Apache-2.0
/**
 * What two policies want of the same PF (sriov-operator.md E.3). Every pair of ranges on every PF that both match is
 * compared, by whatever name they call it, a PF without a range being all of its VFs; upstream stops at the first pair
 * that does not intersect, and lets a whole PF pass beside a part of it (M-6). Ranges that do not meet are fine, also
 * below the same rootDevices entry (M-42).
 *
 * Two policies that both name the PF by pfNames, or both by rootDevices, mean this very PF: that is refused. Where one
 * names it by pfNames and the other by rootDevices, it is refused only if their priorities are equal. Where one of them
 * matches it only by vendor, deviceID or netFilter, priorities decide in any case, as they are for. Each time that
 * priorities decide, a warning says which policy wins, and that the other one gets no VFs of this PF: the merge leaves
 * out a group as a whole that shares a VF with a stronger one.
 */
import type { InterfaceStatus, NicSelector, SriovNetworkNodePolicy } from "@switchyard/api";
import { formatVfRange, hasLabels, isNameOf, overlaps, pfNameOf, priorityOf, type VfRange } from "@switchyard/policy";
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
    message: `${finding.message} on ${listNames(namesOf(sorts))}`,
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
    const message = `must be ${!(mine.externallyManaged ?? false)}, as in policy ${name}, which also configures ${nic.pciAddress},`;
    findings.push(refuse("spec.externallyManaged", message));
  }
  if (ours.pf.vfs === undefined || theirs.pf.vfs === undefined) return findings;

  if (overlaps(ours.pf.vfs, theirs.pf.vfs)) {
    const [myFields, theirFields] = [namedBy(mine.nicSelector, nic), namedBy(other.nicSelector, nic)];
    const field = [...myFields.values()][0] ?? "spec.nicSelector";
    const bothNameIt = myFields.size > 0 && theirFields.size > 0;
    const byTheSameField = [...myFields.keys()].some((key) => theirFields.has(key));
    if (byTheSameField || (bothNameIt && priorityOf(ours.policy) === priorityOf(theirs.policy))) {
      const taken = `${describeVfs(theirs.pf.vfs)} of policy ${name}`;
      findings.push(
        refuse(field, `requests ${describeVfs(ours.pf.vfs)} of ${describe(nic)}, in conflict with ${taken}`),
      );
    } else {
      findings.push(warn(field, whoWins(ours, theirs)));
    }
    return findings;
  }

  if (mine.resourceName === other.resourceName) {
    const message = `policy ${name} uses the same name for other VFs of ${describe(nic)}: only one of the two policies gets VFs`;
    findings.push(warn("spec.resourceName", message));
  }
  if ((mine.eSwitchMode || "legacy") !== (other.eSwitchMode || "legacy")) {
    findings.push(warn("spec.eSwitchMode", differs(ours, theirs, `eSwitchMode "${other.eSwitchMode || "legacy"}"`)));
  }
  if ((mine.linkType ?? "").toLowerCase() !== (other.linkType ?? "").toLowerCase()) {
    findings.push(
      warn("spec.linkType", differs(ours, theirs, other.linkType ? `linkType "${other.linkType}"` : "no linkType")),
    );
  }
  if (JSON.stringify(mine.bridge ?? {}) !== JSON.stringify(other.bridge ?? {})) {
    findings.push(warn("spec.bridge", differs(ours, theirs, "a different bridge or no bridge")));
  }
  return findings;
}

/**
 * "this policy (VFs 0-7, priority 99) gets no VFs of ens1f0 (0000:3b:00.0): policy special (VFs 0-3, priority 10) takes
 * precedence".
 */
function whoWins(ours: Claim, theirs: Claim): string {
  const ourName = nameWithVfs("this policy", ours);
  const theirName = nameWithVfs(`policy ${theirs.policy.metadata.name}`, theirs);
  const [winner, loser] = outranks(ours.policy, theirs.policy) ? [ourName, theirName] : [theirName, ourName];
  const why = priorityOf(ours.policy) === priorityOf(theirs.policy) ? " because its name sorts later" : "";
  return `${loser} gets no VFs of ${describe(ours.pf.nic)}: ${winner} takes precedence${why}`;
}

function nameWithVfs(name: string, { policy, pf }: Claim): string {
  const vfs = pf.vfs === undefined ? "no VFs" : describeVfs(pf.vfs);
  return `${name} (${vfs}, priority ${priorityOf(policy)})`;
}

function differs(ours: Claim, theirs: Claim, value: string): string {
  const name = theirs.policy.metadata.name;
  const winner = outranks(ours.policy, theirs.policy) ? "this policy's" : `policy ${name}'s`;
  return `policy ${name} has ${value} for ${describe(ours.pf.nic)}: ${winner} value applies to the whole PF`;
}

/** "VFs 2-5", or "VF 3" for a range of one. */
function describeVfs(range: VfRange): string {
  return range.first === range.last ? `VF ${range.first}` : `VFs ${formatVfRange(range)}`;
}

/** The fields by which the selector names this very PF, with the entry; empty where it matches the PF only as one of a sort. */
function namedBy({ pfNames = [], rootDevices = [] }: NicSelector, nic: InterfaceStatus): ReadonlyMap<string, string> {
  const entries = {
    pfNames: pfNames.findIndex((entry) => isNameOf(pfNameOf(entry), nic)),
    rootDevices: rootDevices.indexOf(nic.pciAddress),
  };
  const named = Object.entries(entries).filter(([, index]) => index >= 0);
  return new Map(named.map(([field, index]) => [field, `spec.nicSelector.${field}[${index}]`]));
}

/** The lower number, and among equals the last name (sriov-operator.md B.3). */
function outranks(a: SriovNetworkNodePolicy, b: SriovNetworkNodePolicy): boolean {
  const difference = priorityOf(a) - priorityOf(b);
  return difference === 0 ? a.metadata.name > b.metadata.name : difference < 0;
}

function describe({ name, pciAddress }: InterfaceStatus): string {
  return name ? `${name} (${pciAddress})` : pciAddress;
}
