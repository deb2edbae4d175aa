// SPDX-License-Identifier: Apache-2.0
/** Rules about SriovOperatorConfig (sriov-operator.md E.2, E.3). */
import { operatorConfigName, type AfxdpOperatorConfig, type SriovOperatorConfig } from "@switchyard/api";
import {
  afxdpPolicyProblems,
  afxdpProviderOf,
  checkDaemonVariable,
  featureGateDefaults,
  noClaims,
} from "@switchyard/policy";
import type { ClusterView } from "../cluster-view.ts";
import { listNames, quote, refuse, warn, type ReviewFinding } from "../finding.ts";

export function checkOperatorConfig(config: SriovOperatorConfig, view: ClusterView): readonly ReviewFinding[] {
  const { name, namespace } = config.metadata;
  const { disableDrain, featureGates = {}, configDaemonEnvVars = {} } = config.spec ?? {};
  const findings: ReviewFinding[] = [];
  if (name !== operatorConfigName) {
    findings.push(
      refuse("metadata.name", `must be "${operatorConfigName}": the operator reads no other SriovOperatorConfig`),
    );
  }
  if (namespace !== view.namespace) {
    findings.push(refuse("metadata.namespace", `must be ${quote(view.namespace)}, the namespace of the operator`));
  }
  if (disableDrain === true) {
    findings.push(warn("spec.disableDrain", "nodes are reconfigured without a drain: running pods lose their VFs"));
  }
  if ("enableOvsOffload" in (config.spec ?? {}))
    findings.push(warn("spec.enableOvsOffload", "has no effect and can be removed"));
  const unknown = Object.keys(featureGates).filter((gate) => !Object.hasOwn(featureGateDefaults, gate));
  if (unknown.length > 0) {
    const names = listNames(unknown.map((gate) => quote(gate)));
    findings.push(
      warn(
        "spec.featureGates",
        `unknown: ${names}; known feature gates: ${Object.keys(featureGateDefaults).join(", ")}`,
      ),
    );
  }
  if (view.lacksClaims === true && featureGates["dynamicResourceAllocation"] === true) {
    findings.push(refuse("spec.featureGates.dynamicResourceAllocation", noClaims));
  }
  return [...findings, ...checkDaemonVariables(configDaemonEnvVars)];
}

function checkDaemonVariables(variables: Readonly<Record<string, string>>): readonly ReviewFinding[] {
  return Object.entries(variables).flatMap(([name, value]) => {
    const field = `spec.configDaemonEnvVars.${name}`;
    const check = checkDaemonVariable(name, value);
    if (check.use === "passed") return [];
    return [check.use === "ignored" ? warn(field, check.message) : refuse(field, check.message)];
  });
}

/** spec.disableDrain must not be set during a drain: the node would be reconfigured while pods use its VFs. */
export function checkDrainSwitch(
  before: SriovOperatorConfig | undefined,
  after: SriovOperatorConfig,
  view: ClusterView,
): readonly ReviewFinding[] {
  if (after.spec?.disableDrain !== true || before?.spec?.disableDrain === true) return [];
  const busy = view.nodes.filter(({ state }) => state?.syncStatus === "InProgress").map(({ name }) => name);
  if (busy.length === 0) return [];
  return [
    refuse(
      "spec.disableDrain",
      `must not be set while nodes are being configured (syncStatus "InProgress"): ${listNames(busy)}`,
    ),
  ];
}

/** Rules about AfxdpOperatorConfig. */
export function checkAfxdpOperatorConfig(config: AfxdpOperatorConfig, view: ClusterView): readonly ReviewFinding[] {
  const { name, namespace } = config.metadata;
  const findings: ReviewFinding[] = [];
  if (name !== operatorConfigName) {
    findings.push(
      refuse("metadata.name", `must be "${operatorConfigName}": the operator reads no other AfxdpOperatorConfig`),
    );
  }
  if (namespace !== view.namespace) {
    findings.push(refuse("metadata.namespace", `must be ${quote(view.namespace)}, the namespace of the operator`));
  }
  if (config.spec?.disableDrain === true) {
    findings.push(
      warn("spec.disableDrain", "nodes are reconfigured without a drain: running pods lose their AF_XDP devices"),
    );
  }
  return [...findings, ...policyWarnings(config, view)];
}

/** The policies that the device plugin of the provider cannot offer, which are therefore not applied. */
function policyWarnings(config: AfxdpOperatorConfig, { afxdp }: ClusterView): readonly ReviewFinding[] {
  const provider = afxdpProviderOf(config);
  return (afxdp?.policies ?? []).flatMap((policy) =>
    afxdpPolicyProblems(policy, provider)
      .filter(({ code }) => code === "provider-cannot")
      .map(({ policyName, field, message }) => {
        return warn("spec.provider", `policy ${policyName} is not applied: ${field}: ${message}`);
      }),
  );
}
