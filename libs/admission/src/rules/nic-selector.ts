// SPDX-License-Identifier: Apache-2.0
/**
 * Rules about spec.nicSelector that need no cluster (sriov-operator.md E.2): the problems that merging in libs/policy
 * would report on every node, and values that merging accepts although no NIC can match them.
 */
import { parsePciAddress, type SriovNetworkNodePolicy } from "@switchyard/api";
import { createRules } from "@switchyard/policy";
import { quote, refuse, type ReviewFinding } from "../finding.ts";

/** The problems that merging reports. The feature gate for bridges counts as on, so that their problems are found, too. */
export function checkMergeable(policy: SriovNetworkNodePolicy): readonly ReviewFinding[] {
  const operatorConfig = {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovOperatorConfig",
    metadata: { name: "default" },
    spec: { featureGates: { manageSoftwareBridges: true } },
  } as const;
  const { compiledPolicies } = createRules({ policies: [policy], pools: [], operatorConfig });
  return compiledPolicies.flatMap(({ problems }) =>
    problems.map(({ severity, field, message }) => ({
      severity: severity === "error" ? ("refusal" as const) : ("warning" as const),
      field,
      message,
    })),
  );
}

/** PCI ids and addresses that no NIC can have. */
export function checkPciIds({ spec }: SriovNetworkNodePolicy): readonly ReviewFinding[] {
  const { vendor, deviceID, rootDevices = [] } = spec.nicSelector;
  const findings: ReviewFinding[] = [];
  for (const [name, id] of Object.entries({ vendor, deviceID })) {
    if (!id || /^[0-9a-f]{4}$/.test(id)) continue;
    const message = `must be four lowercase hexadecimal digits, such as "15b3", not ${quote(id)}`;
    findings.push(refuse(`spec.nicSelector.${name}`, message));
  }
  for (const [index, address] of rootDevices.entries()) {
    if (parsePciAddress(address).ok) continue;
    const message = `must be a PCI address with its domain, such as "0000:86:00.0", not ${quote(address)}`;
    findings.push(refuse(`spec.nicSelector.rootDevices[${index}]`, message));
  }
  return findings;
}

/** A netFilter identifies the NIC of a virtual machine. It excludes other selectors and settings of the eswitch. */
export function checkNetFilter({ spec }: SriovNetworkNodePolicy): readonly ReviewFinding[] {
  const { netFilter, vendor, deviceID, rootDevices = [], pfNames = [] } = spec.nicSelector;
  if (!netFilter) return [];
  const findings: ReviewFinding[] = [];
  if (vendor || deviceID || rootDevices.length > 0 || pfNames.length > 0) {
    findings.push(
      refuse("spec.nicSelector.netFilter", "must be the only field of spec.nicSelector: it identifies a NIC by itself"),
    );
  }
  if (spec.eSwitchMode) {
    findings.push(
      refuse(
        "spec.eSwitchMode",
        "must be omitted if spec.nicSelector.netFilter is set: NICs of virtual machines have no eswitch",
      ),
    );
  }
  if (spec.bridge?.ovs !== undefined || spec.bridge?.linux !== undefined) {
    findings.push(refuse("spec.bridge", "must be omitted if spec.nicSelector.netFilter is set"));
  }
  if (spec.linkType && spec.linkType.toLowerCase() !== "eth") {
    findings.push(
      refuse(
        "spec.linkType",
        `must be "eth" or omitted if spec.nicSelector.netFilter is set, not ${quote(spec.linkType)}`,
      ),
    );
  }
  return findings;
}
