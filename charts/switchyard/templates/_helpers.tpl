{{- /*
SPDX-License-Identifier: Apache-2.0

switchyard.prepare must be called first in each template file. It fills in defaults for values that Helm does not pass: with
--reuse-values Helm passes the defaults of the previous chart, so values that are new in this chart are missing, together with
their parents. It changes .Values in place and returns nothing.
*/ -}}
{{- define "switchyard.prepare" -}}
{{- if not (hasKey .Values "switchyardIsPrepared") }}
{{- $values := .Values }}
{{- range $path, $default := include "switchyard.defaults" . | fromYaml }}
  {{- $keys := splitList "." $path }}
  {{- $parent := $values }}
  {{- range initial $keys }}
    {{- if not (kindIs "map" (index $parent .)) }}{{- $_ := set $parent . dict }}{{- end }}
    {{- $parent = index $parent . }}
  {{- end }}
  {{- if kindIs "invalid" (index $parent (last $keys)) }}{{- $_ := set $parent (last $keys) $default }}{{- end }}
{{- end }}
{{- $_ := set .Values "switchyardIsPrepared" true }}
{{- include "switchyard.check" . }}
{{- end }}
{{- end }}

{{- /* A YAML list with the paths of the values that the chart does not know, sorted. Its own marks begin with "switchyard". */ -}}
{{- define "switchyard.unknownValues" -}}
{{- $unknown := list }}
{{- $values := .Values }}
{{- range $path, $keys := include "switchyard.knownKeys" . | fromYaml }}
  {{- $group := $values }}
  {{- if ne $path "root" }}
    {{- range splitList "." $path }}{{- $group = index $group . }}{{- end }}
  {{- end }}
  {{- range $key := keys $group }}
    {{- if not (or (has $key (splitList " " $keys)) (hasPrefix "switchyard" $key)) }}
      {{- $unknown = append $unknown (ternary $key (printf "%s.%s" $path $key) (eq $path "root")) }}
    {{- end }}
  {{- end }}
{{- end }}
{{- toYaml (sortAlpha $unknown) }}
{{- end }}

{{- /*
Name of the Deployment: as in upstream's chart, so that an upgrade from it replaces its Deployment and never runs two operators.
*/ -}}
{{- define "switchyard.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- $name := .Values.nameOverride | default "sriov-network-operator" }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "switchyard.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (include "switchyard.fullname" .) }}
{{- end }}

{{- /* Where certificates come from, which decides the operator's rights. */ -}}
{{- define "switchyard.rightsVariant" -}}
{{- $certificates := .Values.operator.admissionControllers.certificates }}
{{- if eq .Values.operator.clusterType "openshift" }}openshift
{{- else if not .Values.operator.admissionControllers.enabled }}self-made
{{- else if $certificates.certManager.enabled }}cert-manager
{{- else if $certificates.custom.enabled }}given
{{- else }}self-made
{{- end }}
{{- end }}

{{- /* Name of the objects of ovn-offload. */ -}}
{{- define "switchyard.ovnOffloadName" -}}
{{ printf "%s-ovn-offload" (include "switchyard.fullname" . | trunc 51 | trimSuffix "-") }}
{{- end }}

{{- /* Documents with the objects of ovn-offload: dict "root" $, "objects" LIST. Without rbac.create only the ServiceAccount. */ -}}
{{- define "switchyard.ovnOffloadObjects" -}}
{{- $root := .root }}
{{- range $object := .objects }}
{{- if or $root.Values.rbac.create (eq $object.kind "ServiceAccount") }}
---
{{- $own := $object.metadata }}
{{- $metadata := include "switchyard.metadata" (dict "root" $root "name" $own.name "component" "ovn-offload" "clusterScoped" true) | fromYaml }}
{{ toYaml (merge (dict "metadata" (merge (dict) $own $metadata)) $object) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Metadata: dict "root" $, "name" NAME, "component" COMPONENT, and if needed "clusterScoped" true, "labels", "annotations". */ -}}
{{- define "switchyard.metadata" -}}
{{- $root := .root }}
name: {{ .name }}
{{- if not .clusterScoped }}
namespace: {{ $root.Release.Namespace }}
{{- end }}
labels:
  {{- $own := include "switchyard.labels" . | fromYaml }}
  {{- toYaml (merge $own (.labels | default dict) $root.Values.commonLabels) | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) $root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "switchyard.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/name: {{ .root.Values.nameOverride | default .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- /* Image pull secrets as a list of names: values and global values, as names or as {name: NAME}. */ -}}
{{- define "switchyard.pullSecretNames" -}}
{{- $names := list }}
{{- range concat (.Values.imagePullSecrets | default list) (.Values.global.imagePullSecrets | default list) }}
  {{- $names = append $names (kindIs "map" . | ternary (get (kindIs "map" . | ternary . dict) "name") .) }}
{{- end }}
{{- uniq $names | toJson }}
{{- end }}

{{- define "switchyard.imagePullSecrets" -}}
{{- $names := include "switchyard.pullSecretNames" . | fromJsonArray }}
{{- if $names }}
imagePullSecrets:
{{- range $names }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Whether the templates are rendered with access to a cluster, so that its kinds and objects are known. */ -}}
{{- define "switchyard.isOnline" -}}
{{- if lookup "v1" "Namespace" "" "kube-system" }}true{{ end }}
{{- end }}

