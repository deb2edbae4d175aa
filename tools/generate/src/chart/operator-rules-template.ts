// SPDX-License-Identifier: Apache-2.0
/**
 * operatorRulesTemplate returns the named templates with the rules of the operator's Role and ClusterRole. The rules come from
 * operatorIdentity, and depend on where certificates come from.
 * Usage: `writeFileSync("charts/switchyard/templates/_operator-rules.tpl", operatorRulesTemplate())`
 */
import { operatorIdentity, type ComponentSettings } from "@switchyard/render";
import { stringify } from "yaml";

/** Variants of the rights, as the template switchyard.rightsVariant names them. */
const variants = {
  "self-made": { clusterType: "kubernetes", certificates: { kind: "self-made" } },
  given: { clusterType: "kubernetes", certificates: { kind: "given", caBundle: "Y2E=" } },
  "cert-manager": { clusterType: "kubernetes", certificates: { kind: "cert-manager" } },
  openshift: { clusterType: "openshift", certificates: { kind: "service-ca" } },
} as const;

type Variant = keyof typeof variants;

const names = {
  account: '{{ include "switchyard.serviceAccountName" . }}',
  webhookSecret: "{{ .Values.operator.admissionControllers.certificates.secretNames.operator }}",
  injectorSecret: "{{ .Values.operator.admissionControllers.certificates.secretNames.injector }}",
  namespace: "{{ .Release.Namespace }}",
} as const;

export function operatorRulesTemplate(): string {
  return [templateOf("switchyard.clusterRules", "ClusterRole"), templateOf("switchyard.namespaceRules", "Role")].join(
    "\n",
  );
}

function templateOf(name: string, kind: "Role" | "ClusterRole"): string {
  const byRule = new Map<string, Variant[]>();
  for (const variant of Object.keys(variants).filter(isVariant)) {
    for (const rule of rulesOf(variant, kind)) byRule.set(rule, [...(byRule.get(rule) ?? []), variant]);
  }
  const rules = [...byRule].map(([rule, of]) => {
    if (of.length === Object.keys(variants).length) return rule;
    return `{{- if has $variant (list ${of.map((variant) => JSON.stringify(variant)).join(" ")}) }}\n${rule}{{- end }}\n`;
  });
  return `{{- define "${name}" -}}\n{{- $variant := include "switchyard.rightsVariant" . }}\n${rules.join("")}{{- end }}\n`;
}

function rulesOf(variant: Variant, kind: "Role" | "ClusterRole"): readonly string[] {
  const roles = operatorIdentity(settingsOf(variant)).flatMap((object) =>
    object.kind === kind && "rules" in object ? [object] : [],
  );
  return roles.flatMap(({ rules }) => rules).map((rule) => stringify([rule], { lineWidth: 0 }));
}

function settingsOf(variant: Variant): ComponentSettings {
  const { clusterType, certificates } = variants[variant];
  return {
    ...{ namespace: names.namespace, resourcePrefix: "openshift.io", clusterType },
    operatorServiceAccount: names.account,
    images: {},
    imagePullSecrets: [],
    cniBinPath: "/opt/cni/bin",
    webhook: { certificates, secretName: names.webhookSecret, port: 6443 },
    injector: { certificates, secretName: names.injectorSecret, port: 6443 },
    tls: { cipherSuites: [], curvePreferences: [] },
    metricsExporter: { port: 9110 },
    useExternalDrainer: false,
    devMode: false,
  };
}

function isVariant(name: string): name is Variant {
  return Object.hasOwn(variants, name);
}
