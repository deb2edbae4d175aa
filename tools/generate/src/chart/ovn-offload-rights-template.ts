// SPDX-License-Identifier: Apache-2.0
/**
 * ovnOffloadRightsTemplate returns the named templates with the service account, the roles, their bindings and the admission policies of
 * ovn-offload. They come from ovnOffloadIdentity, without the labels that all objects of the chart have.
 * Usage: `writeFileSync("charts/switchyard/templates/_ovn-offload-rights.tpl", ovnOffloadRightsTemplate())`
 */
import { ovnOffloadIdentity, type OvnOffloadIdentity, type OvnOffloadIdentitySettings } from "@switchyard/render";
import { stringify } from "yaml";

type ClusterType = OvnOffloadIdentitySettings["clusterType"];

/** Stand-ins that need no quotes in YAML and in CEL, and what the template has in their place. */
const inserted = {
  "OVN-OFFLOAD-ACCOUNT": '{{ include "switchyard.ovnOffloadName" . }}',
  "RELEASE-NAMESPACE": "{{ .Release.Namespace }}",
  "OVN-NAMESPACE": "{{ .Values.ovnOffload.ovnNamespace }}",
  "HOST-LABEL": "{{ .Values.ovnOffload.hostLabel }}",
} as const;

export function ovnOffloadRightsTemplate(): string {
  return [
    define("switchyard.ovnOffloadReading", (clusterType) => objectsOf(clusterType).reading),
    define("switchyard.ovnOffloadLimits", (clusterType) => objectsOf(clusterType).limits),
    define("switchyard.ovnOffloadWriting", (clusterType) => objectsOf(clusterType).writing),
  ].join("\n");
}

function define(name: string, of: (clusterType: ClusterType) => OvnOffloadIdentity["reading"]): string {
  const isOpenshift = '{{- if eq .Values.operator.clusterType "openshift" }}';
  return `{{- define "${name}" -}}\n${isOpenshift}\n${yaml(of("openshift"))}{{- else }}\n${yaml(of("kubernetes"))}{{- end }}\n{{- end }}\n`;
}

function yaml(objects: readonly unknown[]): string {
  const text = stringify(objects, { lineWidth: 0, aliasDuplicateObjects: false });
  return Object.entries(inserted).reduce((result, [from, to]) => result.replaceAll(from, to), text);
}

function objectsOf(clusterType: ClusterType): OvnOffloadIdentity {
  return ovnOffloadIdentity({
    clusterType,
    serviceAccount: "OVN-OFFLOAD-ACCOUNT",
    namespace: "RELEASE-NAMESPACE",
    ovnNamespace: "OVN-NAMESPACE",
    hostLabel: "HOST-LABEL",
  });
}