{{- /* Probes of the operator and of ovn-offload, at the port "health". */ -}}
{{- define "switchyard.probes" -}}
# While a node boots, all its pods start at once, and a start can take longer than the liveness probe allows.
startupProbe:
  httpGet: { path: /healthz, port: health }
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 90
# Patient: on a node without spare processor time, restarts of a process that is only slow cost more.
livenessProbe:
  httpGet: { path: /healthz, port: health }
  periodSeconds: 20
  timeoutSeconds: 10
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: health }
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}

{{- /*
Ports of the API server in networkPolicy.apiServerPorts, and those of its endpoints in the cluster, where Helm can read them: JSON.
*/ -}}
{{- define "switchyard.apiServerPorts" -}}
{{- $ports := list }}
{{- range .Values.networkPolicy.apiServerPorts }}{{- $ports = append $ports (int .) }}{{- end }}
{{- range dig "ports" list (lookup "discovery.k8s.io/v1" "EndpointSlice" "default" "kubernetes" | default dict) }}
{{- $ports = append $ports (int .port) }}
{{- end }}
{{- uniq $ports | toJson }}
{{- end }}

{{- /*
Spec of a NetworkPolicy: dict "root" $, "labels" LABELS of the pods, and "serves" true for pods with probes and metrics or "isOffline"
true for pods without any connection. Node's probes pass in any case. DNS pods of OpenShift listen on port 5353.
*/ -}}
{{- define "switchyard.networkPolicySpec" -}}
{{- $metricsPort := include "switchyard.metricsPort" .root }}
podSelector:
  matchLabels:
    {{- toYaml .labels | nindent 4 }}
policyTypes: [Ingress, Egress]
{{- if .serves }}
ingress:
  - ports:
      - { protocol: TCP, port: {{ int .root.Values.operator.healthPort }} }
      {{- if $metricsPort }}
      - { protocol: TCP, port: {{ $metricsPort }} }
      {{- end }}
{{- end }}
{{- if not .isOffline }}
egress:
  - ports:
      {{- range list 53 5353 }}
      - { protocol: UDP, port: {{ . }} }
      - { protocol: TCP, port: {{ . }} }
      {{- end }}
      {{- range include "switchyard.apiServerPorts" .root | fromJsonArray }}
      - { protocol: TCP, port: {{ int . }} }
      {{- end }}
{{- end }}
{{- end }}

{{- /* Spec of a PodDisruptionBudget: dict "root" $, "labels" LABELS of the pods. */ -}}
{{- define "switchyard.disruptionBudgetSpec" -}}
{{- $budget := .root.Values.operator.podDisruptionBudget }}
{{- if ne (toString $budget.minAvailable) "" }}
minAvailable: {{ $budget.minAvailable }}
{{- else if ne (toString $budget.maxUnavailable) "" }}
maxUnavailable: {{ $budget.maxUnavailable }}
{{- end }}
selector:
  matchLabels:
    {{- toYaml .labels | nindent 4 }}
{{- end }}

{{- /* Labels by which objects select the pods of ovn-offload. */ -}}
{{- define "switchyard.ovnOffloadSelector" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: ovn-offload
{{- end }}

{{- /* How a monitor reads metrics: dict "secure" SECURE "reader" SECRET. The servers make their own certificates. */ -}}
{{- define "switchyard.scrapeAccess" -}}
{{- if .secure -}}
scheme: https
tlsConfig: { insecureSkipVerify: true }
authorization:
  credentials: { name: {{ .reader }}, key: token }
{{- end }}
{{- end }}
