// SPDX-License-Identifier: Apache-2.0
/**
 * checkPolicyConflicts finds policies that request the same VFs of a PF, or different settings for it
 * (sriov-operator.md E.3). It compares the ranges of both policies on every PF that both match, by whatever field they
 * match it; a policy without a range has all VFs of the PF. Upstream stops at the first pair of ranges that do not overlap,
 * and admits a policy for a whole PF beside a policy for a part of it (sriov-operator.md M-6). Ranges that do not overlap
 * are allowed, also with the same rootDevices entry (sriov-operator.md M-42).
 *
 * If both policies name the PF by pfNames, or both by rootDevices, an overlap is refused. If one names it by pfNames and
 * the other by rootDevices, the overlap is refused only if their priorities are equal. If one of them matches the PF only
 * by vendor, deviceID or netFilter, the priorities decide. When priorities decide, a warning says which policy takes
 * precedence and that the other one gets no VFs of this PF. Merging drops a whole VF group that shares a VF with a
 * stronger one.
 */
import type { InterfaceStatus, NicSelector, SriovNetworkNodePolicy } from "@switchyard/api";
import {
  describeDifference as describeSettingDifference,
  formatVfRange,
  hasLabels,
  isNameOf,
  overlaps,
  pfNameOf,
  priorityOf,
  settingDifferences,
  type VfRange,
} from "@switchyard/policy";
import { decidedByMost, describeFinding, listNames, onNodes, refuse, warn, type ReviewFinding } from "../finding.ts";
import { countNodes, namesOf, selects, type NodeGroup } from "../node-groups.ts";
import type { PolicyContext } from "../policy-context.ts";
import type { MatchedPf } from "../policy-targets.ts";

export function checkPolicyConflicts(policy: SriovNetworkNodePolicy, context: PolicyContext): readonly ReviewFinding[] {
  return context.others.flatMap((other) => conflictsWith(other, policy, context));
}

/** Most of the nodes that both policies select decide whether the policy under review is refused. */
function conflictsWith(
  other: SriovNetworkNodePolicy,
  policy: SriovNetworkNodePolicy,
  context: PolicyContext,
): readonly ReviewFinding[] {
  const found = new Map<string, { readonly finding: ReviewFinding; readonly groups: NodeGroup[] }>();
  const refusing: NodeGroup[] = [];
  const isShared = selects(other.spec.nodeSelector);
  for (const { groups, layout, pfs } of context.targets.matches) {
    const othersPfs = new Map(context.matchPfs(other, layout, context.view.nics).map((pf) => [pf.nic.pciAddress, pf]));
    const findings = pfs.flatMap((pf) => {
      const othersPf = othersPfs.get(pf.nic.pciAddress);
      return othersPf === undefined ? [] : conflictsOn({ policy, pf }, { policy: other, pf: othersPf });
    });
    const shared = findings.length === 0 ? [] : groups.filter(isShared);
    if (shared.length === 0) continue;
    for (const finding of findings) {
      const key = describeFinding(finding);
      const entry = found.get(key) ?? { finding, groups: [] };
      entry.groups.push(...shared);
      found.set(key, entry);
    }
    if (findings.some(({ severity }) => severity === "refusal")) refusing.push(...shared);
  }
  const findings = [...found.values()].map(({ finding, groups }) => onNodes(finding, namesOf(groups)));
  if (refusing.length === 0) return findings;
  const concerned = context.targets.matches.flatMap(({ groups }) => groups.filter(isShared));
  return decidedByMost(findings, namesOf(refusing), countNodes(concerned));
}

/**
 * Policies for the same resource on the same node must agree on the settings that a resource has once. Another
 * excludeTopology is refused, as upstream does. Upstream admits other differences, so they are warnings; policies whose NICs
 * are not on the same node do not disturb each other.
 */
export function checkResourceSettings(
  policy: SriovNetworkNodePolicy,
  context: PolicyContext,
): readonly ReviewFinding[] {
  return context.others.flatMap((other) =>
    settingDifferences(policy, other).flatMap((difference) => {
      const field = `spec.${difference.setting}`;
      if (difference.setting === "excludeTopology") {
        const { nodes } = context.view;
        const isShared = ({ labels }: Pick<(typeof nodes)[number], "labels">) =>
          hasLabels(labels, policy.spec.nodeSelector) && hasLabels(labels, other.spec.nodeSelector);
        if (!nodes.some(isShared)) return [];
        // Upstream's words, which scripts search for: docs/differences.md, "Sentences".
        const conflict = `field conflicts with policy ${other.metadata.name}`;
        const cause = `which has the same resourceName and excludeTopology ${difference.other}`;
        return [refuse(field, `${conflict}, ${cause}; set the same value in both`)];
      }
      const names = namesOf(sharedNodes(other, context));
      if (names.length === 0) return [];
      const { resourceName } = policy.spec;
      const winner = outranks(policy, other) ? policy.metadata.name : other.metadata.name;
      const message = describeSettingDifference(difference, { resourceName, policy: other.metadata.name, winner });
      return [warn(field, `${listNames(names)}: ${message}`)];
    }),
  );
}

/** The nodes on which the policy under review and the other one match a PF. */
function sharedNodes(other: SriovNetworkNodePolicy, { targets, matchPfs, view }: PolicyContext): readonly NodeGroup[] {
  const isSelected = selects(other.spec.nodeSelector);
  return targets.matches.flatMap(({ groups, layout }) =>
    matchPfs(other, layout, view.nics).length === 0 ? [] : groups.filter(isSelected),
  );
}

/** A policy and a PF that it matches. */
interface Claim {
  readonly policy: SriovNetworkNodePolicy;
  readonly pf: MatchedPf;
}

