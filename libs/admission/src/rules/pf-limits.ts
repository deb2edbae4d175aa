// SPDX-License-Identifier: Apache-2.0
/** Rules about spec.numVfs (sriov-operator.md E.2, E.3): within the policy, and against what the matched PFs support. */
import type { InterfaceStatus, SriovNetworkNodePolicy } from "@switchyard/api";
import { vfLimitProblem } from "@switchyard/plan";
import { parsePfName } from "@switchyard/policy";
import { decidedByMost, describeFinding, onNodes, refuse, warn, type ReviewFinding } from "../finding.ts";
import { namesOf, type NodeGroup } from "../node-groups.ts";
import type { PolicyContext } from "../policy-context.ts";
import { forEachMatchedPf, matchedNodeCount, type PolicyTargets } from "../policy-targets.ts";

export function checkNumVfs({ spec }: SriovNetworkNodePolicy): readonly ReviewFinding[] {
  if (spec.numVfs < 1) return [refuse("spec.numVfs", `must be at least 1, not ${spec.numVfs}`)];
  const findings: ReviewFinding[] = [];
  for (const [index, entry] of (spec.nicSelector.pfNames ?? []).entries()) {
    const pfName = parsePfName(entry);
    if (!pfName.ok || pfName.value.range === undefined || pfName.value.range.last < spec.numVfs) continue;
    const { last } = pfName.value.range;
    const message = `VF ${last} does not exist: with spec.numVfs ${spec.numVfs}, the last VF is ${spec.numVfs - 1}`;
    const violation = { code: `vf-missing ${pfName.value.name}`, amount: last - spec.numVfs };
    findings.push(refuse(`spec.nicSelector.pfNames[${index}]`, message, violation));
  }
  return findings;
}

/** A PF without SR-IOV is no reason to refuse, because the policy may match others; the impact's warnings name it. */
export function checkVfLimit({ spec }: SriovNetworkNodePolicy, { targets }: PolicyContext): readonly ReviewFinding[] {
  if (spec.externallyManaged === true) return [];
  return findingsByNode(targets, (pf) => {
    const problem = vfLimitProblem(spec.numVfs, pf);
    if (problem?.code !== "too-many-vfs") return [];
    return [refuse("spec.numVfs", problem.message, { code: `too-many-vfs ${pf.pciAddress}`, amount: spec.numVfs })];
  });
}

/** checkMtu compares spec.mtu with the maximum MTU of the PFs that report one. */
export function checkMtu({ spec }: SriovNetworkNodePolicy, { targets }: PolicyContext): readonly ReviewFinding[] {
  const { mtu } = spec;
  if (mtu === undefined) return [];
  return findingsByNode(targets, ({ pciAddress, maxMtu }) =>
    maxMtu === undefined || mtu <= maxMtu
      ? []
      : [
          refuse("spec.mtu", `MTU ${mtu} requested, but ${pciAddress} supports at most ${maxMtu}`, {
            code: `mtu-too-large ${pciAddress}`,
            amount: mtu,
          }),
        ],
  );
}

/** A lower mtu changes the VFs only: lowering that of a PF would interrupt all who use the port. */
export function loweredMtu(
  before: SriovNetworkNodePolicy,
  { spec }: SriovNetworkNodePolicy,
  { targets }: PolicyContext,
): readonly ReviewFinding[] {
  const [old = 0, mtu = 0] = [before.spec.mtu, spec.mtu];
  if (spec.externallyManaged === true || mtu >= old) return [];
  return findingsByNode(targets, (pf) => {
    if (pf.mtu === undefined || pf.mtu <= Math.max(mtu, defaultMtu)) return [];
    return [warn("spec.mtu", `a lower value changes the VFs only: PF ${pf.pciAddress} keeps MTU ${pf.mtu}`)];
  });
}

/** MTU of Ethernet, which a PF has unless somebody changed it. */
const defaultMtu = 1500;

