// SPDX-License-Identifier: Apache-2.0
/** Rules about spec.numVfs (sriov-operator.md E.2, E.3): within the policy, and against what the matched PFs support. */
import type { InterfaceStatus, SriovNetworkNodePolicy } from "@switchyard/api";
import { vfLimitProblem } from "@switchyard/plan";
import { parsePfName } from "@switchyard/policy";
import { describeFinding, listNames, refuse, type ReviewFinding } from "../finding.ts";
import { namesOf, type NodeGroup } from "../node-groups.ts";
import type { PolicyContext } from "../policy-context.ts";
import { forEachMatchedPf, type PolicyTargets } from "../policy-targets.ts";

export function checkNumVfs({ spec }: SriovNetworkNodePolicy): readonly ReviewFinding[] {
  if (spec.numVfs < 1) return [refuse("spec.numVfs", `must be at least 1, not ${spec.numVfs}`)];
  const findings: ReviewFinding[] = [];
  for (const [index, entry] of (spec.nicSelector.pfNames ?? []).entries()) {
    const pfName = parsePfName(entry);
    if (!pfName.ok || pfName.value.range === undefined || pfName.value.range.last < spec.numVfs) continue;
    const { last } = pfName.value.range;
    const message = `VF ${last} does not exist: with spec.numVfs ${spec.numVfs}, the last VF is ${spec.numVfs - 1}`;
    findings.push(refuse(`spec.nicSelector.pfNames[${index}]`, message));
  }
  return findings;
}

/** A PF without SR-IOV is no reason to refuse, because the policy may match others; the impact's warnings name it. */
export function checkVfLimit({ spec }: SriovNetworkNodePolicy, { targets }: PolicyContext): readonly ReviewFinding[] {
  if (spec.externallyManaged === true) return [];
  return findingsByNode(targets, (pf) => {
    const problem = vfLimitProblem(spec.numVfs, pf);
    return problem?.code === "too-many-vfs" ? [refuse("spec.numVfs", problem.message)] : [];
  });
}

/** checkMtu compares spec.mtu with the maximum MTU of the PFs that report one. */
export function checkMtu({ spec }: SriovNetworkNodePolicy, { targets }: PolicyContext): readonly ReviewFinding[] {
  const { mtu } = spec;
  if (mtu === undefined) return [];
  return findingsByNode(targets, ({ pciAddress, maxMtu }) =>
    maxMtu === undefined || mtu <= maxMtu
      ? []
      : [refuse("spec.mtu", `MTU ${mtu} requested, but ${pciAddress} supports at most ${maxMtu}`)],
  );
}

/**
 * checkExternallyManaged compares an externally managed PF with the policy (sriov-operator.md E.3). Switchyard does not
 * configure such a PF, so the PF must already have the requested settings. Upstream does not compare the eswitch mode, and
 * its daemon then fails silently (sriov-operator.md M-34).
 */
export function checkExternallyManaged(
  { spec }: SriovNetworkNodePolicy,
  { targets }: PolicyContext,
): readonly ReviewFinding[] {
  if (spec.externallyManaged !== true) return [];
  const { numVfs, mtu, linkType } = spec;
  const mode = spec.eSwitchMode || "legacy";
  return findingsByNode(targets, (pf) => {
    const external = `${pf.pciAddress} is externally managed and`;
    const findings: ReviewFinding[] = [];
    const existing = pf.numVfs ?? 0;
    if (numVfs > existing) {
      // Upstream's words, which scripts search for: docs/differences.md, "Sentences".
      const higher = "is higher than the virtual functions allocated for the PF externally";
      findings.push(refuse("spec.numVfs", `${numVfs} ${higher}: ${pf.pciAddress} has ${existing}`));
    }
    if (mtu !== undefined && pf.mtu !== undefined && mtu > pf.mtu) {
      findings.push(refuse("spec.mtu", `MTU ${mtu} requested, but ${external} has MTU ${pf.mtu}`));
    }
    if (linkType && pf.linkType && linkType.toUpperCase() !== pf.linkType.toUpperCase()) {
      findings.push(refuse("spec.linkType", `"${linkType}" requested, but ${external} has link type ${pf.linkType}`));
    }
    const actual = pf.eSwitchMode || "legacy";
    if (mode !== actual) {
      findings.push(refuse("spec.eSwitchMode", `"${mode}" requested, but ${external} in ${actual} mode`));
    }
    return findings;
  });
}

/**
 * findingsByNode merges findings that are the same on several nodes into one that lists the nodes.
 * Calls `check` with each PF that the policy matches. Equal findings are returned once, with " on NODES" appended.
 */
function findingsByNode(
  targets: PolicyTargets,
  check: (pf: InterfaceStatus) => readonly ReviewFinding[],
): readonly ReviewFinding[] {
  const found = new Map<string, { readonly finding: ReviewFinding; readonly groups: Set<NodeGroup> }>();
  forEachMatchedPf(targets, (pf, group) => {
    for (const finding of check(pf)) {
      const key = describeFinding(finding);
      const entry = found.get(key);
      if (entry === undefined) found.set(key, { finding, groups: new Set([group]) });
      else entry.groups.add(group);
    }
  });
  return [...found.values()].map(({ finding, groups }) => ({
    ...finding,
    message: `${finding.message} on ${listNames(namesOf([...groups]))}`,
  }));
}