function conflictsOn(claim: Claim, rival: Claim): readonly ReviewFinding[] {
  const { nic } = claim.pf;
  const [mine, other] = [claim.policy.spec, rival.policy.spec];
  const name = rival.policy.metadata.name;
  const findings: ReviewFinding[] = [];
  if ((mine.externallyManaged ?? false) !== (other.externallyManaged ?? false)) {
    const message = `must be ${!(mine.externallyManaged ?? false)}, as in policy ${name}, which also configures ${nic.pciAddress},`;
    findings.push(refuse("spec.externallyManaged", message));
  }
  if (claim.pf.vfs === undefined || rival.pf.vfs === undefined) return findings;

  if (overlaps(claim.pf.vfs, rival.pf.vfs)) {
    const [myFields, otherFields] = [namedBy(mine.nicSelector, nic), namedBy(other.nicSelector, nic)];
    const field = [...myFields.values()][0] ?? "spec.nicSelector";
    const bothNameIt = myFields.size > 0 && otherFields.size > 0;
    const byTheSameField = [...myFields.keys()].some((key) => otherFields.has(key));
    if (byTheSameField || (bothNameIt && priorityOf(claim.policy) === priorityOf(rival.policy))) {
      const taken = `${describeVfs(rival.pf.vfs)} of policy ${name}`;
      findings.push(
        refuse(field, `requests ${describeVfs(claim.pf.vfs)} of ${describe(nic)}, in conflict with ${taken}`, {
          code: `vf-conflict ${name} ${nic.pciAddress}`,
          amount: sharedVfs(claim.pf.vfs, rival.pf.vfs),
        }),
      );
    } else {
      findings.push(warn(field, describePrecedence(claim, rival)));
    }
    return findings;
  }

  if (mine.resourceName === other.resourceName) {
    const message = `policy ${name} uses the same name for other VFs of ${describe(nic)}: only one of the two policies gets VFs`;
    findings.push(warn("spec.resourceName", message));
  }
  if ((mine.eSwitchMode || "legacy") !== (other.eSwitchMode || "legacy")) {
    findings.push(
      warn("spec.eSwitchMode", describeDifference(claim, rival, `eSwitchMode "${other.eSwitchMode || "legacy"}"`)),
    );
  }
  if ((mine.linkType ?? "").toLowerCase() !== (other.linkType ?? "").toLowerCase()) {
    findings.push(
      warn(
        "spec.linkType",
        describeDifference(claim, rival, other.linkType ? `linkType "${other.linkType}"` : "no linkType"),
      ),
    );
  }
  if (JSON.stringify(mine.bridge ?? {}) !== JSON.stringify(other.bridge ?? {})) {
    findings.push(warn("spec.bridge", describeDifference(claim, rival, "a different bridge or no bridge")));
  }
  return findings;
}

/**
 * "this policy (VFs 0-7, priority 99) gets no VFs of ens1f0 (0000:3b:00.0): policy special (VFs 0-3, priority 10) takes
 * precedence".
 */
function describePrecedence(claim: Claim, rival: Claim): string {
  const ownName = nameWithVfs("this policy", claim);
  const rivalName = nameWithVfs(`policy ${rival.policy.metadata.name}`, rival);
  const [winner, loser] = outranks(claim.policy, rival.policy) ? [ownName, rivalName] : [rivalName, ownName];
  const why = priorityOf(claim.policy) === priorityOf(rival.policy) ? " (its name sorts later)" : "";
  return `${loser} gets no VFs of ${describe(claim.pf.nic)}: ${winner} takes precedence${why}`;
}

function nameWithVfs(name: string, { policy, pf }: Claim): string {
  const vfs = pf.vfs === undefined ? "no VFs" : describeVfs(pf.vfs);
  return `${name} (${vfs}, priority ${priorityOf(policy)})`;
}

function describeDifference(claim: Claim, rival: Claim, value: string): string {
  const name = rival.policy.metadata.name;
  const winner = outranks(claim.policy, rival.policy) ? "this policy's" : `policy ${name}'s`;
  return `policy ${name} has ${value} for ${describe(claim.pf.nic)}: ${winner} value applies to the whole PF`;
}

/** The number of VFs that are in both ranges. */
function sharedVfs(a: VfRange, b: VfRange): number {
  return Math.max(0, Math.min(a.last, b.last) - Math.max(a.first, b.first) + 1);
}

/** "VFs 2-5", or "VF 3" for a range of one. */
function describeVfs(range: VfRange): string {
  return range.first === range.last ? `VF ${range.first}` : `VFs ${formatVfRange(range)}`;
}

/**
 * The fields by which the selector names this PF, with the paths of their entries. Empty if the selector matches the PF only
 * by vendor, deviceID or netFilter.
 */
function namedBy({ pfNames = [], rootDevices = [] }: NicSelector, nic: InterfaceStatus): ReadonlyMap<string, string> {
  const entries = {
    pfNames: pfNames.findIndex((entry) => isNameOf(pfNameOf(entry), nic)),
    rootDevices: rootDevices.indexOf(nic.pciAddress),
  };
  const named = Object.entries(entries).filter(([, index]) => index >= 0);
  return new Map(named.map(([field, index]) => [field, `spec.nicSelector.${field}[${index}]`]));
}

/** The lower number is stronger; with equal numbers, the name that sorts later (sriov-operator.md B.3). */
function outranks(a: SriovNetworkNodePolicy, b: SriovNetworkNodePolicy): boolean {
  const difference = priorityOf(a) - priorityOf(b);
  return difference === 0 ? a.metadata.name > b.metadata.name : difference < 0;
}

function describe({ name, pciAddress }: InterfaceStatus): string {
  return name ? `${name} (${pciAddress})` : pciAddress;
}
