// SPDX-License-Identifier: Apache-2.0
/** Rules about spec.numVfs (sriov-operator.md E.2, E.3): within the policy, and against what the matched PFs support. */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { vfLimitProblem } from "@switchyard/plan";
import { parsePfName } from "@switchyard/policy";
import { refuse, type Finding } from "../finding.ts";
import { findingsByNode } from "../findings-by-node.ts";
import type { PolicyContext } from "../policy-context.ts";

export function checkNumVfs({ spec }: SriovNetworkNodePolicy): readonly Finding[] {
  if (spec.numVfs < 1) return [refuse("spec.numVfs", `must be at least 1, not ${spec.numVfs}`)];
  const findings: Finding[] = [];
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
export function checkVfLimit({ spec }: SriovNetworkNodePolicy, { targets }: PolicyContext): readonly Finding[] {
  if (spec.externallyManaged === true) return [];
  return findingsByNode(targets, (pf) => {
    const problem = vfLimitProblem(spec.numVfs, pf);
    return problem?.code === "too-many-vfs" ? [refuse("spec.numVfs", problem.message)] : [];
  });
}