/**
 * checkExternallyManaged compares an externally managed PF with the policy (sriov-operator.md E.3). Switchyard does not
 * configure such a PF, so the PF must already have the requested settings. Upstream does not compare the eswitch mode, and
 * its daemon then fails silently (sriov-operator.md M-34).
 *
 * On a new node the other tool may not have created the VFs yet. If another node has what the policy requests, such a node
 * does not refuse the policy for all: it gets a warning, and its own condition reports the rest.
 */
export function checkExternallyManaged(
  { spec }: SriovNetworkNodePolicy,
  { targets }: PolicyContext,
): readonly ReviewFinding[] {
  if (spec.externallyManaged !== true) return [];
  const complete = new Set<NodeGroup>();
  forEachMatchedPf(targets, (pf, group) => {
    if (missingOn(pf, spec).length === 0) complete.add(group);
  });
  return findingsByNode(targets, (pf, group) => {
    const findings = missingOn(pf, spec);
    const isElsewhere = complete.size > (complete.has(group) ? 1 : 0);
    if ((pf.numVfs ?? 0) > 0 || findings.length === 0 || !isElsewhere) return findings;
    const message = `${pf.pciAddress} is externally managed and without VFs so far: the node fails until another tool creates ${spec.numVfs}`;
    return [warn("spec.numVfs", message)];
  });
}

/** What the policy requests and the externally managed PF does not have. */
function missingOn(
  pf: InterfaceStatus,
  { numVfs, mtu, linkType, eSwitchMode }: SriovNetworkNodePolicy["spec"],
): readonly ReviewFinding[] {
  const { pciAddress, numVfs: existing = 0 } = pf;
  const external = `${pciAddress} is externally managed and`;
  const violation = (code: string, amount = 0) => ({ code: `external-${code} ${pciAddress}`, amount });
  const findings: ReviewFinding[] = [];
  if (numVfs > existing) {
    // Upstream's words, which scripts search for: docs/differences.md, "Sentences".
    const higher = "is higher than the virtual functions allocated for the PF externally";
    const message = `${numVfs} ${higher}; create them first: ${pciAddress} has ${existing}`;
    findings.push(refuse("spec.numVfs", message, violation("vfs", numVfs)));
  }
  if (mtu !== undefined && pf.mtu !== undefined && mtu > pf.mtu) {
    const message = `MTU ${mtu} requested, but ${external} has MTU ${pf.mtu}`;
    findings.push(refuse("spec.mtu", message, violation("mtu", mtu)));
  }
  if (linkType && pf.linkType && linkType.toUpperCase() !== pf.linkType.toUpperCase()) {
    const message = `"${linkType}" requested, but ${external} has link type ${pf.linkType}`;
    findings.push(refuse("spec.linkType", message, violation("link-type")));
  }
  const mode = eSwitchMode || "legacy";
  const actual = pf.eSwitchMode || "legacy";
  if (mode !== actual) {
    const message = `"${mode}" requested, but ${external} in ${actual} mode`;
    findings.push(refuse("spec.eSwitchMode", message, violation("eswitch-mode")));
  }
  return findings;
}

/**
 * findingsByNode merges findings that are the same on several nodes into one that lists the nodes.
 * Calls `check` with each PF that the policy matches. Equal findings are returned once, with " on NODES" appended. Most of the nodes
 * with a matching PF decide whether the policy is refused.
 */
function findingsByNode(
  targets: PolicyTargets,
  check: (pf: InterfaceStatus, group: NodeGroup) => readonly ReviewFinding[],
): readonly ReviewFinding[] {
  const found = new Map<string, { readonly finding: ReviewFinding; readonly groups: Set<NodeGroup> }>();
  const refusing = new Set<NodeGroup>();
  forEachMatchedPf(targets, (pf, group) => {
    for (const finding of check(pf, group)) {
      if (finding.severity === "refusal") refusing.add(group);
      const key = describeFinding(finding);
      const entry = found.get(key);
      if (entry === undefined) found.set(key, { finding, groups: new Set([group]) });
      else entry.groups.add(group);
    }
  });
  const findings = [...found.values()].map(({ finding, groups }) => onNodes(finding, namesOf([...groups])));
  return decidedByMost(findings, namesOf([...refusing]), matchedNodeCount(targets));
}
