// SPDX-License-Identifier: Apache-2.0
/** checkResourceName checks the name by which pods request the VFs (sriov-operator.md E.2). */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { isGateOn } from "@switchyard/policy";
import { quote, refuse, warn, type ReviewFinding } from "../finding.ts";
import { isIgnoredPolicy, type PolicyContext } from "../policy-context.ts";

/** The limit of Kubernetes for the part of a resource name after the prefix. */
const maxLength = 63;

export function checkResourceName({ spec }: SriovNetworkNodePolicy): readonly ReviewFinding[] {
  const { resourceName } = spec;
  const field = "spec.resourceName";
  if (resourceName === "") return [refuse(field, "must not be empty: pods request the VFs by this name")];
  if (resourceName.length > maxLength) {
    return [refuse(field, `must be at most ${maxLength} characters long, not ${resourceName.length}`)];
  }
  if (/^[A-Za-z0-9]([-A-Za-z0-9_]*[A-Za-z0-9])?$/.test(resourceName)) return [];
  const right = 'must consist of letters, digits, "-" and "_", and start and end with a letter or digit';
  return [refuse(field, `${right}, not ${quote(resourceName)}`)];
}

/**
 * checkBridge warns about a spec.bridge that has no effect because of the feature gate, and about networks that hosts lose. The
 * rules for bridges are in libs/policy and are checked by nic-selector.ts.
 */
export function checkBridge(policy: SriovNetworkNodePolicy, { view }: PolicyContext): readonly ReviewFinding[] {
  const { spec } = policy;
  const { ovs, linux, disconnectedNetworks = [] } = spec.bridge ?? {};
  if (ovs === undefined && linux === undefined) return [];
  if (isGateOn("manageSoftwareBridges", view.operatorConfig)) {
    return [...disconnectedWarnings(disconnectedNetworks), ...vlanWarnings(policy, view.policies)];
  }
  const message =
    "no bridge is created while the feature gate manageSoftwareBridges is off: set spec.featureGates.manageSoftwareBridges to true in SriovOperatorConfig/default";
  return [warn("spec.bridge", message)];
}

/** Networks with VLANs rely on a bridge that filters. Which networks there are is not known here. */
function vlanWarnings(
  { metadata, spec }: SriovNetworkNodePolicy,
  policies: readonly SriovNetworkNodePolicy[],
): readonly ReviewFinding[] {
  const stored = policies.find(({ metadata: { name } }) => name === metadata.name);
  const filters = (one: SriovNetworkNodePolicy["spec"] | undefined) =>
    one?.bridge?.linux?.bridge?.vlanFiltering === true;
  if (!filters(stored?.spec) || filters(spec)) return [];
  const message =
    "is no longer true: pods of all VLANs share one segment then, and each BridgeNetwork with resourceName " +
    `${spec.resourceName} that has vlan or trunk becomes Degraded`;
  return [warn("spec.bridge.linux.bridge.vlanFiltering", message)];
}

function disconnectedWarnings(networks: readonly string[]): readonly ReviewFinding[] {
  if (networks.length === 0) return [];
  const shown = networks.map((network) => JSON.stringify(network.slice(0, 43))).join(", ");
  const message = `hosts lose their connection to ${shown} if they have an address in it on a PF that becomes a port of the bridge`;
  return [warn("spec.bridge.disconnectedNetworks", message)];
}

/**
 * checkIgnored warns about policies that the operator ignores because of their namespace or name (sriov-operator.md E.2).
 */
export function checkIgnored(
  policy: SriovNetworkNodePolicy,
  { namespace }: { readonly namespace: string },
): readonly ReviewFinding[] {
  const findings: ReviewFinding[] = [];
  if (policy.metadata.namespace !== namespace) {
    findings.push(
      warn(
        "metadata.namespace",
        `this policy has no effect: the operator uses policies of namespace ${namespace} only`,
      ),
    );
  }
  if (isIgnoredPolicy(policy)) findings.push(warn("metadata.name", 'a policy named "default" has no effect'));
  return findings;
}
