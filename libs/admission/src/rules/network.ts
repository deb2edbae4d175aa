// SPDX-License-Identifier: Apache-2.0
/**
 * Networks of all kinds (sriov-operator.md E.2). Upstream admits an empty resourceName (M-35) and JSON texts that are none
 * (M-54), and then tells nobody.
 */
import type { ClusterView } from "../cluster-view.ts";
import { refuse, warn, type Finding } from "../finding.ts";
import { quote } from "../phrase.ts";
import type { ReviewedNetwork } from "../review.ts";

export function checkNetwork({ metadata, spec }: ReviewedNetwork, view: ClusterView): readonly Finding[] {
  const { networkNamespace, resourceName, capabilities, ipam, metaPlugins } = spec;
  const findings: Finding[] = [];
  if (networkNamespace && metadata.namespace !== view.namespace) {
    const message = `must be left out in namespaces other than ${view.namespace}: the network is made in its own`;
    findings.push(refuse("spec.networkNamespace", message));
  }
  if (resourceName === "") {
    findings.push(refuse("spec.resourceName", "must not be empty: the resourceName of a SriovNetworkNodePolicy"));
  } else if (!view.policies.some((policy) => policy.spec.resourceName === resourceName)) {
    findings.push(warn("spec.resourceName", `no policy offers ${quote(resourceName)} yet`));
  }
  for (const [name, text] of Object.entries({ capabilities, ipam })) {
    if (text && !isObject(parse(text))) findings.push(refuse(`spec.${name}`, `must be a JSON object${whyNot(text)}`));
  }
  // Objects with commas between them, as they stand in the list of plugins.
  const plugins = metaPlugins ? parse(`[${metaPlugins}]`) : [];
  if (!Array.isArray(plugins) || !plugins.every(isObject)) {
    const message = "must be JSON objects with commas between them, without brackets around";
    findings.push(refuse("spec.metaPlugins", `${message}${whyNot(`[${metaPlugins ?? ""}]`)}`));
  }
  return findings;
}

/** The value, or undefined where the text is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** ": Unexpected token …", as the JSON parser says it. */
function whyNot(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return error instanceof SyntaxError ? `: ${error.message}` : "";
  }
}
