// SPDX-License-Identifier: Apache-2.0
/**
 * checkExternallyManaged compares an externally managed PF with the policy (sriov-operator.md E.3). Switchyard does not
 * configure such a PF, so the PF must already have the requested settings. Upstream does not compare the eswitch mode, and
 * its daemon then fails silently (sriov-operator.md M-34).
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { refuse, type Finding } from "../finding.ts";
import { findingsByNode } from "../findings-by-node.ts";
import type { PolicyContext } from "../policy-context.ts";

export function checkExternallyManaged(
  { spec }: SriovNetworkNodePolicy,
  { targets }: PolicyContext,
): readonly Finding[] {
  if (spec.externallyManaged !== true) return [];
  const { numVfs, mtu, linkType } = spec;
  const mode = spec.eSwitchMode || "legacy";
  return findingsByNode(targets, (pf) => {
    const external = `${pf.pciAddress} is externally managed and`;
    const findings: Finding[] = [];
    const existing = pf.numVfs ?? 0;
    if (numVfs > existing)
      findings.push(refuse("spec.numVfs", `${numVfs} VFs requested, but ${external} has ${existing}`));
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
